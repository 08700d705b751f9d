// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/random.h"
#include "thrum/elastic/modal_rescale.h"
#include "thrum/elastic/supports.h"

namespace thrum::elastic {
namespace {

// Every member has a value that would reveal a mix-up.
model::ModalModel full_model()
{
  model::ModalModel model;
  model.name = "plate";
  model.frequencies = (VecX(2) << 100, 300).finished();
  model.decays = (VecX(2) << 5, 20).finished();
  model.frequency_errors = (VecX(2) << 0.001, 0.004).finished();
  model.surface.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  model.surface.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  model.surface_nodes = {4, 5, 6, 9};
  model.shapes.resize(12, 2);
  for (Eigen::Index i = 0; i < 24; ++i) model.shapes.data()[i] = 0.5 + static_cast<double>(i);
  model::Material wood{"wood", 750, 1.1e10, 0.25, {model::DampingKind::rayleigh, 60, 2e-6, 0, {}}, 5e-4};
  model::Material glue{"glue", 1000, 1e9, 0.4, {model::DampingKind::table, 1, 2, 0, {7, 8, 9}}, 0};
  model.materials = {wood, glue};
  model.supports = {{parse_selection("z<0.01"), {true, true, false}}};
  model.element = "tet10";
  model.node_count = 10;
  model.element_count = 1;
  model.rigid_mode_count = 0;
  model.warnings = {"One sentence.", "Another."};
  model.mass = 2.5;
  model.centre_of_mass = {0.25, 0.25, 0.5};
  model.inertia = Vec3(1, 2, 3).asDiagonal();
  return model;
}

std::filesystem::path temporary(const char* name)
{
  return std::filesystem::temp_directory_path() / (std::string("thrum_modal_file_test_") + name);
}

void expect_equal(const model::ModalModel& a, const model::ModalModel& b)
{
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.frequencies, b.frequencies);
  EXPECT_EQ(a.decays, b.decays);
  EXPECT_EQ(a.frequency_errors, b.frequency_errors);
  EXPECT_EQ(a.shapes, b.shapes);
  EXPECT_EQ(a.surface.vertices, b.surface.vertices);
  EXPECT_EQ(a.surface.triangles, b.surface.triangles);
  EXPECT_EQ(a.surface_nodes, b.surface_nodes);
  EXPECT_EQ(a.materials, b.materials);
  ASSERT_EQ(a.supports.size(), b.supports.size());
  for (std::size_t s = 0; s < a.supports.size(); ++s) {
    EXPECT_EQ(to_text(a.supports[s]), to_text(b.supports[s]));
    EXPECT_EQ(a.supports[s].fixed, b.supports[s].fixed);
  }
  EXPECT_EQ(a.element, b.element);
  EXPECT_EQ(a.node_count, b.node_count);
  EXPECT_EQ(a.warnings, b.warnings);
  EXPECT_EQ(a.mass, b.mass);
  EXPECT_EQ(a.centre_of_mass, b.centre_of_mass);
  EXPECT_EQ(a.inertia, b.inertia);
}

TEST(ModalFile, KeepsEveryBit)
{
  const auto file = temporary("round.npz");
  write_modal_file(file, full_model());
  expect_equal(read_modal_file(file), full_model());
  std::filesystem::remove(file);
}

// Every prefix and every file with one damaged byte is rejected or read without a crash.
TEST(ModalFile, RejectsDamagedFiles)
{
  const auto file = temporary("damage.npz");
  write_modal_file(file, full_model());
  const auto bytes = base::read_file(file);
  std::filesystem::remove(file);
  base::Random random(7);
  for (std::size_t n = 0; n < bytes.size(); n += 13) {
    auto cut = bytes;
    cut.resize(n);
    EXPECT_THROW((void)parse_modal_file(cut, "cut.npz"), Error) << n;
    auto damaged = bytes;
    damaged[n] ^= std::byte{0x55};
    try {
      (void)parse_modal_file(damaged, "damaged.npz");
    } catch (const Error&) {
    }
  }
}

TEST(ModalFile, RejectsUnphysicalValues)
{
  const auto file = temporary("wrong.npz");
  const auto refused = [&](const model::ModalModel& model) {
    write_modal_file(file, model);
    EXPECT_THROW((void)read_modal_file(file), Error);
  };
  model::ModalModel model = full_model();
  model.frequencies = (VecX(2) << 300, 100).finished();
  refused(model);
  model = full_model();
  model.shapes(3, 1) = NAN;
  refused(model);
  model = full_model();
  model.surface.triangles[2][1] = 4;
  refused(model);
  model = full_model();
  model.materials[0].poisson = 0.5;
  refused(model);
  std::filesystem::remove(file);
  EXPECT_THROW((void)read_modal_file(file), Error);
}

TEST(ModalFile, RejectsAModelWithoutSurface)
{
  EXPECT_THROW(write_modal_file(temporary("empty.npz"), model::ModalModel()), Error);
}

TEST(ModalFile, IsReadByNumpy)
{
  const auto file = temporary("numpy.npz");
  write_modal_file(file, full_model());
  const std::string command =
      "PATH=$(getconf PATH) python3 -c \"import sys, numpy; d = numpy.load('" + file.string() +
      "'); sys.exit(0 if d['shapes'].shape == (2, 4, 3) and d['shapes'][1, 3, 2] == 23.5 and "
      "d['frequencies'][1] == 300 and str(d['name']) == 'plate' else 1)\"";
  const bool has_numpy = std::system("PATH=$(getconf PATH) python3 -c 'import numpy' 2>/dev/null") == 0;
  if (!has_numpy) GTEST_SKIP() << "numpy is not installed";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::filesystem::remove(file);
}

TEST(ModalRescale, FollowsTheLawsOfSimilarity)
{
  model::ModalModel model = full_model();
  model.materials.resize(1);
  const model::ModalModel big = rescaled(model, {.size = 2});
  EXPECT_TRUE(big.frequencies.isApprox(model.frequencies / 2));
  EXPECT_TRUE(big.shapes.isApprox(model.shapes * std::pow(2, -1.5)));
  EXPECT_NEAR(big.mass, 8 * model.mass, 1e-12);
  EXPECT_TRUE(big.inertia.isApprox(32 * model.inertia));
  EXPECT_EQ(big.surface.vertices[1], Vec3(2, 0, 0));
  EXPECT_EQ(to_text(big.supports[0].where), to_text(parse_selection("z<0.02")));

  const model::ModalModel heavy = rescaled(model, {.density = 4});
  EXPECT_TRUE(heavy.frequencies.isApprox(model.frequencies / 2));
  EXPECT_TRUE(heavy.shapes.isApprox(model.shapes / 2));

  const model::ModalModel stiff = rescaled(model, {.young = 9});
  EXPECT_TRUE(stiff.frequencies.isApprox(model.frequencies * 3));
  EXPECT_EQ(stiff.shapes, model.shapes);
  // Rayleigh damping at the new frequency: (alpha + beta w^2) / 2.
  const double w = 2 * M_PI * 300;
  EXPECT_NEAR(stiff.decays[0], (60 + 2e-6 * w * w) / 2, 1e-9);
}

TEST(ModalRescale, RejectsInvalidFactors)
{
  model::ModalModel model = full_model();
  EXPECT_THROW((void)rescaled(model, {.size = 2}), Error);  // two damping laws
  model.materials.resize(1);
  EXPECT_THROW((void)rescaled(model, {.size = 0}), Error);
}

}  // namespace
}  // namespace thrum::elastic
