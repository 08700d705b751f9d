// SPDX-License-Identifier: MIT
#include "thrum/media/run_sound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/same_file.h"
#include "thrum/base/timing.h"
#include "thrum/media/run_listener.h"
#include "thrum/media/sound_bodies.h"
#include "thrum/media/sound_sources.h"
#include "thrum/media/sound_warnings.h"
#include "thrum/sound/audio_file.h"
#include "thrum/sound/listener.h"
#include "thrum/sound/loudness.h"

namespace thrum::media {

namespace {

constexpr std::size_t kBlockIntervals = 32;   ///< of Synthesis::kInterval samples
constexpr double kPeakLevel = 0.89;           ///< of a file without a given full scale: -1 dB
constexpr double kReferencePressure = 20e-6;  ///< of sound pressure levels [Pa]
constexpr double kLevelWindow = 0.05;         ///< after an impact, for its level [s]
constexpr double kMaxPressure = 1e30;         ///< far above all that is meant, far below overflow [Pa]
constexpr double kMergeTime = 1e-3;           ///< impacts of a pair this close are one line [s]
constexpr double kInaudible = 1e-9;           ///< a body whose amplitude stays below this is not heard [Pa m]
// The sound after the end of the motion ends when it is below both of these.
constexpr double kHearing = kReferencePressure;  ///< threshold of hearing [Pa]
constexpr double kSilentShare = 1e-5;            ///< of the loudest pressure of the run: -100 dB
constexpr double kPairSpacing = 0.2;             ///< on the page, for listeners that are no pair [m]
constexpr double kTimeRounding = 1e-6;           ///< of sums of steps [s]
constexpr std::size_t kArrivalMargin = 4096;     ///< samples of filters after the last that arrives

// The plane of the scene, when it lies level.
std::optional<sound::Ground> ground_of(const sim::Recording& recording, double reflection)
{
  if (!(reflection > 0) || recording.frames.empty()) return {};
  for (std::size_t b = 0; b < recording.frames.front().poses.size(); ++b) {
    const sim::RecordedBody& body = recording.header.bodies[b];
    const Pose pose = recording.frames.front().poses[b].pose();
    if (!recording.header.meshes[at(body.mesh)].triangles.empty()) continue;
    if (pose.direction(Vec3::UnitZ()).z() > 0.999)
      return sound::Ground{.height = pose.position.z(), .reflection = reflection};
  }
  return {};
}

class RunSynthesis {
 public:
  RunSynthesis(const std::filesystem::path& folder, const sim::Recording& recording,
               const scene::SoundNotes& notes, SoundBodies bodies, const RunSoundDesc& desc)
      : recording_(recording),
        notes_(notes),
        desc_(desc),
        rate_(notes.sound.synthesis.sample_rate),
        centres_(std::move(bodies.centres)),
        listener_(listener_desc(notes.listener), listener_track(notes.listener, recording), rate_),
        ground_(ground_of(recording, notes.sound.ground_reflection)),
        reader_(folder / "contacts"),
        synthesis_(std::move(bodies.bodies), notes.sound.synthesis, notes.roughness_pairs)
  {
    const std::size_t count = synthesis_.bodies().size();
    for (std::size_t b = 0; b < count; ++b) tracks_.push_back(body_track(recording, b));
    paths_.resize(count);
    loudest_.assign(count, 0.0);
    motion_end_ = recording.frames.empty() ? 0 : recording.frames.back().time;
    block_ = kBlockIntervals * sound::Synthesis::kInterval;
    const double seconds = motion_end_ + notes.sound.tail;
    blocks_ = static_cast<std::size_t>(std::ceil(seconds * rate_ / static_cast<double>(block_)));
    sound_ = sound::make_silence(rate_, listener_.channel_count(), 0);
    if (notes.sound.stems) stems_.assign(count, {});
    add_scripted_impulses();
  }

  void run()
  {
    // A run that was stopped is heard as far as it went.
    const bool was_stopped = desc_.preparation.stop.stop_requested();
    std::size_t k = 0;
    bool is_over = false;
    for (; k < blocks_ && !is_over; ++k) {
      if (!was_stopped) desc_.preparation.stop.check();
      const double end = static_cast<double>((k + 1) * block_) / rate_;
      while (synthesis_.ready_until() < end) add_next_step();
      synthesis_.render(kBlockIntervals, amplitudes_);
      push_block(k);
      for (std::size_t b = 0; b < amplitudes_.size(); ++b) collector_.add(b, k, amplitudes_[b]);
      gather_events();
      if (desc_.on_progress) desc_.on_progress(static_cast<double>(k + 1) / static_cast<double>(blocks_));
      is_over = has_faded(end) && end > motion_end_;
    }
    // Until what was rendered last has come to the listener.
    const std::size_t whole = blocks_ * block_;
    const std::size_t frames =
        is_over
            ? std::min(whole, std::max(arrival_of(k * block_), static_cast<std::size_t>(motion_end_ * rate_)))
            : whole;
    set_length(frames);
    frames_ = frames;
    for (auto& paths : paths_)
      for (sound::ListenerPath& path : paths) path.finish();
    is_cut_ = !is_over;
    if (is_cut_) {
      sound::fade_out(sound_);
      for (sound::AudioBuffer& stem : stems_) sound::fade_out(stem);
    }
    for (const sound::AudioBuffer& stem : stems_) {
      for (std::size_t c = 0; c < stem.channels.size(); ++c)
        for (std::size_t i = 0; i < frames; ++i) sound_.channels[c][i] += stem.channels[c][i];
    }
  }

  /// What the bodies emitted, with what a page needs to know of the listener; none when it is too much. Call
  /// once.
  [[nodiscard]] std::optional<SoundSources> take_sources(double full_scale)
  {
    SoundSources sources;
    sources.sample_rate = rate_;
    sources.frames = static_cast<std::int64_t>(frames_);
    sources.block_size = static_cast<std::int64_t>(block_);
    sources.full_scale = full_scale;
    sources.is_cut = is_cut_;
    const scene::ListenerEntry& listener = notes_.listener;
    const bool is_pair = listener.kind == sound::ListenerKind::stereo;
    sources.spacing = is_pair                                      ? listener.spacing
                      : listener.kind == sound::ListenerKind::mono ? 0
                                                                   : kPairSpacing;
    sources.at_camera = (is_pair || listener.kind == sound::ListenerKind::mono) && !listener.position &&
                        !listener.forward && listener.path.empty() && listener.body.empty();
    sources.absorption = notes_.sound.air_absorption;
    sources.ground = ground_;
    sources.centres = centres_;
    return collector_.finish(std::move(sources));
  }
  [[nodiscard]] const sound::Synthesis& synthesis() const { return synthesis_; }
  [[nodiscard]] sound::AudioBuffer& sound() { return sound_; }
  [[nodiscard]] const std::vector<sound::AudioBuffer>& stems() const { return stems_; }
  [[nodiscard]] const std::vector<sound::SoundEvent>& events() const { return events_; }
  /// Contacts end within a step of the motion, unless some were lost.
  [[nodiscard]] bool is_cut_short() const
  {
    return reader_.is_cut_short() || (contacts_ended_ && contacts_end_ < motion_end_ - kTimeRounding);
  }
  [[nodiscard]] double contacts_end() const { return contacts_end_; }  ///< [s]
  [[nodiscard]] const sound::Listener& listener() const { return listener_; }
  [[nodiscard]] const std::optional<sound::Ground>& ground() const { return ground_; }
  [[nodiscard]] const std::vector<sound::PoseTrack>& tracks() const { return tracks_; }
  /// By impacts, or by loads that change: a ruler that swings over an edge is never struck.
  [[nodiscard]] bool has_sounded(std::size_t body) const { return loudest_[body] > kInaudible; }
  [[nodiscard]] double travel_time(std::size_t body, double time) const
  {
    return distance_to(body, time) / sound::Air{}.sound_speed();
  }
  /// Whether the listener comes to be inside a body that was heard.
  [[nodiscard]] std::optional<InsideMoment> inside(std::size_t body) const
  {
    return find_inside(recording_, body, tracks_[body], listener_.track(), listener_.places(),
                       centres_[body]);
  }

 private:
  static sound::ListenerDesc listener_desc(const scene::ListenerEntry& entry)
  {
    sound::ListenerDesc desc;
    desc.kind = entry.kind;
    desc.spacing = entry.spacing;
    desc.microphones = entry.microphones;
    for (sound::Microphone& microphone : desc.microphones) microphone.axis.normalize();
    desc.hrtf_file = entry.hrtf.path;
    return desc;
  }

  void add_next_step()
  {
    if (const auto step = reader_.next()) {
      synthesis_.add_step(*step, listener_.track().position(step->time));
      contacts_end_ = step->time + step->duration;
    } else {
      synthesis_.finish();
      contacts_ended_ = true;
    }
  }

  void add_scripted_impulses()
  {
    for (const scene::SoundImpulseNote& impulse : notes_.impulses) {
      for (std::size_t b = 0; b < synthesis_.bodies().size(); ++b) {
        if (synthesis_.bodies()[b].name != impulse.body) continue;
        const Pose X_ws = tracks_[b].pose(impulse.time);
        const Vec3 position = impulse.position_s.value_or(centres_[b]);
        const Vec3 way = listener_.track().position(impulse.time) - X_ws.point(position);
        synthesis_.strike(static_cast<std::uint32_t>(b), impulse.time, notes_.sound.impulse_duration,
                          position, X_ws.direction_to_local(impulse.impulse),
                          X_ws.direction_to_local(way.normalized()));
      }
    }
  }

  // A body has paths from its first sound on, and then for every block.
  void push_block(std::size_t k)
  {
    std::vector<std::size_t> fresh;
    for (std::size_t b = 0; b < amplitudes_.size(); ++b) {
      for (const double x : amplitudes_[b]) loudest_[b] = std::max(loudest_[b], std::abs(x));
      if (amplitudes_[b].empty() || !paths_[b].empty()) continue;
      fresh.push_back(b);
      if (!stems_.empty())
        stems_[b] = sound::make_silence(rate_, listener_.channel_count(), sound_.frame_count());
      paths_[b] = listener_.paths_from({tracks_[b], centres_[b]}, {.absorption = notes_.sound.air_absorption},
                                       ground_, stems_.empty() ? sound_ : stems_[b]);
    }
    set_length(std::min(blocks_ * block_, std::max(sound_.frame_count(), arrival_of((k + 1) * block_))));
    const std::vector<double> silence(block_, 0.0);
    for (const std::size_t b : fresh) {
      for (sound::ListenerPath& path : paths_[b])
        for (std::size_t i = 0; i < k; ++i) path.push(silence);
    }
    for (std::size_t b = 0; b < amplitudes_.size(); ++b) {
      for (sound::ListenerPath& path : paths_[b])
        path.push(amplitudes_[b].empty() ? silence : amplitudes_[b]);
    }
  }

  // The number of samples in which all has arrived that left the bodies before a sample.
  [[nodiscard]] std::size_t arrival_of(std::size_t sample) const
  {
    const double time = static_cast<double>(sample) / rate_;
    double latest = time;
    for (const auto& paths : paths_)
      for (const sound::ListenerPath& path : paths)
        latest = std::max(latest, path.path().at_emission(time).reception);
    latest = std::min(latest, static_cast<double>(blocks_ * block_) / rate_);
    return static_cast<std::size_t>(std::ceil(latest * rate_)) + kArrivalMargin;
  }

  void set_length(std::size_t frames)
  {
    for (auto& channel : sound_.channels) channel.resize(frames);
    for (sound::AudioBuffer& stem : stems_)
      for (auto& channel : stem.channels) channel.resize(frames);
  }

  void gather_events()
  {
    for (const sound::SoundEvent& event : synthesis_.take_events()) {
      const auto same = std::find_if(events_.rbegin(), events_.rend(), [&](const sound::SoundEvent& e) {
        return e.a == event.a && e.b == event.b && std::abs(e.time - event.time) < kMergeTime;
      });
      if (same == events_.rend()) {
        events_.push_back(event);
        continue;
      }
      same->impulse += event.impulse;
      same->speed = std::max(same->speed, event.speed);
    }
  }

  [[nodiscard]] double distance_to(std::size_t body, double time) const
  {
    return (listener_.track().position(time) - tracks_[body].pose(time).point(centres_[body])).norm();
  }

  // Whether the block that was rendered last, until a time, is too soft to be heard, and has been so much
  // louder before that it is not missed.
  [[nodiscard]] bool has_faded(double time)
  {
    double pressure = 0;
    for (std::size_t b = 0; b < amplitudes_.size(); ++b) {
      double largest = 0;
      for (const double x : amplitudes_[b]) largest = std::max(largest, std::abs(x));
      if (largest > 0) pressure += largest / std::max(distance_to(b, time), sound::PathDesc{}.min_distance);
    }
    if (ground_) pressure *= 1 + ground_->reflection;
    loudest_pressure_ = std::max(loudest_pressure_, pressure);
    return pressure == 0 || pressure < std::min(kHearing, kSilentShare * loudest_pressure_);
  }

  const sim::Recording& recording_;
  const scene::SoundNotes& notes_;
  const RunSoundDesc& desc_;
  int rate_;
  std::vector<Vec3> centres_;
  std::vector<sound::PoseTrack> tracks_;
  sound::Listener listener_;
  std::optional<sound::Ground> ground_;
  sound::ExcitationReader reader_;
  sound::Synthesis synthesis_;
  std::vector<std::vector<sound::ListenerPath>> paths_;
  std::vector<std::vector<double>> amplitudes_;
  std::vector<double> loudest_;  ///< by body, of its amplitude so far [Pa m]
  double loudest_pressure_ = 0;  ///< of all of them at the listener so far, at most [Pa]
  sound::AudioBuffer sound_;
  std::vector<sound::AudioBuffer> stems_;  ///< by body; empty without stems
  std::vector<sound::SoundEvent> events_;
  SourceCollector collector_;
  bool is_cut_ = false;  ///< while it went on
  double motion_end_ = 0;
  double contacts_end_ = 0;      ///< of those that were read so far [s]
  bool contacts_ended_ = false;  ///< there are no more
  std::size_t frames_ = 0;       ///< of the whole [samples]
  std::size_t block_ = 0;        ///< samples
  std::size_t blocks_ = 0;
};

constexpr std::string_view kTableHead = "time,a,b,speed,impulse,duration,level\n";

// That of the run is sound.csv. Another sound has NAME_impacts.csv: NAME.csv may be a table of the user, or
// events.csv of the run.
std::filesystem::path table_file(const std::filesystem::path& sound, bool is_own)
{
  if (is_own) return std::filesystem::path(sound).replace_extension(".csv");
  return sound.parent_path() / (sound.stem().string() + "_impacts.csv");
}

// Only a table of impacts is replaced.
void check_table_file(const std::filesystem::path& file)
{
  if (!std::filesystem::exists(file)) return;
  std::ifstream in(file, std::ios::binary);
  std::string head(kTableHead.size(), '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (in && head == kTableHead) return;
  throw Error(fmt::format(
      "{} exists and is no table of impacts, which would be written there. Move it, or choose another name "
      "with -o.",
      file.string()));
}

std::string sound_csv(const RunSynthesis& run, const sim::Recording& recording,
                      const sound::AudioBuffer& sound)
{
  std::string text(kTableHead);
  // Steps come in order, but impacts of one step are where the surfaces meet.
  std::vector<sound::SoundEvent> events = run.events();
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  for (const sound::SoundEvent& e : events) {
    const double heard = e.time + run.travel_time(e.b, e.time);
    const double level = sound::rms(sound, heard, heard + kLevelWindow);
    text += fmt::format(
        "{:.6f},{},{},{:.5g},{:.5g},{:.4g},{:.1f}\n", e.time, recording.header.bodies[e.a].name,
        recording.header.bodies[e.b].name, e.speed, e.impulse, e.duration,
        level > 0 ? 20 * std::log10(level / kReferencePressure) : -std::numeric_limits<double>::infinity());
  }
  return text;
}

// Of an earlier sound, by the names of the bodies, and the folder when nothing else lies in it. What else
// does is not ours.
void remove_stems(const std::vector<std::string>& names, const std::filesystem::path& folder)
{
  bool removed = false;
  for (const std::string& name : names) {
    std::error_code failure;
    if (!std::filesystem::is_directory(folder / name, failure))
      removed = std::filesystem::remove(folder / name, failure) || removed;
    if (failure && failure != std::errc::no_such_file_or_directory && failure != std::errc::not_a_directory) {
      throw Error(fmt::format("{}, the stem of an earlier sound, cannot be removed: {}.",
                              (folder / name).string(), failure.message()));
    }
  }
  std::error_code not_empty;
  if (removed) std::filesystem::remove(folder, not_empty);
}

void write_stems(const RunSynthesis& run, const std::vector<std::string>& names,
                 const std::filesystem::path& folder, bool replace, RunSound& result)
{
  if (replace || !run.stems().empty()) remove_stems(names, folder);
  if (run.stems().empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure || !std::filesystem::is_directory(folder)) {
    throw Error(fmt::format("The folder {} of the stems cannot be made: {}.", folder.string(),
                            failure ? failure.message() : "it is a file"));
  }
  for (std::size_t b = 0; b < run.stems().size(); ++b) {
    if (run.stems()[b].channels.empty()) continue;
    result.files.push_back(folder / names[b]);
    sound::write_audio_file(result.files.back(), run.stems()[b], {.full_scale = result.full_scale});
  }
}

// Those of the sound of the run, in place of any of an earlier one.
void write_sources(RunSynthesis& run, const std::filesystem::path& file, RunSound& result)
{
  std::error_code none;
  std::filesystem::remove(file, none);
  if (!(result.peak > 0)) return;
  const std::optional<SoundSources> sources = run.take_sources(result.full_scale);
  if (!sources) return;
  write_sound_sources(file, *sources);
  result.files.push_back(file);
}

}  // namespace

bool has_recorded_contacts(const std::filesystem::path& folder, const sim::Recording& recording)
{
  return !recording.header.note("sound").empty() && std::filesystem::exists(folder / "contacts");
}

bool is_sound_of_run(const std::filesystem::path& folder, const std::filesystem::path& output)
{
  return output.empty() || base::is_same_file(folder / "sound.wav", output);
}

std::vector<std::string> stem_names(const sim::RecordingHeader& header)
{
  std::vector<std::string> names(header.bodies.size());
  std::set<std::string> taken;
  // Those that are files already keep their names.
  for (const bool has_slash : {false, true}) {
    for (std::size_t b = 0; b < names.size(); ++b) {
      std::string name = header.bodies[b].name;
      if ((name.find('/') != std::string::npos) != has_slash) continue;
      std::replace(name.begin(), name.end(), '/', '_');
      names[b] = name + ".wav";
      for (int k = 2; !taken.insert(names[b]).second; ++k) names[b] = fmt::format("{}_{}.wav", name, k);
    }
  }
  return names;
}

namespace {

// Others still strike a muted body as before. A name also stands for the bodies that a repeated one made.
void mute(SoundBodies& bodies, const std::vector<std::string>& names)
{
  for (const std::string& name : names) {
    bool found = false;
    std::vector<std::string> known;
    for (sound::SynthesisBody& body : bodies.bodies) {
      known.push_back(body.name);
      if (body.name != name && !body.name.starts_with(name + "/")) continue;
      found = true;
      body.sounds = false;
      body.simulated.reset();
    }
    if (found) continue;
    const std::string nearest = scene::nearest_name(name, known);
    throw Error(fmt::format("No body is called \"{}\", so it cannot be muted.{}", name,
                            nearest.empty() ? "" : fmt::format(" Did you mean \"{}\"?", nearest)));
  }
}

// Of bodies that the listener is in: their sound comes from their centre, by 1/r down to a smallest distance.
void warn_of_bodies_round_the_listener(const RunSynthesis& run, std::vector<std::string>& warnings)
{
  for (std::size_t b = 0; b < run.synthesis().bodies().size(); ++b) {
    if (!run.has_sounded(b)) continue;
    const std::optional<InsideMoment> inside = run.inside(b);
    if (!inside) continue;
    warnings.push_back(fmt::format(
        "The listener is inside of \"{}\" at {:.3g} s: inside a body there is no sound to compute. It is "
        "heard as from {:.2g} m; set listener.position outside of it.",
        run.synthesis().bodies()[b].name, inside->time,
        std::max(inside->distance, sound::PathDesc{}.min_distance)));
  }
}

// The ground reflects what is above it, and stops nothing.
void warn_of_the_ground(const RunSynthesis& run, const sim::Recording& recording,
                        std::vector<std::string>& warnings)
{
  if (!run.ground()) return;
  const double height = run.ground()->height;
  for (const sim::RecordedFrame& frame : recording.frames) {
    for (const Vec3& place : run.listener().places()) {
      const double depth = height - run.listener().track().pose(frame.time).point(place).z();
      if (!(depth > 0)) continue;
      warnings.push_back(fmt::format(
          "The listener is {:.3g} m below the ground at {:.3g} s, where it hears what passes through it and "
          "a reflection as if it were on it. The ground is at z = {:.3g} m; set listener.position above it.",
          depth, frame.time, height));
      return;
    }
    if (run.listener().track().is_constant()) return;
  }
}

// Those that are heard.
void add_modes(const sound::SoundModel& model, RunSound& result)
{
  result.modes += model.heard_mode_count();
  result.diffuse_modes += model.mode_count() - model.known_mode_count();
  for (std::size_t m = 0; m < model.known_mode_count(); ++m) {
    if (model.amplitudes()[m] > 0)
      result.mode_frequencies.push_back(model.modal_model()->frequencies[static_cast<Eigen::Index>(m)]);
  }
}

void check_range(const sound::AudioBuffer& sound)
{
  for (const std::vector<double>& channel : sound.channels) {
    const auto bad =
        std::find_if(channel.begin(), channel.end(), [](double x) { return !(std::abs(x) < kMaxPressure); });
    if (bad == channel.end()) continue;
    throw Error(fmt::format(
        "The sound is louder than {:g} Pa from {:.3g} s on, or no number. Make smaller what is too large: an "
        "impulse or "
        "a speed of the scene, the gain of a body or of a material, a roughness or sound.rolling.",
        kMaxPressure, static_cast<double>(bad - channel.begin()) / sound.sample_rate));
  }
}

double full_scale_of(const scene::SoundEntry& settings, const RunSound& result)
{
  if (settings.normalise) return 1 / sound::normalising_gain(result.sound);
  if (settings.full_scale > 0) return settings.full_scale;
  return result.peak > 0 ? result.peak / kPeakLevel : 1;
}

}  // namespace

RunSound write_run_sound(const std::filesystem::path& folder, const sim::Recording& recording,
                         const RunSoundDesc& desc)
{
  const std::filesystem::path contacts = folder / "contacts";
  std::error_code none;
  const bool is_missing = !std::filesystem::exists(contacts, none);
  if (!recording.header.note("sound").empty() && (is_missing || (std::filesystem::is_regular_file(contacts) &&
                                                                 std::filesystem::is_empty(contacts, none))))
    throw Error(fmt::format("{}, from which the sound is made, is {}. Run the scene again.",
                            contacts.string(), is_missing ? "missing" : "empty"));
  if (!has_recorded_contacts(folder, recording)) {
    throw Error(fmt::format(
        "The run in {} did not record its contacts, which sound needs. Run it again with --sound, "
        "or with \"sound\": true in the scene.",
        folder.string()));
  }
  if (recording.frames.empty()) {
    throw Error(fmt::format("The run in {} has no frames: it was stopped before the first one. Run it again.",
                            folder.string()));
  }
  const std::filesystem::path file = desc.output.empty() ? folder / "sound.wav" : desc.output;
  const bool is_own = is_sound_of_run(folder, desc.output);
  const std::filesystem::path table = table_file(file, is_own);
  if (!is_own) check_table_file(table);
  scene::check_same_run(folder, recording.header.note("run"));
  const scene::SoundNotes notes = scene::parse_sound_notes(recording.header.note("sound"), desc.settings);
  RunSound result;
  const base::Stopwatch watch;
  SoundBodies bodies = find_sound_bodies(folder, recording.header, notes, desc.preparation);
  mute(bodies, desc.mute);
  result.modes_seconds = watch.seconds();
  result.warnings = notes.warnings;
  result.warnings.insert(result.warnings.end(), bodies.warnings.begin(), bodies.warnings.end());

  const base::Stopwatch synthesis;
  RunSynthesis run(folder, recording, notes, std::move(bodies), desc);
  warn_of_fast_motion(contacts, run.listener(), notes.listener, run.synthesis(), run.tracks(), notes.impulses,
                      result.warnings);
  std::size_t told = 0;
  const auto print_warnings = [&] {
    for (; told < result.warnings.size(); ++told)
      if (desc.on_warning) desc.on_warning(result.warnings[told]);
  };
  print_warnings();
  run.run();
  result.synthesis_seconds = synthesis.seconds();
  if (!recording.complete)
    result.warnings.push_back(
        fmt::format("The run is incomplete and ends at {:.6g} s.", recording.frames.back().time));
  if (run.is_cut_short()) {
    result.warnings.push_back(
        fmt::format("The contacts of the run are cut short: {:.4g} of {:.4g} s were recorded and are heard.",
                    run.contacts_end(), recording.frames.back().time));
  }
  for (std::size_t b = 0; b < run.synthesis().bodies().size(); ++b) {
    if (!run.has_sounded(b)) continue;
    const sound::SynthesisBody& body = run.synthesis().bodies()[b];
    ++result.sounding_bodies;
    if (body.sounds) add_modes(*body.model, result);
    if (body.simulated) add_modes(*body.simulated, result);
    result.radiation.add(body);
  }
  if (const std::string poor = result.radiation.warning(); !poor.empty()) result.warnings.push_back(poor);
  std::vector<double>& lines = result.mode_frequencies;
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  warn_of_bodies_round_the_listener(run, result.warnings);
  warn_of_the_ground(run, recording, result.warnings);
  result.impacts = run.events().size();
  result.sound = std::move(run.sound());
  check_range(result.sound);
  result.peak = sound::peak(result.sound);
  result.full_scale = full_scale_of(notes.sound, result);

  const sound::AudioFileReport report =
      sound::write_audio_file(file, result.sound, {.full_scale = result.full_scale});
  if (report.clips()) {
    result.warnings.push_back(fmt::format(
        "{} samples are above full scale ({:.3g} Pa; the peak is {:.3g} Pa) and will be cut off by "
        "players; raise sound.full_scale, or leave it out.",
        report.clipped_samples, result.full_scale, result.peak));
  }
  if (result.peak == 0 && !run.is_cut_short()) {
    result.warnings.emplace_back(result.sounding_bodies == 0
                                     ? "Nothing is heard: no body that sounds was struck."
                                     : "Nothing is heard: the listener is so far away, or so fast, that "
                                       "nothing comes to it before the "
                                       "sound ends. Raise sound.tail, or set listener.position closer.");
  }
  result.files.push_back(file);
  result.files.push_back(table);
  base::write_file(table, std::string_view(sound_csv(run, recording, result.sound)));
  if (is_own) write_sources(run, folder / "sources.npz", result);
  // Likewise its stems, which are removed when the sound that they make up is replaced.
  const std::filesystem::path stems =
      is_own ? folder / "stems" : file.parent_path() / (file.stem().string() + "_stems");
  write_stems(run, stem_names(recording.header), stems, is_own, result);
  print_warnings();
  return result;
}

}  // namespace thrum::media
