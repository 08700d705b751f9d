// SPDX-License-Identifier: MIT
#include "thrum/base/random.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "thrum/base/error.h"

namespace thrum::base {
namespace {

// The published first outputs of xoshiro256** from the state (1, 2, 3, 4).
TEST(Random, GivesThePublishedSequence)
{
  Random random = Random::from_state({1, 2, 3, 4});
  for (const std::uint64_t expected : {11520ull, 0ull, 1509978240ull, 1215971899390074240ull,
                                       1216172134540287360ull, 607988272756665600ull}) {
    EXPECT_EQ(random.bits(), expected);
  }
}

// The published first outputs of splitmix64 from the seed 1234567.
TEST(SplitMix, GivesThePublishedSequence)
{
  std::uint64_t state = 1234567;
  EXPECT_EQ(splitmix64(state), 6457827717110365317ull);
  EXPECT_EQ(splitmix64(state), 3203168211198807973ull);
  EXPECT_EQ(splitmix64(state), 9817491932198370423ull);
}

TEST(Random, ContinuesFromASavedState)
{
  Random random(7);
  for (int i = 0; i < 10; ++i) static_cast<void>(random.normal());
  Random resumed = Random::from_state(random.state());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.normal(), resumed.normal());
  EXPECT_THROW(static_cast<void>(Random::from_state({})), Error);
}

TEST(Random, StreamsAndSeedsAreIndependent)
{
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    for (std::uint64_t stream = 0; stream < 40; ++stream) first.insert(Random(seed, stream).bits());
  }
  Random parent(3);
  for (int i = 0; i < 100; ++i) first.insert(parent.split().bits());
  EXPECT_EQ(first.size(), 1700u);
}

// For n draws the mean of a quantity with standard deviation s lies within 5 s / sqrt(n) except for one in
// two million seeds.
TEST(Random, MomentsOfUniformAndNormalAreTheExactOnes)
{
  Random random(1);
  const int n = 200000;
  double uniform_sum = 0, uniform_squares = 0, normal_sum = 0, normal_squares = 0, normal_fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform_sum += u;
    uniform_squares += u * u;
    const double x = random.normal();
    normal_sum += x;
    normal_squares += x * x;
    normal_fourth += x * x * x * x;
  }
  const double root_n = std::sqrt(n);
  EXPECT_NEAR(uniform_sum / n, 0.5, 5 * std::sqrt(1.0 / 12) / root_n);
  EXPECT_NEAR(uniform_squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45) / root_n);
  EXPECT_NEAR(normal_sum / n, 0, 5 / root_n);
  EXPECT_NEAR(normal_squares / n, 1, 5 * std::sqrt(2.0) / root_n);
  EXPECT_NEAR(normal_fourth / n, 3, 5 * std::sqrt(96.0) / root_n);
}

// The components of a uniform direction are uniform in [-1, 1] (Archimedes): mean 0, variance 1/3.
TEST(Random, DirectionsAreUnitAndUniform)
{
  Random random(2);
  const int n = 50000;
  Vec3 sum = Vec3::Zero();
  Mat3 squares = Mat3::Zero();
  for (int i = 0; i < n; ++i) {
    const Vec3 d = random.direction();
    ASSERT_NEAR(d.norm(), 1, 1e-15);
    sum += d;
    squares += d * d.transpose();
  }
  EXPECT_LT((sum / n).norm(), 5 / std::sqrt(n));
  EXPECT_LT((squares / n - Mat3::Identity() / 3).norm(), 5 / std::sqrt(n));
}

// A uniform rotation maps any fixed direction to a uniform one.
TEST(Random, RotationsAreUnitAndUniform)
{
  Random random(3);
  const int n = 50000;
  Vec3 sum = Vec3::Zero();
  double real_squares = 0;
  for (int i = 0; i < n; ++i) {
    const Quat q = random.rotation();
    ASSERT_NEAR(q.norm(), 1, 1e-15);
    sum += q * Vec3(1, 2, 2) / 3;
    real_squares += q.w() * q.w();
  }
  EXPECT_LT((sum / n).norm(), 5 / std::sqrt(n));
  EXPECT_NEAR(real_squares / n, 0.25, 5 * 0.25 / std::sqrt(n));
}

TEST(Random, IndicesAreEquallyLikely)
{
  Random random(4);
  std::array<int, 7> counts{};
  const int n = 70000;
  for (int i = 0; i < n; ++i) ++counts[random.index(counts.size())];
  for (const int c : counts) EXPECT_NEAR(c, n / 7.0, 5 * std::sqrt(n * 6.0 / 49));
}

RC_GTEST_PROP(Random, IntegersStayInTheirRange, (std::int64_t a, std::int64_t b))
{
  Random random(static_cast<std::uint64_t>(a));
  const std::int64_t x = random.integer(std::min(a, b), std::max(a, b));
  RC_ASSERT(x >= std::min(a, b) && x <= std::max(a, b));
}

TEST(Random, ShuffleKeepsTheElementsAndReachesEveryOrderEquallyOften)
{
  Random random(5);
  std::array<int, 6> seen{};
  const int n = 12000;
  for (int i = 0; i < n; ++i) {
    std::array<int, 3> order{0, 1, 2};
    random.shuffle(std::span<int>(order));
    ASSERT_EQ(order[0] + order[1] + order[2], 3);
    ++seen[static_cast<std::size_t>(order[0] * 2 + (order[1] > order[2] ? 1 : 0))];
  }
  for (const int c : seen) EXPECT_NEAR(c, n / 6.0, 5 * std::sqrt(n * 5.0 / 36));
}

RC_GTEST_PROP(PortableLog, AgreesWithTheLibrary, ())
{
  const double exponent = *rc::gen::inRange(-300, 300);
  const double mantissa = 1 + *rc::gen::inRange(0, 1000000) * 1e-6;
  const double x = mantissa * std::pow(2.0, exponent);
  RC_ASSERT(std::abs(portable_log(x) - std::log(x)) <= 1e-15 * std::max(1.0, std::abs(std::log(x))));
}

}  // namespace
}  // namespace thrum::base
