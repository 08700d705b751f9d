// SPDX-License-Identifier: MIT
// A thin steel plate against the coupled reference: successive blows on a plate that still rings, any
// restitution, and models with few and with many modes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/vibration/coupled_plate.h"
#include "thrum/base/random.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {
namespace {

constexpr double kMinReference = 0.01;  // slower bodies are not judged [m/s]
constexpr double kNoKick = 1e-3;        // stands for a kick that is not given [m/s]

Vec3 random_place(base::Random& random)
{
  return {random.uniform(0.1, 0.9), random.uniform(0.1, 0.9), 0};
}

double median(std::vector<double> values)
{
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// 1 kg at 2 m/s, four blows at places and phases of their own, 0.1 kg resting. Hops of bodies that bounce
// well are chaotic; what must not happen is energy from nowhere: heights far above all of the reference.
TEST(SteelPlate, SuccessiveBlowsKickAsInTheCoupledRun)
{
  constexpr int kModes = 60;
  ResponseSettings settings;
  settings.rule = KickRule::micro_collisions;
  settings.min_kick = 1e-4;
  settings.window = 0.02;
  settings.micro.tail_modes = false;  // the reference has no faster modes either
  ModalResponse response(plate_model(steel_plate(kModes)), settings);
  base::Random random(5);
  int judged = 0;
  int far_above = 0;
  for (const double e : {0.0, 0.15, 0.5, 0.8, 1.0}) {
    const CoupledPlate plate(steel_plate(kModes), e);
    std::vector<double> factors;
    double highest = 0;
    double highest_reference = 0;
    for (int i = 0; i < 12; ++i) {
      std::vector<Blow> blows;
      for (int b = 0; b < 4; ++b) blows.push_back({b * (0.12 + 0.0013 * i), random_place(random), 1, 2});
      const RestingBody body{random_place(random), 0.1};
      const std::vector<double> reference = plate.speeds(blows, body, settings.window);
      const std::vector<double> speeds = response_speeds(response, blows, body, e);
      for (std::size_t b = 0; b < blows.size(); ++b) {
        highest = std::max(highest, speeds[b]);
        highest_reference = std::max(highest_reference, reference[b]);
        if (reference[b] < kMinReference) continue;
        const double ratio = std::max(speeds[b], kNoKick) / reference[b];
        factors.push_back(std::max(ratio, 1 / ratio));
        ++judged;
        far_above += ratio * ratio > 5 ? 1 : 0;  // in height
      }
    }
    EXPECT_LT(median(factors), 1.8) << "restitution " << e;
    EXPECT_LT(highest, 1.5 * highest_reference) << "restitution " << e;
  }
  EXPECT_GT(judged, 180);
  EXPECT_LE(far_above, judged / 15);
}

// With 10 modes, up to 0.4 kHz, of 66 that the blow excites, nothing is known of where the others lie.
TEST(SteelPlate, AutomaticIsNearTheCoupledRunForAnyNumberOfModes)
{
  constexpr double kRestitution = 0.15;
  ResponseSettings settings;
  settings.min_kick = 1e-4;
  settings.window = 0.02;
  struct Case {
    Blow blow;
    RestingBody body;
    double reference;
  };
  std::vector<Case> cases;
  base::Random random(12);
  const CoupledPlate plate(steel_plate(400), kRestitution);
  while (cases.size() < 96) {
    Case one{{0, random_place(random), 1, random.uniform(1, 3)},
             {random_place(random), random.uniform(0.05, 0.3)},
             0};
    one.reference = plate.speeds({one.blow}, one.body, settings.window)[0];
    if (one.reference > kMinReference) cases.push_back(one);
  }
  for (const auto& [modes, bound] : {std::pair(10, 2.0), {20, 1.5}, {50, 1.5}, {100, 1.5}, {200, 1.5}}) {
    ModalResponse response(plate_model(steel_plate(modes)), settings);
    std::vector<double> factors;
    for (const Case& one : cases) {
      const double speed = response_speeds(response, {one.blow}, one.body, kRestitution)[0];
      const double ratio = std::max(speed, kNoKick) / one.reference;
      factors.push_back(std::max(ratio, 1 / ratio));
    }
    RecordProperty("median_" + std::to_string(modes), std::to_string(median(factors)));
    EXPECT_LT(median(factors), bound) << modes << " modes";
  }
}

// Modes that the model does not have move what rests on the plate as well. `automatic` follows them in the
// mean (diffuse_modes.h) at any restitution. Always `exchange` is 1.7 and 2.7 times too fast at 0.5 and 1;
// micro-collisions without the modes above the highest have 0.7 to 0.8 of the reference at 0.15 and 0.5.
TEST(FewModes, AutomaticHasTheMeanSpeedOfTheCoupledRunAtAnyRestitution)
{
  constexpr int kCases = 40;
  ResponseSettings settings;
  settings.min_kick = 1e-4;
  settings.window = 0.02;
  PlateSize glass = steel_plate(400);
  glass.a = 0.9;
  glass.b = 0.7;
  glass.density = 2600;
  glass.young = 6.2e10;
  glass.poisson = 0.2;
  glass.alpha = 1;
  glass.beta = 1e-7;
  base::Random random(8);
  for (const double e : {0.0, 0.15, 0.5, 1.0}) {
    std::vector<double> factors;
    double logarithms = 0;
    for (const PlateSize& size : {steel_plate(400), glass}) {
      PlateSize few = size;
      few.modes = 10;
      ModalResponse response(plate_model(few), settings);
      const CoupledPlate plate(size, e);
      for (int i = 0; i < kCases; ++i) {
        const auto place = [&] {
          return Vec3(random_place(random).cwiseProduct(Vec3(size.a, size.b, 0)));
        };
        const Blow blow{0, place(), std::pow(10, random.uniform(-0.5, 0.5)), random.uniform(1, 3)};
        const RestingBody body{place(), random.uniform(0.05, 0.5)};
        const double reference = plate.speeds({blow}, body, settings.window)[0];
        if (reference < kMinReference) continue;
        const double ratio = std::max(response_speeds(response, {blow}, body, e)[0], kNoKick) / reference;
        logarithms += std::log(ratio);
        factors.push_back(std::max(ratio, 1 / ratio));
      }
    }
    const double bias = std::exp(logarithms / static_cast<double>(factors.size()));
    RecordProperty(fmt::format("bias_{}", e), fmt::format("{:.3f}", bias));
    RecordProperty(fmt::format("median_{}", e), fmt::format("{:.3f}", median(factors)));
    EXPECT_GT(factors.size(), 60U) << "restitution " << e;
    EXPECT_GT(bias, 0.87) << "restitution " << e;
    EXPECT_LT(bias, 1.2) << "restitution " << e;
    EXPECT_LT(median(factors), 1.7) << "restitution " << e;
  }
}

}  // namespace
}  // namespace thrum::vibration
