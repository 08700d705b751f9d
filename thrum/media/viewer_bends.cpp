// SPDX-License-Identifier: MIT
#include "thrum/media/viewer_bends.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "thrum/base/index.h"
#include "thrum/media/base64.h"
#include "thrum/media/shaded_mesh.h"

namespace thrum::media {

namespace {

using Json = nlohmann::json;

// 16-bit integers times `scale`.
Json scaled(const std::vector<float>& values)
{
  constexpr float kSteps = 32767;
  float largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(x));
  const float scale = largest > 0 ? largest / kSteps : 1.0f;
  std::vector<std::int16_t> steps;
  steps.reserve(values.size());
  for (const float x : values)
    steps.push_back(static_cast<std::int16_t>(std::lround(std::clamp(x / scale, -kSteps, kSteps))));
  return {{"scale", scale}, {"values", base64_of(steps)}};
}

// `targets`: number of each mode among those of its mesh.
Json body_of(const sim::Recording& recording, std::size_t b, const std::vector<std::int32_t>& targets)
{
  const sim::RecordedBody& body = recording.header.bodies[b];
  std::size_t first = recording.frames.size();
  std::vector<float> amplitudes;
  std::size_t count = 0;
  for (std::size_t f = 0; f < recording.frames.size(); ++f) {
    const sim::RecordedBend* bend = recording.frames[f].bend_of(b);
    if (bend == nullptr) continue;
    first = std::min(first, f);
    amplitudes.resize((f - first) * body.modes.size(), 0.0f);
    amplitudes.insert(amplitudes.end(), bend->amplitudes.begin(), bend->amplitudes.end());
    amplitudes.resize((f - first + 1) * body.modes.size(), 0.0f);
    count = f - first + 1;
  }
  Json numbers = Json::array();
  for (const std::int32_t mode : body.modes) numbers.push_back(at(targets, mode));
  return {{"body", b},
          {"targets", numbers},
          {"first", count > 0 ? first : 0},
          {"count", count},
          {"amplitudes", base64_of(amplitudes)}};
}

}  // namespace

Json bends_of(const sim::Recording& recording)
{
  const sim::RecordingHeader& header = recording.header;
  std::map<std::int32_t, std::vector<std::size_t>> modes_of_mesh;
  std::vector<std::int32_t> targets(header.modes.size());
  for (std::size_t m = 0; m < header.modes.size(); ++m) {
    std::vector<std::size_t>& modes = modes_of_mesh[header.modes[m].mesh];
    targets[m] = count_of(modes);
    modes.push_back(m);
  }
  Json bends = Json::array();
  for (const auto& [number, modes] : modes_of_mesh) {
    const mesh::TriangleMesh& mesh = at(header.meshes, number);
    const ShadedMesh shaded = shade_mesh(mesh);
    Json data = {{"mesh", number}, {"targets", Json::array()}, {"bodies", Json::array()}};
    for (const std::size_t m : modes) {
      const MorphTarget target = morph_target(mesh, shaded, header.modes[m].displacements);
      data["targets"].push_back(
          {{"positions", scaled(target.positions)}, {"normals", scaled(target.normals)}});
    }
    for (std::size_t b = 0; b < header.bodies.size(); ++b) {
      const sim::RecordedBody& body = header.bodies[b];
      if (!body.modes.empty() && header.shown_mesh(body) == number)
        data["bodies"].push_back(body_of(recording, b, targets));
    }
    bends.push_back(std::move(data));
  }
  return bends;
}

}  // namespace thrum::media
