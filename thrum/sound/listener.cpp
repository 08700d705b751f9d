// SPDX-License-Identifier: MIT
#include "thrum/sound/listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/sound/ambisonics.h"
#include "thrum/sound/hrtf.h"

namespace thrum::sound {

namespace {

constexpr double kUnitLength = 1e-6;           ///< by which the length of an axis may differ from 1
constexpr std::size_t kFarAfterEnd = 1 << 16;  ///< samples, more than filters of ears reach
constexpr std::size_t kGainControl = 64;  ///< samples between exact gains of a microphone; linear between

void check_microphone(const Microphone& microphone, std::size_t number)
{
  if (!(microphone.pattern >= 0 && microphone.pattern <= 1)) {
    throw Error(
        fmt::format("Microphone {}: the pattern is {}; it must be 0 (omnidirectional) to 1 (figure of "
                    "eight).",
                    number, microphone.pattern));
  }
  if (!microphone.position.allFinite() || !(std::abs(microphone.axis.norm() - 1) < kUnitLength)) {
    throw Error(
        fmt::format("Microphone {}: the position must be finite and the axis of unit length.", number));
  }
}

std::vector<Microphone> microphones_of(const ListenerDesc& desc)
{
  const Vec3 side(0, 0.5 * desc.spacing, 0);
  const Vec3 left(std::cos(0.5 * desc.opening), std::sin(0.5 * desc.opening), 0);
  const Vec3 right(left.x(), -left.y(), 0);
  switch (desc.kind) {
    case ListenerKind::mono:
      return {{.name = "mono"}};
    case ListenerKind::stereo:
      if (!(desc.spacing >= 0)) {
        throw Error(
            fmt::format("The spacing of the stereo pair is {} m; it must not be negative.", desc.spacing));
      }
      return {{side, desc.pattern, left, "left"}, {-side, desc.pattern, right, "right"}};
    case ListenerKind::microphones:
      if (desc.microphones.empty()) throw Error("A listener of kind \"microphones\" has no microphone.");
      return desc.microphones;
    case ListenerKind::ambisonic: {
      // Omnidirectional and figures of eight are the channels of ambisonic_gains().
      std::vector<Microphone> channels;
      for (const Vec3& axis :
           {Vec3::Zero().eval(), Vec3::UnitY().eval(), Vec3::UnitZ().eval(), Vec3::UnitX().eval()}) {
        const bool omni = axis.isZero();
        channels.push_back({Vec3::Zero(), omni ? 0.0 : 1.0, omni ? Vec3(Vec3::UnitX()) : axis,
                            kAmbisonicNames[channels.size()]});
      }
      return channels;
    }
    case ListenerKind::binaural:
      return {};
  }
  return {};
}

}  // namespace

Listener::Listener(const ListenerDesc& desc, PoseTrack track, int sample_rate)
    : track_(std::move(track)), sample_rate_(sample_rate)
{
  if (sample_rate <= 0)
    throw Error(fmt::format("The sample rate is {} Hz; it must be positive.", sample_rate));
  if (desc.kind == ListenerKind::binaural) {
    hrtf_ = std::make_shared<Hrtf>(desc.hrtf_file, sample_rate);
    names_ = {"left", "right"};
    points_.emplace_back();
    return;
  }
  for (const Microphone& microphone : microphones_of(desc)) {
    const std::size_t index = names_.size();
    check_microphone(microphone, index + 1);
    names_.push_back(microphone.name.empty() ? fmt::format("m{}", index + 1) : microphone.name);
    // Microphones at one place share the way of the sound.
    auto point = std::find_if(points_.begin(), points_.end(),
                              [&](const Point& p) { return p.position == microphone.position; });
    if (point == points_.end()) point = points_.insert(point, {microphone.position, {}});
    point->channels.push_back({index, microphone.pattern, microphone.axis});
  }
}

std::vector<Vec3> Listener::places() const
{
  std::vector<Vec3> places;
  for (const Point& point : points_) places.push_back(point.position);
  return places;
}

std::vector<ListenerPath> Listener::paths_from(const TrackPoint& source, PathDesc desc,
                                               const std::optional<Ground>& ground, AudioBuffer& sound,
                                               double start) const
{
  if (sound.sample_rate != sample_rate_ || sound.channels.size() != channel_count()) {
    throw Error(fmt::format("The listener has {} channels at {} Hz and the sound has {} at {} Hz.",
                            channel_count(), sample_rate_, sound.channels.size(), sound.sample_rate));
  }
  std::vector<ListenerPath> paths;
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const TrackPoint receiver(track_, points_[p].position);
    desc.reflected = false;
    paths.push_back(ListenerPath(*this, p, SoundPath(source, receiver, desc), sound, start));
    if (!ground) continue;
    desc.reflected = true;
    desc.ground = *ground;
    paths.push_back(ListenerPath(*this, p, SoundPath(source, receiver, desc), sound, start));
  }
  return paths;
}

ListenerPath::~ListenerPath() = default;
ListenerPath::ListenerPath(ListenerPath&&) noexcept = default;
ListenerPath& ListenerPath::operator=(ListenerPath&&) noexcept = default;

ListenerPath::ListenerPath(const Listener& listener, std::size_t point, const SoundPath& path,
                           AudioBuffer& sound, double start)
    : listener_(&listener),
      point_(&listener.points_[point]),
      path_(path),
      sound_(&sound),
      start_(start),
      propagator_(path, listener.sample_rate(), start)
{
  if (listener.hrtf_) binaural_ = std::make_unique<BinauralStream>(*listener.hrtf_);
}

/// Where the sound comes from at a sample, in the axes of the listener.
Vec3 ListenerPath::direction_at(std::size_t sample) const
{
  const double time = start_ + static_cast<double>(sample) / listener_->sample_rate();
  return listener_->track_.rotation(time).conjugate() * path_.at_reception(time).arrival;
}

void ListenerPath::push(std::span<const double> amplitude)
{
  propagator_.push(amplitude);
  // What comes after the end of the sound is heard by nobody but the filters of ears; of a longer one
  // finish() takes it.
  if (received_ >= sound_->frame_count() + kFarAfterEnd) return;
  propagator_.pull([&](std::span<const double> part) { receive(part); });
}

void ListenerPath::finish()
{
  std::vector<double> rest;
  propagator_.finish(rest, sound_->frame_count());
  receive(rest);
  if (binaural_) add_to_ears(true);
}

void ListenerPath::receive(std::span<const double> pressure)
{
  if (binaural_) {
    binaural_->push(pressure);
    add_to_ears(false);
  } else {
    for (const Listener::Channel& channel : point_->channels) add_with_gains(channel, pressure);
  }
  received_ += pressure.size();
}

void ListenerPath::add_with_gains(const Listener::Channel& channel, std::span<const double> pressure)
{
  std::vector<double>& out = sound_->channels[channel.index];
  const std::size_t end = std::min(received_ + pressure.size(), out.size());
  if (received_ >= end) return;
  const auto add_all = [&](double gain) {
    const auto count = static_cast<Eigen::Index>(end - received_);
    Eigen::Map<Eigen::ArrayXd>(out.data() + received_, count) +=
        gain * Eigen::Map<const Eigen::ArrayXd>(pressure.data(), count);
  };
  if (channel.pattern == 0) {
    add_all(1);
    return;
  }
  const auto gain_at = [&](std::size_t sample) {
    return 1 - channel.pattern + channel.pattern * channel.axis.dot(direction_at(sample));
  };
  if (path_.is_constant()) {
    add_all(gain_at(received_));
    return;
  }
  for (std::size_t i = received_; i < end;) {
    const std::size_t segment = i - i % kGainControl;
    const double first = gain_at(segment);
    const double slope = (gain_at(segment + kGainControl) - first) / kGainControl;
    for (const std::size_t stop = std::min(end, segment + kGainControl); i < stop; ++i) {
      out[i] += pressure[i - received_] * (first + slope * static_cast<double>(i - segment));
    }
  }
}

void ListenerPath::add_to_ears(bool to_the_end)
{
  const std::size_t frames = sound_->frame_count();
  for (;;) {
    const std::size_t middle = binaural_->next_piece() * binaural_->hop();
    const bool wanted = to_the_end ? middle < frames + binaural_->hop() : binaural_->has_piece();
    if (!wanted) return;
    binaural_->add_piece(direction_at(middle), sound_->channels[0], sound_->channels[1]);
  }
}

}  // namespace thrum::sound
