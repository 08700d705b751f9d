// SPDX-License-Identifier: MIT
#include "thrum/elastic/revolved_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/base/progress.h"
#include "thrum/distance/surface_refinement.h"
#include "thrum/elastic/damping.h"
#include "thrum/elastic/harmonic_system.h"
#include "thrum/elastic/mesh_checks.h"
#include "thrum/elastic/profile_mesh.h"
#include "thrum/mesh/mass_properties.h"

namespace thrum::elastic {

namespace {

// Triangles of the first profile, how much coarser the one is that it is compared with, and the refinement
// from one to the next.
constexpr double kFirstTriangles = 1000;
constexpr double kCoarsening = 1.6;
constexpr double kRefinement = 1.5;
// The search ends when the lowest modes of this many numbers of waves in turn are above all those wanted, and
// each above the one before.
constexpr int kRisingHarmonics = 3;
constexpr int kMaxWaves = 200;
constexpr double kShiftFraction = 0.1;
constexpr double kMaxAudibleFrequency = 20e3;
// Points of the surface are at most this share of its size apart.
constexpr double kSurfaceSpacing = 1.0 / 24;

struct Mode {
  double frequency = 0;  // [Hz]
  int waves = 0;
  int number = 0;  // of its number of waves
  VecX shape;      // a + b, a - b and w of each node
};

struct HarmonicRun {
  numerics::EigenStatus status = numerics::EigenStatus::ok;
  ProfileMesh mesh;
  std::vector<Mode> modes;  // ascending; those with waves count twice
  Index solves = 0;
  double residual = 0;
  numerics::FactorisationResult factorisation;
};

Index copies(const Mode& mode)
{
  return mode.waves == 0 ? 1 : 2;
}

// The frequency of the last mode wanted; infinite while there are fewer.
double last_wanted(const std::vector<Mode>& modes, const ModalAnalysisDesc& desc)
{
  Index count = 0;
  if (desc.count > 0)
    for (const Mode& mode : modes)
      if ((count += copies(mode)) >= desc.count) return std::min(desc.below, mode.frequency);
  return desc.below;
}

// Adds the modes with one number of waves; returns the frequency of the lowest.
double add_harmonic(int waves, const ModalAnalysisDesc& desc, HarmonicRun& run)
{
  const HarmonicSystem system = harmonic_system(run.mesh, desc.materials.front(), waves);
  numerics::GeneralisedEigenDesc eigen;
  const double limit = last_wanted(run.modes, desc);
  eigen.count = desc.count > 0 ? (waves == 0 ? desc.count : (desc.count + 1) / 2) : 0;
  eigen.below = std::pow(2 * std::numbers::pi * limit, 2);
  eigen.tolerance = desc.tolerance;
  eigen.verification = desc.verification;
  eigen.factorisation.backend = desc.backend;
  if (system.rigid.cols() > 0) eigen.shift = -kShiftFraction * system.lowest_estimate;
  eigen.null_space = system.rigid;
  const numerics::GeneralisedEigenResult found =
      numerics::solve_generalised_eigen(system.stiffness, system.mass, eigen);
  run.solves += found.solves;
  run.factorisation = found.factorisation;
  if (!found.ok()) run.status = found.status;
  for (Eigen::Index k = 0; k < found.values.size(); ++k) {
    Mode mode;
    mode.frequency = std::sqrt(std::max(0.0, found.values[k])) / (2 * std::numbers::pi);
    mode.waves = waves;
    mode.number = static_cast<int>(k);
    mode.shape = VecX::Zero(static_cast<Eigen::Index>(system.unknown.size()));
    for (std::size_t u = 0; u < system.unknown.size(); ++u)
      if (system.unknown[u] >= 0)
        mode.shape[static_cast<Eigen::Index>(u)] = found.vectors(system.unknown[u], k);
    run.modes.push_back(std::move(mode));
    run.residual = std::max(run.residual, found.residuals[k]);
  }
  std::sort(run.modes.begin(), run.modes.end(),
            [](const Mode& a, const Mode& b) { return a.frequency < b.frequency; });
  return found.values.size() > 0 ? std::sqrt(std::max(0.0, found.values[0])) / (2 * std::numbers::pi)
                                 : std::numeric_limits<double>::infinity();
}

HarmonicRun run_harmonics(ProfileMesh mesh, const ModalAnalysisDesc& desc, base::Progress& progress)
{
  HarmonicRun run;
  run.mesh = std::move(mesh);
  int rising = 0;
  // Two waves first: mostly the lowest, and without rigid motions.
  for (int k = 0; k < kMaxWaves && rising < kRisingHarmonics && run.status == numerics::EigenStatus::ok;
       ++k) {
    const int waves = k < 3 ? 2 - k : k;
    const double lowest = add_harmonic(waves, desc, run);
    rising = k >= 3 && lowest >= last_wanted(run.modes, desc) ? rising + 1 : 0;
    progress.advance();
  }
  return run;
}

double longest_edge_for(const std::vector<Vec2>& outline, double triangles)
{
  double area = 0;
  double around = 0;
  for (std::size_t k = 0; k < outline.size(); ++k) {
    const Vec2& p = outline[k];
    const Vec2& q = outline[(k + 1) % outline.size()];
    area += 0.5 * (p.x() * q.y() - p.y() * q.x());
    around += (p - q).norm();
  }
  // Two triangles a square in the inside, and one for each piece of the outline.
  const double b = 0.5 * around;
  return (b + std::sqrt(b * b + 8 * area * triangles)) / triangles;
}

double error_of(const Mode& mode, const HarmonicRun& coarser, double ratio)
{
  constexpr double kSmallest = 1e-5;
  for (const Mode& other : coarser.modes)
    if (other.waves == mode.waves && other.number == mode.number)
      return std::max(kSmallest, std::abs(other.frequency / mode.frequency - 1) / (ratio * ratio - 1));
  return -1;
}

// What the coarser profile says about each mode; that of the worst for those that it has not.
std::vector<double> errors_of(const HarmonicRun& run, const HarmonicRun& coarser)
{
  const double ratio = std::sqrt(static_cast<double>(run.mesh.triangles.size()) /
                                 static_cast<double>(coarser.mesh.triangles.size()));
  std::vector<double> errors;
  for (const Mode& mode : run.modes) errors.push_back(error_of(mode, coarser, std::max(1.1, ratio)));
  const double worst = errors.empty() ? 0 : *std::max_element(errors.begin(), errors.end());
  for (double& e : errors)
    if (e < 0) e = std::max(worst, 0.0);
  return errors;
}

// Weights of the three nodes of the closest edge of the outline.
struct OutlinePlace {
  std::array<Index, 3> nodes{};
  std::array<double, 3> weights{};
};

OutlinePlace closest_on_outline(const ProfileMesh& mesh, const Vec2& p)
{
  OutlinePlace place;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& edge : mesh.boundary) {
    const Vec2& a = mesh.nodes[at(edge[0])];
    const Vec2 along = mesh.nodes[at(edge[1])] - a;
    const double s = std::clamp((p - a).dot(along) / along.squaredNorm(), 0.0, 1.0);
    const double distance = (a + s * along - p).squaredNorm();
    if (distance >= least) continue;
    least = distance;
    place = {edge, {(1 - s) * (1 - 2 * s), s * (2 * s - 1), 4 * s * (1 - s)}};
  }
  return place;
}

void add_shape(const Mode& mode, bool turned, const std::vector<OutlinePlace>& places,
               const RevolvedProfile& profile, const std::vector<Vec3>& vertices, Eigen::Ref<VecX> shape)
{
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    Vec3 parts = Vec3::Zero();
    for (std::size_t k = 0; k < 3; ++k)
      parts +=
          places[v].weights[k] * mode.shape.segment<3>(3 * static_cast<Eigen::Index>(places[v].nodes[k]));
    const double a = 0.5 * (parts[0] + parts[1]);
    const double b = 0.5 * (parts[0] - parts[1]);
    const Vec3 p = profile.axes.transpose() * (vertices[v] - profile.origin);
    const double angle = std::atan2(p.y(), p.x());
    const double phase = mode.waves * angle;
    const double even = turned ? std::sin(phase) : std::cos(phase);
    const double odd = mode.waves == 0 ? 1 : turned ? -std::cos(phase) : std::sin(phase);
    const Vec3 local(a * even * std::cos(angle) - b * odd * std::sin(angle),
                     a * even * std::sin(angle) + b * odd * std::cos(angle), parts[2] * even);
    shape.segment<3>(3 * static_cast<Eigen::Index>(v)) = profile.axes * local;
  }
  Eigen::Index largest = 0;
  shape.cwiseAbs().maxCoeff(&largest);
  if (shape[largest] < 0) shape *= -1;
}

// The modes wanted, those with waves twice: turned by a quarter of a wave.
void keep_modes(const HarmonicRun& run, const std::vector<double>& errors, const RevolvedProfile& profile,
                const ModalAnalysisDesc& desc, model::ModalModel& model)
{
  std::vector<std::pair<std::size_t, bool>> kept;
  for (std::size_t k = 0; k < run.modes.size(); ++k)
    for (Index copy = 0; copy < copies(run.modes[k]); ++copy)
      if (run.modes[k].frequency < desc.below && (desc.count == 0 || kept.size() < at(desc.count)))
        kept.emplace_back(k, copy == 1);
  std::vector<OutlinePlace> places;
  for (const Vec3& v : model.surface.vertices) {
    const Vec3 p = profile.axes.transpose() * (v - profile.origin);
    places.push_back(closest_on_outline(run.mesh, Vec2(p.head<2>().norm(), p.z())));
  }
  const auto count = static_cast<Eigen::Index>(kept.size());
  model.frequencies.resize(count);
  model.frequency_errors.resize(count);
  model.shapes = MatX::Zero(3 * static_cast<Eigen::Index>(model.surface.vertices.size()), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto& [mode, turned] = kept[at(k)];
    model.frequencies[k] = run.modes[mode].frequency;
    model.frequency_errors[k] = errors[mode] + facet_error(profile);
    add_shape(run.modes[mode], turned, places, profile, model.surface.vertices, model.shapes.col(k));
  }
  model.decays = decays_of_modes(desc.materials.front().damping, model.frequencies);
}

ModalAnalysisResult finished(const HarmonicRun& run, const std::vector<double>& errors,
                             const mesh::TriangleMesh& surface, const RevolvedProfile& profile,
                             const ModalAnalysisDesc& desc)
{
  ModalAnalysisResult result;
  result.status = run.status;
  result.solves = run.solves;
  result.verified = desc.verification != numerics::EigenVerification::none;
  result.factorisation = run.factorisation;
  model::ModalModel& model = result.model;
  model.name = desc.name;
  model.materials = desc.materials;
  model.element = "tri6 revolved";
  model.node_count = count_of(run.mesh.nodes);
  model.element_count = count_of(run.mesh.triangles);
  model.rigid_mode_count = 6;
  const mesh::MassProperties rigid = mesh::solid_mass_properties(surface, desc.materials.front().density);
  model.mass = rigid.mass;
  model.centre_of_mass = rigid.center;
  model.inertia = rigid.inertia;
  const Box3 box = mesh::bounding_box(surface);
  model.surface = distance::split_long_edges(surface, kSurfaceSpacing * box.sizes().maxCoeff()).mesh;
  keep_modes(run, errors, profile, desc, model);
  result.residuals = VecX::Constant(model.frequencies.size(), run.residual);
  if (model.mode_count() > 0)
    if (const auto warning = implausible_size_warning(box, model.frequencies[0]))
      model.warnings.push_back(*warning);
  result.hints.push_back(fmt::format(
      "The surface is one of revolution, so it was taken as round (its facets have {:.2g} % less volume than "
      "their circles). Use --fill cut for the facets as they are.",
      100 * profile.facet_deficit));
  return result;
}

}  // namespace

double facet_error(const RevolvedProfile& profile)
{
  // Walls of polygons with n sides of equal volume are thinner by 1.6/n^2 and longer by 1.6/n^2 than round
  // ones, which lowers their frequencies by 4.9/n^2; the deficit is 6.6/n^2.
  return 0.75 * profile.facet_deficit;
}

std::optional<ModalAnalysisResult> analyse_revolved(const mesh::TriangleMesh& surface,
                                                    const RevolvedProfile& profile,
                                                    const RevolvedDesc& limits, const ModalAnalysisDesc& desc)
{
  base::Progress progress(desc.name.empty() ? "modes" : "modes of " + desc.name, 0, desc.progress);
  double triangles = std::min(kFirstTriangles, limits.max_triangles);
  std::optional<ProfileMesh> mesh =
      profile_mesh(profile.outline, kCoarsening * longest_edge_for(profile.outline, triangles));
  if (!mesh) return std::nullopt;
  HarmonicRun coarser = run_harmonics(std::move(*mesh), desc, progress);
  for (;;) {
    HarmonicRun run = run_harmonics(
        *profile_mesh(profile.outline, longest_edge_for(profile.outline, triangles)), desc, progress);
    const std::vector<double> errors = errors_of(run, coarser);
    double worst = 0;
    for (std::size_t k = 0; k < run.modes.size(); ++k)
      if (k == 0 ||
          run.modes[k].frequency < std::min(kMaxAudibleFrequency, 1.0001 * last_wanted(run.modes, desc)))
        worst = std::max(worst, errors[k]);
    const bool enough = worst <= limits.max_error || triangles >= limits.max_triangles;
    if (enough || run.status != numerics::EigenStatus::ok) {
      progress.finish();
      return finished(run, errors, surface, profile, desc);
    }
    coarser = std::move(run);
    triangles = std::min(kRefinement * kRefinement * triangles, limits.max_triangles);
  }
}

}  // namespace thrum::elastic
