// SPDX-License-Identifier: MIT
// A thin steel plate against the coupled reference: successive blows on a plate that still rings, any
// restitution, and models with few and with many modes.
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

// `automatic` takes micro-collisions where the modes go up to what the blow excites, and exchange where they
// do not: with 20 modes, up to 0.8 kHz, micro-collisions give 0.62 of the reference and a median factor of
// 1.8. With 10 modes, up to 0.4 kHz, the rest of the modes is missed by any rule.
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
  while (cases.size() < 24) {
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

}  // namespace
}  // namespace thrum::vibration
