// SPDX-License-Identifier: MIT
// From the source to a point of reception: travel time, distance law, absorption, reflection by the ground.
//
//   const SoundPath path(source, listener, {.air = air});              // the tracks must outlive the path
//   Propagator propagator(path, 48000);
//   for (...) {                                                        // blocks of any length
//     propagator.push(amplitude);                                      // [Pa m] leaving the source
//     propagator.pull(pressure);                                       // appends [Pa] at the receiver
//   }
//   propagator.finish(pressure, frames);
//
// The source emits s(t), its far-field amplitude [Pa m] in the direction of the receiver. What leaves at t_e
// arrives at t:
//
//     c (t - t_e) = |x_r(t) - x_s(t_e)| = r,                                                           (1)
//     p(t) = s(t_e) / r                                                                                (2)
//
// and is then filtered by the absorption of the air over r. The Doppler shift needs no term of its own: it is
// the change of t - t_e in time. For a source in motion (2) leaves out the convective factor 1/(1 - M)^2,
// which is 0.05 dB at 1 m/s.
//
// The reflection by the ground z = height is the sound of a mirrored source.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/sound/air.h"
#include "thrum/sound/pose_track.h"

namespace thrum::sound {

struct Ground {
  double height = 0;        ///< z of the plane [m]
  double reflection = 0.9;  ///< reflected / arriving pressure, at every frequency; 1: rigid
};

struct PathDesc {
  Air air = {};
  bool absorption = true;
  bool reflected = false;     ///< by the ground instead of directly
  Ground ground = {};         ///< for the reflected path
  double min_distance = 0.1;  ///< closer than this the pressure does not grow further [m]
};

/// What one moment of emission and its reception have between them.
struct PathMoment {
  double emission = 0;               ///< time [s]
  double reception = 0;              ///< time [s]
  double distance = 0;               ///< travelled [m]
  Vec3 departure = Vec3::UnitX();    ///< direction in which it left the source, unit, world
  Vec3 arrival = Vec3::UnitX();      ///< direction from the receiver to where it comes from, unit, world
  Vec3 departure_b = Vec3::UnitX();  ///< `departure` in the axes of the source
};

/// A point that moves with a track. Keeps a reference to the track.
struct TrackPoint {
  TrackPoint(const PoseTrack& moving, const Vec3& at = Vec3::Zero()) : track(&moving), point(at) {}
  TrackPoint(PoseTrack&&, const Vec3& = Vec3::Zero()) = delete;

  const PoseTrack* track;
  Vec3 point;  ///< in the axes of the track [m]

  [[nodiscard]] Vec3 position(double time) const { return track->pose(time).point(point); }
};

/// A way from one moving point to another.
class SoundPath {
 public:
  SoundPath(const TrackPoint& source, const TrackPoint& receiver, const PathDesc& desc = {});

  /// What left the source at a time [s]; and what arrives at the receiver at a time.
  [[nodiscard]] PathMoment at_emission(double time) const;
  [[nodiscard]] PathMoment at_reception(double time) const;
  [[nodiscard]] bool is_constant() const
  {
    return source_.track->is_constant() && receiver_.track->is_constant();
  }
  [[nodiscard]] const PathDesc& desc() const { return desc_; }
  [[nodiscard]] const PoseTrack& receiver() const { return *receiver_.track; }

 private:
  [[nodiscard]] Vec3 source_at(double time) const;
  [[nodiscard]] Vec3 receiver_at(double time) const;
  [[nodiscard]] PathMoment moment(double emission, double reception) const;

  TrackPoint source_;
  TrackPoint receiver_;
  PathDesc desc_;
  double sound_speed_;  ///< [m/s]
};

class AirFilter;

/// Carries samples along a path. Sample 0 of both ends is at `start` [s]; the result does not depend on how
/// the samples are cut into blocks.
class Propagator {
 public:
  /// Copies the path, not its tracks.
  Propagator(const SoundPath& path, int sample_rate, double start = 0);
  ~Propagator();
  Propagator(Propagator&&) noexcept;
  Propagator& operator=(Propagator&&) noexcept;

  /// Takes the next samples of the amplitude that leaves the source [Pa m].
  void push(std::span<const double> amplitude);
  /// Takes samples of the pressure that follow each other [Pa]; they are valid during the call.
  using Take = std::function<void(std::span<const double>)>;
  /// Passes on all samples of the pressure at the receiver that are known by now: more than were pushed when
  /// the way is long. The second appends them.
  void pull(const Take& take);
  void pull(std::vector<double>& pressure);
  /// The source is silent from now on: appends pressure until `frames` samples were pulled in all.
  void finish(std::vector<double>& pressure, std::size_t frames);

  /// Shortest distance so far [m].
  [[nodiscard]] double closest_distance() const { return closest_; }
  /// Samples pulled so far.
  [[nodiscard]] std::size_t pulled() const { return pulled_; }

 private:
  /// Travel time at a control point [samples].
  [[nodiscard]] double delay_at(std::ptrdiff_t control) const;
  [[nodiscard]] double delay_of_next();
  bool delay_next_samples();
  bool delay_row(std::ptrdiff_t sample, double delay, double gain);
  [[nodiscard]] double source_value(double position) const;
  std::size_t set_taps(double distance, std::vector<double>& taps);
  void update_filter(std::ptrdiff_t segment);
  void filter_samples(std::size_t count, std::vector<double>& pressure);
  void filter_until(std::size_t end, std::vector<double>& pressure);
  void drop_old_samples();
  void drop_source_before(std::ptrdiff_t needed);
  [[nodiscard]] double gain_at(double distance) const;
  void find_constant_weights();
  void filter_constant(std::ptrdiff_t end, const Take& take);

  SoundPath path_;
  double sample_rate_;
  double start_;
  double metres_per_sample_;
  std::ptrdiff_t delay_control_;  ///< samples between exact travel times
  double closest_;
  bool finished_ = false;

  std::vector<double> source_;       ///< amplitude, the newest sample last
  std::ptrdiff_t source_begin_ = 0;  ///< number of its first sample
  std::ptrdiff_t loud_begin_ = std::numeric_limits<std::ptrdiff_t>::max();  ///< first sample that is not 0
  std::ptrdiff_t loud_end_ = 0;                                             ///< after the last such sample
  std::array<double, 4> delays_{};  ///< control values round the next sample [samples]
  std::ptrdiff_t delay_segment_ = -1;
  bool delay_is_constant_ = false;   ///< over the segment, as of a body at rest
  std::vector<double> row_weights_;  ///< of the source, for the delay and the gain below
  double row_delay_ = -1;            ///< [samples]
  double row_gain_ = 0;

  // Of a path that never changes.
  std::vector<double> weights_;       ///< delay, gain and absorption together
  std::ptrdiff_t weights_begin_ = 0;  ///< sample of the source that the first is for, seen from the one heard

  std::vector<double> row_;  ///< pressure that is passed on

  std::vector<double> delayed_;          ///< s(t_e) / r, the newest sample last
  std::ptrdiff_t delayed_begin_ = 0;     ///< number of its first sample
  std::ptrdiff_t delayed_loud_end_ = 0;  ///< after the last one that is not 0

  std::unique_ptr<AirFilter> filter_;  ///< none without absorption
  std::vector<double> taps_;           ///< of the filter at the start of the segment
  std::vector<double> tap_slopes_;     ///< their change per sample
  std::size_t taps_used_ = 0;          ///< on each side, in this segment
  std::size_t tap_end_used_ = 0;       ///< at its end
  double filter_distance_ = 0;         ///< that the filter has, or reaches at the end of the segment [m]
  bool filter_changes_ = false;        ///< in this segment
  std::vector<double> filtered_;       ///< a row of sums
  std::ptrdiff_t filter_segment_ = -1;
  std::size_t pulled_ = 0;
};

}  // namespace thrum::sound
