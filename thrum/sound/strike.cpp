// SPDX-License-Identifier: MIT
#include "thrum/sound/strike.h"

#include <fmt/format.h>

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
constexpr double kAlong = 1e-6;       ///< cosine below which a strike goes along a surface
constexpr double kSolidShare = 0.3;   ///< of the mass, by which it may differ from that of a solid body
constexpr double kSameNormal = 1e-6;  ///< distance between the normals of triangles of one face

// The normals of the surface at a place, the nearest first: at an edge or a corner those of its faces, each
// once, however it is cut into triangles.
std::vector<Vec3> normals_at(const mesh::TriangleMesh& surface, const mesh::ClosestPoint& place)
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
  return normals;
}

// Their mean. Of both sides of a sheet nothing is left.
Vec3 mean_normal(const std::vector<Vec3>& normals)
{
  const Vec3 sum = std::accumulate(normals.begin(), normals.end(), Vec3(Vec3::Zero()));
  return sum.norm() > kSameNormal ? sum.normalized() : normals.front();
}

// Whether the surface bounds a body of the density of its material. A sheet, also a closed one, has much less
// mass; it is struck from either side.
bool is_solid(const model::ModalModel& body)
{
  if (body.materials.empty()) return false;
  double volume = 0;
  for (std::size_t t = 0; t < body.surface.triangles.size(); ++t)
    volume += body.surface.corner(t, 0).dot(body.surface.corner(t, 1).cross(body.surface.corner(t, 2))) / 6;
  return std::abs(body.materials.front().density * volume - body.mass) < kSolidShare * body.mass;
}

// In which the striker flies. Nothing flies out of a body, or along all of the faces that it touches.
Vec3 flight_at(const std::vector<Vec3>& normals, const Strike& strike, bool solid)
{
  const Vec3 into = Vec3::Zero() - mean_normal(normals);
  if (!strike.direction || strike.direction->isZero(0)) return into;
  const Vec3 way = strike.direction->stableNormalized();
  const bool arrives = std::any_of(normals.begin(), normals.end(), [&](const Vec3& n) {
    return solid ? way.dot(n) < -kAlong : std::abs(way.dot(n)) > kAlong;
  });
  if (arrives) return way;
  throw Error(
      fmt::format("A strike in direction {:.3g},{:.3g},{:.3g} at {:.4g},{:.4g},{:.4g} comes out of the body "
                  "or goes along its surface. "
                  "Give one into the body, such as {:.3g},{:.3g},{:.3g}, or leave it out.",
                  way.x(), way.y(), way.z(), strike.position.x(), strike.position.y(), strike.position.z(),
                  into.x(), into.y(), into.z()));
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
  const bool solid = is_solid(body);
  for (const Strike& strike : strikes) {
    if (!(strike.speed > 0)) throw Error("The speed of a strike must be positive.");
    const mesh::ClosestPoint closest = surface.closest_point(strike.position);
    const Vec3 n = flight_at(normals_at(body.surface, closest), strike, solid);
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
