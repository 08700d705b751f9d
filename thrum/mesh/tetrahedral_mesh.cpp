// SPDX-License-Identifier: MIT
#include "thrum/mesh/tetrahedral_mesh.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"

namespace thrum::mesh {

namespace {

Vec3 corner(const TetrahedralMesh& mesh, std::size_t tetrahedron, std::size_t which)
{
  return mesh.vertices[at(mesh.tetrahedra[tetrahedron][which])];
}

// A face as its sorted corners, for pairing, with the outward triangle it came from.
struct Face {
  Triangle sorted;
  Triangle outward;
  Index tetrahedron;
};

std::vector<Face> all_faces(const TetrahedralMesh& mesh)
{
  // The face opposite to each corner of a positive tetrahedron, counter-clockwise from outside.
  constexpr std::array<std::array<std::size_t, 3>, 4> kFaces = {{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
  std::vector<Face> faces;
  faces.reserve(4 * mesh.tetrahedra.size());
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    const Tetrahedron& tet = mesh.tetrahedra[t];
    for (const auto& f : kFaces) {
      const Triangle outward = {tet[f[0]], tet[f[1]], tet[f[2]]};
      Triangle sorted = outward;
      std::sort(sorted.begin(), sorted.end());
      faces.push_back({sorted, outward, static_cast<Index>(t)});
    }
  }
  return faces;
}

}  // namespace

double six_times_volume(const TetrahedralMesh& mesh, std::size_t tetrahedron)
{
  const Vec3 a = corner(mesh, tetrahedron, 0);
  const Vec3 u = corner(mesh, tetrahedron, 1) - a;
  const Vec3 v = corner(mesh, tetrahedron, 2) - a;
  return u.dot(v.cross(corner(mesh, tetrahedron, 3) - a));
}

double volume(const TetrahedralMesh& mesh)
{
  double total = 0;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) total += six_times_volume(mesh, t);
  return total / 6;
}

BoundarySurface boundary_surface(const TetrahedralMesh& mesh)
{
  std::vector<Face> faces = all_faces(mesh);
  std::stable_sort(faces.begin(), faces.end(),
                   [](const Face& a, const Face& b) { return a.sorted < b.sorted; });
  std::vector<Face> once;
  for (std::size_t i = 0; i < faces.size();) {
    std::size_t end = i + 1;
    while (end < faces.size() && faces[end].sorted == faces[i].sorted) ++end;
    if (end == i + 1) once.push_back(faces[i]);
    i = end;
  }
  std::sort(once.begin(), once.end(), [](const Face& a, const Face& b) {
    return a.tetrahedron != b.tetrahedron ? a.tetrahedron < b.tetrahedron : a.sorted < b.sorted;
  });

  BoundarySurface result;
  constexpr Index kNone = -1;
  std::vector<Index> on_surface(mesh.vertices.size(), kNone);
  for (const Face& face : once) {
    Triangle t{};
    for (std::size_t k = 0; k < 3; ++k) {
      Index& local = on_surface[at(face.outward[k])];
      if (local == kNone) {
        local = count_of(result.nodes);
        result.nodes.push_back(face.outward[k]);
        result.surface.vertices.push_back(mesh.vertices[at(face.outward[k])]);
      }
      t[k] = local;
    }
    result.surface.triangles.push_back(t);
    result.tetrahedra.push_back(face.tetrahedron);
  }
  return result;
}

std::array<double, 6> dihedral_angles(const TetrahedralMesh& mesh, std::size_t tetrahedron)
{
  // At edge (a, b) the angle between the half-planes that hold the other two corners c and d.
  constexpr std::array<std::array<std::size_t, 4>, 6> kEdges = {
      {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}}};
  std::array<double, 6> angles{};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& e = kEdges[i];
    const Vec3 a = corner(mesh, tetrahedron, e[0]);
    const Vec3 axis = corner(mesh, tetrahedron, e[1]) - a;
    const Vec3 u = axis.cross(corner(mesh, tetrahedron, e[2]) - a);
    const Vec3 v = axis.cross(corner(mesh, tetrahedron, e[3]) - a);
    angles[i] = std::atan2(u.cross(v).norm(), u.dot(v));
  }
  return angles;
}

}  // namespace thrum::mesh
