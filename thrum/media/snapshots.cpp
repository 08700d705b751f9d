// SPDX-License-Identifier: MIT
#include "thrum/media/snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <optional>
#include <sstream>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/bitmap_font.h"
#include "thrum/media/render.h"
#include "thrum/media/viewer_tracks.h"
#include "thrum/shapes/shapes.h"

namespace thrum::media {

namespace {

constexpr int kGap = 6;               ///< between pictures of a strip or a sheet [pixel]
constexpr double kRodRadius = 0.003;  ///< of a string, of the size of the scene
constexpr int kMaxImageSide = 16384;  ///< of a strip or a sheet [pixel]
const Vec3 kDefaultViewDirection(0.55, -1.0, 0.42);
const Colour kInk(0.25f, 0.30f, 0.34f);

std::optional<Vec3> vec_note(const sim::RecordingHeader& header, const char* name)
{
  std::istringstream text(header.note(name));
  Vec3 v;
  if (text >> v[0] >> v[1] >> v[2]) return v;
  return std::nullopt;
}

std::size_t frame_at(const sim::Recording& recording, double time)
{
  if (recording.frames.empty()) throw Error("The recording has no frames, so there is nothing to draw.");
  if (time < 0) return recording.frames.size() - 1;
  const auto after = std::lower_bound(recording.frames.begin(), recording.frames.end(), time,
                                      [](const sim::RecordedFrame& f, double t) { return f.time < t; });
  if (after == recording.frames.end()) return recording.frames.size() - 1;
  const auto i = at(after - recording.frames.begin());
  return i > 0 && time - recording.frames[i - 1].time < recording.frames[i].time - time ? i - 1 : i;
}

// The camera frames the moving bodies; when nothing moves, everything except the ground.
Box3 subject(const sim::Recording& recording, std::size_t number, bool moving_only)
{
  const sim::RecordedFrame& frame = recording.frames[number];
  Box3 box;
  for (std::size_t b = 0; b < frame.poses.size(); ++b) {
    const sim::RecordedBody& body = recording.header.bodies[b];
    if (!body.is_in_frame(number)) continue;
    if (moving_only && body.motion == model::Motion::fixed && body.modes.empty()) continue;
    const Pose X = frame.poses[b].pose();
    if (frame.bend_of(b) != nullptr) {
      for (const Vec3& v : sim::bent_mesh(recording.header, b, frame).vertices) box.extend(X.point(v));
    } else {
      for (const Vec3& v : recording.header.meshes[at(body.mesh)].vertices) box.extend(X.point(v));
    }
  }
  return box;
}

// A horizontal plane is drawn as the ground that fades into the distance.
std::optional<double> ground_height(const sim::Recording& recording, std::size_t frame)
{
  for (std::size_t b = 0; b < recording.header.bodies.size() && !recording.frames.empty(); ++b) {
    const sim::RecordedBody& body = recording.header.bodies[b];
    const auto& mesh = recording.header.meshes[at(body.mesh)];
    if (mesh.triangles.empty() && body.is_in_frame(frame))
      return recording.frames.front().poses[b].pose().position.z();
  }
  return std::nullopt;
}

Camera camera_for(const sim::Recording& recording, std::size_t frame, const SnapshotDesc& desc)
{
  const sim::RecordingHeader& header = recording.header;
  Box3 box = desc.whole_run ? motion_box(recording) : subject(recording, frame, true);
  if (box.isEmpty()) box = subject(recording, frame, false);
  if (box.isEmpty()) box = Box3(Vec3(-1, -1, 0), Vec3(1, 1, 1));
  const std::optional<double> ground = ground_height(recording, frame);
  if (ground && *ground < box.max().z()) box.min().z() = std::max(box.min().z(), *ground);
  const Vec3 from = vec_note(header, "camera from").value_or(kDefaultViewDirection);
  const double aspect = static_cast<double>(desc.width) / desc.height;
  Camera camera = frame_box(box, aspect, from.norm() > 0 ? from : kDefaultViewDirection);
  const std::optional<Vec3> eye = vec_note(header, "camera eye");
  if (eye) {
    camera.eye = *eye;
    camera.target = vec_note(header, "camera target").value_or(box.center());
    double degrees = 30;
    std::istringstream(header.note("camera field of view")) >> degrees;
    camera.field_of_view = fit_field_of_view(degrees * std::numbers::pi / 180, aspect);
  }
  return camera;
}

// Strings and springs as rods in the world.
std::vector<mesh::TriangleMesh> link_rods(const sim::Recording& recording, std::size_t number)
{
  const sim::RecordedFrame& frame = recording.frames[number];
  std::vector<mesh::TriangleMesh> rods;
  if (recording.header.links.empty()) return rods;
  const double radius = kRodRadius * motion_box(recording).diagonal().norm();
  for (const sim::RecordedLink& link : recording.header.links) {
    if (!link.is_in_frame(number)) continue;
    const auto end = [&](std::int32_t body, const std::array<float, 3>& p) -> Vec3 {
      const Vec3 point(p[0], p[1], p[2]);
      return body < 0 ? point : frame.poses[at(body)].pose().point(point);
    };
    const Vec3 a = end(link.a, link.point_a);
    const Vec3 b = end(link.b, link.point_b);
    const double length = (b - a).norm();
    if (!(length > radius)) continue;
    mesh::TriangleMesh rod = shapes::generate(
        shapes::CylinderDesc{.radius = radius, .height = length, .edge_length = length, .segments = 8});
    const Pose X{0.5 * (a + b), Quat::FromTwoVectors(Vec3::UnitZ(), b - a)};
    for (Vec3& v : rod.vertices) v = X.point(v);
    rods.push_back(std::move(rod));
  }
  return rods;
}

}  // namespace

Camera run_camera(const sim::Recording& recording)
{
  return camera_for(recording, 0, {.whole_run = true});
}

Image render_snapshot(const sim::Recording& recording, double time, const SnapshotDesc& desc)
{
  const std::size_t number = frame_at(recording, time);
  const sim::RecordedFrame& frame = recording.frames[number];
  RenderScene scene;
  const std::optional<double> ground = ground_height(recording, number);
  scene.ground = ground.has_value();
  scene.ground_height = ground.value_or(0);
  std::deque<mesh::TriangleMesh> bent;  // whose elements stay where they are
  for (std::size_t b = 0; b < frame.poses.size(); ++b) {
    const sim::RecordedBody& body = recording.header.bodies[b];
    const mesh::TriangleMesh* mesh = &at(recording.header.meshes, recording.header.shown_mesh(body));
    if (mesh->triangles.empty() || !body.is_in_frame(number)) continue;
    if (frame.bend_of(b) != nullptr) mesh = &bent.emplace_back(sim::bent_mesh(recording.header, b, frame));
    scene.bodies.push_back({.mesh = mesh,
                            .X_wb = frame.poses[b].pose(),
                            .colour = {body.colour[0], body.colour[1], body.colour[2]}});
  }
  const std::vector<mesh::TriangleMesh> links = link_rods(recording, number);
  for (const mesh::TriangleMesh& rod : links) scene.bodies.push_back({.mesh = &rod, .colour = kInk});
  return render(scene, camera_for(recording, number, desc),
                {.width = desc.width, .height = desc.height, .samples = desc.samples});
}

std::vector<double> evenly_spaced_times(const sim::Recording& recording, int count)
{
  if (recording.frames.empty()) throw Error("The recording has no frames, so there is nothing to draw.");
  const double first = recording.frames.front().time;
  const double last = recording.frames.back().time;
  std::vector<double> times;
  for (int i = 0; i < count; ++i)
    times.push_back(count > 1 ? first + (last - first) * i / (count - 1) : last);
  return times;
}

Image render_snapshot_strip(const sim::Recording& recording, const std::vector<double>& times,
                            const SnapshotDesc& desc)
{
  return render_snapshot_sheet(recording, times, static_cast<int>(times.size()), desc);
}

Image render_snapshot_sheet(const sim::Recording& recording, const std::vector<double>& times, int columns,
                            const SnapshotDesc& desc)
{
  if (times.empty() || columns < 1) throw Error("A strip or a sheet needs at least one time.");
  const int count = static_cast<int>(times.size());
  const int across = std::min(columns, count);
  const int rows = (count + across - 1) / across;
  const int caption = text_height() + 2 * kGap;
  const int width = across * desc.width + (across - 1) * kGap;
  const int height = rows * (desc.height + caption);
  if (width > kMaxImageSide || height > kMaxImageSide) {
    throw Error(
        fmt::format("The sheet would be {} x {} pixels; use smaller pictures, or fewer.", width, height));
  }
  Image sheet(width, height);
  SnapshotDesc one = desc;
  one.whole_run = true;
  for (int i = 0; i < count; ++i) {
    const std::size_t k = at(i);
    const int left = (i % across) * (desc.width + kGap);
    const int top = (i / across) * (desc.height + caption);
    paste(sheet, render_snapshot(recording, times[k], one), left, top);
    const double shown = recording.frames[frame_at(recording, times[k])].time;
    const std::string text = fmt::format("{:.2f} s", shown);
    draw_text(sheet, left + (desc.width - text_width(text)) / 2, top + desc.height + kGap, text, kInk);
  }
  return sheet;
}

}  // namespace thrum::media
