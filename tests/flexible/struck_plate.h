// SPDX-License-Identifier: MIT
// A ball that strikes a body whose modes are known in closed form.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "thrum/elastic/hertz_contact.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {

/// Modes and what each moves at the point that is struck, along the normal.
struct StruckModes {
  elastic::ModeList list;
  std::vector<double> shapes;  ///< [kg^(-1/2)]
};

/// Simply supported, in bending: w = pi^2 (m^2 / a^2 + n^2 / b^2) sqrt(D / rho h).
struct Plate {
  double a = 1;          ///< [m]
  double b = 0.9;        ///< [m]
  double thickness = 0;  ///< [m]
  double young = 2e11;
  double poisson = 0.3;
  double density = 7850;

  [[nodiscard]] double bending() const
  {
    return young * std::pow(thickness, 3) / (12 * (1 - poisson * poisson));
  }
  /// Of an infinite plate, at a point [s/kg].
  [[nodiscard]] double mobility() const { return 1 / (8 * std::sqrt(density * thickness * bending())); }

  [[nodiscard]] StruckModes modes(double x, double y, double max_frequency) const
  {
    const double pi = std::numbers::pi;
    const double speed = std::sqrt(bending() / (density * thickness));
    const double mass = density * thickness * a * b;
    std::vector<std::pair<double, double>> found;
    for (int m = 1;; ++m) {
      const double lowest = pi * pi * (m * m / (a * a) + 1 / (b * b)) * speed;
      if (lowest > 2 * pi * max_frequency) break;
      for (int n = 1;; ++n) {
        const double omega = pi * pi * (m * m / (a * a) + n * n / (b * b)) * speed;
        if (omega > 2 * pi * max_frequency) break;
        found.emplace_back(omega, 2 / std::sqrt(mass) * std::sin(m * pi * x / a) * std::sin(n * pi * y / b));
      }
    }
    std::sort(found.begin(), found.end());
    StruckModes modes;
    modes.list.omegas.resize(static_cast<Eigen::Index>(found.size()));
    modes.list.decays.setZero(static_cast<Eigen::Index>(found.size()));
    for (std::size_t i = 0; i < found.size(); ++i) {
      modes.list.omegas[static_cast<Eigen::Index>(i)] = found[i].first;
      modes.shapes.push_back(found[i].second);
    }
    return modes;
  }
};

struct Strike {
  double mass = 0;       ///< of the ball [kg]
  double stiffness = 0;  ///< of the contact [N/m^(3/2)]
  double speed = 1;      ///< [m/s]
  double gap = 0;        ///< at the beginning [m]
};

struct StrikeResult {
  double restitution = 0;
  double duration = 0;          ///< of contact [s]
  double peak_force = 0;        ///< [N]
  double energy_error = 0;      ///< largest change of all energy, share of that of the ball
  double tail_mode_energy = 0;  ///< share of the energy of the ball
  std::uint64_t unsolved = 0;
};

/// Follows the ball in slices of length h until it has left and half a slice has passed.
inline StrikeResult strike(const StruckModes& modes, const Strike& desc, double h,
                           const FlexibleSettings& settings, double max_time = 0.01)
{
  std::vector<double> q(modes.list.size(), 0.0);
  std::vector<double> u(modes.list.size(), 0.0);
  double v = -desc.speed;
  double d = -desc.gap;
  double force = 0;
  const double start = 0.5 * desc.mass * v * v;
  StrikeResult result;
  bool touched = false;
  ContactGroup group;
  for (double time = 0; time < max_time; time += h) {
    group.clear();
    const int plate = group.add_body({.modes = &modes.list, .q = q, .u = u});
    const int ball =
        group.add_body({.moves = true, .inverse_mass = 1 / desc.mass, .velocity = Vec3(0, 0, v)});
    std::vector<double> down;
    for (const double shape : modes.shapes) down.push_back(-shape);
    const int row =
        group.add_row({plate, Vec3::Zero(), Vec3::Zero(), down}, {ball, Vec3::UnitZ(), Vec3::Zero(), {}});
    group.begin_patch();
    const int contact = group.add_contact(row, {desc.stiffness, 0}, d, force);
    group.advance(h, settings);
    v = group.velocity(ball).z();
    d = group.indentation(contact);
    force = group.force(contact);
    const auto copy = [](std::span<const double> from, std::vector<double>& to) {
      to.assign(from.begin(), from.end());
    };
    copy(group.q(plate), q);
    copy(group.u(plate), u);
    result.tail_mode_energy += group.report().tail_mode_energy / start;
    result.unsolved += group.report().unsolved;
    result.peak_force = std::max(result.peak_force, force);
    if (force > 0) result.duration += h;
    const double energy = group.kinetic_energy() + group.modal_energy() + group.report().contact_energy;
    result.energy_error =
        std::max(result.energy_error, std::abs(energy / start + result.tail_mode_energy - 1));
    touched = touched || group.impulse(contact) > 0;
    if (touched && force == 0 && d < 0 && v > 0) break;
    if (touched && force == 0 && d < 0 && group.impulse(contact) == 0) break;
  }
  result.restitution = v / desc.speed;
  return result;
}

/// One substep a slice, with all modes.
inline FlexibleSettings plain_settings()
{
  FlexibleSettings settings;
  settings.adapt_modes = false;
  settings.tail_modes = false;
  settings.max_step = 1;
  settings.steps_per_period = 1e-9;
  settings.min_impact_speed = 1e9;
  return settings;
}

}  // namespace thrum::flexible
