// SPDX-License-Identifier: MIT
#include "thrum/media/sound_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/sound/air.h"
#include "thrum/sound/excitation.h"

namespace thrum::media {

namespace {

using Fastest = sound::PoseTrack::Fastest;

constexpr double kMaxMach = 0.9;  ///< of bodies and listeners whose sound is right

void warn_of_fast_listener(const sound::Listener& listener, const scene::ListenerEntry& entry, double limit,
                           std::vector<std::string>& warnings)
{
  if (const Fastest fastest = listener.track().fastest(); fastest.speed > limit) {
    warnings.push_back(fmt::format(
        "The listener moves with body \"{}\" at up to {:.4g} m/s (at {:.3g} s). Above {:.0f} m/s it "
        "outruns sound, and what it hears is not right; choose another listener.body, or leave it out.",
        entry.body, fastest.speed, fastest.time, limit));
    return;
  }
  // Microphones on long arms of what turns.
  Fastest outermost;
  for (const Vec3& place : listener.places())
    if (const Fastest here = listener.track().fastest_of(place); here.speed > outermost.speed)
      outermost = here;
  if (!(outermost.speed > limit)) return;
  warnings.push_back(fmt::format(
      "A microphone of the listener moves at up to {:.4g} m/s (at {:.3g} s), because the listener turns. "
      "Above {:.0f} m/s it outruns sound, and what it hears is not right; move it closer to the "
      "listener.",
      outermost.speed, outermost.time, limit));
}

// By contacts, forces on modes, or impulses of the scene; by body.
std::vector<bool> excited_bodies(const std::filesystem::path& contacts, const sound::Synthesis& synthesis,
                                 const std::vector<scene::SoundImpulseNote>& impulses)
{
  std::vector<bool> excited(synthesis.bodies().size(), false);
  const auto add = [&](std::uint32_t body) {
    if (body < excited.size()) excited[body] = true;
  };
  sound::ExcitationReader reader(contacts);
  while (const auto step = reader.next()) {
    for (const sound::ContactSample& contact : step->contacts) {
      if (!(contact.normal_impulse > 0)) continue;
      add(contact.a);
      add(contact.b);
    }
    for (const sound::ModalForceSample& forces : step->modal_forces) add(forces.body);
  }
  for (const scene::SoundImpulseNote& impulse : impulses) {
    for (std::size_t b = 0; b < excited.size(); ++b)
      if (synthesis.bodies()[b].name == impulse.body) excited[b] = true;
  }
  return excited;
}

}  // namespace

// Travel times are found by steps that shrink by the Mach number, and whoever is faster outruns the sound.
void warn_of_fast_motion(const std::filesystem::path& contacts, const sound::Listener& listener,
                         const scene::ListenerEntry& entry, const sound::Synthesis& synthesis,
                         const std::vector<sound::PoseTrack>& tracks,
                         const std::vector<scene::SoundImpulseNote>& impulses,
                         std::vector<std::string>& warnings)
{
  const double limit = kMaxMach * sound::Air{}.sound_speed();
  warn_of_fast_listener(listener, entry, limit, warnings);
  std::vector<bool> excited;
  for (std::size_t b = 0; b < tracks.size(); ++b) {
    const sound::SynthesisBody& body = synthesis.bodies()[b];
    if (synthesis.voice(b) == nullptr && !body.simulated) continue;
    const Fastest fastest = tracks[b].fastest();
    if (!(fastest.speed > limit)) continue;
    if (excited.empty()) excited = excited_bodies(contacts, synthesis, impulses);
    if (!excited[b]) continue;
    warnings.push_back(fmt::format(
        "Body \"{}\" moves at up to {:.4g} m/s (at {:.3g} s); above {:.0f} m/s its sound is not right.",
        body.name, fastest.speed, fastest.time, limit));
  }
}

}  // namespace thrum::media
