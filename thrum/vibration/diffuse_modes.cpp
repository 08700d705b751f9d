// SPDX-License-Identifier: MIT
#include "thrum/vibration/diffuse_modes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/base/random.h"

namespace thrum::vibration {

namespace {

/// Modes in the upper half of the spectrum, below which a mean means nothing.
constexpr Eigen::Index kMinUpperModes = 4;
/// In the upper half of the frequencies a plate has as many modes as in the lower one, a chunky body seven
/// times as many.
constexpr Eigen::Index kMaxModeGrowth = 3;
/// Triangles from which the wave number is taken; more do not change it by a percent.
constexpr std::size_t kMaxSampledTriangles = 1000;
constexpr std::uint64_t kSeed = 1995;

// Squared wave number of the modes in the upper half, at the mean of their frequencies: the mean square of
// the gradient of their shapes along the surface over that of the shapes [rad^2/m^2].
double squared_wave_number(const model::ModalModel& model, const elastic::ModeList& modes)
{
  const Eigen::Index upper = count_upper_modes(modes);
  double gradients = 0;
  double squares = 0;
  const std::vector<Triangle>& triangles = model.surface.triangles;
  const std::size_t stride = 1 + triangles.size() / kMaxSampledTriangles;
  for (std::size_t t = 0; t < triangles.size(); t += stride) {
    const Triangle& triangle = triangles[t];
    std::array<Vec3, 3> p;
    for (std::size_t c = 0; c < 3; ++c) p[c] = model.surface.vertices[at(triangle[c])];
    const Vec3 normal = (p[1] - p[0]).cross(p[2] - p[0]);
    const double doubled_area = normal.norm();
    if (!(doubled_area > 0)) continue;
    for (Eigen::Index m = modes.omegas.size() - upper; m < modes.omegas.size(); ++m) {
      // grad u = sum over corners of u (n x opposite edge) / (2 area)
      Mat3 gradient = Mat3::Zero();
      for (std::size_t c = 0; c < 3; ++c) {
        const Vec3 u = model.shapes.block<3, 1>(3 * Eigen::Index{triangle[c]}, m);
        const Vec3 edge = p[(c + 2) % 3] - p[(c + 1) % 3];
        gradient += u * (normal.cross(edge) / (doubled_area * doubled_area)).transpose();
        squares += doubled_area / 3 * u.squaredNorm();
      }
      gradients += doubled_area * gradient.squaredNorm();
    }
  }
  return squares > 0 ? gradients / squares : 0;
}

// decay = a + b w^2, as of Rayleigh damping, by least squares; a and b at least 0.
std::array<double, 2> fit_decay(const elastic::ModeList& modes)
{
  const auto squares = modes.omegas.array().square();
  const double mean = squares.mean();
  const double mean_decay = modes.decays.mean();
  const double spread = (squares - mean).square().sum();
  double slope = spread > 0 ? ((squares - mean) * (modes.decays.array() - mean_decay)).sum() / spread : 0;
  slope = std::clamp(slope, 0.0, mean_decay / mean);
  return {mean_decay - slope * mean, slope};
}

}  // namespace

double DiffuseMode::at(const Vec3& position) const
{
  return 2 * std::cos(waves[0].dot(position) + phases[0]) * std::cos(waves[1].dot(position) + phases[1]);
}

Eigen::Index count_upper_modes(const elastic::ModeList& modes)
{
  return (modes.omegas.array() > modes.omegas.maxCoeff() / 2).count();
}

bool is_tail_known(const elastic::ModeList& modes)
{
  const Eigen::Index upper = count_upper_modes(modes);
  return upper >= kMinUpperModes && upper <= kMaxModeGrowth * (modes.omegas.size() - upper);
}

double mean_upper_square(const elastic::ModeList& modes, const VecX& row)
{
  const double half = modes.omegas.maxCoeff() / 2;
  return (modes.omegas.array() > half).select(row.array().square(), 0.0).sum() /
         static_cast<double>(count_upper_modes(modes));
}

DiffuseModes::DiffuseModes(const model::ModalModel& model, const elastic::ModeList& modes)
{
  if (modes.omegas.size() == 0 || !is_tail_known(modes)) return;
  const Eigen::Index upper = count_upper_modes(modes);
  const double highest = modes.omegas.maxCoeff();
  const double spacing = highest / 2 / static_cast<double>(upper);
  const auto decay = fit_decay(modes);
  // Bending waves: k^2 grows as the frequency. Waves along all directions of space have two thirds of their
  // squared number along a surface.
  const double growth = 1.5 * squared_wave_number(model, modes) / modes.omegas.tail(upper).mean();
  base::Random random(kSeed);
  modes_.resize(kMaxCount);
  for (std::size_t i = 0; i < kMaxCount; ++i) {
    DiffuseMode& mode = modes_[i];
    mode.omega = highest + spacing * (static_cast<double>(i) + random.uniform());
    mode.decay = decay[0] + decay[1] * mode.omega * mode.omega;
    const double k = std::sqrt(growth * mode.omega);
    const double angle = random.uniform(0, std::numbers::pi / 2);
    const Vec3 along = random.direction();
    const Vec3 across = along.cross(random.direction()).normalized();
    mode.waves = {k * std::cos(angle) * along, k * std::sin(angle) * across};
    for (double& phase : mode.phases) phase = random.uniform(0, 2 * std::numbers::pi);
  }
}

std::size_t DiffuseModes::count_up_to(double max_omega) const
{
  const auto end = std::partition_point(modes_.begin(), modes_.end(),
                                        [&](const DiffuseMode& mode) { return mode.omega < max_omega; });
  return static_cast<std::size_t>(end - modes_.begin());
}

}  // namespace thrum::vibration
