// SPDX-License-Identifier: MIT
#include "thrum/elastic/contact_spring.h"

#include <gtest/gtest.h>

#include <cmath>

namespace thrum::elastic {
namespace {

// x'' + 2 z x' + x = 0 from x = 0 with speed 1 into the spring, until the force x + 2 z x' no longer pushes.
double followed(double z)
{
  constexpr double kStep = 1e-5;
  double x = 0, v = 1;
  while (x + 2 * z * v > 0) {
    const double middle_x = x + kStep / 2 * v;
    const double middle_v = v - kStep / 2 * (x + 2 * z * v);
    x += kStep * middle_v;
    v -= kStep * (middle_x + 2 * z * middle_v);
  }
  return -v;
}

TEST(ContactSpring, BouncesAsTheSpringAndDashpotDo)
{
  for (const double z : {0.01, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0})
    EXPECT_NEAR(spring_restitution(z), followed(z), 1e-4) << z;
}

TEST(ContactSpring, DampingIsTheInverseOfRestitution)
{
  for (const double e : {0.003, 0.02, 0.15, 0.333, 0.5, 0.77, 0.99})
    EXPECT_NEAR(spring_restitution(damping_ratio(e)), e, 1e-3) << e;
  EXPECT_EQ(damping_ratio(1), 0);
  EXPECT_LT(spring_restitution(damping_ratio(0)), 0.003);
}

}  // namespace
}  // namespace thrum::elastic
