// SPDX-License-Identifier: MIT
#include "thrum/elastic/held_contact_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "thrum/base/random.h"

namespace thrum::elastic {
namespace {

// A ball on an infinite thin plate, whose struck point moves with the speed Y F: restitution, contact time
// and peak force over lambda = m Y / T, T = (m^2 / (K^2 v))^(1/5), by Zener's equation integrated
// independently.
TEST(HeldContactSolver, ABallOnAnInfinitePlateBouncesAsZenerSays)
{
  struct Row {
    double lambda, restitution, duration, force;
  };
  for (const Row& row : {Row{0.05, 0.9178, 0, 0},
                         {0.1, 0.8433, 3.279, 1.0355},
                         {0.2, 0.7140, 0, 0},
                         {0.3, 0.6059, 0, 0},
                         {0.5, 0.4369, 3.625, 0.7502},
                         {0.7, 0.3130, 0, 0},
                         {1.0, 0.1841, 4.388, 0.5562},
                         {1.5, 0.0664, 0, 0},
                         {2.0, 0.0207, 0, 0}}) {
    constexpr double kMass = 4.1e-3;
    const double K = hertz_stiffness(1.1e11, 5e-3);
    const double T = std::pow(kMass * kMass / (K * K), 0.2);
    const double mobility = row.lambda * T / kMass;
    for (const double dt : {0.03 * T, 0.3 * T}) {
      for (const double phase : {0.0, 0.35, 0.7}) {
        const MatX R = MatX::Constant(1, 1, dt * dt / (2 * kMass) + mobility * dt);
        double d = -phase * dt;
        double v = 1;
        double closed = 0;
        double peak = 0;
        HeldContactSolver solver;
        for (int i = 0; i < 10000; ++i) {
          std::vector<ContactStep> contacts{{.contact = {K, 0}, .depth_before = d, .depth_free = d + dt * v}};
          ASSERT_TRUE(solver.solve(R, contacts, {}).converged);
          if (i > 0 && contacts[0].force == 0 && closed > 0) break;
          if (contacts[0].force > 0) closed += dt;
          peak = std::max(peak, contacts[0].force);
          v -= dt * contacts[0].force / kMass;
          d = contacts[0].depth;
        }
        EXPECT_NEAR(-v, row.restitution, 0.02) << row.lambda << " dt " << dt / T << " phase " << phase;
        if (row.duration > 0 && dt < 0.1 * T) {
          EXPECT_NEAR(closed / T, row.duration, 0.08);
          EXPECT_NEAR(peak * T / kMass, row.force, 0.005);
        }
      }
    }
  }
}

// Random contacts of a few bodies, more than their degrees of freedom: forces that need not be unique for
// rigid contacts are here, whatever the first guess, and none pulls.
TEST(HeldContactSolver, RedundantContactsHaveUniqueForces)
{
  base::Random random(8);
  int by_newton = 0;
  for (int i = 0; i < 200; ++i) {
    const Eigen::Index n = 4 + i % 12;
    const Eigen::Index freedoms = 3;
    MatX J(n, freedoms);
    for (Eigen::Index k = 0; k < J.size(); ++k) J.data()[k] = random.uniform(-1, 1);
    const double scale = std::pow(10, random.uniform(-3, 3));
    const MatX R = scale * J * J.transpose();
    std::vector<ContactStep> contacts;
    for (Eigen::Index k = 0; k < n; ++k)
      contacts.push_back({.contact = {random.uniform(0.5, 2), 0},
                          .damper = random.uniform(0, 1),
                          .depth_before = random.uniform(-1, 1),
                          .depth_free = random.uniform(-1, 3)});
    std::vector<VecX> solutions;
    for (const double guess : {0.0, 1.0, 10.0}) {
      std::vector<ContactStep> trial = contacts;
      for (ContactStep& contact : trial) contact.force = guess * random.uniform(0, 1);
      HeldContactSolver solver;
      const HeldSolveResult result = solver.solve(R, trial, {.sweeps = 3, .tolerance = 1e-12});
      ASSERT_TRUE(result.converged) << "case " << i << " residual " << result.residual;
      by_newton += result.newton_steps > 0 ? 1 : 0;
      VecX forces(n);
      for (Eigen::Index k = 0; k < n; ++k) {
        forces[k] = trial[static_cast<std::size_t>(k)].force;
        EXPECT_GE(forces[k], 0);
      }
      for (Eigen::Index k = 0; k < n; ++k) {
        const ContactStep& c = trial[static_cast<std::size_t>(k)];
        const double depth = c.depth_free - R.row(k) * forces;
        EXPECT_NEAR(depth, c.depth, 1e-9 * (1 + std::abs(depth)));
        EXPECT_NEAR(held_force(c.contact, c.depth_before, depth, c.damper).force, forces[k],
                    1e-8 * (1 + forces.maxCoeff()));
      }
      solutions.push_back(forces);
    }
    for (const VecX& other : solutions)
      EXPECT_LT((other - solutions[0]).norm(), 1e-6 * (1 + solutions[0].norm())) << "case " << i;
  }
  EXPECT_GT(by_newton, 100);
}

// Four feet under one weight carry a quarter each.
TEST(HeldContactSolver, FourFeetShareAWeight)
{
  const MatX R = MatX::Constant(4, 4, 1e-9);
  std::vector<ContactStep> contacts(4);
  for (ContactStep& contact : contacts) contact = {.contact = {1e9, 0}, .depth_free = 1e-5};
  HeldContactSolver solver;
  ASSERT_TRUE(solver.solve(R, contacts, {}).converged);
  for (const ContactStep& contact : contacts)
    EXPECT_NEAR(contact.force, contacts[0].force, 1e-7 * contacts[0].force);
  EXPECT_GT(contacts[0].force, 0);
}

}  // namespace
}  // namespace thrum::elastic
