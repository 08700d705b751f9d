// SPDX-License-Identifier: MIT
// What happens in the scenes of the distant response, in numbers: run with any step and settings, used by the
// tests and by script/bench outcomes alike.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "thrum/scene/build_world.h"

namespace thrum::support {

/// Steps at which every named outcome must hold [1/s]; the last is the reference.
inline constexpr std::array<double, 5> kStepRates = {30, 60, 100, 200, 1000};

/// How far a body went from where it stood.
struct BodyMotion {
  double up = 0;                                          ///< off the first body of the scene, at most [m]
  double down = 0;                                        ///< at most [m]
  double sideways = 0;                                    ///< at the end [m]
  double turned = 0;                                      ///< at most [rad]
  double tipped = 0;                                      ///< of what pointed up, at most [rad]
  double fell = std::numeric_limits<double>::infinity();  ///< when it was 0.1 m lower first [s]
};
using SceneMotion = std::map<std::string, BodyMotion>;  // by name of the body

/// Runs a scene to its end, with steps of 1 / `rate`; 0: the step of the file. The first step is the share
/// `phase` of the others, from above 0 to 1, so that impacts fall elsewhere within theirs.
inline SceneMotion run_scene_motion(const std::filesystem::path& file,
                                    const std::vector<std::string>& settings, double rate, double phase = 1)
{
  scene::SceneDesc desc = scene::read_scene(file, {.settings = settings});
  if (rate > 0) desc.step = 1 / rate;
  scene::BuiltScene built = scene::build_world(desc);
  const auto start = built.world.save().bodies;
  const Vec3 normal = built.world.shape_pose(built.world.id_of(0)).rotation * Vec3::UnitZ();
  SceneMotion motion;
  const auto steps = static_cast<int>(std::lround(desc.duration / desc.step));
  for (int i = 0; i < steps; ++i) {
    const double time = i == 0 ? 0 : (i - 1 + phase) * desc.step;
    built.step(time, i == 0 ? phase * desc.step : desc.step);
    for (std::size_t b = 0; b < start.size(); ++b) {
      const Pose& now = built.world.state().bodies[b].X_wb;
      const Vec3 d = now.position - start[b].X_wb.position;
      BodyMotion& m = motion[built.visuals[b].name];
      m.up = std::max(m.up, d.dot(normal));
      m.down = std::max(m.down, -d.z());
      if (-d.z() > 0.1) m.fell = std::min(m.fell, (i + phase) * desc.step);
      m.sideways = d.head<2>().norm();
      m.turned = std::max(m.turned, now.rotation.angularDistance(start[b].X_wb.rotation));
      const Vec3 up = now.rotation * (start[b].X_wb.rotation.conjugate() * Vec3::UnitZ());
      m.tipped = std::max(m.tipped, std::acos(std::clamp(up.z(), -1.0, 1.0)));
    }
  }
  return motion;
}

/// The bodies whose name begins with one of the words.
inline std::vector<BodyMotion> bodies_of(const SceneMotion& motion, const std::vector<std::string>& words)
{
  std::vector<BodyMotion> found;
  for (const auto& [name, m] : motion) {
    const bool named = std::any_of(words.begin(), words.end(),
                                   [&, &n = name](const std::string& w) { return n.rfind(w, 0) == 0; });
    if (named) found.push_back(m);
  }
  return found;
}

/// One figure of a scene's outcome.
struct Outcome {
  std::string name;
  std::string unit;
  double value = 0;
};

namespace outcome_detail {

inline double mean(const std::vector<BodyMotion>& bodies, double BodyMotion::*member)
{
  double sum = 0;
  for (const BodyMotion& b : bodies) sum += b.*member;
  return sum / static_cast<double>(bodies.size());
}

inline double least(const std::vector<BodyMotion>& bodies, double BodyMotion::*member)
{
  double least = std::numeric_limits<double>::infinity();
  for (const BodyMotion& b : bodies) least = std::min(least, b.*member);
  return least;
}

inline double fallen(const std::vector<BodyMotion>& bodies, double height)
{
  return static_cast<double>(
      std::count_if(bodies.begin(), bodies.end(), [&](const BodyMotion& b) { return b.down > height; }));
}

}  // namespace outcome_detail

/// The scenes with a response, in the order of the paper.
inline const std::vector<std::string>& response_scenes()
{
  static const std::vector<std::string> names = {"dinner",         "truck",    "rockfall",
                                                 "wrench_on_roof", "scaffold", "washing_machine"};
  return names;
}

/// The named outcomes of a scene, from how its bodies moved: those that the docs state.
inline std::vector<Outcome> outcomes_of(const std::string& scene, const SceneMotion& motion)
{
  using namespace outcome_detail;
  constexpr double mm = 1e-3, degree = 3.14159265358979 / 180;
  const auto all = [&](std::initializer_list<std::string> words) {
    return bodies_of(motion, words);
  };
  const auto up = &BodyMotion::up;
  if (scene == "dinner") {
    const auto far = all({"plate_left/2", "plate_right/2", "cup_left/1", "cup_right/1"});
    const auto near = all({"plate_left/0", "plate_right/0", "cup_left/0", "cup_right/0"});
    return {{"rise of plates and cups beside the pot, mean", "mm", mean(near, up) / mm},
            {"rise of plates and cups at the far end, mean", "mm", mean(far, up) / mm},
            {"rise at the far end, least", "mm", least(far, up) / mm},
            {"tilt at the far end, least", "degrees", least(far, &BodyMotion::tipped) / degree},
            {"slide at the far end, mean", "mm", mean(far, &BodyMotion::sideways) / mm},
            {"slide at the far end, least", "mm", least(far, &BodyMotion::sideways) / mm}};
  }
  if (scene == "truck")
    return {{"rise of the cones, mean", "mm", mean(all({"cone"}), up) / mm},
            {"posts on the ground that fall", "of 3", fallen(all({"post"}), 0.3)},
            {"stacked posts that fall", "of 1", fallen(all({"stacked_post"}), 1)}};
  if (scene == "rockfall")
    return {{"rise of the rocks, mean", "mm", mean(all({"rock"}), up) / mm},
            {"rocks that fall", "of 5", fallen(all({"rock"}), 5)}};
  if (scene == "wrench_on_roof")
    return {{"rise of the wrench off the roof", "mm", motion.at("wrench").up / mm},
            {"slide of the wrench", "mm",
             std::hypot(motion.at("wrench").sideways, motion.at("wrench").down) / mm}};
  if (scene == "scaffold") {
    const auto upper = all({"hammer", "pliers", "tape", "helmet", "chisel"});
    return {{"rise of the tools on the struck deck, mean", "mm", mean(upper, up) / mm},
            {"mean rise of the tools on the lower deck", "mm", mean(all({"low_"}), up) / mm}};
  }
  return {{"rise of the bottles, mean", "mm", mean(all({"bottle"}), up) / mm},
          {"rise of the plant on the fridge", "mm", motion.at("plant").up / mm},
          {"sway of its leaf", "degrees", motion.at("leaf").turned / degree},
          {"rise of the fridge", "mm", motion.at("fridge").up / mm}};
}

}  // namespace thrum::support
