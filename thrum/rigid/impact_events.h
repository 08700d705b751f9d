// SPDX-License-Identifier: MIT
// Impacts with restitution at the times within a substep at which they happen.
//
// Between impacts a body moves along x(t) = x0 + shift + v t + a t^2 / 2, where a is its acceleration,
// without the part that presses on what it touches. The gaps of its contacts follow to first order, those
// between balls exactly; the next impact is where the first of them closes with a speed that restitution
// makes a rebound of. Then all contacts that touch and hang together with it are reflected
// (impact_reflection.h), and with v- and v+ the velocities before and after the impact at time t
//
//     v <- v + (v+ - v-),      shift <- shift - t (v+ - v-),                                             (1)
//
// so that the body is where it was and goes on with its new velocity. After the last impact the substep goes
// on as if the bodies had started from x0 + shift with these velocities: the rest of it acts on v, and the
// shift moves the bodies together with v. The rotation has no such shift: angular velocity and inertia
// belong to one orientation, and turning the body alone would change its angular momentum or its energy. A
// ball that falls onto a plane so comes back to its height and at the right time, wherever in the substep
// the impacts fall.
//
// Contact that was found only when the bodies overlapped has its impact before the substep, at t < 0.
//
// A point can begin an impact when contact did not push there in the step before or it has a gap. Where
// bodies lie on each other, speeds of approach are errors of the solver, not impacts. Rebounds slower than a
// small share of what gravity gives in a substep are not worth a flight: the body has landed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/rigid/impact_reflection.h"
#include "thrum/rigid/impact_settings.h"
#include "thrum/rigid/joint_rows.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

/// A contact patch at the beginning of a substep.
struct ImpactPatch {
  struct Point {
    Vec3 ra = Vec3::Zero();  ///< from the centre of mass of a [m]
    Vec3 rb = Vec3::Zero();
    double gap = 0;        ///< [m]
    bool pressed = false;  ///< contact pushed here in the step before
    double impulse = 0;    ///< result: along the normal, on b [N s]
    bool collided = false;
  };
  std::int32_t a = 0;
  std::int32_t b = 0;
  Vec3 n = Vec3::Zero();
  double restitution = 0;
  double friction = 0;
  int count = 0;
  std::array<Point, 4> points;
  /// Two balls about their centres of mass: the normal follows from where they are. Otherwise it stays.
  bool balls = false;
  double radius_a = 0;  ///< of balls [m]
  double radius_b = 0;
  Vec3 between = Vec3::Zero();           ///< of balls, from the centre of a to that of b [m]
  Vec3 friction_impulse = Vec3::Zero();  ///< result: on b [N s]
};

/// Fills what `patch` says about balls, for bodies at these places.
void set_balls(const model::SceneModel& model, const model::SceneState& state, ImpactPatch& patch);

/// Where the patches of a stepper come from.
class ImpactSource {
 public:
  virtual ~ImpactSource() = default;
  [[nodiscard]] virtual std::size_t count() const = 0;
  [[nodiscard]] virtual std::array<std::int32_t, 2> bodies_of(std::size_t patch) const = 0;
  [[nodiscard]] virtual ImpactPatch patch(std::size_t patch) const = 0;
};

/// What is the same for all impacts of a substep.
struct ImpactValues {
  double h = 0;             ///< the substep [s]
  double step = 0;          ///< the whole step [s]
  double length_scale = 1;  ///< [m]
  double gravity = 0;       ///< magnitude [m/s^2]
};

class ImpactEvents {
 public:
  explicit ImpactEvents(const ImpactSettings& settings) : settings_(settings) {}

  [[nodiscard]] bool enabled() const { return settings_.simultaneous == SimultaneousImpacts::reflections; }
  /// Once a step: the patches of each body.
  void begin_step(const ImpactSource& source, std::size_t bodies);
  /// Whether a point with this gap [m], speed [m/s] and largest acceleration of its bodies [m/s^2] may have
  /// an impact in the substep.
  [[nodiscard]] static bool may_collide(double gap, double speed, double acceleration,
                                        const ImpactValues& values);
  /// Resolves the impacts of a substep, beginning with those of the patches given. False: there was none.
  bool run(const ImpactSource& source, SolverBodies& bodies, std::span<const JointRow> joints,
           std::span<const std::size_t> candidates, const ImpactValues& values);

  /// Impacts with a restitution of at least 0.5 since this was made that were left to the stepper, because
  /// they reached more points or joints at once than the settings allow.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

  struct ChangedPatch {
    std::size_t index = 0;  ///< in the source
    ImpactPatch patch;
    /// Of each point: the gap from which the rest of the substep starts. A point that flies at its end has
    /// all the room it needs.
    std::array<double, 4> gap{};
    std::array<bool, 4> flies{};
  };
  struct Shift {
    std::int32_t body = 0;
    Vec3 linear = Vec3::Zero();  ///< [m]
  };
  /// Patches of bodies that had an impact in this substep.
  [[nodiscard]] std::span<const ChangedPatch> changed() const { return changed_; }
  [[nodiscard]] std::span<const Shift> shifts() const { return shifts_; }
  /// The bodies have moved by their shifts, until apply_shifts().
  void start_from_shifts(SolverBodies& bodies) const;
  /// Lets the shifts act with the velocities that move the bodies and are not kept.
  void apply_shifts(SolverBodies& bodies, double h) const;
  /// The next substep begins.
  void clear()
  {
    changed_.clear();
    shifts_.clear();
  }

 private:
  struct Motion {
    std::int32_t body = 0;
    Vec3 shift = Vec3::Zero();
    Vec3 acceleration = Vec3::Zero();  ///< as far as no contact takes it [m/s^2]
    Vec3 v_before = Vec3::Zero();      ///< of the impact under way [m/s]
    Vec3 w_before = Vec3::Zero();
    bool flying = false;  ///< nothing touches it
    int impacts = 0;
  };
  struct Item {
    std::size_t index = 0;
    ImpactPatch patch;
    double next = 0;       ///< time of the next impact [s]
    bool skipped = false;  ///< left to the stepper
  };
  struct PointState {
    Vec3 n;
    double gap = 0;
    double speed = 0;
    double acceleration = 0;
  };

  std::size_t item_of(std::size_t patch);
  Motion& motion_of(std::int32_t body);
  void touch_body(std::int32_t body);
  [[nodiscard]] const Motion* known_motion(std::int32_t body) const;
  [[nodiscard]] PointState state_at(const ImpactPatch& patch, const ImpactPatch::Point& point, double t);
  /// How far a body has moved by time t [m].
  [[nodiscard]] Vec3 moved_at(std::int32_t body, double t);
  [[nodiscard]] PointState ball_state_at(const ImpactPatch& patch, double t);
  struct Meeting {
    double time = 0;   ///< [s]
    double speed = 0;  ///< of approach [m/s]
  };
  [[nodiscard]] Meeting next_meeting(const ImpactPatch& patch, const ImpactPatch::Point& point, double now);
  [[nodiscard]] Meeting next_meeting_of_balls(const ImpactPatch& patch, double now);
  [[nodiscard]] bool is_pressed(const ImpactPatch::Point& point) const;
  [[nodiscard]] bool flies(const ImpactPatch& patch) const;
  [[nodiscard]] bool has_collided(const ImpactPatch& patch) const;
  /// When the patch has its next impact, and infinity if it has none in this substep.
  [[nodiscard]] double next_impact(const Item& item, double now);
  [[nodiscard]] bool is_slow(const ImpactPatch& patch, double speed) const;
  bool gather_cluster(std::size_t first, double t);
  void collide_cluster(double t, bool land);
  static void hold(Motion& motion, const Vec3& outward);
  void find_acceleration(Motion& motion);
  void collect_results();

  ImpactSettings settings_;
  std::vector<std::size_t> patch_begin_;  ///< by body, into body_patches_
  std::vector<std::size_t> body_patches_;

  // During a substep.
  const ImpactSource* source_ = nullptr;
  SolverBodies* bodies_ = nullptr;
  std::span<const JointRow> joints_;
  ImpactValues values_;
  double touching_ = 0;             ///< gap up to which points touch [m]
  double min_speed_ = 0;            ///< rebounds slower than this are none [m/s]
  std::vector<std::int32_t> item_;  ///< by patch: place in items_, or -1
  std::vector<Item> items_;
  std::vector<std::int32_t> motion_;  ///< by body: place in motions_, or -1
  std::vector<Motion> motions_;
  double work_ = 0;  ///< squares of the points reflected together, so far
  std::uint64_t skipped_ = 0;

  // Of one impact.
  std::vector<std::int32_t> cluster_;  ///< bodies
  std::vector<char> in_cluster_;       ///< by body
  std::vector<ReflectionPoint> points_;
  std::vector<std::pair<std::size_t, std::size_t>> point_of_;  ///< item and point of each
  std::vector<ReflectionJointRow> joint_rows_;

  std::vector<ChangedPatch> changed_;
  std::vector<Shift> shifts_;
};

}  // namespace thrum::rigid
