// SPDX-License-Identifier: MIT
// A coupled run of whole bodies: boxes and balls with six degrees of freedom, some of them with modes, that
// stand on one another. Every corner of a box is a Hertz contact with Coulomb friction on the top face of the
// body below; all bodies, contacts and modes advance together in steps of a few microseconds. See coupled.h
// for what is shared with the methods that it judges.
//
// Where it is coarse: a corner keeps the mode shapes of the place where it began (bodies slide by
// millimetres); bodies touch only what they stand on, and only from above.
#pragma once

#include "benchmarks/response/coupled.h"

namespace thrum::bench {

struct CoupledBody {
  Vec3 half = Vec3::Zero();  ///< of a box; a ball has its radius in x [m]
  bool is_ball = false;
  double mass = 0;     ///< 0: fixed [kg]
  int stands_on = -1;  ///< the body below; -1: none
  Vec3 position = Vec3::Zero();
  Vec3 velocity = Vec3::Zero();
  const model::ModalModel* model = nullptr;  ///< empty: rigid

  // Filled by CoupledBodies.
  Quat rotation = Quat::Identity();
  Vec3 angular_velocity = Vec3::Zero();
  Vec3 inertia = Vec3::Zero();  ///< principal [kg m^2]
  ExactModes modes;
};

struct CoupledBodiesDesc {
  double step = 4e-6;        ///< [s]
  model::Material material;  ///< of all bodies
  double radius = 0.01;      ///< of curvature at the contacts [m]
  double restitution = 0.15;
  double friction = 0.5;
};

class CoupledBodies {
 public:
  CoupledBodies(std::vector<CoupledBody> bodies, const CoupledBodiesDesc& desc)
      : bodies_(std::move(bodies)),
        desc_(desc),
        K_(hertz_stiffness(hertz_modulus(desc.material, desc.material), desc.radius)),
        alpha_(hertz_damping(desc.restitution))
  {
    // Mindlin: stiffness across the normal over that along it.
    across_ = 2 * (1 - desc.material.poisson) / (2 - desc.material.poisson);
    for (CoupledBody& body : bodies_) {
      const Vec3 s = (2 * body.half).cwiseAbs2();
      body.inertia = body.is_ball ? Vec3(Vec3::Constant(0.4 * body.mass * body.half.x() * body.half.x()))
                                  : Vec3(body.mass / 12 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y()));
      if (body.model != nullptr) body.modes = ExactModes(*body.model, desc.step);
    }
    // From the top down, so that a body knows what it carries.
    std::vector<double> carried(bodies_.size(), 0);
    for (std::size_t i = bodies_.size(); i-- > 0;) {
      CoupledBody& body = bodies_[i];
      if (body.stands_on < 0) continue;
      const bool moves = body.velocity.norm() > 0;
      const double weight = moves ? 0 : kGravity * body.mass + carried[i];
      carried[static_cast<std::size_t>(body.stands_on)] += weight;
      add_contacts(static_cast<int>(i), weight);
    }
    // What rests is pressed in as far as its weight wants, what stands on it likewise.
    for (CoupledBody& body : bodies_) body.position.z() -= sink_of(body);
  }

  void step()
  {
    const double dt = desc_.step;
    for (CoupledBody& body : bodies_) {
      if (body.model != nullptr) body.modes.advance();
    }
    // All forces from the same state: one after the other they would push a body at rest sideways.
    for (Touch& touch : touches_) find_force(touch);
    for (const Touch& touch : touches_) apply(touch);
    for (CoupledBody& body : bodies_) {
      if (body.mass == 0) continue;
      body.velocity.z() -= dt * kGravity;
      body.position += dt * body.velocity;
      const double angle = dt * body.angular_velocity.norm();
      if (angle > 0)
        body.rotation =
            (Quat(Eigen::AngleAxisd(angle, body.angular_velocity.normalized())) * body.rotation).normalized();
    }
  }

  [[nodiscard]] const std::vector<CoupledBody>& bodies() const { return bodies_; }
  void set_velocity(std::size_t body, const Vec3& velocity) { bodies_[body].velocity = velocity; }

 private:
  static constexpr double kGravity = 9.81;
  struct Touch {
    int upper = 0;
    Vec3 point = Vec3::Zero();  ///< in the axes of the upper body
    Eigen::Matrix<double, 3, Eigen::Dynamic> upper_shapes, lower_shapes;
    double mass = 0;              ///< effective, of the upper body [kg]
    double load = 0;              ///< at rest [N]
    Vec3 force = Vec3::Zero();    ///< on the upper body [N]
    Vec3 stretch = Vec3::Zero();  ///< of the spring across the normal [m]
  };

  [[nodiscard]] double depth_at(double load) const { return std::pow(load / K_, 2.0 / 3); }

  [[nodiscard]] double sink_of(const CoupledBody& body) const
  {
    const auto index = static_cast<int>(&body - bodies_.data());
    double sink = 0;
    for (const Touch& touch : touches_) {
      if (touch.upper == index) sink = depth_at(touch.load);
    }
    if (body.stands_on > 0 && !(body.velocity.norm() > 0))
      sink += sink_of(bodies_[static_cast<std::size_t>(body.stands_on)]);
    return sink;
  }

  void add_contacts(int upper, double weight)
  {
    const CoupledBody& body = bodies_[static_cast<std::size_t>(upper)];
    const CoupledBody& below = bodies_[static_cast<std::size_t>(body.stands_on)];
    std::vector<Vec3> points;
    if (body.is_ball) {
      points.push_back(-body.half.x() * Vec3::UnitZ());
    } else {
      for (const double x : {-1.0, 1.0})
        for (const double y : {-1.0, 1.0}) points.push_back(body.half.cwiseProduct(Vec3(x, y, -1)));
    }
    for (const Vec3& point : points) {
      Touch touch;
      touch.upper = upper;
      touch.point = point;
      const Vec3 arm = point.cross(Vec3::UnitZ());
      touch.mass = 1 / (1 / body.mass + arm.dot(arm.cwiseQuotient(body.inertia)));
      touch.load = weight / static_cast<double>(points.size());
      if (body.model != nullptr) touch.upper_shapes = shapes_at(*body.model, point);
      if (below.model != nullptr)
        touch.lower_shapes = shapes_at(*below.model, body.position + point - below.position);
      touches_.push_back(std::move(touch));
    }
  }

  void find_force(Touch& touch) const
  {
    const CoupledBody& up = bodies_[static_cast<std::size_t>(touch.upper)];
    const CoupledBody& low = bodies_[static_cast<std::size_t>(up.stands_on)];
    const Mat3 R_up = up.is_ball ? Mat3(Mat3::Identity()) : up.rotation.toRotationMatrix();
    const Mat3 R_low = low.rotation.toRotationMatrix();
    const Vec3 arm_up = R_up * touch.point;
    const Vec3 n = R_low.col(2);
    const Vec3 from_low = up.position + arm_up - low.position;
    // How far the bodies could be apart by vibration at most is not known, so only far ones are skipped.
    constexpr double kFar = 0.05;  // [m]
    const double rigid_depth = low.half.z() - n.dot(from_low);
    touch.force.setZero();
    if (rigid_depth < -kFar) return;
    Vec3 moved_up = Vec3::Zero(), speed_up = Vec3::Zero(), moved_low = Vec3::Zero(), speed_low = Vec3::Zero();
    if (up.model != nullptr) {
      moved_up = R_up * (touch.upper_shapes * up.modes.q);
      speed_up = R_up * (touch.upper_shapes * up.modes.v);
    }
    if (low.model != nullptr) {
      moved_low = R_low * (touch.lower_shapes * low.modes.q);
      speed_low = R_low * (touch.lower_shapes * low.modes.v);
    }
    const double d = rigid_depth + n.dot(moved_low - moved_up);
    if (d > 0) {
      const Vec3 relative = up.velocity + up.angular_velocity.cross(arm_up) + speed_up - low.velocity -
                            low.angular_velocity.cross(from_low) - speed_low;
      const double closing = -n.dot(relative);
      const double press =
          std::max(0.0, K_ * d * std::sqrt(d) + alpha_ * std::sqrt(touch.mass * K_ * std::sqrt(d)) * closing);
      touch.stretch += desc_.step * (relative + closing * n);
      const double k = across_ * 1.5 * K_ * std::sqrt(d);
      Vec3 drag = -k * touch.stretch;
      const double most = desc_.friction * press;
      if (drag.norm() > most) {
        drag *= most / drag.norm();
        touch.stretch = -drag / k;
      }
      touch.force = press * n + drag;
    } else {
      touch.stretch.setZero();
    }
  }

  void apply(const Touch& touch)
  {
    CoupledBody& up = bodies_[static_cast<std::size_t>(touch.upper)];
    CoupledBody& low = bodies_[static_cast<std::size_t>(up.stands_on)];
    const Mat3 R_up = up.is_ball ? Mat3(Mat3::Identity()) : up.rotation.toRotationMatrix();
    const Mat3 R_low = low.rotation.toRotationMatrix();
    const Vec3 arm = R_up * touch.point;
    const Vec3 load = touch.load * Vec3::UnitZ();
    push(up, arm, R_up, touch.upper_shapes, touch.force, load);
    push(low, up.position + arm - low.position, R_low, touch.lower_shapes, -touch.force, -load);
  }

  // Modes count from the shape at rest under the loads, so these do not move them.
  void push(CoupledBody& body, const Vec3& arm, const Mat3& R,
            const Eigen::Matrix<double, 3, Eigen::Dynamic>& shapes, const Vec3& force, const Vec3& load) const
  {
    const double dt = desc_.step;
    if (body.mass > 0) {
      body.velocity += dt / body.mass * force;
      const Vec3 turn = R.transpose() * arm.cross(force);
      body.angular_velocity += dt * (R * turn.cwiseQuotient(body.inertia));
    }
    if (body.model != nullptr)
      body.modes.v.noalias() += dt * (shapes.transpose() * (R.transpose() * (force - load)));
  }

  std::vector<CoupledBody> bodies_;
  CoupledBodiesDesc desc_;
  double K_ = 0;  ///< [N/m^1.5]
  double alpha_ = 0;
  double across_ = 0;
  std::vector<Touch> touches_;
};

}  // namespace thrum::bench
