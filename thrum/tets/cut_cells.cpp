// SPDX-License-Identifier: MIT
#include "thrum/tets/cut_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/tets/background_cells.h"
#include "thrum/tets/bcc_lattice.h"
#include "thrum/tets/cut_tetrahedron.h"
#include "thrum/tets/mesh_stuffing.h"
#include "thrum/tets/monomial_moments.h"

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

// What one tetrahedron contains.
struct Cell {
  std::array<int, 4> corner_pieces{};
  std::vector<CellMoments> pieces;  // empty: all inside, in one piece
  std::vector<std::vector<double>> monomial_pieces;
  std::vector<CutTetrahedron::FaceSegment> segments;
  std::vector<std::pair<Index, int>> triangle_pieces;
  std::vector<Index> near;  // triangles that may pass through
  bool kept = false;
  bool failed = false;
};

}  // namespace

// What a finer one starts from. Positions are in the axes of the lattice.
struct CutCells::Covering {
  BackgroundCells background;
  std::vector<char> inside;  // of each vertex
  std::vector<Cell> cells;   // of each background cell; those that were bisected are empty
  std::unordered_map<std::int64_t, Index> root_of_key;  // place in the lattice -> background cell
  std::vector<Index> slot_of_cell;                      // entry of first_piece_, or -1
  std::vector<Index> cell_of_tetrahedron;               // background cell of each tetrahedron of mesh()

  [[nodiscard]] Vec3 position(Index vertex, const Vec3& origin, double spacing) const
  {
    const BackgroundCells::Site& s = background.sites()[at(vertex)];
    return origin + 0.5 * spacing / static_cast<double>(BackgroundCells::kUnit) *
                        Vec3(static_cast<double>(s[0]), static_cast<double>(s[1]), static_cast<double>(s[2]));
  }
};

struct CutCells::Builder {
  CutCells& out;
  Covering& covering;
  const distance::MeshDistance& surface;
  mesh::TriangleMesh local = {};  // the surface in the axes of the lattice
  std::vector<std::array<Index, 3>> edges = {};
  std::vector<std::pair<std::int64_t, Index>> in_cube = {};  // cube, triangle; sorted

  [[nodiscard]] Vec3 position(Index vertex) const
  {
    return covering.position(vertex, out.origin_, out.spacing_);
  }

  void place_surface()
  {
    local = surface.bvh().mesh();
    for (Vec3& v : local.vertices) v = out.to_lattice_ * v;
    number_edges();
  }

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

  // The tetrahedra of the lattice that are inside or near the surface.
  void list_tetrahedra(const BccLattice& lattice)
  {
    constexpr int kSide = BccLattice::kBlockCells;
    std::unordered_map<std::int64_t, Index> vertex_of_site;
    for (std::size_t slot = 0; slot < lattice.slot_count(); ++slot) {
      const auto first = lattice.first_cell(slot);
      for (int n = 0; n < kSide * kSide * kSide; ++n) {
        const std::array<int, 3> c = {first[0] + n % kSide, first[1] + n / kSide % kSide,
                                      first[2] + n / (kSide * kSide)};
        for (int axis = 0; axis < 3; ++axis) add_face(lattice, c, axis, vertex_of_site);
      }
    }
  }

  Index vertex(const BccLattice& lattice, const LatticeSite& site,
               std::unordered_map<std::int64_t, Index>& vertex_of_site)
  {
    const std::int64_t key =
        site.x + 2 * (out.cells_[0] + 1) * (site.y + 2 * (out.cells_[1] + 1) * std::int64_t{site.z});
    const auto [found, is_new] = vertex_of_site.try_emplace(key, 0);
    if (!is_new) return found->second;
    constexpr std::int64_t kUnit = BackgroundCells::kUnit;
    found->second = covering.background.add_vertex({site.x * kUnit, site.y * kUnit, site.z * kUnit});
    covering.inside.push_back(lattice.sign(lattice.address(site)) < 0 ? 1 : 0);
    return found->second;
  }

  void add_face(const BccLattice& lattice, const std::array<int, 3>& c, int axis,
                std::unordered_map<std::int64_t, Index>& vertex_of_site)
  {
    const LatticeSite centre{2 * c[0] + 1, 2 * c[1] + 1, 2 * c[2] + 1};
    const LatticeSite next = centre + kAxisStep[at(axis)];
    const std::int64_t here_key = cube_key(c[0], c[1], c[2]);
    const std::int64_t next_key = cube_key(next.x >> 1, next.y >> 1, next.z >> 1);
    std::vector<Index> near;
    for (const std::int64_t cube : {here_key, next_key})
      for (auto [it, end] = triangles_of(cube); it != end; ++it) near.push_back(it->second);
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    if (near.empty() && lattice.sign(lattice.address(centre)) > 0) return;
    for (std::size_t m = 0; m < 4; ++m) {
      std::array<Index, 4> corners{};
      std::size_t n = 0;
      for (const LatticeSite& site :
           {centre, next, centre + kFaceCorners[at(axis)][m], centre + kFaceCorners[at(axis)][(m + 1) % 4]})
        corners[n++] = vertex(lattice, site, vertex_of_site);
      const Index root = covering.background.add_cell(corners);
      covering.root_of_key[(here_key * 3 + axis) * 4 + static_cast<std::int64_t>(m)] = root;
      covering.cells.emplace_back();
      covering.cells.back().near = near;
    }
  }

  // `work` is memory that is used again.
  void cut(std::size_t index, CutTetrahedron& work)
  {
    const auto& corners_of_cell = covering.background.cells()[index].vertices;
    Cell& cell = covering.cells[index];
    std::array<bool, 4> inside{};
    Mat3 edge_matrix;
    const Vec3 p0 = position(corners_of_cell[0]);
    for (std::size_t c = 0; c < 4; ++c) {
      inside[c] = covering.inside[at(corners_of_cell[c])] != 0;
      if (c > 0) edge_matrix.col(static_cast<Eigen::Index>(c) - 1) = position(corners_of_cell[c]) - p0;
    }
    const Mat3 inverse = edge_matrix.inverse();
    work.reset(inside, out.degree_ > 2 ? 2 * out.degree_ : 0);
    for (const Index t : cell.near) {
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
      cell.near.clear();
      return;
    }
    if (!work.integrate()) {
      cell.failed = true;
      return;
    }
    cell.kept = true;
    cell.pieces = work.pieces();
    cell.monomial_pieces = work.monomial_pieces();
    cell.corner_pieces = work.corner_pieces();
    cell.segments = work.face_segments();
    const auto triangle_pieces = work.triangle_pieces();
    cell.near.clear();
    for (const auto& [triangle, piece] : triangle_pieces) cell.near.push_back(triangle);
    if (cell.pieces.size() > 1) cell.triangle_pieces = triangle_pieces;
    // Without material in any piece it is rounding.
    cell.kept = std::any_of(cell.pieces.begin(), cell.pieces.end(),
                            [](const CellMoments& m) { return m.fraction() > kMinFraction; });
  }

  struct FaceRecord {
    std::array<Index, 3> vertices;
    std::size_t cell;
    int face;
  };

  // Slots 4 (piece) + corner, joined where the same vertex is meant.
  std::vector<std::size_t> slot_parent = {};
  std::vector<std::size_t> piece_base = {};  // first piece of each cell

  std::size_t slot_root(std::size_t s)
  {
    while (slot_parent[s] != s) s = slot_parent[s] = slot_parent[slot_parent[s]];
    return s;
  }

  void join_pieces(std::size_t a, int piece_a, std::size_t b, int piece_b,
                   const std::array<Index, 3>& vertices)
  {
    const auto corner = [&](std::size_t cell, Index vertex) {
      const auto& of = covering.background.cells()[cell].vertices;
      return static_cast<std::size_t>(std::find(of.begin(), of.end(), vertex) - of.begin());
    };
    for (const Index site : vertices) {
      const std::size_t x = slot_root(4 * (piece_base[a] + at(piece_a)) + corner(a, site));
      const std::size_t y = slot_root(4 * (piece_base[b] + at(piece_b)) + corner(b, site));
      slot_parent[std::max(x, y)] = std::min(x, y);
    }
  }

  // Two cells that share a face are joined where their material touches there: at inside corners of the face
  // and where the same triangle of the surface cuts it.
  void join_across(const FaceRecord& a, const FaceRecord& b)
  {
    const Cell& x = covering.cells[a.cell];
    const Cell& y = covering.cells[b.cell];
    const auto& x_vertices = covering.background.cells()[a.cell].vertices;
    const auto& y_vertices = covering.background.cells()[b.cell].vertices;
    for (std::size_t c = 0; c < 4; ++c) {
      if (static_cast<int>(c) == a.face || x.corner_pieces[c] < 0) continue;
      const auto d = static_cast<std::size_t>(std::find(y_vertices.begin(), y_vertices.end(), x_vertices[c]) -
                                              y_vertices.begin());
      if (y.corner_pieces[d] >= 0)
        join_pieces(a.cell, x.corner_pieces[c], b.cell, y.corner_pieces[d], a.vertices);
    }
    for (const auto& s : x.segments) {
      if (s.face != a.face) continue;
      for (const auto& r : y.segments)
        if (r.face == b.face && r.triangle == s.triangle)
          join_pieces(a.cell, s.piece, b.cell, r.piece, a.vertices);
    }
  }

  [[nodiscard]] bool is_used(std::size_t c) const
  {
    return covering.background.cells()[c].is_leaf() && covering.cells[c].kept;
  }

  void join_vertices()
  {
    const std::vector<Cell>& cells = covering.cells;
    piece_base.assign(cells.size(), 0);
    std::size_t pieces = 0;
    std::vector<FaceRecord> faces;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      piece_base[c] = pieces;
      if (!is_used(c)) continue;
      pieces += std::max<std::size_t>(1, cells[c].pieces.size());
      for (int f = 0; f < 4; ++f) {
        FaceRecord record{{}, c, f};
        std::size_t n = 0;
        for (int k = 0; k < 4; ++k)
          if (k != f) record.vertices[n++] = covering.background.cells()[c].vertices[at(k)];
        std::sort(record.vertices.begin(), record.vertices.end());
        faces.push_back(record);
      }
    }
    slot_parent.resize(4 * pieces);
    std::iota(slot_parent.begin(), slot_parent.end(), std::size_t{0});
    std::sort(faces.begin(), faces.end(), [](const FaceRecord& a, const FaceRecord& b) {
      return std::tie(a.vertices, a.cell) < std::tie(b.vertices, b.cell);
    });
    for (std::size_t f = 1; f < faces.size(); ++f)
      if (faces[f].vertices == faces[f - 1].vertices) join_across(faces[f - 1], faces[f]);
  }

  void write()
  {
    std::vector<Index> vertex_of_slot(slot_parent.size(), -1);
    const Mat3 to_world = out.to_lattice_.transpose();
    covering.slot_of_cell.assign(covering.cells.size(), -1);
    covering.cell_of_tetrahedron.clear();
    for (std::size_t c = 0; c < covering.cells.size(); ++c) {
      if (!is_used(c)) continue;
      const Cell& cell = covering.cells[c];
      covering.slot_of_cell[c] = count_of(out.first_piece_);
      out.first_piece_.push_back(count_of(out.mesh_.tetrahedra));
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
            vertex = count_of(out.mesh_.vertices);
            out.mesh_.vertices.push_back(to_world * position(covering.background.cells()[c].vertices[k]));
          }
          t[k] = vertex;
        }
        out.mesh_.tetrahedra.push_back(t);
        covering.cell_of_tetrahedron.push_back(static_cast<Index>(c));
        out.volume_ += mesh::six_times_volume(out.mesh_, out.mesh_.tetrahedra.size() - 1) / 6 * fraction;
        out.cut_of_.push_back(cell.pieces.empty() ? -1 : count_of(out.moments_));
        if (!cell.pieces.empty()) out.moments_.push_back(cell.pieces[p]);
        if (!cell.monomial_pieces.empty()) out.monomial_moments_.push_back(cell.monomial_pieces[p]);
      }
      std::vector<std::pair<Index, int>> triangle_pieces;
      for (const auto& [triangle, piece] : cell.triangle_pieces)
        if (kept_piece[at(piece)] >= 0) triangle_pieces.emplace_back(triangle, kept_piece[at(piece)]);
      out.triangle_pieces_.push_back(std::move(triangle_pieces));
    }
    out.first_piece_.push_back(count_of(out.mesh_.tetrahedra));
  }

  // Cuts the cells from `first` on, and joins all. False where the surface does not match.
  bool finish(std::size_t first, const CutCells::Advance& advance)
  {
    const auto& all = covering.background.cells();
    base::parallel_for_chunks(all.size() - first, [&](std::size_t begin, std::size_t end) {
      CutTetrahedron work;
      for (std::size_t c = first + begin; c < first + end; ++c) {
        if (all[c].is_leaf()) cut(c, work);
        if (advance) advance(c, all.size());
      }
    });
    if (std::any_of(covering.cells.begin(), covering.cells.end(), [](const Cell& c) { return c.failed; }))
      return false;
    join_vertices();
    write();
    const double volume = signed_volume(surface.bvh().mesh());
    return std::abs(out.volume_ - volume) <= kVolumeTolerance * volume;
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
    list_tetrahedra(grid);
    return finish(0, desc.advance);
  }

  // False when a new vertex is on the surface.
  bool refine(std::span<const std::uint8_t> levels, const CutCells::Advance& advance)
  {
    const std::size_t cells_before = covering.cells.size();
    const std::size_t vertices_before = covering.inside.size();
    std::vector<std::uint8_t> by_cell(cells_before, 0);
    for (std::size_t t = 0; t < levels.size(); ++t) {
      std::uint8_t& level = by_cell[at(covering.cell_of_tetrahedron[t])];
      level = std::max(level, levels[t]);
    }
    // Cells that were left out contain nothing, but their halves still have to match those that do.
    covering.background.refine(std::move(by_cell));
    const auto& all = covering.background.cells();
    covering.cells.resize(all.size());
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (all[c].is_leaf() || covering.cells[c].failed) continue;
      for (const Index child : all[c].children)
        if (at(child) >= cells_before && covering.cells[at(child)].near.empty())
          covering.cells[at(child)].near = covering.cells[c].near;
      covering.cells[c] = {};
    }
    covering.inside.resize(covering.background.sites().size(), 0);
    const Mat3 to_world = out.to_lattice_.transpose();
    std::atomic<bool> on_surface = false;
    base::parallel_for(covering.inside.size() - vertices_before, [&](std::size_t k) {
      const std::size_t v = vertices_before + k;
      const double d = surface.signed_distance(to_world * position(static_cast<Index>(v))).distance;
      if (std::abs(d) < kMinSiteDistance * out.spacing_) on_surface = true;
      covering.inside[v] = d < 0 ? 1 : 0;
    });
    return !on_surface && finish(cells_before, advance);
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
  if (desc.degree < 2 || 2 * desc.degree > kMaxMonomialDegree)
    throw Error(fmt::format("Elements of degree {} are not supported; use 2, 3 or 4.", desc.degree));
  const Mat3 axes = lattice_axes(desc.plane);
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    *this = CutCells();
    to_lattice_ = axes;
    degree_ = desc.degree;
    auto covering = std::make_shared<Covering>();
    covering_ = covering;
    Builder builder{*this, *covering, surface};
    builder.place_surface();
    if (builder.build(desc, attempt)) return;
  }
  throw CrossingSurface(
      "The surface crosses itself, so it is not known which parts of it are inside. Unite its parts first.");
}

// The same lattice, with no cell cut yet. `covering` is the copy that it has.
CutCells CutCells::same_lattice(int degree, std::shared_ptr<Covering>& covering) const
{
  CutCells same;
  same.to_lattice_ = to_lattice_;
  same.degree_ = degree;
  same.spacing_ = spacing_;
  same.origin_ = origin_;
  same.cells_ = cells_;
  covering = std::make_shared<Covering>(*covering_);
  same.covering_ = covering;
  return same;
}

std::optional<CutCells> CutCells::refined(const distance::MeshDistance& surface,
                                          std::span<const std::uint8_t> levels, const Advance& advance) const
{
  std::shared_ptr<Covering> covering;
  CutCells finer = same_lattice(degree_, covering);
  Builder builder{finer, *covering, surface};
  builder.place_surface();
  if (!builder.refine(levels, advance)) return std::nullopt;
  return finer;
}

CutCells CutCells::of_degree(const distance::MeshDistance& surface, int degree, const Advance& advance) const
{
  std::shared_ptr<Covering> covering;
  CutCells same = same_lattice(degree, covering);
  Builder builder{same, *covering, surface};
  builder.place_surface();
  if (!builder.finish(0, advance)) THRUM_ASSERT(false);  // the cells are those that were cut before
  return same;
}

CutCells::Place CutCells::place_in(Index tetrahedron, const Vec3& point) const
{
  const Tetrahedron& t = mesh_.tetrahedra[at(tetrahedron)];
  const Vec3& p0 = mesh_.vertices[at(t[0])];
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = mesh_.vertices[at(t[at(k) + 1])] - p0;
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
  const auto consider_leaf = [&](Index leaf) {
    const Index slot = covering_->slot_of_cell[at(leaf)];
    if (slot < 0) return;
    const auto first = first_piece_[at(slot)];
    if (first == first_piece_[at(slot) + 1]) return;
    Index chosen = first;
    for (const auto& [t, piece] : triangle_pieces_[at(slot)])
      if (t == triangle) chosen = first + piece;
    const double outside = -place_in(chosen, point).at.minCoeff();
    if (best >= 0 && outside >= best_outside) return;
    best = chosen;
    best_outside = outside;
  };
  std::vector<Index> leaves;
  const auto consider = [&](int i, int j, int k, bool all) {
    const std::int64_t cube = i + cells_[0] * (j + cells_[1] * std::int64_t{k});
    for (int n = 0; n < 12; ++n) {
      const auto found = covering_->root_of_key.find(cube * 12 + n);
      if (found == covering_->root_of_key.end()) continue;
      const Index root = found->second;
      leaves.clear();
      if (all)
        covering_->background.leaves_below(root, leaves);
      else
        leaves.push_back(covering_->background.leaf_at(root, coordinates_in(root, point)));
      for (const Index leaf : leaves) consider_leaf(leaf);
    }
  };
  constexpr double kOnFace = 1e-9;
  // A tetrahedron is listed at the lower one of the two cubes that it lies in.
  const std::array<int, 3> c = {static_cast<int>(cell.x()), static_cast<int>(cell.y()),
                                static_cast<int>(cell.z())};
  for (const bool all : {false, true}) {
    consider(c[0], c[1], c[2], all);
    consider(c[0] - 1, c[1], c[2], all);
    consider(c[0], c[1] - 1, c[2], all);
    consider(c[0], c[1], c[2] - 1, all);
    if (best >= 0 && best_outside < kOnFace) return place_in(best, point);
  }
  for (int reach = 1; reach <= 3; ++reach) {
    for (int dk = -reach; dk <= reach; ++dk)
      for (int dj = -reach; dj <= reach; ++dj)
        for (int di = -reach; di <= reach; ++di) consider(c[0] + di, c[1] + dj, c[2] + dk, true);
    if (best >= 0 && (best_outside < kOnFace || reach > 1)) break;
  }
  THRUM_ASSERT(best >= 0);
  return place_in(best, point);
}

Vec4 CutCells::coordinates_in(Index cell, const Vec3& point) const
{
  const auto& corners = covering_->background.cell(cell).vertices;
  const Vec3 p0 = covering_->position(corners[0], origin_, spacing_);
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = covering_->position(corners[at(k) + 1], origin_, spacing_) - p0;
  const Vec3 b = edges.inverse() * (to_lattice_ * point - p0);
  Vec4 coordinates;
  coordinates << 1 - b.sum(), b;
  return coordinates;
}

}  // namespace thrum::tets
