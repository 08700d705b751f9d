// SPDX-License-Identifier: MIT
#include "thrum/tets/tet_pieces.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/tet_checks.h"
#include "thrum/base/error.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::tets {
namespace {

TEST(TetPieces, NeighboursAreMutualAndTheRestIsTheBoundary)
{
  const mesh::TetrahedralMesh mesh = tetrahedralise_box({1, 1, 1}, {3, 2, 2}, BoxSplit::five);
  const auto neighbours = face_neighbours(mesh);
  std::size_t open = 0;
  for (std::size_t t = 0; t < neighbours.size(); ++t) {
    for (std::size_t c = 0; c < 4; ++c) {
      const Index n = neighbours[t][c];
      if (n < 0) {
        ++open;
        continue;
      }
      const auto& back = neighbours[static_cast<std::size_t>(n)];
      EXPECT_EQ(std::count(back.begin(), back.end(), static_cast<Index>(t)), 1);
      // The neighbour has the three other corners and not this one.
      const Tetrahedron& far = mesh.tetrahedra[static_cast<std::size_t>(n)];
      for (std::size_t m = 0; m < 4; ++m) {
        EXPECT_EQ(std::count(far.begin(), far.end(), mesh.tetrahedra[t][m]), m == c ? 0 : 1);
      }
    }
  }
  EXPECT_EQ(open, mesh::boundary_surface(mesh).surface.triangles.size());
}

TEST(TetPieces, ThreeTetrahedraOnOneFaceAreRejected)
{
  mesh::TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, -1}};
  mesh.tetrahedra = {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 2, 1, 5}};
  EXPECT_THROW((void)face_neighbours(mesh), Error);
}

// Two boxes that share one vertex, or one edge, and nothing else.
mesh::TetrahedralMesh touching_boxes(bool along_edge)
{
  mesh::TetrahedralMesh mesh = tetrahedralise_box({1, 1, 1}, {1, 1, 1});
  mesh::TetrahedralMesh second = tetrahedralise_box({1, 1, 1}, {1, 1, 1});
  const Vec3 shift = along_edge ? Vec3(1, 1, 0) : Vec3(1, 1, 1);
  std::vector<Index> index;
  for (const Vec3& p : second.vertices) {
    const Vec3 q = 2 * p.cwiseProduct(Vec3(1, 1, along_edge ? 0.5 : 1)) + shift * 1.5;
    const auto same =
        std::find_if(mesh.vertices.begin(), mesh.vertices.end(), [&](const Vec3& r) { return r == q; });
    index.push_back(static_cast<Index>(same - mesh.vertices.begin()));
    if (same == mesh.vertices.end()) mesh.vertices.push_back(q);
  }
  for (const Tetrahedron& t : second.tetrahedra) {
    Tetrahedron moved{};
    for (std::size_t k = 0; k < 4; ++k) moved[k] = index[static_cast<std::size_t>(t[k])];
    mesh.tetrahedra.push_back(moved);
  }
  return mesh;
}

TEST(TetPieces, PinchesAreCutOpen)
{
  for (const bool along_edge : {false, true}) {
    mesh::TetrahedralMesh mesh = touching_boxes(along_edge);
    ASSERT_EQ(mesh.vertices.size(), along_edge ? 14u : 15u);
    const auto neighbours = face_neighbours(mesh);
    EXPECT_EQ(count_pinched_edges(mesh, neighbours), along_edge ? 1u : 0u);
    const TetPieces pieces = face_connected_pieces(mesh, neighbours);
    ASSERT_EQ(pieces.volumes.size(), 2u);
    EXPECT_NEAR(pieces.volumes[0], along_edge ? 4 : 8, 1e-12);  // the second box is the larger one
    EXPECT_NEAR(pieces.volumes[1], 1, 1e-12);
    EXPECT_EQ(pieces.piece_of.front(), 1);
    EXPECT_EQ(pieces.piece_of.back(), 0);
    EXPECT_EQ(split_pinched_vertices(mesh, neighbours), along_edge ? 2u : 1u);
    EXPECT_EQ(mesh.vertices.size(), 16u);
    EXPECT_EQ(count_pinched_edges(mesh, neighbours), 0u);
    EXPECT_EQ(support::euler_characteristic(mesh::boundary_surface(mesh).surface), 4);
    // A valid mesh is not changed.
    EXPECT_EQ(split_pinched_vertices(mesh, neighbours), 0u);
  }
}

TEST(TetPieces, KeepingSomeDropsUnusedVertices)
{
  mesh::TetrahedralMesh mesh = touching_boxes(false);
  mesh.regions.assign(mesh.tetrahedra.size(), 0);
  mesh.regions[7] = 3;
  std::vector<char> keep(mesh.tetrahedra.size(), 0);
  std::fill(keep.begin() + 6, keep.end(), 1);
  keep_tetrahedra(mesh, keep);
  support::expect_valid(mesh);
  EXPECT_EQ(mesh.vertices.size(), 8u);
  EXPECT_NEAR(mesh::volume(mesh), 8, 1e-12);
  EXPECT_EQ(mesh.regions, (std::vector<Index>{0, 3, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace thrum::tets
