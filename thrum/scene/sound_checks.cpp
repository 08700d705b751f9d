// SPDX-License-Identifier: MIT
#include "thrum/scene/sound_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "thrum/scene/instances.h"
#include "thrum/sound/hrtf.h"
#include "thrum/sound/pose_track.h"

namespace thrum::scene {

namespace {

constexpr double kMaxListenerPosition = 1e4;  ///< [m]
constexpr double kMaxListenerSpeed = 100;     ///< [m/s]
constexpr double kMinDirection = 1e-100;
constexpr double kMaxDirection = 1e100;
constexpr double kMinFullScale = 1e-6;  ///< [Pa]
constexpr double kSoundSpeed = 340;     ///< for a message [m/s]

class SoundChecker {
 public:
  SoundChecker(const SceneDesc& scene, std::vector<Mistake>& mistakes) : scene_(scene), mistakes_(mistakes) {}

  void run()
  {
    check_listener();
    check_hrtf();
    check_frequencies();
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

  void check_frequencies()
  {
    if (!scene_.sound) return;
    const sound::SynthesisSettings& synthesis = scene_.sound->synthesis;
    if (synthesis.min_frequency < synthesis.max_frequency) return;
    fail(scene_.sound->place, "sound", "min_frequency",
         fmt::format(
             "is {:g} Hz, and max_frequency is {:g} Hz: no mode would be heard. Lower the first, or set "
             "modes to 0 to hear clicks alone.",
             synthesis.min_frequency, synthesis.max_frequency));
  }

  // Squares of longer and shorter ones would be inf and 0.
  void check_direction(const std::string& key, const Vec3& direction)
  {
    const double largest = direction.cwiseAbs().maxCoeff();
    if (largest >= kMinDirection && largest <= kMaxDirection) return;
    fail(scene_.listener.place, "listener", key,
         largest > 0
             ? fmt::format("is {} for a direction: its largest number is {:g}. Give one such as [1, 0, 0].",
                           largest > 1 ? "too long" : "too short", largest)
             : "has no length. Give it a direction, or leave it out.");
  }

  void check_listener()
  {
    const ListenerEntry& listener = scene_.listener;
    if (listener.position && !(listener.position->cwiseAbs().maxCoeff() <= kMaxListenerPosition)) {
      fail(listener.place, "listener", "position",
           fmt::format("is more than {:g} km away; sound would take {:.0f} s and more to get there.",
                       kMaxListenerPosition / 1000, kMaxListenerPosition / kSoundSpeed));
    }
    if (listener.forward) check_direction("forward", *listener.forward);
    if (listener.kind == sound::ListenerKind::microphones && listener.microphones.empty()) {
      fail(listener.place, "listener", "microphones",
           "is empty, but \"kind\" is \"microphones\". List at least one, such as {\"position\": [0, 0, 0]}, "
           "or choose another kind.");
    }
    check_path();
    check_body();
    for (std::size_t i = 0; i < listener.microphones.size(); ++i) {
      if (!(listener.microphones[i].position.cwiseAbs().maxCoeff() <= kMaxListenerPosition))
        fail(listener.place, "listener", fmt::format("microphones[{}].position", i),
             fmt::format("is more than {:g} km away.", kMaxListenerPosition / 1000));
      check_direction(fmt::format("microphones[{}].axis", i), listener.microphones[i].axis);
    }
  }

  void check_path()
  {
    const ListenerEntry& listener = scene_.listener;
    if (!listener.path.empty() && !listener.body.empty())
      fail(listener.place, "listener", "path", "stands beside \"body\". Keep one of the two.");
    for (std::size_t i = 0; i < listener.path.size(); ++i) {
      const ListenerKey& key = listener.path[i];
      const auto fail_key = [&](const char* name, const std::string& message) {
        fail(listener.place, "listener", fmt::format("path[{}].{}", i, name), message);
      };
      if (!(key.position.cwiseAbs().maxCoeff() <= kMaxListenerPosition))
        fail_key("position", fmt::format("is more than {:g} km away.", kMaxListenerPosition / 1000));
      if (key.forward) check_direction(fmt::format("path[{}].forward", i), *key.forward);
      if (i == 0) continue;
      const ListenerKey& before = listener.path[i - 1];
      if (!(key.time > before.time)) {
        fail_key("time", fmt::format("is {:g} s after {:g} s; times ascend.", key.time, before.time));
        continue;
      }
    }
    check_path_speed();
  }

  // That of the curve through the keys, which is up to a third higher than the mean between two of them.
  void check_path_speed()
  {
    const std::vector<ListenerKey>& path = scene_.listener.path;
    std::vector<double> times;
    std::vector<Pose> poses;
    for (const ListenerKey& key : path) {
      if (!times.empty() && !(key.time > times.back())) return;  // reported above
      times.push_back(key.time);
      poses.push_back({key.position, Quat::Identity()});
    }
    if (path.size() < 2) return;
    const sound::PoseTrack track(std::move(times), std::move(poses));
    for (std::size_t i = 1; i < path.size(); ++i) {
      const sound::PoseTrack::Fastest fastest = track.fastest_in(i - 1);
      if (!(fastest.speed > kMaxListenerSpeed)) continue;
      fail(scene_.listener.place, "listener", fmt::format("path[{}].position", i),
           fmt::format("is approached at up to {:.3g} m/s (at {:.3g} s, on the curve through the keys); a "
                       "listener moves at most at {:g} m/s.",
                       fastest.speed, fastest.time, kMaxListenerSpeed));
    }
  }

  // The settings of a recording stand without their bodies and are checked against those of the recording.
  void check_body()
  {
    const std::string& wanted = scene_.listener.body;
    if (wanted.empty() || scene_.bodies.empty()) return;
    std::vector<std::string> known;
    for (const BodyEntry& body : scene_.bodies) {
      if (instance_count(body) > kMaxBodies) return;  // reported elsewhere
      for (const std::string& name : instance_names(body)) known.push_back(name);
    }
    if (std::find(known.begin(), known.end(), wanted) != known.end()) return;
    fail(scene_.listener.place, "listener", "body",
         fmt::format("is \"{}\", but no body has that name.", wanted));
    mistakes_.back().nearest = nearest_name(wanted, known);
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
