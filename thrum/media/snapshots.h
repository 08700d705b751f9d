// SPDX-License-Identifier: MIT
// Pictures of a recorded run: one frame, a strip of frames, a sheet of them, a film.
//
//   const sim::Recording recording = sim::read_recording("runs/hello/recording");
//   write_png("end.png", render_snapshot(recording, -1, {.width = 1280, .height = 720}));
//   write_png("strip.png", render_snapshot_strip(recording, evenly_spaced_times(recording, 5), {}));
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "thrum/base/progress.h"
#include "thrum/media/camera.h"
#include "thrum/media/image.h"
#include "thrum/sim/recording.h"

namespace thrum::media {

struct SnapshotDesc {
  int width = 1280;        ///< of one picture [pixel]
  int height = 720;        ///< [pixel]
  int samples = 2;         ///< rays per pixel and direction
  bool whole_run = false;  ///< the camera frames the motion of the whole run; otherwise the current positions
};

/// The frame nearest to `time` [s]; negative: the last. Throws Error when there are no frames.
[[nodiscard]] Image render_snapshot(const sim::Recording& recording, double time,
                                    const SnapshotDesc& desc = {});

/// The camera of the pictures of a run: that of the scene, or one that sees all of its motion.
[[nodiscard]] Camera run_camera(const sim::Recording& recording);

/// `count` times from the first to the last frame.
[[nodiscard]] std::vector<double> evenly_spaced_times(const sim::Recording& recording, int count);

/// Side by side with one camera, the time under each.
[[nodiscard]] Image render_snapshot_strip(const sim::Recording& recording, const std::vector<double>& times,
                                          const SnapshotDesc& desc = {});

/// Row by row, `columns` in each.
[[nodiscard]] Image render_snapshot_sheet(const sim::Recording& recording, const std::vector<double>& times,
                                          int columns, const SnapshotDesc& desc = {});

struct FilmDesc {
  SnapshotDesc picture = {.width = 960, .height = 540, .whole_run = true};
  double frame_rate = 30;            ///< [1/s]
  double speed = 1;                  ///< playback speed; 0.25: four times slower
  std::filesystem::path sound = {};  ///< a WAV file, or none
  base::StopToken stop = {};
  std::function<void(double fraction)> on_progress = {};
};

/// An MP4, encoded by the program ffmpeg. Written under a temporary name and renamed. Throws Error, with what
/// to do, when ffmpeg is not installed or fails.
void write_film(const std::filesystem::path& file, const sim::Recording& recording,
                const FilmDesc& desc = {});

}  // namespace thrum::media
