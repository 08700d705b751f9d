// SPDX-License-Identifier: MIT
// Names of the parameters of tests that are run with several steppers or times of impact.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "thrum/sim/world.h"

namespace thrum::sim::testing {

inline std::string stepper_name(const ::testing::TestParamInfo<StepperKind>& info)
{
  switch (info.param) {
    case StepperKind::constraint:
      return "Constraint";
    case StepperKind::impulse:
      return "Impulse";
    case StepperKind::penalty:
      return "Penalty";
    case StepperKind::flexible:
      return "Flexible";
  }
  return {};
}

inline std::string method_name(TimeOfImpactMethod method)
{
  switch (method) {
    case TimeOfImpactMethod::none:
      return "None";
    case TimeOfImpactMethod::continuous:
      return "Continuous";
    case TimeOfImpactMethod::bisection:
      return "Bisection";
    case TimeOfImpactMethod::conservative:
      return "Conservative";
    case TimeOfImpactMethod::timewarp:
      return "Timewarp";
  }
  return {};
}

}  // namespace thrum::sim::testing
