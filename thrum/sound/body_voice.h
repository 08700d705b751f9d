// SPDX-License-Identifier: MIT
// The sound of one body: its contacts, step by step, become pulses, loads, noise and damping of its modes.
//
//   BodyVoice voice(model, mass, settings);
//   voice.add_step(time, duration, contacts);   // steps in order
//   while (voice.time() + voice.interval() <= voice.ready_until()) voice.render(block);
//
// Loads and damping are known as means over the steps. Each belongs to the middle of its step; between, loads
// run straight and damping as a monotone cubic.
//
// A voice of modes that were part of the simulation moves them by the forces that they felt there
// (driven_modes.h); its steps have no contacts. Scripted impulses, of which the simulation knows nothing,
// come on top.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "thrum/sound/driven_modes.h"
#include "thrum/sound/excitation.h"
#include "thrum/sound/modal_bank.h"
#include "thrum/sound/redistribution.h"
#include "thrum/sound/roughness.h"
#include "thrum/sound/sound_model.h"

namespace thrum::sound {

/// A contact as one body feels it during a step, in the axes of its model.
struct BodyContact {
  std::uint64_t key = 0;              ///< the same from step to step
  Vec3 position = Vec3::Zero();       ///< [m]
  Vec3 normal = Vec3::UnitZ();        ///< unit; direction in which the body is pushed
  double load = 0;                    ///< normal force without impacts, mean over the step [N]
  Vec3 friction_load = Vec3::Zero();  ///< likewise [N]
  double friction = 0;                ///< coefficient
  // An impact during the step; none when the impulse is 0.
  Vec3 impulse = Vec3::Zero();  ///< on the body [N s]
  double impact_time = 0;       ///< when it begins [s]
  double duration = 0;          ///< of the impact [s]
  // What passes under the contact.
  std::uint64_t seed = 0;                   ///< of the profile; the same for both bodies
  double distance = 0;                      ///< travelled until the step begins [m]
  double speed = 0;                         ///< during the step [m/s]
  double noise_force = 0;                   ///< root mean square of the fluctuation of the force [N]
  RoughnessOctaves octaves = kUnitOctaves;  ///< of it, with a root mean square of 1
};

enum class VoiceKind : std::uint8_t {
  struck,    ///< by impacts and loads
  simulated  ///< by forces on its modes
};

class BodyVoice {
 public:
  /// `mass` of a body that moves [kg]; 0 for one that is fixed, which does not click.
  BodyVoice(std::shared_ptr<const SoundModel> model, double mass, const SynthesisSettings& settings,
            VoiceKind kind = VoiceKind::struck);

  /// Steps follow each other; one without contacts is needed too. `listener` is the unit direction from the
  /// body to the listener, in the axes of the model.
  void add_step(double time, double duration, std::span<const BodyContact> contacts, const Vec3& listener);
  /// Of the same step, for VoiceKind::simulated; null: no forces.
  void add_forces(double time, double duration, const ModalForceSample* forces);
  /// An impulse that no contact gave, at a point [N s].
  void strike(double time, double duration, const Vec3& position, const Vec3& impulse, const Vec3& listener);

  /// Until when the sound is decided [s].
  [[nodiscard]] double ready_until() const { return ready_until_; }
  /// No more steps: what is there is held for ever.
  void finish();

  /// Adds the next ModalBank::kInterval samples of the amplitude [Pa m]. Returns false when all are 0.
  bool render(std::span<double> amplitude);
  [[nodiscard]] double time() const { return bank_.time(); }  ///< of the next sample [s]
  [[nodiscard]] double interval() const { return bank_.interval(); }
  [[nodiscard]] const ModalBank& bank() const { return bank_; }

 private:
  using Values = std::shared_ptr<const std::vector<double>>;  ///< by mode; empty: all 0
  /// Loads and decays in the middle of a step.
  struct Control {
    double time = 0;
    Values loads;
    Values decays;
    std::vector<double> slopes;  ///< of the decays; empty: not computed yet
  };
  /// A rough contact during a step; its force goes from one level to another.
  struct Slide {
    double begin = 0;
    double end = 0;
    std::uint64_t seed = 0;
    double distance = 0;
    double speed = 0;
    double level_before = 0;
    double level_after = 0;
    RoughnessOctaves octaves = {};
    std::vector<double> gains;
  };
  struct Place {
    Vec3 position = Vec3::Zero();
    PointShapes shapes;
    bool used = false;
  };
  struct Noise {
    double level = 0;
    double distance = 0;
    RoughnessOctaves octaves = {};
    std::vector<double> gains;
    std::uint64_t seed = 0;
    bool used = false;
  };

  bool render_bank(std::span<double> amplitude);
  const PointShapes& shapes_at(std::uint64_t key, const Vec3& position);
  void add_impact(const BodyContact& contact, const PointShapes& shapes, const Vec3& listener);
  void add_slides(double time, double duration, std::span<const BodyContact> contacts);
  [[nodiscard]] const double* values_of(const Values& values) const;
  [[nodiscard]] const std::vector<double>& slopes_at(std::size_t i);
  void set_loads(double begin, double end);
  void set_decays(double begin, double end);
  void add_noise(double begin);
  void set_direction(double begin);
  [[nodiscard]] std::vector<double> gains_of(const PointShapes& shapes, const Vec3& impulse,
                                             const Vec3& listener) const;

  std::shared_ptr<const SoundModel> model_;
  double mass_;
  SynthesisSettings settings_;
  std::size_t modes_;  ///< without the click
  bool clicks_;
  ModalBank bank_;
  std::vector<ModalBank::Complex> weights_;         ///< of the output
  std::vector<ModalBank::Complex> weights_before_;  ///< of the interval before, of simulated modes
  std::optional<DrivenModes> driven_;               ///< of VoiceKind::simulated
  struct Direction {
    double time = 0;
    Vec3 listener = Vec3::Zero();
  };
  std::deque<Direction> directions_;  ///< of the listener, for a body with a RadiationMap
  Vec3 radiated_ = Vec3::Zero();      ///< direction that the weights belong to
  double quiet_amplitude_ = 0;        ///< of a mode that is not heard any more
  double ready_until_ = 0;
  double longest_step_ = 0;    ///< so far [s]
  bool decays_known_ = false;  ///< to the bank, for this interval
  ForceRedistribution redistribution_;
  std::unordered_map<std::uint64_t, Place> places_;
  std::unordered_map<std::uint64_t, Noise> noises_;  ///< of the step before
  std::deque<Control> controls_;
  std::deque<Slide> slides_;
  std::vector<ContactForce> forces_;  ///< of a step
  std::vector<double> damping_;       ///< likewise, by mode
  std::vector<double> scratch_;
  std::vector<double> zeros_;
  std::vector<double> last_slopes_;  ///< of the last control, which may get a neighbour yet
};

}  // namespace thrum::sound
