// SPDX-License-Identifier: MIT
#include "thrum/tets/resolution_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

/// The fraction of the missed area that spacing_for_most_area resolves.
constexpr double kCoveredAreaShare = 0.9;
/// When the finest spacing is finer than that by this factor, both are reported.
constexpr double kReportBothRatio = 2;

constexpr double kSampleSpacing = 0.5;  // of the lattice spacing
constexpr double kMaxSamples = 2e6;     // larger surfaces are sampled more sparsely
constexpr double kRayOffset = 1e-4;     // of the lattice spacing: how far a ray starts from its own triangle
constexpr double kClusterCellSize = 2;  // of the lattice spacing: missed samples this close are one region
constexpr double kMaxOpeningCosine = 0.5;  // cosine: walls that open by more than 60 degrees are edges
constexpr double kMinRegionArea = 0.5;     // of the square of the spacing: less missed area is not a region
constexpr double kWidthQuantile = 0.1;     // fraction of a region's area that may be narrower than its width
constexpr double kDetailRefinement = 0.5;  // a missed detail of unknown size needs half the spacing

struct Sample {
  Vec3 point;
  Vec3 normal;
  double area;
  Index triangle;
};

// Triangles cut into n^2 equal ones, a sample at the middle of each.
std::vector<Sample> sample_surface(const mesh::TriangleMesh& mesh, double step)
{
  std::vector<Sample> samples;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 twice = area_vector(mesh, t);
    const double area = 0.5 * twice.norm();
    if (!(area > 0)) continue;
    const Vec3 a = mesh.corner(t, 0), u = mesh.corner(t, 1) - a, v = mesh.corner(t, 2) - a;
    const double longest = std::max({u.norm(), v.norm(), (u - v).norm()});
    const int n = std::max(1, static_cast<int>(std::ceil(longest / step)));
    const Vec3 normal = twice / (2 * area);
    const double part = area / (static_cast<double>(n) * n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; i + j < n; ++j) {
        const Vec3 up = a + ((i + 1.0 / 3) * u + (j + 1.0 / 3) * v) / n;
        samples.push_back({up, normal, part, static_cast<Index>(t)});
        if (i + j + 1 < n)
          samples.push_back(
              {a + ((i + 2.0 / 3) * u + (j + 2.0 / 3) * v) / n, normal, part, static_cast<Index>(t)});
      }
    }
  }
  return samples;
}

// A step that limits the number of samples.
double sample_step(const mesh::TriangleMesh& mesh, double spacing)
{
  const double default_step = kSampleSpacing * spacing;
  return std::max(default_step, std::sqrt(2 * area(mesh) / kMaxSamples));
}

// Connected parts of a surface, vertices at the same position counted as one.
std::vector<Index> parts_of(const mesh::TriangleMesh& mesh)
{
  std::vector<Index> order(mesh.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [&](Index a, Index b) {
    const Vec3 &p = mesh.vertices[at(a)], &q = mesh.vertices[at(b)];
    return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
  };
  std::sort(order.begin(), order.end(), less);
  std::vector<Index> parent(mesh.vertices.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (!less(order[i - 1], order[i])) parent[at(root(order[i]))] = root(order[i - 1]);
  }
  for (const Triangle& t : mesh.triangles) {
    parent[at(root(t[1]))] = root(t[0]);
    parent[at(root(t[2]))] = root(t[0]);
  }
  std::vector<Index> part(mesh.triangles.size());
  for (std::size_t t = 0; t < part.size(); ++t) part[t] = root(mesh.triangles[t][0]);
  return part;
}

struct Missed {
  std::array<int, 3> cell;
  std::size_t sample;
  UnresolvedKind kind;
  double width;
};

// Free length of a ray from a surface point, if it is shorter than a resolved wall and ends on a side that
// faces the point's own. Near an edge of a thick part the ray is short too, but the sides are not opposite:
// that is a chamfer.
std::optional<double> width_along(const mesh::Bvh& surface, const Sample& sample, const Vec3& direction,
                                  double spacing)
{
  const double offset = kRayOffset * spacing;
  const mesh::RayHit hit = surface.first_hit(
      {sample.point + offset * direction, direction, kResolvedThickness * spacing - offset});
  if (!hit.found()) return std::nullopt;
  const Vec3 across = area_vector(surface.mesh(), at(hit.triangle));
  if (across.dot(sample.normal) > -kMaxOpeningCosine * across.norm()) return std::nullopt;
  return hit.t + offset;
}

// Missed samples whose cells touch are one region of their kind.
std::vector<std::vector<Missed>> cluster(std::vector<Missed> missed)
{
  std::sort(missed.begin(), missed.end(), [](const Missed& a, const Missed& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.sample < b.sample;
  });
  std::vector<std::array<int, 3>> cells;
  std::vector<std::size_t> cell_of;
  for (const Missed& m : missed) {
    if (cells.empty() || cells.back() != m.cell) cells.push_back(m.cell);
    cell_of.push_back(cells.size() - 1);
  }
  std::vector<std::size_t> parent(cells.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::size_t c = 0; c < cells.size(); ++c) {
    for (int n = 0; n < 27; ++n) {
      const std::array<int, 3> next = {cells[c][0] + n % 3 - 1, cells[c][1] + n / 3 % 3 - 1,
                                       cells[c][2] + n / 9 - 1};
      const auto found = std::lower_bound(cells.begin(), cells.end(), next);
      if (found == cells.end() || *found != next) continue;
      const std::size_t a = root(c), b = root(static_cast<std::size_t>(found - cells.begin()));
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<std::size_t> number(cells.size(), cells.size());
  std::vector<std::vector<Missed>> clusters;
  for (std::size_t i = 0; i < missed.size(); ++i) {
    std::size_t& n = number[root(cell_of[i])];
    if (n == cells.size()) {
      n = clusters.size();
      clusters.emplace_back();
    }
    clusters[n].push_back(missed[i]);
  }
  return clusters;
}

UnresolvedRegion make_region(std::vector<Missed>& missed, const std::vector<Sample>& samples, double spacing)
{
  UnresolvedRegion region;
  std::array<double, 3> area_of_kind{};
  for (const Missed& m : missed) {
    region.box.extend(samples[m.sample].point);
    region.area += samples[m.sample].area;
    area_of_kind[at(m.kind)] += samples[m.sample].area;
  }
  const auto main_kind = std::max_element(area_of_kind.begin(), area_of_kind.end());
  region.kind = static_cast<UnresolvedKind>(main_kind - area_of_kind.begin());
  if (region.kind == UnresolvedKind::detail) {
    region.spacing = kDetailRefinement * spacing;
    return region;
  }
  // The width that all but a tenth of the region's area of its kind exceed: otherwise the width of a wedge
  // would be zero.
  std::sort(missed.begin(), missed.end(), [](const Missed& a, const Missed& b) {
    return a.width != b.width ? a.width < b.width : a.sample < b.sample;
  });
  double below = 0;
  for (const Missed& m : missed) {
    if (m.kind != region.kind) continue;
    below += samples[m.sample].area;
    region.width = m.width;
    if (below > kWidthQuantile * *main_kind) break;
  }
  region.spacing = region.width / kSuggestedThickness;
  return region;
}

// The spacings that resolve all of the regions, and most of their area: the finest regions are left out up to
// a tenth of the area.
void set_spacings(ResolutionReport& report)
{
  std::vector<std::pair<double, double>> finest_first;  // spacing, area
  double area = 0;
  for (const UnresolvedRegion& region : report.regions) {
    finest_first.emplace_back(region.spacing, region.area);
    area += region.area;
  }
  if (finest_first.empty()) return;
  std::sort(finest_first.begin(), finest_first.end());
  report.spacing = finest_first.front().first;
  double excluded_area = 0;
  for (const auto& [spacing, part] : finest_first) {
    report.spacing_for_most_area = spacing;
    excluded_area += part;
    if (excluded_area > (1 - kCoveredAreaShare) * area) return;
  }
}

}  // namespace

ResolutionReport check_resolution(const mesh::Bvh& surface, const mesh::TetrahedralMesh& mesh, double spacing)
{
  ResolutionReport report;
  const mesh::TriangleMesh& input = surface.mesh();
  report.surface_area = area(input);
  report.missing_volume = signed_volume(input) - volume(mesh);
  std::optional<mesh::Bvh> boundary;
  if (!mesh.tetrahedra.empty()) boundary.emplace(boundary_surface(mesh).surface);

  const std::vector<Sample> samples = sample_surface(input, sample_step(input, spacing));
  const std::vector<Index> part_of = parts_of(input);
  std::vector<char> part_seen(input.vertices.size(),
                              0);  // by the part's root vertex: 1 exists, 2 kept somewhere
  std::vector<Missed> missed;
  Index hint = -1;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Sample& sample = samples[s];
    double distance = std::numeric_limits<double>::infinity();
    if (boundary) {
      const mesh::ClosestPoint nearest = boundary->closest_point(sample.point, distance, hint);
      distance = nearest.distance;
      hint = nearest.triangle;
    }
    report.max_distance = std::max(report.max_distance, distance);
    const auto wall = width_along(surface, sample, -sample.normal, spacing);
    if (wall) report.thin_area += sample.area;
    char& seen = part_seen[at(part_of[at(sample.triangle)])];
    seen = std::max<char>(seen, distance > kMissedThin * spacing ? 1 : 2);
    if (!(distance > kMissedThin * spacing)) continue;

    // Too thin, too narrow, or a detail that is further away than a chamfer explains.
    const auto gap = wall ? std::nullopt : width_along(surface, sample, sample.normal, spacing);
    if (!wall && !gap && !(distance > kMissedDetail * spacing)) continue;
    const UnresolvedKind kind =
        wall ? UnresolvedKind::thin_wall : (gap ? UnresolvedKind::narrow_gap : UnresolvedKind::detail);
    report.missing_area += sample.area;
    std::array<int, 3> cell{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<Eigen::Index>(axis);
      cell[axis] = static_cast<int>(
          std::floor((sample.point[a] - surface.bounds().min()[a]) / (kClusterCellSize * spacing)));
    }
    missed.push_back({cell, s, kind, wall.value_or(gap.value_or(0))});
  }
  report.lost_parts = static_cast<std::size_t>(std::count(part_seen.begin(), part_seen.end(), 1));

  for (auto& group : cluster(std::move(missed))) {
    const UnresolvedRegion region = make_region(group, samples, spacing);
    if (region.area >= kMinRegionArea * spacing * spacing || report.lost_parts > 0)
      report.regions.push_back(region);
  }
  std::stable_sort(report.regions.begin(), report.regions.end(),
                   [](const UnresolvedRegion& a, const UnresolvedRegion& b) { return a.area > b.area; });
  set_spacings(report);
  return report;
}

namespace {

// The spacing to use, as a sentence.
std::string advice(const ResolutionReport& report)
{
  if (report.spacing_for_most_area <= kReportBothRatio * report.spacing)
    return fmt::format("A spacing of {:.3g} m resolves all of it.", report.spacing);
  return fmt::format("A spacing of {:.3g} m resolves most of it; the narrowest place needs {:.3g} m.",
                     report.spacing_for_most_area, report.spacing);
}

}  // namespace

std::string describe(const ResolutionReport& report)
{
  if (report.resolved()) return {};
  std::string text = fmt::format("{:.3g} m^2 of {:.3g} m^2 of the surface are missing in the tetrahedra",
                                 report.missing_area, report.surface_area);
  if (report.lost_parts > 0) text += fmt::format("; {} of its parts are lost entirely", report.lost_parts);
  text += ". " + advice(report) + "\n";
  constexpr std::size_t kMaxLines = 10;
  for (std::size_t r = 0; r < std::min(report.regions.size(), kMaxLines); ++r) {
    const UnresolvedRegion& region = report.regions[r];
    const Vec3 low = region.box.min(), high = region.box.max();
    const std::string what =
        region.kind == UnresolvedKind::thin_wall    ? fmt::format("wall of {:.3g} m", region.width)
        : region.kind == UnresolvedKind::narrow_gap ? fmt::format("gap of {:.3g} m", region.width)
                                                    : std::string("small detail");
    text += fmt::format(
        "  {} at ({:.3g}, {:.3g}, {:.3g}) to ({:.3g}, {:.3g}, {:.3g}) m: {:.3g} m^2 missed, spacing {:.3g} "
        "m\n",
        what, low.x(), low.y(), low.z(), high.x(), high.y(), high.z(), region.area, region.spacing);
  }
  if (report.regions.size() > kMaxLines)
    text += fmt::format("  and {} more places\n", report.regions.size() - kMaxLines);
  return text;
}

}  // namespace thrum::tets
