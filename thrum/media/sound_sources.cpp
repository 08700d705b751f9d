// SPDX-License-Identifier: MIT
#include "thrum/media/sound_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/npz.h"

namespace thrum::media {

namespace {

constexpr std::size_t kMaxSamples = 1 << 23;  ///< of all bodies: 21 MB of a page
constexpr float kSilentShare = 1e-5f;         ///< of the loudest sample: a block below is left out

float peak_of(std::span<const float> samples)
{
  float peak = 0;
  for (const float x : samples) peak = std::max(peak, std::abs(x));
  return peak;
}

// Of a file that was read.
void check(const SoundSources& sources, const std::filesystem::path& file)
{
  const auto require = [&](bool holds, std::string_view what) {
    if (!holds) throw Error(fmt::format("{}: {}. Make the sound again.", file.string(), what));
  };
  require(std::isfinite(sources.full_scale) && sources.full_scale > 0, "full_scale must be positive");
  require(std::isfinite(sources.spacing) && sources.spacing >= 0, "spacing must not be negative");
  if (sources.ground)
    require(std::isfinite(sources.ground->height) && std::isfinite(sources.ground->reflection),
            "the ground must be finite");
  for (const Vec3& centre : sources.centres) require(centre.allFinite(), "centres must be finite");
  for (const std::int32_t body : sources.bodies)
    require(body >= 0 && at(body) < sources.centres.size(), fmt::format("body {} does not exist", body));
  for (const std::int32_t number : sources.numbers)
    require(number >= 0 && number <= sources.frames / sources.block_size,
            fmt::format("block {} is not within the sound", number));
  require(
      std::all_of(sources.samples.begin(), sources.samples.end(), [](float x) { return std::isfinite(x); }),
      "amplitudes must be finite");
}

}  // namespace

void SourceCollector::add(std::size_t body, std::size_t number, std::span<const double> amplitudes)
{
  if (is_too_large_ || std::all_of(amplitudes.begin(), amplitudes.end(), [](double x) { return x == 0; }))
    return;
  if (gathered_.samples.size() + amplitudes.size() > kMaxSamples) {
    is_too_large_ = true;
    gathered_ = {};
    return;
  }
  gathered_.bodies.push_back(static_cast<std::int32_t>(body));
  gathered_.numbers.push_back(static_cast<std::int32_t>(number));
  for (const double x : amplitudes) gathered_.samples.push_back(static_cast<float>(x));
}

std::optional<SoundSources> SourceCollector::finish(SoundSources description)
{
  if (is_too_large_) return {};
  SoundSources& sources = description;
  const std::size_t size = at(sources.block_size);
  const float limit = kSilentShare * peak_of(gathered_.samples);
  for (std::size_t b = 0; b < gathered_.bodies.size(); ++b) {
    const std::span<const float> block = std::span(gathered_.samples).subspan(b * size, size);
    if (!(peak_of(block) > limit)) continue;
    sources.bodies.push_back(gathered_.bodies[b]);
    sources.numbers.push_back(gathered_.numbers[b]);
    sources.samples.insert(sources.samples.end(), block.begin(), block.end());
  }
  gathered_ = {};
  return sources;
}

void write_sound_sources(const std::filesystem::path& file, const SoundSources& sources)
{
  std::vector<double> centres;
  for (const Vec3& c : sources.centres) centres.insert(centres.end(), c.begin(), c.end());
  base::NpzWriter out(file);
  out.add("sample_rate", static_cast<std::int64_t>(sources.sample_rate));
  out.add("frames", sources.frames);
  out.add("block_size", sources.block_size);
  out.add("full_scale", sources.full_scale);
  out.add("spacing", sources.spacing);
  out.add("is_cut", static_cast<std::int64_t>(sources.is_cut));
  out.add("at_camera", static_cast<std::int64_t>(sources.at_camera));
  out.add("absorption", static_cast<std::int64_t>(sources.absorption));
  if (sources.ground) {
    out.add("ground_height", sources.ground->height);
    out.add("ground_reflection", sources.ground->reflection);
  }
  out.add("centre", centres, {sources.centres.size(), 3});
  out.add("body", sources.bodies);
  out.add("block", sources.numbers);
  out.add("amplitude", sources.samples, {sources.bodies.size(), at(sources.block_size)});
  out.commit();
}

SoundSources read_sound_sources(const std::filesystem::path& file)
{
  const base::NpzFile in = base::read_npz(file);
  const auto whole = [&](const char* name) {
    return in.at(name).as<std::int64_t>({})[0];
  };
  const auto number = [&](const char* name) {
    return in.at(name).as<double>({})[0];
  };
  SoundSources sources;
  sources.sample_rate = static_cast<int>(whole("sample_rate"));
  sources.frames = whole("frames");
  sources.block_size = whole("block_size");
  sources.full_scale = number("full_scale");
  sources.spacing = number("spacing");
  sources.is_cut = in.contains("is_cut") && whole("is_cut") != 0;
  sources.at_camera = whole("at_camera") != 0;
  sources.absorption = !in.contains("absorption") || whole("absorption") != 0;
  if (in.contains("ground_height"))
    sources.ground = sound::Ground{number("ground_height"), number("ground_reflection")};
  const std::span<const double> centres = in.at("centre").as<double>({base::kAnySize, 3});
  for (std::size_t i = 0; i + 2 < centres.size(); i += 3)
    sources.centres.emplace_back(centres[i], centres[i + 1], centres[i + 2]);
  const auto bodies = in.at("body").as<std::int32_t>({base::kAnySize});
  const auto numbers = in.at("block").as<std::int32_t>({bodies.size()});
  if (sources.sample_rate <= 0 || sources.block_size <= 0 || sources.frames < 0)
    throw Error(
        fmt::format("{}: the rate and the sizes must be positive. Make the sound again.", file.string()));
  const auto samples = in.at("amplitude").as<float>({bodies.size(), at(sources.block_size)});
  sources.bodies.assign(bodies.begin(), bodies.end());
  sources.numbers.assign(numbers.begin(), numbers.end());
  sources.samples.assign(samples.begin(), samples.end());
  check(sources, file);
  return sources;
}

}  // namespace thrum::media
