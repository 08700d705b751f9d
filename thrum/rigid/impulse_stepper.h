// SPDX-License-Identifier: MIT
// The `impulse` stepper [Guendelman03]: collision, velocity, contact and position in this order, by impulses
// at one place after the other.
//
//   collide              impacts with restitution, where in the step they happen (impact_events.h)
//                        impulses with restitution on v, where x + h (v + h g) would overlap     [section 5]
//   advance velocities   v += h g
//   resolve contacts     passes with restitution -0.9 ... 0 on v, where x + h v would overlap    [section 7]
//                        from the ground up by the contact graph, then shock propagation         [section 8]
//   advance positions    x += h v
//   bounce               impacts that were put off to the end of the step
//
// A body at rest has no speed when impacts are treated, so it does not bounce, whatever its restitution; and
// gravity is answered by contact, which has none. That separates the two without a threshold.
//
// Where we leave the paper, each explained at its function:
//  - Contacts are found once, at the start of the step and with a reach, and moved to the predicted positions
//    to first order; the paper moves the bodies there and samples points again (impulse_sampling.cpp does so
//    with ContactPoints::paper).
//  - Resting contact starts from the impulses of the step before.
//  - Points of a flat patch that are equally deep form one place in their middle, which resists twisting.
//  - A gap may close: contact leaves the speed that just closes it. Impacts that would not bounce back up to
//    where the body is now are given at the end of the step, at the surface.
//  - Bodies in steady contact move with the mean of their velocities; overlap is pushed out without giving
//    speed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/collision/interfering_points.h"
#include "thrum/rigid/impact_events.h"
#include "thrum/rigid/impulse_settings.h"
#include "thrum/rigid/island_energy.h"
#include "thrum/rigid/joint_rows.h"
#include "thrum/rigid/point_impulse.h"
#include "thrum/rigid/solver_body.h"
#include "thrum/rigid/stepper.h"

namespace thrum::rigid {

/// A contact point during a step.
struct ImpulsePoint {
  Vec3 ra;                              ///< from the centre of mass of a [m]
  Vec3 rb;                              ///< from the centre of mass of b [m]
  Vec3 ra_n;                            ///< r_a x n [m]
  Vec3 rb_n;                            ///< r_b x n [m]
  double gap = 0;                       ///< at the start of the step, negative for overlap [m]
  double requested_speed = 0;           ///< least speed of separation that a distant response asks for [m/s]
  double rebound_speed = 0;             ///< speed to leave with at the end of the step [m/s]
  double target = 0;                    ///< least speed along n asked for in the pass under way [m/s]
  double weight = 0;                    ///< its part of the load in the step before [N s]
  double push = 0;                      ///< given to push_v where overlap is pushed out [N s]
  double tolerance = 0;                 ///< how far it may miss the target [m/s]
  double impulse = 0;                   ///< normal, summed over the step [N s]
  Vec3 contact_impulse = Vec3::Zero();  ///< given by contact rather than collision, on b [N s]
  double speed = 0;                     ///< along n before anything was solved [m/s]
  double depth = 0;                     ///< at the predicted position [m]
  bool listed = false;                  ///< among the interfering points of the pair
  bool pulls = false;                   ///< listed because it was pushed too far
  bool bounced = false;
};

/// What settling a flat patch as a whole needs: the same all through a step, but for which of the bodies
/// yield.
struct FlatFrame {
  enum class Fit : std::uint8_t { unknown, flat, not_flat };
  Fit fit = Fit::unknown;
  ContactPlace place;  ///< in the middle of the points
  Vec3 t1;             ///< axes in the patch
  Vec3 t2;
  std::array<Vec3, 4> at;  ///< (1, x, y) of each point
  Mat3 inverse_moments;    ///< of the sum of their outer products
  double arm = 0;          ///< mean distance from the middle [m]
  int movable_mask = -1;   ///< for which the matrices below stand: 1 a, 2 b; -1: none yet
  Mat3 K_inverse;
  Mat3 L;
  Mat3 S_inverse;
};

/// A contact patch during a step.
struct ImpulsePatch {
  std::int32_t source = 0;  ///< patch of the scene
  Vec3 n;
  int count = 0;
  std::array<ImpulsePoint, 4> points;
  double restitution = 0;
  PlaceFriction friction;
  double acceleration = 0;  ///< of b against a along n, of gravity and applied forces [m/s^2]
  Vec3 contact_angular_impulse = Vec3::Zero();  ///< angular impulse given by contact, on b [N m s]
  Vec3 warm_friction = Vec3::Zero();            ///< by contact in the step before, across n, on b [N s]
  Vec3 warm_angular = Vec3::Zero();             ///< likewise about the points [N m s]
  Vec3 friction_total = Vec3::Zero();           ///< on b, summed over the step [N s]
  bool one_sided = false;  ///< shock propagation held one of the bodies; what both felt is kept below
  std::array<Vec3, 4> felt_impulse;  ///< contact_impulse of each point that both bodies felt, on b [N s]
  Vec3 felt_angular_impulse;         ///< likewise contact_angular_impulse [N m s]
  FlatFrame flat;

  [[nodiscard]] std::span<ImpulsePoint> active() { return {points.data(), static_cast<std::size_t>(count)}; }
  [[nodiscard]] std::span<const ImpulsePoint> active() const
  {
    return {points.data(), static_cast<std::size_t>(count)};
  }
};

/// All patches between two bodies.
struct ImpulsePair {
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::int32_t level = 0;  ///< the higher of the two
  std::size_t begin = 0;   ///< patches
  std::size_t end = 0;
  std::size_t found_begin = 0;  ///< its patches in the state, where `begin` and `end` are those sampled
  std::size_t found_end = 0;
  bool is_sampled = false;       ///< points are found again at each visit
  bool is_warm = false;          ///< started from impulses of the step before
  std::uint64_t settled_at = 0;  ///< changes of the two bodies so far when it was last found settled, plus 1
};

class ImpulseStepper final : public Stepper {
 public:
  explicit ImpulseStepper(const ImpulseSettings& settings = {}, const ImpactSettings& impacts = {})
      : settings_(settings), impacts_(impacts)
  {
  }

  [[nodiscard]] int substeps() const override { return 1; }
  [[nodiscard]] ContactGraph order_contacts(const model::SceneModel& model, const model::SceneState& state,
                                            double h) const override;
  void collide(StepFrame& frame) override;
  void advance_velocities(StepFrame& frame, double h) override;
  void resolve_contacts(StepFrame& frame, double h) override;
  void advance_positions(StepFrame& frame, double h) override;
  void bounce(StepFrame& frame, double h) override;
  void store_results(StepFrame& frame) override;
  [[nodiscard]] std::uint64_t large_impacts() const override { return impacts_.skipped(); }

 private:
  /// Points of one patch that are treated as one place.
  struct Choice {
    ImpulsePatch* patch = nullptr;
    std::array<bool, 4> taken{};
    std::array<double, 4> share{};  ///< of the place's impulse, summing to 1
    int count = 0;
    std::size_t deepest = 0;  ///< of the points taken

    void take_deepest_only()
    {
      taken = {};
      share = {};
      taken[deepest] = true;
      share[deepest] = 1;
      count = 1;
    }
  };

  // The parts of the method, in the order in which they act.
  void gather_pairs(const StepFrame& frame);
  void order_pairs(std::span<const std::int32_t> levels, std::int32_t count);
  void reflect_impacts(StepFrame& frame);
  void mark_sampled_pairs(const StepFrame& frame);
  void clear_samples();
  void sample_pair(const StepFrame& frame, ImpulsePair& pair, double h, bool before_velocities);
  void store_sampled_impulses(ImpulsePair& pair);
  void find_levels_from_samples(const StepFrame& frame, double h);
  [[nodiscard]] ImpulsePoint* nearest_found_point(const ImpulsePair& pair, const Vec3& n, const Vec3& rb,
                                                  ImpulsePatch*& patch);
  void collision_phase(const StepFrame& frame, double h, bool before_velocities);
  void list_interfering_points(const ImpulsePair& pair, double h, bool before_velocities);
  bool collide_pair(const ImpulsePair& pair);
  void warm_start(const StepFrame& frame, double h);
  void apply_warm_impulses();
  void scale_warm_impulses();
  void contact_pass(const StepFrame& frame, double h, double kept, bool only_resting = false);
  void extra_contact_passes(StepFrame& frame, double h);
  /// How a pair is settled.
  struct Visit {
    double kept = 0;           ///< share of the approach that points keep
    int iterations = 1;        ///< impulses at most
    double tolerance = 0;      ///< by which points may miss their speed [m/s]
    double gravity_speed = 0;  ///< what gravity gives in a step [m/s]
    bool is_exact = false;  ///< to the tolerance, not only to a share of what was missed; friction comes with
                            ///< the normal impulses
  };
  bool settle_pair(ImpulsePair& pair, double h, Visit visit);
  void set_targets(const ImpulsePair& pair, double h, const Visit& visit, bool rests);
  double list_unsettled_points(const ImpulsePair& pair, double h, double creep);
  [[nodiscard]] static double target_of(const Choice& choice);
  [[nodiscard]] bool both_rest(const ImpulsePair& pair, double h)
  {
    return is_resting(bodies_[pair.a], h) && is_resting(bodies_[pair.b], h);
  }
  enum class FlatPatchResult { not_possible, settled, done };
  [[nodiscard]] static bool find_flat_frame(ImpulsePatch& patch);
  static void compute_flat_matrices(const SolverBody& A, const SolverBody& B, FlatFrame& flat);
  [[nodiscard]] std::uint64_t changes_of(const ImpulsePair& pair) const
  {
    return changes_[static_cast<std::size_t>(pair.a)] + changes_[static_cast<std::size_t>(pair.b)];
  }
  void record_change(const ImpulsePair& pair)
  {
    ++changes_[static_cast<std::size_t>(pair.a)];
    ++changes_[static_cast<std::size_t>(pair.b)];
  }
  FlatPatchResult solve_flat_patch(const ImpulsePair& pair, ImpulsePatch& patch, double h);
  /// `fit` is the plane of the speeds asked for, in the axes of the patch.
  FlatPatchResult slide_flat_patch(const ImpulsePair& pair, ImpulsePatch& patch, const Vec3& fit);
  void shock_propagation(const StepFrame& frame, double h);
  void hold_level(std::int32_t level, double h);
  void record_felt_impulses(const ImpulsePair& pair);
  [[nodiscard]] bool is_rubbed_wrongly(const ImpulsePair& pair, const ImpulsePatch& patch, double creep);
  void release_all();
  void use_mean_velocities(double h);
  void push_out(double h);
  void push_patch_out(const ImpulsePair& pair, ImpulsePatch& patch);
  void apply_late_rebounds();

  // What they share.
  [[nodiscard]] Choice deepest_place(const ImpulsePair& pair, double same_depth) const;
  bool apply_contact_impulse(const ImpulsePair& pair, const Choice& choice, double speed, bool resting);
  static void share_by_load(Choice& choice);
  [[nodiscard]] double speed_along(const ImpulsePair& pair, const ImpulsePatch& patch,
                                   const ImpulsePoint& point)
  {
    const SolverBody& A = bodies_[pair.a];
    const SolverBody& B = bodies_[pair.b];
    return patch.n.dot(B.v - A.v) + point.rb_n.dot(B.w) - point.ra_n.dot(A.w);
  }
  [[nodiscard]] bool is_movable(const ImpulsePair& pair)
  {
    return bodies_[pair.a].inverse_mass > 0 || bodies_[pair.b].inverse_mass > 0;
  }

  ImpulseSettings settings_;
  SolverBodies bodies_;
  JointRows joints_;
  IslandEnergy energy_;
  std::vector<ImpulsePatch> patches_;
  std::vector<ImpulsePair> pairs_;        ///< from the ground up
  std::vector<std::size_t> level_begin_;  ///< first pair of each level, and their number at the end
  std::vector<std::vector<std::int32_t>> on_level_;  ///< bodies of each level
  struct InverseMass {
    double inverse_mass;
    Mat3 inverse_inertia;
  };
  std::vector<InverseMass> saved_masses_;  ///< of all bodies, while some are held
  std::vector<SolverBody> before_;         ///< velocities after collisions, before gravity
  std::vector<std::uint64_t> changes_;     ///< of each body: how many impulses it got in this step
  std::vector<Vec3> mean_push_;            ///< what the mean velocities made of push_v [m/s]
  std::size_t found_patches_ = 0;          ///< patches of the state; those sampled follow
  collision::InterferingPointFinder finder_;
  double length_scale_ = 1;
  ImpactEvents impacts_;
  /// In the pass under way beyond what a gap allows, before visits; 1 is what shock propagation may get.
  double max_approach_ = 0;
  double settled_ = 0;  ///< speed below which a point needs nothing more [m/s]
};

}  // namespace thrum::rigid
