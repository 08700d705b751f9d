// SPDX-License-Identifier: MIT
// A scene that runs.
//
//   World world;
//   const ShapeId box = world.add_shape({model::Box{{0.5, 0.5, 0.5}}});
//   world.add_body({.shape = world.add_shape({model::Plane{}}), .motion = model::Motion::fixed});
//   const BodyId b = world.add_body({.shape = box, .X_ws = {{0, 0, 3}, Quat::Identity()}, .density = 1000});
//   for (int i = 0; i < 600; ++i) world.step(1.0 / 60);
//
// docs/the-step.md walks through step() under the names of its stages.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "thrum/base/hash.h"
#include "thrum/base/index.h"
#include "thrum/base/timing.h"
#include "thrum/collision/broad_phase.h"
#include "thrum/collision/narrow_phase_settings.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/flexible/flexible_settings.h"
#include "thrum/model/response.h"
#include "thrum/model/scene.h"
#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/impact_settings.h"
#include "thrum/rigid/impulse_settings.h"
#include "thrum/rigid/penalty_settings.h"
#include "thrum/rigid/sleep_settings.h"
#include "thrum/sim/step_observer.h"

namespace thrum::collision {
struct ContactUpdate;      // thrum/collision/narrow_phase.h
struct Deflection;         // thrum/collision/deformed_shape.h
class NarrowPhaseScratch;  // thrum/collision/narrow_phase.h
struct WidePair;           // thrum/collision/narrow_phase.h
struct ShapeMotion;        // thrum/collision/time_of_impact.h
}  // namespace thrum::collision

namespace thrum::rigid {
struct ContactGraph;  // thrum/rigid/contact_graph.h
class Stepper;        // thrum/rigid/stepper.h
struct StepFrame;     // thrum/rigid/stepper.h
}  // namespace thrum::rigid

namespace thrum::flexible {
class FlexibleStepper;
struct ElasticBody;     // thrum/flexible/elastic_body.h
struct FlexibleReport;  // thrum/flexible/flexible_report.h
class SubstepObserver;  // thrum/flexible/group_problem.h
}  // namespace thrum::flexible
namespace thrum::model {
struct ModalModel;  // thrum/model/modal_model.h
}  // namespace thrum::model

namespace thrum::sim {

enum class StepperKind : std::uint8_t { constraint, impulse, penalty, flexible };

/// What keeps bodies that are fast for their size from passing through others.
enum class TimeOfImpactMethod : std::uint8_t {
  none,        ///< nothing: they may pass
  continuous,  ///< a slice in which one would pass is solved again up to the impact (world_impacts.cpp)
  // Those of [Lecture13]: contacts do not look ahead, and every impact ends a slice
  // (world_impact_times.cpp).
  bisection,     ///< a slice that ends in overlap is halved until its end is within the tolerance
  conservative,  ///< slices end where bounds of the motion say that nothing has met before
  timewarp       ///< likewise, for each group of bodies that meet at its own time (world_timewarp.cpp)
};

/// What a step gathers at its end. In a pyramid of 210 boxes all of it takes a quarter of the step, so switch
/// off what is not read.
struct StepReports {
  bool contacts = true;
  bool impulses = true;
  bool events = true;
};

struct WorldDesc {
  Vec3 gravity{0, 0, -9.81};  ///< [m/s^2]
  double length_scale = 1.0;  ///< size of a typical body [m]
  StepperKind stepper = StepperKind::constraint;
  rigid::ConstraintSettings constraint = {};
  rigid::ImpulseSettings impulse = {};
  rigid::PenaltySettings penalty = {};
  flexible::FlexibleSettings flexible = {};  ///< with this stepper bodies do not sleep
  rigid::ImpactSettings impacts = {};        ///< with restitution, of the constraint and the impulse stepper
  rigid::SleepSettings sleep = {};
  collision::BroadPhaseDesc broad_phase = {};
  collision::NarrowPhaseDesc narrow_phase = {};
  collision::Interference interference = collision::Interference::hierarchy;  ///< of meshes
  double max_move =
      1.0;  ///< a body moves at most this share of its least extent before contacts are found again
  double max_turn = 0.25;  ///< and turns at most this far [rad]
  int max_slices = 8;      ///< into which a step is cut for that
  TimeOfImpactMethod time_of_impact = TimeOfImpactMethod::continuous;
  int max_impact_slices = 8;  ///< cuts of a step at impacts of bodies that are fast for their size
  /// Of bisection, conservative and timewarp: gap that an impact may be found early by, as a share of the
  /// thinner body's least extent.
  double impact_tolerance = 1e-3;
  int threads = 0;           ///< that a step uses at most; 0: THRUM_THREADS, or all cores
  StepReports reports = {};  ///< can be changed between steps by set_reports()
};

/// What became of impacts that contacts did not see, since the world was made.
struct ImpactCounts {
  std::uint64_t stopped_bodies =
      0;                 ///< times that a body was stopped for the rest of a slice, since its step
                         ///< had been cut max_impact_slices times
  double lost_time = 0;  ///< for which they stood, summed over the bodies [s]

  // Work: each slice that was solved counts once, and once for each awake body in it.
  std::uint64_t solved_slices = 0;
  std::uint64_t solved_bodies = 0;
  std::uint64_t undone_slices = 0;  ///< of these, slices that were solved again
  std::uint64_t undone_bodies = 0;
};

/// Limits of the simulation that were reached, since the world was made. All are 0 in a run that is as exact
/// as its settings promise.
struct LimitCounts {
  std::uint64_t long_slices = 0;  ///< steps in which bodies moved so fast that max_slices was too few
  double max_slices_needed = 0;   ///< the most that a step would have needed
  /// Contact points left out because their pair had eight patches already, summed over the searches for
  /// contacts.
  std::uint64_t points_left_out = 0;
  std::uint64_t large_impacts = 0;  ///< elastic ones of more points at once than stepper.impacts.max_points
  std::uint64_t long_substeps = 0;  ///< slices for which stepper.penalty.max_substeps was too few
  double max_substeps_needed = 0;   ///< the most that a slice would have needed
  /// Steps by `timewarp` taken by `conservative`, because World::can_warp() was false.
  std::uint64_t steps_not_warped = 0;
};

/// A body by its shape: mass, centre and inertia follow from the density, or from the mass if it is given,
/// unless they are given themselves.
struct BodyDesc {
  std::string name = {};
  model::ShapeId shape = {};
  Pose X_ws = {};  ///< shape axes to world
  model::Motion motion = model::Motion::dynamic;
  model::SurfaceId surface = model::kDefaultSurface;
  double density = 1000.0;                  ///< [kg/m^3]
  std::optional<double> mass = {};          ///< [kg]; the density then only sets the shape of the inertia
  std::optional<Vec3> centre_of_mass = {};  ///< in shape axes; default: that of the shape [m]
  /// About the centre of mass, in shape axes [kg m^2]; needs `mass`. Default: that of the shape about its own
  /// centre.
  std::optional<Mat3> inertia = {};
  Vec3 velocity = Vec3::Zero();          ///< of the centre of mass [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< [rad/s]
  double gravity_scale = 1.0;            ///< times the gravity of the world; below 0 it rises
  double linear_damping = 0.0;           ///< rate at which the velocity decays [1/s]
  double angular_damping = 0.0;          ///< rate at which the spin decays [1/s]
  std::uint32_t collision_group = 1;     ///< bits of the groups it is in
  /// Bits of the groups it touches. Two bodies touch when each is in a group that the other touches.
  std::uint32_t collides_with = std::numeric_limits<std::uint32_t>::max();
  /// A sensor touches nothing: it reports what overlaps it, by contacts() with no impulse and by the events
  /// begin and end, and changes the motion of no body. Sensors see dynamic bodies, not one another.
  bool sensor = false;
  bool may_sleep = true;        ///< false: it stays awake, and with it all that it touches
  std::uint64_t user_data = 0;  ///< kept in BodyProperties::user_data, not read by the library
};

class World {
 public:
  explicit World(const WorldDesc& desc = {});
  ~World();
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;

  // Building, at any time between steps. Adding and removing take amortised constant time; errors say what
  // was wrong with which value. What is removed before it touched anything, had a joint or cut a step into
  // slices leaves no bit behind in the rest. Bits depend on the order of adding.
  model::ShapeId add_shape(model::Shape shape);
  model::SurfaceId add_surface(const model::Surface& surface);
  void set_surface(model::SurfaceId id, const model::Surface& surface);
  void set_surface_pair(model::SurfaceId a, model::SurfaceId b, const model::Surface& values);
  model::BodyId add_body(const BodyDesc& desc);
  /// Throws the Error that add_body() would throw, and adds nothing.
  void check_body(const BodyDesc& desc) const;
  model::JointId add_joint(const model::JointDesc& desc);
  /// Joints of the body go with it, what rested on it wakes, and its contacts end in the next step.
  void remove_body(model::BodyId id);
  void remove_joint(model::JointId id);
  /// Throws Error while a body has the shape.
  void remove_shape(model::ShapeId id);
  [[nodiscard]] bool contains(model::BodyId id) const { return body_table_.contains(id); }
  [[nodiscard]] bool contains(model::JointId id) const;
  [[nodiscard]] bool contains(model::ShapeId id) const { return shape_table_.contains(id); }
  /// The bodies that exist, in the order in which they were added.
  [[nodiscard]] std::vector<model::BodyId> bodies() const;

  /// Advances the scene by h [s].
  void step(double h);

  // Acting on bodies between steps. Each wakes the body.
  void apply_impulse(model::BodyId id, const Vec3& impulse, const Vec3& position);  ///< [N s], world
  void apply_force(model::BodyId id, const Vec3& force,
                   const Vec3& position);  ///< held over the next step [N]; lost if called in after_slice()
  void set_velocity(model::BodyId id, const Vec3& velocity, const Vec3& angular_velocity);
  void set_pose(model::BodyId id, const Pose& X_ws);  ///< of its shape, as in BodyDesc
  void wake(model::BodyId id);

  // Changing what a scene is made of, between steps. Each wakes the bodies concerned.
  void set_gravity(const Vec3& gravity);  ///< [m/s^2]
  /// The shape stays where it is. A body that becomes dynamic gets the mass of its description.
  void set_motion(model::BodyId id, model::Motion motion);
  void set_surface(model::BodyId id, model::SurfaceId surface);
  void set_mass(model::BodyId id, double mass);  ///< [kg]; the inertia is scaled with it
  /// What a body is made of and how it vibrates, for the flexible stepper. Throws Error with another stepper,
  /// and for a model that does not have the size of the shape.
  void set_elastic(model::BodyId id, const flexible::ElasticBody& body);
  /// The modes that set_elastic() gave a body; empty: none.
  [[nodiscard]] std::shared_ptr<const model::ModalModel> modes_of(model::BodyId id) const;
  void set_joint_motor(model::JointId id, const model::JointMotor& motor);
  void set_joint_limits(model::JointId id, const model::JointLimits& limits);
  void remove_joint_limits(model::JointId id);
  void set_joint_length(model::JointId id,
                        double length);  ///< rest length of a distance joint or a spring [m]
  /// Angle of a hinge [rad], displacement of a slider, distance of the origins of a distance joint or a
  /// spring [m].
  [[nodiscard]] double joint_value(model::JointId id) const;
  [[nodiscard]] double joint_speed(model::JointId id) const;              ///< its rate [rad/s] or [m/s]
  [[nodiscard]] const model::JointState& joint(model::JointId id) const;  ///< impulses of the last step

  // Read access.
  [[nodiscard]] const model::SceneModel& model() const { return model_; }
  [[nodiscard]] const model::SceneState& state() const { return state_; }
  [[nodiscard]] const model::BodyState& body(model::BodyId id) const
  {
    return state_.bodies[at(index_of(id))];
  }
  [[nodiscard]] const model::BodyProperties& desc_of(model::BodyId id) const
  {
    return model_.bodies[at(index_of(id))];
  }
  [[nodiscard]] Pose shape_pose(model::BodyId id) const;  ///< X_ws
  /// Where a part is in the arrays of model() and state(). Throws Error for one that was removed, and for an
  /// id of another world. Positions may change in the next step after something was removed; ids do not.
  [[nodiscard]] model::BodyIndex index_of(model::BodyId id) const;
  [[nodiscard]] model::JointIndex index_of(model::JointId id) const;
  [[nodiscard]] model::ShapeIndex index_of(model::ShapeId id) const;
  [[nodiscard]] model::SurfaceIndex index_of(model::SurfaceId id) const;
  [[nodiscard]] model::BodyId id_of(model::BodyIndex index) const { return state_.body_ids[at(index)]; }
  /// False for the position of a body that was removed and is not yet closed up.
  [[nodiscard]] bool exists(model::BodyIndex index) const { return removed_[at(index)] == 0; }
  [[nodiscard]] std::span<const collision::PreparedShape> shapes() const { return prepared_; }
  [[nodiscard]] const collision::BroadPhase& broad_phase() const { return broad_phase_; }
  [[nodiscard]] const WorldDesc& desc() const { return desc_; }

  // What happened in the last step. Each throws Error when its report is switched off.
  [[nodiscard]] std::span<const model::Contact> contacts() const;
  [[nodiscard]] std::span<const model::ContactEvent> events() const;
  [[nodiscard]] std::span<const model::ImpulseEvent> impulses() const;
  [[nodiscard]] const ImpactCounts& impact_counts() const { return impact_counts_; }
  [[nodiscard]] LimitCounts limit_counts() const;
  /// Whether steps by `timewarp` are taken by groups at times of their own: not with observers that do not
  /// only watch (StepObserver::only_watches; what these do to a body depends on all bodies at one time), with
  /// sensors and the flexible stepper, or with joints and the impulse stepper.
  [[nodiscard]] bool can_warp() const;
  /// From the next step on.
  void set_reports(const StepReports& reports) { desc_.reports = reports; }
  /// What observers emitted in the last step.
  [[nodiscard]] std::span<const model::ResponseEvent> responses() const { return responses_; }

  // Observers (step_observer.h): called in each step, in the order in which they were added. The world keeps
  // a reference to each of them.
  void add_observer(StepObserver& observer);
  void remove_observer(StepObserver& observer);  ///< nothing happens when it was not added
  /// Called in each substep of the flexible stepper, to study how it solves (flexible/group_problem.h, which
  /// is not installed); nullptr: none. The world keeps a reference. Throws Error with another stepper.
  void set_substep_observer(flexible::SubstepObserver* observer);

  // Saving, comparing, measuring.
  [[nodiscard]] model::SceneState save() const;
  /// Continues from a saved state of the same scene, bit for bit. Throws Error, with the field, its value and
  /// what was expected, for a state that does not fit the scene; the world then stays as it is.
  void restore(const model::SceneState& state);
  /// Of all fields of the state: equal hashes mean that the two worlds go on with the same bits.
  [[nodiscard]] base::Hash128 hash() const;
  [[nodiscard]] double kinetic_energy() const;    ///< [J]
  [[nodiscard]] double potential_energy() const;  ///< against gravity, zero at the origin [J]
  /// Stored in contacts at the end of the last step, of the penalty and the flexible stepper; 0 for the
  /// others, and after restore() up to the next step [J].
  [[nodiscard]] double contact_energy() const;
  /// Of the modes of all bodies, of the flexible stepper; 0 for the others [J].
  [[nodiscard]] double vibration_energy() const;
  /// Throws Error with another stepper than the flexible one.
  [[nodiscard]] const flexible::FlexibleReport& flexible_report() const;
  [[nodiscard]] Vec3 momentum() const;  ///< [kg m/s]
  [[nodiscard]] base::StageTimes& times() { return times_; }

 private:
  friend class StepView;

  /// Two bodies that push each other, with the place of the largest impulse.
  struct PushedPair {
    collision::BodyPair pair;
    Vec3 position = Vec3::Zero();  ///< [m]
    Vec3 normal = Vec3::UnitZ();
  };

  /// Throws Error while a step runs: an observer may not change what the step is working on.
  void require_no_step(const char* call) const;
  void apply_removals();
  void close_up_places();
  void remove_joints_of_removed_bodies();
  void compact_bodies();
  void drop_misplaced_references();
  void list_excluded_pairs();
  void wake_around_removed(model::SceneState& state) const;
  double step_slice(double h, double min_slice, bool may_cut);
  void solve_slice(double h);
  double solve_until_impact(double h, double min_slice, bool may_cut);
  void remember_slice_start();
  void restore_slice_start();
  [[nodiscard]] collision::ShapeMotion motion_in_slice(model::BodyIndex id, double h) const;
  [[nodiscard]] bool was_stopped(model::BodyIndex id) const
  {
    return !kept_motion_.empty() && kept_motion_[at(id)] < 1;
  }
  // Impact times (world_impact_times.cpp).
  [[nodiscard]] bool finds_impact_times() const
  {
    return desc_.time_of_impact > TimeOfImpactMethod::continuous && !looks_ahead_;
  }
  // Bodies struck within a slice (world_struck.cpp).
  [[nodiscard]] bool add_missed_pairs(double h);
  void list_missed_pairs(double h);

  double bisect_world(double h, double min_slice);
  [[nodiscard]] bool list_new_overlaps(double h);
  [[nodiscard]] double predicted_fraction(double h) const;
  [[nodiscard]] collision::ShapeMotion predicted_motion(model::BodyIndex id, double h) const;
  [[nodiscard]] std::uint64_t awake_bodies() const;
  void count_undone_slice();

  // Timewarp (world_timewarp.cpp).
  struct WarpGroup;
  class Timewarp;
  void step_by_timewarp(double h);
  void find_sensor_patches(double h);
  void swap_group(WarpGroup& group);
  void advance_group(WarpGroup& group, double end, double h);
  void find_pairs_in_group(double h);
  void list_fast_pairs_in_group(double h);

  void list_fast_bodies(double h);
  [[nodiscard]] Box3 box_of_motion(model::BodyIndex id, double h) const;
  void list_fast_pairs(double h);
  [[nodiscard]] bool may_collide(const collision::BodyPair& pair) const;
  [[nodiscard]] bool has_patch(const collision::BodyPair& pair) const;
  [[nodiscard]] double free_fraction(const collision::BodyPair& pair, double h, double max_fraction,
                                     int attempt) const;
  [[nodiscard]] double find_first_impact(double h, int attempt);
  [[nodiscard]] double impact_slice(double h) const;
  void stop_before_impacts(double h, int attempt);
  void count_stopped(double h);
  [[nodiscard]] double slices_needed(double h) const;
  void count_slices(double needed, double h);
  [[nodiscard]] Box3 swept_box(std::size_t i, double h) const;
  void find_pairs(double h);
  /// The box of a body in the broad phase, after a change of its pose.
  void update_box(model::BodyIndex index);
  void update_moved_boxes();
  /// Of the pairs found for a longer time those that may meet within h.
  void refilter_pairs(double h);
  void remove_far_pairs();
  void find_contacts(double h);
  /// Undoes find_contacts().
  void restore_previous_contacts();
  void list_pushed_pairs();
  void find_surfaces();
  void filter_contacts(double h);
  void remove_disabled_patches(const std::vector<bool>& disabled);
  void order_contacts(double h);
  [[nodiscard]] bool is_ordered(double h);
  void respond(double h);
  void show_slice(double h);
  void finish_step(double h);
  void timestamp_responses();
  void begin_observed_step(double h);
  void begin_observed_slice(bool is_first);
  void end_observed_step(double start, double h);
  [[nodiscard]] StepView slice_view(double h) const;
  template <class Call>
  void for_each_observer(const Call& call);
  [[nodiscard]] rigid::StepFrame frame(double h);
  void report();
  void report_contacts();
  void report_events();
  void report_sensor_events();
  void report_patch_contacts(const model::ContactPatch& patch);
  void check_properties(const model::BodyProperties& desc, const model::BodyState& state) const;
  void find_inertia(model::BodyProperties& desc) const;
  [[nodiscard]] std::pair<model::BodyProperties, model::BodyState> make_body(const BodyDesc& desc) const;
  void wake_contacts_of(model::BodyIndex index);
  model::Joint& awake_joint(model::JointId id);
  model::BodyState& awake_body(model::BodyId id);

  WorldDesc desc_;
  model::SceneModel model_;
  model::SceneState state_;
  std::vector<collision::PreparedShape> prepared_;
  collision::BroadPhase broad_phase_;
  std::unique_ptr<rigid::Stepper> stepper_;
  flexible::FlexibleStepper* flexible_ = nullptr;  ///< the stepper, if it is that one

  std::uint32_t number_;  ///< of all worlds of the process, from 1 on; ids of other worlds are rejected by it

  // Ids. A body that is removed stays in its place, fixed and without a box, until half of the places are
  // empty.
  base::IdTable<model::BodyTag> body_table_;
  base::IdTable<model::JointTag> joint_table_;
  base::IdTable<model::ShapeTag> shape_table_;
  std::vector<std::int32_t> shape_users_;    ///< bodies that have each shape
  std::vector<std::uint8_t> removed_;        ///< by body index
  std::vector<std::uint8_t> joint_removed_;  ///< by joint index
  std::size_t removed_count_ = 0;            ///< bodies
  bool removals_pending_ = false;
  bool is_stepping_ = false;
  bool excluded_pairs_stale_ = false;

  // Impacts of fast bodies (world_impacts.cpp).
  struct SliceStart {
    std::vector<model::BodyState> bodies;
    std::vector<model::JointState> joints;
    std::vector<model::ModalState> modal_states;  ///< of the flexible stepper
  };
  SliceStart slice_start_;
  std::vector<model::BodyIndex> fast_bodies_;
  std::vector<collision::BodyPair> fast_pairs_;
  std::vector<collision::BodyPair> disabled_pairs_;  ///< by observers, in this slice; sorted
  std::vector<double> kept_motion_;                  ///< by body, while bodies are stopped
  double min_fast_move_ = 0;
  double next_slice_ = std::numeric_limits<double>::infinity();  ///< max length of the next slice [s]
  collision::BodyPair first_impact_;
  bool looks_ahead_ = true;                        ///< contacts of this slice are found before bodies touch
  bool in_group_ = false;                          ///< the members below are those of a group of the timewarp
  std::vector<collision::BodyPair> overlaps_;      ///< that were no contacts, at the end of the slice
  std::vector<collision::WidePair> wide_pairs_;    ///< met by what was struck in this slice; sorted
  std::vector<collision::BodyPair> missed_pairs_;  ///< that may be: their boxes overlap at its end
  std::vector<Pose> end_X_ws_;                     ///< of the shapes of these
  std::vector<model::ContactPatch> missed_patches_;  ///< by which these overlap there
  double warped_contact_energy_ = 0;  ///< of the groups of the last step, if it was by timewarp [J]
  ImpactCounts impact_counts_;
  LimitCounts limit_counts_;

  // Scratch of one step.
  std::vector<Pose> X_ws_;
  std::vector<collision::Deflection> deflections_;  ///< of bodies that bend, as the stepper says
  std::vector<Box3> boxes_;                         ///< of the bodies, with their way
  std::vector<collision::BodyPair> near_pairs_;     ///< whose boxes overlap, sorted
  std::unique_ptr<collision::NarrowPhaseScratch> narrow_phase_scratch_;
  std::unique_ptr<collision::ContactUpdate> contact_update_;
  bool same_contacts_ = false;    ///< patches and model are those of the slice before
  bool contacts_changed_ = true;  ///< bodies, joints or contacts, by something else than a step
  bool surfaces_changed_ = true;
  double graph_step_ = 0;                              ///< for which `graph_` was made [s]
  std::vector<std::uint8_t> graph_asleep_;             ///< by body, when it was made
  std::vector<PushedPair> pushed_before_;              ///< in the slice before, for events; ordered by bodies
  std::vector<model::ContactPatch> previous_patches_;  ///< of the slice before, if it may be undone
  std::vector<model::PairReference> previous_references_;  ///< likewise
  std::vector<model::ContactPatch> previous_sensor_patches_;
  std::vector<StepObserver*> called_observers_;        ///< those of the running step; null: removed meanwhile
  std::vector<model::BodyState> bodies_before_step_;   ///< empty unless an observer needs them
  std::vector<model::BodyState> bodies_before_slice_;  ///< empty in the first slice
  std::vector<model::Surface> surfaces_;
  std::unique_ptr<rigid::ContactGraph> graph_;       ///< patches to solve, and levels
  std::vector<collision::BodyPair> excluded_pairs_;  ///< pairs that joints keep from touching, sorted

  // What the last step reports, over all its slices.
  std::vector<model::Contact> contacts_;
  std::vector<model::ImpulseEvent> impulses_;
  std::vector<model::ContactEvent> events_;
  std::vector<model::ResponseEvent> responses_;
  std::size_t timestamped_responses_ = 0;  ///< of these, those with their step and time
  std::vector<StepObserver*> observers_;
  base::StageTimes times_;
};

/// The stepper of that kind. Throws Error for kinds that this build does not have.
[[nodiscard]] std::unique_ptr<rigid::Stepper> make_stepper(const WorldDesc& desc);

}  // namespace thrum::sim
