// SPDX-License-Identifier: MIT
#include "thrum/sound/synthesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/base/hash.h"
#include "thrum/base/parallel.h"
#include "thrum/sound/body_voice.h"

namespace thrum::sound {

static_assert(Synthesis::kInterval == ModalBank::kInterval);

namespace {

/// A contact that goes on strikes again only when it closes faster than gravity does it in this many steps.
constexpr double kImpactGravitySteps = 2;
constexpr double kGravity = 9.81;   ///< for this alone [m/s^2]
constexpr double kSlowSlip = 5e-3;  ///< slip below this is hardly heard [m/s]
constexpr double kMinSlip = 2e-4;   ///< and below this it is rest [m/s]

// Of an elastic impact at the speed of approach. What is beyond was needed to carry loads.
double impact_impulse(const ContactSample& contact, double h, const SynthesisSettings& settings)
{
  if (!(contact.approach_speed > settings.min_impact_speed) || !(contact.inverse_mass > 0)) return 0;
  if (!contact.is_new && !contact.bounced && contact.approach_speed < kImpactGravitySteps * kGravity * h)
    return 0;
  return std::min(contact.normal_impulse, 2 * contact.approach_speed / contact.inverse_mass);
}

// What both bodies have in common, as body `X_ws` feels it; `sign` is -1 for a and 1 for b.
BodyContact as_felt(const ContactSample& contact, const Pose& X_ws, double sign, double h, double impact)
{
  BodyContact felt;
  felt.position = X_ws.point_to_local(contact.position);
  felt.normal = X_ws.direction_to_local(sign * contact.normal);
  const Vec3 friction = X_ws.direction_to_local(sign * contact.friction_impulse);
  const double share = impact / contact.normal_impulse;
  felt.load = (contact.normal_impulse - impact) / h;
  felt.friction_load = (1 - share) / h * friction;
  felt.impulse = impact * felt.normal + share * friction;
  felt.friction = contact.friction;
  return felt;
}

}  // namespace

Synthesis::Synthesis(std::vector<SynthesisBody> bodies, const SynthesisSettings& settings)
    : bodies_(std::move(bodies)),
      settings_(settings),
      voices_(bodies_.size()),
      simulated_(bodies_.size()),
      poses_(bodies_.size()),
      contacts_(bodies_.size())
{
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const SynthesisBody& body = bodies_[i];
    if (body.simulated && body.simulated->mode_count() > 0)
      simulated_[i] = std::make_unique<BodyVoice>(body.simulated, 0, settings_, VoiceKind::simulated);
    if (!body.sounds || !body.model) continue;
    auto voice = std::make_unique<BodyVoice>(body.model, body.mass, settings_);
    if (voice->bank().size() > 0) voices_[i] = std::move(voice);
  }
}

Synthesis::~Synthesis() = default;
Synthesis::Synthesis(Synthesis&&) noexcept = default;
Synthesis& Synthesis::operator=(Synthesis&&) noexcept = default;

std::vector<BodyVoice*> Synthesis::all_voices() const
{
  std::vector<BodyVoice*> all;
  for (const auto* voices : {&voices_, &simulated_}) {
    for (const auto& voice : *voices)
      if (voice) all.push_back(voice.get());
  }
  return all;
}

void Synthesis::add_step(const ExcitationStep& step, const Vec3& listener)
{
  const auto check = [&](std::uint32_t body) {
    if (body >= bodies_.size())
      throw Error(fmt::format("A contact at {:.6g} s is of body {}, but there are {} bodies.", step.time,
                              body, bodies_.size()));
  };
  for (const PoseSample& pose : step.poses) {
    check(pose.body);
    poses_[pose.body] = pose.X_ws;
  }
  for (auto& contacts : contacts_) contacts.clear();
  for (auto& [key, travel] : travels_) travel.used = false;
  for (const ContactSample& contact : step.contacts) {
    check(contact.a);
    check(contact.b);
    if (contact.normal_impulse > 0 && step.duration > 0) add_contact(step, contact);
  }
  std::erase_if(travels_, [](const auto& entry) { return !entry.second.used; });
  base::parallel_for(
      bodies_.size(),
      [&](std::size_t i) {
        const Vec3 towards = poses_[i].direction_to_local((listener - poses_[i].position).normalized());
        if (voices_[i]) voices_[i]->add_step(step.time, step.duration, contacts_[i], towards);
        if (!simulated_[i]) return;
        // What contacts do to these modes is in the forces.
        simulated_[i]->add_step(step.time, step.duration, {}, towards);
        const auto forces = std::find_if(step.modal_forces.begin(), step.modal_forces.end(),
                                         [&](const ModalForceSample& f) { return f.body == i; });
        simulated_[i]->add_forces(step.time, step.duration,
                                  forces == step.modal_forces.end() ? nullptr : &*forces);
      },
      1);
  ready_until_ = std::numeric_limits<double>::infinity();
  for (const BodyVoice* voice : all_voices()) ready_until_ = std::min(ready_until_, voice->ready_until());
  if (std::isinf(ready_until_)) ready_until_ = step.time;  // no body sounds
}

void Synthesis::add_contact(const ExcitationStep& step, const ContactSample& contact)
{
  const double h = step.duration;
  const double impact = impact_impulse(contact, h, settings_);
  BodyContact of_a = as_felt(contact, poses_[contact.a], -1, h, impact);
  BodyContact of_b = as_felt(contact, poses_[contact.b], 1, h, impact);
  of_a.key = of_b.key = base::Hasher().add(contact.a).add(contact.b).add(contact.key).finish().low;
  if (impact > 0) {
    double duration = 0;
    const auto& a = bodies_[contact.a].model;
    const auto& b = bodies_[contact.b].model;
    if (a && b) {
      duration =
          impact_duration(*a, of_a.position, *b, of_b.position, contact.inverse_mass, contact.approach_speed);
    }
    // A rigid body that is struck does not give way, one with modes does: the impulse of the pair is
    // (1 + e) v / (1/m + 1/m_s) instead of (1 + e) v / (1/m). Without it heavy things on light tables would
    // ring with more energy than they brought.
    double modal = 0;
    if (a) modal += modal_inverse_mass(*a, of_a.position, of_a.normal, duration);
    if (b) modal += modal_inverse_mass(*b, of_b.position, of_b.normal, duration);
    const double yielding = contact.inverse_mass / (contact.inverse_mass + modal);
    of_a.impulse *= yielding;
    of_b.impulse *= yielding;
    of_a.duration = of_b.duration = duration;
    of_a.impact_time = of_b.impact_time = step.time + std::clamp(contact.impact_delay, -h, h);
    events_.push_back(
        {of_a.impact_time, contact.a, contact.b, contact.approach_speed, of_a.impulse.norm(), duration});
  }
  set_noise(step, contact, of_a, of_b);
  if (voices_[contact.a]) contacts_[contact.a].push_back(of_a);
  if (voices_[contact.b]) contacts_[contact.b].push_back(of_b);
}

// A contact slides as fast as the surfaces pass each other, and rolls as fast as it wanders over both.
void Synthesis::set_noise(const ExcitationStep& step, const ContactSample& contact, BodyContact& of_a,
                          BodyContact& of_b)
{
  const auto [it, fresh] = travels_.try_emplace(of_a.key);
  Travel& travel = it->second;
  const double slip = contact.slip.norm();
  const double rolling = fresh ? 0
                               : std::min((of_a.position - travel.position_a).norm(),
                                          (of_b.position - travel.position_b).norm()) /
                                     step.duration;
  const double speed = std::max(slip, rolling);
  of_a.seed = of_b.seed = base::Hasher().add(settings_.seed).add(contact.a).add(contact.b).finish().low;
  of_a.distance = of_b.distance = travel.distance;
  of_a.speed = of_b.speed = speed;
  if (speed > kMinSlip) {
    const double share = settings_.roughness * (slip >= rolling ? 1 : settings_.rolling);
    of_a.noise_force = of_b.noise_force =
        share * of_a.load * speed * speed / (speed * speed + kSlowSlip * kSlowSlip);
  }
  travel.position_a = of_a.position;
  travel.position_b = of_b.position;
  travel.distance += speed * step.duration;
  travel.used = true;
}

void Synthesis::strike(std::uint32_t body, double time, double duration, const Vec3& position,
                       const Vec3& impulse, const Vec3& to_listener)
{
  for (const auto* voices : {&voices_, &simulated_}) {
    if (body < voices->size() && (*voices)[body])
      (*voices)[body]->strike(time, duration, position, impulse, to_listener);
  }
}

void Synthesis::finish()
{
  for (BodyVoice* voice : all_voices()) voice->finish();
  ready_until_ = std::numeric_limits<double>::infinity();
}

void Synthesis::render(std::size_t intervals, std::vector<std::vector<double>>& amplitudes)
{
  amplitudes.resize(bodies_.size());
  base::parallel_for(
      bodies_.size(),
      [&](std::size_t i) {
        std::vector<double>& out = amplitudes[i];
        const bool sounds = voices_[i] || simulated_[i];
        out.assign(sounds ? intervals * ModalBank::kInterval : 0, 0.0);
        bool heard = false;
        for (BodyVoice* voice : {voices_[i].get(), simulated_[i].get()}) {
          for (std::size_t k = 0; k < intervals && voice != nullptr; ++k)
            heard |= voice->render(std::span(out).subspan(k * ModalBank::kInterval, ModalBank::kInterval));
        }
        if (!heard) out.clear();
      },
      1);
}

std::vector<SoundEvent> Synthesis::take_events()
{
  return std::exchange(events_, {});
}

}  // namespace thrum::sound
