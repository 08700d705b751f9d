// SPDX-License-Identifier: MIT
// The rows of a patch, against their definition point by point.
#include "thrum/rigid/contact_patch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "thrum/base/index.h"
#include "thrum/rigid/contact_place.h"

namespace thrum::rigid {
namespace {

/// Rounding of a row: some units in the last place of a float, of arms of up to 2 m.
constexpr double kRounding = 1e-6;

Vec3 lane(const std::array<Rows, 3>& rows, Eigen::Index i)
{
  return {static_cast<double>(rows[0][i]), static_cast<double>(rows[1][i]), static_cast<double>(rows[2][i])};
}

// Contacts of one to four points, near the origin and a kilometre away from it, where a float knows a place
// to 0.06 mm only.
TEST(ContactPatch, RowsAreTheirDefinitionAlsoFarFromTheOrigin)
{
  std::mt19937 random(2003);
  std::normal_distribution<double> normal;
  const auto vector = [&] {
    return Vec3(normal(random), normal(random), normal(random));
  };
  for (int trial = 0; trial < 400 && !HasFailure(); ++trial) {
    const Vec3 origin = trial % 2 == 0 ? Vec3::Zero() : Vec3(1000, -700, 400);
    model::ContactPatch contact;
    contact.count = static_cast<std::uint8_t>(1 + trial % 4);
    contact.normal = vector().normalized();
    for (model::ContactPoint& point : contact.points) {  // also those without a number
      point.position = origin + 0.3 * vector();
      point.depth = 0.01 * normal(random);
    }
    SolverBody a;
    SolverBody b;
    a.inverse_mass = trial % 3 == 0 ? 0 : 1;
    b.inverse_mass = trial % 3 == 1 ? 0 : 1;
    // Some on a large ground, whose centre is far from the contact.
    const Vec3 xa = origin + (trial % 5 == 0 ? Vec3(800, -300, 2) : Vec3(0.3 * vector()));
    const double rounding_a = kRounding * std::max(1.0, (xa - origin).norm());
    const Vec3 xb = origin + 0.3 * vector();
    const model::Surface surface{0, 0.4, 0.01, 0.02};
    SolverPatch p;
    PatchRecord record;
    set_rows(contact, {}, a, xa, b, xb, surface, p, record);

    const Vec3& n = contact.normal;
    Vec3 centre = Vec3::Zero();
    std::array<Vec3, 4> places;
    for (int i = 0; i < contact.count; ++i) {
      places[at(i)] = acting_place(contact.points[at(i)].position, contact.points[at(i)].depth, n, a, b);
      centre += places[at(i)] / contact.count;
    }
    double reach = 0;
    for (int i = 0; i < 4; ++i) {
      const bool is_point = i < contact.count;
      const Vec3 place = contact.points[at(i)].position;
      const Vec3 zero = Vec3::Zero();
      EXPECT_LT((lane(p.linear, i) - (is_point ? n : zero)).norm(), kRounding);
      EXPECT_LT((lane(p.arm_a, i) - (is_point ? Vec3((place - xa).cross(n)) : zero)).norm(), rounding_a);
      EXPECT_LT((lane(p.arm_b, i) - (is_point ? Vec3((place - xb).cross(n)) : zero)).norm(), kRounding);
      const double from_centre = is_point ? (places[at(i)] - centre).norm() : 0.0;
      const double twist_arm = is_point ? 0.4 * from_centre + surface.spinning_friction : 0.0;
      EXPECT_NEAR(static_cast<double>(p.twist_arm[i]), twist_arm, kRounding);
      reach = std::max(reach, from_centre);
    }
    EXPECT_NEAR(static_cast<double>(p.friction_reach[2]), reach, kRounding);
    EXPECT_LT((record.ra - (centre - xa)).norm(), 1e-9);
    EXPECT_LT((record.rb - (centre - xb)).norm(), 1e-9);
    const std::array<Vec3, 2> tangents{record.t1, record.t2};
    for (std::size_t k = 0; k < 2; ++k) {
      const Eigen::Index i = kFirstTangent + static_cast<Eigen::Index>(k);
      EXPECT_LT((lane(p.linear, i) - tangents[k]).norm(), kRounding);
      EXPECT_LT((lane(p.arm_a, i) - record.ra.cross(tangents[k])).norm(), rounding_a);
      EXPECT_LT((lane(p.arm_b, i) - record.rb.cross(tangents[k])).norm(), kRounding);
    }
    EXPECT_EQ(lane(p.linear, kTwist).norm(), 0);
    EXPECT_LT((lane(p.arm_a, kTwist) - n).norm(), kRounding);
    EXPECT_LT((lane(p.arm_b, kTwist) - n).norm(), kRounding);
    for (const std::array<Rows, 3>* rows : {&p.linear, &p.arm_a, &p.arm_b})
      EXPECT_EQ(lane(*rows, 7).norm(), 0);
  }
}

// The turning impulse that it gives is across the normal, and stops what rolls there.
TEST(ContactPatch, RollingMassStopsRollingOfABallAndLeavesItsSpin)
{
  SolverBody ball;
  ball.inverse_mass = 1;
  ball.inverse_inertia = Mat3::Identity() / 0.4;
  const Vec3 n = Vec3(0.3, -0.2, 0.9).normalized();
  const Mat3 mass = rolling_mass_of(SolverBody{}, ball, n);
  const Vec3 w(1, 2, 3);
  const Vec3 left = w - ball.inverse_inertia * (mass * w);
  EXPECT_NEAR((left - n * n.dot(w)).norm(), 0, 1e-12);
}

}  // namespace
}  // namespace thrum::rigid
