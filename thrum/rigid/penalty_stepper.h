// SPDX-License-Identifier: MIT
// The `penalty` stepper [Lecture13, spring based response]: a spring and a damper at each contact point.
//
//   collide              how stiff the contacts are, and the substep that resolves the stiffest of them
//   for each substep
//     advance velocities   x += h v / 2 and half the turn, then v += h f / m
//     resolve contacts     the forces of all springs, dampers and joints over the substep (penalty_force.h)
//     advance positions    x += h v / 2 and the other half of the turn
//
// Springs that hang together are solved by sweeps, which converge fast since the substep is short for each
// of them; it is divided where bodies that turn within the slice answer them more than when it was found.
// Sweeps that do not settle nevertheless give no more than the springs held (penalty_settling.cpp). Motion in
// halves about the impulses makes the depth of a contact go with the mean of its speeds before and after, as
// (2) of penalty_force.h needs it. So the energy of motion, height and springs does not grow.
//
// Contacts are found once in a slice and follow the bodies to first order. A point that is found deeper than
// the one before it was pressed, or that is new and overlaps, would bring energy that nothing has spent:
// its spring begins where the old one ended, with no force if there was none, and the rest of the overlap is
// pushed out without giving speed. (With the depth as found, boxes of 1 g on springs of 10 kN/m gained 2,000
// times their energy at steps of 1/30 s.)
//
// The stiffness of a patch may change from slice to slice: the default one follows the approach, and friction
// the number of points. What a patch keeps in the state (warm_impulse of its points, warm_friction,
// warm_twist, warm_rolling) is therefore the square root of twice the energy of each spring [sqrt(J)], and a
// spring goes on with that energy at most. With forces F in their place, springs of which k fell gained up to
// 39 % of the energy of their bodies: F^2 / 2 k.
//
// Forces of a substep act at one point of space on both bodies, so that they keep the angular momentum:
// halfway between the points that were together at the start of the slice, or on the body that yields.
//
// Friction is a spring across the normal, at the middle of a patch, that is stretched as the bodies move
// against each other and slips where its force would exceed mu N; likewise a turn about the normal, and
// rolling.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/rigid/body_row.h"
#include "thrum/rigid/joint_rows.h"
#include "thrum/rigid/penalty_force.h"
#include "thrum/rigid/penalty_settings.h"
#include "thrum/rigid/solver_body.h"
#include "thrum/rigid/stepper.h"

namespace thrum::rigid {

/// Where two bodies touch, from their centres of mass. It goes along with them but does not turn: the contact
/// of a ball that rolls stays below it.
struct ContactArms {
  Vec3 of_a = Vec3::Zero();  ///< [m]
  Vec3 of_b = Vec3::Zero();  ///< [m]
};

/// M^-1 J^T of a row: what a unit impulse along it changes. Found once a substep; sweeps use it many times.
struct RowResponse {
  double inverse_mass_a = 0;   ///< [1/kg]
  double inverse_mass_b = 0;   ///< [1/kg]
  Vec3 spin_a = Vec3::Zero();  ///< inverse inertia times angular_a
  Vec3 spin_b = Vec3::Zero();  ///< likewise of b
};

/// A contact point during a slice.
struct PenaltyPoint {
  BodyRow row;  ///< along the normal
  RowResponse response;
  ContactArms arms;
  double depth = 0;     ///< by which the spring is pressed now [m]
  double excess = 0;    ///< overlap at the start of the slice beyond that of the spring [m]
  double speed = 0;     ///< of separation at the start of the slice [m/s]
  double before = 0;    ///< likewise of the substep, before forces act [m/s]
  double mobility = 0;  ///< [1/kg]
  double impulse = 0;   ///< of the substep [N s]
  double total = 0;     ///< of the slice [N s]
};

/// Springs in up to two directions that slip together.
struct SlipSpring {
  int count = 0;  ///< directions; 0: none
  std::array<BodyRow, 2> rows;
  std::array<RowResponse, 2> responses;
  double stiffness = 0;             ///< [N/m or N m/rad]
  double damping = 0;               ///< [N s/m or N m s/rad]
  double limit = 0;                 ///< of the force, per normal force [1 or m]
  std::array<double, 2> stretch{};  ///< now [m or rad]
  std::array<double, 2> before{};   ///< speeds at the start of the substep, before forces act
  std::array<double, 2> mobility{};
  std::array<double, 2> impulse{};  ///< of the substep
  bool slips = false;

  [[nodiscard]] double energy() const;  ///< [J]
};

/// A contact patch during a slice.
struct PenaltyPatch {
  std::int32_t source = 0;  ///< patch of the scene
  Vec3 n = Vec3::UnitZ();
  Vec3 t1 = Vec3::UnitX();
  Vec3 t2 = Vec3::UnitY();
  ContactSpring spring;
  int count = 0;
  std::array<PenaltyPoint, 4> points;
  ContactArms middle;
  SlipSpring sliding;
  SlipSpring twist;
  SlipSpring rolling;
  Vec3 friction_total = Vec3::Zero();  ///< on b [N s]

  [[nodiscard]] std::span<PenaltyPoint> active() { return {points.data(), static_cast<std::size_t>(count)}; }
  [[nodiscard]] std::span<const PenaltyPoint> active() const
  {
    return {points.data(), static_cast<std::size_t>(count)};
  }
};

class PenaltyStepper final : public Stepper {
 public:
  explicit PenaltyStepper(const PenaltySettings& settings = {}) : settings_(settings) {}

  [[nodiscard]] int substeps() const override { return substeps_; }
  [[nodiscard]] SubstepLimits substep_limits() const override { return substep_limits_; }
  [[nodiscard]] ContactGraph order_contacts(const model::SceneModel& model, const model::SceneState& state,
                                            double h) const override;
  void collide(StepFrame& frame) override;
  void advance_velocities(StepFrame& frame, double h) override;
  void resolve_contacts(StepFrame& frame, double h) override;
  void advance_positions(StepFrame& frame, double h) override;
  void bounce(StepFrame& frame, double h) override;
  void store_results(StepFrame& frame) override;
  void forget_contacts() override { energy_ = 0; }
  [[nodiscard]] bool keeps_forces() const override { return true; }
  [[nodiscard]] double contact_energy() const override { return energy_; }

 private:
  void gather_patches(const StepFrame& frame);
  [[nodiscard]] double default_stiffness(const StepFrame& frame, const model::ContactPatch& contact,
                                         const PenaltyPatch& patch, double mass, double damping_ratio) const;
  void make_springs(const StepFrame& frame, const model::ContactPatch& contact, PenaltyPatch& patch);
  void apply_requested_speeds(const StepFrame& frame);
  void push_out(StepFrame& frame);
  [[nodiscard]] int count_substeps(double h);
  [[nodiscard]] double substeps_for(double square_frequency, double h) const;
  void note_limit(double wanted);
  [[nodiscard]] int count_parts(const StepFrame& frame, double h);
  [[nodiscard]] double largest_square_frequency(double h, bool is_turning);
  void begin_part(StepFrame& frame, double h);
  void solve_part(StepFrame& frame, double h);
  void finish_part(StepFrame& frame, double h);
  [[nodiscard]] std::size_t island_of(const PenaltyPatch& patch) const;
  void list_spring_energy(std::vector<double>& energy) const;
  void limit_work(const StepFrame& frame);
  void limit_spring_energy();
  void move_half(StepFrame& frame, double h);
  /// Calls visit(row, response, impulse, speed before forces act) for each row of the contacts.
  template <class Visit>
  void visit_contact_rows(Visit&& visit);
  void push_all();
  /// By share(row).
  template <class Share>
  void scale_impulses(Share&& share);
  void list_contact_speeds(std::vector<double>& speeds);
  [[nodiscard]] bool do_joints_gain(double h);
  void sweep_all(StepFrame& frame, double h, bool follows_bends);
  void move_rows(const StepFrame& frame);
  [[nodiscard]] double find_response(const BodyRow& row, RowResponse& response);
  void push(const BodyRow& row, const RowResponse& response, double impulse);
  double sweep(double h);
  double solve_point(const ContactSpring& spring, PenaltyPoint& point, double h);
  double solve_slip(SlipSpring& spring, double normal_impulse, double h);
  void finish_point(PenaltyPoint& point, double h);
  void finish_slip(SlipSpring& spring, double normal_impulse, double h);

  PenaltySettings settings_;
  SolverBodies bodies_;
  JointRows joints_;
  IslandEnergy energy_of_islands_;    ///< where there are joints
  std::vector<double> free_speeds_;   ///< of the rows of contacts before impulses act [m/s or rad/s]
  std::vector<double> contact_work_;  ///< by island [J]
  std::vector<PenaltyPatch> patches_;
  std::vector<double> square_frequency_;  ///< by body, a bound [1/s^2]
  int substeps_ = 1;
  int parts_ = 1;                       ///< of a substep, while bodies stand as they do
  int parts_left_ = 0;                  ///< into which substeps of this slice may be divided further
  double part_ = 0;                     ///< of the substep under way [s]
  bool settled_ = true;                 ///< the last sweep changed no impulse
  bool is_limited_ = false;             ///< this slice needs more than max_substeps
  std::vector<Vec3> counted_turn_;      ///< by body: how far it had turned when parts were counted [rad]
  std::vector<std::int32_t> islands_;   ///< by body; empty: not found yet in this slice
  std::vector<double> allowed_energy_;  ///< by island, of its springs after a solve that did not settle [J]
  SubstepLimits substep_limits_;
  double energy_ = 0;  ///< of all springs at the end of the last slice [J]
};

template <class Visit>
void PenaltyStepper::visit_contact_rows(Visit&& visit)
{
  for (PenaltyPatch& patch : patches_) {
    for (PenaltyPoint& point : patch.active()) visit(point.row, point.response, point.impulse, point.before);
    for (SlipSpring* spring : {&patch.sliding, &patch.twist, &patch.rolling}) {
      for (std::size_t i = 0; i < at(spring->count); ++i)
        visit(spring->rows[i], spring->responses[i], spring->impulse[i], spring->before[i]);
    }
  }
}

template <class Share>
void PenaltyStepper::scale_impulses(Share&& share)
{
  visit_contact_rows(
      [&](const BodyRow& row, const RowResponse&, double& impulse, double) { impulse *= share(row); });
}

}  // namespace thrum::rigid
