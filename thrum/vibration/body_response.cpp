// SPDX-License-Identifier: MIT
#include "thrum/vibration/body_response.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "thrum/base/error.h"
#include "thrum/vibration/attenuation.h"
#include "thrum/vibration/kick_distribution.h"
#include "thrum/vibration/modal_response.h"
#include "thrum/vibration/mode_motion.h"

namespace thrum::vibration {

BodyResponse::BodyResponse(std::shared_ptr<const model::ModalModel> model, const BodyResponseDesc& desc)
    : model_(std::move(model)), desc_(desc)
{
  if (model_ == nullptr) throw Error("A body that responds needs a modal model; it was given none.");
  if (!(desc.max_modal_size > 0) || !(desc.min_wave_size > desc.max_modal_size))
    throw Error("The sizes of a blended response must be positive, the second above the first.");
  if (desc.method == ResponseMethod::attenuated) wave_fraction_ = 1;
  if (desc.method == ResponseMethod::blended) {
    Box3 box;
    for (const Vec3& v : model_->surface.vertices) box.extend(v);
    const double size = box.diagonal().norm();
    wave_fraction_ = std::clamp(
        std::log(size / desc.max_modal_size) / std::log(desc.min_wave_size / desc.max_modal_size), 0.0, 1.0);
  }
  if (desc.method == ResponseMethod::none) return;
  if (wave_fraction_ < 1) modal_ = std::make_unique<ModalResponse>(model_, desc.settings);
  if (wave_fraction_ > 0)
    waves_ = std::make_unique<AttenuatedResponse>(model_, desc.settings, desc.attenuation);
}

BodyResponse::~BodyResponse() = default;
BodyResponse::BodyResponse(BodyResponse&&) noexcept = default;
BodyResponse& BodyResponse::operator=(BodyResponse&&) noexcept = default;

// Each of the two keeps within the energy there is; so does a mean of them, since energy is convex in
// velocities and amplitudes. The waves leave the modes swinging as they were.
ResponseResult BodyResponse::respond(const ResponseInput& input, ModeState& state)
{
  if (desc_.method == ResponseMethod::none) return {};
  if (!waves_) return modal_->respond(input, state);
  if (!modal_) return waves_->respond(input);
  ModeState state_without_impact = state;
  ResponseResult rings = modal_->respond(input, state);
  const ResponseResult waves = waves_->respond(input);
  if (rings.impacts == 0 && waves.impacts == 0) return rings;
  const double keep = 1 - wave_fraction_;
  if (rings.impacts > 0) {
    if (desc_.settings.vibration_after_step == VibrationAfterStep::reset) state_without_impact = at_rest();
    advance(modal_->modes(), input.step, state_without_impact);
    state.q = keep * state.q + wave_fraction_ * state_without_impact.q;
    state.v = keep * state.v + wave_fraction_ * state_without_impact.v;
  }
  std::map<std::size_t, Kick> kicks;
  const auto add = [&](const ResponseResult& part, double share) {
    for (const Kick& kick : part.kicks) {
      const double present = separation_speed(input, input.contacts[kick.contact]);
      const auto [it, fresh] = kicks.try_emplace(kick.contact);
      Kick& sum = it->second;
      if (fresh) sum.speed = present;
      sum.contact = kick.contact;
      sum.speed += share * (kick.speed - present);
      sum.impulse += share * kick.impulse;
      sum.tangential_impulse += share * kick.tangential_impulse;
      sum.energy += share * kick.energy;
      sum.delay = std::max(sum.delay, kick.delay);
    }
  };
  add(rings, keep);
  add(waves, wave_fraction_);
  ResponseResult result = rings;
  result.kicks.clear();
  for (const auto& [contact, kick] : kicks) result.kicks.push_back(kick);
  // Pushes of the modal part, and of the waves by their kicks when the modal part gives body_impulses.
  for (BodyImpulse& push : result.body_impulses) {
    push.impulse *= keep;
    push.angular_impulse *= keep;
  }
  if (!rings.body_impulses.empty() || !waves.body_impulses.empty()) {
    std::vector<BodyImpulse> more =
        waves.body_impulses.empty() ? body_impulses_of(input, waves.kicks) : waves.body_impulses;
    for (BodyImpulse& push : more) {
      push.impulse *= wave_fraction_;
      push.angular_impulse *= wave_fraction_;
      result.body_impulses.push_back(push);
    }
  }
  result.energy.given = keep * rings.energy.given + wave_fraction_ * waves.energy.given;
  result.energy.received = keep * rings.energy.received + wave_fraction_ * waves.energy.received;
  result.energy.vibration_after = energy(modal_->modes(), state);
  return result;
}

}  // namespace thrum::vibration
