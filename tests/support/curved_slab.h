// SPDX-License-Identifier: MIT
// The curved slab of [Zheng11, Figure 7]: an arched plate of 0.3 x 0.1 m and 1 kg stands on five vertices at
// each end. Its contact forces step by step, and how loud they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/elastic/held_contact.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::support {

struct SlabDesc {
  bool velocity_test = false;  ///< contacts only where the vertex moves down, as is usual
  bool warm_start = true;
  double load = 0;  ///< weight that moves from -0.1 to 0.1 m along the slab in the second that is run [N]
  flexible::ContactLaw law = flexible::ContactLaw::hard;
};

struct SlabRun {
  std::vector<double> left;   ///< force at the left end, by step [N]
  std::vector<double> sound;  ///< sum of the speeds of the modes [kg^1/2 m/s]
  double jump = 0;            ///< mean change of a vertex' force from step to step, share of its mean
  double spread = 0;          ///< largest distance of a vertex' force from its mean after 0.25 s, share of it
  double level = 0;           ///< of the sound after 0.25 s against that after a strike of 10 mN s [dB]
};

inline constexpr double kSlabRate = 8000;  ///< steps a second

namespace slab {

inline constexpr double kLength = 0.3, kWidth = 0.1, kArch = 0.02, kMass = 1, kGravity = 9.81;
inline constexpr double kStrike = 0.01;                        // [N s]
inline constexpr double kDecay = 40;                           // of every mode [1/s]
inline constexpr double kBending = 288, kTorsion = 750;        // lowest of each kind [Hz]
inline constexpr double kStiffness = 1e9, kRestitution = 0.3;  // of Hertz' contact

/// Four bending modes of a free bar and four of torsion, mass-normalised, at the ends of the slab: there all
/// of the former are 2 / sqrt(m), even or odd, and the latter grow with the distance from the middle.
struct Mode {
  double omega = 0;
  bool is_odd = false;
  bool is_torsion = false;

  [[nodiscard]] double shape(const Vec3& place) const
  {
    const double side = is_odd && place.x() < 0 ? -1 : 1;
    const double across = is_torsion ? std::sqrt(1.5) * 2 * place.y() / kWidth : 1;
    return side * across * 2 / std::sqrt(kMass);
  }
};

inline std::vector<Mode> slab_modes()
{
  std::vector<Mode> modes;
  for (int n = 0; n < 4; ++n) {
    const double bending = kBending * std::pow((2 * n + 3) / 3.0, 2);
    modes.push_back({2 * std::numbers::pi * bending, n % 2 == 1, false});
    modes.push_back({2 * std::numbers::pi * kTorsion * (n + 1), n % 2 == 0, true});
  }
  return modes;
}

/// Modes that the forces of steps drive, each held over its step.
class Sound {
 public:
  Sound() : modes_(slab_modes()), q_(modes_.size(), 0.0), u_(modes_.size(), 0.0) {}

  void strike(const Vec3& place, double impulse)
  {
    for (std::size_t m = 0; m < modes_.size(); ++m) u_[m] += modes_[m].shape(place) * impulse;
  }
  double step(const std::vector<Vec3>& places, const std::vector<double>& forces, double h)
  {
    double sum = 0;
    for (std::size_t m = 0; m < modes_.size(); ++m) {
      double force = 0;
      for (std::size_t k = 0; k < places.size(); ++k) force += modes_[m].shape(places[k]) * forces[k];
      const double w = modes_[m].omega;
      const double rest = force / (w * w);
      const double c = std::cos(w * h), s = std::sin(w * h), e = std::exp(-kDecay * h);
      const double q = q_[m] - rest;
      q_[m] = rest + e * (c * q + s * u_[m] / w);
      u_[m] = e * (c * u_[m] - w * s * q);
      sum += u_[m];
    }
    return sum;
  }

 private:
  std::vector<Mode> modes_;
  std::vector<double> q_, u_;
};

inline double rms(const std::vector<double>& values, std::size_t first)
{
  double sum = 0;
  for (std::size_t i = first; i < values.size(); ++i) sum += values[i] * values[i];
  return std::sqrt(sum / static_cast<double>(values.size() - first));
}

inline double strike_level(const Vec3& place, std::size_t steps)
{
  Sound sound;
  sound.strike(place, kStrike);
  std::vector<double> heard;
  for (std::size_t i = 0; i < steps; ++i) heard.push_back(sound.step({}, {}, 1 / kSlabRate));
  return rms(heard, 0);
}

/// By step and vertex.
inline double largest_spread(const std::vector<std::vector<double>>& forces)
{
  double largest = 0;
  for (std::size_t k = 0; k < forces[0].size(); ++k) {
    double mean = 0;
    for (const std::vector<double>& now : forces) mean += now[k] / static_cast<double>(forces.size());
    for (const std::vector<double>& now : forces)
      largest = std::max(largest, std::abs(now[k] - mean) / std::max(mean, 1e-300));
  }
  return largest;
}

}  // namespace slab

// Steps of the paper: speeds first, by gravity, then impulses that keep the vertices from moving down.
inline SlabRun run_slab(const SlabDesc& desc)
{
  using namespace slab;
  const double h = 1 / kSlabRate;
  const auto steps = static_cast<std::size_t>(kSlabRate);
  const bool is_hard = desc.law == flexible::ContactLaw::hard;
  std::vector<Vec3> places;
  for (const double x : {-0.5 * kLength, 0.5 * kLength}) {
    for (int i = 0; i < 5; ++i) places.emplace_back(x, kWidth * (i / 4.0 - 0.5), -kArch);
  }
  const Vec3 inertia =
      kMass / 12 * Vec3(kWidth * kWidth, kLength * kLength, kLength * kLength + kWidth * kWidth);
  flexible::FlexibleSettings settings;
  settings.contact = desc.law;
  settings.adapt_modes = false;
  settings.max_step = 1;
  settings.min_impact_speed = 1e9;
  elastic::HeldContact law{kStiffness, elastic::hertz_damping(kRestitution, kMass / 10, kStiffness)};
  Vec3 v = Vec3::Zero(), w = Vec3::Zero();
  std::vector<double> forces(places.size(), 0.0), indentations(places.size(), 0.0);
  if (!is_hard) indentations.assign(places.size(), law.indentation(0.1 * kMass * kGravity));
  Sound sound;
  SlabRun run;
  double jumps = 0, total = 0;
  std::vector<std::vector<double>> late;  // forces after 0.25 s
  flexible::ContactGroup group;
  for (std::size_t i = 0; i < steps; ++i) {
    const double load_x = -0.1 + 0.2 * static_cast<double>(i) / static_cast<double>(steps);
    const Vec3 a(0, 0, -kGravity - desc.load / kMass);
    const Vec3 turn = Vec3(load_x, 0, 0).cross(Vec3(0, 0, -desc.load)).cwiseQuotient(inertia);
    group.clear();
    const int slab = group.add_body({.moves = true,
                                     .inverse_mass = 1 / kMass,
                                     .inverse_inertia = inertia.cwiseInverse(),
                                     .velocity = is_hard ? Vec3(v + h * a) : v,
                                     .angular_velocity = is_hard ? Vec3(w + h * turn) : w,
                                     .acceleration = is_hard ? Vec3(Vec3::Zero()) : a,
                                     .angular_acceleration = is_hard ? Vec3(Vec3::Zero()) : turn});
    std::vector<int> contacts(places.size(), -1);
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (desc.velocity_test && !((v + w.cross(places[k])).z() < 0)) continue;
      const int row = group.add_row({}, {slab, Vec3::UnitZ(), places[k].cross(Vec3::UnitZ()), {}});
      group.begin_patch();
      contacts[k] = group.add_contact(row, law, indentations[k], desc.warm_start ? forces[k] : 0);
    }
    group.advance(h, settings);
    v = group.velocity(slab);
    w = group.angular_velocity(slab);
    double left = 0;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const double force = contacts[k] < 0 ? 0 : group.force(contacts[k]);
      if (!is_hard && contacts[k] >= 0) indentations[k] = group.indentation(contacts[k]);
      if (i >= steps / 4) {
        jumps += std::abs(force - forces[k]);
        total += force;
      }
      forces[k] = force;
      if (k < 5) left += force;
    }
    if (i >= steps / 4) late.push_back(forces);
    run.left.push_back(left);
    run.sound.push_back(sound.step(places, forces, h));
  }
  run.jump = total > 0 ? jumps / total : 0;
  run.spread = slab::largest_spread(late);
  run.level = 20 * std::log10(rms(run.sound, steps / 4) / strike_level(places[0], 3 * steps / 4));
  return run;
}

}  // namespace thrum::support
