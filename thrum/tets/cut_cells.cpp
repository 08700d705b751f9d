// SPDX-License-Identifier: MIT
#include "thrum/tets/cut_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/tets/bcc_lattice.h"
#include "thrum/tets/cut_tetrahedron.h"
#include "thrum/tets/mesh_stuffing.h"

namespace thrum::tets {

namespace {

// Pieces with less than this share of a lattice tetrahedron are left out: rounding.
constexpr double kMinFraction = 1e-12;
// A site this close to the surface (share of the spacing) is on no known side: another lattice is tried.
constexpr double kMinSiteDistance = 1e-9;
constexpr int kMaxTries = 8;
// The volume of all cells agrees with that of the surface within this, or the surface crosses itself.
constexpr double kVolumeTolerance = 1e-8;
// Nodes in the plane of CutCellsDesc are this far on its inner side (share of the spacing), so that faces of
// the body that lie in the plane are not in that of lattice faces.
constexpr double kPlaneShift = 1e-6;

constexpr std::array<LatticeSite, 3> kAxisStep = {{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}};
// Corners of the face of a cell, from its centre, counter-clockwise about the axis.
constexpr std::array<std::array<LatticeSite, 4>, 3> kFaceCorners = {
    {{{{1, -1, -1}, {1, 1, -1}, {1, 1, 1}, {1, -1, 1}}},
     {{{-1, 1, -1}, {-1, 1, 1}, {1, 1, 1}, {1, 1, -1}}},
     {{{-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}}}}};

// The axes of the lattice as rows. Faces of its tetrahedra lie in the planes y + z = const.
Mat3 lattice_axes(const std::optional<CutCellsDesc::Plane>& plane)
{
  if (!plane) return Mat3::Identity();
  const Vec3 n = plane->normal.normalized();
  Eigen::Index least = 0;
  n.cwiseAbs().minCoeff(&least);
  const Vec3 x = n.cross(Vec3::Unit(least)).normalized();
  const Vec3 across = x.cross(n);  // n = (y + z) / sqrt(2), across = (z - y) / sqrt(2)
  Mat3 axes;
  axes.row(0) = x;
  axes.row(1) = (n - across) / std::sqrt(2.0);
  axes.row(2) = (n + across) / std::sqrt(2.0);
  return axes;
}

// How far the lattice begins before the bounding box, as shares of the spacing: no plane of it then passes
// through the faces of a body.
Vec3 lattice_shift(int attempt)
{
  const Vec3 first(0.437, 0.381, 0.319);
  const Vec3 step(0.6180339887, 0.7548776662, 0.5698402910);
  Vec3 shift;
  for (int a = 0; a < 3; ++a) {
    const double x = first[a] + attempt * step[a];
    shift[a] = x - std::floor(x);
  }
  return shift;
}

struct LatticeTetrahedron {
  std::int64_t key;
  std::array<LatticeSite, 4> sites;
  std::array<std::int64_t, 2> cubes;  // both cells that it lies in
};

// One lattice tetrahedron with material.
struct Cell {
  std::array<SiteAddress, 4> sites{};
  std::array<int, 4> corner_pieces{};
  std::vector<CellMoments> pieces;  // empty: all inside, in one piece
  std::vector<CutTetrahedron::FaceSegment> segments;
  std::vector<std::pair<Index, int>> triangle_pieces;
  bool kept = false;
  bool failed = false;
};

}  // namespace

struct CutCells::Builder {
  CutCells& out;
  const distance::MeshDistance& surface;
  mesh::TriangleMesh local;  // the surface in the axes of the lattice
  std::vector<std::array<Index, 3>> edges;
  BccLattice* lattice = nullptr;
  std::vector<std::pair<std::int64_t, Index>> in_cube;  // cube, triangle; sorted
  std::vector<LatticeTetrahedron> lattice_tets;
  std::vector<Cell> cells;

  [[nodiscard]] std::int64_t cube_key(int i, int j, int k) const
  {
    return i + out.cells_[0] * (j + out.cells_[1] * std::int64_t{k});
  }

  void number_edges()
  {
    std::vector<std::tuple<Index, Index, std::size_t>> list;
    for (std::size_t t = 0; t < local.triangles.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k) {
        const Index a = local.triangles[t][k];
        const Index b = local.triangles[t][(k + 1) % 3];
        list.emplace_back(std::min(a, b), std::max(a, b), 3 * t + k);
      }
    std::sort(list.begin(), list.end());
    edges.resize(local.triangles.size());
    Index number = -1;
    for (std::size_t e = 0; e < list.size(); ++e) {
      const bool same = e > 0 && std::get<0>(list[e]) == std::get<0>(list[e - 1]) &&
                        std::get<1>(list[e]) == std::get<1>(list[e - 1]);
      if (!same) ++number;
      edges[std::get<2>(list[e]) / 3][std::get<2>(list[e]) % 3] = number;
    }
  }

  // The cubes whose box a triangle and its plane pass through.
  void sort_triangles_into_cubes()
  {
    const double h = out.spacing_;
    const double slack = kMinSiteDistance * h;
    for (std::size_t t = 0; t < local.triangles.size(); ++t) {
      Box3 box;
      for (const Index v : local.triangles[t]) box.extend(local.vertices[at(v)]);
      const Vec3 n = mesh::area_vector(local, t);
      const Vec3 p = local.vertices[at(local.triangles[t][0])];
      const double reach = (0.5 * h + slack) * n.cwiseAbs().sum();
      std::array<int, 3> low{};
      std::array<int, 3> high{};
      for (int a = 0; a < 3; ++a) {
        low[at(a)] = static_cast<int>(std::floor((box.min()[a] - slack - out.origin_[a]) / h));
        high[at(a)] = static_cast<int>(std::floor((box.max()[a] + slack - out.origin_[a]) / h));
      }
      for (int k = low[2]; k <= high[2]; ++k)
        for (int j = low[1]; j <= high[1]; ++j)
          for (int i = low[0]; i <= high[0]; ++i) {
            const Vec3 centre = out.origin_ + h * (Vec3(i, j, k) + Vec3::Constant(0.5));
            if (std::abs(n.dot(centre - p)) <= reach)
              in_cube.emplace_back(cube_key(i, j, k), static_cast<Index>(t));
          }
    }
    std::sort(in_cube.begin(), in_cube.end());
  }

  [[nodiscard]] auto triangles_of(std::int64_t cube) const
  {
    return std::equal_range(in_cube.begin(), in_cube.end(), std::pair(cube, Index{0}),
                            [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  void list_tetrahedra()
  {
    constexpr int kSide = BccLattice::kBlockCells;
    for (std::size_t slot = 0; slot < lattice->slot_count(); ++slot) {
      const auto first = lattice->first_cell(slot);
      for (int n = 0; n < kSide * kSide * kSide; ++n) {
        const std::array<int, 3> c = {first[0] + n % kSide, first[1] + n / kSide % kSide,
                                      first[2] + n / (kSide * kSide)};
        const LatticeSite centre{2 * c[0] + 1, 2 * c[1] + 1, 2 * c[2] + 1};
        for (int axis = 0; axis < 3; ++axis) add_face(centre, c, axis);
      }
    }
  }

  void add_face(const LatticeSite& centre, const std::array<int, 3>& c, int axis)
  {
    const LatticeSite next = centre + kAxisStep[at(axis)];
    const std::int64_t here_key = cube_key(c[0], c[1], c[2]);
    const std::int64_t next_key = cube_key(next.x >> 1, next.y >> 1, next.z >> 1);
    const auto near_here = triangles_of(here_key);
    const auto near_next = triangles_of(next_key);
    const bool near = near_here.first != near_here.second || near_next.first != near_next.second;
    for (std::size_t m = 0; m < 4; ++m) {
      const LatticeSite a = centre + kFaceCorners[at(axis)][m];
      const LatticeSite b = centre + kFaceCorners[at(axis)][(m + 1) % 4];
      if (!near && lattice->sign(lattice->address(centre)) > 0) continue;
      lattice_tets.push_back({(here_key * 3 + axis) * 4 + static_cast<std::int64_t>(m),
                              {centre, next, a, b},
                              {here_key, next_key}});
    }
  }

  void cut(std::size_t index)
  {
    const LatticeTetrahedron& tet = lattice_tets[index];
    Cell& cell = cells[index];
    std::array<bool, 4> inside{};
    Mat3 edge_matrix;
    const Vec3 p0 = lattice->position(tet.sites[0]);
    for (std::size_t c = 0; c < 4; ++c) {
      cell.sites[c] = lattice->address(tet.sites[c]);
      inside[c] = lattice->sign(cell.sites[c]) < 0;
      if (c > 0) edge_matrix.col(static_cast<Eigen::Index>(c) - 1) = lattice->position(tet.sites[c]) - p0;
    }
    const Mat3 inverse = edge_matrix.inverse();
    static thread_local CutTetrahedron work;
    static thread_local std::vector<Index> near;
    near.clear();
    for (const std::int64_t cube : tet.cubes)
      for (auto [it, end] = triangles_of(cube); it != end; ++it) near.push_back(it->second);
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    work.reset(inside);
    for (const Index t : near) {
      std::array<Vec4, 3> corners;
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3 b = inverse * (local.vertices[at(local.triangles[at(t)][k])] - p0);
        corners[k] << 1 - b.sum(), b;
      }
      work.add_triangle(t, corners, edges[at(t)]);
    }
    if (!work.is_cut()) {
      const auto count = std::count(inside.begin(), inside.end(), true);
      cell.failed = count != 0 && count != 4;
      cell.kept = count == 4;
      cell.corner_pieces.fill(0);
      return;
    }
    if (!work.integrate()) {
      cell.failed = true;
      return;
    }
    cell.kept = true;
    cell.pieces = work.pieces();
    cell.corner_pieces = work.corner_pieces();
    cell.segments = work.face_segments();
    if (cell.pieces.size() > 1) cell.triangle_pieces = work.triangle_pieces();
  }

  // Pieces with too little material lose it; cells without any are not kept.
  void drop_empty_pieces()
  {
    for (Cell& cell : cells) {
      if (!cell.kept || cell.pieces.empty()) continue;
      cell.kept = std::any_of(cell.pieces.begin(), cell.pieces.end(),
                              [](const CellMoments& m) { return m.fraction() > kMinFraction; });
    }
  }

  struct FaceRecord {
    std::array<SiteAddress, 3> sites;
    std::size_t cell;
    int face;
  };

  // Slots 4 (piece) + corner, joined where the same vertex is meant.
  std::vector<std::size_t> slot_parent;
  std::vector<std::size_t> piece_base;  // first piece of each cell

  std::size_t slot_root(std::size_t s)
  {
    while (slot_parent[s] != s) s = slot_parent[s] = slot_parent[slot_parent[s]];
    return s;
  }

  void join_pieces(std::size_t a, int piece_a, std::size_t b, int piece_b,
                   const std::array<SiteAddress, 3>& sites)
  {
    const auto corner = [&](std::size_t cell, SiteAddress site) {
      return static_cast<std::size_t>(std::find(cells[cell].sites.begin(), cells[cell].sites.end(), site) -
                                      cells[cell].sites.begin());
    };
    for (const SiteAddress site : sites) {
      const std::size_t x =
          slot_root(4 * (piece_base[a] + static_cast<std::size_t>(piece_a)) + corner(a, site));
      const std::size_t y =
          slot_root(4 * (piece_base[b] + static_cast<std::size_t>(piece_b)) + corner(b, site));
      slot_parent[std::max(x, y)] = std::min(x, y);
    }
  }

  // Two cells that share a face are joined where their material touches there: at inside corners of the face
  // and where the same triangle of the surface cuts it.
  void join_across(const FaceRecord& a, const FaceRecord& b)
  {
    const Cell& x = cells[a.cell];
    const Cell& y = cells[b.cell];
    for (std::size_t c = 0; c < 4; ++c) {
      if (static_cast<int>(c) == a.face || x.corner_pieces[c] < 0) continue;
      const auto d =
          static_cast<std::size_t>(std::find(y.sites.begin(), y.sites.end(), x.sites[c]) - y.sites.begin());
      if (y.corner_pieces[d] >= 0)
        join_pieces(a.cell, x.corner_pieces[c], b.cell, y.corner_pieces[d], a.sites);
    }
    for (const auto& s : x.segments) {
      if (s.face != a.face) continue;
      for (const auto& r : y.segments)
        if (r.face == b.face && r.triangle == s.triangle)
          join_pieces(a.cell, s.piece, b.cell, r.piece, a.sites);
    }
  }

  void join_vertices()
  {
    piece_base.assign(cells.size(), 0);
    std::size_t pieces = 0;
    std::vector<FaceRecord> faces;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      piece_base[c] = pieces;
      if (!cells[c].kept) continue;
      pieces += std::max<std::size_t>(1, cells[c].pieces.size());
      for (int f = 0; f < 4; ++f) {
        FaceRecord record{{}, c, f};
        std::size_t n = 0;
        for (int k = 0; k < 4; ++k)
          if (k != f) record.sites[n++] = cells[c].sites[at(k)];
        std::sort(record.sites.begin(), record.sites.end());
        faces.push_back(record);
      }
    }
    slot_parent.resize(4 * pieces);
    std::iota(slot_parent.begin(), slot_parent.end(), std::size_t{0});
    std::sort(faces.begin(), faces.end(), [](const FaceRecord& a, const FaceRecord& b) {
      return std::tie(a.sites, a.cell) < std::tie(b.sites, b.cell);
    });
    for (std::size_t f = 1; f < faces.size(); ++f)
      if (faces[f].sites == faces[f - 1].sites) join_across(faces[f - 1], faces[f]);
  }

  void write()
  {
    std::vector<Index> vertex_of_slot(slot_parent.size(), -1);
    const double tet_volume = std::pow(out.spacing_, 3) / 12;
    const Mat3 to_world = out.to_lattice_.transpose();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const Cell& cell = cells[c];
      if (!cell.kept) continue;
      const auto lattice_tet = static_cast<Index>(out.first_piece_.size());
      out.cell_of_key_[lattice_tets[c].key] = lattice_tet;
      out.first_piece_.push_back(static_cast<Index>(out.mesh_.tetrahedra.size()));
      const std::size_t count = std::max<std::size_t>(1, cell.pieces.size());
      std::vector<int> kept_piece(count, -1);
      int kept = 0;
      for (std::size_t p = 0; p < count; ++p) {
        const double fraction = cell.pieces.empty() ? 1 : cell.pieces[p].fraction();
        if (!(fraction > kMinFraction)) continue;
        kept_piece[p] = kept++;
        Tetrahedron t;
        for (std::size_t k = 0; k < 4; ++k) {
          Index& vertex = vertex_of_slot[slot_root(4 * (piece_base[c] + p) + k)];
          if (vertex < 0) {
            vertex = static_cast<Index>(out.mesh_.vertices.size());
            out.mesh_.vertices.push_back(to_world * lattice->position(lattice->site(cell.sites[k])));
          }
          t[k] = vertex;
        }
        out.mesh_.tetrahedra.push_back(t);
        out.volume_ += tet_volume * fraction;
        out.cut_of_.push_back(cell.pieces.empty() ? -1 : static_cast<Index>(out.moments_.size()));
        if (!cell.pieces.empty()) out.moments_.push_back(cell.pieces[p]);
      }
      std::vector<std::pair<Index, int>> triangle_pieces;
      for (const auto& [triangle, piece] : cell.triangle_pieces)
        if (kept_piece[at(piece)] >= 0) triangle_pieces.emplace_back(triangle, kept_piece[at(piece)]);
      out.triangle_pieces_.push_back(std::move(triangle_pieces));
    }
    out.first_piece_.push_back(static_cast<Index>(out.mesh_.tetrahedra.size()));
  }

  // False when the lattice has a site on the surface, or the surface crosses itself.
  bool build(const CutCellsDesc& desc, int attempt)
  {
    const double h = desc.spacing;
    Box3 bounds = mesh::bounding_box(local);
    Vec3 first = bounds.min() - h * lattice_shift(attempt);
    if (desc.plane) {
      const double target = std::sqrt(2.0) * (desc.plane->offset + kPlaneShift * h);
      const double z = target - first.y();
      first.z() = z - h * std::ceil((z - bounds.min().z()) / h);
    }
    bounds.extend(first);
    BccLattice grid(bounds, h);
    lattice = &grid;
    const auto distance = distance_to(surface);
    const Mat3 to_world = out.to_lattice_.transpose();
    const auto in_lattice_axes = [&](std::span<const Vec3> points, std::span<double> distances) {
      std::vector<Vec3> world(points.size());
      for (std::size_t i = 0; i < points.size(); ++i) world[i] = to_world * points[i];
      distance(world, distances);
    };
    try {
      grid.sample(in_lattice_axes);
    } catch (const Error&) {
      return false;  // points outside the bounds of a surface that crosses itself may be taken for inside
    }
    for (std::size_t s = 0; s < grid.site_count(); ++s)
      if (std::abs(grid.value(static_cast<SiteAddress>(s))) < kMinSiteDistance * h) return false;
    out.spacing_ = h;
    out.origin_ = grid.position({0, 0, 0});
    for (std::size_t a = 0; a < 3; ++a) out.cells_[a] = grid.cells()[a];
    sort_triangles_into_cubes();
    list_tetrahedra();
    cells.resize(lattice_tets.size());
    base::parallel_for(cells.size(), [&](std::size_t c) { cut(c); });
    if (std::any_of(cells.begin(), cells.end(), [](const Cell& c) { return c.failed; })) return false;
    drop_empty_pieces();
    join_vertices();
    write();
    const double volume = signed_volume(surface.bvh().mesh());
    return std::abs(out.volume_ - volume) <= kVolumeTolerance * volume;
  }
};

CutCells::CutCells(const distance::MeshDistance& surface, const CutCellsDesc& desc)
{
  const double cubes = signed_volume(surface.bvh().mesh()) / std::pow(desc.spacing, 3);
  if (!(desc.spacing > 0) || !std::isfinite(desc.spacing))
    throw Error(fmt::format("The lattice spacing is {} m; it must be positive.", desc.spacing));
  if (12 * cubes > kMaxTetrahedra)
    throw Error(
        fmt::format("A spacing of {:.3g} m would fill this body with about {:.2g} tetrahedra; the "
                    "maximum is {:.2g}.",
                    desc.spacing, 12 * cubes, kMaxTetrahedra));
  const Mat3 axes = lattice_axes(desc.plane);
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    *this = CutCells();
    to_lattice_ = axes;
    Builder builder{*this, surface, surface.bvh().mesh(), {}, nullptr, {}, {}, {}, {}, {}};
    for (Vec3& v : builder.local.vertices) v = axes * v;
    builder.number_edges();
    if (builder.build(desc, attempt)) return;
  }
  throw CrossingSurface(
      "The surface crosses itself, so it is not known which parts of it are inside. Unite its parts first.");
}

CutCells::Place CutCells::place_in(Index tetrahedron, const Vec3& point) const
{
  const Tetrahedron& t = mesh_.tetrahedra[at(tetrahedron)];
  const Vec3& p0 = mesh_.vertices[at(t[0])];
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = mesh_.vertices[at(t[static_cast<std::size_t>(k) + 1])] - p0;
  const Vec3 b = edges.inverse() * (point - p0);
  Place place;
  place.tetrahedron = tetrahedron;
  place.at << 1 - b.sum(), b;
  return place;
}

// A point is in the tetrahedron over the face of its cube that it is closest to, and over the edge of that
// face that it is closest to. Where that one has no material, the next candidates are tried in the order of
// their distance.
CutCells::Place CutCells::find(const Vec3& point, Index triangle) const
{
  const Vec3 p = (to_lattice_ * point - origin_) / spacing_;
  const Vec3 cell = p.array().floor();
  Index best = -1;
  double best_outside = 0;
  const auto consider = [&](int i, int j, int k) {
    const std::int64_t cube = i + cells_[0] * (j + cells_[1] * std::int64_t{k});
    for (int n = 0; n < 12; ++n) {
      const auto found = cell_of_key_.find(cube * 12 + n);
      if (found == cell_of_key_.end()) continue;
      const auto first = first_piece_[at(found->second)];
      if (first == first_piece_[at(found->second) + 1]) continue;
      Index chosen = first;
      const auto& list = triangle_pieces_[at(found->second)];
      for (const auto& [t, piece] : list)
        if (t == triangle) chosen = first + piece;
      const double outside = -place_in(chosen, point).at.minCoeff();
      if (best >= 0 && outside >= best_outside) continue;
      best = chosen;
      best_outside = outside;
    }
  };
  constexpr double kOnFace = 1e-9;
  // A tetrahedron is listed at the lower one of the two cubes that it lies in.
  const std::array<int, 3> c = {static_cast<int>(cell.x()), static_cast<int>(cell.y()),
                                static_cast<int>(cell.z())};
  consider(c[0], c[1], c[2]);
  consider(c[0] - 1, c[1], c[2]);
  consider(c[0], c[1] - 1, c[2]);
  consider(c[0], c[1], c[2] - 1);
  if (best >= 0 && best_outside < kOnFace) return place_in(best, point);
  for (int reach = 1; reach <= 3; ++reach) {
    for (int dk = -reach; dk <= reach; ++dk)
      for (int dj = -reach; dj <= reach; ++dj)
        for (int di = -reach; di <= reach; ++di) consider(c[0] + di, c[1] + dj, c[2] + dk);
    if (best >= 0 && (best_outside < kOnFace || reach > 1)) break;
  }
  THRUM_ASSERT(best >= 0);
  return place_in(best, point);
}

}  // namespace thrum::tets
