// SPDX-License-Identifier: MIT
// Bodies for the benchmarks of the distant response.
#pragma once

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "tests/vibration/contact_scene.h"
#include "thrum/base/random.h"
#include "thrum/model/modal_model.h"
#include "thrum/shapes/furniture.h"

namespace thrum::bench {

/// A closed box of size `size` with nx x ny cells on its large faces.
inline mesh::TriangleMesh grid_slab(const Vec3& size, int nx, int ny)
{
  mesh::TriangleMesh mesh;
  for (int side = 0; side < 2; ++side) {
    const auto first = static_cast<Index>(mesh.vertices.size());
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i)
        mesh.vertices.emplace_back(size.x() * (double(i) / nx - 0.5), size.y() * (double(j) / ny - 0.5),
                                   size.z() * (side - 0.5));
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        const Index a = first + j * (nx + 1) + i;
        const Index b = a + 1;
        const Index c = a + nx + 2;
        const Index d = a + nx + 1;
        if (side == 1) {
          mesh.triangles.push_back({a, b, c});
          mesh.triangles.push_back({a, c, d});
        } else {
          mesh.triangles.push_back({a, c, b});
          mesh.triangles.push_back({a, d, c});
        }
      }
    }
  }
  return mesh;
}

/// A mesh with made-up smooth modes up to the frequency whose filter step is `filter_step` [s]: the time of a
/// response depends on the mesh and on the number of modes and samples, not on the shapes.
inline std::shared_ptr<const model::ModalModel> smooth_modes(const std::string& name, mesh::TriangleMesh mesh,
                                                             int modes, double filter_step)
{
  auto model = std::make_shared<model::ModalModel>();
  model->name = name;
  model->surface = std::move(mesh);
  Box3 box;
  for (const Vec3& v : model->surface.vertices) box.extend(v);
  const double highest = 1 / (4 * filter_step);
  model->frequencies.resize(modes);
  model->decays.resize(modes);
  model->shapes.resize(3 * model->vertex_count(), modes);
  for (int k = 0; k < modes; ++k) {
    model->frequencies[k] = highest * (0.1 + 0.9 * (k + 1) / modes);
    model->decays[k] = 20;
    for (Index v = 0; v < model->vertex_count(); ++v) {
      const Vec3 x =
          (model->surface.vertices[static_cast<std::size_t>(v)] - box.min()).cwiseQuotient(box.diagonal());
      for (int a = 0; a < 3; ++a)
        model->shapes(3 * v + a, k) =
            0.3 * std::sin(std::numbers::pi * ((1 + k % 5) * x.x() + (1 + k / 5) * x.y() + 0.3 * a));
    }
  }
  model->materials = {{.name = "wood", .density = 700, .young = 1.1e9, .poisson = 0.3}};
  return model;
}

using vibration::ContactScene;

/// Random points of triangles that face up.
inline std::vector<Vec3> points_on_top(const mesh::TriangleMesh& mesh, std::size_t count,
                                       base::Random& random)
{
  std::vector<std::size_t> up;
  double top = -1e300;
  for (const Vec3& v : mesh.vertices) top = std::max(top, v.z());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 n = (mesh.corner(t, 1) - mesh.corner(t, 0)).cross(mesh.corner(t, 2) - mesh.corner(t, 0));
    const double z = (mesh.corner(t, 0).z() + mesh.corner(t, 1).z() + mesh.corner(t, 2).z()) / 3;
    if (n.z() > 0.9 * n.norm() && z > 0.5 * top) up.push_back(t);
  }
  std::vector<Vec3> places;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t t = up[random.index(up.size())];
    double a = random.uniform();
    double b = random.uniform();
    if (a + b > 1) {
      a = 1 - a;
      b = 1 - b;
    }
    places.push_back(mesh.corner(t, 0) + a * (mesh.corner(t, 1) - mesh.corner(t, 0)) +
                     b * (mesh.corner(t, 2) - mesh.corner(t, 0)));
  }
  return places;
}

}  // namespace thrum::bench
