// SPDX-License-Identifier: MIT
// Records the contacts of a world for the sound of it: every slice of every step, from which sound/ makes
// pulses, loads and damping. Bodies have the numbers of the recording beside it. Of bodies whose modes are
// part of the simulation the forces on them are recorded at its own substeps (ElasticBody::records_forces).
//
//   WorldRecorder recorder(world, "run/recording");
//   ExcitationRecorder contacts(world, "run/contacts", number_of_recorder);  // calls recorder.number_of(id)
//
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "thrum/sim/step_observer.h"
#include "thrum/sim/world.h"
#include "thrum/sound/excitation.h"

namespace thrum::sim {

class ExcitationRecorder : public StepObserver {
 public:
  using NumberOf = std::function<std::int32_t(model::BodyId)>;

  /// Begins a new file of the run with this identity, or with `after` goes on with the steps of it that begin
  /// before that time [s]. The world must outlive the recorder.
  ExcitationRecorder(World& world, const std::filesystem::path& file, NumberOf number_of,
                     std::optional<double> after = {}, const base::Hash128& run = {});
  ~ExcitationRecorder() override;
  ExcitationRecorder(const ExcitationRecorder&) = delete;
  ExcitationRecorder& operator=(const ExcitationRecorder&) = delete;

  void flush() { writer_.flush(); }

  [[nodiscard]] bool only_watches() const override { return true; }
  [[nodiscard]] bool needs_bodies_before() const override { return true; }
  void after_slice(const StepView& view, StepActions& actions) override;

 private:
  void add_modal_forces(sound::ExcitationStep& step) const;

  World& world_;
  NumberOf number_of_;
  sound::ExcitationWriter writer_;
};

/// The contacts that press, of a slice that has been solved, numbered by `number_of`. The view must have
/// bodies_before.
[[nodiscard]] sound::ExcitationStep excitation_of(const StepView& view,
                                                  const ExcitationRecorder::NumberOf& number_of);

}  // namespace thrum::sim
