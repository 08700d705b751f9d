// SPDX-License-Identifier: MIT
// Tables, arrays, pictures and comparisons from what a run recorded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "thrum/base/error.h"
#include "thrum/base/npz.h"
#include "thrum/scene/motion_glb.h"
#include "thrum/scene/render.h"
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

std::optional<Vec3> vec_note(const sim::RecordingHeader& header, const char* name)
{
  std::istringstream text(header.note(name));
  Vec3 v;
  if (text >> v[0] >> v[1] >> v[2]) return v;
  return std::nullopt;
}

std::size_t frame_at(const sim::Recording& recording, double time)
{
  if (recording.frames.empty()) throw Error("The recording has no frames, so there is nothing to show.");
  if (time < 0) return recording.frames.size() - 1;
  std::size_t best = 0;
  for (std::size_t f = 1; f < recording.frames.size(); ++f) {
    if (std::abs(recording.frames[f].time - time) < std::abs(recording.frames[best].time - time)) best = f;
  }
  return best;
}

// What moves is what a picture is about; when nothing does, all that is not the ground.
Box3 subject(const sim::Recording& recording, const sim::RecordedFrame& frame, bool moving_only)
{
  Box3 box;
  for (std::size_t b = 0; b < frame.poses.size(); ++b) {
    const sim::RecordedBody& body = recording.header.bodies[b];
    if (moving_only && body.motion == model::Motion::fixed) continue;
    const Pose X = frame.poses[b].pose();
    for (const Vec3& v : recording.header.meshes[static_cast<std::size_t>(body.mesh)].vertices)
      box.extend(X.point(v));
  }
  return box;
}

Camera camera_for(const sim::Recording& recording, const sim::RecordedFrame& frame, double aspect)
{
  const sim::RecordingHeader& header = recording.header;
  Box3 box = subject(recording, frame, true);
  if (box.isEmpty()) box = subject(recording, frame, false);
  if (box.isEmpty()) box = Box3(Vec3(-1, -1, 0), Vec3(1, 1, 1));
  const std::optional<Vec3> from = vec_note(header, "camera from");
  Camera camera = frame_box(box, aspect, from && from->norm() > 0 ? *from : Vec3(0.55, -1.0, 0.42));
  const std::optional<Vec3> eye = vec_note(header, "camera eye");
  if (eye) {
    camera.eye = *eye;
    camera.target = vec_note(header, "camera target").value_or(box.center());
    double degrees = 30;
    std::istringstream(header.note("camera field of view")) >> degrees;
    camera.field_of_view = degrees * std::numbers::pi / 180;
  }
  return camera;
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

Image picture_of_moment(const sim::Recording& recording, double time, int width, int height)
{
  const sim::RecordedFrame& frame = recording.frames[frame_at(recording, time)];
  RenderScene scene;
  scene.ground = false;
  for (std::size_t b = 0; b < frame.poses.size(); ++b) {
    const sim::RecordedBody& body = recording.header.bodies[b];
    const geometry::TriangleMesh& mesh = recording.header.meshes[static_cast<std::size_t>(body.mesh)];
    if (mesh.triangles.empty()) {
      // A level plane is drawn as the ground that fades into the distance.
      const Pose X = frame.poses[b].pose();
      scene.ground = true;
      scene.ground_height = X.position.z();
      continue;
    }
    scene.bodies.push_back({.mesh = &mesh,
                            .X_wb = frame.poses[b].pose(),
                            .colour = {body.colour[0], body.colour[1], body.colour[2]}});
  }
  const double aspect = static_cast<double>(width) / height;
  return render(scene, camera_for(recording, frame, aspect), {.width = width, .height = height});
}

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
    if (x.time == y.time && x.state_hash == y.state_hash) continue;
    // The body that is farthest from itself, then and at the end of both.
    const auto farthest = [&](const sim::RecordedFrame& p, const sim::RecordedFrame& q) {
      std::pair<double, std::size_t> most{0, 0};
      for (std::size_t i = 0; i < p.poses.size(); ++i) {
        const double d = (p.poses[i].pose().position - q.poses[i].pose().position).norm();
        if (d > most.first) most = {d, i};
      }
      return most;
    };
    const auto at_once = farthest(x, y);
    const auto at_end = farthest(a.frames[common - 1], b.frames[common - 1]);
    return {false, fmt::format("The runs part at {:.9g} s (frame {}): the farthest body is then '{}', {:.3g} "
                               "m apart; at {:.9g} s "
                               "it is '{}', {:.3g} m apart.",
                               x.time, f, a.header.bodies[at_once.second].name, at_once.first,
                               a.frames[common - 1].time, a.header.bodies[at_end.second].name, at_end.first)};
  }
  if (a.frames.size() != b.frames.size()) {
    return {false,
            fmt::format("The runs are the same bit for bit up to {:.9g} s, where the shorter one ends.",
                        common > 0 ? a.frames[common - 1].time : 0.0)};
  }
  return {true, fmt::format("The runs are the same bit for bit: {} frames.", common)};
}

}  // namespace thrum::scene
