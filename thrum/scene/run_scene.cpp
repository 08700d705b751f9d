// SPDX-License-Identifier: MIT
#include "thrum/scene/run_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "thrum/base/atomic_file.h"
#include "thrum/base/folder_lock.h"
#include "thrum/base/index.h"
#include "thrum/base/timing.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/scene/body_changes.h"
#include "thrum/scene/build_world.h"
#include "thrum/scene/run_header.h"
#include "thrum/scene/run_warnings.h"
#include "thrum/scene/scene_warnings.h"
#include "thrum/scene/sound_notes.h"
#include "thrum/sim/checkpoint.h"
#include "thrum/sim/excitation_recorder.h"
#include "thrum/sim/world_recorder.h"

namespace thrum::scene {

namespace {

using Json = nlohmann::ordered_json;

/// A checkpoint waits for the disk: at least this many times as long passes before the next one. With 100 it
/// could be 1 % of the time of a run, of 3.6 % that recording took.
constexpr double kTimesBetweenCheckpoints = 300;

// One run, from a first step on.
class Run {
 public:
  Run(const SceneDesc& scene, const RunDesc& desc)
      : scene_(scene),
        desc_(desc),
        built_(build_world(scene, desc.preparation)),
        steps_(
            static_cast<std::uint64_t>(std::llround(std::ceil(scene.duration / scene.step - kStepTolerance))))
  {
    frame_steps_ =
        scene.outputs.frame_rate > 0
            ? std::max<std::uint64_t>(
                  1, static_cast<std::uint64_t>(std::llround(1 / (scene.outputs.frame_rate * scene.step))))
            : 1;
  }

  // `lock` is taken here when the folder did not exist before.
  RunResult from_start(std::optional<base::FolderLock>& lock)
  {
    std::error_code failure;
    std::filesystem::create_directories(desc_.folder, failure);
    if (failure)
      throw Error(fmt::format("The folder {} cannot be made: {}.", desc_.folder.string(), failure.message()));
    if (!lock) lock.emplace(desc_.folder);
    if (desc_.on_warning) {
      for (const std::string& sentence : find_scene_warnings(scene_, built_)) desc_.on_warning(sentence);
    }
    back_up_previous_run();
    // Sound needs them also of a run that is killed.
    if (scene_.sound) (void)write_modes();
    sim::WorldRecorder recorder(built_.world, desc_.folder / "recording",
                                recorder_desc(scene_, built_, desc_));
    record_contacts(recorder, {});
    begin_boundary(0);
    record(recorder, 0);
    checkpoint(recorder, 0);
    return loop(recorder, 0);
  }

  RunResult from_checkpoint(const sim::Checkpoint& saved, const sim::Recording& recording)
  {
    // The bodies come and go in the same order as in the first run, so they get the same ids. The state is
    // that before the changes of its last step.
    if (saved.steps_done > 0)
      built_.apply_changes(static_cast<double>(saved.steps_done - 1) * scene_.step, scene_.step);
    built_.world.restore(saved.state);
    begin_boundary(saved.steps_done);
    check_fits_recording(saved, recording);
    sim::WorldRecorder recorder(built_.world, desc_.folder / "recording", saved.recording_length, recording,
                                recorder_desc(scene_, built_, desc_));
    if (scene_.sound) check_same_run(desc_.folder, recording.header.note("run"));
    record_contacts(recorder, static_cast<double>(saved.steps_done) * scene_.step);
    return loop(recorder, saved.steps_done);
  }

 private:
  static constexpr std::size_t kMaxContactsPerFrame = 500;  ///< in a frame, on average, at most
  static constexpr double kSlideRate = 10;                  ///< at which sliding pairs are recorded [1/s]

  // For the sound of the run. `after`: goes on with a file of which the steps before that time [s] count.
  void record_contacts(const sim::WorldRecorder& recorder, std::optional<double> after)
  {
    if (!scene_.sound) return;
    contacts_ = std::make_unique<sim::ExcitationRecorder>(
        built_.world, desc_.folder / "contacts",
        [&recorder](model::BodyId id) { return recorder.number_of(id); }, after, run_identity(scene_, desc_));
  }

  // A checkpoint is taken at a frame, and the frame holds the hash of the state.
  void check_fits_recording(const sim::Checkpoint& saved, const sim::Recording& recording) const
  {
    const bool is_frame = saved.steps_done % frame_steps_ == 0 || saved.steps_done == steps_;
    const bool fits = saved.steps_done <= steps_ && is_frame && !recording.frames.empty() &&
                      recording.frames.back().state_hash == built_.world.hash().low;
    if (fits) return;
    throw Error(
        fmt::format("The checkpoint in {} does not fit its recording: one of them is damaged or of another "
                    "run. It cannot be resumed; run the scene again without --resume.",
                    desc_.folder.string()));
  }

  // Recording and checkpoint of an earlier run wait under other names until this run has come to its end:
  // when the disk is full, or the run is killed, they are still there.
  void back_up_previous_run()
  {
    for (const char* name : {"recording", "checkpoint"}) {
      const std::filesystem::path now = desc_.folder / name;
      const std::filesystem::path old = desc_.folder / (std::string(name) + ".old");
      std::error_code failure;
      if (!std::filesystem::exists(now, failure)) continue;
      // What a run that failed left behind is not worth more than what it replaced.
      if (std::filesystem::exists(old, failure)) {
        std::filesystem::remove(now, failure);
      } else {
        std::filesystem::rename(now, old, failure);
      }
      if (failure) throw Error(fmt::format("{} cannot be replaced: {}.", now.string(), failure.message()));
    }
  }

  void remove_backup()
  {
    std::error_code none;
    for (const char* name : {"recording.old", "checkpoint.old"})
      std::filesystem::remove(desc_.folder / name, none);
  }

  RunResult loop(sim::WorldRecorder& recorder, std::uint64_t first)
  {
    const base::Stopwatch watch;
    double saved = 0;
    double flushed = 0;
    double checkpoint_seconds = 0;  // time that the last checkpoint took [s]
    std::uint64_t done = first;
    RunResult result;
    while (done < steps_ && !desc_.stop.stop_requested()) {
      const bool is_recorded = (done + 1) % frame_steps_ == 0 || done + 1 == steps_;
      built_.world.set_reports({.contacts = is_recorded, .impulses = false, .events = true});
      built_.step(static_cast<double>(done) * scene_.step, scene_.step);
      ++done;
      begin_boundary(done);
      const base::Stopwatch recording;
      if (is_recorded) record(recorder, done / frame_steps_);
      const double now = watch.seconds();
      if (now - flushed >= desc_.checkpoint_interval) {
        recorder.flush();
        if (contacts_) contacts_->flush();
        flushed = now;
      }
      const bool is_frame_step = done % frame_steps_ == 0;
      if (is_frame_step && now - saved >= (desc_.checkpoint_interval > 0
                                               ? std::max(desc_.checkpoint_interval,
                                                          kTimesBetweenCheckpoints * checkpoint_seconds)
                                               : 0)) {
        checkpoint(recorder, done);
        saved = now;
        checkpoint_seconds = watch.seconds() - now;
      }
      recording_seconds_ += recording.seconds();
      if (desc_.on_progress) {
        const double simulated = static_cast<double>(done) * scene_.step;
        const double wall = watch.seconds();
        desc_.on_progress({simulated, scene_.duration, wall,
                           wall > 0 ? static_cast<double>(done - first) * scene_.step / wall : 0});
      }
    }
    result.finished = done == steps_;
    result.steps = done;
    result.simulated = static_cast<double>(done) * scene_.step;
    result.final_hash = built_.world.hash();
    if (built_.responder) result.warnings = built_.responder->warnings();
    for (std::string& sentence : limit_warnings(built_.world)) result.warnings.push_back(std::move(sentence));
    checkpoint(recorder, done);
    contacts_.reset();
    if (result.finished) {
      recorder.finish();
      recorder.sync();
    }
    result.wall_seconds = watch.seconds();
    write_files(result);
    remove_backup();
    return result;
  }

  // Between two steps: bodies appear and are removed, before the frame of that time. A checkpoint has the
  // state before, so that contacts of removed bodies end in the next step of a resumed run too.
  void begin_boundary(std::uint64_t done)
  {
    const double time = static_cast<double>(done) * scene_.step;
    state_before_changes_.reset();
    if (!built_.has_changes(time, scene_.step)) return;
    state_before_changes_ = built_.world.save();
    built_.apply_changes(time, scene_.step);
  }

  void record(sim::WorldRecorder& recorder, std::uint64_t number)
  {
    // Of many contacts, those of every second frame are kept, and so on: on average kMaxContactsPerFrame a
    // frame.
    std::size_t points = 0;
    for (const model::ContactPatch& patch : built_.world.state().patches) points += patch.count;
    const bool has_contacts = number % (1 + points / kMaxContactsPerFrame) == 0;
    sim::RecordedFrame frame =
        recorder.take_frame(has_contacts ? scene_.outputs.contacts : sim::FrameContacts::none);
    // Bodies slide for long: ten times a second is enough to see it.
    const auto slide_frames = static_cast<std::uint64_t>(
        std::llround(1 / (kSlideRate * scene_.step * static_cast<double>(frame_steps_))));
    if (slide_frames > 1 && number % slide_frames != 0) {
      std::erase_if(frame.events,
                    [](const model::ContactEvent& e) { return e.kind == model::ContactEventKind::slide; });
    }
    recorder.add_frame(frame);
  }

  // Frames lie between checkpoints only when a checkpoint falls on one, so events that wait for their frame
  // are saved by going back to the last frame: a checkpoint is taken at frames alone.
  void checkpoint(sim::WorldRecorder& recorder, std::uint64_t done)
  {
    if (done % frame_steps_ != 0 && done != steps_) return;
    // The recording is on the disk before the checkpoint that counts on it: after a power cut too, there is a
    // checkpoint whose recording is whole.
    recorder.sync();
    if (contacts_) contacts_->flush();
    sim::write_checkpoint(desc_.folder / "checkpoint",
                          {done, recorder.writer().length(), dependency_hash(scene_),
                           state_before_changes_ ? *state_before_changes_ : built_.world.save()});
  }

  void write_files(RunResult& result)
  {
    const base::Stopwatch watch;
    const std::filesystem::path& folder = desc_.folder;
    result.files = {folder / "recording", folder / "checkpoint"};
    if (scene_.sound) result.files.push_back(folder / "contacts");
    const std::vector<std::filesystem::path> modes = write_modes();
    result.files.insert(result.files.end(), modes.begin(), modes.end());
    if (desc_.write_outputs) {
      const std::vector<std::filesystem::path> outputs =
          desc_.write_outputs(scene_, folder, sim::read_recording(folder / "recording"));
      result.files.insert(result.files.end(), outputs.begin(), outputs.end());
    }
    base::write_file(folder / "run.json", std::string_view(run_json(result, watch.seconds())));
    result.files.push_back(folder / "run.json");
  }

  // modes/NAME.npz of the bodies that ring, as viewer_run() finds them, in place of those of an earlier run.
  [[nodiscard]] std::vector<std::filesystem::path> write_modes() const
  {
    const std::filesystem::path folder = desc_.folder / "modes";
    std::error_code none;
    std::vector<std::filesystem::path> earlier;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      if (entry.path().extension() == ".npz") earlier.push_back(entry.path());
    }
    for (const auto& file : earlier) std::filesystem::remove(file, none);
    std::vector<std::filesystem::path> files;
    if (!built_.modes.empty()) std::filesystem::create_directories(folder);
    for (const auto& [body, model] : built_.modes) {
      files.push_back(folder / modes_file_name(body));
      elastic::write_modal_file(files.back(), *model);
    }
    return files;
  }

  std::string run_json(const RunResult& result, double export_seconds)
  {
    Json stages = Json::array();
    for (const base::StageRow& row : built_.world.times().rows()) {
      stages.push_back({{"stage", row.path}, {"seconds", row.total}, {"count", row.count}});
    }
    stages.push_back({{"stage", "record"}, {"seconds", recording_seconds_}, {"count", result.steps}});
    stages.push_back({{"stage", "export"}, {"seconds", export_seconds}, {"count", 1}});
    const Json run = {{"scene", desc_.scene_file.string()},
                      {"title", scene_.title},
                      {"settings", desc_.reading.settings},
                      {"version", desc_.version},
                      {"seed", scene_.seed},
                      {"step", scene_.step},
                      {"duration", scene_.duration},
                      {"simulated", result.simulated},
                      {"finished", result.finished},
                      {"steps", result.steps},
                      {"bodies", built_.visuals.size()},
                      {"source_hash", base::to_hex(scene_.source_hash)},
                      {"final_hash", base::to_hex(result.final_hash)},
                      {"wall_seconds", result.wall_seconds},
                      {"timings", stages}};
    return run.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  const SceneDesc& scene_;
  const RunDesc& desc_;
  BuiltScene built_;
  std::uint64_t steps_;
  std::uint64_t frame_steps_ = 1;
  std::optional<model::SceneState> state_before_changes_;  ///< of the last boundary, when there were any
  double recording_seconds_ = 0;
  std::unique_ptr<sim::ExcitationRecorder> contacts_;  ///< of a scene with sound
};

}  // namespace

RunResult run_scene(const SceneDesc& scene, const RunDesc& desc)
{
  // A folder in use is reported before modes are computed, which may take minutes.
  std::optional<base::FolderLock> lock;
  if (std::filesystem::is_directory(desc.folder)) lock.emplace(desc.folder);
  return Run(scene, desc).from_start(lock);
}

namespace {

// Whether the run came to its end and wrote all its files; run.json is the last of them, and the backup of
// the previous run is removed only then.
bool is_complete(const std::filesystem::path& folder, const sim::Recording& recording)
{
  if (!recording.complete || std::filesystem::exists(folder / "recording.old")) return false;
  if (!std::filesystem::exists(folder / "run.json")) return false;
  const Json run = Json::parse(base::read_text_file(folder / "run.json"), nullptr, false);
  return run.is_object() && run.value("finished", Json()) == true &&
         run.value("final_hash", Json()) == base::to_hex(recording.final_hash);
}

}  // namespace

RunResult resume_run(const RunDesc& desc)
{
  if (!std::filesystem::exists(desc.folder / "checkpoint"))
    throw Error(
        fmt::format("There is no run in {} to resume: it has no file 'checkpoint'.", desc.folder.string()));
  const base::FolderLock lock(desc.folder);
  const sim::Checkpoint saved = sim::read_checkpoint(desc.folder / "checkpoint");
  std::string bytes = base::read_text_file(desc.folder / "recording");
  // Only what the checkpoint knows of counts; later frames are made again.
  if (bytes.size() < saved.recording_length) {
    throw Error(
        fmt::format("The recording in {} is shorter than its checkpoint says, so it cannot be resumed. "
                    "Run the scene again without --resume.",
                    desc.folder.string()));
  }
  const sim::Recording whole = sim::parse_recording(bytes, desc.folder / "recording");
  bytes.resize(static_cast<std::size_t>(saved.recording_length));
  const sim::Recording recording = sim::parse_recording(bytes, desc.folder / "recording");
  RunDesc again = desc;
  again.scene_file = recording.header.note("scene");
  again.reading.settings.clear();
  for (const auto& [name, text] : recording.header.notes) {
    if (name == "set") again.reading.settings.push_back(text);
  }
  const SceneDesc scene = read_scene(again.scene_file, again.reading);
  if (dependency_hash(scene) != saved.source_hash) {
    throw Error(
        fmt::format("{} or a mesh that it uses has changed since this run began, so the run cannot be "
                    "resumed. Run it again without --resume.",
                    again.scene_file.string()));
  }
  if (is_complete(desc.folder, whole)) {
    RunResult result;
    result.finished = result.already_finished = true;
    result.steps = saved.steps_done;
    result.simulated = static_cast<double>(saved.steps_done) * scene.step;
    result.final_hash = whole.final_hash;
    return result;
  }
  return Run(scene, again).from_checkpoint(saved, recording);
}

}  // namespace thrum::scene
