// SPDX-License-Identifier: MIT
// Shapes of a scene file as contact sees them and as pictures show them.
#include <fmt/format.h>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/distance/signed_distance_field.h"
#include "thrum/mesh/repair.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/scene/build_world.h"
#include "thrum/shapes/convex_hull.h"
#include "thrum/shapes/shape_catalog.h"

namespace thrum::scene {

namespace {

using MeshPointer = std::shared_ptr<const mesh::TriangleMesh>;

constexpr int kFieldResolution = 64;  ///< cells along the longest side of a moving mesh

MeshPointer shared(mesh::TriangleMesh mesh)
{
  return std::make_shared<const mesh::TriangleMesh>(std::move(mesh));
}

BuiltShape mesh_shape(mesh::TriangleMesh mesh, bool moving)
{
  BuiltShape built;
  built.mesh = shared(std::move(mesh));
  model::Mesh shape;
  shape.triangles = built.mesh;
  if (moving) {
    const distance::MeshDistance distance(*built.mesh);
    shape.distance = std::make_shared<const distance::SignedDistanceField>(
        distance, distance::DistanceFieldDesc{.resolution = kFieldResolution});
  }
  built.shape.geometry = shape;
  return built;
}

BuiltShape hull_shape(const std::vector<Vec3>& points)
{
  BuiltShape built;
  built.mesh = shared(shapes::convex_hull(points));
  built.shape.geometry = model::ConvexHull{collision::make_polyhedron(*built.mesh)};
  return built;
}

BuiltShape make(const BallShape& s, bool)
{
  return {{model::Sphere{s.radius}}, shared(shapes::generate(shapes::SphereDesc{.radius = s.radius}))};
}
BuiltShape make(const BoxShape& s, bool)
{
  return {{model::Box{0.5 * s.size}}, shared(shapes::generate(shapes::BoxDesc{.size = s.size}))};
}
BuiltShape make(const CapsuleShape& s, bool)
{
  return {{model::Capsule{s.radius, 0.5 * s.height}},
          shared(shapes::generate(shapes::CapsuleDesc{.radius = s.radius, .height = s.height}))};
}
BuiltShape make(const CylinderShape& s, bool)
{
  return {{model::Cylinder{s.radius, 0.5 * s.height}},
          shared(shapes::generate(shapes::CylinderDesc{.radius = s.radius, .height = s.height}))};
}
BuiltShape make(const PlaneShape&, bool)
{
  return {{model::Plane{}}, shared({})};
}
BuiltShape make(const HeightFieldShape& s, bool)
{
  const auto columns = at(s.columns);
  if (s.heights.size() % columns != 0 || s.heights.size() < 2 * columns) {
    throw Error(fmt::format("{} heights do not fill two or more rows of {}.", s.heights.size(), columns));
  }
  model::HeightField field;
  field.columns = s.columns;
  field.rows = static_cast<std::int32_t>(s.heights.size() / columns);
  field.spacing = s.spacing;
  field.heights = std::make_shared<const std::vector<double>>(s.heights);
  return {{field}, shared(collision::triangulate(field))};
}
BuiltShape make(const HullShape& s, bool)
{
  return hull_shape(s.points);
}

BuiltShape make(const FileShape& s, bool moving)
{
  // Files often hold each corner once per triangle.
  mesh::TriangleMesh mesh = mesh::repair_mesh(mesh_io::read_mesh(s.file.path), {}).mesh;
  for (Vec3& v : mesh.vertices) v *= s.scale;
  return s.convex ? hull_shape(mesh.vertices) : mesh_shape(std::move(mesh), moving);
}

BuiltShape make(const CompoundShape& s, bool moving)
{
  model::Compound compound;
  mesh::TriangleMesh all;
  for (const CompoundPartDesc& part : s.parts) {
    const BuiltShape built = build_shape(part.shape, moving);
    const Pose X{part.position, part.rotation};
    compound.parts.push_back({X, std::make_shared<const model::Shape>(built.shape)});
    const auto first = count_of(all.vertices);
    for (const Vec3& v : built.mesh->vertices) all.vertices.push_back(X.point(v));
    for (const Triangle& t : built.mesh->triangles)
      all.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  }
  return {{std::move(compound)}, shared(std::move(all))};
}

// A cone is convex; everything else that is generated touches as the mesh it is.
BuiltShape make(const shapes::ConeDesc& s, bool)
{
  return hull_shape(shapes::generate(s).vertices);
}

template <class Generated>
BuiltShape make(const Generated& s, bool moving)
{
  return mesh_shape(shapes::generate(shapes::ShapeDesc(s)), moving);
}

}  // namespace

BuiltShape build_shape(const SceneShape& shape, bool moving)
{
  return std::visit([&](const auto& s) { return make(s, moving); }, shape.data);
}

BuiltShape build_scaled(const SceneShape& shape, const Vec3& factors, bool moving)
{
  const BuiltShape plain = build_shape(shape, false);
  mesh::TriangleMesh mesh = *plain.mesh;
  for (Vec3& v : mesh.vertices) v = v.cwiseProduct(factors);
  if (plain.shape.kind() == model::ShapeKind::hull) return hull_shape(mesh.vertices);
  if (plain.shape.kind() != model::ShapeKind::mesh)
    throw Error("Only meshes and convex hulls can be stretched.");
  return mesh_shape(std::move(mesh), moving);
}

}  // namespace thrum::scene
