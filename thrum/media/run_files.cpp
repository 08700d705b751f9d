// SPDX-License-Identifier: MIT
// Tables and arrays from a recording.
#include <fmt/format.h>

#include "thrum/base/npz.h"
#include "thrum/media/run_outputs.h"

namespace thrum::media {

namespace {

// Names in a table: quoted when they contain a separator.
std::string cell(const std::string& name)
{
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

const char* event_name(model::ContactEventKind kind)
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
    return cell(recording.header.bodies[id.slot].name);
  };
  for (const sim::RecordedFrame& frame : recording.frames) {
    for (const model::ContactEvent& e : frame.events) {
      text += fmt::format("{:.9g},{},{},{},{:.7g},{:.7g},{:.7g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", e.time,
                          event_name(e.kind), name(e.a), name(e.b), e.position.x(), e.position.y(),
                          e.position.z(), e.normal.x(), e.normal.y(), e.normal.z(), e.speed, e.impulse);
    }
  }
  return text;
}

std::string energy_csv(const sim::Recording& recording)
{
  std::string text = "time,kinetic,potential,vibration,contact,total,lost\n";
  for (const sim::RecordedFrame& f : recording.frames) {
    text += fmt::format("{:.9g},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g}\n", f.time, f.kinetic_energy,
                        f.potential_energy, f.vibration_energy, f.contact_energy, f.total_energy(),
                        recording.frames.front().total_energy() - f.total_energy());
  }
  return text;
}

void write_motion_npz(const std::filesystem::path& file, const sim::Recording& recording)
{
  const std::size_t frames = recording.frames.size();
  const std::size_t bodies = recording.header.bodies.size();
  std::vector<double> times, kinetic, potential, vibration, contact;
  std::vector<float> positions, rotations;
  for (const sim::RecordedFrame& f : recording.frames) {
    times.push_back(f.time);
    kinetic.push_back(f.kinetic_energy);
    potential.push_back(f.potential_energy);
    vibration.push_back(f.vibration_energy);
    contact.push_back(f.contact_energy);
    for (const sim::RecordedPose& pose : f.poses) {
      positions.insert(positions.end(), pose.position.begin(), pose.position.end());
      const Quat q = pose.pose().rotation;
      for (const double x : {q.w(), q.x(), q.y(), q.z()}) rotations.push_back(static_cast<float>(x));
    }
  }
  // Bodies that are not in a frame have the pose of the nearest one that they are in.
  std::vector<std::uint8_t> present;
  for (std::size_t f = 0; f < frames; ++f) {
    for (const sim::RecordedBody& body : recording.header.bodies)
      present.push_back(body.is_in_frame(f) ? 1 : 0);
  }
  std::vector<std::string> names;
  for (const sim::RecordedBody& body : recording.header.bodies) names.push_back(body.name);
  base::NpzWriter out(file);
  out.add("time", times);
  out.add("kinetic_energy", kinetic);
  out.add("potential_energy", potential);
  out.add("vibration_energy", vibration);
  out.add("contact_energy", contact);
  out.add("position", positions, {frames, bodies, 3});
  out.add("rotation", rotations, {frames, bodies, 4});
  out.add("present", present, {frames, bodies});
  out.add_texts("name", names);
  out.commit();
}

}  // namespace thrum::media
