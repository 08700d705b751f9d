// SPDX-License-Identifier: MIT
#include "thrum/elastic/material_library.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/elastic/fem_fixtures.h"
#include "thrum/base/error.h"
#include "thrum/elastic/damping.h"

namespace thrum::elastic {
namespace {

std::string rejection(std::string_view text)
{
  MaterialLibrary library;
  try {
    library.parse(text, "mine.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(MaterialLibrary, HasTheMaterialsOfThePapers)
{
  const MaterialLibrary& library = MaterialLibrary::builtin();
  const model::Material& steel = library.get("Steel");
  EXPECT_EQ(steel.density, 7850);
  EXPECT_EQ(steel.young, 2e11);
  EXPECT_EQ(steel.damping.beta, 3e-8);
  EXPECT_EQ(steel.contact_damping, 0.3);
  EXPECT_EQ(library.get("mdf").name, "MDF");
  EXPECT_EQ(library.get("aluminum").name, "aluminium");
  EXPECT_EQ(library.get("coevoet-table").young, 1.1e9);
  EXPECT_EQ(library.names().size(), 18u);
  EXPECT_EQ(library.find("kryptonite"), nullptr);
  try {
    static_cast<void>(library.get("kryptonite"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("Available: ceramic"), std::string::npos);
  }
}

TEST(MaterialLibrary, ParsesMoreMaterials)
{
  MaterialLibrary library = MaterialLibrary::builtin();
  library.parse(R"({"version": 1, "materials": [  // comments are welcome
      {"name": "steel", "density": 7000, "young": 1e11, "poisson": 0.2, "damping": {"loss_factor": 0.01}},
      {"name": "bell", "density": 8700, "young": 1.1e11, "poisson": 0.34, "damping": {"decays": [1, 2], "beta": 1e-8}}]})",
                "mine.json");
  EXPECT_EQ(library.get("steel").damping.kind, model::DampingKind::loss_factor);
  EXPECT_EQ(library.get("bell").damping.decays.size(), 2u);
  EXPECT_EQ(library.names().size(), 19u);
}

TEST(MaterialLibrary, RejectsInvalidFiles)
{
  const auto with = [](const std::string& fields) {
    return rejection(R"({"version": 1, "materials": [{"name": "m", )" + fields + "}]}");
  };
  EXPECT_NE(with(R"("density": 0, "young": 1, "poisson": 0.3)").find("the density is 0"), std::string::npos);
  EXPECT_NE(with(R"("density": 1, "young": 1, "poisson": 0.5)").find("Use 0.49"), std::string::npos);
  EXPECT_NE(with(R"("density": 1, "young": -1, "poisson": 0.3)").find("Young's modulus is -1"),
            std::string::npos);
  EXPECT_NE(with(R"("density": 1, "young": 1, "poisson": 0.3, "colour": 3)").find("colour"),
            std::string::npos);
  EXPECT_NE(with(R"("density": 1, "young": 1)").find("poisson"), std::string::npos);
  EXPECT_NE(with(R"("density": "heavy", "young": 1, "poisson": 0.3)").find("heavy"), std::string::npos);
  EXPECT_NE(with(R"("density": 1, "young": 1, "poisson": 0.3, "damping": {"alpha": -1})").find("grow"),
            std::string::npos);
  EXPECT_NE(with(R"("density": 1e300, "young": 1e9, "poisson": 0.3)").find("must be from 0.001 to 100000"),
            std::string::npos);
  EXPECT_NE(with(R"("density": 1, "young": 1e300, "poisson": 0.3)").find("must be from 1000 to 1e+13"),
            std::string::npos);
  EXPECT_NE(rejection("{\n\"version\": 1,\n]").find("mine.json:3"), std::string::npos);
  EXPECT_NE(rejection("{\"version\": 2, \"materials\": []}").find("version 2"), std::string::npos);
}

TEST(Damping, FollowsItsFormulas)
{
  model::Damping d{.alpha = 60, .beta = 2e-6};
  const double w = 2 * std::numbers::pi * 440;
  EXPECT_DOUBLE_EQ(decay_of_mode(d, 0, w), 0.5 * (60 + 2e-6 * w * w));
  d.decays = {3, 4};
  d.kind = model::DampingKind::table;
  EXPECT_EQ(decay_of_mode(d, 1, w), 4);
  EXPECT_DOUBLE_EQ(decay_of_mode(d, 2, w), 0.5 * (60 + 2e-6 * w * w));
  d.kind = model::DampingKind::loss_factor;
  d.loss_factor = 0.02;
  EXPECT_DOUBLE_EQ(decay_of_mode(d, 0, w), 0.01 * w);
  // After the reverberation time the amplitude is a thousandth.
  EXPECT_NEAR(std::exp(-7.5 * reverberation_time(7.5)), 1e-3, 1e-15);
}

}  // namespace
}  // namespace thrum::elastic
