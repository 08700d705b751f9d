// SPDX-License-Identifier: MIT
// A recording that is stopped after any frame and continued has the bytes of one that was never stopped.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tests/base/scratch_folder.h"
#include "thrum/base/atomic_file.h"
#include "thrum/sim/recording.h"
#include "thrum/sim/world_recorder.h"

namespace thrum::sim::testing {

/// The bytes of a recording that is closed and opened again after frame `stop_at`. A Scene has a `world` and
/// advance(frame), which brings it from one frame to the next.
template <class Scene>
std::string record_with_stop(const std::filesystem::path& file, int frames, int stop_at)
{
  Scene scene;
  auto recorder = std::make_unique<WorldRecorder>(scene.world, file);
  for (int i = 0; i < frames; ++i) {
    scene.advance(i);
    recorder->add_frame();
    recorder->flush();
    if (i != stop_at) continue;
    const std::uint64_t length = recorder->writer().length();
    recorder.reset();
    recorder = std::make_unique<WorldRecorder>(scene.world, file, length, read_recording(file));
  }
  recorder->finish();
  recorder.reset();
  return base::read_text_file(file);
}

template <class Scene>
void expect_same_bytes_when_continued(int frames)
{
  const base::ScratchFolder folder;
  const std::string whole = record_with_stop<Scene>(folder / "whole", frames, -1);
  for (int stop = 0; stop < frames; ++stop)
    EXPECT_EQ(record_with_stop<Scene>(folder / "cut", frames, stop), whole) << stop;
}

}  // namespace thrum::sim::testing
