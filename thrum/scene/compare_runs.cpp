// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "thrum/scene/run_scene.h"

namespace thrum::scene {

namespace {

// How two frames of one moment differ, as far as a recording shows it.
std::string difference(const sim::RecordedFrame& x, const sim::RecordedFrame& y, std::size_t frame,
                       const std::vector<sim::RecordedBody>& a, const std::vector<sim::RecordedBody>& b)
{
  std::pair<double, std::size_t> apart{0, 0};   // [m], body
  std::pair<double, std::size_t> turned{0, 0};  // [rad], body
  for (std::size_t i = 0; i < x.poses.size(); ++i) {
    if (!a[i].is_in_frame(frame) || !b[i].is_in_frame(frame)) {
      if (a[i].is_in_frame(frame) == b[i].is_in_frame(frame)) continue;
      return fmt::format("'{}' is then in one of them only", a[i].name);
    }
    const Pose p = x.poses[i].pose();
    const Pose q = y.poses[i].pose();
    apart = std::max(apart, {(p.position - q.position).norm(), i});
    if (x.poses[i].rotation != y.poses[i].rotation)
      turned = std::max(turned, {p.rotation.angularDistance(q.rotation), i});
  }
  if (apart.first > 0)
    return fmt::format("the farthest body is then '{}', {:.3g} m apart", a[apart.second].name, apart.first);
  if (turned.first > 0) {
    return fmt::format("'{}' is then turned by {:.3g} degrees, and all bodies are at the same places",
                       a[turned.second].name, turned.first * 180 / std::numbers::pi);
  }
  if (x.kinetic_energy != y.kinetic_energy) {
    return fmt::format(
        "all bodies are then at the same places but move at other velocities (kinetic energy {:.6g} and "
        "{:.6g} J)",
        x.kinetic_energy, y.kinetic_energy);
  }
  return "all bodies are then at the same places; velocities, or the solver's warm start, differ";
}

}  // namespace

RunComparison compare_runs(const sim::Recording& a, const sim::Recording& b)
{
  if (a.header.bodies.size() != b.header.bodies.size()) {
    return {false, fmt::format("The runs have {} and {} bodies: they are of different scenes.",
                               a.header.bodies.size(), b.header.bodies.size())};
  }
  const std::size_t common = std::min(a.frames.size(), b.frames.size());
  for (std::size_t f = 0; f < common; ++f) {
    const sim::RecordedFrame& x = a.frames[f];
    const sim::RecordedFrame& y = b.frames[f];
    if (x.time != y.time) {
      return {false,
              fmt::format("The runs diverge at frame {}, which is at {:.9g} s in one and at {:.9g} s in "
                          "the other: their steps or frame rates differ.",
                          f, x.time, y.time)};
    }
    if (x.state_hash == y.state_hash) continue;
    std::string text = fmt::format("The runs diverge at {:.9g} s (frame {}): {}", x.time, f,
                                   difference(x, y, f, a.header.bodies, b.header.bodies));
    if (f + 1 < common) {
      text += fmt::format("; at {:.9g} s: {}", a.frames[common - 1].time,
                          difference(a.frames[common - 1], b.frames[common - 1], common - 1, a.header.bodies,
                                     b.header.bodies));
    }
    return {false, text + "."};
  }
  if (a.frames.size() != b.frames.size()) {
    return {false,
            fmt::format("The runs are the same bit for bit up to {:.9g} s, where the shorter one ends.",
                        common > 0 ? a.frames[common - 1].time : 0.0)};
  }
  return {true, fmt::format("The runs are the same bit for bit: {} frames.", common)};
}

}  // namespace thrum::scene
