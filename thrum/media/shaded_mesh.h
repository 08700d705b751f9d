// SPDX-License-Identifier: MIT
// A mesh for graphics programs: a normal at each vertex, and sharp edges.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::media {

inline constexpr double kCreaseAngle = 0.6;  ///< faces that meet at a larger angle keep a sharp edge [rad]

/// For each corner of each triangle the mean normal, by area, of the faces around its vertex that meet the
/// triangle at a smaller angle than the crease.
[[nodiscard]] std::vector<std::array<Vec3, 3>> corner_normals(const mesh::TriangleMesh& mesh,
                                                              double crease_angle = kCreaseAngle);

/// Vertices split where faces meet at a sharp angle, each with its normal.
struct ShadedMesh {
  std::vector<float> positions;        ///< x, y, z of each vertex [m]
  std::vector<float> normals;          ///< x, y, z of each unit normal
  std::vector<std::uint32_t> corners;  ///< three per triangle; triangles without area are skipped
  // Where each vertex comes from.
  std::vector<std::uint32_t> sources;    ///< vertex of the mesh
  std::vector<std::uint32_t> triangles;  ///< a triangle of the mesh that has it
};

[[nodiscard]] ShadedMesh shade_mesh(const mesh::TriangleMesh& mesh, double crease_angle = kCreaseAngle);

/// How the vertices of a shaded mesh and their normals change with the amplitude of a displacement: the
/// position is p + a dp, the normal has the direction of n + a dn. The latter is exact for a flat plate that
/// bends across itself, and to first order in the slope for others.
struct MorphTarget {
  std::vector<float> positions;  ///< dp: x, y, z of each vertex
  std::vector<float> normals;    ///< dn: likewise [1/m]
};

/// `displacements`: x, y, z of each vertex of `mesh`; `shaded` and the angle are those of shade_mesh().
[[nodiscard]] MorphTarget morph_target(const mesh::TriangleMesh& mesh, const ShadedMesh& shaded,
                                       std::span<const float> displacements,
                                       double crease_angle = kCreaseAngle);

}  // namespace thrum::media
