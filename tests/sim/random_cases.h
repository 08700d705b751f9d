// SPDX-License-Identifier: MIT
// What tests of many random worlds share: steppers with times of impact as parameters, settings from the
// environment, and draws.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>

#include "tests/sim/parameter_names.h"
#include "thrum/base/random.h"
#include "thrum/base/vec.h"

namespace thrum::sim::testing {

using Way = std::tuple<StepperKind, TimeOfImpactMethod>;

inline std::string way_name(const ::testing::TestParamInfo<Way>& way)
{
  return stepper_name({std::get<0>(way.param), way.index}) + method_name(std::get<1>(way.param));
}

/// The number in a variable of the environment, such as THRUM_ROOM_CASES; `usual` without it.
inline std::uint64_t number_in(const char* variable, std::uint64_t usual)
{
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

/// Evenly in the logarithm.
inline double spread(base::Random& random, double low, double high)
{
  return std::exp(random.uniform(std::log(low), std::log(high)));
}

inline Vec3 any_direction(base::Random& random)
{
  return Vec3(random.normal(), random.normal(), random.normal()).normalized();
}

}  // namespace thrum::sim::testing
