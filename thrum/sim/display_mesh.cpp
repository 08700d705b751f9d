// SPDX-License-Identifier: MIT
#include "thrum/sim/display_mesh.h"

#include "thrum/base/index.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {

namespace {

mesh::TriangleMesh triangles_of(const model::Sphere& s)
{
  return shapes::generate(shapes::SphereDesc{.radius = s.radius});
}
mesh::TriangleMesh triangles_of(const model::Box& s)
{
  return shapes::generate(shapes::BoxDesc{.size = 2 * s.half});
}
mesh::TriangleMesh triangles_of(const model::Capsule& s)
{
  return shapes::generate(shapes::CapsuleDesc{.radius = s.radius, .height = 2 * s.half_length});
}
mesh::TriangleMesh triangles_of(const model::Cylinder& s)
{
  return shapes::generate(shapes::CylinderDesc{.radius = s.radius, .height = 2 * s.half_length});
}
mesh::TriangleMesh triangles_of(const model::ConvexHull& s)
{
  return collision::triangulate(*s.polyhedron);
}
mesh::TriangleMesh triangles_of(const model::Mesh& s)
{
  return *s.triangles;
}
mesh::TriangleMesh triangles_of(const model::Plane&)
{
  return {};
}
mesh::TriangleMesh triangles_of(const model::HeightField& s)
{
  return collision::triangulate(s);
}
mesh::TriangleMesh triangles_of(const model::Compound& s)
{
  mesh::TriangleMesh all;
  for (const model::CompoundPart& part : s.parts) {
    const std::shared_ptr<const mesh::TriangleMesh> mesh = display_mesh(*part.shape);
    const auto first = count_of(all.vertices);
    for (const Vec3& v : mesh->vertices) all.vertices.push_back(part.X_sp.point(v));
    for (const Triangle& t : mesh->triangles)
      all.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  }
  return all;
}

}  // namespace

std::shared_ptr<const mesh::TriangleMesh> display_mesh(const model::Shape& shape)
{
  // A mesh is shared, not copied.
  if (const auto* mesh = std::get_if<model::Mesh>(&shape.geometry)) return mesh->triangles;
  return std::make_shared<const mesh::TriangleMesh>(
      std::visit([](const auto& s) { return triangles_of(s); }, shape.geometry));
}

}  // namespace thrum::sim
