// SPDX-License-Identifier: MIT
#include "thrum/rigid/constraint_stepper.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/rigid/direct_solver.h"
#include "thrum/rigid/momentum_check.h"

namespace thrum::rigid {

namespace {

/// How often the direct solver lets the bounds of friction follow the normal impulses.
constexpr int kFrictionRounds = 8;
/// How often joints find again, at most, where their bodies would be at the end of a substep.
constexpr int kBendUpdates = 4;
/// A slice gets at least so many extra sweeps, and sweeps over a level in shock propagation, if a whole step
/// gets as many.
constexpr int kMinExtraIterations = 2;
constexpr int kMinShockIterations = 1;

// `count` sweeps a step, as many of them as belong to this share of it.
int sweeps_of_share(int count, double share, int min_count)
{
  const int sweeps = static_cast<int>(std::ceil(count * share));
  return std::clamp(sweeps, std::min(min_count, count), count);
}

}  // namespace

ContactGraph ConstraintStepper::order_contacts(const model::SceneModel& model, const model::SceneState& state,
                                               double h) const
{
  return uses_contact_graph() ? build_contact_graph(model, state, h) : contacts_as_found(state);
}

// Heaps converge from one substep to the next, as each starts from the impulses of the last. In a step that
// is cut into slices for a few fast bodies there are as many times more substeps, so each needs fewer further
// sweeps, and no closer ones: 500 rings that fall into a box, in up to 6 slices, take 35 % fewer visits of
// patches and overlap by as much, 6 mm. Fewer substeps instead would let fast rings overlap: by 35 mm with as
// many as in a step that is not cut, by 23 mm with two a slice.
void ConstraintStepper::share_sweeps(const StepFrame& frame)
{
  const double step = std::max(step_, frame.h);
  const double share = frame.h / step;
  max_extra_iterations_ = sweeps_of_share(settings_.max_extra_iterations, share, kMinExtraIterations);
  shock_iterations_ = sweeps_of_share(settings_.shock_iterations, share, kMinShockIterations);
  substep_speed_ = frame.model.gravity.norm() * frame.h / settings_.substeps;
  unsliced_speed_ = frame.model.gravity.norm() * step / settings_.substeps;
}

void ConstraintStepper::collide(StepFrame& frame)
{
  bodies_.load(frame.model, frame.state);
  contacts_.build(frame, settings_, bodies_);
  if (uses_contact_graph()) {
    contacts_.hold_lower_bodies(bodies_, frame.levels, frame.h);
  }
  share_sweeps(frame);
  energy_.prepare(frame.model, frame.state, frame.same_contacts, contacts_.has_requests());
  all_islands_.assign(energy_.island_count() + 1, 1);
  contacts_.set_islands(energy_.islands(), energy_.island_count());
  JointRows::begin_step(frame.state);
  find_bouncing_patches(frame);
}

void ConstraintStepper::advance_velocities(StepFrame& frame, double h)
{
  collide_within_substep(frame, h);
  contacts_.record_approach_speeds(bodies_);
  joints_.build(frame.model, frame.state, settings_, bodies_, h);
  joint_islands_.begin(joints_, energy_.islands(), energy_.island_count());
  if (contacts_.may_bounce()) energy_.begin_substep(bodies_);
  bodies_.advance_velocities(frame.model, h);
}

// Whether more is needed is decided for each island separately.
void ConstraintStepper::run_sweeps(int iterations, double h, const IslandFlags& islands)
{
  const double settled = settings_.settled_threshold * substep_speed_;
  // Down from the last patch to the first and up again, so that loads and support both travel.
  for (int i = 0; i < iterations; ++i) {
    joint_islands_.sweep(bodies_, h, settings_.joint_iterations, settled, islands);
    const MomentumCheck check(contacts_, bodies_);
    contacts_.sweep(bodies_, settings_, i % 2 == 0, islands);
  }
  // Heaps need more where bodies wedge each other in; most of a heap at rest does not.
  const double unsettled = settings_.unsettled_threshold * unsliced_speed_;
  bool more = max_extra_iterations_ > 0 &&
              contacts_.find_unsettled(bodies_, h * settings_.substeps, unsettled, islands);
  for (int i = 0; more && i < max_extra_iterations_; ++i) {
    joint_islands_.sweep(bodies_, h, settings_.joint_iterations, settled, contacts_.unsettled_islands());
    const MomentumCheck check(contacts_, bodies_);
    more = contacts_.sweep_unsettled(bodies_, settings_, unsettled, (iterations + i) % 2 == 0);
  }
  if (settings_.solver == RowSolver::direct) {
    solve_small_islands(h, islands);
    return;
  }
  if (uses_contact_graph())
    contacts_.shock_sweep(bodies_, settings_, shock_iterations_,
                          settings_.settled_threshold * unsliced_speed_, islands);
}

// The exact answer for islands with few rows, whatever the sweeps have left. Larger ones keep what the sweeps
// found.
void ConstraintStepper::solve_small_islands(double h, const IslandFlags& active)
{
  struct Island {
    std::vector<SolverPatch*> patches;
    std::vector<JointRow> joints;
    std::vector<std::size_t> joint_index;
    int rows = 0;
  };
  std::map<std::size_t, Island> islands;
  const auto island_of = [&](std::int32_t a, std::int32_t b) {
    return island_between(energy_.islands(), energy_.island_count(), a, b);
  };
  for (SolverPatch& patch : contacts_.patches()) {
    Island& island = islands[island_of(patch.a, patch.b)];
    island.patches.push_back(&patch);
    island.rows += patch.count + 3;
  }
  const std::span<JointRow> joint_rows = joints_.rows();
  for (std::size_t i = 0; i < joint_rows.size(); ++i) {
    Island& island = islands[island_of(joint_rows[i].a, joint_rows[i].b)];
    island.joints.push_back(joint_rows[i]);
    island.joint_index.push_back(i);
    ++island.rows;
  }
  for (auto& [number, island] : islands) {
    if (active[number] == 0 || island.rows > settings_.max_direct_rows) continue;
    const int rounds = settings_.friction_bounds == FrictionBounds::first_solve ? 1 : kFrictionRounds;
    if (!solve_directly(island.patches, island.joints, bodies_, h, rounds, settings_.friction)) continue;
    for (std::size_t k = 0; k < island.joints.size(); ++k)
      joint_rows[island.joint_index[k]].lambda = island.joints[k].lambda;
  }
}

void ConstraintStepper::scale_impulses()
{
  contacts_.scale_impulses([&](model::BodyIndex a, model::BodyIndex b) { return energy_.share(a, b); });
  for (JointRow& row : joints_.rows()) row.lambda *= energy_.share(row.a, row.b);
}

// Never with more energy than without: see island_energy.h.
void ConstraintStepper::apply_warm_start(double h)
{
  energy_.record_velocities(bodies_);
  contacts_.warm_start(bodies_, h);
  joints_.warm_start(bodies_);
  if (!energy_.find_body_shares(bodies_)) return;
  scale_impulses();
  energy_.restore_velocities(bodies_);
  contacts_.warm_start(bodies_, h);
  joints_.warm_start(bodies_);
  if (energy_.limit_warm_start(bodies_)) scale_impulses();
}

// Never with more energy than before it where bodies spin fast: see island_energy.h.
void ConstraintStepper::limit_solve_energy(double slice, double h)
{
  if (!energy_.find_limited_islands(bodies_, slice, h)) return;
  contacts_.find_driver_work(bodies_, driver_work_);
  if (!energy_.limit_solve(bodies_, driver_work_)) return;
  const auto share = [&](model::BodyIndex a, model::BodyIndex b) {
    return energy_.share(a, b);
  };
  contacts_.scale_solve(share);
  for (JointRow& row : joints_.rows()) row.lambda *= energy_.share(row.a, row.b);
}

// What leaves with restitution, as far as the energy of each island goes.
void ConstraintStepper::apply_restitution(double h)
{
  energy_.record_velocities(bodies_);
  joint_impulses_.clear();
  for (const JointRow& row : joints_.rows()) joint_impulses_.push_back(row.lambda);
  joints_.update_masses(bodies_, h);
  const IslandFlags& bouncing = contacts_.bouncing_islands();
  contacts_.set_bias(bodies_, h, impacts_.enabled(), bouncing);
  run_sweeps(settings_.impact_iterations, h, bouncing);
  if (!energy_.limit_bounces(bodies_)) return;
  contacts_.scale_bounces([&](model::BodyIndex a, model::BodyIndex b) { return energy_.share(a, b); });
  for (std::size_t i = 0; i < joint_impulses_.size(); ++i) {
    JointRow& row = joints_.rows()[i];
    row.lambda = joint_impulses_[i] + energy_.share(row.a, row.b) * (row.lambda - joint_impulses_[i]);
  }
}

void ConstraintStepper::resolve_contacts(StepFrame& frame, double h)
{
  apply_warm_start(h);
  // A body that spins fast answers an impulse by turning elsewhere: the joints look again where it is going.
  const double settled = settings_.settled_threshold * substep_speed_;
  joint_islands_.settle_bends(frame.model, frame.state, settings_, bodies_, h, kBendUpdates, settled);
  run_sweeps(settings_.iterations, h, all_islands_);
  limit_solve_energy(frame.h, h);
  if (contacts_.push_out(bodies_, settings_, frame.model.length_scale, h)) bodies_.remove_push_out_energy(h);
  joints_.push_out(bodies_, h);
}

void ConstraintStepper::advance_positions(StepFrame& frame, double h)
{
  impacts_.apply_shifts(bodies_, h);
  bodies_.advance_positions(frame.model, frame.state, h);
  bodies_.update_world_inertia(frame.model, frame.state);
  contacts_.update_masses(bodies_);
  if (contacts_.may_bounce())
    energy_.find_inertia(frame.model, frame.state, contacts_.islands_that_may_bounce());
  if (energy_.find_spinning_islands(bodies_, frame.h))
    energy_.find_inertia(frame.model, frame.state, energy_.spinning_islands());
}

void ConstraintStepper::bounce(StepFrame& frame, double h)
{
  if (contacts_.start_bounces()) apply_restitution(h);
  contacts_.finish_substep();
  restore_gaps();
  joints_.finish_substep(frame.state);
}

void ConstraintStepper::store_results(StepFrame& frame)
{
  bodies_.store(frame.state);
  contacts_.store(frame.state);
}

std::unique_ptr<Stepper> make_constraint_stepper(const ConstraintSettings& settings,
                                                 const ImpactSettings& impacts)
{
  if (settings.solver != RowSolver::direct && settings.friction_bounds == FrictionBounds::first_solve)
    throw Error(
        "The friction bounds 'first_solve' need the solver 'direct': sweeps take the bounds of each "
        "iteration. Set the solver to 'direct' or the friction bounds to 'each_iteration'.");
  return std::make_unique<ConstraintStepper>(settings, impacts);
}

}  // namespace thrum::rigid
