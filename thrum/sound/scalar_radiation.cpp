// SPDX-License-Identifier: MIT
#include "thrum/sound/scalar_radiation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace thrum::sound {

double sphere_radiation_efficiency(int order, double x)
{
  const double y = x * x;
  if (order == 0) return y / (1 + y);
  if (order == 1) return y * y / (4 + y * y);
  return y * y * y / (81 + 9 * y - 2 * y * y + y * y * y);
}

double max_radiation_amplitude(double decay)
{
  if (!(decay > 0)) return std::numeric_limits<double>::infinity();
  return std::sqrt(kAirDensity * kSoundSpeed * decay / (2 * std::numbers::pi));
}

std::vector<ModeRadiation> scalar_radiation(const model::ModalModel& model)
{
  const mesh::TriangleMesh& surface = model.surface;
  const double surface_area = mesh::area(surface);
  const double radius = std::sqrt(surface_area / (4 * std::numbers::pi));
  std::vector<ModeRadiation> modes(static_cast<std::size_t>(model.mode_count()));
  const Index count = model.mode_count();
  VecX area = VecX::Zero(count);
  VecX pulsation = VecX::Zero(count);       // integral of v
  MatX oscillation = MatX::Zero(3, count);  // integral of v times the direction from the centre
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Vec3 vector = mesh::area_vector(surface, t);
    const double size = vector.norm() / 2;
    if (!(size > 0)) continue;
    const Vec3 n = vector.normalized();
    Vec3 centre = Vec3::Zero();
    for (int k = 0; k < 3; ++k) centre += surface.corner(t, k) / 3;
    const Vec3 direction = (centre - model.centre_of_mass).normalized();
    for (Index m = 0; m < count; ++m) {
      std::array<double, 3> v{};
      for (std::size_t k = 0; k < 3; ++k)
        v[k] = n.dot(model.shapes.col(m).segment<3>(3 * Eigen::Index{surface.triangles[t][k]}));
      const double mean = (v[0] + v[1] + v[2]) / 3;
      // Exact for v linear over the triangle.
      area[m] +=
          size / 6 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[0] * v[1] + v[1] * v[2] + v[2] * v[0]);
      pulsation[m] += size * mean;
      oscillation.col(m) += size * mean * direction;
    }
  }
  for (Index m = 0; m < count; ++m) {
    ModeRadiation& mode = modes[static_cast<std::size_t>(m)];
    mode.area = area[m];
    if (!(area[m] > 0)) continue;
    // On a sphere these are the shares of v^2 that the orders hold.
    const double zero = std::min(1.0, pulsation[m] * pulsation[m] / (surface_area * area[m]));
    const double one = std::min(1 - zero, 3 * oscillation.col(m).squaredNorm() / (surface_area * area[m]));
    mode.shares = {zero, one, 1 - zero - one};
    const double x = model.omega(m) / kSoundSpeed * radius;
    for (int order = 0; order < 3; ++order)
      mode.efficiency += mode.shares[static_cast<std::size_t>(order)] * sphere_radiation_efficiency(order, x);
    mode.amplitude =
        kAirDensity * kSoundSpeed * std::sqrt(mode.efficiency * mode.area / (4 * std::numbers::pi));
  }
  return modes;
}

}  // namespace thrum::sound
