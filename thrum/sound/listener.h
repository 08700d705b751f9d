// SPDX-License-Identifier: MIT
// Who listens: microphones, a stereo pair, first-order ambisonics, or a head with two ears.
//
//   const Listener listener({.kind = ListenerKind::binaural}, look_at(eye, target), 48000);
//   AudioBuffer sound = make_silence(48000, listener.channel_count(), frames);
//   for (each body) {
//     std::vector<ListenerPath> paths = listener.paths_from({track, centre}, {.air = air}, ground, sound);
//     for (each block)
//       for (ListenerPath& path : paths) {
//         // the direction in which the body has to radiate for this path, in the axes of the body
//         const Vec3 direction = path.path().at_emission(time).departure_b;
//         path.push(amplitudes);              // [Pa m] in that direction
//       }
//     for (ListenerPath& path : paths) path.finish();
//   }
//
// The axes of a listener are x forward, y left, z up. Every sample is a pressure [Pa].
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "thrum/sound/audio.h"
#include "thrum/sound/pose_track.h"
#include "thrum/sound/propagation.h"

namespace thrum::sound {

class BinauralStream;  // thrum/sound/hrtf.h
class Hrtf;            // thrum/sound/hrtf.h

enum class ListenerKind { mono, stereo, microphones, ambisonic, binaural };

/// Sensitivity to sound from a direction at angle a to the axis: 1 - pattern + pattern cos(a).
struct Microphone {
  Vec3 position = Vec3::Zero();  ///< in the axes of the listener [m]
  double pattern = 0;            ///< 0: omnidirectional, 0.5: cardioid, 1: figure of eight
  Vec3 axis = Vec3::UnitX();     ///< unit, in the axes of the listener
  std::string name = {};         ///< of the channel; empty: "m1", "m2" ...
};

struct ListenerDesc {
  ListenerKind kind = ListenerKind::stereo;
  double spacing = 0.2;                      ///< of the stereo pair [m]
  double pattern = 0;                        ///< of both microphones of the pair, see Microphone
  double opening = 1.92;                     ///< angle between their axes [rad]; matters with a pattern only
  std::vector<Microphone> microphones = {};  ///< for ListenerKind::microphones
  std::filesystem::path hrtf_file = {};      ///< SOFA file for ListenerKind::binaural; empty: the default set
};

class ListenerPath;

class Listener {
 public:
  /// Throws Error for a description that makes no sense, and for a SOFA file that cannot be used.
  Listener(const ListenerDesc& desc, PoseTrack track, int sample_rate);

  [[nodiscard]] std::size_t channel_count() const { return names_.size(); }
  [[nodiscard]] const std::vector<std::string>& channel_names() const { return names_; }
  [[nodiscard]] const PoseTrack& track() const { return track_; }
  [[nodiscard]] int sample_rate() const { return sample_rate_; }
  /// Where it takes up sound, in its own axes [m].
  [[nodiscard]] std::vector<Vec3> places() const;

  /// The ways from a source to every place at which this listener takes up sound: directly and, with a
  /// ground, by its reflection. All add to `sound`, whose sample 0 is at `start` [s]; it, the listener and
  /// the track of the source must outlive them.
  [[nodiscard]] std::vector<ListenerPath> paths_from(const TrackPoint& source, PathDesc desc,
                                                     const std::optional<Ground>& ground, AudioBuffer& sound,
                                                     double start = 0) const;

 private:
  friend class ListenerPath;
  struct Channel {
    std::size_t index = 0;
    double pattern = 0;
    Vec3 axis = Vec3::UnitX();
  };
  /// A place with the microphones that are there.
  struct Point {
    Vec3 position = Vec3::Zero();
    std::vector<Channel> channels;  ///< none for a head
  };

  PoseTrack track_;
  int sample_rate_;
  std::vector<Point> points_;
  std::vector<std::string> names_;
  std::shared_ptr<const Hrtf> hrtf_;
};

/// One way of sound from a source to one place of a listener.
class ListenerPath {
 public:
  ~ListenerPath();
  ListenerPath(ListenerPath&&) noexcept;
  ListenerPath& operator=(ListenerPath&&) noexcept;

  [[nodiscard]] const SoundPath& path() const { return path_; }
  /// Takes the next samples of the amplitude in the direction of departure [Pa m].
  void push(std::span<const double> amplitude);
  /// The source is silent from now on.
  void finish();
  /// Shortest distance between source and listener so far [m].
  [[nodiscard]] double closest_distance() const { return propagator_.closest_distance(); }

 private:
  friend class Listener;
  ListenerPath(const Listener& listener, std::size_t point, const SoundPath& path, AudioBuffer& sound,
               double start);
  void receive(std::span<const double> pressure);
  void add_with_gains(const Listener::Channel& channel, std::span<const double> pressure);
  void add_to_ears(bool to_the_end);
  [[nodiscard]] Vec3 direction_at(std::size_t sample) const;

  const Listener* listener_;
  const Listener::Point* point_;
  SoundPath path_;
  AudioBuffer* sound_;
  double start_;
  Propagator propagator_;
  std::size_t received_ = 0;  ///< samples
  std::unique_ptr<BinauralStream> binaural_;
};

}  // namespace thrum::sound
