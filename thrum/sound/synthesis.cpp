// SPDX-License-Identifier: MIT
#include "thrum/sound/synthesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/hash.h"
#include "thrum/base/parallel.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/struck_pairs.h"

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

// A contact as both of its bodies feel it, and its impact with rigid bodies.
struct Synthesis::PairContact {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  BodyContact of_a;
  BodyContact of_b;
  double impact = 0;  ///< impulse along the normal; 0: none [N s]
  double approach_speed = 0;
  double inverse_mass = 0;
};

Synthesis::Synthesis(std::vector<SynthesisBody> bodies, const SynthesisSettings& settings,
                     std::vector<RoughnessPair> pairs)
    : bodies_(std::move(bodies)),
      settings_(settings),
      pairs_(std::move(pairs)),
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
  std::vector<PairContact> pairs;
  for (const ContactSample& contact : step.contacts) {
    check(contact.a);
    check(contact.b);
    if (contact.normal_impulse > 0 && step.duration > 0) pairs.push_back(make_contact(step, contact));
  }
  soften_impacts(step, pairs);
  for (const PairContact& pair : pairs) {
    if (pair.impact > 0) {
      events_.push_back({pair.of_a.impact_time, pair.a, pair.b, pair.approach_speed, pair.of_a.impulse.norm(),
                         pair.of_a.duration});
    }
    if (voices_[pair.a]) contacts_[pair.a].push_back(pair.of_a);
    if (voices_[pair.b]) contacts_[pair.b].push_back(pair.of_b);
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

Synthesis::PairContact Synthesis::make_contact(const ExcitationStep& step, const ContactSample& contact)
{
  const double h = step.duration;
  const double impact = impact_impulse(contact, h, settings_);
  PairContact pair = {.a = contact.a,
                      .b = contact.b,
                      .of_a = as_felt(contact, poses_[contact.a], -1, h, impact),
                      .of_b = as_felt(contact, poses_[contact.b], 1, h, impact),
                      .impact = impact,
                      .approach_speed = contact.approach_speed,
                      .inverse_mass = contact.inverse_mass};
  BodyContact& of_a = pair.of_a;
  BodyContact& of_b = pair.of_b;
  of_a.key = of_b.key = base::Hasher().add(contact.a).add(contact.b).add(contact.key).finish().low;
  if (impact > 0) {
    double duration = 0;
    const auto& a = bodies_[contact.a].model;
    const auto& b = bodies_[contact.b].model;
    if (a && b) {
      duration =
          impact_duration(*a, of_a.position, *b, of_b.position, contact.inverse_mass, contact.approach_speed);
    }
    of_a.duration = of_b.duration = duration;
    of_a.impact_time = of_b.impact_time = step.time + std::clamp(contact.impact_delay, -h, h);
  }
  set_noise(step, contact, of_a, of_b);
  return pair;
}

// A rigid body that is struck does not give way, one with modes does. Rigid bodies exchange the impulses J of
// A J = w, where w are the changes of speed and A the inverse masses at the contacts of the pair; with the
// inverse masses B of the modes it is (A + B) J' = w. In the direction of J that is
//
//     J' = J X / (X + Y),      X = J^T A J = J . w,      Y = J^T B J = sum over modes |U^T J|^2.        (1)
//
// One contact: (1 + e) v / (1/m + 1/m_s). Of several, only the diagonal of A is recorded; w is at least the
// speed of approach v, which serves where redundant contacts share an impulse: X is the larger of J . v and
// sum J_i^2 A_ii.
// The modes get X^2 Y / 2 (X + Y)^2 <= X / 8. As J_i <= 2 v_i / A_ii, X <= 2 J . v, and what came in was
// J . v / 2 (1 + e) >= J . v / 4: never less. Contacts each for itself gave four corners of a box on a light
// scaffold 1.4 times the energy of its fall.
//
// Pairs that meet at the modes of one body in the same step give way to each other too: with factors s_p of
// the impulses of each pair, and y_p its modal impulses,
//
//     X_p s_p + sum over pairs q Re(y_p . y_q) s_q = X_p,                                               (2)
//
// which is (1) for one pair and for pairs whose modes have nothing in common. Of its solution the modes get
// u^T (1 + Y)^-2 Y u / 2 <= sum X_p / 8, u_p = sqrt(X_p), Y_pq = Re(y_p . y_q) / (u_p u_q).
void Synthesis::soften_impacts(const ExcitationStep& step, std::vector<PairContact>& contacts) const
{
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;
  std::vector<StruckPair> pairs;
  for (const PairContact& contact : contacts) {
    if (!(contact.impact > 0)) continue;
    const auto [it, fresh] = numbers.try_emplace({contact.a, contact.b}, pairs.size());
    if (fresh) pairs.push_back({.a = contact.a, .b = contact.b});
    StruckPair& pair = pairs[it->second];
    pair.along_diagonal += contact.impact * contact.impact * contact.inverse_mass;
    pair.along_approach += contact.impact * contact.approach_speed;
    const double middle = contact.of_a.impact_time + contact.of_a.duration / 2 - step.time;
    const auto add = [&](std::uint32_t body, const BodyContact& felt, auto& modes) {
      const auto& model = bodies_[body].model;
      if (model) add_modal_impulse(*model, felt.position, felt.impulse, felt.duration, middle, modes);
    };
    add(contact.a, contact.of_a, pair.modes_a);
    add(contact.b, contact.of_b, pair.modes_b);
  }
  if (pairs.empty()) return;
  const std::vector<double> factors = yielding_factors(pairs);
  for (PairContact& contact : contacts) {
    if (!(contact.impact > 0)) continue;
    const double factor = factors[numbers.at({contact.a, contact.b})];
    contact.of_a.impulse *= factor;
    contact.of_b.impulse *= factor;
  }
}

const Synthesis::PairRoughness& Synthesis::roughness_of(std::uint32_t a, std::uint32_t b)
{
  const auto [it, fresh] = roughness_.try_emplace(std::minmax(a, b));
  if (fresh) it->second = find_roughness(it->first.first, it->first.second);
  return it->second;
}

// The same in either order of the materials.
Synthesis::PairRoughness Synthesis::find_roughness(std::uint32_t a, std::uint32_t b) const
{
  PairRoughness found;
  found.seed = base::Hasher().add(settings_.seed).add(a).add(b).finish().low;
  if (settings_.roughness) {
    found.share = *settings_.roughness;
    found.octaves = kUnitOctaves;
    return found;
  }
  const SynthesisBody& one = bodies_[a];
  const SynthesisBody& other = bodies_[b];
  RoughnessOctaves heights = combined(roughness_octaves(one.roughness), roughness_octaves(other.roughness));
  for (const RoughnessPair& pair : pairs_) {
    if (std::minmax(pair.a, pair.b) != std::minmax(one.material, other.material)) continue;
    const double height = pair.height.value_or(rms_height(heights));
    const bool keeps_spectrum = !pair.exponent && rms_height(heights) > 0;
    heights = keeps_spectrum
                  ? scaled_to(heights, height)
                  : roughness_octaves({height, pair.exponent.value_or(model::Roughness{}.exponent)});
  }
  found.share = rms_height(heights) / kContactDepth;
  found.octaves = scaled_to(heights, 1);
  return found;
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
  of_a.distance = of_b.distance = travel.distance;
  of_a.speed = of_b.speed = speed;
  if (speed > kMinSlip) {
    const PairRoughness& rough = roughness_of(contact.a, contact.b);
    of_a.seed = of_b.seed = rough.seed;
    of_a.octaves = of_b.octaves = rough.octaves;
    const double share = rough.share * (slip >= rolling ? 1 : settings_.rolling);
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
        const double gain = bodies_[i].gain;
        if (!heard || gain == 0) out.clear();
        if (gain == 1) return;
        for (double& x : out) x *= gain;
      },
      1);
}

std::vector<SoundEvent> Synthesis::take_events()
{
  return std::exchange(events_, {});
}

}  // namespace thrum::sound
