// SPDX-License-Identifier: MIT
#include "thrum/tets/tet_pieces.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

constexpr Index kNone = -1;

// Union of sets with path halving; the smaller index stays the root, so the result does not depend on the
// order.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  Index root(Index i)
  {
    while (parent_[at(i)] != i) {
      parent_[at(i)] = parent_[at(parent_[at(i)])];
      i = parent_[at(i)];
    }
    return i;
  }
  void join(Index a, Index b)
  {
    a = root(a);
    b = root(b);
    if (a < b) parent_[at(b)] = a;
    if (b < a) parent_[at(a)] = b;
  }

 private:
  std::vector<Index> parent_;
};

// The corners of a tetrahedron without one of them, in ascending order.
std::array<Index, 3> sorted_face(const Tetrahedron& tet, std::size_t opposite)
{
  std::array<Index, 3> face{};
  for (std::size_t c = 0, m = 0; c < 4; ++c) {
    if (c != opposite) face[m++] = tet[c];
  }
  if (face[0] > face[1]) std::swap(face[0], face[1]);
  if (face[1] > face[2]) std::swap(face[1], face[2]);
  if (face[0] > face[1]) std::swap(face[0], face[1]);
  return face;
}

}  // namespace

std::vector<std::array<Index, 4>> face_neighbours(const mesh::TetrahedralMesh& mesh)
{
  // Faces in buckets by their smallest vertex: a counting sort, then a search inside the bucket of a few tens
  // of faces.
  struct Face {
    Index middle, largest, tet;
    std::uint8_t corner;
  };
  std::vector<std::size_t> begin(mesh.vertices.size() + 1, 0);
  for (const Tetrahedron& tet : mesh.tetrahedra) {
    for (std::size_t c = 0; c < 4; ++c) ++begin[at(sorted_face(tet, c)[0]) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Face> faces(4 * mesh.tetrahedra.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    for (std::size_t c = 0; c < 4; ++c) {
      const auto face = sorted_face(mesh.tetrahedra[t], c);
      faces[next[at(face[0])]++] = {face[1], face[2], static_cast<Index>(t), static_cast<std::uint8_t>(c)};
    }
  }
  std::vector<std::array<Index, 4>> neighbours(mesh.tetrahedra.size(), {kNone, kNone, kNone, kNone});
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    for (std::size_t i = begin[v]; i < begin[v + 1]; ++i) {
      for (std::size_t j = i + 1; j < begin[v + 1]; ++j) {
        const Face& a = faces[i];
        const Face& b = faces[j];
        if (a.middle != b.middle || a.largest != b.largest) continue;
        Index& from_a = neighbours[at(a.tet)][a.corner];
        Index& from_b = neighbours[at(b.tet)][b.corner];
        if (from_a != kNone || from_b != kNone) {
          throw Error(
              fmt::format("More than two tetrahedra share the face {} {} {}.", v, a.middle, a.largest));
        }
        from_a = b.tet;
        from_b = a.tet;
      }
    }
  }
  return neighbours;
}

TetPieces face_connected_pieces(const mesh::TetrahedralMesh& mesh,
                                std::span<const std::array<Index, 4>> neighbours)
{
  const std::size_t count = mesh.tetrahedra.size();
  DisjointSets sets(count);
  for (std::size_t t = 0; t < count; ++t) {
    for (const Index n : neighbours[t]) {
      if (n > static_cast<Index>(t)) sets.join(static_cast<Index>(t), n);
    }
  }
  // Pieces in order of their first tetrahedron, with volumes, then ranked by volume.
  std::vector<Index> number(count, kNone);
  std::vector<double> volumes;
  TetPieces pieces;
  pieces.piece_of.resize(count);
  for (std::size_t t = 0; t < count; ++t) {
    const Index root = sets.root(static_cast<Index>(t));
    if (number[at(root)] == kNone) {
      number[at(root)] = count_of(volumes);
      volumes.push_back(0);
    }
    pieces.piece_of[t] = number[at(root)];
    volumes[at(number[at(root)])] += six_times_volume(mesh, t) / 6;
  }
  std::vector<Index> order(volumes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return volumes[at(a)] > volumes[at(b)]; });
  std::vector<Index> rank(order.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    rank[at(order[r])] = static_cast<Index>(r);
    pieces.volumes.push_back(volumes[at(order[r])]);
  }
  for (Index& piece : pieces.piece_of) piece = rank[at(piece)];
  return pieces;
}

void keep_tetrahedra(mesh::TetrahedralMesh& mesh, std::span<const char> keep)
{
  std::vector<Tetrahedron> kept;
  std::vector<Index> regions;
  std::vector<Index> renumbered(mesh.vertices.size(), kNone);
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (keep[t] == 0) continue;
    kept.push_back(mesh.tetrahedra[t]);
    if (!mesh.regions.empty()) regions.push_back(mesh.regions[t]);
    for (const Index v : mesh.tetrahedra[t]) renumbered[at(v)] = 0;
  }
  Index used = 0;
  for (std::size_t v = 0; v < renumbered.size(); ++v) {
    if (renumbered[v] == kNone) continue;
    mesh.vertices[at(used)] = mesh.vertices[v];
    renumbered[v] = used++;
  }
  mesh.vertices.resize(at(used));
  for (Tetrahedron& tet : kept) {
    for (Index& v : tet) v = renumbered[at(v)];
  }
  mesh.tetrahedra = std::move(kept);
  mesh.regions = std::move(regions);
}

std::size_t split_pinched_vertices(mesh::TetrahedralMesh& mesh,
                                   std::span<const std::array<Index, 4>> neighbours)
{
  // Only boundary vertices can be pinched: around an inner vertex all tetrahedra are connected.
  std::vector<char> on_boundary(mesh.vertices.size(), 0);
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    for (std::size_t c = 0; c < 4; ++c) {
      if (neighbours[t][c] != kNone) continue;
      for (std::size_t m = 0; m < 4; ++m) {
        if (m != c) on_boundary[at(mesh.tetrahedra[t][m])] = 1;
      }
    }
  }
  // Only tetrahedra at such vertices matter; they are numbered in order, four corners each.
  std::vector<Index> first_corner(mesh.tetrahedra.size(), kNone);
  Index corner_count = 0;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    const Tetrahedron& tet = mesh.tetrahedra[t];
    if (std::none_of(tet.begin(), tet.end(), [&](Index v) { return on_boundary[at(v)] != 0; })) continue;
    first_corner[t] = corner_count;
    corner_count += 4;
  }
  // A corner is joined with the same vertex's corner in each neighbour across a face at the vertex.
  DisjointSets corners(at(corner_count));
  const auto corner_of = [&](Index t, Index v) {
    const Tetrahedron& tet = mesh.tetrahedra[at(t)];
    return first_corner[at(t)] + static_cast<Index>(std::find(tet.begin(), tet.end(), v) - tet.begin());
  };
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (first_corner[t] == kNone) continue;
    for (std::size_t face = 0; face < 4; ++face) {
      const Index n = neighbours[t][face];
      if (n <= static_cast<Index>(t)) continue;
      for (std::size_t c = 0; c < 4; ++c) {
        const Index v = mesh.tetrahedra[t][c];
        if (c != face && on_boundary[at(v)] != 0) {
          corners.join(first_corner[t] + static_cast<Index>(c), corner_of(n, v));
        }
      }
    }
  }
  // The first set of each vertex keeps it, the others get copies.
  std::vector<Index> owner(mesh.vertices.size(), kNone);
  std::vector<Index> copy(at(corner_count), kNone);
  const std::size_t before = mesh.vertices.size();
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (first_corner[t] == kNone) continue;
    for (std::size_t c = 0; c < 4; ++c) {
      Index& v = mesh.tetrahedra[t][c];
      if (on_boundary[at(v)] == 0) continue;
      const Index set = corners.root(first_corner[t] + static_cast<Index>(c));
      if (owner[at(v)] == kNone) owner[at(v)] = set;
      if (owner[at(v)] == set) continue;
      if (copy[at(set)] == kNone) {
        copy[at(set)] = count_of(mesh.vertices);
        mesh.vertices.push_back(Vec3(mesh.vertices[at(v)]));
      }
      v = copy[at(set)];
    }
  }
  return mesh.vertices.size() - before;
}

std::size_t count_pinched_edges(const mesh::TetrahedralMesh& mesh,
                                std::span<const std::array<Index, 4>> neighbours)
{
  std::vector<std::array<Index, 2>> edges;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    for (std::size_t c = 0; c < 4; ++c) {
      if (neighbours[t][c] != kNone) continue;
      const auto face = sorted_face(mesh.tetrahedra[t], c);
      edges.insert(edges.end(), {{face[0], face[1]}, {face[0], face[2]}, {face[1], face[2]}});
    }
  }
  std::sort(edges.begin(), edges.end());
  std::size_t pinched = 0;
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t end = i + 1;
    while (end < edges.size() && edges[end] == edges[i]) ++end;
    if (end - i > 2) ++pinched;
    i = end;
  }
  return pinched;
}

}  // namespace thrum::tets
