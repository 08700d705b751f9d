// SPDX-License-Identifier: MIT
#include "thrum/media/run_outputs.h"

#include "thrum/base/atomic_file.h"
#include "thrum/media/motion_glb.h"
#include "thrum/media/pages.h"
#include "thrum/media/snapshots.h"
#include "thrum/media/viewer_data.h"

namespace thrum::media {

std::vector<std::filesystem::path> write_run_outputs(const scene::SceneDesc& scene,
                                                     const std::filesystem::path& folder,
                                                     const sim::Recording& recording)
{
  std::vector<std::filesystem::path> files;
  const auto write = [&](const char* name, const std::string& bytes) {
    files.push_back(folder / name);
    base::write_file(files.back(), std::string_view(bytes));
  };
  if (scene.outputs.glb) write("motion.glb", motion_glb(recording));
  if (scene.outputs.csv) {
    write("events.csv", events_csv(recording));
    write("energy.csv", energy_csv(recording));
  }
  if (scene.outputs.poster) {
    files.push_back(folder / "poster.png");
    write_png(files.back(),
              render_snapshot(recording, scene.outputs.poster_time,
                              {.width = scene.outputs.poster_width, .height = scene.outputs.poster_height}));
  }
  // A build without pages writes the other outputs.
  if (scene.outputs.page && !page_template("viewer").empty())
    write("index.html", viewer_page({viewer_run(folder, recording)}));
  return files;
}

}  // namespace thrum::media
