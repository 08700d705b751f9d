// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_export.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "thrum/base/error.h"

namespace thrum::elastic {
namespace {

// A unit square whose first mode moves all of it along its normal by 2 and whose second tilts it about the y
// axis.
model::ModalModel square()
{
  model::ModalModel model;
  model.name = "test plate";
  model.surface.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  model.surface.triangles = {{0, 1, 2}, {0, 2, 3}};
  model.frequencies = (VecX(2) << 100, 300).finished();
  model.decays = (VecX(2) << 5, 20).finished();
  model.shapes = MatX::Zero(12, 2);
  for (Index v = 0; v < 4; ++v) {
    model.shapes(3 * v + 2, 0) = 2;
    model.shapes(3 * v + 2, 1) = 2 * model.surface.vertices[static_cast<std::size_t>(v)].x() - 1;
  }
  model.materials.resize(1);
  model.materials[0].density = 750;
  return model;
}

TEST(Tones, GainIsExcitationTimesSurfaceMotion)
{
  // Struck at the corner (1, 1): f = (2, 1). A = 2^2 for the first mode and the mean of (2x - 1)^2 = 1/3 for
  // the second.
  const ToneList list = tones(square(), {{0, {0, 0, 1}}, Vec3::UnitZ()});
  ASSERT_EQ(list.gains.size(), 2);
  EXPECT_NEAR(list.gains[0], 1, 1e-14);
  EXPECT_NEAR(list.gains[1], 1 * std::sqrt(1.0 / 3) / (2 * 2), 1e-14);
  EXPECT_NEAR(list.t60[0], std::log(1000.0) / 5, 1e-12);
  EXPECT_LT(list.frequencies[1], 300);  // damped
  EXPECT_NEAR(list.frequencies[1], 300, 0.1);
}

TEST(Tones, OmitOverDampedModes)
{
  model::ModalModel model = square();
  model.decays[0] = 1e4;
  EXPECT_EQ(tones(model, {{0, {0, 0, 1}}, Vec3::UnitZ()}).frequencies.size(), 1);
}

TEST(Tones, OmitModesThatCannotBeHeardAndCountThem)
{
  model::ModalModel model = square();
  model.frequencies = (VecX(2) << 19e3, 21e3).finished();
  const SurfaceProbe strike = {{0, {0, 0, 1}}, Vec3::UnitZ()};
  EXPECT_EQ(tones(model, strike).frequencies.size(), 1);
  EXPECT_EQ(tones(model, strike).left_out, 1);
  EXPECT_EQ(tones(model, strike, 16e3).frequencies.size(), 0);
  EXPECT_EQ(tones(model, strike, 22e3).left_out, 0);
}

// Every wire of a patch joins objects that exist, and each mode has its oscillator and its decay.
// Inlets and outlets of the objects of Pure Data that a patch uses, by their manual pages.
struct PatchObject {
  int inlets;
  int outlets;
};

PatchObject patch_object(const std::string& line)
{
  std::istringstream words(line);
  std::string mark, kind, x, y, name;
  words >> mark >> kind >> x >> y >> name;
  if (kind == "msg") return {1, 1};
  if (kind == "text") return {0, 0};
  while (!name.empty() && name.back() == ';') name.pop_back();
  const std::map<std::string, PatchObject> known = {{"loadbang", {0, 1}}, {"bng", {1, 1}}, {"vline~", {3, 1}},
                                                    {"osc~", {2, 1}},     {"*~", {2, 1}},  {"exp~", {1, 1}},
                                                    {"dac~", {2, 0}}};
  EXPECT_TRUE(kind == "obj" && known.contains(name)) << line;
  return known.contains(name) ? known.at(name) : PatchObject{0, 0};
}

TEST(Programs, ThePureDataPatchIsWired)
{
  const std::string patch = pure_data_patch(tones(square(), {{0, {0, 0, 1}}, Vec3::UnitZ()}));
  EXPECT_EQ(patch.rfind("#N canvas", 0), 0U);
  EXPECT_NE(patch.find("osc~ 99.9"), std::string::npos) << patch;
  EXPECT_NE(patch.find("*~ -5;"), std::string::npos) << patch;
  std::istringstream lines(patch);
  std::vector<PatchObject> objects;
  std::set<std::string> wired;
  int wires = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.back(), ';') << line;
    if (line.rfind("#X connect", 0) != 0) {
      if (line.rfind("#X", 0) == 0) objects.push_back(patch_object(line));
      continue;
    }
    ++wires;
    int from = -1, outlet = -1, to = -1, inlet = -1;
    ASSERT_EQ(std::sscanf(line.c_str(), "#X connect %d %d %d %d;", &from, &outlet, &to, &inlet), 4) << line;
    const auto count = static_cast<int>(objects.size());
    ASSERT_TRUE(from > 0 && to > 0 && from < count && to < count) << line;
    EXPECT_TRUE(outlet >= 0 && outlet < objects[static_cast<std::size_t>(from)].outlets) << line;
    EXPECT_TRUE(inlet >= 0 && inlet < objects[static_cast<std::size_t>(to)].inlets) << line;
    EXPECT_TRUE(wired.insert(line).second) << "twice: " << line;
  }
  EXPECT_EQ(objects.size(), 9U + 2 * 5);
  EXPECT_EQ(wires, 7 + 2 * 7);
}

TEST(ChooseStrikePoint, AvoidsTheNodesOfTheModes)
{
  model::ModalModel model = square();
  model.surface.vertices.push_back({0.5, 0.5, 0});  // on the node line of the second mode
  model.surface.triangles = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
  model.shapes.conservativeResize(15, 2);
  model.shapes.bottomRows<3>() << 0, 0, 0, 0, 2, 0;
  const VecX row = surface_row(model, choose_strike_point(model));
  EXPECT_NEAR(std::abs(row[0]), 2, 1e-14);
  EXPECT_NEAR(std::abs(row[1]), 1, 1e-14);
}

TEST(Programs, ContainEveryMode)
{
  const ToneList list = tones(square(), {{0, {0, 0, 1}}, Vec3::UnitZ()});
  for (const std::string& text : {faust_program(list), supercollider_program(list), pure_data_list(list)}) {
    EXPECT_NE(text.find("99.9"), std::string::npos) << text;
    EXPECT_NE(text.find("299.9"), std::string::npos) << text;
  }
  EXPECT_NE(faust_program(list).find("test_plate = _ <: par(i, 2, "), std::string::npos);
  EXPECT_EQ(pure_data_list(list).find(','), std::string::npos);
}

TEST(StanfordModes, HasTheLayoutAndDoesNotDependOnDensity)
{
  const model::ModalModel model = square();
  const std::string bytes = stanford_modes(model);
  ASSERT_EQ(bytes.size(), 8 + 8 * 2 * (1 + 12));
  std::int32_t head[2];
  double eigenvalues[2];
  std::memcpy(head, bytes.data(), 8);
  std::memcpy(eigenvalues, bytes.data() + 8, 16);
  EXPECT_EQ(head[0], 12);
  EXPECT_EQ(head[1], 2);
  EXPECT_NEAR(eigenvalues[1], 750 * std::pow(2 * M_PI * 300, 2), 1e-3);

  // Four times the density: half the frequencies, half the mass-normalised shapes, and the same file.
  model::ModalModel heavy = model;
  heavy.materials[0].density *= 4;
  heavy.frequencies /= 2;
  heavy.shapes /= 2;
  EXPECT_EQ(stanford_modes(heavy), bytes);
}

TEST(StanfordModes, RejectsTwoDensities)
{
  model::ModalModel model = square();
  model.materials.push_back(model.materials.front());
  model.materials.back().density = 7850;
  EXPECT_THROW((void)stanford_modes(model), Error);
}

}  // namespace
}  // namespace thrum::elastic
