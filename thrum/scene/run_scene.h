// SPDX-License-Identifier: MIT
// Running a scene into a directory, going on with it, and making files from what was recorded.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "thrum/base/hash.h"
#include "thrum/base/progress.h"
#include "thrum/scene/scene_file.h"
#include "thrum/sim/recording.h"

namespace thrum::scene {

/// Makes files in `folder` from what was recorded and returns their paths; media/run_outputs.h has the usual
/// one.
using OutputWriter = std::function<std::vector<std::filesystem::path>(
    const SceneDesc& scene, const std::filesystem::path& folder, const sim::Recording& recording)>;

/// How far a run has come.
struct RunProgress {
  double time = 0;              ///< simulated [s]
  double duration = 0;          ///< [s]
  double wall_seconds = 0;      ///< since the start, or since it was resumed
  double real_time_factor = 0;  ///< simulated seconds in a second
};

struct RunDesc {
  std::filesystem::path folder;
  ReadSceneDesc reading;
  std::filesystem::path scene_file;
  std::string version;             ///< of the program, for run.json
  double checkpoint_interval = 1;  ///< wall-clock time between two [s]
  OutputWriter write_outputs =
      {};  ///< called at the end of a run, and when it is stopped; none: no such files
  base::StopToken stop = {};
  std::function<void(const RunProgress&)> on_progress = {};  ///< after each step
  std::function<void(const std::string&)> on_warning =
      {};  ///< before the first step: what scene_warnings.h found
  base::ProgressDesc preparation = {.style =
                                        base::ProgressStyle::quiet};  ///< modes that are not in the cache yet
};

struct RunResult {
  bool finished = false;          ///< false: stopped on request
  bool already_finished = false;  ///< resumed, but it had finished before: nothing was done
  std::uint64_t steps = 0;
  double simulated = 0;  ///< [s]
  double wall_seconds = 0;
  base::Hash128 final_hash;
  std::vector<std::filesystem::path> files;  ///< written
  std::vector<std::string> warnings;         ///< what is doubtful about the responses that there were
};

/// Throws Error when the folder cannot be written or another process is running a scene into it
/// (base/folder_lock.h); what was there of an earlier run is replaced.
[[nodiscard]] RunResult run_scene(const SceneDesc& scene, const RunDesc& desc);

/// Goes on from the last checkpoint in desc.folder; scene file and settings are those of the first run.
/// Throws Error when the scene has changed since. A run that has finished, with all its files, is left as it
/// is.
[[nodiscard]] RunResult resume_run(const RunDesc& desc);

/// Where two runs diverge.
struct RunComparison {
  bool same = false;
  std::string text;  ///< sentences
};
[[nodiscard]] RunComparison compare_runs(const sim::Recording& a, const sim::Recording& b);

}  // namespace thrum::scene
