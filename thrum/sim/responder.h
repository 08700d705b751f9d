// SPDX-License-Identifier: MIT
// The distant response inside a running world: which bodies ring, what touches them, and what their kicks do.
//
//   Responder responder;
//   responder.add_body(world, table, model, {});     // model: elastic/modal_analysis.h
//   world.add_observer(responder);                   // the responder must outlive the world's steps
//   world.step(0.01);   world.responses();           // which contacts were struck, which kicked
//
// An observer like any other (step_observer.h). Impacts are gathered slice by slice and answered once, at the
// end of the step, so that the response does not depend on how the step was cut. New contacts strike the
// bodies that ring; kicks become separation speeds in the next solve (ContactPoint::requested_speed, which
// enters b of [Coevoet20, eq. 2]) or changes of velocity. A kicked body that rings itself passes the impact
// on, up to `max_hops` times within the step. How bodies ring and kicks under way are part of SceneState:
// they are saved and restored with it. What is gathered lives within one step.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "thrum/sim/step_observer.h"
#include "thrum/sim/world.h"
#include "thrum/vibration/body_response.h"

namespace thrum::sim {

struct ResponderDesc {
  int max_hops = 3;  ///< times that an impact is passed on through further bodies that ring
  bool detect_force_jumps =
      false;  ///< resting contacts that are suddenly pressed strike too, not only new ones
};

/// What the response of the last step did, all bodies and slices together.
struct ResponseReport {
  int impacts = 0;
  int kicks = 0;
  int hops = 0;                       ///< responses to impacts passed on
  int unsolved = 0;                   ///< problems of simultaneous contacts not solved to their tolerance
  int over_budget = 0;                ///< responses that take longer than their time budget, by estimate
  double lost = 0;                    ///< by the impacts [J]
  double received = 0;                ///< by the vibration [J]
  double given = 0;                   ///< to the kicked bodies [J]
  double deferred = 0;                ///< of that, what only the next solve applies, and kicks under way [J]
  double vibration_energy = 0;        ///< vibration of all bodies at the end [J]
  double seconds = 0;                 ///< that it took
  std::vector<std::string> warnings;  ///< of this step
};

class Responder : public StepObserver {
 public:
  explicit Responder(const ResponderDesc& desc = {});

  /// The axes of the model are those of the body's shape. Throws Error when the body has a response already
  /// or the model does not have the size of the shape.
  void add_body(const World& world, model::BodyId id, std::shared_ptr<const model::ModalModel> model,
                const vibration::BodyResponseDesc& desc);
  /// Throws Error when the model does not have the size of the shape of a body of that name.
  static void check_model(const collision::PreparedShape& shape, const model::ModalModel& model,
                          const std::string& body);
  /// E / (1 - nu^2) of bodies that do not ring, for the duration of their impacts [Pa].
  void set_modulus(model::BodyId id, double modulus);

  [[nodiscard]] const ResponseReport& report() const { return report_; }
  /// What a person should know of the responses so far: for each ringing body one sentence of its contacts
  /// and impacts and one of its pose. What is doubtful about its modes is in model_of(id)->warnings.
  [[nodiscard]] std::vector<std::string> warnings() const;
  [[nodiscard]] bool rings(model::BodyId id) const;
  [[nodiscard]] const model::ModalModel* model_of(model::BodyId id) const;  ///< null: it does not ring
  /// How a body answers: its modes and its settings. Null for a body that does not ring.
  [[nodiscard]] const vibration::BodyResponse* response_of(model::BodyId id) const;

  [[nodiscard]] bool needs_bodies_before() const override { return true; }
  void before_step(const StepView& view) override;
  void after_slice(const StepView& view, StepActions& actions) override;
  void after_step(const StepView& view, StepActions& actions) override;
  /// It neither rings nor has a modulus any more.
  void body_removed(model::BodyId id) override;
  /// A body that rings must have an amplitude for each of its modes.
  void check_state(const model::SceneState& state) const override;

 private:
  struct Resonator;
  struct TransmittedImpact;
  struct ResonatorContacts;
  struct StepRecord;

  [[nodiscard]] bool is_struck(const StepView& view, const model::ContactPoint& point) const;
  [[nodiscard]] double modulus_of(model::BodyId id) const;

  // The account.
  void update_energy_budget(const StepView& view, StepActions& actions);
  void apply_pending_kicks(const StepView& view, StepActions& actions);
  [[nodiscard]] double vibration_energy(const model::ModalState& ring) const;
  template <class IsPayer>
  [[nodiscard]] double drain_vibration(const StepView& view, StepActions& actions, double energy,
                                       const IsPayer& is_payer) const;

  // One body.
  void respond_body(const StepView& view, StepActions& actions, Resonator& resonator,
                    const std::vector<TransmittedImpact>& transmitted_impacts,
                    std::vector<TransmittedImpact>& transmitted);
  [[nodiscard]] ResonatorContacts gather_contacts(
      const StepView& view, const Resonator& resonator,
      const std::vector<TransmittedImpact>& transmitted_impacts) const;
  [[nodiscard]] std::int32_t part_of(const StepView& view, model::BodyIndex index,
                                     ResonatorContacts& gathered) const;
  static void share_impulses(const StepView& view, std::size_t begin, std::size_t end, double max_gap,
                             ResonatorContacts& gathered);
  static void place_at_impact(const StepView& view, std::size_t i, ResonatorContacts& gathered);
  void record_impacts(const StepView& view, const Resonator& resonator);
  void record_reactions(const StepView& view, const Resonator& resonator);
  [[nodiscard]] double load_before(const StepView& view, const model::ContactPatch& patch,
                                   const Vec3& position) const;
  void add_recorded_impacts(const StepView& view, const Resonator& resonator,
                            ResonatorContacts& gathered) const;
  void add_reactions(const StepView& view, double min_speed, ResonatorContacts& gathered) const;
  static void emit_events(const StepView& view, StepActions& actions, model::BodyId resonator,
                          const ResonatorContacts& resonator_contacts,
                          const vibration::ResponseResult& result);
  void apply_result(const StepView& view, StepActions& actions, const Resonator& resonator,
                    const ResonatorContacts& resonator_contacts, const vibration::ResponseResult& result,
                    bool limited, std::vector<TransmittedImpact>& transmitted);

  ResponderDesc desc_;
  std::vector<std::shared_ptr<Resonator>> resonators_;
  std::map<model::BodyId, double> moduli_;  ///< [Pa]
  std::shared_ptr<StepRecord> record_;      ///< what the slices of the current step brought
  std::uint64_t unsolved_ = 0;              ///< of all steps so far
  std::uint64_t over_budget_ = 0;           ///< of all steps so far
  double longest_over_budget_ = 0;          ///< estimated time of the longest of these [s]
  double budget_ = 0;                       ///< what the step has lost and no response has used yet [J]
  ResponseReport report_;
};

}  // namespace thrum::sim
