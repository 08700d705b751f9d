// SPDX-License-Identifier: MIT
// The `flexible` stepper [Zheng11]: vibration of the bodies inside the solution of their contacts.
//
//   collide             groups of bodies that contacts join; rows and indentations of their contacts
//   resolve contacts    each group over the slice, in substeps of its own (contact_group.h)
//   advance positions   bodies as the groups have moved them
//
// Contacts are found by the world, in slices of at most `max_step`, and followed to first order within one;
// those within reach are in the list before they touch. So bodies that may meet in a slice are in one group,
// groups are independent of each other, and none has to be rolled back: where [Zheng11, algorithm 1] lets
// each body have its own time and takes one back that another has reached, every group here has its own
// substeps and all meet at the end of the slice. Momentum is kept to rounding.
//
// A contact that is found deeper than it was pressed, or that is new and overlaps, would bring energy that
// nothing has spent: it begins with the indentation that its last force had, and the rest is pushed out
// without giving speed.
//
// Joints of bodies that touch something are stiff springs within the groups, so that a cart rests on its
// wheels while they roll. Others are solved once a slice, as are springs, motors and limits: their forces are
// found first and held over the slice.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "thrum/elastic/surface_map.h"
#include "thrum/flexible/contact_group.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/flexible/flexible_settings.h"
#include "thrum/rigid/joint_rows.h"
#include "thrum/rigid/overlap_push.h"
#include "thrum/rigid/stepper.h"

namespace thrum::flexible {

class FlexibleStepper final : public rigid::Stepper {
 public:
  explicit FlexibleStepper(const FlexibleSettings& settings);
  ~FlexibleStepper() override;

  /// Throws Error for a modulus below 0 and for modes that do not fit their surface or are not ascending.
  void set_body(model::BodyId id, const ElasticBody& body);
  void remove_body(model::BodyId id) { bodies_by_id_.erase(id); }
  [[nodiscard]] const FlexibleReport& report() const { return report_; }
  /// What observers are shown of a step whose groups had slices of their own.
  void set_modal_forces(std::vector<ModalForces> forces) { report_.modal_forces = std::move(forces); }
  /// Keeps a reference; nullptr: none.
  void set_substep_observer(SubstepObserver* observer) { substep_observer_ = observer; }
  /// Energy of vibration in a state [J].
  [[nodiscard]] double vibration_energy(const model::SceneState& state) const;

  [[nodiscard]] int substeps() const override { return 1; }
  [[nodiscard]] double max_slice() const override { return settings_.max_step; }
  [[nodiscard]] rigid::ContactGraph order_contacts(const model::SceneModel& model,
                                                   const model::SceneState& state, double h) const override;
  void collide(rigid::StepFrame& frame) override;
  void advance_velocities(rigid::StepFrame& frame, double h) override;
  void resolve_contacts(rigid::StepFrame& frame, double h) override;
  void advance_positions(rigid::StepFrame& frame, double h) override;
  void bounce(rigid::StepFrame& frame, double h) override;
  void store_results(rigid::StepFrame& frame) override;
  [[nodiscard]] bool keeps_forces() const override { return true; }
  [[nodiscard]] double contact_energy() const override { return report_.groups.contact_energy; }
  /// Of all groups, by one who has had them advance one after the other [J].
  void set_contact_energy(double energy) { report_.groups.contact_energy = energy; }
  void find_deflections(const model::SceneModel& model, const model::SceneState& state,
                        std::span<const collision::PreparedShape> shapes, double h,
                        std::vector<collision::Deflection>& deflections) override;
  /// Distance of the surface of a body from its shape, at most [m].
  [[nodiscard]] double max_bend(std::span<const model::ModalState> rings, model::BodyId id) const;
  void check_state(const model::SceneState& state) const override;
  /// It has modes that take part in contact.
  [[nodiscard]] bool is_flexible(model::BodyId id) const;
  /// Of set_body(); empty: none.
  [[nodiscard]] std::shared_ptr<const model::ModalModel> modes_of(model::BodyId id) const;

 private:
  struct FlexibleBody;
  /// Where a body of the scene is in its group.
  struct Place {
    int group = -1;
    int body = kNoBody;
  };
  /// A row of a joint whose bodies, or others that joints join to them, touch something.
  struct GroupJoint {
    rigid::JointRow row;
    int group = -1;
    int slip = -1;
    double stiffness = 0;  ///< of its spring [N/m]
  };
  struct PatchRows {
    std::int32_t source = 0;  ///< patch of the scene
    int group = -1;
    Vec3 t1 = Vec3::UnitX();
    Vec3 t2 = Vec3::UnitY();
    std::array<int, 4> contacts{};
    std::array<elastic::HeldContact, 4> laws{};
    int sliding = -1;
    int twist = -1;
    int rolling = -1;
    /// Arms of the springs about the normal and across it. The state keeps their torques by arm: the points
    /// of a patch change, and the same torque on a shorter arm would be more energy [m].
    double twist_arm = 1;
    double rolling_arm = 1;
  };

  [[nodiscard]] FlexibleBody* flexible(const rigid::StepFrame& frame, model::BodyIndex i);
  void push_out_overlap(rigid::StepFrame& frame, double h);
  void find_held_bodies(const model::SceneModel& model, const model::SceneState& state);
  [[nodiscard]] bool is_deformed(const rigid::StepFrame& frame, model::BodyIndex i);
  [[nodiscard]] double modulus_of(const rigid::StepFrame& frame, model::BodyIndex i) const;
  void assign_groups(const rigid::StepFrame& frame);
  void add_bodies(const rigid::StepFrame& frame);
  void add_patch(const rigid::StepFrame& frame, std::int32_t source);
  int add_row(const rigid::StepFrame& frame, const model::ContactPatch& contact, const Vec3& position,
              const Vec3& direction);
  int add_turn_row(const model::ContactPatch& contact, const Vec3& axis);
  [[nodiscard]] RowSide side_of(const rigid::StepFrame& frame, model::BodyIndex i, const Vec3& position,
                                const Vec3& direction, VecX& modes);
  void add_slips(const rigid::StepFrame& frame, const model::ContactPatch& contact, PatchRows& rows,
                 double load);
  [[nodiscard]] double pair_stiffness(const rigid::StepFrame& frame,
                                      const model::ContactPatch& contact) const;
  void solve_joints(rigid::StepFrame& frame, double h);
  [[nodiscard]] std::vector<bool> bodies_in_touch(const rigid::StepFrame& frame);
  void take_joint_rows(const std::vector<bool>& in_touch);
  void add_joints(const rigid::StepFrame& frame);
  void push_out_joints(rigid::StepFrame& frame, double h);

  FlexibleSettings settings_;
  std::map<model::BodyId, std::shared_ptr<FlexibleBody>> bodies_by_id_;
  rigid::SolverBodies bodies_;
  rigid::JointRows joints_;
  rigid::IslandEnergy energy_of_islands_;  ///< where there are joints
  std::vector<Place> places_;              ///< by body
  std::vector<ContactGroup> groups_;       ///< the first group_count_ are in use
  int group_count_ = 0;
  std::vector<int> group_contacts_;
  std::vector<PatchRows> patches_;
  std::vector<GroupJoint> group_joints_;
  std::vector<rigid::OverlapRow> overlaps_;
  FlexibleReport report_;
  SubstepObserver* substep_observer_ = nullptr;
};

[[nodiscard]] std::unique_ptr<FlexibleStepper> make_flexible_stepper(const FlexibleSettings& settings = {});

}  // namespace thrum::flexible
