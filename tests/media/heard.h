// SPDX-License-Identifier: MIT
// Runs a scene of scenes/ with sound and measures the sound.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>
#include <map>
#include <numbers>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/source_dir.h"
#include "thrum/base/atomic_file.h"
#include "thrum/media/run_sound.h"
#include "thrum/media/sound_bodies.h"
#include "thrum/scene/run_scene.h"
#include "thrum/sound/audio_file.h"
#include "thrum/sound/excitation.h"

namespace thrum::media {

using Settings = std::vector<std::string>;

// A scene of scenes/ that was run and heard.
class Heard {
 public:
  Heard(const char* name, const Settings& settings)
      : Heard(support::source_dir() / "scenes" / (std::string(name) + ".json"), settings)
  {
  }
  Heard(const std::filesystem::path& file, Settings settings)
  {
    for (const char* off : {"outputs.glb=false", "outputs.csv=false", "outputs.page=false",
                            "outputs.poster=false", "sound.stems=true", "listener.kind=mono"})
      settings.emplace_back(off);
    scene::RunDesc desc;
    desc.folder = folder_ = std::filesystem::temp_directory_path() /
                            fmt::format("thrum_heard_{}_{}", file.stem().string(), ::getpid());
    desc.scene_file = file;
    desc.reading.settings = settings;
    run = scene::run_scene(scene::read_scene(desc.scene_file, desc.reading), desc);
    recording = sim::read_recording(folder_ / "recording");
    sound = write_run_sound(folder_, recording);
    notes = scene::parse_sound_notes(recording.header.note("sound"));
    bodies = find_sound_bodies(folder_, recording.header, notes, {.style = base::ProgressStyle::quiet});
  }
  ~Heard() { std::filesystem::remove_all(folder_); }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

  std::size_t number(const std::string& name) const
  {
    for (std::size_t b = 0; b < bodies.bodies.size(); ++b)
      if (bodies.bodies[b].name == name) return b;
    ADD_FAILURE() << name;
    return 0;
  }

  const sound::SoundModel& model(const std::string& name) const { return *bodies.bodies[number(name)].model; }

  const std::filesystem::path& folder() const { return folder_; }

  double frequency(const std::string& name, Eigen::Index mode) const
  {
    return model(name).modes().omegas[mode] / (2 * std::numbers::pi);
  }

  sound::AudioBuffer stem(std::string name) const
  {
    std::replace(name.begin(), name.end(), '/', '_');
    return sound::read_audio_file(folder_ / "stems" / (name + ".wav"), {.full_scale = sound.full_scale});
  }

  // Decay of a mode by theory, alpha / 2 + beta w^2 / 2 and half of gamma sum c U^T (mu I + (1 - mu) n n^T) U
  // with the contacts of the body at a time [1/s].
  double decay(const std::string& name, Eigen::Index mode, double time) const
  {
    const LyingBody lying = lying_body(name, mode, time);
    return lying.free_decay + lying.decays.dot(lying.forces);
  }

  /// Where contacts are redundant the weight can rest on them in many ways, and sound spreads it anew
  /// [Zheng11, section 5.2]: the smallest and the largest decay of all ways that hold the body as the
  /// recorded one. They are those of the fewest contacts that can.
  std::array<double, 2> decay_range(const std::string& name, Eigen::Index mode, double time) const
  {
    const LyingBody lying = lying_body(name, mode, time);
    const Eigen::Index count = lying.forces.size();
    const Eigen::FullPivLU<MatX> whole(lying.wrenches);
    const Eigen::Index rank = whole.rank();
    const VecX load = lying.wrenches * lying.forces;
    std::array<double, 2> range = {std::numeric_limits<double>::infinity(), 0};
    for (unsigned chosen = 0; chosen < 1U << count; ++chosen) {
      if (std::popcount(chosen) != rank) continue;
      MatX some(6, rank);
      VecX decays(rank);
      for (Eigen::Index k = 0, n = 0; k < count; ++k) {
        if (((chosen >> k) & 1U) == 0) continue;
        some.col(n) = lying.wrenches.col(k);
        decays[n++] = lying.decays[k];
      }
      const VecX forces = some.colPivHouseholderQr().solve(load);
      if (forces.minCoeff() < -1e-9 * load.norm() || (some * forces - load).norm() > 1e-6 * load.norm())
        continue;
      const double decay = lying.free_decay + decays.dot(forces);
      range = {std::min(range[0], decay), std::max(range[1], decay)};
    }
    return range;
  }

  struct LyingBody {
    double free_decay = 0;  ///< [1/s]
    VecX forces;            ///< of its contacts [N]
    VecX decays;            ///< by each newton of them [1/(N s)]
    MatX wrenches;          ///< force and torque of each newton
  };
  LyingBody lying_body(const std::string& name, Eigen::Index mode, double time) const
  {
    const std::size_t body = number(name);
    const sound::SoundModel& of = model(name);
    const model::Material& material = notes.bodies.at(name).material;
    const double w = of.modes().omegas[mode];
    LyingBody lying;
    lying.free_decay = 0.5 * (material.damping.alpha + material.damping.beta * w * w);
    sound::ExcitationReader reader(folder_ / "contacts");
    std::map<std::uint32_t, Pose> poses;
    while (const auto step = reader.next()) {
      for (const sound::PoseSample& pose : step->poses) poses[pose.body] = pose.X_ws;
      if (step->time + step->duration < time) continue;
      const double gamma = notes.sound.synthesis.contact_damping_scale * material.contact_damping;
      for (const sound::ContactSample& contact : step->contacts) {
        if (contact.a != body && contact.b != body) continue;
        const Pose& X_ws = poses.at(static_cast<std::uint32_t>(body));
        const Vec3 U = of.shapes_at(X_ws.point_to_local(contact.position)).col(mode);
        const double Un = U.dot(X_ws.direction_to_local(contact.normal));
        const Eigen::Index n = lying.forces.size();
        lying.forces.conservativeResize(n + 1);
        lying.decays.conservativeResize(n + 1);
        lying.wrenches.conservativeResize(6, n + 1);
        lying.forces[n] = contact.normal_impulse / step->duration;
        lying.decays[n] =
            0.5 * gamma * (contact.friction * U.squaredNorm() + (1 - contact.friction) * Un * Un);
        lying.wrenches.col(n) << contact.normal, (contact.position - X_ws.position).cross(contact.normal);
      }
      break;
    }
    return lying;
  }

  struct Event {
    double time = 0;
    std::string a, b;
    double speed = 0;  // [m/s]
  };
  std::vector<Event> events() const
  {
    std::vector<Event> events;
    std::istringstream lines(base::read_text_file(folder_ / "sound.csv"));
    std::string line, number;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      Event& event = events.emplace_back();
      std::getline(cells, number, ',');
      event.time = std::stod(number);
      std::getline(cells, event.a, ',');
      std::getline(cells, event.b, ',');
      std::getline(cells, number, ',');
      event.speed = std::stod(number);
    }
    return events;
  }

  scene::RunResult run;
  sim::Recording recording;
  RunSound sound;
  scene::SoundNotes notes;
  SoundBodies bodies;

 private:
  std::filesystem::path folder_;
};

// Amplitude at a frequency under a window of Hann.
inline double amplitude(const sound::AudioBuffer& sound, double frequency, double from, double to)
{
  const auto begin = static_cast<std::size_t>(from * sound.sample_rate);
  const auto end = std::min(sound.frame_count(), static_cast<std::size_t>(to * sound.sample_rate));
  std::complex<double> sum = 0;
  double weight = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double x = static_cast<double>(i - begin) / static_cast<double>(end - begin);
    const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * x);
    const double angle = 2 * std::numbers::pi * frequency * static_cast<double>(i) / sound.sample_rate;
    sum += sound.channels[0][i] * window * std::polar(1.0, -angle);
    weight += window;
  }
  return 2 * std::abs(sum) / weight;
}

// The frequency of the highest peak within 5 % of one.
inline double peak_near(const sound::AudioBuffer& sound, double frequency, double from, double to)
{
  double best = 0, found = 0;
  for (double f = 0.95 * frequency; f < 1.05 * frequency; f *= 1.0005) {
    const double size = amplitude(sound, f, from, to);
    if (size > best) std::tie(best, found) = std::pair(size, f);
  }
  return found;
}

}  // namespace thrum::media
