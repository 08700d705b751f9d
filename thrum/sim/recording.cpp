// SPDX-License-Identifier: MIT
#include "thrum/sim/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/sim/recording_format.h"

namespace thrum::sim {

using base::append_bytes;

std::string RecordingHeader::note(std::string_view name) const
{
  for (const auto& [key, text] : notes) {
    if (key == name) return text;
  }
  return {};
}

RecordedPose RecordedPose::of(const Pose& X)
{
  RecordedPose pose;
  for (std::size_t k = 0; k < 3; ++k) pose.position[k] = static_cast<float>(X.position[k]);
  const std::array<double, 4> q = {X.rotation.w(), X.rotation.x(), X.rotation.y(), X.rotation.z()};
  // One of the two quaternions of a rotation, always the same.
  const double sign = q[0] < 0 ? -1 : 1;
  for (std::size_t k = 0; k < 4; ++k) {
    pose.rotation[k] =
        static_cast<std::int16_t>(std::lround(std::clamp(sign * q[k], -1.0, 1.0) * kRotationScale));
  }
  return pose;
}

Pose RecordedPose::pose() const
{
  Quat q(rotation[0], rotation[1], rotation[2], rotation[3]);
  if (q.squaredNorm() > 0) q.normalize();
  return {{position[0], position[1], position[2]}, q};
}

std::int32_t RecordingHeader::shown_mesh(const RecordedBody& body) const
{
  return body.modes.empty() ? body.mesh : at(modes, body.modes.front()).mesh;
}

const RecordedBend* RecordedFrame::bend_of(std::size_t body) const
{
  const auto number = static_cast<std::int32_t>(body);
  const auto found =
      std::lower_bound(bends.begin(), bends.end(), number,
                       [](const RecordedBend& bend, std::int32_t other) { return bend.body < other; });
  return found != bends.end() && found->body == number ? &*found : nullptr;
}

mesh::TriangleMesh bent_mesh(const RecordingHeader& header, std::size_t body, const RecordedFrame& frame)
{
  const RecordedBody& recorded = header.bodies[body];
  mesh::TriangleMesh mesh = at(header.meshes, header.shown_mesh(recorded));
  const RecordedBend* bend = frame.bend_of(body);
  if (bend == nullptr) return mesh;
  for (std::size_t k = 0; k < std::min(bend->amplitudes.size(), recorded.modes.size()); ++k) {
    const double amplitude = bend->amplitudes[k];
    const std::vector<float>& d = at(header.modes, recorded.modes[k]).displacements;
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
      mesh.vertices[v] += amplitude * Vec3(d[3 * v], d[3 * v + 1], d[3 * v + 2]);
  }
  return mesh;
}

std::int32_t RecordingWriter::add_mode(const RecordedMode& mode)
{
  if (!has_bending_)
    throw Error(fmt::format("{} was begun without bending, so it cannot have modes.", file_.string()));
  const bool is_known = mode.mesh >= 0 && at(mode.mesh) < mesh_sizes_.size();
  const auto is_displacement = [](float x) {
    return std::abs(x) <= kMaxModeDisplacement;
  };
  if (!is_known || mode.displacements.size() != 3 * at(mesh_sizes_, mode.mesh) ||
      !std::all_of(mode.displacements.begin(), mode.displacements.end(), is_displacement)) {
    throw Error(
        fmt::format("A mode of a recording has {} displacements of mesh {}; expected three numbers of "
                    "at most 1 for each vertex of a mesh that was added.",
                    mode.displacements.size(), mode.mesh));
  }
  begin_change(RecordedChange::mode_added);
  append_bytes(changes_, mode.mesh);
  append_bytes(changes_, mode.number);
  for (const float x : mode.displacements) append_bytes(changes_, x);
  mode_meshes_.push_back(mode.mesh);
  return static_cast<std::int32_t>(mode_meshes_.size()) - 1;
}

void RecordingWriter::add_mode_of_body(std::int32_t body, std::int32_t mode)
{
  if (body < 0 || at(body) >= body_modes_.size() || mode < 0 || at(mode) >= mode_meshes_.size())
    throw Error(fmt::format("Mode {} or body {} is not in the recording; add it first.", mode, body));
  std::vector<std::int32_t>& modes = at(body_modes_, body);
  if (modes.size() >= kMaxBendModes ||
      (!modes.empty() && at(mode_meshes_, modes.front()) != at(mode_meshes_, mode))) {
    throw Error(
        fmt::format("A body of a recording bends in at most {} modes, all of one mesh.", kMaxBendModes));
  }
  begin_change(RecordedChange::mode_of_body_added);
  append_bytes(changes_, body);
  append_bytes(changes_, mode);
  modes.push_back(mode);
}

void RecordingWriter::check_bends(const RecordedFrame& frame) const
{
  std::int32_t before = -1;
  for (const RecordedBend& bend : frame.bends) {
    const bool is_known = has_bending_ && bend.body > before && at(bend.body) < body_modes_.size();
    const std::size_t modes = is_known ? at(body_modes_, bend.body).size() : 0;
    const auto is_finite = [](float x) {
      return std::isfinite(x);
    };
    if (modes == 0 || bend.amplitudes.size() > modes ||
        !std::all_of(bend.amplitudes.begin(), bend.amplitudes.end(), is_finite)) {
      throw Error(
          fmt::format("A frame for {} bends body {} by {} amplitudes, but it has {} modes; expected "
                      "finite numbers, in the order of the bodies.",
                      file_.string(), bend.body, bend.amplitudes.size(), modes));
    }
    before = bend.body;
  }
}

}  // namespace thrum::sim
