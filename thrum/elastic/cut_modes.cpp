// SPDX-License-Identifier: MIT
#include "thrum/elastic/cut_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/cut_body.h"
#include "thrum/elastic/fill_quality.h"
#include "thrum/mesh/mesh_report.h"

namespace thrum::elastic {

namespace {

// Stated errors, see docs/methods/modal_analysis.md. Of quadratic elements, by stress jumps; of cubic ones by
// the difference to cubic ones in larger cells, but at least and at most these shares of that to quadratic
// ones in the same cells: larger cells may have joined what is apart.
constexpr double kErrorMargin = 1.5;
constexpr double kMinDegreeShare = 0.1;
constexpr double kMaxDegreeShare = 1.25;
// How much coarser the lattice is that the first cubic elements are compared with.
constexpr double kCoarsening = 1.45;
// Of the first lattice, which takes about half a second.
constexpr double kFirstCells = 3e3;
// A cubic cell takes the time and the memory of about this many quadratic ones.
constexpr double kCubicCost = 3.75;
// The next cells are at most this many times as many, and it is not worth it for less than this.
constexpr double kMaxGrowth = 3;
constexpr double kMinGrowth = 1.5;
// For faces to match, this many times as many cells are bisected as asked for.
constexpr double kMatchingCells = 1.2;

// Tetrahedra of a lattice that are at least partly inside: 12 a cube of the volume, and a layer of cubes that
// the surface passes through, of which this share of a spacing lies outside.
constexpr double kOutsideLayer = 0.6;

double cut_cell_count(double volume, double area, double spacing)
{
  return 12 * (volume / std::pow(spacing, 3) + kOutsideLayer * area / (spacing * spacing));
}

double cut_cell_spacing(double volume, double area, double count)
{
  double low = 0;
  double high = std::sqrt(area) + std::cbrt(volume);
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (cut_cell_count(volume, area, middle) > count ? low : high) = middle;
  }
  return high;
}

double first_spacing(double volume, double area, const QualityLevel& level)
{
  return cut_cell_spacing(volume, area, std::min(kFirstCells, level.max_cells / kCubicCost));
}

// In cells that are much wider than the body is thick stress jumps state too little: a pipe of 2 mm in cells
// of 24 mm was 3 % too high, where 1.2 % were stated. Twice the volume by the area is a wall's thickness; a
// part of the surface that has another one close below it is thin too, such as the handle of a fridge.
bool is_resolved(const distance::MeshDistance& distance, double volume, double spacing)
{
  constexpr double kMaxWidth = 3;
  constexpr double kMaxThinShare = 2e-3;  // of the area: edges that are cut off at an angle are not parts
  constexpr double kOpposite = -0.8;      // cosine between the normals of the two sides of a part
  constexpr double kStart = 1e-7;         // of rays, below the surface, of the size of the body
  const mesh::Bvh& bvh = distance.bvh();
  const mesh::TriangleMesh& surface = bvh.mesh();
  const double area = mesh::area(surface);
  const double thin = spacing / kMaxWidth;
  if (2 * volume / area < thin) return false;
  const double size = bvh.bounds().sizes().maxCoeff();
  double thin_area = 0;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Vec3 outwards = mesh::area_vector(surface, t);
    if (!(outwards.norm() > 0)) continue;
    const Vec3 inwards = -outwards.normalized();
    const Vec3 middle = (surface.corner(t, 0) + surface.corner(t, 1) + surface.corner(t, 2)) / 3;
    const mesh::RayHit hit = bvh.first_hit({middle + kStart * size * inwards, inwards});
    if (!hit.found() || hit.t > thin) continue;
    const Vec3 other = mesh::area_vector(surface, at(hit.triangle)).normalized();
    if (other.dot(-inwards) < kOpposite) thin_area += outwards.norm();
  }
  return thin_area <= kMaxThinShare * 2 * area;
}

QualityLevel allowed_level(const FillDesc& fill)
{
  QualityLevel level = level_of(fill.quality);
  level.max_cells = std::min(level.max_cells, fill.max_tetrahedra);
  return level;
}

// Shows the cells that are cut, from the first second on.
class CuttingProgress {
 public:
  explicit CuttingProgress(const ModalAnalysisDesc& desc)
      : progress_(desc.name.empty() ? "filling" : "filling " + desc.name, kTotal, at_once(desc.progress))
  {
    progress_.advance(0);
  }
  [[nodiscard]] tets::CutCells::Advance advance()
  {
    return [this](std::size_t, std::size_t all) {
      const std::size_t done = 1 + count_.fetch_add(1, std::memory_order_relaxed);
      const std::size_t step = std::max<std::size_t>(1, all / kTotal);
      if (done % step == 0 && progress_.done() < kTotal) progress_.advance();
    };
  }

 private:
  static constexpr std::uint64_t kTotal = 100;
  static base::ProgressDesc at_once(base::ProgressDesc desc)
  {
    desc.redraw_interval = 0;
    return desc;
  }
  std::atomic<std::size_t> count_{0};
  base::Progress progress_;
};

// The cells of one surface, and what was found with them.
class Ladder {
 public:
  Ladder(const distance::MeshDistance& surface, double spacing, const ModalAnalysisDesc& desc)
      : surface_(surface), desc_(desc), cells_(first_cells(surface, spacing, desc))
  {
  }

  [[nodiscard]] double cell_count() const { return static_cast<double>(cells_.mesh().tetrahedra.size()); }

  // With elements of degree 2, which also say where the error is.
  [[nodiscard]] ModalAnalysisResult quadratic()
  {
    ElementBody body = cut_body(surface_, cells_, desc_);
    ModalAnalysisResult result = analyse_elements(body, desc_);
    result.model.frequency_errors *= kErrorMargin;
    element_errors_ = std::move(body.element_errors);
    return result;
  }

  [[nodiscard]] ModalAnalysisResult cubic() const
  {
    CuttingProgress progress(desc_);
    ElementBody body = cut_body(surface_, cells_.of_degree(surface_, 3, progress.advance()), desc_);
    return analyse_elements(body, desc_);
  }

  // Bisects the cells with the largest errors; false where that is not possible.
  [[nodiscard]] bool refine(double growth)
  {
    CuttingProgress progress(desc_);
    std::optional<tets::CutCells> finer =
        cells_.refined(surface_, bisections(element_errors_, growth), progress.advance());
    if (!finer) return false;
    cells_ = std::move(*finer);
    is_refined_ = true;
    return true;
  }
  [[nodiscard]] bool is_refined() const { return is_refined_; }

 private:
  static tets::CutCells first_cells(const distance::MeshDistance& surface, double spacing,
                                    const ModalAnalysisDesc& desc)
  {
    CuttingProgress progress(desc);
    return supported_cells(surface, spacing, 2, desc, progress.advance());
  }

  const distance::MeshDistance& surface_;
  const ModalAnalysisDesc& desc_;
  tets::CutCells cells_;
  std::vector<double> element_errors_;
  bool is_refined_ = false;
};

// Quadratic elements in a coarse lattice; if their error is too large, cubic ones in the same cells; if that
// is, cubic ones where the cells that have most of the error are bisected, until there are too many.
ModalAnalysisResult climb(Ladder& ladder, const distance::MeshDistance& surface, double coarser_spacing,
                          bool trusts_jumps, const ModalAnalysisDesc& desc, const QualityLevel& level)
{
  ModalAnalysisResult quadratic = ladder.quadratic();
  if (!quadratic.ok() || (trusts_jumps && worst_error(quadratic.model) <= level.max_error)) return quadratic;
  const Ladder coarser(surface, coarser_spacing, desc);
  ModalAnalysisResult result = ladder.cubic();
  const VecX coarse = matched_frequencies(coarser.cubic().model, result.model);
  const VecX of_degree_2 = matched_frequencies(quadratic.model, result.model);
  const VecX orders =
      convergence_orders(of_degree_2, result.model.frequencies, coarse,
                         has_notches(surface.bvh().mesh()) ? kUniformNotchOrder : kUniformWallOrder);
  const VecX by_degree = errors_by_difference(of_degree_2, result.model.frequencies, 1);
  result.model.frequency_errors =
      errors_by_order(coarse, result.model.frequencies, ladder.cell_count() / coarser.cell_count(), orders)
          .cwiseMax(kMinDegreeShare * by_degree)
          .cwiseMin(kMaxDegreeShare * by_degree);
  const double max_cells = level.max_cells / kCubicCost;
  while (result.ok() && worst_error(result.model) > level.max_error) {
    // Where cells are bisected errors fall with at most this power of their number.
    constexpr double kBisectedOrder = 1;
    constexpr double kAimBelow = 0.7;  // of the limit
    const double wanted =
        std::pow(worst_error(result.model) / (kAimBelow * level.max_error), 1 / kBisectedOrder);
    const double before = ladder.cell_count();
    const double growth = std::min({wanted, kMaxGrowth, max_cells / before});
    if (growth < kMinGrowth || !ladder.refine(growth / kMatchingCells)) break;
    ModalAnalysisResult finer = ladder.cubic();
    const VecX bisected = orders.cwiseMax(kFittedNotchOrder).cwiseMin(kBisectedOrder);
    finer.model.frequency_errors =
        errors_by_order(matched_frequencies(result.model, finer.model), finer.model.frequencies,
                        ladder.cell_count() / before, bisected);
    result = std::move(finer);
    if (worst_error(result.model) > level.max_error && kMinGrowth * ladder.cell_count() < max_cells)
      (void)ladder.quadratic();
  }
  return result;
}

}  // namespace

std::vector<std::uint8_t> bisections(const std::vector<double>& errors, double growth)
{
  // Errors of quadratic elements fall with the fourth power of their size, and their number grows with its
  // third: equal errors at least cost when each element has the same. Three bisections halve the size.
  constexpr double kPower = 7;
  static constexpr long kMaxLevel = 6;
  const auto level = [](double error, double limit) {
    return error > limit ? std::min(kMaxLevel, std::lround(3 * std::log2(error / limit) / kPower)) : 0L;
  };
  double low = 0;
  double high = errors.empty() ? 0 : *std::max_element(errors.begin(), errors.end());
  for (int iteration = 0; iteration < 100; ++iteration) {
    const double limit = iteration < 60 && low == 0 ? high / 4 : 0.5 * (low + high);
    double count = 0;
    for (const double error : errors) count += std::exp2(static_cast<double>(level(error, limit)));
    (count > growth * static_cast<double>(errors.size()) ? low : high) = limit;
  }
  std::vector<std::uint8_t> levels;
  for (const double error : errors) levels.push_back(static_cast<std::uint8_t>(level(error, high)));
  return levels;
}

std::optional<ModalAnalysisResult> analyse_cut_coarsely(const mesh::TriangleMesh& surface,
                                                        const FillDesc& fill, const ModalAnalysisDesc& desc)
{
  const double volume = mesh::require_closed(surface, desc.name, "ring").volume;
  const QualityLevel level = allowed_level(fill);
  const double spacing = first_spacing(volume, mesh::area(surface), level);
  const distance::MeshDistance distance(surface);
  if (!is_resolved(distance, volume, spacing)) return std::nullopt;
  ModalAnalysisDesc run = desc;
  run.estimate_errors = true;
  Ladder ladder(distance, spacing, run);
  ModalAnalysisResult result = ladder.quadratic();
  if (!result.ok() || worst_error(result.model) > level.max_error) return std::nullopt;
  result.hints.push_back(fmt::format("Filled with {} cut cells of degree 2.", result.model.element_count));
  return result;
}

ModalAnalysisResult analyse_cut_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                        const ModalAnalysisDesc& desc)
{
  const double volume = mesh::require_closed(surface, desc.name, "ring").volume;
  const distance::MeshDistance distance(surface);
  const QualityLevel level = allowed_level(fill);
  ModalAnalysisDesc run = desc;
  run.estimate_errors = desc.estimate_errors || fill.spacing == 0;
  const double spacing = fill.spacing > 0 ? fill.spacing : first_spacing(volume, mesh::area(surface), level);
  Ladder ladder(distance, spacing, run);
  ModalAnalysisResult result = fill.spacing > 0 ? ladder.quadratic()
                                                : climb(ladder, distance, kCoarsening * spacing,
                                                        is_resolved(distance, volume, spacing), run, level);
  add_error_warning(desc, result.model);
  if (fill.spacing == 0)
    result.hints.push_back(fmt::format("Filled with {} cut cells of degree {}{}.", result.model.element_count,
                                       result.model.element == "tet20" ? 3 : 2,
                                       ladder.is_refined() ? ", smaller where the error is large" : ""));
  return result;
}

}  // namespace thrum::elastic
