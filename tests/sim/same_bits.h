// SPDX-License-Identifier: MIT
// Whether two bodies move alike to the last bit.
#pragma once

#include <cstring>

#include "thrum/model/body.h"

namespace thrum::sim::testing {

inline bool same_bits(const model::BodyState& a, const model::BodyState& b)
{
  const auto equal = [](const auto& x, const auto& y) {
    return std::memcmp(x.data(), y.data(), sizeof(double) * x.size()) == 0;
  };
  return equal(a.X_wb.position, b.X_wb.position) &&
         equal(a.X_wb.rotation.coeffs(), b.X_wb.rotation.coeffs()) && equal(a.velocity, b.velocity) &&
         equal(a.angular_velocity, b.angular_velocity) && a.asleep == b.asleep;
}

}  // namespace thrum::sim::testing
