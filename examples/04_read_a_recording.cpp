// SPDX-License-Identifier: MIT
// Runs a scene from text into a folder, then reads the recording: who moved farthest, and where the energy
// went.
#include <fmt/format.h>

#include "thrum/scene/run_scene.h"

int main()
{
  namespace scene = thrum::scene;
  namespace sim = thrum::sim;
  const char* text = R"({
    "title": "Pins", "duration": 2, "outputs": {"poster": false, "page": false, "glb": false},
    "bodies": [
      {"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"},
      {"name": "ball", "shape": {"kind": "sphere", "radius": 0.11}, "mass": 6, "position": [-2, 0.05, 0.11], "velocity": [7, 0, 0]},
      {"name": "pin", "shape": {"kind": "cylinder", "radius": 0.06, "height": 0.38}, "mass": 1.5, "position": [0, 0, 0.19],
       "repeat": [{"kind": "grid", "count": [3, 3, 1], "spacing": [0.3, 0.3, 1]}]}
    ]})";
  const scene::SceneDesc pins = scene::parse_scene(text, "pins.json");
  scene::RunDesc desc;
  desc.folder = "pins_run";
  const scene::RunResult result = scene::run_scene(pins, desc);
  const sim::Recording recording = sim::read_recording(desc.folder / "recording");

  double most = 0;
  std::string who;
  for (std::size_t b = 0; b < recording.header.bodies.size(); ++b) {
    const thrum::Vec3 first = recording.frames.front().poses[b].pose().position;
    const thrum::Vec3 last = recording.frames.back().poses[b].pose().position;
    if ((last - first).norm() > most) {
      most = (last - first).norm();
      who = recording.header.bodies[b].name;
    }
  }
  fmt::print("{} frames; '{}' went farthest: {:.2f} m\n", recording.frames.size(), who, most);
  fmt::print("kinetic energy {:.0f} J at the start, {:.1f} J at the end\n",
             recording.frames.front().kinetic_energy, recording.frames.back().kinetic_energy);
  return result.finished && recording.complete && most > 1 ? 0 : 1;
}
