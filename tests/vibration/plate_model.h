// SPDX-License-Identifier: MIT
// A simply supported rectangular plate with its modes in closed form, and touches on it.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "thrum/model/modal_model.h"
#include "thrum/vibration/touch.h"

namespace thrum::vibration {

struct PlateSize {
  double a = 1.6;        ///< along x, from 0 [m]
  double b = 0.9;        ///< along y, from 0 [m]
  double h = 0.03;       ///< [m]
  double density = 700;  ///< [kg/m^3]
  double young = 1.1e10;
  double poisson = 0.3;
  int modes = 20;
  int cells = 24;  ///< of the surface mesh along x
  double alpha = 20;
  double beta = 1e-6;
};

/// phi = 2 / sqrt(M) sin(m pi x / a) sin(n pi y / b), w = pi^2 (m^2/a^2 + n^2/b^2) sqrt(D / (rho h)).
inline std::shared_ptr<const model::ModalModel> plate_model(const PlateSize& s = {})
{
  struct Mode {
    double w;
    int m, n;
  };
  const double D = s.young * s.h * s.h * s.h / (12 * (1 - s.poisson * s.poisson));
  std::vector<Mode> modes;
  for (int m = 1; m < 40; ++m) {
    for (int n = 1; n < 40; ++n) {
      const double k = std::pow(m / s.a, 2) + std::pow(n / s.b, 2);
      modes.push_back({std::numbers::pi * std::numbers::pi * k * std::sqrt(D / (s.density * s.h)), m, n});
    }
  }
  std::sort(modes.begin(), modes.end(), [](const Mode& x, const Mode& y) { return x.w < y.w; });
  modes.resize(static_cast<std::size_t>(s.modes));
  auto model = std::make_shared<model::ModalModel>();
  model->name = "plate";
  const int nx = s.cells;
  const int ny = std::max(1, static_cast<int>(std::lround(s.cells * s.b / s.a)));
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= nx; ++i) model->surface.vertices.emplace_back(s.a * i / nx, s.b * j / ny, 0);
  for (int j = 0; j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      const Index v = j * (nx + 1) + i;
      model->surface.triangles.push_back({v, v + 1, v + nx + 2});
      model->surface.triangles.push_back({v, v + nx + 2, v + nx + 1});
    }
  }
  model->mass = s.density * s.a * s.b * s.h;
  model->frequencies.resize(s.modes);
  model->decays.resize(s.modes);
  model->shapes.setZero(3 * model->vertex_count(), s.modes);
  for (int k = 0; k < s.modes; ++k) {
    const Mode& mode = modes[static_cast<std::size_t>(k)];
    model->frequencies[k] = mode.w / (2 * std::numbers::pi);
    model->decays[k] = (s.alpha + s.beta * mode.w * mode.w) / 2;
    for (Index v = 0; v < model->vertex_count(); ++v) {
      const Vec3& p = model->surface.vertices[static_cast<std::size_t>(v)];
      model->shapes(3 * v + 2, k) = 2 / std::sqrt(model->mass) *
                                    std::sin(mode.m * std::numbers::pi * p.x() / s.a) *
                                    std::sin(mode.n * std::numbers::pi * p.y() / s.b);
    }
  }
  model->materials = {{.name = "wood", .density = s.density, .young = s.young, .poisson = s.poisson}};
  return model;
}

/// A scene on a plate: a fixed ringing body, balls that rest on it, and one that strikes.
struct PlateScene {
  std::vector<RigidPart> bodies{RigidPart{}};
  std::vector<Touch> touches;
  double step = 0.01;

  [[nodiscard]] ResponseInput input() const { return {bodies, touches, step}; }

  /// A ball that touches in one point below its centre.
  std::size_t rest(const Vec3& at, double mass, double restitution = 0.15)
  {
    RigidPart part;
    part.inverse_mass = 1 / mass;
    part.inverse_inertia = Mat3::Identity() / (0.4 * mass * kRadius * kRadius);
    part.centre = at + kRadius * Vec3::UnitZ();
    part.acceleration = {0, 0, -9.81};
    bodies.push_back(part);
    Touch touch;
    touch.key = touches.size();
    touch.body = static_cast<std::int32_t>(bodies.size()) - 1;
    touch.position = at;
    touch.restitution = restitution;
    touch.friction = 0.5;
    touch.load = 9.81 * mass;
    touches.push_back(touch);
    return touches.size() - 1;
  }

  /// A ball that came with `speed` and that the rigid solver has turned round with the restitution.
  std::size_t strike(const Vec3& at, double mass, double speed, double restitution = 0.15)
  {
    const std::size_t i = rest(at, mass, restitution);
    Touch& touch = touches[i];
    touch.struck = true;
    touch.load = 0;
    touch.approach_speed = speed;
    touch.impulse = (1 + restitution) * mass * speed;
    touch.loss = (1 - restitution * restitution) * mass * speed * speed / 2;
    bodies.back().velocity = {0, 0, restitution * speed};
    return i;
  }

  static constexpr double kRadius = 0.05;
};

/// Kinetic energy of all bodies [J].
inline double kinetic(const std::vector<RigidPart>& bodies)
{
  double sum = 0;
  for (const RigidPart& part : bodies) {
    if (part.inverse_mass == 0) continue;
    sum += 0.5 * part.velocity.squaredNorm() / part.inverse_mass;
    sum += 0.5 * part.angular_velocity.dot(part.inverse_inertia.inverse() * part.angular_velocity);
  }
  return sum;
}

/// The bodies after the pushes.
inline std::vector<RigidPart> pushed(std::vector<RigidPart> bodies, const std::vector<Push>& pushes)
{
  for (const Push& push : pushes) {
    RigidPart& part = bodies[static_cast<std::size_t>(push.body)];
    part.velocity += part.inverse_mass * push.impulse;
    part.angular_velocity += part.inverse_inertia * push.angular_impulse;
  }
  return bodies;
}

/// The bodies before the rigid solver treated the impacts.
inline std::vector<RigidPart> before_impact(const PlateScene& scene)
{
  std::vector<RigidPart> bodies = scene.bodies;
  for (const Touch& touch : scene.touches) {
    if (!touch.struck) continue;
    RigidPart& part = bodies[static_cast<std::size_t>(touch.body)];
    part.velocity -= part.inverse_mass * touch.impulse * touch.normal;
  }
  return bodies;
}

}  // namespace thrum::vibration
