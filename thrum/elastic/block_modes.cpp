// SPDX-License-Identifier: MIT
#include "thrum/elastic/block_modes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/distance/surface_refinement.h"
#include "thrum/elastic/element_analysis.h"
#include "thrum/elastic/fill_quality.h"
#include "thrum/elastic/mesh_checks.h"
#include "thrum/elastic/supports.h"
#include "thrum/tets/block_tets.h"

namespace thrum::elastic {

namespace {

// Of the first grid. A cubic element takes the time of about this many quadratic ones.
constexpr double kFirstTetrahedra = 400;
constexpr double kCubicCost = 3.5;
// At least as many elements as this are allowed (quadratic ones), which take a second or two.
constexpr double kMinLimit = 9e3;
// How many times as many tetrahedra each next grid has: more where the error is several times too large.
// With 4 dinner's table went from 1,700 to 6,300; with 2.75 it stops at 3,000.
constexpr double kGrowth = 2;
constexpr double kLargeGrowth = 2.75;
constexpr double kMinGrowth = 1.5;
// Where parts differ more in thickness than this, small ones are attached to large ones, and the cells must
// be small around them too.
constexpr double kDifferentThickness = 3;
// From one graded grid to the next cells are at least this many times as small.
constexpr double kGradedStep = 1.4;
// Between quadratic and cubic elements of one grid; where there are notches, up to all of the difference is
// left, else a few percent.
constexpr double kDegreeShare = 1.25;
// Points of the surface are at most this share of its size apart.
constexpr double kSurfaceSpacing = 1.0 / 24;
// Supports reach this far beyond their limits (share of the size of the body), so that the planes of the grid
// in their place are within.
constexpr double kOnPlane = 1e-5;
// Normals of faces are along the axes within this.
constexpr double kAlongAxis = 1e-6;

using Planes = tets::BlockGrid::Planes;

// The axis of the file that an axis of the grid lies along, -1: none.
int file_axis(const Vec3& axis)
{
  Eigen::Index along = 0;
  return axis.cwiseAbs().maxCoeff(&along) == 1 ? static_cast<int>(along) : -1;
}

// Where supports end, as planes of the grid along `axes`; none when one is not along them.
std::optional<Planes> support_planes(const ModalAnalysisDesc& desc, const Mat3& axes)
{
  Planes planes;
  for (const model::Support& support : desc.supports) {
    const model::Selection& where = support.where;
    switch (where.kind) {
      case model::SelectionKind::half_space: {
        Eigen::Index axis = 0;
        const double length = where.normal.norm();
        const Vec3 normal = axes.transpose() * where.normal;
        const double along = normal.cwiseAbs().maxCoeff(&axis);
        if (!(length > 0) || along < (1 - kAlongAxis) * length) return std::nullopt;
        planes[at(axis)].push_back(where.offset / normal[axis]);
        break;
      }
      case model::SelectionKind::box:
        for (int axis = 0; axis < 3; ++axis) {
          const int along = file_axis(axes.col(axis));
          if (along < 0) return std::nullopt;
          for (const Vec3& corner : {where.box.min(), where.box.max()})
            if (std::isfinite(corner[along])) planes[at(axis)].push_back(axes(along, axis) * corner[along]);
        }
        break;
      case model::SelectionKind::everything:
        break;
      case model::SelectionKind::region:
      case model::SelectionKind::nodes:
        return std::nullopt;
    }
  }
  return planes;
}

struct Blocks {
  const mesh::TriangleMesh& surface;
  Mat3 axes;  // of the grid, as columns
  tets::BlockGrid grid;
  double size;  // of the body [m]
  bool is_graded = false;
  double first_scale = 0;  // of the first grid

  // With scale 1 one cell is as long as the body, or, where it is graded, as its parts. Each grid after the
  // first one has more cells along slender parts too: the difference of the two is taken for the error.
  [[nodiscard]] Planes lines(double scale) const
  {
    return is_graded ? grid.graded_lines(scale)
                     : grid.even_lines(scale * size, std::max(1.0, first_scale / scale));
  }
  [[nodiscard]] double count(double scale) const
  {
    try {
      return grid.count(lines(scale));
    } catch (const Error&) {
      return std::numeric_limits<double>::infinity();
    }
  }
};

ModalAnalysisResult run(Blocks& blocks, double scale, int degree, const ModalAnalysisDesc& desc)
{
  mesh::TetrahedralMesh mesh = blocks.grid.fill(blocks.lines(scale));
  for (Vec3& v : mesh.vertices) v = blocks.axes * v;
  check_connected(mesh);
  ElementBody body;
  body.elements = build_element_mesh(mesh, tetrahedron_of(degree));
  body.element_name = std::string(name_of(body.elements.kind));
  body.held = held_axes(body.elements, {}, widened(desc.supports, kOnPlane * blocks.size));
  body.surface = distance::split_long_edges(blocks.surface, kSurfaceSpacing * blocks.size).mesh;
  for (const Vec3& v : body.surface.vertices) {
    const tets::BlockGrid::Place place = blocks.grid.find(blocks.axes.transpose() * v);
    const VecX shape = shape_functions(body.elements.kind, place.at);
    body.surface_weights.add_vertex(std::span(body.elements.element(at(place.tetrahedron)), at(shape.size())),
                                    std::span(shape.data(), at(shape.size())));
  }
  ModalAnalysisDesc plain = desc;
  plain.estimate_errors = false;
  return analyse_elements(body, plain);
}

// The grid cannot have any number of tetrahedra: the smallest scale with which it has at most `most`, or, if
// those are fewer than `least`, the largest with which it has more.
double scale_for(const Blocks& blocks, double from, double least, double most)
{
  constexpr double kStep = 1.05;
  double scale = from;
  while (blocks.count(scale / kStep) <= most || blocks.count(scale) < least) scale /= kStep;
  return scale;
}

// Thin parts have round(1/scale) cells across: there is one more in the next grid, and so refined everywhere.
double next_graded_scale(double scale)
{
  return std::min(scale / kGradedStep, 1 / (std::round(1 / scale) + 0.51));
}

VecX of_all(const ModalAnalysisResult& result, double order)
{
  return VecX::Constant(result.model.frequencies.size(), order);
}

}  // namespace

std::optional<ModalAnalysisResult> analyse_blocks(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                                  const ModalAnalysisDesc& desc, bool must_converge)
{
  // A free body has the same grid however it lies; one that is held is in the axes of its supports.
  std::optional<Mat3> axes = tets::rectilinear_axes(surface);
  if (!axes) return std::nullopt;
  if (!desc.supports.empty() && tets::is_rectilinear(surface)) axes = Mat3::Identity();
  const std::optional<Planes> planes = support_planes(desc, *axes);
  if (!planes) return std::nullopt;
  const QualityLevel level = level_of(fill.quality);
  const double max_tetrahedra =
      std::min(std::max(level.max_cells, kMinLimit), fill.max_tetrahedra) / kCubicCost;
  std::optional<Blocks> blocks;
  try {
    const mesh::TriangleMesh local = tets::in_axes(surface, *axes);
    blocks.emplace(Blocks{surface, *axes, tets::BlockGrid(local, *planes),
                          mesh::bounding_box(local).sizes().maxCoeff()});
    blocks->is_graded = blocks->grid.thickness_ratio() > kDifferentThickness;
  } catch (const Error&) {
    return std::nullopt;
  }
  double scale = scale_for(*blocks, 1, kFirstTetrahedra, kFirstTetrahedra);
  blocks->first_scale = scale;
  if (blocks->count(scale) > max_tetrahedra) return std::nullopt;
  ModalAnalysisResult coarse = run(*blocks, scale, 2, desc);
  if (!coarse.ok()) return coarse;
  ModalAnalysisResult result = run(*blocks, scale, 3, desc);
  result.model.frequency_errors =
      errors_by_difference(coarse.model.frequencies, result.model.frequencies, kDegreeShare);
  while (result.ok() && worst_error(result.model) > level.max_error) {
    const double before = blocks->count(scale);
    const double last_scale = scale;
    if (blocks->is_graded) {
      scale = next_graded_scale(scale);
    } else {
      const bool far = worst_error(result.model) > 3 * level.max_error;
      const double wanted = std::min((far ? kLargeGrowth : kGrowth) * before, max_tetrahedra);
      scale = scale_for(*blocks, scale, kMinGrowth * before, wanted);
    }
    const double after = blocks->count(scale);
    if (after > max_tetrahedra) break;
    ModalAnalysisResult next = run(*blocks, scale, 3, desc);
    next.model.frequency_errors =
        blocks->is_graded
            ? errors_by_order(matched_frequencies(result.model, next.model), next.model.frequencies,
                              std::pow(last_scale / scale, 3), of_all(next, kUniformNotchOrder))
            // Of all modes: those of a table were not covered by a higher order where they are smooth.
            : errors_by_order(result.model.frequencies, next.model.frequencies, after / before,
                              of_all(next, kFittedNotchOrder));
    if (must_converge && !blocks->is_graded && next.ok() &&
        worst_error(next.model) > worst_error(result.model))
      return std::nullopt;
    result = std::move(next);
  }
  add_error_warning(desc, result.model);
  result.hints.push_back(
      "All faces lie along three perpendicular axes, so cubic elements of a grid along them were used "
      "(--fill "
      "auto).");
  return result;
}

}  // namespace thrum::elastic
