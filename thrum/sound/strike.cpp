// SPDX-License-Identifier: MIT
#include "thrum/sound/strike.h"

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/hertz_contact.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/propagation.h"

namespace thrum::sound {

AudioBuffer strike_body(const std::shared_ptr<const SoundModel>& model, const std::vector<Strike>& strikes,
                        const StrikeDesc& desc)
{
  if (!model || model->modal_model() == nullptr) throw Error("A body without modes cannot be struck.");
  if (!(desc.striker_mass > 0) || !(desc.striker_radius > 0) || !(desc.distance > 0) || !(desc.duration > 0))
    throw Error("The mass and the radius of the striker, the distance and the duration must be positive.");
  const model::ModalModel& body = *model->modal_model();
  const mesh::Bvh surface(body.surface);
  BodyVoice voice(model, body.mass, desc.settings);
  const double striker_modulus = desc.striker.young / (1 - desc.striker.poisson * desc.striker.poisson);
  for (const Strike& strike : strikes) {
    if (!(strike.speed > 0)) throw Error("The speed of a strike must be positive.");
    const mesh::ClosestPoint closest = surface.closest_point(strike.position);
    Vec3 n = -mesh::area_vector(body.surface, at(closest.triangle)).normalized();
    if (strike.direction && strike.direction->norm() > 0) n = strike.direction->normalized();
    const Vec3 turn = (closest.point - body.centre_of_mass).cross(n);
    const double inverse_mass =
        1 / desc.striker_mass + 1 / body.mass + turn.dot(body.inertia.inverse() * turn);
    const double curvature = 1 / desc.striker_radius + model->curvature_at(closest.point);
    const double modulus = elastic::contact_modulus(model->modulus(), striker_modulus);
    const double duration = elastic::hertz_duration(1 / inverse_mass, modulus, 1 / curvature, strike.speed);
    // The modes of the body give way too.
    const double modal = modal_inverse_mass(*model, closest.point, n, duration);
    const double impulse = (1 + desc.restitution) * strike.speed / (inverse_mass + modal);
    // Heard from the side that was struck.
    voice.strike(strike.time, duration, closest.point, impulse * n, -n);
  }
  voice.finish();
  const auto frames = static_cast<std::size_t>(std::ceil(desc.duration * desc.settings.sample_rate));
  AudioBuffer sound = make_silence(desc.settings.sample_rate, 1, frames + ModalBank::kInterval);
  std::vector<double>& samples = sound.channels[0];
  for (std::size_t i = 0; i < frames; i += ModalBank::kInterval)
    (void)voice.render(std::span(samples).subspan(i, ModalBank::kInterval));
  samples.resize(frames);
  const double distance = std::max(desc.distance, PathDesc{}.min_distance);
  for (double& sample : samples) sample /= distance;
  fade_out(sound);
  return sound;
}

}  // namespace thrum::sound
