// SPDX-License-Identifier: MIT
// Both forms of what sweeps do to a patch give the same bits.
#include "thrum/rigid/patch_kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace thrum::rigid {
namespace {

/// A patch between two bodies of random place, mass and motion.
struct PatchCase {
  SolverPatch patch;
  PatchMasses masses;
  PatchRecord record;
  SolverBody a;
  SolverBody b;
};

class RandomCases {
 public:
  explicit RandomCases(unsigned seed) : random_(seed) {}

  PatchCase next()
  {
    PatchCase c;
    model::ContactPatch contact;
    contact.count = static_cast<std::uint8_t>(1 + random_() % 4);
    contact.normal = vector().normalized();
    for (model::ContactPoint& point : contact.active()) point.position = 0.3 * vector();
    const Vec3 xb = vector();
    c.a = body(random_() % 4 == 0);
    c.b = body(false);
    model::Surface surface;
    surface.friction = random_() % 5 == 0 ? 0.0 : 0.5 * std::abs(number());
    surface.rolling_friction = random_() % 3 == 0 ? 0.01 : 0.0;
    surface.spinning_friction = random_() % 3 == 0 ? 0.01 : 0.0;
    set_rows(contact, {}, c.a, -xb, c.b, xb, surface, c.patch, c.record);
    const double cfm = random_() % 2 == 0 ? 0.0 : 0.1;
    const bool hold_a = random_() % 4 == 0;
    set_masses(c.patch, c.a, c.b, hold_a, !hold_a && random_() % 4 == 0, cfm, c.masses);
    c.patch.rolls = surface.rolling_friction > 0;
    c.record.rolling = surface.rolling_friction;
    if (c.patch.rolls) c.record.rolling_mass = (c.a.inverse_inertia + c.b.inverse_inertia).inverse();
    c.patch.slide.setZero();
    c.patch.bias.setZero();
    c.patch.lambda.setZero();
    c.patch.gap = c.patch.target = Lanes::Zero();
    for (int i = 0; i < c.patch.count; ++i) {
      if (random_() % 3 != 0) c.patch.lambda[i] = static_cast<RowReal>(std::abs(number()));
      c.patch.gap[i] = static_cast<RowReal>(1e-3 * number());
      if (random_() % 4 == 0) c.patch.target[i] = static_cast<RowReal>(std::abs(number()));
    }
    return c;
  }

 private:
  double number() { return distribution_(random_); }
  Vec3 vector() { return {number(), number(), number()}; }
  SolverBody body(bool is_fixed)
  {
    SolverBody body;
    body.v = vector();
    body.w = vector();
    body.dx = 1e-3 * vector();
    body.dth = 1e-3 * vector();
    if (is_fixed) return body;
    body.inverse_mass = 0.1 + std::abs(number());
    const Mat3 root = (Mat3() << vector(), vector(), vector()).finished();
    body.inverse_inertia = root * root.transpose() + Mat3::Identity();
    return body;
  }

  std::mt19937 random_;
  std::normal_distribution<double> distribution_;
};

template <class T>
::testing::AssertionResult has_same_bits(const T& x, const T& y)
{
  if (std::memcmp(x.data(), y.data(), sizeof(*x.data()) * static_cast<std::size_t>(x.size())) == 0)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << x.transpose() << " and " << y.transpose();
}

void expect_same_bits(const PatchCase& x, const PatchCase& y)
{
  EXPECT_TRUE(has_same_bits(x.patch.lambda, y.patch.lambda));
  EXPECT_TRUE(has_same_bits(x.patch.bias, y.patch.bias));
  EXPECT_TRUE(has_same_bits(x.patch.gap_now, y.patch.gap_now));
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_TRUE(has_same_bits(x.patch.arm_a[k], y.patch.arm_a[k]));
    EXPECT_TRUE(has_same_bits(x.patch.arm_b[k], y.patch.arm_b[k]));
  }
  EXPECT_TRUE(has_same_bits(x.record.rolling_impulse, y.record.rolling_impulse));
  for (const auto& [p, q] : {std::pair(&x.a, &y.a), std::pair(&x.b, &y.b)}) {
    EXPECT_TRUE(has_same_bits(p->v, q->v));
    EXPECT_TRUE(has_same_bits(p->w, q->w));
    // What follows the velocities in memory stays as it is.
    EXPECT_EQ(p->inverse_mass, q->inverse_mass);
    EXPECT_TRUE(has_same_bits(p->inverse_inertia, q->inverse_inertia));
  }
}

TEST(PatchKernels, BothFormsGiveTheSameBits)
{
  const PatchKernels* wide = avx2_patch_kernels();
  if (wide == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  const PatchKernels& portable = portable_patch_kernels();
  const BiasValues bias{240, 1e5F};
  RandomCases cases(1);
  int moved = 0;
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    PatchCase one = cases.next();
    PatchCase other = one;
    const SolverBody before = one.b;
    const SweepValues s{2, 1 + i % 2, i % 3 == 0 ? FrictionCone::box : FrictionCone::cone};
    portable.set_bias(one.patch, one.a, one.b, bias);
    wide->set_bias(other.patch, other.a, other.b, bias);
    portable.apply(one.patch, one.masses, one.a, one.b, one.patch.lambda);
    wide->apply(other.patch, other.masses, other.a, other.b, other.patch.lambda);
    // A few visits: sticking, sliding, points that part, nothing to do.
    for (int visit = 0; visit < 4; ++visit) {
      const RowReal p = portable.solve(one.patch, one.masses, one.record, one.patch.lambda,
                                       one.record.rolling_impulse, one.a, one.b, s);
      const RowReal q = wide->solve(other.patch, other.masses, other.record, other.patch.lambda,
                                    other.record.rolling_impulse, other.a, other.b, s);
      EXPECT_EQ(p, q);
    }
    expect_same_bits(one, other);
    moved += one.b.v != before.v ? 1 : 0;
  }
  EXPECT_GT(moved, 10000);
}

}  // namespace
}  // namespace thrum::rigid
