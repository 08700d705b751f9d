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

// Eq. (3): the Cayley transform alone turns by 2 atan(h w / 2), 2 % too little at 0.5 rad.
TEST(AdvanceSpin, TurnsByItsSpeedAboutAPrincipalAxis)
{
  const Mat3 inertia = Vec3(0.3, 0.5, 0.7).asDiagonal();
  const Quat start(Eigen::AngleAxisd(0.4, Vec3(1, 2, 3).normalized()));
  for (int axis = 0; axis < 3; ++axis) {
    for (const double angle : {1e-7, 1e-3, 0.1, 0.49, 0.51, 2.0, 8.0, 31.0}) {
      for (const double h : {1.0 / 30, 1.0 / 1000}) {
        const Vec3 w = angle / h * (start * Vec3(Vec3::Unit(axis)));
        const Quat turned(Eigen::AngleAxisd(angle, w.normalized()));
        EXPECT_LT((turned * start).angularDistance(advance_rotation(start, w, h)), 1e-12) << angle;
        EXPECT_LT((turned * start).angularDistance(advance_spin(inertia, start, w, h).rotation), 1e-9)
            << angle;
      }
    }
  }
}

// Its axis goes round the angular momentum at L / I1, at any turn in a step.
TEST(AdvanceSpin, ASymmetricTopPrecessesAtTheKnownRateInLongSteps)
{
  const Mat3 inertia = Vec3(2.0, 2.0, 1.0).asDiagonal();
  const Vec3 w0(0.5, 0, 3.0);
  const Vec3 L = inertia * w0;
  for (const double h : {0.01, 0.04, 0.16}) {
    Quat q = Quat::Identity();
    Vec3 w = w0;
    const int steps = static_cast<int>(std::lround(1.6 / h));
    for (int i = 0; i < steps; ++i) {
      const SpinMidpoint spin = advance_spin(inertia, q, w, h);
      q = spin.rotation;
      w = spin.w_after;
    }
    // The body goes round with its axis, and turns about it by w3 (I1 - I3) / I1.
    const Quat precession(Eigen::AngleAxisd(1.6 * L.norm() / 2, L.normalized()));
    const Quat expected = precession * Quat(Eigen::AngleAxisd(1.6 * w0.z() / 2, Vec3::UnitZ()));
    // Errors go with the square of the turn in a step, h |w|; without (3) they are 2.3 and 8 times as large.
    const double turn = h * w0.norm();
    EXPECT_LT((q * Vec3::UnitZ() - precession * Vec3::UnitZ()).norm(), 0.06 * turn * turn) << h;
    EXPECT_LT(q.angularDistance(expected), 0.06 * turn * turn) << h;
  }
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

// Whatever the turn in a step: plates, rods and bricks about all axes, at 1 to 2000 rad/s.
TEST(AdvanceSpin, KeepsEnergyAndMomentumOfFastSpin)
{
  for (const Vec3& moments : {Vec3(0.03, 0.08, 0.11), Vec3(0.001, 0.2, 0.2), Vec3(0.3, 0.5, 0.7)}) {
    const Mat3 inertia = moments.asDiagonal();
    for (const double speed : {1.0, 30.0, 200.0, 600.0, 2000.0}) {
      for (const double h : {1.0 / 25, 1.0 / 60, 1.0 / 333}) {
        for (int axis = 0; axis < 3; ++axis) {
          Quat q = Quat(Eigen::AngleAxisd(0.4, Vec3(1, 2, 3).normalized()));
          Vec3 w = speed * (Vec3(Vec3::Unit(axis)) + Vec3(0.01, 0.02, -0.03));
          const Mat3 R0 = q.toRotationMatrix();
          const Vec3 L = R0 * inertia * R0.transpose() * w;
          const double energy = w.dot(L);
          for (int step = 0; step < 200; ++step) {
            const SpinMidpoint spin = advance_spin(inertia, q, w, h);
            q = spin.rotation;
            w = spin.w_after;
          }
          const Mat3 R = q.toRotationMatrix();
          const Vec3 now = R * inertia * R.transpose() * w;
          EXPECT_NEAR((now - L).norm() / L.norm(), 0, 1e-8) << speed << " rad/s, 1/" << 1 / h << " s";
          EXPECT_NEAR(w.dot(now) / energy, 1, 1e-8) << speed << " rad/s, 1/" << 1 / h << " s";
        }
      }
    }
  }
}

// Lifted by h push against its acceleration a, a body loses m a.(h push) of its kinetic energy, both parts
// alike.
TEST(RemoveLiftEnergy, RemovesEnergyFromTranslationAndSpin)
{
  SolverBody body;
  body.inverse_mass = 1 / 3.0;
  const Mat3 inertia = Vec3(0.4, 0.7, 0.2).asDiagonal();
  body.inverse_inertia = inertia.inverse();
  body.acceleration = {0, 0, -9.81};
  body.v = {0.3, -0.2, 0.1};
  body.w = {0.5, 1.0, -0.7};
  const auto energy = [&] {
    return 0.5 * 3.0 * body.v.squaredNorm() + 0.5 * body.w.dot(inertia * body.w);
  };
  const double before = energy();
  const Vec3 v = body.v;
  const double h = 0.004;
  const double push = 0.5;
  remove_lift_energy(body, {0.2, 0, push}, h);
  EXPECT_NEAR(before - energy(), 3.0 * 9.81 * push * h, 1e-12);
  EXPECT_NEAR(body.v.cross(v).norm(), 0, 1e-12);
  // Going down is free, and who has too little stops.
  const Vec3 kept = body.w;
  remove_lift_energy(body, {0, 0, -push}, h);
  EXPECT_EQ(body.w, kept);
  remove_lift_energy(body, {0, 0, 100 * push}, h);
  EXPECT_EQ(energy(), 0);
}

}  // namespace
}  // namespace thrum::rigid
