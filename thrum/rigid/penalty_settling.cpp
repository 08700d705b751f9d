// SPDX-License-Identifier: MIT
// What sweeps that have not settled may bring: no more energy than the springs held.
//
// Impulses p with the mean speeds (u0 + u1) / 2 of their rows do the work W = sum p (u0 + u1) / 2 on the
// bodies, whatever p is. With u the speeds without them, a share s of all of them does
//
//     W(s) = s sum p (u0 + u) / 2 + s^2 sum p (u1 - u) / 2,                                            (1)
//
// the second sum being at least 0. Springs that hold the energy V may give V at most, so that an island keeps
// the largest s <= 1 with W(s) <= V, and its springs hold V - W(s) at most afterwards. Islands with joints
// are left to island_energy.h: a share of the impulses of contacts alone would open their joints.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/rigid/islands.h"
#include "thrum/rigid/penalty_stepper.h"

namespace thrum::rigid {

std::size_t PenaltyStepper::island_of(const PenaltyPatch& patch) const
{
  const BodyRow& row = patch.points[0].row;
  return island_between(islands_, islands_.size(), row.a, row.b);
}

void PenaltyStepper::list_spring_energy(std::vector<double>& energy) const
{
  energy.assign(islands_.size() + 1, 0.0);
  for (const PenaltyPatch& patch : patches_) {
    double& sum = energy[island_of(patch)];
    for (const PenaltyPoint& point : patch.active()) {
      const double depth = std::max(0.0, point.depth);
      sum += 0.5 * patch.spring.stiffness * depth * depth;
    }
    sum += patch.sliding.energy() + patch.twist.energy() + patch.rolling.energy();
  }
}

void PenaltyStepper::limit_work(const StepFrame& frame)
{
  if (islands_.empty()) islands_ = find_islands(frame.model, frame.state);
  list_spring_energy(allowed_energy_);
  struct Work {
    double slope = 0;   ///< [J]
    double square = 0;  ///< [J]
    double share = 1;
  };
  std::vector<Work> work(islands_.size() + 1);
  std::vector<double> speeds;
  list_contact_speeds(speeds);
  visit_contact_rows([&](const BodyRow& row, const RowResponse& response, double impulse, double) {
    push(row, response, -impulse);
  });
  const auto island_of_row = [&](const BodyRow& row) {
    return island_between(islands_, islands_.size(), row.a, row.b);
  };
  std::size_t k = 0;
  visit_contact_rows([&](const BodyRow& row, const RowResponse&, double impulse, double before) {
    const double free = speed_of(row, bodies_);
    Work& w = work[island_of_row(row)];
    w.slope += 0.5 * impulse * (before + free);
    w.square += 0.5 * impulse * (speeds[k++] - free);
  });
  for (std::size_t i = 0; i < work.size(); ++i) {
    Work& w = work[i];
    const double allowed = allowed_energy_[i];
    if (w.slope + w.square > allowed) {
      const double root = std::sqrt(w.slope * w.slope + 4 * std::max(0.0, w.square) * allowed);
      w.share = w.slope > 0 ? 2 * allowed / (w.slope + root) : (root - w.slope) / (2 * w.square);
      w.share = std::clamp(w.share, 0.0, 1.0);
    }
    allowed_energy_[i] = std::max(0.0, allowed - w.share * (w.slope + w.share * w.square));
  }
  scale_impulses([&](const BodyRow& row) { return work[island_of_row(row)].share; });
  push_all();
}

void PenaltyStepper::limit_spring_energy()
{
  std::vector<double> energy;
  list_spring_energy(energy);
  for (PenaltyPatch& patch : patches_) {
    const std::size_t island = island_of(patch);
    if (energy[island] <= allowed_energy_[island]) continue;
    const double share = std::sqrt(allowed_energy_[island] / energy[island]);
    for (PenaltyPoint& point : patch.active()) {
      if (point.depth > 0) point.depth *= share;
    }
    for (SlipSpring* spring : {&patch.sliding, &patch.twist, &patch.rolling}) {
      for (double& stretch : spring->stretch) stretch *= share;
    }
  }
}

}  // namespace thrum::rigid
