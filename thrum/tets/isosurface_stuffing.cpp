// SPDX-License-Identifier: MIT
#include "thrum/tets/isosurface_stuffing.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/tets/bcc_lattice.h"
#include "thrum/tets/graded_cells.h"
#include "thrum/tets/lattice_cuts.h"
#include "thrum/tets/stuffing_stencils.h"
#include "thrum/tets/tet_pieces.h"

namespace thrum::tets {

namespace {

constexpr Index kNoVertex = -1;

// Visits the lattice tetrahedra and writes the mesh.
class Filler {
 public:
  Filler(const BccLattice& lattice, const LatticeCuts& cuts, mesh::TetrahedralMesh& mesh)
      : lattice_(lattice), cuts_(cuts), mesh_(mesh)
  {
    vertex_of_site_.assign(lattice.site_count(), kNoVertex);
    vertex_of_cut_.assign(cuts.cuts().size(), kNoVertex);
  }

  // The lattice tetrahedra around the four edges of the face between cell (i, j, k) and the next one along an
  // axis: each is spanned by the two cell centres and one edge of the face.
  void fill_face(const LatticeSite& centre, int axis)
  {
    const StencilCorner here = corner(centre);
    const StencilCorner next = corner(centre + kAxisStep[at(axis)]);
    std::array<StencilCorner, 4> face;
    for (std::size_t m = 0; m < 4; ++m) {
      face[m] = corner(centre + kFaceCorners[at(axis)][m]);
    }
    for (std::size_t m = 0; m < 4; ++m) fill({here, next, face[m], face[(m + 1) % 4]});
  }

  [[nodiscard]] StencilCorner corner(const LatticeSite& site) const
  {
    const SiteAddress address = lattice_.address(site);
    return {site, address, lattice_.sign(address)};
  }

  void fill(const std::array<StencilCorner, 4>& corners)
  {
    stuff_tetrahedron(
        corners, [this](const StencilCorner& c) { return site_vertex(c); },
        [this](const StencilCorner& a, const StencilCorner& b) { return cut_vertex(a, b); },
        [this](const Tetrahedron& tet) { mesh_.tetrahedra.push_back(tet); });
  }

 private:
  static constexpr std::array<LatticeSite, 3> kAxisStep = {{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}};
  // Corners of the face, from the centre of its cell, counter-clockwise about the axis.
  static constexpr std::array<std::array<LatticeSite, 4>, 3> kFaceCorners = {
      {{{{1, -1, -1}, {1, 1, -1}, {1, 1, 1}, {1, -1, 1}}},
       {{{-1, 1, -1}, {-1, 1, 1}, {1, 1, 1}, {1, 1, -1}}},
       {{{-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}}}}};

  Index site_vertex(const StencilCorner& c)
  {
    Index& vertex = vertex_of_site_[at(c.address)];
    if (vertex == kNoVertex) vertex = add(cuts_.position(c.address));
    return vertex;
  }

  Index cut_vertex(const StencilCorner& a, const StencilCorner& b)
  {
    const std::size_t cut = cuts_.find(a.site, a.address, b.site, b.address);
    Index& vertex = vertex_of_cut_[cut];
    if (vertex == kNoVertex) vertex = add(cuts_.cuts()[cut].point);
    return vertex;
  }

  Index add(const Vec3& point)
  {
    mesh_.vertices.push_back(point);
    return static_cast<Index>(mesh_.vertices.size() - 1);
  }

  const BccLattice& lattice_;
  const LatticeCuts& cuts_;
  mesh::TetrahedralMesh& mesh_;
  std::vector<Index> vertex_of_site_;
  std::vector<Index> vertex_of_cut_;
};

// Each face of the lattice once, from the cell before it. Cells of outside blocks can be skipped: their sites
// are more than a spacing away from the surface, so no tetrahedron at them has a corner inside.
void fill_uniform(const BccLattice& lattice, Filler& filler)
{
  constexpr int kSide = BccLattice::kBlockCells;
  for (std::size_t slot = 0; slot < lattice.slot_count(); ++slot) {
    const auto first = lattice.first_cell(slot);
    for (int k = 0; k < kSide; ++k) {
      for (int j = 0; j < kSide; ++j) {
        for (int i = 0; i < kSide; ++i) {
          const LatticeSite centre{2 * (first[0] + i) + 1, 2 * (first[1] + j) + 1, 2 * (first[2] + k) + 1};
          filler.fill_face(centre, 0);
          filler.fill_face(centre, 1);
          filler.fill_face(centre, 2);
        }
      }
    }
  }
}

// A leaf of the graded lattice: its level, the half of its side in site coordinates, and its centre.
struct Leaf {
  int level;
  int half;
  LatticeSite centre;
};

Leaf leaf_of(const GradedCells& graded, const std::array<int, 3>& cell)
{
  const int level = graded.level(cell);
  const int size = 1 << level;
  const auto first = [&](std::size_t axis) {
    return cell[axis] & ~(size - 1);
  };
  return {level, size, {2 * first(0) + size, 2 * first(1) + size, 2 * first(2) + size}};
}

LatticeSite along(int axis, int step)
{
  return {axis == 0 ? step : 0, axis == 1 ? step : 0, axis == 2 ? step : 0};
}

// Emits a lattice tetrahedron of the uncut inside, in the order with positive volume.
void fill_inside(Filler& filler, const LatticeSite& a, const LatticeSite& b, const LatticeSite& c,
                 const LatticeSite& d)
{
  const LatticeSite u = b - a, v = c - a, w = d - a;
  const int six =
      u.x * (v.y * w.z - v.z * w.y) + u.y * (v.z * w.x - v.x * w.z) + u.z * (v.x * w.y - v.y * w.x);
  THRUM_ASSERT(six != 0);
  if (six > 0)
    filler.fill({filler.corner(a), filler.corner(b), filler.corner(c), filler.corner(d)});
  else
    filler.fill({filler.corner(a), filler.corner(b), filler.corner(d), filler.corner(c)});
}

// Corners of the face of a leaf in direction +-axis, in order around it.
std::array<LatticeSite, 4> face_corners(const Leaf& leaf, int axis, int direction)
{
  const int u = (axis + 1) % 3, v = (axis + 2) % 3, h = leaf.half;
  const LatticeSite middle = leaf.centre + along(axis, direction * h);
  return {middle + along(u, -h) + along(v, -h), middle + along(u, h) + along(v, -h),
          middle + along(u, h) + along(v, h), middle + along(u, -h) + along(v, h)};
}

// Between leaves of one size: a tetrahedron of both centres and each edge of the face, or two where a smaller
// leaf has a vertex at the middle of the edge.
void fill_between_equals(Filler& filler, const GradedCells& graded, const Leaf& leaf, const Leaf& next,
                         int axis)
{
  const auto face = face_corners(leaf, axis, 1);
  for (std::size_t m = 0; m < 4; ++m) {
    const LatticeSite &a = face[m], &b = face[(m + 1) % 4];
    const LatticeSite middle{(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2};
    if (graded.splits_edge(middle, leaf.level)) {
      fill_inside(filler, leaf.centre, next.centre, a, middle);
      fill_inside(filler, leaf.centre, next.centre, middle, b);
    } else {
      fill_inside(filler, leaf.centre, next.centre, a, b);
    }
  }
}

// Between a leaf and one twice its size: the face is a quarter of the large one. It is cut from the middle of
// the large face to its corner, and each half connected to both centres (half pyramids).
void fill_between_sizes(Filler& filler, const Leaf& leaf, const Leaf& large, int axis, int direction)
{
  auto face = face_corners(leaf, axis, direction);
  const LatticeSite middle = large.centre + along(axis, -direction * large.half);
  std::rotate(face.begin(), std::find(face.begin(), face.end(), middle), face.end());
  for (const Leaf* from : {&leaf, &large}) {
    fill_inside(filler, from->centre, face[0], face[1], face[2]);
    fill_inside(filler, from->centre, face[0], face[2], face[3]);
  }
}

void fill_leaf(Filler& filler, const GradedCells& graded, const std::array<int, 3>& cell)
{
  const Leaf leaf = leaf_of(graded, cell);
  for (int axis = 0; axis < 3; ++axis) {
    for (const int direction : {-1, 1}) {
      std::array<int, 3> beyond = cell;
      beyond[at(axis)] += direction > 0 ? leaf.half : -1;
      const Leaf next = leaf_of(graded, beyond);
      if (next.level > leaf.level) fill_between_sizes(filler, leaf, next, axis, direction);
      if (next.level != leaf.level || direction < 0) continue;
      if (leaf.level == 0)
        filler.fill_face(leaf.centre, axis);
      else
        fill_between_equals(filler, graded, leaf, next, axis);
    }
  }
}

// Each leaf at its first cell.
void fill_graded(const BccLattice& lattice, const GradedCells& graded, Filler& filler)
{
  constexpr int kSide = BccLattice::kBlockCells;
  for (std::size_t slot = 0; slot < lattice.slot_count(); ++slot) {
    const auto first = lattice.first_cell(slot);
    for (int n = 0; n < kSide * kSide * kSide; ++n) {
      const std::array<int, 3> local = {n % kSide, n / kSide % kSide, n / (kSide * kSide)};
      const std::array<int, 3> cell = {first[0] + local[0], first[1] + local[1], first[2] + local[2]};
      const int size = 1 << graded.level(cell);
      if (local[0] % size == 0 && local[1] % size == 0 && local[2] % size == 0)
        fill_leaf(filler, graded, cell);
    }
  }
}

// Drops small disconnected pieces of parts that the lattice cannot resolve, and splits hinges.
void clean_up(const StuffingDesc& desc, StuffingResult& result)
{
  auto neighbours = face_neighbours(result.mesh);
  const TetPieces pieces = face_connected_pieces(result.mesh, neighbours);
  const double min_piece_volume = desc.min_piece_cells * desc.spacing * desc.spacing * desc.spacing;
  for (const double piece : pieces.volumes) {
    if (piece >= min_piece_volume) {
      result.pieces.push_back(piece);
    } else {
      ++result.dropped_pieces;
      result.dropped_volume += piece;
    }
  }
  if (result.dropped_pieces > 0) {
    std::vector<char> keep(result.mesh.tetrahedra.size());
    for (std::size_t t = 0; t < keep.size(); ++t) {
      keep[t] = at(pieces.piece_of[t]) < result.pieces.size() ? 1 : 0;
    }
    keep_tetrahedra(result.mesh, keep);
    neighbours = face_neighbours(result.mesh);
  }
  result.split_vertices = split_pinched_vertices(result.mesh, neighbours);
  result.pinched_edges = count_pinched_edges(result.mesh, neighbours);
}

}  // namespace

StuffingResult stuff_isosurface(const StuffingDesc& desc)
{
  if (!desc.distance) throw Error("Isosurface stuffing needs a distance function.");
  if (desc.grading < 0 || desc.grading > GradedCells::kMaxLevels) {
    throw Error(fmt::format("The grading must be 0 to {}; it is {}.", GradedCells::kMaxLevels, desc.grading));
  }
  BccLattice lattice(desc.bounds, desc.spacing);
  lattice.sample(desc.distance);
  LatticeCuts cuts(lattice);
  cuts.find_cut_points(desc.distance);
  cuts.warp();

  StuffingResult result;
  Filler filler(lattice, cuts, result.mesh);
  if (desc.grading > 0)
    fill_graded(lattice, GradedCells(lattice, desc.grading), filler);
  else
    fill_uniform(lattice, filler);
  clean_up(desc, result);
  result.distance_evaluations = lattice.evaluations() + cuts.evaluations();
  return result;
}

}  // namespace thrum::tets
