// SPDX-License-Identifier: MIT
// What a power cut leaves of a run. fsync() and rename() of this program note what is on the disk for
// certain: the bytes that a file had at its last fsync(). A checkpoint gets its name only when the recording
// that it counts on is among them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/base/scratch_folder.h"
#include "thrum/base/atomic_file.h"
#include "thrum/scene/run_scene.h"
#include "thrum/sim/checkpoint.h"

namespace {

struct SavedPoint {
  std::string checkpoint;            ///< its bytes
  std::uint64_t recording_size = 0;  ///< of the recording, what is on the disk for certain [bytes]
  bool name_is_synced = false;       ///< so is the name of the recording
};

std::map<std::string, std::uint64_t> synced_sizes;  ///< by path [bytes]; folders: 0
std::vector<SavedPoint> saved_points;

template <class Function>
Function* real(const char* name)
{
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// In place of those of the C library, for this program.
extern "C" int fsync(int descriptor)
{
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  struct stat entry {};
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  if (length > 0 && ::fstat(descriptor, &entry) == 0) {
    synced_sizes[std::string(path.data(), static_cast<std::size_t>(length))] =
        S_ISDIR(entry.st_mode) ? 0 : static_cast<std::uint64_t>(entry.st_size);
  }
  return real<int(int)>("fsync")(descriptor);
}

extern "C" int rename(const char* from, const char* to) noexcept
{
  const std::filesystem::path target(to);
  if (target.filename() == "checkpoint") {
    SavedPoint point;
    point.checkpoint = thrum::base::read_text_file(from);
    const auto recording = synced_sizes.find((target.parent_path() / "recording").string());
    if (recording != synced_sizes.end()) point.recording_size = recording->second;
    point.name_is_synced = synced_sizes.contains(target.parent_path().string());
    saved_points.push_back(std::move(point));
  }
  return real<int(const char*, const char*)>("rename")(from, to);
}

namespace thrum::scene {
namespace {

constexpr const char* kScene = R"({
  "duration": 0.5,
  "bodies": [
    {"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"},
    {"name": "box", "shape": {"kind": "box", "size": [0.4, 0.4, 0.4]}, "position": [0, 0, 0.5]}
  ]})";

TEST(SyncOrder, APowerCutLosesNoMoreThanAKill)
{
  const base::ScratchFolder scratch;
  const std::filesystem::path folder = std::filesystem::canonical(scratch.path());
  base::write_file(folder / "s.json", std::string_view(kScene));
  RunDesc desc;
  desc.folder = folder / "run";
  desc.scene_file = folder / "s.json";
  desc.checkpoint_interval = 0;
  saved_points.clear();
  const RunResult whole = run_scene(read_scene(desc.scene_file), desc);
  ASSERT_GT(saved_points.size(), 20U);
  const std::string recording = base::read_text_file(desc.folder / "recording");
  for (std::size_t i = 0; i < saved_points.size(); ++i) {
    const SavedPoint& point = saved_points[i];
    const sim::Checkpoint checkpoint = sim::parse_checkpoint(point.checkpoint, "checkpoint");
    EXPECT_GE(point.recording_size, checkpoint.recording_length) << "checkpoint " << i;
    EXPECT_TRUE(point.name_is_synced) << "checkpoint " << i;
  }
  // The run goes on from what a power cut just after the tenth checkpoint leaves.
  const SavedPoint point = saved_points[10];
  RunDesc again;
  again.folder = folder / "cut";
  std::filesystem::create_directory(again.folder);
  base::write_file(again.folder / "recording", std::string_view(recording).substr(0, point.recording_size));
  base::write_file(again.folder / "checkpoint", std::string_view(point.checkpoint));
  EXPECT_EQ(resume_run(again).final_hash, whole.final_hash);
}

}  // namespace
}  // namespace thrum::scene
