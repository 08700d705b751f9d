// SPDX-License-Identifier: MIT
#include "thrum/sound/strike.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/hertz_contact.h"
#include "thrum/mesh/triangle_queries.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/propagation.h"

namespace thrum::sound {

namespace {

constexpr double kEdgeWidth = 1e-6;   ///< of the surface: this close to an edge, all of its faces are struck
constexpr double kSameNormal = 1e-6;  ///< distance between the normals of triangles of one face

// The normal of the surface; at an edge or a corner the mean of those of its faces, each once, however it is
// cut into triangles.
Vec3 normal_at(const mesh::TriangleMesh& surface, const mesh::ClosestPoint& place)
{
  const auto unit_normal = [&](std::size_t t) -> Vec3 {
    return mesh::area_vector(surface, t).normalized();
  };
  const Vec3 nearest = unit_normal(at(place.triangle));
  const double width = kEdgeWidth * mesh::bounding_box(surface).diagonal().norm();
  std::vector<Vec3> normals = {nearest};
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const auto here = mesh::closest_point_on_triangle(place.point, surface.corner(t, 0), surface.corner(t, 1),
                                                      surface.corner(t, 2));
    if (!((here.point - place.point).norm() <= width)) continue;
    const Vec3 normal = unit_normal(t);
    const bool is_known = std::any_of(normals.begin(), normals.end(),
                                      [&](const Vec3& n) { return (n - normal).norm() < kSameNormal; });
    if (!is_known && normal.allFinite()) normals.push_back(normal);
  }
  const Vec3 sum = std::accumulate(normals.begin(), normals.end(), Vec3(Vec3::Zero()));
  // Of both sides of a sheet nothing is left.
  return sum.norm() > kSameNormal ? sum.normalized() : nearest;
}

}  // namespace

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
    Vec3 n = -normal_at(body.surface, closest);
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
