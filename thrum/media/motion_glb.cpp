// SPDX-License-Identifier: MIT
#include "thrum/media/motion_glb.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/image.h"
#include "thrum/media/shaded_mesh.h"
#include "thrum/shapes/shapes.h"

namespace thrum::media {

namespace {

using Json = nlohmann::ordered_json;
using base::append_bytes;

// Numbers of the glTF 2.0 specification.
constexpr int kFloat = 5126;
constexpr int kUnsignedInt = 5125;
constexpr int kArrayBuffer = 34962;
constexpr int kElementArrayBuffer = 34963;
constexpr std::uint32_t kGlbMagic = 0x46546c67;
constexpr std::uint32_t kJsonChunk = 0x4e4f534a;
constexpr std::uint32_t kBinaryChunk = 0x004e4942;
constexpr double kMaxGlbBytes = 4294967295.0;  ///< lengths are 32 bits [bytes]

constexpr double kRoughness = 0.55;
constexpr std::size_t kMaxArrows = 48;    ///< in a frame
constexpr double kMaxArrowLength = 0.25;  ///< of the size of the scene
constexpr double kMinSceneSize = 1e-3;    ///< for a scene of one contact [m]
const Colour kArrowColour(0.85f, 0.51f, 0.17f);
constexpr double kGroundReach = 3;  ///< half the side of the ground, in sizes of the scene

// The first plane.
std::optional<std::size_t> ground_body(const sim::Recording& recording)
{
  const auto& bodies = recording.header.bodies;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (recording.header.meshes[at(bodies[b].mesh)].triangles.empty()) return b;
  }
  return std::nullopt;
}

// The binary part and the accessors into it.
class Buffer {
 public:
  int floats(const std::vector<float>& values, const char* type, int width, int target, bool with_range)
  {
    const int view = add_view(values.size() * sizeof(float), target);
    for (const float value : values) append_bytes(bytes, value);
    Json accessor = {{"bufferView", view},
                     {"componentType", kFloat},
                     {"count", values.size() / at(width)},
                     {"type", type}};
    if (with_range) add_range(accessor, values, width);
    accessors.push_back(accessor);
    return static_cast<int>(accessors.size()) - 1;
  }

  int indices(const std::vector<std::uint32_t>& values)
  {
    const int view = add_view(values.size() * sizeof(std::uint32_t), kElementArrayBuffer);
    for (const std::uint32_t value : values) append_bytes(bytes, value);
    accessors.push_back({{"bufferView", view},
                         {"componentType", kUnsignedInt},
                         {"count", values.size()},
                         {"type", "SCALAR"}});
    return static_cast<int>(accessors.size()) - 1;
  }

  std::string bytes;
  Json views = Json::array();
  Json accessors = Json::array();

 private:
  int add_view(std::size_t length, int target)
  {
    Json view = {{"buffer", 0}, {"byteOffset", bytes.size()}, {"byteLength", length}};
    if (target != 0) view["target"] = target;
    views.push_back(view);
    return static_cast<int>(views.size()) - 1;
  }

  static void add_range(Json& accessor, const std::vector<float>& values, int width)
  {
    std::vector<float> low(at(width), std::numeric_limits<float>::max());
    std::vector<float> high(at(width), std::numeric_limits<float>::lowest());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t k = i % at(width);
      low[k] = std::min(low[k], values[i]);
      high[k] = std::max(high[k], values[i]);
    }
    accessor["min"] = low;
    accessor["max"] = high;
  }
};

class Writer {
 public:
  Writer(const sim::Recording& recording, const MotionGlbDesc& desc) : recording_(recording), desc_(desc) {}

  std::string write()
  {
    Json children = Json::array();
    nodes_.push_back(Json());
    for (std::size_t b = 0; b < recording_.header.bodies.size(); ++b) {
      children.push_back(nodes_.size());
      add_body(b);
    }
    if (desc_.ground) {
      const mesh::TriangleMesh ground = ground_square(recording_);
      if (!ground.triangles.empty()) {
        children.push_back(nodes_.size());
        Json node = {{"name", "ground square"},
                     {"mesh", add_mesh("ground square", ground, {0.86f, 0.87f, 0.88f})}};
        hide_outside_frames(recording_.header.bodies[*ground_body(recording_)], node);
        nodes_.push_back(node);
      }
    }
    if (desc_.impulses) {
      for (std::size_t i = 0; i < arrow_count(); ++i) {
        children.push_back(nodes_.size());
        add_arrow(i);
      }
    }
    // Files are y up: a quarter turn about x.
    const double half = std::sqrt(0.5);
    nodes_[0] = {{"name", "scene"}, {"rotation", {-half, 0, 0, half}}};
    if (!children.empty()) nodes_[0]["children"] = children;
    return pack();
  }

 private:
  void add_body(std::size_t b)
  {
    const sim::RecordedBody& body = recording_.header.bodies[b];
    const std::int32_t shown = recording_.header.shown_mesh(body);
    const mesh::TriangleMesh& mesh = recording_.header.meshes[at(shown)];
    Json node = {{"name", body.name}};
    if (!mesh.triangles.empty()) {
      const auto key = std::tuple(shown, body.colour, !body.modes.empty());
      if (mesh_numbers_.count(key) == 0) {
        mesh_numbers_[key] = add_mesh(body.name, mesh, {body.colour[0], body.colour[1], body.colour[2]},
                                      body.modes.empty() ? std::vector<std::size_t>{} : modes_of(shown));
      }
      node["mesh"] = mesh_numbers_[key];
      if (!body.modes.empty()) animate_bending(b, modes_of(shown), static_cast<int>(nodes_.size()));
    }
    if (!recording_.frames.empty()) {
      const Pose start = recording_.frames.front().poses[b].pose();
      node["translation"] = {start.position.x(), start.position.y(), start.position.z()};
      node["rotation"] = {start.rotation.x(), start.rotation.y(), start.rotation.z(), start.rotation.w()};
      animate(b, static_cast<int>(nodes_.size()));
      hide_outside_frames(body, node);
    }
    nodes_.push_back(node);
  }

  // A body that is not there has the size zero, from one instant to the next. It is shown from its first
  // frame until it is removed. The node is the next one.
  void hide_outside_frames(const sim::RecordedBody& body, Json& node)
  {
    const auto& frames = recording_.frames;
    if (body.first_frame == 0 && body.end_frame >= frames.size()) return;
    std::vector<float> times, scales;
    const auto add_key = [&](double at, float size) {
      const auto time = static_cast<float>(at);
      // Of two keys at one time the later one counts: what is never in a frame is never shown.
      if (!times.empty() && time <= times.back()) {
        std::fill(scales.end() - 3, scales.end(), size);
        return;
      }
      times.push_back(time);
      scales.insert(scales.end(), 3, size);
    };
    add_key(frames.front().time, body.first_frame == 0 ? 1.0f : 0.0f);
    if (body.first_frame > 0 && body.first_frame < std::min<std::uint64_t>(body.end_frame, frames.size()))
      add_key(frames[static_cast<std::size_t>(body.first_frame)].time, 1);
    if (body.end_frame < frames.size())
      add_key(std::min(body.removed_at, frames[static_cast<std::size_t>(body.end_frame)].time), 0);
    node["scale"] = {scales[0], scales[0], scales[0]};
    const int input = buffer_.floats(times, "SCALAR", 1, 0, true);
    add_channel(input, buffer_.floats(scales, "VEC3", 3, 0, false), static_cast<int>(nodes_.size()), "scale",
                "STEP");
  }

  // Modes of a mesh, each of which is a morph target of it.
  [[nodiscard]] std::vector<std::size_t> modes_of(std::int32_t mesh) const
  {
    std::vector<std::size_t> modes;
    for (std::size_t m = 0; m < recording_.header.modes.size(); ++m) {
      if (recording_.header.modes[m].mesh == mesh) modes.push_back(m);
    }
    return modes;
  }

  // The weight of a target is the amplitude of its mode. A straight body needs no keys before and after.
  void animate_bending(std::size_t b, const std::vector<std::size_t>& targets, int node)
  {
    const auto& frames = recording_.frames;
    const std::vector<std::int32_t>& modes = recording_.header.bodies[b].modes;
    const auto is_bent = [&](std::size_t f) {
      return f < frames.size() && frames[f].bend_of(b) != nullptr;
    };
    std::vector<float> times, weights;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const auto time = static_cast<float>(frames[f].time);
      if (!times.empty() && time <= times.back()) continue;
      if (f > 0 && !is_bent(f) && !is_bent(f - 1) && !is_bent(f + 1)) continue;
      times.push_back(time);
      std::vector<float> of_frame(targets.size(), 0.0f);
      const sim::RecordedBend* bend = frames[f].bend_of(b);
      for (std::size_t k = 0; bend != nullptr && k < bend->amplitudes.size(); ++k) {
        const auto target = std::find(targets.begin(), targets.end(), at(modes[k]));
        of_frame[static_cast<std::size_t>(target - targets.begin())] += bend->amplitudes[k];
      }
      weights.insert(weights.end(), of_frame.begin(), of_frame.end());
    }
    if (times.empty()) return;
    const int input = buffer_.floats(times, "SCALAR", 1, 0, true);
    add_channel(input, buffer_.floats(weights, "SCALAR", 1, 0, false), node, "weights");
  }

  int add_mesh(const std::string& name, const mesh::TriangleMesh& mesh, const Colour& colour,
               const std::vector<std::size_t>& modes = {})
  {
    const ShadedMesh shaded = shade_mesh(mesh, desc_.crease_angle);
    const int positions = buffer_.floats(shaded.positions, "VEC3", 3, kArrayBuffer, true);
    const int normals = buffer_.floats(shaded.normals, "VEC3", 3, kArrayBuffer, false);
    const int corners = buffer_.indices(shaded.corners);
    meshes_.push_back({{"name", name},
                       {"primitives",
                        {{{"attributes", {{"POSITION", positions}, {"NORMAL", normals}}},
                          {"indices", corners},
                          {"material", add_material(name, colour)}}}}});
    for (const std::size_t m : modes) {
      const MorphTarget target =
          morph_target(mesh, shaded, recording_.header.modes[m].displacements, desc_.crease_angle);
      const int moved = buffer_.floats(target.positions, "VEC3", 3, kArrayBuffer, true);
      const int turned = buffer_.floats(target.normals, "VEC3", 3, kArrayBuffer, false);
      meshes_.back()["primitives"][0]["targets"].push_back({{"POSITION", moved}, {"NORMAL", turned}});
      meshes_.back()["weights"].push_back(0);
    }
    return static_cast<int>(meshes_.size()) - 1;
  }

  // One per colour, named after the first body that has it.
  int add_material(const std::string& body, const Colour& colour)
  {
    const Colour linear = linear_from_srgb(colour);
    Json factor = {linear[0], linear[1], linear[2], 1.0f};
    for (std::size_t i = 0; i < materials_.size(); ++i) {
      if (materials_[i]["pbrMetallicRoughness"]["baseColorFactor"] == factor) return static_cast<int>(i);
    }
    materials_.push_back(
        {{"name", body},
         {"pbrMetallicRoughness",
          {{"baseColorFactor", factor}, {"metallicFactor", 0}, {"roughnessFactor", kRoughness}}}});
    return static_cast<int>(materials_.size()) - 1;
  }

  // The frames in which a body's pose is not that of both its neighbours.
  void animate(std::size_t b, int node)
  {
    const auto& frames = recording_.frames;
    std::vector<float> times, positions, rotations;
    Quat before = Quat::Identity();
    bool moves = false;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const sim::RecordedPose& now = frames[f].poses[b];
      const bool first = f == 0;
      const bool last = f + 1 == frames.size();
      if (!first && !(now == frames[f - 1].poses[b])) moves = true;
      if (!first && !last && now == frames[f - 1].poses[b] && now == frames[f + 1].poses[b]) continue;
      const auto time = static_cast<float>(frames[f].time);
      if (!times.empty() && time <= times.back()) continue;
      const Pose pose = now.pose();
      Quat q = pose.rotation;
      // The shorter rotation between two keys.
      if (q.dot(before) < 0) q.coeffs() = -q.coeffs();
      before = q;
      times.push_back(time);
      for (int k = 0; k < 3; ++k) positions.push_back(static_cast<float>(pose.position[k]));
      for (int k = 0; k < 4; ++k) rotations.push_back(static_cast<float>(q.coeffs()[k]));
    }
    if (!moves) return;
    const int input = buffer_.floats(times, "SCALAR", 1, 0, true);
    add_channel(input, buffer_.floats(positions, "VEC3", 3, 0, false), node, "translation");
    add_channel(input, buffer_.floats(rotations, "VEC4", 4, 0, false), node, "rotation");
  }

  [[nodiscard]] std::size_t arrow_count() const
  {
    std::size_t max_count = 0;
    for (const sim::RecordedFrame& f : recording_.frames) max_count = std::max(max_count, f.contacts.size());
    return std::min(max_count, kMaxArrows);
  }

  // Arrow i is the contact with the i-th largest impulse of each frame; it has no length when there are
  // fewer.
  void add_arrow(std::size_t i)
  {
    if (arrow_mesh_ < 0) prepare_arrows();
    std::vector<float> times, positions, rotations, scales;
    for (std::size_t f = 0; f < recording_.frames.size(); ++f) {
      const sim::RecordedFrame& frame = recording_.frames[f];
      const auto time = static_cast<float>(frame.time);
      if (!frame.has_contacts || (!times.empty() && time <= times.back())) continue;
      const bool shown = i < ranks_[f].size();
      Vec3 place = Vec3::Zero();
      Quat turn = Quat::Identity();
      double length = 0;
      if (shown) {
        const sim::RecordedContact& c = frame.contacts[ranks_[f][i]];
        const Vec3 impulse(c.impulse[0], c.impulse[1], c.impulse[2]);
        place = {c.position[0], c.position[1], c.position[2]};
        // The square root keeps weak ones visible beside strong ones.
        length = arrow_length_ * std::sqrt(impulse.norm() / max_impulse_);
        if (impulse.norm() > 0) turn = Quat::FromTwoVectors(Vec3::UnitZ(), impulse).normalized();
      } else if (!scales.empty() && scales.back() == 0) {
        continue;
      }
      times.push_back(time);
      for (int k = 0; k < 3; ++k) positions.push_back(static_cast<float>(place[k]));
      for (int k = 0; k < 4; ++k) rotations.push_back(static_cast<float>(turn.coeffs()[k]));
      for (int k = 0; k < 3; ++k) scales.push_back(static_cast<float>(length));
    }
    const int node = static_cast<int>(nodes_.size());
    nodes_.push_back({{"name", "impulse " + std::to_string(i)}, {"mesh", arrow_mesh_}, {"scale", {0, 0, 0}}});
    if (times.empty()) return;
    const int input = buffer_.floats(times, "SCALAR", 1, 0, true);
    add_channel(input, buffer_.floats(positions, "VEC3", 3, 0, false), node, "translation", "STEP");
    add_channel(input, buffer_.floats(rotations, "VEC4", 4, 0, false), node, "rotation", "STEP");
    add_channel(input, buffer_.floats(scales, "VEC3", 3, 0, false), node, "scale", "STEP");
  }

  // An arrow of length 1 along z, and the order of the contacts of each frame.
  void prepare_arrows()
  {
    const mesh::TriangleMesh arrow = shapes::generate(shapes::LatheDesc{
        .profile = {{0, 0}, {0.02, 0}, {0.02, 0.75}, {0.06, 0.75}, {0, 1}}, .segments = 12});
    arrow_mesh_ = add_mesh("impulse", arrow, kArrowColour);
    Box3 box;
    for (const sim::RecordedFrame& f : recording_.frames) {
      std::vector<std::size_t> order(f.contacts.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      const auto size = [&](std::size_t k) {
        const auto& j = f.contacts[k].impulse;
        return std::hypot<double>(j[0], j[1], j[2]);
      };
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
      if (order.size() > kMaxArrows) order.resize(kMaxArrows);
      for (const std::size_t k : order) {
        max_impulse_ = std::max(max_impulse_, size(k));
        box.extend(Vec3(f.contacts[k].position[0], f.contacts[k].position[1], f.contacts[k].position[2]));
      }
      ranks_.push_back(std::move(order));
    }
    arrow_length_ = kMaxArrowLength * (box.isEmpty() ? 1.0 : std::max(box.diagonal().norm(), kMinSceneSize));
  }

  void add_channel(int input, int output, int node, const char* path, const char* interpolation = "LINEAR")
  {
    samplers_.push_back({{"input", input}, {"output", output}, {"interpolation", interpolation}});
    channels_.push_back({{"sampler", samplers_.size() - 1}, {"target", {{"node", node}, {"path", path}}}});
  }

  std::string pack()
  {
    Json root = {{"asset", {{"version", "2.0"}, {"generator", "thrum"}}},
                 {"scene", 0},
                 {"scenes", {{{"nodes", {0}}}}}};
    root["nodes"] = nodes_;
    if (!meshes_.empty()) root["meshes"] = meshes_;
    if (!materials_.empty()) root["materials"] = materials_;
    if (!channels_.empty()) {
      root["animations"] = {{{"name", "motion"}, {"samplers", samplers_}, {"channels", channels_}}};
    }
    if (!buffer_.bytes.empty()) {
      root["accessors"] = buffer_.accessors;
      root["bufferViews"] = buffer_.views;
      root["buffers"] = {{{"byteLength", buffer_.bytes.size()}}};
    }
    std::string text = root.dump(-1, ' ', false, Json::error_handler_t::replace);
    while (text.size() % 4 != 0) text += ' ';
    const std::size_t total = 12 + 8 + text.size() + (buffer_.bytes.empty() ? 0 : 8 + buffer_.bytes.size());
    if (static_cast<double>(total) > kMaxGlbBytes) {
      throw Error("The motion is too long for one GLB file (4 GB); record fewer frames per second.");
    }
    std::string out;
    append_bytes(out, kGlbMagic);
    append_bytes(out, std::uint32_t{2});
    append_bytes(out, static_cast<std::uint32_t>(total));
    append_bytes(out, static_cast<std::uint32_t>(text.size()));
    append_bytes(out, kJsonChunk);
    out += text;
    if (!buffer_.bytes.empty()) {
      append_bytes(out, static_cast<std::uint32_t>(buffer_.bytes.size()));
      append_bytes(out, kBinaryChunk);
      out += buffer_.bytes;
    }
    return out;
  }

  const sim::Recording& recording_;
  MotionGlbDesc desc_;
  Buffer buffer_;
  Json nodes_ = Json::array(), meshes_ = Json::array(), materials_ = Json::array();
  Json samplers_ = Json::array(), channels_ = Json::array();
  std::map<std::tuple<std::int32_t, std::array<float, 3>, bool>, int>
      mesh_numbers_;  ///< by mesh, colour, bends
  int arrow_mesh_ = -1;
  std::vector<std::vector<std::size_t>> ranks_;              ///< contacts of each frame, strongest first
  double max_impulse_ = std::numeric_limits<double>::min();  ///< [N s]
  double arrow_length_ = 1;                                  ///< of the strongest [m]
};

}  // namespace

mesh::TriangleMesh ground_square(const sim::Recording& recording)
{
  const std::optional<std::size_t> ground = ground_body(recording);
  const sim::RecordedPose* plane =
      ground && !recording.frames.empty() ? &recording.frames.front().poses[*ground] : nullptr;
  Box3 box;
  for (std::size_t b = 0; b < recording.header.bodies.size() && !recording.frames.empty(); ++b) {
    const auto& mesh = recording.header.meshes[at(recording.header.bodies[b].mesh)];
    if (!mesh.triangles.empty()) {
      box.extend(recording.frames.front().poses[b].pose().position);
      box.extend(recording.frames.back().poses[b].pose().position);
    }
  }
  mesh::TriangleMesh square;
  if (plane == nullptr) return square;
  const Pose X = plane->pose();
  const Vec3 middle = box.isEmpty() ? X.position : X.point_to_local(box.center());
  const double reach = kGroundReach * std::max(1.0, box.isEmpty() ? 0.0 : box.sizes().maxCoeff());
  for (const auto& [x, y] : {std::pair(-1, -1), std::pair(1, -1), std::pair(1, 1), std::pair(-1, 1)}) {
    const Vec3 corner(box.isEmpty() ? x * reach : middle.x() + x * reach,
                      box.isEmpty() ? y * reach : middle.y() + y * reach, 0);
    square.vertices.push_back(X.point(corner));
  }
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  return square;
}

std::string motion_glb(const sim::Recording& recording, const MotionGlbDesc& desc)
{
  return Writer(recording, desc).write();
}

}  // namespace thrum::media
