// SPDX-License-Identifier: MIT
#include "thrum/media/source_tracks.h"

#include <algorithm>

#include "thrum/base/index.h"

namespace thrum::media {

namespace {

/// Frames before and after a block: one to have it between two, and one for the slope of the cubic.
constexpr std::size_t kMargin = 2;

// Frames whose times are later than those before as 32-bit numbers, which is how a page has them.
std::vector<std::size_t> frames_in_order(const sim::Recording& recording)
{
  std::vector<std::size_t> frames;
  for (std::size_t f = 0; f < recording.frames.size(); ++f) {
    const auto time = [&](std::size_t i) {
      return static_cast<float>(recording.frames[i].time);
    };
    if (frames.empty() || time(f) > time(frames.back())) frames.push_back(f);
  }
  return frames;
}

}  // namespace

SourceTracks source_tracks(const SoundSources& sources, const sim::Recording& recording)
{
  const std::vector<std::size_t> frames = frames_in_order(recording);
  // The first of `frames` that is not before a sample.
  const auto frame_at = [&](std::int64_t sample) {
    const double time = static_cast<double>(sample) / sources.sample_rate;
    const auto it = std::partition_point(frames.begin(), frames.end(),
                                         [&](std::size_t f) { return recording.frames[f].time < time; });
    return static_cast<std::size_t>(it - frames.begin());
  };
  std::vector<std::vector<bool>> wanted(sources.centres.size());
  for (std::size_t k = 0; k < sources.bodies.size(); ++k) {
    std::vector<bool>& of_body = wanted[at(sources.bodies[k])];
    of_body.resize(frames.size(), false);
    const std::int64_t begin = sources.numbers[k] * sources.block_size;
    const std::size_t first = frame_at(begin) - std::min(frame_at(begin), kMargin);
    const std::size_t end = std::min(frame_at(begin + sources.block_size) + kMargin, frames.size());
    std::fill(of_body.begin() + static_cast<std::ptrdiff_t>(first),
              of_body.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
  SourceTracks tracks;
  for (std::size_t b = 0; b < wanted.size(); ++b) {
    std::vector<Eigen::Vector3f> places;
    const std::size_t begin = tracks.frames.size();
    for (std::size_t i = 0; i < wanted[b].size(); ++i) {
      const sim::RecordedFrame& frame = recording.frames[frames[i]];
      if (!wanted[b][i] || b >= frame.poses.size()) continue;
      places.emplace_back(frame.poses[b].pose().point(sources.centres[b]).cast<float>());
      tracks.frames.push_back(static_cast<std::uint32_t>(frames[i]));
    }
    if (std::all_of(places.begin(), places.end(), [&](const auto& p) { return p == places.front(); })) {
      places.resize(std::min<std::size_t>(places.size(), 1));
      tracks.frames.resize(begin + places.size());
    }
    tracks.counts.push_back(static_cast<std::uint32_t>(places.size()));
    for (const Eigen::Vector3f& place : places)
      tracks.positions.insert(tracks.positions.end(), place.begin(), place.end());
  }
  return tracks;
}

}  // namespace thrum::media
