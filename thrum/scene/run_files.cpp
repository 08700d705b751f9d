// SPDX-License-Identifier: MIT
// Tables, arrays and comparisons from what a run recorded.
#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "thrum/base/npz.h"
#include "thrum/scene/run_scene.h"

namespace thrum::scene {

namespace {

// Names in a table: quoted when they hold what parts the columns.
std::string cell(const std::string& name)
{
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

const char* word_for(model::ContactEventKind kind)
{
  switch (kind) {
    case model::ContactEventKind::begin:
      return "begin";
    case model::ContactEventKind::hit:
      return "hit";
    case model::ContactEventKind::slide:
      return "slide";
    case model::ContactEventKind::end:
      break;
  }
  return "end";
}

}  // namespace

std::string events_csv(const sim::Recording& recording)
{
  std::string text = "time,kind,a,b,x,y,z,nx,ny,nz,speed,impulse\n";
  const auto name = [&](model::BodyId id) {
    return cell(recording.header.bodies[static_cast<std::size_t>(id)].name);
  };
  for (const sim::RecordedFrame& frame : recording.frames) {
    for (const model::ContactEvent& e : frame.events) {
      text += fmt::format("{:.9g},{},{},{},{:.7g},{:.7g},{:.7g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", e.time,
                          word_for(e.kind), name(e.a), name(e.b), e.position.x(), e.position.y(),
                          e.position.z(), e.normal.x(), e.normal.y(), e.normal.z(), e.speed, e.impulse);
    }
  }
  return text;
}

std::string energy_csv(const sim::Recording& recording)
{
  std::string text = "time,kinetic,potential,total\n";
  for (const sim::RecordedFrame& f : recording.frames) {
    text += fmt::format("{:.9g},{:.12g},{:.12g},{:.12g}\n", f.time, f.kinetic_energy, f.potential_energy,
                        f.kinetic_energy + f.potential_energy);
  }
  return text;
}

void write_motion_npz(const std::filesystem::path& file, const sim::Recording& recording)
{
  const std::size_t frames = recording.frames.size();
  const std::size_t bodies = recording.header.bodies.size();
  std::vector<double> times, kinetic, potential;
  std::vector<float> positions, rotations;
  for (const sim::RecordedFrame& f : recording.frames) {
    times.push_back(f.time);
    kinetic.push_back(f.kinetic_energy);
    potential.push_back(f.potential_energy);
    for (const sim::RecordedPose& pose : f.poses) {
      positions.insert(positions.end(), pose.position.begin(), pose.position.end());
      const Quat q = pose.pose().rotation;
      for (const double x : {q.w(), q.x(), q.y(), q.z()}) rotations.push_back(static_cast<float>(x));
    }
  }
  std::vector<std::string> names;
  for (const sim::RecordedBody& body : recording.header.bodies) names.push_back(body.name);
  base::NpzWriter out(file);
  out.add("time", times);
  out.add("kinetic_energy", kinetic);
  out.add("potential_energy", potential);
  out.add("position", positions, {frames, bodies, 3});
  out.add("rotation", rotations, {frames, bodies, 4});
  out.add_texts("name", names);
  out.commit();
}

namespace {

// How two frames of one moment differ, as far as a recording shows it.
std::string difference(const sim::RecordedFrame& x, const sim::RecordedFrame& y,
                       const std::vector<sim::RecordedBody>& bodies)
{
  std::pair<double, std::size_t> apart{0, 0};   // [m], body
  std::pair<double, std::size_t> turned{0, 0};  // [rad], body
  for (std::size_t i = 0; i < x.poses.size(); ++i) {
    const Pose p = x.poses[i].pose();
    const Pose q = y.poses[i].pose();
    apart = std::max(apart, {(p.position - q.position).norm(), i});
    if (x.poses[i].rotation != y.poses[i].rotation)
      turned = std::max(turned, {p.rotation.angularDistance(q.rotation), i});
  }
  if (apart.first > 0)
    return fmt::format("the farthest body is then '{}', {:.3g} m apart", bodies[apart.second].name,
                       apart.first);
  if (turned.first > 0) {
    return fmt::format("'{}' is then turned by {:.3g} degrees, and all bodies are at the same places",
                       bodies[turned.second].name, turned.first * 180 / std::numbers::pi);
  }
  if (x.kinetic_energy != y.kinetic_energy) {
    return fmt::format(
        "all bodies are then at the same places but move at other velocities (kinetic energy {:.6g} and "
        "{:.6g} J)",
        x.kinetic_energy, y.kinetic_energy);
  }
  return "all bodies are then at the same places; velocities, or what the solver remembers, differ";
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
      return {false, fmt::format("The runs part at frame {}, which is at {:.9g} s in one and at {:.9g} s in "
                                 "the other: their steps or frame rates differ.",
                                 f, x.time, y.time)};
    }
    if (x.state_hash == y.state_hash) continue;
    std::string text =
        fmt::format("The runs part at {:.9g} s (frame {}): {}", x.time, f, difference(x, y, a.header.bodies));
    if (f + 1 < common) {
      text += fmt::format("; at {:.9g} s: {}", a.frames[common - 1].time,
                          difference(a.frames[common - 1], b.frames[common - 1], a.header.bodies));
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
