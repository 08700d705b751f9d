// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/assembly.h"
#include "thrum/elastic/damping.h"
#include "thrum/elastic/element_analysis.h"
#include "thrum/elastic/mesh_checks.h"
#include "thrum/elastic/region_energy_fractions.h"
#include "thrum/elastic/rigid_motions.h"
#include "thrum/elastic/stress_error.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/wedge_element.h"

namespace thrum::elastic {

namespace {

// The shift as a fraction of the estimated lowest eigenvalue: small compared with the eigenvalues, and large
// enough that K - shift M is well conditioned in spite of the rigid motions.
constexpr double kShiftFraction = 0.1;
// Above this many unknowns nested dissection saves more in the factorisation than it costs.
constexpr Index kMinNestedDissectionSize = 6000;
// Errors above this are worth a warning [1].
constexpr double kErrorWarningThreshold = 0.02;
// When this fraction of the volume spans from side to side, the body has one layer of elements.
constexpr double kSingleLayerThreshold = 0.9;
// Above this many unknowns the factorisation without CHOLMOD dominates the run time.
constexpr Index kMinCholmodHintSize = 20000;

// Progress in thousandths, from the stages of the eigenproblem.
class StageProgress {
 public:
  StageProgress(const std::string& name, const base::ProgressDesc& desc)
      : progress_(name.empty() ? "modes" : "modes of " + name, 1000, desc)
  {
  }
  void at(double fraction)
  {
    const auto now = static_cast<std::uint64_t>(1000 * std::clamp(fraction, 0.0, 1.0));
    const std::uint64_t more = now > progress_.done() ? now - progress_.done() : 0;
    progress_.advance(more);
  }
  bool eigen(const numerics::EigenProgress& p)
  {
    // The factorisation takes about a third of the time, the iteration the rest.
    if (p.stage == "factorise") at(0.05);
    if (p.stage == "iterate") at(0.35 + 0.5 * p.fraction);
    if (p.stage == "verify") at(0.86);
    return true;
  }
  void finish()
  {
    at(1);
    progress_.finish();
  }

 private:
  base::Progress progress_;
};

void check_desc(const ModalAnalysisDesc& desc)
{
  if (desc.count < 0 || (desc.count == 0 && !std::isfinite(desc.below)))
    throw Error("Set the number of modes to at least one, or give an upper frequency.");
  if (!(desc.below > 0))
    throw Error(fmt::format("Modes below {} Hz were requested; the limit must be positive.", desc.below));
}

// Vertices that no tetrahedron uses have neither mass nor stiffness, so they are fixed.
void fix_unused_nodes(const ElementMesh& mesh, std::vector<std::array<bool, 3>>& held)
{
  std::vector<bool> used(mesh.nodes.size(), false);
  for (const Index n : mesh.connectivity) used[at(n)] = true;
  if (std::find(used.begin(), used.end(), false) == used.end()) return;
  held.resize(mesh.nodes.size(), {false, false, false});
  for (std::size_t n = 0; n < used.size(); ++n)
    if (!used[n]) held[n] = {true, true, true};
}

// The rigid motions depend on the supports alone: vertices that no tetrahedron uses support nothing.
MatX possible_rigid_motions(const ElementMesh& mesh, const std::vector<std::array<bool, 3>>& supported,
                            const FreeUnknowns& unknowns)
{
  const FreeUnknowns all = free_unknowns(mesh.nodes.size(), supported);
  const MatX motions = rigid_motions(mesh, all);
  MatX kept(unknowns.count, motions.cols());
  if (kept.size() == 0) return kept;
  for (std::size_t i = 0; i < unknowns.index.size(); ++i)
    if (unknowns.index[i] != FreeUnknowns::kHeld) kept.row(unknowns.index[i]) = motions.row(all.index[i]);
  return kept;
}

numerics::GeneralisedEigenDesc eigen_desc(const ElementMesh& mesh, const ModalAnalysisDesc& desc, MatX rigid)
{
  numerics::GeneralisedEigenDesc eigen;
  eigen.count = desc.count;
  eigen.below = std::pow(2 * std::numbers::pi * desc.below, 2);
  eigen.method = desc.method;
  eigen.verification = desc.verification;
  eigen.tolerance = desc.tolerance;
  eigen.factorisation.backend = desc.backend;
  if (rigid.rows() >= kMinNestedDissectionSize)
    eigen.factorisation.ordering = numerics::FillOrdering::nested_dissection;
  if (rigid.cols() > 0) eigen.shift = -kShiftFraction * estimate_lowest_eigenvalue(mesh, desc.materials);
  eigen.null_space = std::move(rigid);
  return eigen;
}

void add_wedge_moments(const ElementMesh& mesh, std::size_t e, double density, const Vec3& origin,
                       double& mass, Vec3& first, Mat3& second)
{
  std::array<Vec3, 6> corners;
  for (std::size_t k = 0; k < 6; ++k) corners[k] = mesh.nodes[at(mesh.element(e)[k])];
  double volume = 0;
  Vec3 v_first = Vec3::Zero();
  Mat3 v_second = Mat3::Zero();
  WedgeElement(corners).add_moments(corners, origin, volume, v_first, v_second);
  mass += density * volume;
  first += density * v_first;
  second += density * v_second;
}

// Mass, centre and inertia from the second moments of each tetrahedron: the integral of x x^T is the sum of
// x_i x_j^T times the integral of L_i L_j, which is V (1 + delta_ij)/20 where all of it is inside.
void set_mass_properties(const ElementMesh& mesh, std::span<const model::Material> materials,
                         model::ModalModel& model)
{
  const Vec3 origin = mesh.nodes[at(mesh.connectivity[0])];
  double mass = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    if (mesh.kind == ElementKind::wedge15) {
      add_wedge_moments(mesh, e, materials[at(mesh.region(e))].density, origin, mass, first, second);
      continue;
    }
    std::array<Vec3, 4> p;
    for (std::size_t k = 0; k < 4; ++k) p[k] = mesh.nodes[at(mesh.element(e)[k])] - origin;
    const double volume = (p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0])) / 6;
    const double m = materials[at(mesh.region(e))].density * volume;
    const CutElement* cut = mesh.cut(e);
    mass += m * (cut != nullptr ? cut->volume : 1);
    for (std::size_t i = 0; i < 4; ++i) {
      first += m * (cut != nullptr ? cut->firsts[i] : 0.25) * p[i];
      for (std::size_t j = 0; j < 4; ++j)
        second += m * (cut != nullptr ? cut->seconds[i][j] : (i == j ? 0.1 : 0.05)) * p[i] * p[j].transpose();
    }
  }
  const Vec3 centre = first / mass;
  const Mat3 central = second - mass * centre * centre.transpose();
  model.mass = mass;
  model.centre_of_mass = origin + centre;
  model.inertia = central.trace() * Mat3::Identity() - central;
}

// Rows of the surface vertices. The sign of a mode is arbitrary; its largest component there is made
// positive.
MatX surface_shapes(const MatX& nodes, const SurfaceWeights& weights)
{
  MatX shapes = MatX::Zero(3 * static_cast<Eigen::Index>(weights.vertex_count()), nodes.cols());
  if (shapes.cols() == 0) return shapes;
  for (std::size_t v = 0; v < weights.vertex_count(); ++v)
    for (std::size_t k = weights.first[v]; k < weights.first[v + 1]; ++k)
      shapes.middleRows<3>(3 * static_cast<Eigen::Index>(v)) +=
          weights.weights[k] * nodes.middleRows<3>(3 * static_cast<Eigen::Index>(weights.nodes[k]));
  for (Eigen::Index k = 0; k < shapes.cols(); ++k) {
    Eigen::Index largest = 0;
    if (shapes.rows() > 0) shapes.col(k).cwiseAbs().maxCoeff(&largest);
    if (shapes.rows() > 0 && shapes(largest, k) < 0) shapes.col(k) *= -1;
  }
  return shapes;
}

// Nodes with little material around them have small entries, which diagonal scaling makes equal: with
// x = D y the matrices are D K D and D M D. Returns D.
VecX scale_system(AssembledSystem& system, numerics::GeneralisedEigenDesc& eigen)
{
  const double shift = std::abs(eigen.shift);
  VecX scale(system.unknowns.count);
  for (Index c = 0; c < system.unknowns.count; ++c)
    scale[c] = 1 / std::sqrt(system.stiffness.coeff(c, c) + shift * system.mass.coeff(c, c));
  for (numerics::SparseMatrix* matrix : {&system.stiffness, &system.mass})
    for (Index c = 0; c < system.unknowns.count; ++c)
      for (numerics::SparseMatrix::InnerIterator it(*matrix, c); it; ++it)
        it.valueRef() *= scale[c] * scale[it.row()];
  if (eigen.null_space.cols() > 0) eigen.null_space = scale.cwiseInverse().asDiagonal() * eigen.null_space;
  return scale;
}

void add_warnings(const ElementBody& body, const ModalAnalysisDesc& desc, model::ModalModel& model)
{
  Box3 box;
  for (const Vec3& v : model.surface.vertices) box.extend(v);
  if (model.mode_count() > 0)
    if (const auto warning = implausible_size_warning(box, model.frequencies[0]))
      model.warnings.push_back(*warning);

  if (body.single_layer && desc.element == ElementKind::tet4)
    model.warnings.emplace_back(
        "The body is one layer of linear elements thick, which is far too stiff in bending: bending modes "
        "are far too high (by a factor of two and more). Use TET10, or several layers.");
}

void add_hints(const ModalAnalysisDesc& desc, Index unknowns, ModalAnalysisResult& result)
{
  const bool slow = result.factorisation.backend == numerics::FactorisationBackend::eigen_ldlt;
  if (!slow || unknowns < kMinCholmodHintSize || desc.method == numerics::EigenMethod::dense) return;
  result.hints.push_back(
      numerics::has_backend(numerics::FactorisationBackend::cholmod_supernodal)
          ? "Eigen's LDLT was selected for the factorisation; CHOLMOD is 6 to 16 times faster."
          : "This build has no CHOLMOD, which makes the factorisation 6 to 16 times faster: install "
            "libsuitesparse-dev and libopenblas-dev and configure again.");
}

}  // namespace

ModalAnalysisResult analyse_elements(ElementBody& body, const ModalAnalysisDesc& desc)
{
  check_desc(desc);
  StageProgress progress(desc.name, desc.progress);
  ElementMesh& elements = body.elements;

  // The fixed unknowns and the free ones.
  std::vector<std::array<bool, 3>> held = body.held;
  fix_unused_nodes(elements, held);
  AssembledSystem system = assemble(elements, desc.materials, held);
  MatX rigid = possible_rigid_motions(elements, body.held, system.unknowns);
  progress.at(0.05);

  // The eigenproblem.
  numerics::GeneralisedEigenDesc eigen = eigen_desc(elements, desc, std::move(rigid));
  eigen.progress = [&progress](const numerics::EigenProgress& p) {
    return progress.eigen(p);
  };
  const VecX scale = elements.cuts.empty() ? VecX() : scale_system(system, eigen);
  numerics::GeneralisedEigenResult modes =
      numerics::solve_generalised_eigen(std::move(system.stiffness), std::move(system.mass), eigen);
  if (scale.size() > 0) modes.vectors = scale.asDiagonal() * modes.vectors;
  system.stiffness = {};
  system.mass = {};

  ModalAnalysisResult result;
  result.status = modes.status;
  result.residuals = modes.residuals;
  result.verified = modes.verified;
  result.solves = modes.solves;
  result.factorisation = modes.factorisation;
  add_hints(desc, system.unknowns.count, result);

  // The model keeps the surface only.
  model::ModalModel& model = result.model;
  model.name = desc.name;
  model.materials = desc.materials;
  model.supports = desc.supports;
  model.element = body.element_name;
  model.node_count = count_of(elements.nodes);
  model.element_count = static_cast<Index>(elements.element_count());
  model.rigid_mode_count = static_cast<Index>(eigen.null_space.cols());
  set_mass_properties(elements, desc.materials, model);
  model.surface = std::move(body.surface);
  model.surface_nodes = std::move(body.surface_nodes);

  model.frequencies = modes.values.cwiseMax(0).cwiseSqrt() / (2 * std::numbers::pi);
  const MatX at_nodes = expand_to_nodes(system.unknowns, modes.vectors);
  model.shapes = surface_shapes(at_nodes, body.surface_weights);
  model.decays =
      desc.materials.size() == 1
          ? decays_of_modes(desc.materials[0].damping, model.frequencies)
          : decays_by_region(desc.materials, region_energy_fractions(elements, desc.materials, at_nodes),
                             model.frequencies);
  progress.at(0.93);
  if (desc.estimate_errors)
    model.frequency_errors =
        estimate_frequency_errors(elements, desc.materials, at_nodes, &body.element_errors);
  add_warnings(body, desc, model);
  progress.finish();
  return result;
}

void add_error_warning(const ModalAnalysisDesc& desc, model::ModalModel& model)
{
  if (model.frequency_errors.size() == 0) return;
  Eigen::Index worst = 0;
  const double error = model.frequency_errors.maxCoeff(&worst);
  if (error <= kErrorWarningThreshold) return;
  Eigen::Index first = 0;
  while (model.frequency_errors[first] <= kErrorWarningThreshold) ++first;
  model.warnings.push_back(
      fmt::format("The mesh is too coarse for modes {} and above: frequencies are too high by up to about "
                  "{:.0f} % (mode {}, {:.4g} Hz). Use {} for accurate values.",
                  first + 1, 100 * error, worst + 1, model.frequencies[worst],
                  desc.element == ElementKind::tet4 ? "TET10 or smaller elements" : "smaller elements"));
}

ModalAnalysisResult analyse_modes(const mesh::TetrahedralMesh& mesh, const ModalAnalysisDesc& desc)
{
  check_mesh(mesh);
  check_materials(mesh, desc.materials);
  ElementBody body;
  body.elements = build_element_mesh(mesh, desc.element);
  body.element_name = std::string(name_of(desc.element));
  if (desc.materials.size() == 1) body.elements.regions.clear();
  body.held = held_axes(body.elements, mesh.region_names, desc.supports);
  body.single_layer = single_layer_fraction(mesh) > kSingleLayerThreshold;
  mesh::BoundarySurface boundary = mesh::boundary_surface(mesh);
  body.surface = std::move(boundary.surface);
  body.surface_nodes = std::move(boundary.nodes);
  for (const Index n : body.surface_nodes) body.surface_weights.add_vertex(std::array{n}, std::array{1.0});
  ModalAnalysisResult result = analyse_elements(body, desc);
  add_error_warning(desc, result.model);
  return result;
}

std::string describe_failure(const ModalAnalysisResult& result)
{
  const std::string body =
      fmt::format("{} ({} nodes, {} elements)", result.model.name.empty() ? "the body" : result.model.name,
                  result.model.node_count, result.model.element_count);
  switch (result.status) {
    case numerics::EigenStatus::ok:
      return "";
    case numerics::EigenStatus::cancelled:
      return "The search for modes was stopped on request.";
    case numerics::EigenStatus::factorisation_failed:
      if (result.factorisation.status == numerics::FactorisationStatus::out_of_memory)
        return fmt::format(
            "The factor of {} is too large for this machine or for CHOLMOD. Use larger elements: twice the "
            "spacing needs about a sixteenth of the memory.",
            body);
      return fmt::format(
          "The stiffness of {} cannot be factored: some of its elements are flat, or a part is attached by a "
          "single vertex or edge. Repair or remesh the body.",
          body);
    case numerics::EigenStatus::not_converged:
    case numerics::EigenStatus::modes_missed:
      return fmt::format(
          "The modes of {} were not all found: the iteration did not converge. Use better shaped elements, "
          "or another number of modes.",
          body);
  }
  return "";
}

}  // namespace thrum::elastic
