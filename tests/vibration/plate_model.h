// SPDX-License-Identifier: MIT
// A simply supported rectangular plate with its modes in closed form.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "tests/vibration/contact_scene.h"
#include "thrum/model/modal_model.h"

namespace thrum::vibration {

struct PlateSize {
  double a = 1.6;        ///< along x, from 0 [m]
  double b = 0.9;        ///< along y, from 0 [m]
  double h = 0.03;       ///< [m]
  double density = 700;  ///< [kg/m^3]
  double young = 1.1e10;
  double poisson = 0.3;
  int modes = 20;
  int cells = 24;  ///< of the surface mesh along x, even
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
  const int ny = 2 * std::max(1, static_cast<int>(std::lround(s.cells * s.b / s.a / 2)));
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= nx; ++i) model->surface.vertices.emplace_back(s.a * i / nx, s.b * j / ny, 0);
  for (int j = 0; j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      const Index v = j * (nx + 1) + i;
      // Diagonals that mirror each other about both middle lines: the mesh is as symmetric as the plate.
      if ((2 * i < nx) == (2 * j < ny)) {
        model->surface.triangles.push_back({v, v + 1, v + nx + 2});
        model->surface.triangles.push_back({v, v + nx + 2, v + nx + 1});
      } else {
        model->surface.triangles.push_back({v, v + 1, v + nx + 1});
        model->surface.triangles.push_back({v + 1, v + nx + 2, v + nx + 1});
      }
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

}  // namespace thrum::vibration
