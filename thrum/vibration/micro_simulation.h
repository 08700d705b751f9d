// SPDX-License-Identifier: MIT
// One run of micro-collisions, for micro_collisions.cpp (the substeps), micro_prepare.cpp (before them) and
// micro_result.cpp (after).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/elastic/held_contact_solver.h"
#include "thrum/vibration/response_context.h"

namespace thrum::vibration {

/// Modes that stand for those above the highest of the model, up to what the shortest impact excites.
[[nodiscard]] std::size_t count_diffuse_modes(const ResponseContext& r);

/// Modes of the model that are followed: all, or the lowest (MicroSavings).
[[nodiscard]] Eigen::Index count_followed_modes(const ResponseContext& r);

/// Substep after the impact [s].
[[nodiscard]] double resting_substep(const ResponseContext& r);

class MicroSimulation {
 public:
  MicroSimulation(const ResponseContext& r, ModeState& state) : r_(r), state_(state) { prepare(); }

  [[nodiscard]] ResponseResult run();

 private:
  using Vec6 = Eigen::Matrix<double, 6, 1>;

  struct MovingBody {
    Vec6 V = Vec6::Zero();    // velocity and angular velocity
    Vec6 X = Vec6::Zero();    // how far it has moved and turned
    double inverse_mass = 0;  // [1/kg]
    Mat3 inverse_inertia = Mat3::Zero();
    Mat3 inertia = Mat3::Zero();
    double mass = 0;
    Vec6 acceleration = Vec6::Zero();  // of the turning too, none
    bool strikes = false;
    bool pushed = false;      // in this substep
    bool in_contact = false;  // it has been pushed since it last left
    double best = 0;          // energy with which it left
    double max_rise = 0;      // energy of the height that its centre reaches by this [J]
    Vec6 departure_velocity = Vec6::Zero();
    Vec6 fall =
        Vec6::Zero();       // what gravity has added since the impact (FallSinceImpact), of a striking body
    double risen = 0;       // energy of the height to which the rigid step has raised it already [J]
    double start = 0;       // kinetic energy
    double start_rise = 0;  // energy of the height that it would have reached without the impact [J]

    [[nodiscard]] double kinetic(const Vec6& W) const
    {
      const Vec3 w = W.tail<3>();
      return 0.5 * (mass * W.head<3>().squaredNorm() + w.dot(inertia * w));
    }
    [[nodiscard]] double energy() const
    {
      return kinetic(V) - mass * acceleration.head<3>().dot(X.head<3>());
    }
    /// Unit, against gravity; zero without it.
    [[nodiscard]] Vec3 up() const { return -acceleration.head<3>().normalized(); }
    /// Energy of the height that its centre reaches from here in free flight [J]. Without gravity: its
    /// energy.
    [[nodiscard]] double rise() const
    {
      const Vec3 a = acceleration.head<3>();
      if (a.isZero(0)) return energy();
      const double speed = std::max(0.0, up().dot(V.head<3>()));
      return mass * (0.5 * speed * speed - a.dot(X.head<3>()));
    }
  };

  /// Exact motion of the modes and all contacts over one substep.
  struct Propagator {
    double dt = 0;         // [s]
    VecX qq, qv, vq, vv;   // free motion
    VecX fq, fv;           // q and q' after a unit modal force held over the substep
    VecX load_q, load_v;   // the same of the steady loads
    VecX tail_compliance;  // by contact: what the tail modes add to the diagonal of R
    MatX R;                // how far a unit force held at a contact opens another [m/N]
  };

  // Before.
  void prepare();
  void prepare_bodies();
  void prepare_friction();
  void prepare_contacts();
  void prepare_tail_modes();
  void add_diffuse_modes();
  void add_impact_modes();
  void append_modes(const std::vector<double>& omegas, const std::vector<double>& decays);
  [[nodiscard]] Propagator make_propagator(double dt) const;
  [[nodiscard]] double contact_speed(std::size_t i) const;
  void push(std::size_t i, double impulse);
  [[nodiscard]] static Vec6 inverse_mass_times(const MovingBody& m, const Vec6& J);

  // One substep.
  void substep(const Propagator& step);
  void solve(const Propagator& step);
  void apply(const Propagator& step);
  void apply_friction(Eigen::Index k, double impulse);
  void apply_contact_impulse(MovingBody& m, const Vec6& direction, double impulse, double dt,
                             bool holds = true) const;
  void record_departures();
  void end_impact();

  // After: `before` is the energy of modes and bodies at the start [J].
  [[nodiscard]] ResponseResult make_result(double before);
  [[nodiscard]] static Vec6 departure_from_surface(const MovingBody& m);
  [[nodiscard]] static Vec6 without_fall(const MovingBody& m);
  /// The velocity in this direction with that kinetic energy [J].
  [[nodiscard]] static Vec6 scaled_to_energy(const MovingBody& m, const Vec6& velocity, double energy);

  /// Friction of a resting contact along two directions across its normal.
  struct SlidingContact {
    double friction = 0;                                             // 0: none
    std::array<Vec6, 2> own, other;                                  // J of the two directions
    std::array<Vec6, 2> velocity_change_own, velocity_change_other;  // M^-1 J^T
    Eigen::Matrix2d S = Eigen::Matrix2d::Zero();  // velocity change of bodies and modes by an impulse [1/kg]
  };

  struct ContactJacobian {
    Vec6 own;
    Vec6 other;
    Vec6 velocity_change_own;  // M^-1 J^T
    Vec6 velocity_change_other;
    std::size_t body = 0;  // the other
  };
  [[nodiscard]] const SurfaceContact& active_contact(Eigen::Index k) const
  {
    return r_.contact(active_contacts_[at(k)]);
  }
  [[nodiscard]] double along(Eigen::Index k, Vec6 MovingBody::*what) const
  {
    const ContactJacobian& J = J_[at(k)];
    double sum = J.other.dot(bodies_[J.body].*what);
    if (bodies_[0].mass > 0) sum -= J.own.dot(bodies_[0].*what);
    return sum;
  }
  /// Whether the ringing body stands on something that does not move.
  [[nodiscard]] bool is_supported() const
  {
    return std::any_of(J_.begin(), J_.end(),
                       [&](const ContactJacobian& J) { return bodies_[J.body].mass == 0; });
  }
  [[nodiscard]] double body_energy() const
  {
    double sum = 0;
    for (const MovingBody& m : bodies_) sum += m.kinetic(m.V);
    return sum;
  }

  const ResponseContext& r_;
  ModeState& state_;  // with the diffuse modes behind those of the body, and the tail modes during the impact
  double elapsed_ = 0;
  std::vector<MovingBody> bodies_;
  std::vector<std::size_t> active_contacts_;  // contacts that take part, struck ones first
  std::vector<ContactJacobian> J_;
  std::vector<elastic::HeldContact> laws_;  // of stiffness 0: between bodies that do not move
  Eigen::Index n_ = 0;                      // contacts
  elastic::ModeList model_modes_;           // of the body, as far as they are followed
  Eigen::Index modes_ = 0;                  // number of these
  Eigen::Index ringing_ = 0;                // these and the diffuse modes (diffuse_modes.h)
  Eigen::Index count_ = 0;                  // these and the tail modes while the impact lasts
  elastic::ModeList all_modes_;
  MatX F_, F_transposed_;       // contacts x modes and back, tail modes included
  double impact_duration_ = 0;  // the longest Hertz duration of the impacts [s]
  Propagator fine_, coarse_;    // while the impact lasts, and after it
  VecX depth_, free_depth_, depth_base_, load_, force_, force_before_;
  VecX modal_force_;
  /// Contacts that push in a substep: force, the opposite, and columns of F^T and R.
  struct {
    std::vector<double> forces, opposite_forces;
    std::vector<const double*> modes, depths;

    void clear()
    {
      forces.clear();
      opposite_forces.clear();
      modes.clear();
      depths.clear();
    }
    void add(double force, const double* mode_column, const double* depth_column)
    {
      forces.push_back(force);
      opposite_forces.push_back(-force);
      modes.push_back(mode_column);
      depths.push_back(depth_column);
    }
  } pushing_;
  std::vector<Eigen::Index> closed_, closed_before_;  // contacts now, and those of closed_R_
  const Propagator* closed_step_ = nullptr;           // of closed_R_
  std::vector<elastic::ContactStep> held_;
  MatX closed_R_;
  elastic::HeldContactSolver solver_;
  int unsolved_ = 0;
  std::vector<SlidingContact> sliding_;  // by contact
  MatX tangent_columns_;  // modes x 2 for each contact: what each mode moves it along t1 and t2
};

}  // namespace thrum::vibration
