// SPDX-License-Identifier: MIT
// The sound of all bodies of a scene from their contacts, in blocks.
//
//   Synthesis synthesis(bodies, settings);
//   for (;;) {
//     while (synthesis.ready_until() < end of the block) synthesis.add_step(next step, listener);
//     synthesis.render(block);                  // amplitude [Pa m] of each body
//   }
//
// The result depends neither on the length of the blocks nor on the number of threads, and memory not on the
// length of the recording.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "thrum/sound/excitation.h"
#include "thrum/sound/roughness.h"
#include "thrum/sound/sound_model.h"

namespace thrum::sound {

class BodyVoice;     // thrum/sound/body_voice.h
struct BodyContact;  // thrum/sound/body_voice.h

struct SynthesisBody {
  std::string name;
  std::shared_ptr<const SoundModel> model;  ///< also of a silent body: others strike it
  double mass = 0;                          ///< 0: it does not move [kg]
  bool sounds = true;
  /// The modes that were part of the simulation: those on which there are forces in the steps. `model` then
  /// has those above them.
  std::shared_ptr<const SoundModel> simulated = {};
  double gain = 1;            ///< factor of its sound
  std::string material = {};  ///< by which RoughnessPair names it
  model::Roughness roughness = {};
};

/// What two materials do where they slide or roll on each other, instead of the sum of both surfaces: a
/// height of their own, with the spectrum of the sum, or an exponent, or both.
struct RoughnessPair {
  std::string a;
  std::string b;
  std::optional<double> height = {};  ///< root mean square [m]
  std::optional<double> exponent = {};
};

/// An impact between two bodies, as it was heard.
struct SoundEvent {
  double time = 0;  ///< [s]
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double speed = 0;     ///< of approach [m/s]
  double impulse = 0;   ///< [N s]
  double duration = 0;  ///< [s]
};

class Synthesis {
 public:
  /// Bodies by their number in the recording. Of pairs with the same names the last counts, in either order.
  Synthesis(std::vector<SynthesisBody> bodies, const SynthesisSettings& settings,
            std::vector<RoughnessPair> pairs = {});
  ~Synthesis();
  Synthesis(Synthesis&&) noexcept;
  Synthesis& operator=(Synthesis&&) noexcept;

  /// The next step; `listener` is where it is heard, world [m]. Throws Error for a body that does not exist.
  void add_step(const ExcitationStep& step, const Vec3& listener);
  /// An impulse [N s] that no contact gave, at a point of the body in its axes [m]; both in the axes of the
  /// body, as is the direction to the listener.
  void strike(std::uint32_t body, double time, double duration, const Vec3& position, const Vec3& impulse,
              const Vec3& to_listener);
  /// No more steps.
  void finish();
  [[nodiscard]] double ready_until() const { return ready_until_; }  ///< [s]

  static constexpr std::size_t kInterval = 64;  ///< samples
  /// The next `intervals` times kInterval samples of each body [Pa m]; an empty list for a body that is
  /// silent throughout.
  void render(std::size_t intervals, std::vector<std::vector<double>>& amplitudes);

  [[nodiscard]] const std::vector<SynthesisBody>& bodies() const { return bodies_; }
  /// For tests. Null for a silent body.
  [[nodiscard]] const BodyVoice* voice(std::size_t body) const { return voices_[body].get(); }
  /// The impacts since the last call, in the order of the steps.
  [[nodiscard]] std::vector<SoundEvent> take_events();

 private:
  struct Travel {
    Vec3 position_a = Vec3::Zero();
    Vec3 position_b = Vec3::Zero();
    double distance = 0;
    bool used = false;
  };
  struct PairContact;
  /// The fluctuation of a force between two bodies that slide on each other.
  struct PairRoughness {
    double share = 0;               ///< root mean square over the force
    RoughnessOctaves octaves = {};  ///< of it, with a root mean square of 1
    std::uint64_t seed = 0;
  };
  [[nodiscard]] PairContact make_contact(const ExcitationStep& step, const ContactSample& contact);
  void soften_impacts(const ExcitationStep& step, std::vector<PairContact>& contacts) const;
  void set_noise(const ExcitationStep& step, const ContactSample& contact, BodyContact& of_a,
                 BodyContact& of_b);
  [[nodiscard]] const PairRoughness& roughness_of(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] PairRoughness find_roughness(std::uint32_t a, std::uint32_t b) const;
  /// Of all bodies, those of simulated modes last.
  [[nodiscard]] std::vector<BodyVoice*> all_voices() const;
  [[nodiscard]] const Pose& pose_of(std::uint32_t body) const { return poses_[body]; }

  std::vector<SynthesisBody> bodies_;
  SynthesisSettings settings_;
  std::vector<RoughnessPair> pairs_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PairRoughness> roughness_;  ///< by bodies, in order
  std::vector<std::unique_ptr<BodyVoice>> voices_;
  std::vector<std::unique_ptr<BodyVoice>> simulated_;  ///< of the modes of SynthesisBody::simulated
  std::vector<Pose> poses_;                            ///< X_ws of the last step with a contact
  std::vector<std::vector<BodyContact>> contacts_;     ///< by body, of the step being added
  std::unordered_map<std::uint64_t, Travel> travels_;  ///< of the contacts of the last step
  std::vector<SoundEvent> events_;
  double ready_until_ = 0;
};

}  // namespace thrum::sound
