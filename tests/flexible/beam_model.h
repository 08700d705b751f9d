// SPDX-License-Identifier: MIT
// A flat bar held at one end, with its bending modes in closed form [Euler and Bernoulli].
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/model/modal_model.h"

namespace thrum::flexible {

struct BeamSize {
  Vec3 size{0.3, 0.03, 0.001};  ///< about the origin; held at its end of smallest x [m]
  double density = 7850;        ///< [kg/m^3]
  double young = 2e11;          ///< [Pa]
  int modes = 14;
  int cells = 60;      ///< of the surface along x
  double decay = 0.5;  ///< [1/s]
};

/// beta L of the modes of a cantilever: cos z cosh z = -1.
inline double cantilever_root(int mode)
{
  constexpr std::array<double, 5> kFirst = {1.875104068711961, 4.694091132974175, 7.854757438237613,
                                            10.995540734875467, 14.137168391046471};
  return mode < 5 ? kFirst[at(mode)] : (mode + 0.5) * std::numbers::pi;
}

/// Frequency of a cantilever of that free length [Hz].
inline double cantilever_frequency(const BeamSize& s, double length, int mode = 0)
{
  const double z = cantilever_root(mode) / length;
  return z * z * s.size.z() * std::sqrt(s.young / (12 * s.density)) / (2 * std::numbers::pi);
}

/// Deflection of mode and its slope at the distance x from the held end; the mean square over the length
/// is 1.
inline std::array<double, 2> cantilever_shape(int mode, double x, double length)
{
  const double z = cantilever_root(mode);
  const double y = z * x / length;
  // cosh y - s sinh y and sinh y - s cosh y without the difference of large numbers.
  const double s = (std::cosh(z) + std::cos(z)) / (std::sinh(z) + std::sin(z));
  const double e = (std::sin(z) - std::cos(z) - std::exp(-z)) / (std::sinh(z) + std::sin(z));
  const double ch = std::exp(-y) + e * std::sinh(y);
  const double sh = -std::exp(-y) + e * std::cosh(y);
  return {ch - std::cos(y) + s * std::sin(y), z / length * (sh + std::sin(y) + s * std::cos(y))};
}

/// The surface of a box of cells along x, two along y and one along z.
inline mesh::TriangleMesh bar_surface(const Vec3& size, int cells)
{
  constexpr int kAcross = 2;
  mesh::TriangleMesh mesh;
  const auto vertex = [&](int i, int j, int k) {
    return static_cast<Index>((k * (kAcross + 1) + j) * (cells + 1) + i);
  };
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j <= kAcross; ++j) {
      for (int i = 0; i <= cells; ++i)
        mesh.vertices.emplace_back(
            size.cwiseProduct(Vec3(1.0 * i / cells - 0.5, 1.0 * j / kAcross - 0.5, k - 0.5)));
    }
  }
  const auto quad = [&](Index a, Index b, Index c, Index d) {
    mesh.triangles.push_back({a, b, c});
    mesh.triangles.push_back({a, c, d});
  };
  for (int i = 0; i < cells; ++i) {
    for (int j = 0; j < kAcross; ++j) {
      quad(vertex(i, j, 0), vertex(i, j + 1, 0), vertex(i + 1, j + 1, 0), vertex(i + 1, j, 0));
      quad(vertex(i, j, 1), vertex(i + 1, j, 1), vertex(i + 1, j + 1, 1), vertex(i, j + 1, 1));
    }
    quad(vertex(i, 0, 0), vertex(i + 1, 0, 0), vertex(i + 1, 0, 1), vertex(i, 0, 1));
    quad(vertex(i, kAcross, 0), vertex(i, kAcross, 1), vertex(i + 1, kAcross, 1), vertex(i + 1, kAcross, 0));
  }
  for (int j = 0; j < kAcross; ++j) {
    quad(vertex(0, j, 0), vertex(0, j, 1), vertex(0, j + 1, 1), vertex(0, j + 1, 0));
    quad(vertex(cells, j, 0), vertex(cells, j + 1, 0), vertex(cells, j + 1, 1), vertex(cells, j, 1));
  }
  return mesh;
}

inline std::shared_ptr<const model::ModalModel> beam_model(const BeamSize& s = {})
{
  auto model = std::make_shared<model::ModalModel>();
  model->name = "bar";
  model->surface = bar_surface(s.size, s.cells);
  model->mass = s.density * s.size.prod();
  model->frequencies.resize(s.modes);
  model->decays.setConstant(s.modes, s.decay);
  model->shapes.setZero(3 * model->vertex_count(), s.modes);
  for (int m = 0; m < s.modes; ++m) {
    model->frequencies[m] = cantilever_frequency(s, s.size.x(), m);
    for (Index v = 0; v < model->vertex_count(); ++v) {
      const Vec3& p = model->surface.vertices[at(v)];
      const auto [w, slope] = cantilever_shape(m, p.x() + s.size.x() / 2, s.size.x());
      model->shapes(3 * v, m) = -p.z() * slope / std::sqrt(model->mass);
      model->shapes(3 * v + 2, m) = w / std::sqrt(model->mass);
    }
  }
  model->materials = {{.name = "steel", .density = s.density, .young = s.young, .poisson = 0.3}};
  return model;
}

}  // namespace thrum::flexible
