// SPDX-License-Identifier: MIT
// Modes that are known in the mean only, against the modes for which they stand.
#include "thrum/sound/mode_tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "tests/sound/roughness_spectrum.h"
#include "thrum/base/random.h"
#include "thrum/elastic/damping.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/contact_damping.h"

namespace thrum::sound {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr int kColumns = 80;  ///< of the mesh, 15 mm
constexpr int kRows = 56;

// A simply supported plate in the plane of x and y, with all of its modes up to a frequency in closed form.
struct Plate {
  model::Material material = {.name = "wood",
                              .density = 750,
                              .young = 1.1e10,
                              .poisson = 0.25,
                              .damping = {.alpha = 60, .beta = 2e-6}};
  double length = 1.2, width = 0.85, thickness = 0.01;  // [m]

  [[nodiscard]] double mass() const { return material.density * length * width * thickness; }
  // Of m and n half waves: (pi / 2) sqrt(D / rho h) ((m / a)^2 + (n / b)^2).
  [[nodiscard]] double frequency(int m, int n) const
  {
    const double stiffness =
        material.young * std::pow(thickness, 3) / (12 * (1 - material.poisson * material.poisson));
    return kPi / 2 * std::sqrt(stiffness / (material.density * thickness)) *
           (std::pow(m / length, 2) + std::pow(n / width, 2));
  }
};

std::shared_ptr<const model::ModalModel> modes_of(const Plate& plate, double below)
{
  struct Mode {
    double f;
    int m, n;
  };
  std::vector<Mode> modes;
  for (int m = 1; plate.frequency(m, 1) < below; ++m)
    for (int n = 1; plate.frequency(m, n) < below; ++n) modes.push_back({plate.frequency(m, n), m, n});
  std::sort(modes.begin(), modes.end(), [](const Mode& a, const Mode& b) { return a.f < b.f; });
  auto model = std::make_shared<model::ModalModel>();
  for (const double side : {1.0, -1.0}) {
    const auto first = static_cast<Index>(model->surface.vertices.size());
    for (int i = 0; i <= kColumns; ++i) {
      for (int j = 0; j <= kRows; ++j) {
        model->surface.vertices.emplace_back(plate.length * i / kColumns, plate.width * j / kRows,
                                             side * plate.thickness / 2);
        if (i == kColumns || j == kRows) continue;
        const Index p = first + i * (kRows + 1) + j;
        const Index q = p + kRows + 1;
        if (side > 0) {
          model->surface.triangles.push_back({p, q, q + 1});
          model->surface.triangles.push_back({p, q + 1, p + 1});
        } else {
          model->surface.triangles.push_back({p, q + 1, q});
          model->surface.triangles.push_back({p, p + 1, q + 1});
        }
      }
    }
  }
  const auto count = static_cast<Eigen::Index>(modes.size());
  model->frequencies = VecX(count);
  model->decays = VecX(count);
  model->shapes = MatX::Zero(3 * model->vertex_count(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Mode& mode = modes[static_cast<std::size_t>(k)];
    model->frequencies[k] = mode.f;
    model->decays[k] =
        elastic::decay_of_mode(plate.material.damping, static_cast<Index>(k), 2 * kPi * mode.f);
    for (Index v = 0; v < model->vertex_count(); ++v) {
      const Vec3& p = model->surface.vertices[static_cast<std::size_t>(v)];
      model->shapes(3 * v + 2, k) = 2 / std::sqrt(plate.mass()) *
                                    std::sin(mode.m * kPi * p.x() / plate.length) *
                                    std::sin(mode.n * kPi * p.y() / plate.width);
    }
  }
  model->mass = plate.mass();
  model->inertia = Mat3::Identity();
  model->centre_of_mass = Vec3(plate.length / 2, plate.width / 2, 0);
  model->materials = {plate.material};
  return model;
}

constexpr double kHighest = 5000;  // [Hz]

std::shared_ptr<const SoundModel> sound_of(const Plate& plate, int modes, bool diffuse)
{
  static std::map<double, std::shared_ptr<const model::ModalModel>> known;
  auto& model = known[plate.thickness * plate.material.density];
  if (!model) model = modes_of(plate, kHighest);
  return std::make_shared<const SoundModel>(
      model, model->surface, plate.material,
      SynthesisSettings{.max_frequency = kHighest, .modes = modes, .diffuse_modes = diffuse});
}

// Of vertices, where shapes are exact, away from the edges.
std::vector<Vec3> places(const Plate& plate, std::size_t count)
{
  base::Random random(::testing::UnitTest::GetInstance()->random_seed());
  std::vector<Vec3> list;
  for (std::size_t i = 0; i < count; ++i) {
    list.emplace_back(plate.length * static_cast<double>(random.integer(8, kColumns - 8)) / kColumns,
                      plate.width * static_cast<double>(random.integer(6, kRows - 6)) / kRows,
                      plate.thickness / 2);
  }
  return list;
}

// Mean square by third octaves from 800 Hz to 4 kHz of blows at the places.
std::vector<double> bands(const std::shared_ptr<const SoundModel>& model, const std::vector<Vec3>& places)
{
  std::vector<double> power(7, 0.0);
  for (const Vec3& place : places) {
    BodyVoice voice(model, 0, {.acceleration_noise = false});
    voice.strike(0.02, 5e-5, place, Vec3(0, 0, -0.01), Vec3::UnitZ());
    voice.finish();
    std::vector<double> sound(16384, 0.0);
    for (std::size_t i = 0; i < sound.size(); i += ModalBank::kInterval)
      (void)voice.render(std::span(sound).subspan(i, ModalBank::kInterval));
    double low = 1000 / std::cbrt(2.0);
    for (double& band : power) {
      band += test::band_power(sound, 48000, low, low * std::cbrt(2.0));
      low *= std::cbrt(2.0);
    }
  }
  return power;
}

std::vector<Plate> plates()
{
  Plate steel;
  steel.material = {.name = "steel",
                    .density = 7850,
                    .young = 2e11,
                    .poisson = 0.29,
                    .damping = {.alpha = 5, .beta = 3e-8}};
  Plate thin;
  thin.thickness = 0.006;
  return {Plate{}, steel, thin};
}

// The level of each third octave of what is heard of blows anywhere: of 60 modes and their tail, and of all.
TEST(ModeTail, SoundsAsLoudInEveryBandAsTheModesForWhichItStands)
{
  for (const Plate& plate : plates()) {
    const std::vector<Vec3> where = places(plate, 48);
    const std::vector<double> all = bands(sound_of(plate, 5000, false), where);
    const std::vector<double> tail = bands(sound_of(plate, 60, true), where);
    const std::vector<double> few = bands(sound_of(plate, 60, false), where);
    const double highest = sound_of(plate, 60, false)->modes().omegas[59] / (2 * kPi);
    double low = 1000 / std::cbrt(2.0);
    for (std::size_t b = 0; b < all.size(); ++b, low *= std::cbrt(2.0)) {
      EXPECT_NEAR(10 * std::log10(tail[b] / all[b]), 0, 2.5)
          << plate.material.name << " from " << low << " Hz";
      if (low > highest) {
        EXPECT_LT(10 * std::log10(few[b] / all[b]), -15) << plate.material.name << " from " << low << " Hz";
      }
    }
  }
}

// The speed that an impact leaves in the plate: its mobility in the mean.
TEST(ModeTail, GivesWayToAnImpactAsMuch)
{
  for (const Plate& plate : plates()) {
    const auto all_modes = sound_of(plate, 5000, false);
    const auto with_tail = sound_of(plate, 60, true);
    const auto without = sound_of(plate, 60, false);
    double all = 0, tail = 0, few = 0;
    for (const Vec3& place : places(plate, 40)) {
      all += modal_inverse_mass(*all_modes, place, Vec3::UnitZ(), 3e-4);
      tail += modal_inverse_mass(*with_tail, place, Vec3::UnitZ(), 3e-4);
      few += modal_inverse_mass(*without, place, Vec3::UnitZ(), 3e-4);
    }
    EXPECT_NEAR(tail / all, 1, 0.15) << plate.material.name;
    EXPECT_LT(few / all, 0.9) << plate.material.name;
  }
}

// A contact damps a mode by what this mode moves there, not by what the r for which it stands do together.
TEST(ModeTail, IsDampedByContactsAsTheModesBelowIt)
{
  const Plate plate;
  const auto model = sound_of(plate, 60, true);
  double known = 0, tail = 0;
  for (const Vec3& place : places(plate, 60)) {
    std::vector<double> damping(model->mode_count(), 0.0);
    add_contact_damping(model->shapes_at(place), Vec3::UnitZ(), 1, 0.5, 1, damping);
    for (std::size_t m = 30; m < damping.size(); ++m) {
      const double of_mode = damping[m] / model->counts()[m];
      if (m < 60) {
        known += of_mode / 30;
      } else {
        tail += of_mode / static_cast<double>(damping.size() - 60);
      }
    }
  }
  EXPECT_NEAR(tail / known, 1, 0.15);
}

// By its modes a body is a rod, a plate or a solid.
TEST(ModeTail, HasAsManyModesAsTheirDensityGoesOn)
{
  const auto plate = modes_of(Plate{}, 2000);
  for (const double growth : {0.5, 1.0, 2.0, 3.0}) {
    model::ModalModel model = *plate;
    const Index count = 64;
    model.frequencies = VecX(count);
    model.shapes = plate->shapes.leftCols(count);
    for (Index m = 0; m < count; ++m) model.frequencies[m] = 900 * std::pow((m + 1.0) / count, 1 / growth);
    const ModeTail tail(model, count, scalar_radiation(model), {}, 9000);
    double sum = 0, below = 0;
    for (std::size_t i = 0; i < tail.size(); ++i) {
      sum += tail.counts()[i];
      if (tail.omegas()[i] < 2 * kPi * 2700) below += tail.counts()[i];
      EXPECT_GE(tail.omegas()[i], 2 * kPi * 900);
      EXPECT_LE(tail.omegas()[i], 2 * kPi * 9000 * (1 + 1e-12));
      if (i > 0) {
        EXPECT_GE(tail.omegas()[i], tail.omegas()[i - 1]);
      }
    }
    EXPECT_NEAR(sum / (count * (std::pow(10, growth) - 1)), 1, 0.1) << growth;
    EXPECT_NEAR(below / (count * (std::pow(3, growth) - 1)), 1, 0.1) << growth;
    // However many they are, they stay few.
    EXPECT_LE(tail.size(), 11 * ModeTail::kPerThirdOctave) << growth;
  }
}

TEST(ModeTail, IsTheSameEveryTimeAndMovesSmoothlyWithThePlace)
{
  const Plate plate;
  const auto model = sound_of(plate, 60, true);
  ASSERT_GT(model->mode_count(), 60U);
  EXPECT_EQ(model->known_mode_count(), 60U);
  const Vec3 place(0.613, 0.377, plate.thickness / 2);
  const PointShapes here = model->shapes_at(place);
  EXPECT_EQ(here, sound_of(plate, 60, true)->shapes_at(place));
  const PointShapes near = model->shapes_at(place + Vec3(2e-4, 0, 0));
  const PointShapes far = model->shapes_at(place + Vec3(0.3, 0.2, 0));
  const auto count = static_cast<Eigen::Index>(model->mode_count()) - 60;
  EXPECT_LT((here - near).rightCols(count).norm(), 0.02 * here.rightCols(count).norm());
  EXPECT_GT((here - far).rightCols(count).norm(), 0.5 * here.rightCols(count).norm());
  // A plate moves across itself only.
  EXPECT_EQ(here.topRows(2).norm(), 0);
}

// Modes that end where nothing more is heard, and those of which too few are known, have none.
TEST(ModeTail, IsNotAddedWhereItSaysNothing)
{
  const Plate plate;
  EXPECT_EQ(sound_of(plate, 60, false)->mode_count(), 60U);
  EXPECT_EQ(sound_of(plate, 12, true)->mode_count(), 12U);
  EXPECT_EQ(sound_of(plate, 5000, true)->mode_count(), sound_of(plate, 5000, false)->mode_count());
}

}  // namespace
}  // namespace thrum::sound
