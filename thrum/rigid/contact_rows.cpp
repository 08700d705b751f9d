// SPDX-License-Identifier: MIT
#include "thrum/rigid/contact_rows.h"

#include <Eigen/LU>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/base/team.h"

namespace thrum::rigid {

namespace {

/// Without slop a gap may close at once, whatever its size [1/m].
constexpr double kMaxInverseSlop = 1e30;
/// The masses of a patch are made again when its arms have moved by more than this share of their length and
/// the radius of gyration of the smaller body: from 0.4 on sweeps would ask for twice the impulse that is
/// needed, and diverge.
constexpr double kStaleArmShare = 0.25;

// The slide at which the arms of a patch, of which each gets half of it, have moved so far; squared [m^2].
double max_slide_square(const SolverBody& A, const SolverBody& B, const PatchRecord& record)
{
  if (A.inverse_mass == 0 || B.inverse_mass == 0) return std::numeric_limits<double>::infinity();
  const auto square_of = [](const SolverBody& body, const Vec3& r) {
    return r.squaredNorm() + body.inverse_mass / body.inverse_inertia.trace();
  };
  const double arm_square = std::min(square_of(A, record.ra), square_of(B, record.rb));
  return 4 * kStaleArmShare * kStaleArmShare * arm_square;
}

/// From so many patches on, which with their masses and bodies are 3 MB, a visit asks for what the next ones
/// need. It saves a tenth of the step of 4,000 boxes in a heap; in a wall of 1,012 bricks, of 1,960 patches,
/// it would only add 8 % to the instructions.
constexpr std::size_t kManyPatches = 2000;
constexpr std::size_t kCacheLine = 64;  ///< [bytes]
/// Patches handed to a thread at a time where they are built, and where each takes less than 10 ns.
constexpr std::size_t kBuildGrain = 32;
constexpr std::size_t kPatchGrain = 256;
/// The members of a body up to its inverse inertia, and those of the masses up to what only patches need
/// that slide, which sweeps read [bytes].
constexpr std::size_t kVelocityBytes = 128;
constexpr std::size_t kMassBytes = 256;

Lanes normal_speeds(const SolverPatch& p, SolverBodies& bodies)
{
  const SolverBody& A = bodies[p.a];
  const SolverBody& B = bodies[p.b];
  return along_rows(p, B.v - A.v, A.w, B.w).head<4>();
}

void store_patch(const SolverPatch& p, const PatchRecord& record, model::ContactPatch& contact)
{
  for (int i = 0; i < p.count; ++i) {
    model::ContactPoint& point = contact.points[at(i)];
    point.warm_impulse = static_cast<double>(p.lambda[i]);
    point.normal_impulse = static_cast<double>(p.total[i]);
    point.requested_speed = 0;
    point.normal_speed = static_cast<double>(record.start_speed[i]);
    point.bounced = p.may_bounce && record.restitution > 0 && record.bounce_candidate[i] == 0 && point.is_new;
  }
  const auto across = [&](const Rows& rows) -> Vec3 {
    return static_cast<double>(rows[kFirstTangent]) * record.t1 +
           static_cast<double>(rows[kSecondTangent]) * record.t2;
  };
  contact.warm_friction = across(p.lambda);
  contact.warm_twist = static_cast<double>(p.lambda[kTwist]);
  contact.warm_rolling = record.rolling_impulse;
  contact.friction_impulse = across(p.total);
}

}  // namespace

void ContactRows::build(const StepFrame& frame, const ConstraintSettings& settings, SolverBodies& bodies)
{
  const model::SceneState& state = frame.state;
  const std::span<const std::int32_t> order = frame.order;
  const double length_scale = frame.model.length_scale;
  masses_.begin_step(frame.model, state, frame.kept_from, frame.surfaces, frame.same_contacts, settings.cfm);
  count_ = order.size();
  slop_ = settings.slop * length_scale;
  inverse_slop_ = static_cast<RowReal>(std::min(1 / slop_, kMaxInverseSlop));
  any_may_bounce_ = any_requested_ = false;
  if (patches_.size() < count_) {
    patches_.resize(count_);
    records_.resize(count_);
  }
  held_.assign(count_, kNotHeld);
  speed_changes_.assign(count_, 0);
  bodies_of_.resize(count_);
  prefetches_ = count_ >= kManyPatches;
  for (const std::int32_t source : order) masses_.reserve(source);
  std::atomic<bool> any_may_bounce = false;
  std::atomic<bool> any_requested = false;
  base::team_for(
      count_,
      [&](std::size_t i) {
        const auto source = static_cast<std::size_t>(order[i]);
        SolverPatch& p = patches_[i];
        p.source = order[i];
        bodies_of_[i] = {state.patches[source].a, state.patches[source].b};
        build_patch(state.patches[source], state, frame.surfaces[source], settings, bodies, p, records_[i]);
        if (p.may_bounce) any_may_bounce.store(true, std::memory_order_relaxed);
        if ((records_[i].requested_speed > RowReal(0)).any())
          any_requested.store(true, std::memory_order_relaxed);
      },
      kBuildGrain);
  any_may_bounce_ = any_may_bounce;
  any_requested_ = any_requested;
  schedule_patches(frame, bodies);
}

void ContactRows::order_visits(SolverBodies& bodies)
{
  movers_.resize(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t slot = 0; slot < 2; ++slot) {
      const std::int32_t body = bodies_of_[i][slot];
      movers_[i][slot] = bodies[body].inverse_mass > 0 ? body : model::kNone;
    }
  }
  schedule_.build(movers_, bodies.all().size());
}

// A patch goes with the body that lies higher: shock propagation changes only that one, so that all
// patches of a body which lies on several are visited by one thread.
void ContactRows::schedule_patches(const StepFrame& frame, SolverBodies& bodies)
{
  const int threads = base::max_team();
  if (threads == 1) {
    // For contacts that are new in each step, making the order takes longer than it saves.
    if (frame.same_contacts) {
      order_visits(bodies);
    } else {
      schedule_.build(count_);
    }
    return;
  }
  scheduled_.resize(count_);
  base::team_for(
      scheduled_.size(),
      [&](std::size_t i) {
        const auto [a, b] = bodies_of_[i];
        const bool a_yields = bodies[a].inverse_mass > 0;
        const bool b_yields = bodies[b].inverse_mass > 0;
        const bool a_is_higher = !frame.levels.empty() && frame.levels[at(a)] > frame.levels[at(b)];
        scheduled_[i] = {{a_yields ? a : model::kNone, b_yields ? b : model::kNone},
                         a_yields && (!b_yields || a_is_higher) ? a : b};
      },
      kPatchGrain);
  schedule_.build(scheduled_, bodies.all().size(), threads,
                  [&](std::int32_t body) { return frame.state.bodies[at(body)].X_wb.position; });
}

void ContactRows::set_islands(const std::vector<std::int32_t>& island_of_body, std::size_t island_count)
{
  may_bounce_.assign(island_count + 1, 0);
  bouncing_.assign(island_count + 1, 0);
  island_.resize(count_);
  base::team_for(
      count_,
      [&](std::size_t i) {
        const auto [a, b] = bodies_of_[i];
        island_[i] = island_between(island_of_body, island_count, a, b);
      },
      kPatchGrain);
  if (!any_may_bounce_) return;
  for (std::size_t i = 0; i < count_; ++i) {
    if (patches_[i].may_bounce) may_bounce_[island_[i]] = 1;
  }
}

void ContactRows::build_patch(const model::ContactPatch& contact, const model::SceneState& state,
                              const model::Surface& surface, const ConstraintSettings& settings,
                              SolverBodies& bodies, SolverPatch& p, PatchRecord& record)
{
  p.a = contact.a;
  p.b = contact.b;
  const SolverBody& A = bodies[p.a];
  const SolverBody& B = bodies[p.b];
  set_rows(contact, {}, A, state.bodies[at(p.a)].X_wb.position, B, state.bodies[at(p.b)].X_wb.position,
           surface, p, record);
  p.may_bounce = false;
  p.rolls = surface.rolling_friction > 0;
  record.rolling = surface.rolling_friction;
  record.restitution = surface.restitution;
  p.slide.setZero();
  p.lambda.setZero();
  p.total.setZero();
  p.bias.setZero();
  p.gap = p.gap_now = p.target = p.push = record.bounce_candidate = record.requested_speed = Lanes::Zero();
  for (int i = 0; i < p.count; ++i) {
    const model::ContactPoint& point = contact.points[at(i)];
    p.gap[i] = p.gap_now[i] = static_cast<RowReal>(-point.depth);
    record.requested_speed[i] = static_cast<RowReal>(std::max(0.0, point.requested_speed));
    p.may_bounce = p.may_bounce || record.requested_speed[i] > 0;
    if (settings.warm_start) p.lambda[i] = static_cast<RowReal>(point.warm_impulse);
    if (record.restitution > 0 && point.is_new) {
      record.bounce_candidate[i] = 1;
      p.may_bounce = true;
    }
  }
  record.rolling_impulse.setZero();
  if (settings.warm_start) {
    // Only rows that are solved may start warm: a surface can have lost its friction since the last step,
    // and nothing would take the old impulse back.
    if (p.mu > 0) {
      p.lambda[kFirstTangent] = static_cast<RowReal>(record.t1.dot(contact.warm_friction));
      p.lambda[kSecondTangent] = static_cast<RowReal>(record.t2.dot(contact.warm_friction));
    }
    if (p.mu > 0 || surface.spinning_friction > 0)
      p.lambda[kTwist] = static_cast<RowReal>(contact.warm_twist);
    if (p.rolls) record.rolling_impulse = contact.warm_rolling;
  }
  record.approach_acceleration = record.n.dot(B.acceleration - A.acceleration);
  record.start_speed = normal_speeds(p, bodies);
  p.masses = &masses_.free(p, A, B);
  p.max_slide_square = static_cast<RowReal>(max_slide_square(A, B, record));
  if (p.rolls) record.rolling_mass = (A.inverse_inertia + B.inverse_inertia).inverse();
}

// With the masses of a thin rod that has since turned across, sweeps diverge: its spin grew to 1e14 rad/s
// within one slice.
void ContactRows::update_masses(SolverBodies& bodies)
{
  const auto has_turned = [](const SolverBody& body) {
    return body.dth.squaredNorm() > kStaleRowTurn * kStaleRowTurn;
  };
  base::team_for(
      count_,
      [&](std::size_t i) {
        const auto [a, b] = bodies_of_[i];
        if (has_turned(bodies[a]) || has_turned(bodies[b])) remake_masses(i, bodies);
      },
      kPatchGrain);
}

void ContactRows::remake_masses(std::size_t i, SolverBodies& bodies)
{
  SolverPatch& p = patches_[i];
  const SolverBody& A = bodies[p.a];
  const SolverBody& B = bodies[p.b];
  p.masses = &masses_.remake(p, A, B);
  if (HeldPatch* h = held(i)) h->masses = nullptr;
  if (p.rolls) records_[i].rolling_mass = (A.inverse_inertia + B.inverse_inertia).inverse();
}

void ContactRows::record_approach_speeds(SolverBodies& bodies)
{
  if (!any_may_bounce_) return;
  for (std::size_t i = 0; i < count_; ++i) {
    const SolverPatch& p = patches_[i];
    if (!p.may_bounce) continue;
    const SolverBody& A = bodies[p.a];
    const SolverBody& B = bodies[p.b];
    records_[i].approach_speed = normal_speeds(p, bodies);
    records_[i].approach_gap = p.gap + along_rows(p, B.dx - A.dx, A.dth, B.dth).head<4>();
  }
}

// For bounces, which come after the move: a point with a gap may keep its approach until the next substep.
// Slowed down here, it lost the part of its speed that its own bounce would have returned.
void ContactRows::set_bias(SolverBodies& bodies, double h, bool keep_approach, const IslandFlags& islands)
{
  const BiasValues s{static_cast<RowReal>(1 / h), inverse_slop_};
  base::team_for(
      count_,
      [&](std::size_t i) {
        if (islands[island_[i]] == 0) return;
        SolverPatch& p = patches_[i];
        kernels_.set_bias(p, bodies[p.a], bodies[p.b], s);
        if (p.slide.squaredNorm() > p.max_slide_square) remake_masses(i, bodies);
        if (!keep_approach) return;
        const Lanes speed = normal_speeds(p, bodies);
        p.bias.head<4>() = (p.target > RowReal(0) || p.gap_now <= RowReal(0))
                               .select(p.bias.head<4>(), p.bias.head<4>().max(-speed));
      },
      kPatchGrain);
}

// One pass for both, as each pass over many patches waits for memory.
void ContactRows::warm_start(SolverBodies& bodies, double h)
{
  const BiasValues s{static_cast<RowReal>(1 / h), inverse_slop_};
  const auto min_gap = static_cast<RowReal>(-slop_);
  has_overlap_.resize(count_);
  schedule_.run(false, [&](std::size_t i, std::size_t ahead) {
    prefetch(ahead, bodies);
    SolverPatch& p = patches_[i];
    SolverBody& A = bodies[p.a];
    SolverBody& B = bodies[p.b];
    kernels_.set_bias(p, A, B, s);
    if (p.slide.squaredNorm() > p.max_slide_square) remake_masses(i, bodies);
    has_overlap_[i] = (p.gap_now >= min_gap).all() ? 0 : 1;
    kernels_.apply(p, *p.masses, A, B, p.lambda);
    if (p.rolls) apply_rolling(*p.masses, A, B, records_[i].rolling_impulse);
  });
}

// The patches of a large heap are in memory rather than in a cache, and so are the bodies, which lie apart
// for each of them.
void ContactRows::fetch(std::size_t i, SolverBodies& bodies) const
{
  const auto lines = [](const void* data, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; k += kCacheLine)
      __builtin_prefetch(static_cast<const char*>(data) + k);
  };
  lines(patches_[i].masses, kMassBytes);
  for (const std::int32_t body : bodies_of_[i]) lines(&bodies[body], kVelocityBytes);
}

void ContactRows::visit(std::size_t i, SolverBodies& bodies, const ConstraintSettings& settings)
{
  SolverPatch& p = patches_[i];
  const SweepValues s{p.may_bounce ? settings.impact_iterations : settings.patch_iterations,
                      settings.patch_rounds, settings.friction};
  speed_changes_[i] = kernels_.solve(p, *p.masses, records_[i], p.lambda, records_[i].rolling_impulse,
                                     bodies[p.a], bodies[p.b], s);
}

void ContactRows::sweep(SolverBodies& bodies, const ConstraintSettings& settings, bool backward,
                        const IslandFlags& islands)
{
  schedule_.run(backward, [&](std::size_t i, std::size_t ahead) {
    if (islands[island_[i]] == 0) return;
    prefetch(ahead, bodies);
    visit(i, bodies, settings);
  });
}

bool ContactRows::find_unsettled(SolverBodies& bodies, double step, double settled,
                                 const IslandFlags& islands)
{
  const auto limit = static_cast<RowReal>(settled);
  const auto is_unsettled = [&](std::size_t i) {
    return speed_changes_[i] > limit && islands[island_[i]] != 0;
  };
  std::size_t first = 0;
  while (first < count_ && !is_unsettled(first)) ++first;
  if (first == count_) return false;
  unsettled_.assign(islands.size(), 0);
  unsettled_sweep_ = 0;
  last_disturbed_.clear();
  for (const SolverBody& body : bodies.all())
    last_disturbed_.push_back(body.inverse_mass > 0 && is_resting(body, step) ? kSettled : kFast);
  for (std::size_t i = first; i < count_; ++i) {
    if (!is_unsettled(i)) continue;
    mark_disturbed(patches_[i]);
    unsettled_[island_[i]] = 1;
  }
  return true;
}

void ContactRows::mark_disturbed(const SolverPatch& p)
{
  for (const std::int32_t body : {p.a, p.b}) {
    std::int32_t& disturbed = last_disturbed_[at(body)];
    if (disturbed != kFast) disturbed = unsettled_sweep_;
  }
}

// A body that was changed in the sweep before, or earlier in this one, makes all its patches worth a visit.
bool ContactRows::sweep_unsettled(SolverBodies& bodies, const ConstraintSettings& settings, double settled,
                                  bool backward)
{
  const auto limit = static_cast<RowReal>(settled);
  const std::int32_t last = unsettled_sweep_++;
  const auto is_disturbed = [&](std::size_t i) {
    const auto [a, b] = bodies_of_[i];
    return last_disturbed_[at(a)] >= last || last_disturbed_[at(b)] >= last;
  };
  changed_patches_.assign(count_, 0);
  schedule_.run(backward, [&](std::size_t i, std::size_t ahead) {
    if (!is_disturbed(i)) return;
    prefetch(ahead, bodies);
    visit(i, bodies, settings);
    if (!(speed_changes_[i] > limit)) return;
    mark_disturbed(patches_[i]);
    changed_patches_[i] = 1;
  });
  std::fill(unsettled_.begin(), unsettled_.end(), 0);
  bool any = false;
  for (std::size_t i = 0; i < count_; ++i) {
    if (changed_patches_[i] == 0) continue;
    unsettled_[island_[i]] = 1;
    any = true;
  }
  return any;
}

void ContactRows::find_driver_work(SolverBodies& bodies, std::vector<double>& work)
{
  work.assign(may_bounce_.size(), 0.0);
  for (std::size_t i = 0; i < count_; ++i) {
    const SolverPatch& p = patches_[i];
    const SolverBody& A = bodies[p.a];
    const SolverBody& B = bodies[p.b];
    const bool drives_a = A.moves && A.inverse_mass == 0;
    const bool drives_b = B.moves && B.inverse_mass == 0;
    if (!drives_a && !drives_b) continue;
    const Vec3 zero = Vec3::Zero();
    const Vec3 v = (drives_b ? B.v : zero) - (drives_a ? A.v : zero);
    const Rows speed = along_rows(p, v, drives_a ? A.w : zero, drives_b ? B.w : zero);
    work[island_[i]] += static_cast<double>((applied_impulses(i) * speed).sum());
  }
}

bool ContactRows::push_out(SolverBodies& bodies, const ConstraintSettings& settings, double length_scale,
                           double h)
{
  const PushValues s{settings.erp / h, settings.max_push_out * length_scale / h, slop_,
                     settings.patch_iterations};
  bool any = false;
  for (std::size_t i = 0; i < count_ && settings.push_out_iterations > 0; ++i) {
    if (has_overlap_[i] == 0) continue;
    if (held(i) != nullptr) masses_.reserve_held(patches_[i].source);
    any = true;
  }
  for (int k = 0; k < std::max(1, settings.push_out_iterations); ++k) {
    schedule_.run(false, [&](std::size_t i, std::size_t ahead) {
      prefetch(ahead, bodies);
      SolverPatch& p = patches_[i];
      SolverBody& A = bodies[p.a];
      SolverBody& B = bodies[p.b];
      if ((p.lambda.head<4>() > RowReal(0)).any()) {
        // What does not yield may be a body of patches that other threads visit.
        if (A.inverse_mass > 0) A.has_contact = true;
        if (B.inverse_mass > 0) B.has_contact = true;
      }
      if (has_overlap_[i] == 0 || settings.push_out_iterations <= 0) return;
      HeldPatch* h_patch = held(i);
      if (h_patch != nullptr) prepare_masses(*h_patch, p, bodies);
      Lanes& push = h_patch != nullptr ? h_patch->push : p.push;
      if (k == 0) push.setZero();
      solve_push(p, h_patch != nullptr ? *h_patch->masses : *p.masses, push, A, B, s);
    });
  }
  return any;
}

void ContactRows::apply_impacts(std::span<const ImpactEvents::ChangedPatch> changed, SolverBodies& bodies)
{
  for (const ImpactEvents::ChangedPatch& from : changed) {
    SolverPatch& p = patches_[from.index];
    PatchRecord& record = records_[from.index];
    const SolverBody& A = bodies[p.a];
    const SolverBody& B = bodies[p.b];
    const Lanes gap_now = p.gap + along_rows(p, B.dx - A.dx, A.dth, B.dth).head<4>();
    for (int i = 0; i < p.count; ++i) {
      const ImpactPatch::Point& point = from.patch.points[at(i)];
      p.total[i] += static_cast<RowReal>(point.impulse);
      p.gap[i] += static_cast<RowReal>(from.gap[at(i)]) - gap_now[i];
      if (point.collided) record.bounce_candidate[i] = 0;
      if (from.flies[at(i)]) p.lambda[i] = 0;
    }
    p.total[kFirstTangent] += static_cast<RowReal>(record.t1.dot(from.patch.friction_impulse));
    p.total[kSecondTangent] += static_cast<RowReal>(record.t2.dot(from.patch.friction_impulse));
  }
}

// [Coevoet20, eq. 4]: a new contact leaves with restitution times the speed of approach. The paper takes
// the speed at the start of the step. Where the surfaces still had a gap then, the speed at which they meet
// follows from v_c^2 = v^2 + 2 a gap; with it a bounce neither gains nor loses energy, wherever in the step
// it falls. Kicks of distant impacts [eq. 2] come with the bounces, after positions have moved, for the
// same reason: a body that moves with its new speed before gravity has acted on it gains m g h v.
bool ContactRows::start_bounces()
{
  if (!any_may_bounce_) return false;
  bool any = false;
  std::fill(bouncing_.begin(), bouncing_.end(), 0);
  for (std::size_t k = 0; k < count_; ++k) {
    SolverPatch& p = patches_[k];
    if (!p.may_bounce) continue;
    PatchRecord& record = records_[k];
    for (int i = 0; i < p.count; ++i) {
      p.target[i] = std::max(p.target[i], record.requested_speed[i]);
      record.requested_speed[i] = 0;
      any = any || p.target[i] > 0;
      if (record.bounce_candidate[i] == 0 || !(p.lambda[i] > 0)) continue;
      const double v = std::min(0.0, static_cast<double>(record.approach_speed[i]));
      const double a = std::min(0.0, record.approach_acceleration);
      const double gap = std::max(0.0, static_cast<double>(record.approach_gap[i]));
      const double met = std::sqrt(v * v - 2 * a * gap);
      p.target[i] = std::max(p.target[i], static_cast<RowReal>(record.restitution * met));
      record.bounce_candidate[i] = 0;
      any = any || p.target[i] > 0;
    }
    if ((p.target > RowReal(0)).any()) bouncing_[island_[k]] = 1;
  }
  // A second round of sweeps follows, which starts from the rows' own impulses: what shock propagation
  // added in the first must not be forgotten.
  if (any) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (bouncing_[island_[i]] == 0) continue;
      patches_[i].total += applied_impulses(i) - patches_[i].lambda;
      records_[i].before_bounce = patches_[i].lambda;
    }
  }
  return any;
}

void ContactRows::finish_substep()
{
  base::team_for(
      count_,
      [&](std::size_t i) {
        SolverPatch& p = patches_[i];
        p.total += applied_impulses(i);
        if (HeldPatch* h = held(i)) h->used = false;
        if (!(p.target > RowReal(0)).any()) return;
        p.lambda.head<4>() = (p.target > RowReal(0)).select(Lanes::Zero(), p.lambda.head<4>());
        p.lambda.tail<4>().setZero();
        records_[i].rolling_impulse.setZero();
        p.target.setZero();
      },
      kPatchGrain);
}

void ContactRows::store(model::SceneState& state) const
{
  base::team_for(
      count_,
      [&](std::size_t k) { store_patch(patches_[k], records_[k], state.patches[at(patches_[k].source)]); },
      kPatchGrain);
}

}  // namespace thrum::rigid
