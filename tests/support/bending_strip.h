// SPDX-License-Identifier: MIT
// A strip that bends by known displacements, for tests of what shows it.
#pragma once

#include <memory>
#include <numbers>

#include "thrum/model/modal_model.h"
#include "thrum/shapes/shapes.h"

namespace thrum::testing {

inline const Vec3 kStripSize(0.3, 0.03, 0.002);  ///< [m]

/// Share of the largest displacement at x, from one end to the other: x^2 for mode 0, which is held at the
/// end of small x, then half waves.
[[nodiscard]] inline double strip_shape(int mode, double x)
{
  const double s = x / kStripSize.x() + 0.5;
  return mode == 0 ? s * s : std::sin(mode * std::numbers::pi * s);
}

/// Modes along z with `peak` as their largest value [kg^(-1/2)], from 20 Hz on.
[[nodiscard]] inline std::shared_ptr<const model::ModalModel> strip_model(int modes, double peak)
{
  auto model = std::make_shared<model::ModalModel>();
  model->surface = shapes::generate(shapes::BoxDesc{.size = kStripSize, .edge_length = 0.01});
  model->frequencies.resize(modes);
  model->decays = VecX::Constant(modes, 1.0);
  model->shapes = MatX::Zero(3 * model->vertex_count(), modes);
  for (int m = 0; m < modes; ++m) {
    model->frequencies[m] = 20 * (m + 1);
    for (Index v = 0; v < model->vertex_count(); ++v) {
      model->shapes(3 * v + 2, m) =
          peak * strip_shape(m, model->surface.vertices[static_cast<std::size_t>(v)].x());
    }
  }
  model->mass = 0.14;
  return model;
}

}  // namespace thrum::testing
