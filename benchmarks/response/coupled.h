// SPDX-License-Identifier: MIT
// The reference of the accuracy benchmark: modes and rigid bodies joined by one-sided Hertz contacts at a
// microsecond or two. Written for the benchmark alone, with explicit steps and the law F = K d^(3/2) + c(d)
// d', so that it shares nothing with the methods that it judges but the modes.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "benchmarks/response/bodies.h"
#include "thrum/elastic/damped_oscillation.h"
#include "thrum/elastic/modal_filter.h"

namespace thrum::bench {

struct CoupledDesc {
  double step = 2e-6;     ///< [s]
  double window = 0.02;   ///< [s]
  double modulus = 1e10;  ///< E* [Pa]
  double radius = 0.01;   ///< [m]
};

/// Speeds with which the resting bodies leave: the greatest sqrt(v^2 + 2 g z) while apart from the surface
/// [m/s]. `rows` has one row a touch; all touches have one body each and act at its centre line.
inline std::vector<double> coupled_speeds(const elastic::ModeList& modes, const MatX& rows,
                                          const ContactScene& scene, const CoupledDesc& desc)
{
  const std::size_t n = scene.contacts.size();
  const Eigen::Index count = modes.omegas.size();
  const double K = 4.0 / 3 * desc.modulus * std::sqrt(desc.radius);
  VecX qq(count), qv(count), vq(count), vv(count);
  for (Eigen::Index m = 0; m < count; ++m) {
    const elastic::DampedOscillation s =
        elastic::damped_oscillation(modes.omegas[m], modes.decays[m], desc.step);
    qq[m] = s.cosine + modes.decays[m] * s.sine;
    qv[m] = s.sine;
    vq[m] = -modes.omegas[m] * modes.omegas[m] * s.sine;
    vv[m] = s.cosine - modes.decays[m] * s.sine;
  }
  VecX q = VecX::Zero(count), v = VecX::Zero(count), z(n), u(n),
       best = VecX::Zero(static_cast<Eigen::Index>(n));
  std::vector<double> mass(n), alpha(n), load(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const vibration::SurfaceContact& contact = scene.contacts[i];
    mass[i] = 1 / scene.bodies[static_cast<std::size_t>(contact.body)].inverse_mass;
    load[i] = contact.struck ? 0 : 9.81 * mass[i];
    z[k] = contact.struck ? 0 : -std::pow(load[i] / K, 2.0 / 3);
    u[k] = contact.struck ? -contact.approach_speed : 0;
    // Damping of [Tsuji92] for the restitution: F_d = a sqrt(m K) d^(1/4) d'.
    const double l = std::log(std::max(contact.restitution, 0.05));
    alpha[i] = -std::sqrt(5.0) * l / std::sqrt(l * l + std::numbers::pi * std::numbers::pi);
  }
  const MatX columns = rows.transpose();
  VecX force(n);
  const auto steps = static_cast<int>(std::lround(desc.window / desc.step));
  for (int s = 0; s < steps; ++s) {
    const VecX next = qq.cwiseProduct(q) + qv.cwiseProduct(v);
    v = vq.cwiseProduct(q) + vv.cwiseProduct(v);
    q = next;
    const VecX surface = rows * q;
    const VecX speed = rows * v;
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      const double d = surface[k] - z[k];
      force[k] = 0;
      if (d > 0) {
        const double rate = speed[k] - u[k];
        force[k] =
            std::max(0.0, K * d * std::sqrt(d) + alpha[i] * std::sqrt(mass[i] * K * std::sqrt(d)) * rate);
      } else {
        const double energy = u[k] * u[k] + 2 * 9.81 * z[k];
        if (!scene.contacts[i].struck && u[k] > 0) best[k] = std::max(best[k], energy);
      }
      u[k] += desc.step * (force[k] / mass[i] - 9.81);
      z[k] += desc.step * u[k];
      v -= (desc.step * (force[k] - load[i])) * columns.col(k);
    }
  }
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = std::sqrt(std::max(0.0, best[static_cast<Eigen::Index>(i)]));
  return out;
}

}  // namespace thrum::bench
