// SPDX-License-Identifier: MIT
// A free bar by the theory of Bernoulli and Euler, as a modal model with closed forms.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "thrum/elastic/damping.h"
#include "thrum/model/modal_model.h"
#include "thrum/sound/sound_model.h"

namespace thrum::sound::test {

struct Bar {
  double length = 0.3;      ///< along x, centred [m]
  double width = 0.03;      ///< along y [m]
  double thickness = 5e-3;  ///< along z [m]
  model::Material material = {.name = "steel",
                              .density = 7850,
                              .young = 2e11,
                              .poisson = 0.29,
                              .damping = {.alpha = 5, .beta = 3e-8},
                              .contact_damping = 0.3};

  [[nodiscard]] double mass() const { return material.density * length * width * thickness; }
  [[nodiscard]] double frequency(std::size_t m) const
  {
    const double k = kRoots[m] / length;
    return k * k * thickness / std::sqrt(12.0) * std::sqrt(material.young / material.density) /
           (2 * std::numbers::pi);
  }
  [[nodiscard]] double decay(std::size_t m) const
  {
    return elastic::decay_of_mode(material.damping, static_cast<Index>(m),
                                  2 * std::numbers::pi * frequency(m));
  }
  /// Deflection and slope at x from the middle, mass-normalised: 2 / sqrt(M) at the ends.
  [[nodiscard]] std::array<double, 2> shape(std::size_t m, double x) const
  {
    const double b = kRoots[m];
    const double sigma = (std::cosh(b) - std::cos(b)) / (std::sinh(b) - std::sin(b));
    const double k = b / length;
    const double s = k * (x + length / 2);
    const double scale = 1 / std::sqrt(mass());
    return {scale * (std::cosh(s) + std::cos(s) - sigma * (std::sinh(s) + std::sin(s))),
            scale * k * (std::sinh(s) - std::sin(s) - sigma * (std::cosh(s) + std::cos(s)))};
  }
  static constexpr std::array<double, 4> kRoots = {4.730040744862704, 7.853204624095838, 10.995607838001671,
                                                   14.137165491257464};
};

/// The first four modes on the surface of the box.
inline std::shared_ptr<const model::ModalModel> bar_model(const Bar& bar)
{
  auto model = std::make_shared<model::ModalModel>();
  constexpr int kCuts = 300;
  for (int i = 0; i <= kCuts; ++i) {
    for (const auto& [y, z] : {std::pair(-1, -1), std::pair(1, -1), std::pair(1, 1), std::pair(-1, 1)}) {
      model->surface.vertices.emplace_back(bar.length * (static_cast<double>(i) / kCuts - 0.5),
                                           y * bar.width / 2, z * bar.thickness / 2);
    }
  }
  const auto quad = [&](Index a, Index b, Index c, Index d) {
    model->surface.triangles.push_back({a, b, c});
    model->surface.triangles.push_back({a, c, d});
  };
  for (Index i = 0; i < kCuts; ++i) {
    for (Index k = 0; k < 4; ++k) {
      const Index l = (k + 1) % 4;
      quad(4 * i + k, 4 * i + 4 + k, 4 * i + 4 + l, 4 * i + l);
    }
  }
  quad(0, 1, 2, 3);
  quad(4 * kCuts, 4 * kCuts + 3, 4 * kCuts + 2, 4 * kCuts + 1);
  // Outward: towards +z on the upper face.
  for (Triangle& t : model->surface.triangles) std::swap(t[1], t[2]);
  model->frequencies = VecX(4);
  model->decays = VecX(4);
  model->shapes = MatX::Zero(3 * model->vertex_count(), 4);
  for (std::size_t m = 0; m < 4; ++m) {
    const auto column = static_cast<Eigen::Index>(m);
    model->frequencies[column] = bar.frequency(m);
    model->decays[column] = bar.decay(m);
    for (Index v = 0; v < model->vertex_count(); ++v) {
      const Vec3& p = model->surface.vertices[static_cast<std::size_t>(v)];
      const auto [u, slope] = bar.shape(m, p.x());
      model->shapes(3 * v, column) = -p.z() * slope;
      model->shapes(3 * v + 2, column) = u;
    }
  }
  model->materials = {bar.material};
  model->mass = bar.mass();
  const Vec3 side(bar.length, bar.width, bar.thickness);
  const Vec3 square = side.cwiseProduct(side);
  model->inertia =
      (bar.mass() / 12 * Vec3(square.y() + square.z(), square.x() + square.z(), square.x() + square.y()))
          .asDiagonal();
  return model;
}

inline std::shared_ptr<const SoundModel> bar_sound(const Bar& bar, const SynthesisSettings& settings = {})
{
  const auto model = bar_model(bar);
  return std::make_shared<const SoundModel>(model, model->surface, bar.material, settings);
}

}  // namespace thrum::sound::test
