// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_analysis.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <numbers>

#include "tests/base/scratch_folder.h"
#include "tests/elastic/fem_fixtures.h"
#include "thrum/base/error.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/assembly.h"
#include "thrum/elastic/damping.h"
#include "thrum/elastic/mesh_checks.h"
#include "thrum/elastic/modal_cache.h"
#include "thrum/elastic/rigid_motions.h"
#include "thrum/elastic/supports.h"

namespace thrum::elastic {
namespace {

bool holds(const std::string& text, std::string_view part)
{
  return text.find(part) != std::string::npos;
}

using testing::message;
using testing::perturbed_box;
using testing::test_steel;

mesh::TetrahedralMesh small_body()
{
  return perturbed_box(Vec3(0.2, 0.12, 0.05), {5, 3, 2}, 21);
}

ModalAnalysisDesc steel(Index count)
{
  return {.materials = {test_steel()}, .count = count};
}

std::string rejection(const mesh::TetrahedralMesh& mesh, const ModalAnalysisDesc& desc)
{
  return message([&] { static_cast<void>(analyse_modes(mesh, desc)); });
}

TEST(ModalAnalysis, ModesHaveUnitMassAndTheEnergyOfTheirFrequency)
{
  const mesh::TetrahedralMesh mesh = small_body();
  const ElementMesh elements = build_element_mesh(mesh, ElementKind::tet10);
  const std::vector<model::Material> materials = {test_steel()};
  const AssembledSystem system = assemble(elements, materials);
  const MatX rigid = rigid_motions(elements, system.unknowns);
  ASSERT_EQ(rigid.cols(), 6);
  const numerics::GeneralisedEigenResult modes =
      numerics::solve_generalised_eigen(system.stiffness, system.mass,
                                        {.count = 10,
                                         .shift = -0.1 * estimate_lowest_eigenvalue(elements, materials),
                                         .null_space = rigid,
                                         .method = numerics::EigenMethod::block_lanczos});
  ASSERT_TRUE(modes.ok());
  const MatX KX = system.stiffness.selfadjointView<Eigen::Lower>() * modes.vectors;
  const MatX MX = system.mass.selfadjointView<Eigen::Lower>() * modes.vectors;
  for (Eigen::Index k = 0; k < 10; ++k) {
    const auto x = modes.vectors.col(k);
    EXPECT_NEAR(0.5 * x.dot(KX.col(k)), 0.5 * modes.values[k], 1e-8 * modes.values[k]);
    EXPECT_NEAR(x.dot(MX.col(k)), 1, 1e-10);
    EXPECT_LT((rigid.transpose() * MX.col(k)).cwiseAbs().maxCoeff(), 1e-8 * rigid.norm());
  }
  // The estimate used for the shift is an upper bound, and close.
  const double estimate = estimate_lowest_eigenvalue(elements, materials);
  EXPECT_GT(estimate, modes.values[0]);
  EXPECT_LT(estimate, 10 * modes.values[0]);
}

TEST(ModalAnalysis, KeepsTheSurfaceTheMassAndTheDamping)
{
  model::Material wood = test_steel();
  wood.damping = {.alpha = 60, .beta = 2e-6};
  const mesh::TetrahedralMesh mesh = small_body();
  ModalAnalysisDesc desc{.name = "block", .materials = {wood}, .count = 5};
  const ModalAnalysisResult r = analyse_modes(mesh, desc);
  ASSERT_TRUE(r.ok());
  const model::ModalModel& m = r.model;
  EXPECT_EQ(m.mode_count(), 5);
  EXPECT_EQ(m.shapes.rows(), 3 * m.vertex_count());
  EXPECT_EQ(m.element, "tet10");
  EXPECT_EQ(m.rigid_mode_count, 6);
  EXPECT_TRUE(r.verified);
  for (std::size_t v = 0; v < m.surface.vertices.size(); ++v)
    EXPECT_EQ(m.surface.vertices[v], mesh.vertices[static_cast<std::size_t>(m.surface_nodes[v])]);
  const double mass = 8000 * 0.2 * 0.12 * 0.05;
  EXPECT_NEAR(m.mass, mass, 1e-12 * mass);
  EXPECT_LT(m.centre_of_mass.norm(), 1e-12);
  EXPECT_NEAR(m.inertia(0, 0), mass / 12 * (0.12 * 0.12 + 0.05 * 0.05), 1e-12);
  EXPECT_NEAR(m.inertia(0, 1), 0, 1e-12);
  for (Index k = 0; k < 5; ++k) {
    EXPECT_DOUBLE_EQ(m.decays[k], 0.5 * (60 + 2e-6 * m.omega(k) * m.omega(k)));
    EXPECT_GT(m.frequency_errors[k], 0);
    Eigen::Index largest = 0;
    m.shapes.col(k).cwiseAbs().maxCoeff(&largest);
    EXPECT_GT(m.shapes(largest, k), 0);
  }
}

TEST(ModalAnalysis, ScalesWithSizeStiffnessAndDensity)
{
  const mesh::TetrahedralMesh mesh = small_body();
  const ModalAnalysisResult one = analyse_modes(mesh, steel(6));
  const double g = 2.5;
  mesh::TetrahedralMesh large = mesh;
  for (Vec3& v : large.vertices) v *= g;
  const ModalAnalysisResult scaled = analyse_modes(large, steel(6));
  ModalAnalysisDesc changed = steel(6);
  changed.materials[0].young *= 4;
  changed.materials[0].density *= 9;
  const ModalAnalysisResult other = analyse_modes(mesh, changed);
  for (Index k = 0; k < 6; ++k) {
    const double f = one.model.frequencies[k];
    EXPECT_NEAR(scaled.model.frequencies[k], f / g, 1e-8 * f);
    EXPECT_NEAR(other.model.frequencies[k], f * 2 / 3, 1e-8 * f);
    EXPECT_NEAR(scaled.model.shapes.col(k).norm(), one.model.shapes.col(k).norm() * std::pow(g, -1.5),
                1e-6 * one.model.shapes.col(k).norm());
    EXPECT_NEAR(other.model.shapes.col(k).norm(), one.model.shapes.col(k).norm() / 3,
                1e-6 * one.model.shapes.col(k).norm());
  }
}

TEST(ModalAnalysis, FindsAllModesBelowAFrequency)
{
  const mesh::TetrahedralMesh mesh = small_body();
  const ModalAnalysisResult all = analyse_modes(mesh, steel(20));
  const double limit = 0.5 * (all.model.frequencies[11] + all.model.frequencies[12]);
  ModalAnalysisDesc desc = steel(1000);
  desc.below = limit;
  const ModalAnalysisResult below = analyse_modes(mesh, desc);
  ASSERT_TRUE(below.ok());
  ASSERT_EQ(below.model.mode_count(), 12);
  EXPECT_LT((below.model.frequencies - all.model.frequencies.head(12)).cwiseAbs().maxCoeff(), 1e-6 * limit);
}

TEST(ModalAnalysis, SupportsLeaveTheRigidMotionsTheyAllow)
{
  const mesh::TetrahedralMesh mesh = small_body();
  const auto rigid = [&](const char* where, std::array<bool, 3> axes) {
    ModalAnalysisDesc desc = steel(3);
    desc.supports = {{parse_selection(where), axes}};
    const ModalAnalysisResult r = analyse_modes(mesh, desc);
    EXPECT_TRUE(r.ok());
    EXPECT_GT(r.model.frequencies[0], 1.0);
    return r.model.rigid_mode_count;
  };
  EXPECT_EQ(rigid("z<-0.0249", {true, true, true}), 0);
  EXPECT_EQ(rigid("z<-0.0249", {false, false, true}), 3);  // slides in the plane and rotates about z
  EXPECT_EQ(rigid("nodes 0", {true, true, true}), 3);      // rotates about a point
}

TEST(ModalAnalysis, WeightsTheDampingOfSeveralMaterialsByTheirEnergy)
{
  mesh::TetrahedralMesh mesh = small_body();
  mesh.region_names = {"left", "right"};
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    double x = 0;
    for (const Index v : mesh.tetrahedra[t]) x += mesh.vertices[static_cast<std::size_t>(v)].x();
    mesh.regions.push_back(x < 0 ? 0 : 1);
  }
  model::Material damped = test_steel();
  damped.damping = {.alpha = 60, .beta = 2e-6};
  // The same material twice gives the result of one.
  const ModalAnalysisResult whole = analyse_modes(mesh, {.materials = {damped}, .count = 4});
  const ModalAnalysisResult halves = analyse_modes(mesh, {.materials = {damped, damped}, .count = 4});
  // Only one half is damped: by the symmetry of the box about half of the decay remains.
  const ModalAnalysisResult half = analyse_modes(mesh, {.materials = {damped, test_steel()}, .count = 4});
  for (Index k = 0; k < 4; ++k) {
    EXPECT_NEAR(halves.model.frequencies[k], whole.model.frequencies[k], 1e-8 * whole.model.frequencies[k]);
    EXPECT_NEAR(halves.model.decays[k], whole.model.decays[k], 1e-8 * whole.model.decays[k]);
    EXPECT_NEAR(half.model.decays[k], 0.5 * whole.model.decays[k], 0.05 * whole.model.decays[k]);
  }
}

TEST(ModalAnalysis, GivesTheSameBitsForEveryNumberOfThreads)
{
  const mesh::TetrahedralMesh mesh = perturbed_box(Vec3(0.3, 0.2, 0.1), {8, 6, 4}, 5);
  base::set_thread_count(1);
  const ModalAnalysisResult one = analyse_modes(mesh, steel(8));
  base::set_thread_count(2);
  const ModalAnalysisResult two = analyse_modes(mesh, steel(8));
  base::set_thread_count(0);
  EXPECT_TRUE((one.model.shapes.array() == two.model.shapes.array()).all());
  EXPECT_TRUE((one.model.frequencies.array() == two.model.frequencies.array()).all());
  EXPECT_TRUE((one.model.frequency_errors.array() == two.model.frequency_errors.array()).all());
}

TEST(ModalAnalysis, StopsWhenRequested)
{
  base::StopSource stop;
  stop.request_stop();
  ModalAnalysisDesc desc = steel(5);
  desc.progress.stop = stop.token();
  EXPECT_THROW(static_cast<void>(analyse_modes(small_body(), desc)), base::Stopped);
}

TEST(ModalAnalysis, IgnoresVerticesThatNoTetrahedronUses)
{
  mesh::TetrahedralMesh mesh = small_body();
  const ModalAnalysisResult clean = analyse_modes(mesh, steel(4));
  mesh.vertices.emplace_back(9, 9, 9);
  const ModalAnalysisResult extra = analyse_modes(mesh, steel(4));
  ASSERT_TRUE(extra.ok());
  EXPECT_EQ(extra.model.rigid_mode_count, 6);
  EXPECT_LT((clean.model.frequencies - extra.model.frequencies).norm(),
            1e-6 * clean.model.frequencies.norm());
}

TEST(ModalAnalysis, ReportsInvalidInput)
{
  const mesh::TetrahedralMesh good = small_body();
  ModalAnalysisDesc desc = steel(3);
  desc.materials[0].density = 0;
  EXPECT_TRUE(holds(rejection(good, desc), "the density is 0"));
  desc = steel(3);
  desc.materials[0].poisson = 0.5;
  EXPECT_TRUE(holds(rejection(good, desc), "Use 0.49"));
  desc = steel(3);
  desc.supports = {{parse_selection("z<-1")}};
  EXPECT_TRUE(holds(rejection(good, desc), "selects no node"));
  EXPECT_TRUE(holds(rejection(good, {.count = 3}), "no material"));
  EXPECT_TRUE(holds(rejection({}, steel(3)), "no tetrahedra"));

  mesh::TetrahedralMesh inverted = good;
  std::swap(inverted.tetrahedra[7][0], inverted.tetrahedra[7][1]);
  EXPECT_TRUE(holds(rejection(inverted, steel(3)), "1 of"));
  EXPECT_TRUE(holds(rejection(inverted, steel(3)), "number 7"));
  for (Tetrahedron& t : inverted.tetrahedra) std::swap(t[0], t[1]);
  std::swap(inverted.tetrahedra[7][0], inverted.tetrahedra[7][1]);
  EXPECT_TRUE(holds(rejection(inverted, steel(3)), "Every tetrahedron is inverted"));

  mesh::TetrahedralMesh parts = good;
  const auto offset = static_cast<Index>(parts.vertices.size());
  for (const Vec3& v : good.vertices) parts.vertices.push_back(v + Vec3(5, 0, 0));
  for (const Tetrahedron& t : good.tetrahedra)
    parts.tetrahedra.push_back({t[0] + offset, t[1] + offset, t[2] + offset, t[3] + offset});
  EXPECT_TRUE(holds(rejection(parts, steel(3)), "2 parts"));

  mesh::TetrahedralMesh flat = good;
  flat.vertices.emplace_back(flat.vertices[0]);
  const Tetrahedron& first = flat.tetrahedra[0];
  flat.tetrahedra.push_back({first[0], first[1], first[2], first[0]});
  EXPECT_TRUE(holds(rejection(flat, steel(3)), "flat"));

  mesh::TriangleMesh surface = mesh::boundary_surface(good).surface;
  EXPECT_EQ(message([&] { check_closed(surface); }), "");
  surface.triangles.pop_back();
  EXPECT_TRUE(holds(message([&] { check_closed(surface); }), "The surface is open: 3 of"));

  // A body of 0.2 mm, as a mesh that was scaled from millimetres twice.
  mesh::TetrahedralMesh tiny = good;
  for (Vec3& v : tiny.vertices) v *= 1e-3;
  const ModalAnalysisResult r = analyse_modes(tiny, steel(3));
  ASSERT_FALSE(r.model.warnings.empty());
  EXPECT_TRUE(holds(r.model.warnings[0], "scale it first"));
  // A leaf of 1 mm has lower modes, but is unlikely as well.
  const ModalAnalysisResult leaf =
      analyse_modes(tets::tetrahedralise_box(Vec3(1e-3, 1e-3, 2e-5), {8, 8, 1}), steel(1));
  EXPECT_LT(leaf.model.frequencies[0], 200e3);
  ASSERT_FALSE(leaf.model.warnings.empty());
  EXPECT_TRUE(holds(leaf.model.warnings[0], "scale it first"));
  mesh::TetrahedralMesh huge = good;
  for (Vec3& v : huge.vertices) v *= 1e3;
  EXPECT_TRUE(holds(analyse_modes(huge, steel(3)).model.warnings.at(0), "scale it by 0.001"));
}

TEST(ModalAnalysis, OneElementHasNoEstimateOfItsError)
{
  mesh::TetrahedralMesh one;
  one.vertices = {Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  one.tetrahedra = {{0, 1, 2, 3}};
  EXPECT_EQ(analyse_modes(one, steel(3)).model.frequency_errors.size(), 0);
}

TEST(ModalAnalysis, FailureIsDescribedWithWhatToDo)
{
  ModalAnalysisResult result;
  EXPECT_EQ(describe_failure(result), "");
  result.model.name = "cube";
  result.model.node_count = 245521;
  result.status = numerics::EigenStatus::factorisation_failed;
  result.factorisation.status = numerics::FactorisationStatus::out_of_memory;
  EXPECT_TRUE(holds(describe_failure(result), "The factor of cube (245521 nodes"));
  EXPECT_TRUE(holds(describe_failure(result), "twice the spacing"));
  result.factorisation.status = numerics::FactorisationStatus::not_positive_definite;
  EXPECT_TRUE(holds(describe_failure(result), "cannot be factored"));
  result.status = numerics::EigenStatus::not_converged;
  EXPECT_TRUE(holds(describe_failure(result), "not all found"));
}

TEST(ModalAnalysis, NoModesBelowTheLimitIsNotAnError)
{
  ModalAnalysisDesc desc = steel(0);
  desc.below = 1;
  const ModalAnalysisResult none =
      analyse_modes(tets::tetrahedralise_box(Vec3(0.2, 0.1, 0.1), {12, 6, 6}), desc);
  EXPECT_TRUE(none.ok());
  EXPECT_EQ(none.model.mode_count(), 0);
  EXPECT_TRUE(none.hints.empty());
}

TEST(ModalAnalysis, IsCachedByContent)
{
  const base::ScratchFolder folder;
  const base::Cache cache({.folder = folder.path()});
  mesh::TetrahedralMesh mesh = small_body();
  ModalAnalysisDesc desc = steel(6);
  desc.supports = {{parse_selection("z<-0.0249")}};
  const ModalAnalysisResult first = analyse_modes_cached(mesh, desc, cache);
  const ModalAnalysisResult second = analyse_modes_cached(mesh, desc, cache);
  EXPECT_FALSE(first.from_cache);
  ASSERT_TRUE(second.from_cache);
  EXPECT_TRUE((first.model.shapes.array() == second.model.shapes.array()).all());
  EXPECT_TRUE((first.model.frequencies.array() == second.model.frequencies.array()).all());
  EXPECT_EQ(second.model.materials, first.model.materials);
  EXPECT_EQ(second.model.surface.triangles, first.model.surface.triangles);
  EXPECT_EQ(to_text(second.model.supports.at(0)), to_text(desc.supports[0]));
  EXPECT_EQ(second.model.mass, first.model.mass);

  // Any change is another key.
  const base::Hash128 key = modal_key(mesh, desc);
  ModalAnalysisDesc other = desc;
  other.materials[0].poisson = 0.31;
  EXPECT_NE(modal_key(mesh, other), key);
  other = desc;
  other.supports[0].fixed[0] = false;
  EXPECT_NE(modal_key(mesh, other), key);
  mesh.vertices[3].x() += 1e-15;
  EXPECT_NE(modal_key(mesh, desc), key);

  // Truncated bytes are a miss, wherever they are cut.
  const std::vector<std::byte> bytes = pack(first);
  ASSERT_TRUE(unpack(bytes).has_value());
  for (std::size_t cut = 0; cut < bytes.size(); cut += 97)
    EXPECT_FALSE(unpack(std::span(bytes).first(cut)).has_value());
}

}  // namespace
}  // namespace thrum::elastic
