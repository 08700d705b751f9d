// SPDX-License-Identifier: MIT
// Wanted separation speeds as impulses on the bodies in contact, and what they cost.
//
// A body at several contacts cannot follow each of them: the impulses lambda of the contacts of one body
// satisfy, with its block A of J M^-1 J^T, the speeds u now and s wanted,
//
//     0 <= lambda  perpendicular to  A lambda - (s - u) >= 0,
//
// which is what a solver of [Coevoet20, eq. 2-3] makes of them. Taken a times they change the energy of the
// bodies by a lambda.u + a^2 lambda.A lambda / 2, from which the share a that a budget affords follows
// (energy_budget.h).
#pragma once

#include <span>
#include <vector>

#include "thrum/vibration/response_settings.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

struct TargetSpeed {
  std::size_t contact = 0;
  double speed = 0;  ///< [m/s]
};

struct DistributedKicks {
  std::vector<Kick> kicks;  ///< in the order of the contacts; those without an impulse are left out
  double given = 0;         ///< to the bodies [J]
  double scale = 1;         ///< taken of what was wanted
  int unsolved = 0;         ///< bodies whose impulses were not found to the tolerance
};

/// `budget` [J]; infinite: no limit. A body that comes nearer counts as one at rest: to turn it round is the
/// solver's work. A speed asked from the solver lifts what stands on the body as well, and costs its energy
/// too; an impulse does not.
[[nodiscard]] DistributedKicks distribute_kicks(const ResponseInput& input,
                                                std::span<const TargetSpeed> wanted, double budget,
                                                KickForm form);

/// A contact of a body that is kicked.
struct KickRow {
  std::size_t contact = 0;
  double wanted = 0;        ///< [m/s]
  double present = 0;       ///< u [m/s]
  double inverse_mass = 0;  ///< its entry on the diagonal of A [1/kg]
  double lambda = 0;        ///< [N s]
  double gained = 0;        ///< A lambda [m/s]
  double load_ratio = 1;    ///< mass that is lifted / mass of the body
};

/// distribute_kicks() that keeps its memory from step to step.
class KickDistributor {
 public:
  [[nodiscard]] DistributedKicks distribute(const ResponseInput& input, std::span<const TargetSpeed> wanted,
                                            double budget, KickForm form);

 private:
  void find_rows(const ResponseInput& input, std::span<const TargetSpeed> wanted);

  std::vector<KickRow> rows_;  ///< body after body
  std::vector<char> kicked_;   ///< by body
};

/// The kicks of each body together, and the recoil of the ringing body when it can move.
[[nodiscard]] std::vector<BodyImpulse> body_impulses_of(const ResponseInput& input,
                                                        std::span<const Kick> kicks);

}  // namespace thrum::vibration
