// SPDX-License-Identifier: MIT
#include "thrum/scene/sound_checks.h"

#include <fmt/format.h>

#include <filesystem>

#include "thrum/sound/hrtf.h"

namespace thrum::scene {

namespace {

constexpr double kMaxListenerPosition = 1e4;  ///< [m]
constexpr double kMinFullScale = 1e-6;        ///< [Pa]
constexpr double kSoundSpeed = 340;           ///< for a message [m/s]

class SoundChecker {
 public:
  SoundChecker(const SceneDesc& scene, std::vector<Mistake>& mistakes) : scene_(scene), mistakes_(mistakes) {}

  void run()
  {
    check_listener();
    check_hrtf();
    if (scene_.sound && scene_.sound->full_scale > 0 && scene_.sound->full_scale < kMinFullScale) {
      fail(scene_.sound->place, "sound", "full_scale",
           fmt::format("is {:g} Pa; it must be 0 (the peak becomes 0.89) or at least {:g} Pa.",
                       scene_.sound->full_scale, kMinFullScale));
    }
  }

 private:
  void fail(ValueLocation place, const char* object, const std::string& key, const std::string& message)
  {
    if (place.path.empty()) place.path = object;
    place.path += "." + key;
    mistakes_.push_back({place, message});
  }

  void check_listener()
  {
    const ListenerEntry& listener = scene_.listener;
    if (listener.position && !(listener.position->cwiseAbs().maxCoeff() <= kMaxListenerPosition)) {
      fail(listener.place, "listener", "position",
           fmt::format("is more than {:g} km away; sound would take {:.0f} s and more to get there.",
                       kMaxListenerPosition / 1000, kMaxListenerPosition / kSoundSpeed));
    }
    if (listener.forward && !(listener.forward->norm() > 0))
      fail(listener.place, "listener", "forward", "has no length. Give it a direction, or leave it out.");
    if (listener.kind == sound::ListenerKind::microphones && listener.microphones.empty()) {
      fail(listener.place, "listener", "microphones",
           "is empty, but \"kind\" is \"microphones\". List at least one, such as {\"position\": [0, 0, 0]}, "
           "or choose another kind.");
    }
    for (std::size_t i = 0; i < listener.microphones.size(); ++i) {
      if (!(listener.microphones[i].axis.norm() > 0))
        fail(listener.place, "listener", fmt::format("microphones[{}].axis", i),
             "has no length. Give it a direction, or leave it out.");
    }
  }

  void check_hrtf()
  {
    const ListenerEntry& listener = scene_.listener;
    const std::filesystem::path& file = listener.hrtf.path;
    const ValueLocation& place = listener.hrtf.place.file.empty() ? listener.place : listener.hrtf.place;
    const auto fail_file = [&](const std::string& message) {
      if (&place == &listener.place) return fail(place, "listener", "hrtf", message);
      mistakes_.push_back({place, message});
    };
    if (!file.empty() && !std::filesystem::exists(file))
      return fail_file(fmt::format("is {}, which does not exist.", file.string()));
    if (!scene_.sound || listener.kind != sound::ListenerKind::binaural) return;
    try {
      const sound::Hrtf hrtf(file, scene_.sound->synthesis.sample_rate);
    } catch (const Error& error) {
      fail_file(fmt::format("cannot be used: {}", error.what()));
    }
  }

  const SceneDesc& scene_;
  std::vector<Mistake>& mistakes_;
};

}  // namespace

void check_sound(const SceneDesc& scene, std::vector<Mistake>& mistakes)
{
  SoundChecker(scene, mistakes).run();
}

}  // namespace thrum::scene
