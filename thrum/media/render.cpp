// SPDX-License-Identifier: MIT
// Two passes. The first casts, for each pixel, samples x samples rays; each hit sends one ray to the sun and
// one into the cosine-weighted hemisphere. The directions are a Hammersley set distributed over a tile of 4 x
// 4 pixels, so that any 4 x 4 window contains the whole set once. The second pass averages the two
// visibilities over such a window, leaving out pixels of another body, another orientation or another depth:
// every pixel uses sixteen times as many directions as it traces, without noise. Colours are not averaged:
// edges and iso-lines stay sharp.
#include "thrum/media/render.h"

#include <embree3/rtcore.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/media/traced_body.h"

namespace thrum::media {
namespace {

constexpr float kRayOffset =
    1e-4f;  ///< start of a secondary ray above the surface, of the scene's diagonal [1]
constexpr double kGroundGap = 1e-3;  ///< of the ground under the lowest vertex, of the scene's diagonal [1]
constexpr float kAmbientReach =
    0.45f;                ///< occluders further than this, of the scene's diagonal, do not count [1]
constexpr int kTile = 4;  ///< [pixel]
constexpr float kSameNormal = 0.9f;  ///< cosine above which the visibilities of two pixels are averaged [1]
constexpr float kSameDepth = 0.02f;  ///< relative difference of depth below which they do [1]
constexpr double kGroundUnset = -1e299;

const Colour kSunLight(0.74f, 0.715f, 0.67f);
const Colour kSkyLight(0.50f, 0.525f, 0.56f);

struct DeviceCloser {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct SceneCloser {
  void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};
using Device = std::unique_ptr<std::remove_pointer_t<RTCDevice>, DeviceCloser>;
using Tracer = std::unique_ptr<std::remove_pointer_t<RTCScene>, SceneCloser>;

void add_to_tracer(RTCDevice device, RTCScene scene, const TracedBody& p, unsigned id)
{
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  auto* vertices = static_cast<float*>(rtcSetNewGeometryBuffer(
      geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), p.vertices.size()));
  for (const Vec3f& v : p.vertices) vertices = std::copy_n(v.data(), 3, vertices);
  auto* indices = static_cast<unsigned*>(rtcSetNewGeometryBuffer(
      geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(unsigned), p.triangles.size()));
  for (const Triangle& t : p.triangles) {
    for (const Index v : t) *indices++ = static_cast<unsigned>(v);
  }
  rtcCommitGeometry(geometry);
  rtcAttachGeometryByID(scene, geometry, id);
  rtcReleaseGeometry(geometry);
}

/// Two directions at right angles to n and to each other.
std::array<Vec3f, 2> tangents(const Vec3f& n)
{
  const Vec3f helper = std::abs(n.x()) < 0.7f ? Vec3f::UnitX() : Vec3f::UnitY();
  const Vec3f t = n.cross(helper).normalized();
  return {t, n.cross(t)};
}

/// The samples of one pixel.
struct PixelSamples {
  Colour background = Colour::Zero();  ///< light of samples that hit nothing
  Colour albedo = Colour::Zero();      ///< over the samples that hit
  Vec3f normal = Vec3f::Zero();
  float facing_sun = 0;  ///< mean cosine towards the sun
  float shine = 0;       ///< mean highlight
  float sun = 0;         ///< visible fraction of the sun
  float sky = 0;         ///< visible fraction of the sky
  float sky_up = 0;      ///< mean z component of the normal
  float depth = 0;
  float hits = 0;  ///< fraction of the samples that hit
  int id = -1;
};

struct Surface {
  Vec3f point;
  Vec3f normal;
  Colour albedo;
  float depth = 0;
  float shine = 0;
  int id = -1;
};

class Caster {
 public:
  Caster(const RenderScene& scene, const Camera& camera, const RenderDesc& desc) : desc_(desc)
  {
    Box3 box;
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
      check_body(scene.bodies[i], i);
      for (const Vec3& v : scene.bodies[i].mesh->vertices) box.extend(scene.bodies[i].X_wb.point(v));
    }
    if (box.isEmpty()) box = Box3(Vec3(-1, -1, 0), Vec3(1, 1, 1));
    const Vec3 centre = box.center();
    size_ = std::max(static_cast<float>(box.diagonal().norm()), std::numeric_limits<float>::min());

    device_.reset(rtcNewDevice(nullptr));
    if (!device_) throw Error("The ray tracing library could not be started.");
    tracer_.reset(rtcNewScene(device_.get()));
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
      bodies_.push_back(trace_body(scene.bodies[i], centre));
      add_to_tracer(device_.get(), tracer_.get(), bodies_.back(), static_cast<unsigned>(i));
    }
    rtcCommitScene(tracer_.get());

    const double lowest = box.min().z() - kGroundGap * size_;
    has_ground_ = scene.ground;
    ground_ =
        static_cast<float>((scene.ground_height < kGroundUnset ? lowest : scene.ground_height) - centre.z());
    background_ = linear_from_srgb(desc.background);
    aim(camera, centre);
  }

  /// Gathers the samples of one pixel.
  PixelSamples pixel(int x, int y) const
  {
    const int n = desc_.samples;
    const auto part = 1.0f / static_cast<float>(n * n);
    // The position of the pixel in its tile selects its part of the directions.
    const auto place = static_cast<std::uint32_t>(x % kTile + kTile * (y % kTile));
    const auto directions = static_cast<std::uint32_t>(n * n * kTile * kTile);
    PixelSamples g;
    for (int s = 0; s < n * n; ++s) {
      const int column = s % n;
      const int row = s / n;
      const double px = x + (column + 0.5) / n;
      const double py = y + (row + 0.5) / n;
      const Vec3f direction = ray_through(px, py);
      const Surface hit = first_hit(direction);
      if (hit.id == kNothing) {
        g.background += part * background_;
        continue;
      }
      const std::uint32_t which = static_cast<std::uint32_t>(s) * kTile * kTile + scattered(place);
      const double turn = (which + 0.5) / directions;
      const double square = radical_inverse(which);
      const Vec3f origin = hit.point + kRayOffset * size_ * hit.normal;
      const float facing = std::max(0.0f, hit.normal.dot(sun_));
      g.facing_sun += part * facing;
      g.sun += part * (facing > 0 && !blocked(origin, toward_sun(turn, square), INFINITY) ? 1.0f : 0.0f);
      g.sky +=
          part * (blocked(origin, into_sky(hit.normal, turn, square), kAmbientReach * size_) ? 0.0f : 1.0f);
      g.sky_up += part * hit.normal.z();
      g.shine += part * hit.shine;
      g.albedo += part * hit.albedo;
      g.normal += part * hit.normal;
      g.depth += part * hit.depth;
      g.hits += part;
      g.id = g.hits == part || g.id == hit.id ? hit.id : kMixed;
    }
    return g;
  }

  /// The displayed colour, with the visibilities averaged over the tile.
  Pixel shade(const std::vector<PixelSamples>& all, int x, int y) const
  {
    const PixelSamples& g = all[index(x, y)];
    if (g.hits == 0) return to_pixel(srgb_from_linear(g.background));
    float sun = 0, sky = 0, weight = 0;
    for (int dy = -kTile / 2; dy < kTile / 2; ++dy) {
      for (int dx = -kTile / 2; dx < kTile / 2; ++dx) {
        const int u = x + dx, v = y + dy;
        if (u < 0 || v < 0 || u >= desc_.width || v >= desc_.height) continue;
        const PixelSamples& o = all[index(u, v)];
        if (!share_light(g, o)) continue;
        sun += o.sun;
        sky += o.sky;
        weight += o.hits;
      }
    }
    if (weight == 0) {
      sun = g.sun;
      sky = g.sky;
      weight = g.hits;
    }
    sun /= weight;
    sky /= weight;
    const float facing = g.facing_sun / g.hits;
    const float up = 0.78f + 0.22f * g.sky_up / g.hits;
    const Colour light = sun * facing * kSunLight + sky * up * kSkyLight;
    const Colour lit = g.background + g.albedo.cwiseProduct(light) + Colour::Constant(g.shine * sun);
    return to_pixel(srgb_from_linear(Colour(lit.cwiseMin(1.0f))));
  }

  [[nodiscard]] std::size_t index(int x, int y) const { return at(y) * at(desc_.width) + at(x); }

 private:
  static constexpr int kNothing = -1;
  static constexpr int kGround = -2;
  static constexpr int kMixed = -3;

  /// Bits after the binary point in reverse order: the second coordinate of a Hammersley set, in [0, 1).
  static double radical_inverse(std::uint32_t bits)
  {
    double value = 0;
    for (double digit = 0.5; bits != 0; bits >>= 1, digit /= 2) value += (bits & 1u) != 0 ? digit : 0;
    return value;
  }

  /// A permutation of the sixteen positions of a tile, in which neighbours are far apart.
  static std::uint32_t scattered(std::uint32_t place) { return place * 7 % (kTile * kTile); }

  static bool share_light(const PixelSamples& a, const PixelSamples& b)
  {
    if (a.id == kMixed) return b.hits > 0;
    return b.hits > 0 && a.id == b.id &&
           a.normal.dot(b.normal) > kSameNormal * a.normal.norm() * b.normal.norm() &&
           std::abs(a.depth * b.hits - b.depth * a.hits) < kSameDepth * a.depth * b.hits;
  }

  void aim(const Camera& camera, const Vec3& centre)
  {
    eye_ = (camera.eye - centre).cast<float>();
    const auto [right, up, forward] = camera.axes();
    pixel_size_ = static_cast<float>(2 * std::tan(camera.field_of_view / 2) / desc_.height);
    forward_ = forward.cast<float>();
    right_ = right.cast<float>();
    up_ = up.cast<float>();
    // The sun is high, behind the viewer and to the left.
    Vec3 flat(forward.x(), forward.y(), 0);
    flat = flat.norm() > 0 ? Vec3(flat.normalized()) : Vec3::UnitY();
    const Vec3 left = Vec3::UnitZ().cross(flat);
    sun_ = (0.75 * left - 0.35 * flat + 1.25 * Vec3::UnitZ()).normalized().cast<float>();
  }

  Vec3f ray_through(double px, double py) const
  {
    const auto u = static_cast<float>(px - desc_.width / 2.0) * pixel_size_;
    const auto v = static_cast<float>(desc_.height / 2.0 - py) * pixel_size_;
    return (forward_ + u * right_ + v * up_).normalized();
  }

  static void aim_ray(RTCRay& ray, const Vec3f& origin, const Vec3f& direction, float reach)
  {
    ray.org_x = origin.x();
    ray.org_y = origin.y();
    ray.org_z = origin.z();
    ray.dir_x = direction.x();
    ray.dir_y = direction.y();
    ray.dir_z = direction.z();
    ray.tnear = 0;
    ray.tfar = reach;
    ray.time = 0;
    ray.mask = ~0u;
    ray.id = 0;
    ray.flags = 0;
  }

  bool blocked(const Vec3f& origin, const Vec3f& direction, float reach) const
  {
    // The ground hides the sky below it up to the maximum distance of occluders.
    if (has_ground_ && direction.z() < 0 && origin.z() + reach * direction.z() < ground_) return true;
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRay ray;
    aim_ray(ray, origin, direction, reach);
    rtcOccluded1(tracer_.get(), &context, &ray);
    return ray.tfar < 0;
  }

  Vec3f toward_sun(double turn, double square) const
  {
    const auto radius = static_cast<float>(desc_.sun_radius * std::sqrt(square));
    const auto angle = static_cast<float>(2 * std::numbers::pi * turn);
    const auto [t, b] = tangents(sun_);
    return (sun_ + radius * (std::cos(angle) * t + std::sin(angle) * b)).normalized();
  }

  static Vec3f into_sky(const Vec3f& normal, double turn, double square)
  {
    // Cosine-weighted: a point of the unit disk lifted onto the hemisphere.
    const auto radius = static_cast<float>(std::sqrt(square));
    const auto angle = static_cast<float>(2 * std::numbers::pi * turn);
    const auto [t, b] = tangents(normal);
    return radius * (std::cos(angle) * t + std::sin(angle) * b) +
           static_cast<float>(std::sqrt(1 - square)) * normal;
  }

  Surface first_hit(const Vec3f& direction) const
  {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRayHit query;
    aim_ray(query.ray, eye_, direction, INFINITY);
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(tracer_.get(), &context, &query);
    const bool hit = query.hit.geomID != RTC_INVALID_GEOMETRY_ID;
    const float to_ground = has_ground_ && direction.z() < 0 ? (ground_ - eye_.z()) / direction.z() : -1;
    if (to_ground > 0 && (!hit || to_ground < query.ray.tfar)) return ground_at(direction, to_ground);
    return hit ? surface_of(query, direction) : Surface{};
  }

  Surface ground_at(const Vec3f& direction, float distance) const
  {
    Surface s;
    s.point = eye_ + distance * direction;
    s.normal = Vec3f::UnitZ();
    s.depth = distance;
    s.id = kGround;
    // As bright as the background where it is not shadowed, so that only shadows are visible.
    const Colour light = sun_.z() * kSunLight + kSkyLight;
    s.albedo = background_.cwiseQuotient(light);
    return s;
  }

  Surface surface_of(const RTCRayHit& query, const Vec3f& direction) const
  {
    const TracedBody& p = bodies_[query.hit.geomID];
    const std::size_t t = query.hit.primID;
    const std::array<float, 3> w{1 - query.hit.u - query.hit.v, query.hit.u, query.hit.v};
    Surface s;
    s.depth = query.ray.tfar;
    s.point = eye_ + s.depth * direction;
    s.normal = (w[0] * p.normals[t][0] + w[1] * p.normals[t][1] + w[2] * p.normals[t][2]).normalized();
    // A sheet is lit from both sides. The face normal decides which side is visible: the interpolated normal
    // of a round body may point away from the viewer at its outline, and if flipped it would be dark there.
    const Vec3f face(query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z);
    if (s.normal.dot(face) * face.dot(direction) > 0) s.normal = -s.normal;
    // A normal that points away from the viewer is bent back to be perpendicular to the view.
    const float away = s.normal.dot(direction);
    if (away > 0) s.normal = (s.normal - away * direction).normalized();
    s.id = static_cast<int>(query.hit.geomID);
    s.albedo = albedo_at(p, t, w, static_cast<double>(s.depth * pixel_size_));
    const float halfway = std::max(0.0f, s.normal.dot((sun_ - direction).normalized()));
    s.shine = 0.07f * std::pow(halfway, 40.0f);
    return s;
  }

  RenderDesc desc_;
  Device device_;
  Tracer tracer_;
  std::vector<TracedBody> bodies_;
  float size_ = 1;  ///< diagonal of everything [m]
  bool has_ground_ = true;
  float ground_ = 0;
  Vec3f eye_, forward_, right_, up_, sun_;
  float pixel_size_ = 0;  ///< at distance one
  Colour background_;     ///< linear
};

}  // namespace

Image render(const RenderScene& scene, const Camera& camera, const RenderDesc& desc)
{
  if (desc.samples < 1 || desc.samples > 64)
    throw Error("The samples per pixel and direction must be 1 to 64.");
  Image image(desc.width, desc.height);
  const Caster caster(scene, camera, desc);
  std::vector<PixelSamples> pixel_samples(image.pixels.size());
  const auto rows = at(desc.height);
  base::parallel_for(
      rows,
      [&](std::size_t row) {
        const int y = static_cast<int>(row);
        for (int x = 0; x < desc.width; ++x) pixel_samples[caster.index(x, y)] = caster.pixel(x, y);
      },
      4);
  base::parallel_for(rows, [&](std::size_t row) {
    const int y = static_cast<int>(row);
    for (int x = 0; x < desc.width; ++x) image.at(x, y) = caster.shade(pixel_samples, x, y);
  });
  return image;
}

}  // namespace thrum::media
