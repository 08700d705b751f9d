// SPDX-License-Identifier: MIT
#include "thrum/elastic/damping.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "thrum/base/index.h"

namespace thrum::elastic {

double decay_of_mode(const model::Damping& damping, Index mode, double omega)
{
  const double rayleigh = 0.5 * (damping.alpha + damping.beta * omega * omega);
  switch (damping.kind) {
    case model::DampingKind::loss_factor:
      return 0.5 * damping.loss_factor * omega;
    case model::DampingKind::table:
      return at(mode) < damping.decays.size() ? damping.decays[at(mode)] : rayleigh;
    case model::DampingKind::rayleigh:
      break;
  }
  return rayleigh;
}

VecX decays_of_modes(const model::Damping& damping, const VecX& frequencies)
{
  VecX decays(frequencies.size());
  for (Eigen::Index k = 0; k < decays.size(); ++k)
    decays[k] = decay_of_mode(damping, static_cast<Index>(k), 2 * std::numbers::pi * frequencies[k]);
  return decays;
}

double reverberation_time(double decay)
{
  return decay > 0 ? std::log(1000.0) / decay : std::numeric_limits<double>::infinity();
}

}  // namespace thrum::elastic
