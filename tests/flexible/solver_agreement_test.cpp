// SPDX-License-Identifier: MIT
// The forces of substeps of running scenes (tests/data/flexible_problems.bin, written by
// dump_flexible_problems) against an interior-point method of the test's own.
//
// With limits of friction by the normal forces that were found, the least f(F) over F in C has a unique
// motion y = A^T F. For any F in C, its own rest r = F - P(F - S grad f), S a diagonal,
//
//     |y - y*|^2 <= grad f . (F - F*) <= sum of |r| ((|F'| + |F*|) / S + |grad f|),    F' = F - r,       (1)
//
// since f is convex with the part 1/2 |y|^2 and P is a projection. What a solver reports as its residual
// bounds r, and so the motion.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "tests/flexible/interior_point.h"
#include "tests/flexible/problem_file.h"
#include "tests/support/source_dir.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {
namespace {

/// THRUM_FLEXIBLE_PROBLEMS names another file, for example of problems that are too large for the repository.
const std::vector<NamedProblem>& problems()
{
  static const std::vector<NamedProblem> all = [] {
    const char* other = std::getenv("THRUM_FLEXIBLE_PROBLEMS");
    return read_problems(other != nullptr ? std::filesystem::path(other)
                                          : support::source_dir() / "tests/data/flexible_problems.bin");
  }();
  return all;
}

/// The rest r of (1) by row, S the inverse of the diagonal of the Hessian.
VecX rest_of(const interior::Problem& problem, const VecX& F, int corners, VecX& gradient, VecX& weight)
{
  problem.differentiate(F, gradient, weight);
  weight += problem.R().diagonal();
  const GroupProblem& p = problem.problem();
  VecX rest = VecX::Zero(F.size());
  for (const GroupProblem::Contact& c : p.contacts) {
    if (!problem.has_force(c.row)) continue;
    if (F[c.row] == 0) weight[c.row] = problem.R()(c.row, c.row) + c.tail_compliance;
    rest[c.row] = F[c.row] - std::max(0.0, F[c.row] - gradient[c.row] / weight[c.row]);
  }
  for (std::size_t i = 0; i < p.slips.size(); ++i) {
    const GroupProblem::Slip& s = p.slips[i];
    if (!problem.has_force(s.rows[0])) continue;
    double stiffest = weight[s.rows[0]];
    if (s.count == 2) stiffest = std::max(stiffest, weight[s.rows[1]]);
    Eigen::Vector2d wanted = Eigen::Vector2d::Zero();
    for (int k = 0; k < s.count; ++k) {
      const int row = s.rows[static_cast<std::size_t>(k)];
      weight[row] = stiffest;
      wanted[k] = F[row] - gradient[row] / stiffest;
    }
    const double limit = problem.limit(i);
    if (s.count == 1 || corners == 0) {
      if (wanted.norm() > limit) wanted *= limit / wanted.norm();
    } else {
      // Nearest point of the polygon: of all its sides.
      const double half = std::numbers::pi / corners;
      Eigen::Vector2d nearest = wanted;
      double farthest = 0;
      for (int corner = 0; corner < corners; ++corner) {
        const double angle = (2 * corner + 1) * half;
        const Eigen::Vector2d out(std::cos(angle), std::sin(angle));
        const Eigen::Vector2d side(-out.y(), out.x());
        const double beyond = out.dot(wanted) - limit * std::cos(half);
        if (beyond <= farthest) continue;
        farthest = beyond;
        nearest = limit * std::cos(half) * out +
                  std::clamp(side.dot(wanted), -limit * std::sin(half), limit * std::sin(half)) * side;
      }
      wanted = nearest;
    }
    for (int k = 0; k < s.count; ++k)
      rest[s.rows[static_cast<std::size_t>(k)]] = F[s.rows[static_cast<std::size_t>(k)]] - wanted[k];
  }
  return rest;
}

struct Agreement {
  double difference = 0;  ///< |y - y*| / |y*|
  double bound = 0;       ///< of (1), for the residual that is allowed
  double rest = 0;        ///< largest r, share of the largest normal force, torques by their arm
  double allowed = 0;     ///< of it
};

// A sweep that changes no force by more than `tolerance` leaves rests of at most its sum over the row of R.
Agreement compare(const GroupProblem& p, const VecX& F, int corners, double tolerance,
                  const std::string& name)
{
  const interior::Problem problem(p, F, corners);
  const interior::Result exact = interior::solve(problem);
  EXPECT_LT(exact.slope, 1e-9) << name << ": the interior-point method itself";
  VecX gradient, weight;
  const VecX rest = rest_of(problem, F, corners, gradient, weight);
  VecX arm = VecX::Ones(F.size());
  for (const GroupProblem::Slip& s : p.slips) {
    for (int k = 0; k < s.count; ++k) arm[s.rows[static_cast<std::size_t>(k)]] = std::max(s.limit, 1e-9);
  }
  Agreement out;
  double squared = exact.gap;
  for (Eigen::Index r = 0; r < F.size(); ++r) {
    if (!problem.has_force(r)) continue;
    double others = 0;
    for (Eigen::Index l = 0; l < F.size(); ++l) others += std::abs(problem.R()(r, l)) * arm[l];
    const double allowed = tolerance * std::max(1.0, others / (weight[r] * arm[r]));
    out.rest = std::max(out.rest, std::abs(rest[r]) / (arm[r] * std::max(problem.scale(), 1e-300)));
    out.allowed = std::max(out.allowed, allowed);
    squared += allowed * arm[r] * problem.scale() *
               (weight[r] * (std::abs(F[r] - rest[r]) + std::abs(exact.force[r])) + std::abs(gradient[r]));
  }
  const VecX y = problem.motion(exact.force);
  const double size = std::max(y.norm(), 1e-300);
  out.difference = (problem.motion(F) - y).norm() / size;
  out.bound = std::sqrt(squared) / size;
  return out;
}

/// (1) holds however badly a problem is posed. In these the error of the motion is linear in the residual, by
/// this factor at most.
constexpr double kMaxErrorFactor = 100;

int count_of(ContactLaw law)
{
  return static_cast<int>(std::count_if(problems().begin(), problems().end(),
                                        [&](const NamedProblem& p) { return p.problem.law == law; }));
}

void expect_agreement(ContactLaw law, const FlexibleSettings& settings, int corners)
{
  double worst = 0;
  int solved = 0;
  for (const NamedProblem& named : problems()) {
    if (named.problem.law != law) continue;
    const GroupSolution found = ContactGroup::solve_problem(named.problem, settings);
    solved += found.status == SolveStatus::solved ? 1 : 0;
    EXPECT_EQ(found.status, SolveStatus::solved) << named.name << ": residual " << found.residual;
    if (found.status != SolveStatus::solved) continue;
    EXPECT_LE(found.residual, settings.tolerance) << named.name;
    EXPECT_GT(found.iterations, 0) << named.name;
    const Agreement one = compare(named.problem, found.force, corners, settings.tolerance, named.name);
    EXPECT_LE(one.difference, one.bound) << named.name;
    EXPECT_LE(one.difference, kMaxErrorFactor * settings.tolerance) << named.name;
    EXPECT_LE(one.rest, 10 * one.allowed) << named.name;
    EXPECT_LT(one.bound, 0.05) << named.name;  // else it would say nothing
    worst = std::max(worst, one.difference);
  }
  fmt::print("{} of {} problems solved, motion within {:.1e} of the interior-point method\n", solved,
             count_of(law), worst);
}

TEST(SolverAgreement, TheSetHasProblemsOfEveryScene)
{
  for (const char* scene :
       {"dinner", "mug_poses", "tuning_fork", "marbles_in_bowl", "marble_track", "cart", "pipes", "ruler"}) {
    for (const char* law : {" hertz", " hard"}) {
      // Nothing presses the ruler in the time that is run with hard contact.
      if (std::string_view(scene) == "ruler" && std::string_view(law) == " hard") continue;
      const std::string begin = std::string(scene) + law;
      EXPECT_TRUE(std::any_of(problems().begin(), problems().end(), [&](const NamedProblem& p) {
        return p.name.rfind(begin, 0) == 0;
      })) << begin;
    }
  }
}

TEST(SolverAgreement, HertzContact)
{
  expect_agreement(ContactLaw::hertz, {}, 0);
}

TEST(SolverAgreement, HertzContactByNewtonAlone)
{
  FlexibleSettings settings;
  settings.sweeps_before_newton = 0;
  expect_agreement(ContactLaw::hertz, settings, 0);
}

TEST(SolverAgreement, HardContactWithCoupledFriction)
{
  FlexibleSettings settings;
  settings.contact = ContactLaw::hard;
  expect_agreement(ContactLaw::hard, settings, 0);
}

TEST(SolverAgreement, HardContactWithStaggeredFriction)
{
  FlexibleSettings settings;
  settings.contact = ContactLaw::hard;
  settings.friction = FrictionSolver::staggered;
  expect_agreement(ContactLaw::hard, settings, settings.friction_directions);
}

}  // namespace
}  // namespace thrum::flexible
