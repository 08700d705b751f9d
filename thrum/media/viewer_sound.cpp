// SPDX-License-Identifier: MIT
#include "thrum/media/viewer_sound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "thrum/base/index.h"
#include "thrum/media/base64.h"
#include "thrum/media/source_tracks.h"
#include "thrum/sound/air.h"
#include "thrum/sound/air_filter.h"

namespace thrum::media {

AirTable air_table(int sample_rate)
{
  constexpr double kNearest = 0.5;   // after 0 [m]
  constexpr double kFarthest = 250;  // at least; sound from beyond is filtered as from there [m]
  const double ratio = std::pow(2, 1.0 / 8);
  AirTable table;
  table.distances = {0};
  for (double r = kNearest; r < kFarthest * ratio; r *= ratio) table.distances.push_back(r);
  sound::AirFilter filter({}, sample_rate);
  std::vector<double> row(filter.half_length() + 1);
  for (const double distance : table.distances) {
    table.used.push_back(filter.taps(distance, row));
    for (const double tap : row) table.taps.push_back(static_cast<float>(tap));
  }
  return table;
}

// 16-bit samples of the channels in turn, without the silence before and after.
nlohmann::json stem_of(std::size_t body, const sound::AudioBuffer& stem)
{
  constexpr double kMaxSample = 32767;
  constexpr double kSilence = 1e-30;  // peak of a stem without sound, so that no sample is divided by 0 [Pa]
  const double scale = std::max(sound::peak(stem), kSilence) / kMaxSample;
  std::vector<std::int16_t> samples;
  std::size_t first = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < stem.frame_count(); ++i) {
    for (const std::vector<double>& channel : stem.channels) {
      const auto sample = static_cast<std::int16_t>(std::lround(channel[i] / scale));
      if (samples.empty() && sample == 0) {
        ++first;
        continue;
      }
      samples.push_back(sample);
      if (sample != 0) end = samples.size();
    }
  }
  samples.resize(end);
  return {{"body", body}, {"first", first}, {"scale", scale}, {"samples", base64_of(samples)}};
}

// Each block as 16-bit samples of its own scale.
nlohmann::json sources_of(const SoundSources& sources, const sim::Recording& recording)
{
  constexpr float kMaxSample = 32767;
  const std::size_t size = at(sources.block_size);
  std::vector<float> scales;
  std::vector<std::int16_t> samples;
  for (std::size_t b = 0; b < sources.bodies.size(); ++b) {
    const std::span<const float> block = std::span(sources.samples).subspan(b * size, size);
    float peak = std::numeric_limits<float>::min();
    for (const float x : block) peak = std::max(peak, std::abs(x));
    scales.push_back(peak / kMaxSample);
    for (const float x : block)
      samples.push_back(static_cast<std::int16_t>(std::lround(x / peak * kMaxSample)));
  }
  const SourceTracks tracks = source_tracks(sources, recording);
  nlohmann::json data = {{"rate", sources.sample_rate},
                         {"frames", sources.frames},
                         {"block", sources.block_size},
                         {"full_scale", sources.full_scale},
                         {"sound_speed", sound::Air{}.sound_speed()},
                         {"spacing", sources.spacing},
                         {"cut", sources.is_cut},
                         {"at_camera", sources.at_camera},
                         {"tracks",
                          {{"counts", base64_of(tracks.counts)},
                           {"frames", base64_of(tracks.frames)},
                           {"positions", base64_of(tracks.positions)}}},
                         {"bodies", base64_of(sources.bodies)},
                         {"blocks", base64_of(sources.numbers)},
                         {"scales", base64_of(scales)},
                         {"samples", base64_of(samples)}};
  if (sources.absorption) {
    const AirTable air = air_table(sources.sample_rate);
    data["air"] = {{"distances", air.distances}, {"used", air.used}, {"taps", base64_of(air.taps)}};
  }
  if (sources.ground)
    data["ground"] = {{"height", sources.ground->height}, {"reflection", sources.ground->reflection}};
  return data;
}

}  // namespace thrum::media
