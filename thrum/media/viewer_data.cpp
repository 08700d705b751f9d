// SPDX-License-Identifier: MIT
#include "thrum/media/viewer_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/base64.h"
#include "thrum/media/shaded_mesh.h"
#include "thrum/media/viewer_bends.h"
#include "thrum/media/viewer_sound.h"
#include "thrum/media/viewer_tracks.h"

namespace thrum::media {

namespace {

using Json = nlohmann::json;

constexpr double kKeyTolerance = 1e-4;  ///< of the size of the scene: a fifth of a pixel
constexpr std::size_t kMaxContacts =
    1 << 20;                               ///< on a page; above it, contacts of every second frame, and so on
constexpr std::size_t kMaxHits = 1 << 17;  ///< on a page; the strongest are kept
constexpr double kLinkThickness = 0.003;   ///< half of a string's, of the size of the scene
constexpr int kMaxModes = 12;              ///< of a body
constexpr double kImpulseDecades = 6;      ///< from the smallest distinguishable impulse to the largest

struct Floats {
  std::vector<float> values;
  void add(double x) { values.push_back(static_cast<float>(x)); }
  void add(const Vec3& v)
  {
    for (const double x : v) add(x);
  }
};

Json energy_series(const sim::Recording& recording)
{
  Floats times, kinetic, potential, elastic, impulse;
  for (const sim::RecordedFrame& f : recording.frames) {
    times.add(f.time);
    kinetic.add(f.kinetic_energy);
    potential.add(f.potential_energy);
    elastic.add(f.vibration_energy + f.contact_energy);
    double sum = 0;
    for (const model::ContactEvent& e : f.events) {
      if (e.kind == model::ContactEventKind::hit) sum += e.impulse;
    }
    impulse.add(sum);
  }
  return {{"times", base64_of(times.values)},
          {"kinetic", base64_of(kinetic.values)},
          {"potential", base64_of(potential.values)},
          {"elastic", base64_of(elastic.values)},
          {"impulse", base64_of(impulse.values)}};
}

// The time during which something is shown: from its first frame until it is removed. Nothing is added for
// what is in all frames.
template <class Recorded>
void add_presence(Json& data, const sim::Recording& recording, const Recorded& shown, double removed_at)
{
  const auto& frames = recording.frames;
  if (shown.first_frame > 0) {
    data["from"] = shown.first_frame < std::min<std::uint64_t>(shown.end_frame, frames.size())
                       ? frames[shown.first_frame].time
                       : std::numeric_limits<float>::max();
  }
  if (shown.end_frame < frames.size()) data["until"] = std::min(removed_at, frames[shown.end_frame].time);
}

Json bodies_of(const sim::Recording& recording)
{
  Json bodies = Json::array();
  for (const sim::RecordedBody& body : recording.header.bodies) {
    Json data = {{"name", body.name},
                 {"mesh", recording.header.shown_mesh(body)},
                 {"colour", body.colour},
                 {"fixed", body.motion == model::Motion::fixed},
                 {"mass", body.mass}};
    add_presence(data, recording, body, body.removed_at);
    bodies.push_back(std::move(data));
  }
  return bodies;
}

Json meshes_of(const sim::RecordingHeader& header)
{
  Json meshes = Json::array();
  for (const mesh::TriangleMesh& mesh : header.meshes) {
    const ShadedMesh shaded = shade_mesh(mesh);
    std::vector<std::int8_t> normals;
    for (const float x : shaded.normals) normals.push_back(static_cast<std::int8_t>(std::lround(x * 127)));
    meshes.push_back({{"positions", base64_of(shaded.positions)},
                      {"normals", base64_of(normals)},
                      {"corners", base64_of(shaded.corners)}});
  }
  return meshes;
}

// Contacts of the frames that have them, or of every second one, and so on: 16 bits per coordinate in a
// bounding box, the direction of the impulse 8 bits per component, its magnitude 8 bits on a logarithmic
// scale.
Json contacts_of(const sim::Recording& recording)
{
  std::size_t all = 0;
  Eigen::AlignedBox3f box;
  double max_impulse = 0;
  for (const sim::RecordedFrame& f : recording.frames) {
    all += f.contacts.size();
    for (const sim::RecordedContact& c : f.contacts) {
      box.extend(Eigen::Vector3f(c.position[0], c.position[1], c.position[2]));
      max_impulse = std::max(max_impulse, std::hypot<double>(c.impulse[0], c.impulse[1], c.impulse[2]));
    }
  }
  const std::size_t stride = 1 + all / kMaxContacts;
  std::vector<std::uint32_t> counts, frames;
  std::vector<std::uint16_t> positions;
  std::vector<std::int8_t> directions;
  std::vector<std::uint8_t> sizes;
  for (std::size_t i = 0; i < recording.frames.size(); i += stride) {
    const sim::RecordedFrame& f = recording.frames[i];
    if (!f.has_contacts) continue;
    frames.push_back(static_cast<std::uint32_t>(i));
    counts.push_back(static_cast<std::uint32_t>(f.contacts.size()));
    for (const sim::RecordedContact& c : f.contacts) {
      const double size = std::hypot<double>(c.impulse[0], c.impulse[1], c.impulse[2]);
      for (std::size_t k = 0; k < 3; ++k) {
        const float side = box.sizes()[k];
        const float fraction = side > 0 ? (c.position[k] - box.min()[k]) / side : 0.0f;
        positions.push_back(static_cast<std::uint16_t>(std::lround(fraction * 65535.0f)));
        directions.push_back(static_cast<std::int8_t>(size > 0 ? std::lround(c.impulse[k] / size * 127) : 0));
      }
      const double level = size > 0 ? 1 + std::log10(size / max_impulse) / kImpulseDecades : 0;
      sizes.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(level, 0.0, 1.0))));
    }
  }
  Floats corners;
  corners.add(box.isEmpty() ? Vec3(Vec3::Zero()) : Vec3(box.min().cast<double>()));
  corners.add(box.isEmpty() ? Vec3(Vec3::Zero()) : Vec3(box.sizes().cast<double>()));
  return {{"max_impulse", max_impulse},
          {"decades", kImpulseDecades},
          {"box", corners.values},
          {"frames", base64_of(frames)},
          {"counts", base64_of(counts)},
          {"positions", base64_of(positions)},
          {"directions", base64_of(directions)},
          {"sizes", base64_of(sizes)}};
}

// Impacts in order of time; if there are too many, the strongest.
Json hits_of(const sim::Recording& recording)
{
  std::vector<const model::ContactEvent*> hits;
  for (const sim::RecordedFrame& f : recording.frames) {
    for (const model::ContactEvent& e : f.events) {
      if (e.kind == model::ContactEventKind::hit) hits.push_back(&e);
    }
  }
  if (hits.size() > kMaxHits) {
    std::nth_element(hits.begin(), hits.begin() + kMaxHits, hits.end(),
                     [](const auto* a, const auto* b) { return a->impulse > b->impulse; });
    hits.resize(kMaxHits);
    std::sort(hits.begin(), hits.end(),
              [](const auto* a, const auto* b) { return std::pair(a->time, a) < std::pair(b->time, b); });
  }
  Floats times, places, normals, speeds, impulses;
  std::vector<std::int32_t> bodies;
  for (const model::ContactEvent* e : hits) {
    times.add(e->time);
    places.add(e->position);
    normals.add(e->normal);
    speeds.add(e->speed);
    impulses.add(e->impulse);
    bodies.push_back(static_cast<std::int32_t>(e->a.slot));
    bodies.push_back(static_cast<std::int32_t>(e->b.slot));
  }
  return {{"times", base64_of(times.values)},     {"positions", base64_of(places.values)},
          {"normals", base64_of(normals.values)}, {"speeds", base64_of(speeds.values)},
          {"sizes", base64_of(impulses.values)},  {"bodies", base64_of(bodies)}};
}

Json responses_of(const sim::Recording& recording)
{
  Floats times, places, normals, speeds, energies;
  std::vector<std::int32_t> bodies;
  std::vector<std::uint32_t> steps;
  std::vector<std::uint8_t> kinds;
  for (const sim::RecordedFrame& f : recording.frames) {
    for (const model::ResponseEvent& e : f.responses) {
      times.add(e.time);
      places.add(e.position);
      normals.add(e.normal);
      speeds.add(e.speed);
      energies.add(e.energy);
      bodies.push_back(static_cast<std::int32_t>(e.a.slot));
      bodies.push_back(static_cast<std::int32_t>(e.b.slot));
      steps.push_back(static_cast<std::uint32_t>(e.step));
      kinds.push_back(static_cast<std::uint8_t>(e.kind));
    }
  }
  return {{"times", base64_of(times.values)},
          {"positions", base64_of(places.values)},
          {"normals", base64_of(normals.values)},
          {"speeds", base64_of(speeds.values)},
          {"energies", base64_of(energies.values)},
          {"bodies", base64_of(bodies)},
          {"steps", base64_of(steps)},
          {"kinds", base64_of(kinds)}};
}

// Planes have no triangles: a point and a normal.
Json planes_of(const sim::Recording& recording)
{
  Json planes = Json::array();
  for (std::size_t b = 0; b < recording.header.bodies.size() && !recording.frames.empty(); ++b) {
    const sim::RecordedBody& body = recording.header.bodies[b];
    if (!recording.header.meshes[at(body.mesh)].triangles.empty()) continue;
    const Pose X = recording.frames.front().poses[b].pose();
    const Vec3 up = X.direction(Vec3::UnitZ());
    Json plane = {{"point", {X.position.x(), X.position.y(), X.position.z()}},
                  {"normal", {up.x(), up.y(), up.z()}}};
    add_presence(plane, recording, body, body.removed_at);
    planes.push_back(std::move(plane));
  }
  return planes;
}

Json links_of(const sim::Recording& recording, double size)
{
  Json links = Json::array();
  for (const sim::RecordedLink& link : recording.header.links) {
    Json data = {{"a", link.a},
                 {"b", link.b},
                 {"pointA", link.point_a},
                 {"pointB", link.point_b},
                 {"thickness", kLinkThickness * size}};
    add_presence(data, recording, link, std::numeric_limits<double>::infinity());
    links.push_back(std::move(data));
  }
  return links;
}

Json camera_of(const sim::RecordingHeader& header)
{
  Json camera = Json::object();
  for (const char* name : {"eye", "target", "from"}) {
    std::istringstream text(header.note(std::string("camera ") + name));
    std::array<double, 3> v{};
    if (text >> v[0] >> v[1] >> v[2]) camera[name] = v;
  }
  double degrees = 0;
  if (std::istringstream(header.note("camera field of view")) >> degrees) camera["field_of_view"] = degrees;
  return camera;
}

// A modal file belongs to the body of its name, or to all bodies NAME/0, NAME/1 ... of a repeated one.
Json modes_of(const sim::RecordingHeader& header, const std::string& name, const model::ModalModel& model)
{
  const auto plain = [](std::string text) {
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
  };
  Json owners = Json::array();
  for (std::size_t b = 0; b < header.bodies.size(); ++b) {
    const std::string body = plain(header.bodies[b].name);
    if (body == plain(name) || header.bodies[b].name.starts_with(name + "/")) owners.push_back(b);
  }
  if (owners.empty())
    throw Error(fmt::format(
        "There are modes for '{}', but the run has no body of that name. Rename or remove the file.", name));
  Floats vertices;
  for (const Vec3& v : model.surface.vertices) vertices.add(v);
  std::vector<std::uint32_t> triangles;
  for (const Triangle& t : model.surface.triangles) {
    for (const Index v : t) triangles.push_back(static_cast<std::uint32_t>(v));
  }
  std::vector<std::int16_t> shapes;
  std::vector<double> frequencies, decays;
  for (Index m = 0; m < std::min<Index>(kMaxModes, model.mode_count()); ++m) {
    frequencies.push_back(model.frequencies[m]);
    decays.push_back(model.decays[m]);
    const double largest = model.shapes.col(m).cwiseAbs().maxCoeff();
    for (const double x : model.shapes.col(m))
      shapes.push_back(static_cast<std::int16_t>(largest > 0 ? std::lround(32767 * x / largest) : 0));
  }
  return {{"bodies", owners},
          {"frequencies", frequencies},
          {"decays", decays},
          {"vertices", base64_of(vertices.values)},
          {"triangles", base64_of(triangles)},
          {"shapes", base64_of(shapes)}};
}

Json run_data(const ViewerRun& run)
{
  const sim::Recording& recording = *run.recording;
  const sim::RecordingHeader& header = recording.header;
  Box3 box = motion_box(recording);
  if (box.isEmpty()) box = Box3(Vec3(-1, -1, 0), Vec3(1, 1, 1));
  const ViewerTracks tracks = viewer_tracks(recording, kKeyTolerance * box.diagonal().norm());
  Json data = {
      {"title", header.note("title")},
      {"scene", std::filesystem::path(header.note("scene")).filename().string()},
      {"label", run.label},
      {"version", header.note("version")},
      {"complete", recording.complete},
      {"box", {box.min().x(), box.min().y(), box.min().z(), box.max().x(), box.max().y(), box.max().z()}},
      {"camera", camera_of(header)},
      {"planes", planes_of(recording)},
      {"links", links_of(recording, box.diagonal().norm())},
      {"bodies", bodies_of(recording)},
      {"meshes", meshes_of(header)},
      {"series", energy_series(recording)},
      {"tracks",
       {{"counts", base64_of(tracks.counts)},
        {"gaps", base64_of(tracks.gaps)},
        {"boxes", base64_of(tracks.boxes)},
        {"positions", base64_of(tracks.positions)},
        {"rotations", base64_of(tracks.rotations)}}},
      {"contacts", contacts_of(recording)},
      {"hits", hits_of(recording)},
      {"responses", responses_of(recording)},
      {"modes", Json::array()}};
  Json bends = bends_of(recording);
  if (!bends.empty()) data["bends"] = std::move(bends);
  for (const auto& [name, model] : run.modes) data["modes"].push_back(modes_of(header, name, model));
  if (!run.sound.empty()) data["sound"] = base64(run.sound);
  if (run.sources) data["sources"] = sources_of(*run.sources, recording);
  for (const auto& [body, stem] : run.stems) data["stems"].push_back(stem_of(body, stem));
  return data;
}

}  // namespace

std::string viewer_data(const std::vector<ViewerRun>& runs)
{
  Json data = {{"runs", Json::array()}};
  for (const ViewerRun& run : runs) data["runs"].push_back(run_data(run));
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace thrum::media
