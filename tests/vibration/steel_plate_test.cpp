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

}  // namespace
}  // namespace thrum::vibration
