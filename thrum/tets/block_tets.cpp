// SPDX-License-Identifier: MIT
#include "thrum/tets/block_tets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/mesh/body_axes.h"
#include "thrum/tets/graded_lines.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::tets {

namespace {

/// Corners of a face count as one plane within this share of the size of the body: remeshed surfaces are
/// planar to rounding only.
constexpr double kPlaneTolerance = 1e-6;

using Lines = BlockGrid::Planes;

// The axis that the triangle is perpendicular to, -1: none.
int axis_of(const mesh::TriangleMesh& surface, std::size_t t, double tolerance)
{
  const Vec3 a = surface.corner(t, 0), b = surface.corner(t, 1), c = surface.corner(t, 2);
  const Vec3 thickness = a.cwiseMax(b).cwiseMax(c) - a.cwiseMin(b).cwiseMin(c);
  Eigen::Index axis = 0;
  return thickness.minCoeff(&axis) <= tolerance ? static_cast<int>(axis) : -1;
}

// The planes of the faces and the further ones within the body, by axis.
Lines face_planes(const mesh::TriangleMesh& surface, const Lines& further)
{
  const Box3 box = mesh::bounding_box(surface);
  const double tolerance = kPlaneTolerance * box.diagonal().norm();
  Lines planes;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const int axis = axis_of(surface, t, tolerance);
    if (axis < 0) {
      const Vec3 p = surface.corner(t, 0);
      throw Error(
          fmt::format("A grid needs faces along x, y and z, and the face at ({:.3g}, {:.3g}, {:.3g}) is not. "
                      "Use a lattice (spacing) instead.",
                      p.x(), p.y(), p.z()));
    }
    planes[at(axis)].push_back(surface.corner(t, 0)[axis]);
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const double plane : further[axis]) {
      const auto& faces = planes[axis];
      const bool is_new = std::none_of(faces.begin(), faces.end(),
                                       [&](double f) { return std::abs(f - plane) <= 2 * tolerance; });
      const auto a = static_cast<Eigen::Index>(axis);
      if (is_new && plane > box.min()[a] && plane < box.max()[a]) planes[axis].push_back(plane);
    }
  for (std::vector<double>& along : planes) {
    std::sort(along.begin(), along.end());
    along.erase(
        std::unique(along.begin(), along.end(), [&](double a, double b) { return b - a <= 2 * tolerance; }),
        along.end());
  }
  return planes;
}

// How many cells of at most `size` there are between two planes.
double parts_between(double from, double to, double size)
{
  return std::max(1.0, std::ceil((to - from) / size - 1e-9));
}

void require_few_cells(const Lines& lines)
{
  double cells = 1;
  for (const std::vector<double>& along : lines) cells *= static_cast<double>(along.size() - 1);
  if (cells > kMaxBlockCells)
    throw Error(fmt::format("The grid has {:.3g} cells; at most {:.0e} are allowed. Use larger cells.", cells,
                            kMaxBlockCells));
}

// Divides each interval between two planes into equal cells of at most its size.
Lines grid_lines(const Lines& planes, const Lines& sizes)
{
  Lines lines;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lines[axis].push_back(planes[axis].front());
    for (std::size_t i = 0; i + 1 < planes[axis].size(); ++i) {
      const double size = sizes[axis][i];
      if (!(size > 0))
        throw Error(fmt::format("A cell of the grid is {} m wide; it must be positive.", size));
      const double from = planes[axis][i], to = planes[axis][i + 1];
      const double parts = parts_between(from, to, size);
      if (parts > kMaxBlockCells)
        throw Error(fmt::format("A grid of {} m has too many cells. Use larger cells.", size));
      for (int k = 1; k <= static_cast<int>(parts); ++k)
        lines[axis].push_back(k == static_cast<int>(parts) ? to : from + (to - from) * k / parts);
    }
  }
  require_few_cells(lines);
  return lines;
}

template <typename Visit>
void for_each_block(const Lines& planes, const Visit& visit)
{
  std::array<std::size_t, 3> block{};
  for (block[2] = 0; block[2] + 1 < planes[2].size(); ++block[2])
    for (block[1] = 0; block[1] + 1 < planes[1].size(); ++block[1])
      for (block[0] = 0; block[0] + 1 < planes[0].size(); ++block[0]) visit(block);
}

}  // namespace

bool is_rectilinear(const mesh::TriangleMesh& surface)
{
  const double tolerance = kPlaneTolerance * mesh::bounding_box(surface).diagonal().norm();
  for (std::size_t t = 0; t < surface.triangles.size(); ++t)
    if (axis_of(surface, t, tolerance) < 0) return false;
  return true;
}

mesh::TriangleMesh in_axes(mesh::TriangleMesh surface, const Mat3& axes)
{
  for (Vec3& v : surface.vertices) v = axes.transpose() * v;
  return surface;
}

std::optional<Mat3> rectilinear_axes(const mesh::TriangleMesh& surface)
{
  if (is_rectilinear(surface)) return mesh::ordered_axes(surface, Mat3::Identity());
  // The normal of the largest face, and of the largest one across it; each as the mean over all faces that
  // have about the same.
  Mat3 axes = Mat3::Zero();
  for (int axis = 0; axis < 2; ++axis) {
    constexpr double kAcross = 0.1;   // cosine of the angle to the first axis
    constexpr double kAlong = 0.999;  // cosine of the angle between faces of one direction
    Vec3 largest = Vec3::Zero();
    const auto is_candidate = [&](const Vec3& area) {
      return axis == 0 || std::abs(axes.col(0).dot(area)) < kAcross * area.norm();
    };
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
      const Vec3 area = mesh::area_vector(surface, t);
      if (is_candidate(area) && area.squaredNorm() > largest.squaredNorm()) largest = area;
    }
    Vec3 sum = Vec3::Zero();
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
      const Vec3 area = mesh::area_vector(surface, t);
      const double along = largest.dot(area);
      if (std::abs(along) > kAlong * largest.norm() * area.norm()) sum += along > 0 ? area : Vec3(-area);
    }
    sum -= axes.col(0).dot(sum) * axes.col(0);
    if (!(sum.norm() > 0)) return std::nullopt;
    axes.col(axis) = sum.normalized();
  }
  axes.col(2) = axes.col(0).cross(axes.col(1));
  if (!is_rectilinear(in_axes(surface, axes))) return std::nullopt;
  return mesh::ordered_axes(surface, axes);
}

BlockGrid::BlockGrid(const mesh::TriangleMesh& surface, const Planes& further)
    : planes_(face_planes(surface, further))
{
  const auto blocks = [&](std::size_t axis) {
    return planes_[axis].size() - 1;
  };
  const double count =
      static_cast<double>(blocks(0)) * static_cast<double>(blocks(1)) * static_cast<double>(blocks(2));
  if (count > kMaxBlockCells)
    throw Error(
        fmt::format("The faces of the body divide space into {:.3g} blocks; at most {:.0e} are allowed.",
                    count, kMaxBlockCells));
  const distance::MeshDistance distance(surface);
  for (std::size_t k = 0; k < blocks(2); ++k)
    for (std::size_t j = 0; j < blocks(1); ++j)
      for (std::size_t i = 0; i < blocks(0); ++i) {
        const Vec3 low(planes_[0][i], planes_[1][j], planes_[2][k]);
        const Vec3 high(planes_[0][i + 1], planes_[1][j + 1], planes_[2][k + 1]);
        const double outside = distance.signed_distance((low + high) / 2).distance;
        inside_.push_back(outside > 0 ? 0 : 1);
        thickest_ = std::max(thickest_, -2 * outside);
      }
  // A part ends where the body does, or where its cross section becomes much thicker or thinner.
  constexpr double kSameThickness = 2;
  std::vector<Vec3> runs;
  measure_runs(runs, [](std::size_t, std::size_t, std::size_t) { return true; });
  const auto thickness = [&](std::size_t block, std::size_t axis) {
    return std::min(runs[block][static_cast<Eigen::Index>((axis + 1) % 3)],
                    runs[block][static_cast<Eigen::Index>((axis + 2) % 3)]);
  };
  measure_runs(parts_, [&](std::size_t a, std::size_t b, std::size_t axis) {
    const double ratio = thickness(a, axis) / thickness(b, axis);
    return ratio <= kSameThickness && ratio >= 1 / kSameThickness;
  });
  // Short steps of a thick body are not parts of their own.
  constexpr double kMinLength = 2;  // over the thickness
  for (std::size_t block = 0; block < parts_.size(); ++block)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double& length = parts_[block][static_cast<Eigen::Index>(axis)];
      if (length < kMinLength * thickness(block, axis)) length = runs[block][static_cast<Eigen::Index>(axis)];
    }
}

template <typename IsSame>
void BlockGrid::measure_runs(std::vector<Vec3>& lengths, const IsSame& is_same) const
{
  lengths.assign(inside_.size(), Vec3::Zero());
  for_each_block(planes_, [&](const Block& first) {
    if (inside_[index_of(first)] == 0) return;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<Eigen::Index>(axis);
      if (lengths[index_of(first)][a] > 0) continue;  // a block before it belongs to the same run
      Block end = first;
      for (std::size_t last = index_of(end); ++end[axis] + 1 < planes_[axis].size(); last = index_of(end))
        if (inside_[index_of(end)] == 0 || !is_same(last, index_of(end), axis)) break;
      Block block = first;
      for (; block[axis] < end[axis]; ++block[axis])
        lengths[index_of(block)][a] = planes_[axis][end[axis]] - planes_[axis][first[axis]];
    }
  });
}

std::size_t BlockGrid::index_of(const Block& block) const
{
  return block[0] + (planes_[0].size() - 1) * (block[1] + (planes_[1].size() - 1) * block[2]);
}

BlockGrid::Planes BlockGrid::even_lines(const Vec3& max_cell) const
{
  Planes sizes;
  for (std::size_t axis = 0; axis < 3; ++axis)
    sizes[axis].assign(planes_[axis].size() - 1, max_cell[static_cast<Eigen::Index>(axis)]);
  return grid_lines(planes_, sizes);
}

BlockGrid::Planes BlockGrid::even_lines(double edge, double refinement) const
{
  // Across a part there may be one cell, whatever its thickness.
  Planes sizes = part_sizes(0, kCellsAlongPart * refinement);
  for (std::vector<double>& along : sizes)
    for (double& size : along) size = std::min(size, edge);
  return grid_lines(planes_, sizes);
}

double BlockGrid::thickness_ratio() const
{
  double thinnest = std::numeric_limits<double>::infinity();
  for (const Vec3& part : parts_)
    if (!part.isZero()) thinnest = std::min(thinnest, part.minCoeff());
  return thickest_ / thinnest;
}

// The cells that the parts need in each interval between two planes, with so many across and along them.
BlockGrid::Planes BlockGrid::part_sizes(double across, double along) const
{
  constexpr double kSlender = 4;  // length over thickness
  Planes sizes;
  for (std::size_t axis = 0; axis < 3; ++axis)
    sizes[axis].assign(planes_[axis].size() - 1, planes_[axis].back() - planes_[axis].front());
  for_each_block(planes_, [&](const Block& block) {
    const Vec3& part = parts_[index_of(block)];
    if (part.isZero()) return;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double length = part[static_cast<Eigen::Index>(axis)];
      double& size = sizes[axis][block[axis]];
      size = std::min(size, length / (length >= kSlender * part.minCoeff() ? along : across));
    }
  });
  return sizes;
}

BlockGrid::Planes BlockGrid::graded_lines(double scale) const
{
  Planes lines;
  const Planes sizes = part_sizes(1, kCellsAlongPart);
  for (std::size_t axis = 0; axis < 3; ++axis)
    lines[axis] = tets::graded_lines(planes_[axis], sizes[axis], scale);
  require_few_cells(lines);
  return lines;
}

double BlockGrid::count(const Planes& lines) const
{
  // Lines in each interval between planes.
  std::array<std::vector<double>, 3> parts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    parts[axis].assign(planes_[axis].size() - 1, 0);
    std::size_t interval = 0;
    for (std::size_t i = 1; i < lines[axis].size(); ++i) {
      ++parts[axis][interval];
      if (lines[axis][i] == planes_[axis][interval + 1]) ++interval;
    }
  }
  double cells = 0;
  std::size_t block = 0;
  for (const double z : parts[2])
    for (const double y : parts[1])
      for (const double x : parts[0])
        if (inside_[block++] != 0) cells += x * y * z;
  return 5 * cells;
}

const mesh::TetrahedralMesh& BlockGrid::fill(Planes lines)
{
  lines_ = std::move(lines);
  const std::array<std::size_t, 3> n = {lines_[0].size(), lines_[1].size(), lines_[2].size()};
  // The block that each interval of the lines lies in.
  std::array<std::vector<std::size_t>, 3> block_of;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t i = 0; i + 1 < n[axis]; ++i) {
      const double middle = 0.5 * (lines_[axis][i] + lines_[axis][i + 1]);
      block_of[axis].push_back(static_cast<std::size_t>(
          std::upper_bound(planes_[axis].begin(), planes_[axis].end(), middle) - planes_[axis].begin() - 1));
    }
  mesh_ = {};
  first_.assign((n[0] - 1) * (n[1] - 1) * (n[2] - 1), -1);
  std::vector<Index> numbers(n[0] * n[1] * n[2], -1);
  const auto vertex = [&](std::size_t i, std::size_t j, std::size_t k) {
    Index& number = numbers[i + n[0] * (j + n[1] * k)];
    if (number < 0) {
      number = count_of(mesh_.vertices);
      mesh_.vertices.emplace_back(lines_[0][i], lines_[1][j], lines_[2][k]);
    }
    return number;
  };
  std::size_t next = 0;
  for (std::size_t k = 0; k + 1 < n[2]; ++k) {
    for (std::size_t j = 0; j + 1 < n[1]; ++j) {
      for (std::size_t i = 0; i + 1 < n[0]; ++i) {
        Index& first = first_[next++];
        const std::size_t block =
            block_of[0][i] +
            (planes_[0].size() - 1) * (block_of[1][j] + (planes_[1].size() - 1) * block_of[2][k]);
        if (inside_[block] == 0) continue;
        first = count_of(mesh_.tetrahedra);
        const Hexahedron cell = {vertex(i, j, k),
                                 vertex(i + 1, j, k),
                                 vertex(i + 1, j + 1, k),
                                 vertex(i, j + 1, k),
                                 vertex(i, j, k + 1),
                                 vertex(i + 1, j, k + 1),
                                 vertex(i + 1, j + 1, k + 1),
                                 vertex(i, j + 1, k + 1)};
        append_five(cell, (i + j + k) % 2 != 0, mesh_.tetrahedra);
      }
    }
  }
  return mesh_;
}

// A point on a line of the grid may belong to the cells on either side of it, of which one may be outside.
BlockGrid::Place BlockGrid::find(const Vec3& point) const
{
  std::array<std::size_t, 3> low{};
  std::array<std::size_t, 3> high{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& lines = lines_[axis];
    const auto above =
        std::upper_bound(lines.begin(), lines.end(), point[static_cast<Eigen::Index>(axis)]) - lines.begin();
    const auto cell =
        at(std::clamp<std::ptrdiff_t>(above - 1, 0, static_cast<std::ptrdiff_t>(lines.size()) - 2));
    low[axis] = cell > 0 ? cell - 1 : 0;
    high[axis] = std::min(cell + 1, lines.size() - 2);
  }
  Place best;
  for (std::size_t k = low[2]; k <= high[2]; ++k)
    for (std::size_t j = low[1]; j <= high[1]; ++j)
      for (std::size_t i = low[0]; i <= high[0]; ++i) {
        const Index first = first_[i + (lines_[0].size() - 1) * (j + (lines_[1].size() - 1) * k)];
        for (Index t = first; first >= 0 && t < first + 5; ++t) {
          const Tetrahedron& corners = mesh_.tetrahedra[at(t)];
          const auto at = [&](std::size_t c) -> const Vec3& {
            return mesh_.vertices[static_cast<std::size_t>(corners[c])];
          };
          Mat3 edges;
          edges << at(1) - at(0), at(2) - at(0), at(3) - at(0);
          const Vec3 b = edges.inverse() * (point - at(0));
          Vec4 coordinates;
          coordinates << 1 - b.sum(), b;
          if (best.tetrahedron < 0 || coordinates.minCoeff() > best.at.minCoeff()) best = {t, coordinates};
        }
      }
  return best;
}

mesh::TetrahedralMesh tetrahedralise_blocks(const mesh::TriangleMesh& surface, const Vec3& max_cell)
{
  BlockGrid grid(surface);
  return grid.fill(grid.even_lines(max_cell));
}

}  // namespace thrum::tets
