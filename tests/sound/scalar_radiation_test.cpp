// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "thrum/sound/scalar_radiation.h"

namespace thrum::sound {
namespace {

// A sphere of radius a with three modes: it pulsates, oscillates along z, and the quadrupole 3 cos^2 - 1.
model::ModalModel sphere_model(double a, double frequency)
{
  model::ModalModel model;
  const int rings = 60;
  const int sectors = 120;
  for (int i = 0; i <= rings; ++i) {
    const double theta = std::numbers::pi * i / rings;
    for (int j = 0; j < sectors; ++j) {
      const double phi = 2 * std::numbers::pi * j / sectors;
      model.surface.vertices.push_back(
          a * Vec3(std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)));
    }
  }
  for (int i = 0; i < rings; ++i) {
    for (int j = 0; j < sectors; ++j) {
      const Index p = i * sectors + j;
      const Index q = i * sectors + (j + 1) % sectors;
      model.surface.triangles.push_back({p, p + sectors, q});
      model.surface.triangles.push_back({q, p + sectors, q + sectors});
    }
  }
  model.frequencies = VecX::Constant(3, frequency);
  model.decays = VecX::Zero(3);
  model.shapes = MatX::Zero(3 * model.vertex_count(), 3);
  for (Index v = 0; v < model.vertex_count(); ++v) {
    const Vec3 n = model.surface.vertices[static_cast<std::size_t>(v)] / a;
    model.shapes.block<3, 1>(3 * v, 0) = n;
    model.shapes.block<3, 1>(3 * v, 1) = Vec3::UnitZ();
    model.shapes.block<3, 1>(3 * v, 2) = (3 * n.z() * n.z() - 1) / 2 * n;
  }
  return model;
}

// 1 / (x^2 |h'(x)|^2) of the outgoing spherical wave h of an order, by its recurrences.
double efficiency(int order, double x)
{
  using Complex = std::complex<double>;
  const Complex i(0, 1);
  Complex before = std::exp(i * x) / x;  // order -1
  Complex h = -i * std::exp(i * x) / x;  // order 0
  for (int n = 0; n < order; ++n) before = std::exchange(h, (2.0 * n + 1) / x * h - before);
  const Complex slope = before - (order + 1.0) / x * h;
  return 1 / (x * x * std::norm(slope));
}

TEST(ScalarRadiation, SpheresOfLowOrderRadiateByTheirClosedForms)
{
  const double a = 0.05;
  for (const double frequency : {200.0, 1000.0, 5000.0}) {
    const auto modes = scalar_radiation(sphere_model(a, frequency));
    const double x = 2 * std::numbers::pi * frequency / kSoundSpeed * a;
    const double S = 4 * std::numbers::pi * a * a;
    const double areas[] = {S, S / 3, S / 5};
    for (int order = 0; order < 3; ++order) {
      const ModeRadiation& mode = modes[static_cast<std::size_t>(order)];
      EXPECT_NEAR(mode.area / areas[order], 1, 0.005);
      EXPECT_NEAR(mode.shares[static_cast<std::size_t>(order)], 1, 0.005);
      // Power: 4 pi r^2 p^2 / (rho c) = rho c sigma A. In decibels within 0.5.
      const double power =
          4 * std::numbers::pi * mode.amplitude * mode.amplitude / (kAirDensity * kSoundSpeed);
      const double expected = kAirDensity * kSoundSpeed * efficiency(order, x) * areas[order];
      EXPECT_NEAR(10 * std::log10(power / expected), 0, 0.5) << frequency << " Hz, order " << order;
    }
  }
}

TEST(ScalarRadiation, PulsatingSphereHasTheKnownPressure)
{
  // p r = rho c k a^2 / sqrt(1 + (k a)^2) for unit surface speed.
  const double a = 0.05;
  const double k = 2 * std::numbers::pi * 1000 / kSoundSpeed;
  const double expected = kAirDensity * kSoundSpeed * k * a * a / std::sqrt(1 + k * k * a * a);
  EXPECT_NEAR(scalar_radiation(sphere_model(a, 1000))[0].amplitude / expected, 1, 0.005);
}

}  // namespace
}  // namespace thrum::sound
