// SPDX-License-Identifier: MIT
// The problem that a group solves in a substep, as data: for tests, and to study solvers.
//
//   world.set_substep_observer(&mine);                   // called for every substep
//   GroupProblem problem = group.problem(settings);      // of the substep that is under way
//   GroupSolution again = ContactGroup::solve_problem(problem, settings);
//
// With A = J W^(1/2) and y = A^T F, the displacement of the coordinates by the forces in units of their
// weights, the rows move by free + A y. Forces are those for which
//
//   hertz   F = held_force(d, d_free - A y - t F), t the compliance of the modes above the highest, and
//           springs across the normal that slip at their limit;
//   hard    gap + A y >= 0 where F >= 0, one of them 0 (5a); slips 0 or at their limit (5b) [Zheng11].
//
// The limits of slips follow the normal forces of their patch. For given limits both are convex, and y, the
// motion, is unique even where the forces are not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/flexible/flexible_settings.h"

namespace thrum::flexible {

class ContactGroup;

struct GroupProblem {
  struct Contact {
    int row = 0;
    double d = 0;                ///< indentation at the beginning [m]
    double d_free = 0;           ///< at the end, without contact forces [m]
    double stiffness = 0;        ///< Hertz' [N/m^(3/2)]
    double damper = 0;           ///< over the substep [N/m]
    double tail_compliance = 0;  ///< of modes above the highest [m/N]
  };
  struct Slip {
    std::array<int, 2> rows{};
    int count = 2;
    double stiffness = 0;  ///< [N/m]
    double damping = 0;    ///< [N s/m]
    double limit = 0;      ///< of the force, per normal force
    bool is_joint = false;
    std::array<double, 2> stretch{};  ///< at the beginning [m]
  };
  struct Patch {
    int first_contact = 0, end_contact = 0;
    int first_slip = 0, end_slip = 0;
  };

  ContactLaw law = ContactLaw::hertz;
  double dt = 0;  ///< [s]
  VecX weight;    ///< displacement by a unit force, by coordinate
  MatX J;         ///< by row and coordinate
  VecX free;      ///< motion of the rows without contact forces [m]
  std::vector<Contact> contacts;
  std::vector<Slip> slips;
  std::vector<Patch> patches;
};

enum class SolveStatus : std::uint8_t {
  solved,
  iteration_limit  ///< forces are the last found; see `residual`
};

struct GroupSolution {
  SolveStatus status = SolveStatus::solved;
  double residual = 0;  ///< change of a force in the last iteration, share of the largest normal force
  int iterations = 0;   ///< sweeps and Newton steps
  VecX force;           ///< by row [N]
};

/// A substep whose forces have been found.
struct SubstepInfo {
  double start = 0;  ///< in its slice [s]
  double dt = 0;     ///< [s]
  SolveStatus status = SolveStatus::solved;
  double residual = 0;
  int iterations = 0;  ///< sweeps and Newton steps, with those of attempts that were taken back
};

/// Called for every substep of every group of a stepper before it moves anything, in the thread of the group:
/// several groups may call at once.
class SubstepObserver {
 public:
  virtual ~SubstepObserver() = default;
  virtual void on_substep(const ContactGroup& group, const SubstepInfo& info) = 0;
};

}  // namespace thrum::flexible
