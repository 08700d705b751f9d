// SPDX-License-Identifier: MIT
// The time budget of `automatic` decides how exact it is, never whether it is right: kicks on a steel plate
// against a coupled run with 400 modes, for models of 20 to 400 modes, restitutions from 0 to 1, and budgets
// that suffice, that do not, and none at all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/vibration/coupled_plate.h"
#include "thrum/base/random.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {
namespace {

constexpr int kCases = 24;
constexpr double kMinReference = 0.01;  // slower bodies are not judged [m/s]
constexpr double kNoKick = 1e-3;        // stands for a kick that is not given [m/s]

PlateSize large_steel_plate(int modes)
{
  PlateSize size = steel_plate(modes);
  size.a = 1.1;
  size.b = 0.8;
  size.h = 0.009;
  return size;
}

struct Case {
  Blow blow;
  RestingBody body;
  double reference = 0;
};

std::vector<Case> make_cases(double restitution, double window)
{
  const PlateSize size = large_steel_plate(400);
  const CoupledPlate plate(size, restitution);
  base::Random random(4);
  const auto place = [&] {
    return Vec3(random.uniform(0.1, 0.9) * size.a, random.uniform(0.1, 0.9) * size.b, 0);
  };
  std::vector<Case> cases;
  for (int i = 0; i < kCases; ++i) {
    Case one;
    one.blow = {0, place(), std::pow(10, random.uniform(-0.5, 0.5)), random.uniform(1, 3)};
    one.body = {place(), random.uniform(0.05, 0.5)};
    one.reference = plate.speeds({one.blow}, one.body, window)[0];
    if (one.reference > kMinReference) cases.push_back(one);
  }
  return cases;
}

// In height: the mean within a factor of 2, half of the bodies within 2.6. With restitution 1 `exchange` is
// 10 times too high in the mean; `peak_velocity`, which a budget used to lead to, gives nothing at all there.
TEST(TimeBudget, DoesNotMakeTheKicksOfAutomaticWrong)
{
  ResponseSettings settings;
  settings.min_kick = 1e-4;
  settings.window = 0.02;
  for (const double e : {0.0, 0.15, 0.5, 1.0}) {
    const std::vector<Case> cases = make_cases(e, settings.window);
    EXPECT_GT(cases.size(), 20U);
    for (const int modes : {20, 60, 150, 400}) {
      for (const double budget : {1.0, 2e-3, 0.0}) {
        settings.time_budget = budget;
        ModalResponse response(plate_model(large_steel_plate(modes)), settings);
        std::vector<double> factors;
        double logarithms = 0;
        for (const Case& one : cases) {
          const double speed = response_speeds(response, {one.blow}, one.body, e)[0];
          const double ratio = std::pow(std::max(speed, kNoKick) / one.reference, 2);
          logarithms += std::log(ratio);
          factors.push_back(std::max(ratio, 1 / ratio));
        }
        std::sort(factors.begin(), factors.end());
        const double bias = std::exp(logarithms / static_cast<double>(factors.size()));
        const double median = factors[factors.size() / 2];
        const std::string name = fmt::format("{} modes, restitution {}, budget {} s", modes, e, budget);
        RecordProperty(fmt::format("height_{}_{}_{}", modes, e, budget),
                       fmt::format("{:.2f} {:.2f}", bias, median));
        EXPECT_GT(bias, 0.5) << name;
        EXPECT_LT(bias, 2) << name;
        EXPECT_LT(median, 2.6) << name;
      }
    }
  }
}

// What does not fit is said, and what fits is not.
TEST(TimeBudget, IsExceededOnlyWithAWord)
{
  ResponseSettings settings;
  settings.window = 0.02;
  std::vector<double> times;
  for (const double budget : {1.0, 1e-3, 1e-5}) {
    settings.time_budget = budget;
    ModalResponse response(plate_model(large_steel_plate(400)), settings);
    ModeState state = response.at_rest();
    ContactScene scene;
    scene.strike({0.3, 0.3, 0}, 1, 2, 0.5);
    scene.rest({0.8, 0.5, 0}, 0.1, 0.5);
    times.push_back(response.respond(scene.input(), state).over_budget);
    EXPECT_EQ(state.q.size(), 400);
  }
  EXPECT_EQ(times[0], 0);
  EXPECT_EQ(times[1], 0);  // savings were enough
  EXPECT_GT(times[2], 1e-5);
  EXPECT_LT(times[2], 1e-3);
}

}  // namespace
}  // namespace thrum::vibration
