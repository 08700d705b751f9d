// SPDX-License-Identifier: MIT
#include "thrum/vibration/body_response.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "thrum/base/error.h"

namespace thrum::vibration {

BodyResponse::BodyResponse(std::shared_ptr<const model::ModalModel> model, const BodyResponseDesc& desc)
    : model_(std::move(model)), desc_(desc)
{
  if (!(desc.rings_up_to > 0) || !(desc.waves_from > desc.rings_up_to))
    throw Error("The sizes of a blended response must be positive, the second above the first.");
  if (desc.method == ResponseMethod::attenuated) share_ = 1;
  if (desc.method == ResponseMethod::blended) {
    Box3 box;
    for (const Vec3& v : model_->surface.vertices) box.extend(v);
    const double size = box.diagonal().norm();
    share_ = std::clamp(std::log(size / desc.rings_up_to) / std::log(desc.waves_from / desc.rings_up_to), 0.0,
                        1.0);
  }
  if (share_ < 1) modal_.emplace(model_, desc.settings);
  if (share_ > 0) waves_.emplace(model_, desc.settings, desc.attenuation);
}

// Each of the two keeps within the energy there is; so does a mean of them, since energy is convex in velocities and amplitudes. The
// waves leave the modes swinging as they were.
ResponseResult BodyResponse::respond(const ResponseInput& input, ModeState& state)
{
  if (!waves_) return modal_->respond(input, state);
  if (!modal_) return waves_->respond(input);
  ModeState unstruck = state;
  ResponseResult rings = modal_->respond(input, state);
  const ResponseResult waves = waves_->respond(input);
  if (rings.impacts == 0 && waves.impacts == 0) return rings;
  const double keep = 1 - share_;
  if (rings.impacts > 0) {
    if (desc_.settings.memory == RingMemory::restarted) unstruck = at_rest();
    advance(modal_->modes(), input.step, unstruck);
    state.q = keep * state.q + share_ * unstruck.q;
    state.v = keep * state.v + share_ * unstruck.v;
  }
  std::map<std::size_t, Kick> kicks;
  const auto add = [&](const ResponseResult& part, double share) {
    for (const Kick& kick : part.kicks) {
      const double present = rigid_speed(input, input.touches[kick.touch]);
      const auto [it, fresh] = kicks.try_emplace(kick.touch);
      Kick& sum = it->second;
      if (fresh) sum.speed = present;
      sum.touch = kick.touch;
      sum.speed += share * (kick.speed - present);
      sum.impulse += share * kick.impulse;
      sum.slide += share * kick.slide;
      sum.energy += share * kick.energy;
      sum.delay = std::max(sum.delay, kick.delay);
    }
  };
  add(rings, keep);
  add(waves, share_);
  ResponseResult result = rings;
  result.kicks.clear();
  for (const auto& [touch, kick] : kicks) result.kicks.push_back(kick);
  // Pushes of the modal part, and of the waves by their kicks when the modal part gives pushes.
  for (Push& push : result.pushes) {
    push.impulse *= keep;
    push.angular_impulse *= keep;
  }
  if (!rings.pushes.empty() || !waves.pushes.empty()) {
    std::vector<Push> more = waves.pushes.empty() ? pushes_of(input, waves.kicks) : waves.pushes;
    for (Push& push : more) {
      push.impulse *= share_;
      push.angular_impulse *= share_;
      result.pushes.push_back(push);
    }
  }
  result.energy.given = keep * rings.energy.given + share_ * waves.energy.given;
  result.energy.received = keep * rings.energy.received + share_ * waves.energy.received;
  result.energy.rings = energy(modal_->modes(), state);
  return result;
}

}  // namespace thrum::vibration
