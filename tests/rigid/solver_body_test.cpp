// SPDX-License-Identifier: MIT
#include "thrum/rigid/solver_body.h"

#include <gtest/gtest.h>

namespace thrum::rigid {
namespace {

// Eq. (1) and (2) of solver_body.cpp: energy and the vector of angular momentum do not change; the handle
// flips.
TEST(AdvanceSpin, KeepsEnergyAndAngularMomentumWhileAHandleFlips)
{
  const Mat3 inertia = Vec3(1.0, 2.0, 3.5).asDiagonal();
  Quat q = Quat::Identity();
  Vec3 w(1e-3, 6.0, 1e-3);  // about the intermediate axis
  const Vec3 L0 = inertia * w;
  const double E0 = 0.5 * w.dot(inertia * w);
  int flips = 0;
  double side = 1;
  for (int step = 0; step < 240 * 20; ++step) {
    const double h = 1.0 / 240;
    const SpinMidpoint spin = advance_spin(inertia, q, w, h);
    q = advance_rotation(q, spin.w_mid, h);
    w = spin.w_after;
    const double along = (q.conjugate() * L0.normalized()).y();
    if (std::abs(along) > 0.9 && along * side < 0) {
      ++flips;
      side = -side;
    }
  }
  const Mat3 R = q.toRotationMatrix();
  EXPECT_NEAR((R * inertia * R.transpose() * w - L0).norm() / L0.norm(), 0, 1e-9);
  EXPECT_NEAR(0.5 * w.dot(R * inertia * R.transpose() * w) / E0, 1, 1e-9);
  EXPECT_GE(flips, 3);
}

// A symmetric top precesses about its angular momentum at L / I1.
TEST(AdvanceSpin, ASymmetricTopPrecessesAtTheKnownRate)
{
  const Mat3 inertia = Vec3(2.0, 2.0, 1.0).asDiagonal();
  Quat q = Quat::Identity();
  Vec3 w(0.5, 0, 3.0);
  const Vec3 L = inertia * w;
  const double rate = L.norm() / 2.0;
  const double h = 1.0 / 960;
  const Vec3 axis0 = q * Vec3::UnitZ();
  const int steps = static_cast<int>(std::lround(2 * 3.141592653589793 / rate / h));
  for (int i = 0; i < steps; ++i) {
    const SpinMidpoint spin = advance_spin(inertia, q, w, h);
    q = advance_rotation(q, spin.w_mid, h);
    w = spin.w_after;
  }
  EXPECT_NEAR((q * Vec3::UnitZ() - axis0).norm(), 0, 2e-3);
}

}  // namespace
}  // namespace thrum::rigid
