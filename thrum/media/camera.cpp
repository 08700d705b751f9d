// SPDX-License-Identifier: MIT
#include "thrum/media/camera.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace thrum::media {

namespace {

constexpr double kVerticalCosine = 0.999;  ///< cosine to the vertical above which "up" in the picture is y
constexpr double kMaxFieldOfView = 1.75;   ///< of pictures that are much taller than wide [rad]

}  // namespace

CameraAxes Camera::axes() const
{
  const Vec3 forward = (target - eye).normalized();
  const Vec3 helper = std::abs(forward.z()) > kVerticalCosine ? Vec3::UnitY() : Vec3::UnitZ();
  const Vec3 right = forward.cross(helper).normalized();
  return {right, right.cross(forward), forward};
}

Vec2 Camera::project(const Vec3& point, int width, int height) const
{
  const auto [right, up, forward] = axes();
  const Vec3 d = point - eye;
  const double pixel = 2 * std::tan(field_of_view / 2) / height * d.dot(forward);
  return {width / 2.0 + d.dot(right) / pixel, height / 2.0 - d.dot(up) / pixel};
}

Camera frame_box(const Box3& box, double aspect, const Vec3& from, double margin)
{
  Camera camera;
  if (box.isEmpty()) return camera;
  camera.target = box.center();
  const Vec3 back = from.normalized();
  camera.eye = camera.target + back;
  const auto [right, up, forward] = camera.axes();
  const double tall = std::tan(camera.field_of_view / 2) * (1 - margin);
  const double wide = tall * aspect;
  // Each corner needs a minimum distance to be inside the picture.
  double distance = 0;
  for (int k = 0; k < 8; ++k) {
    const Vec3 d = box.corner(static_cast<Box3::CornerType>(k)) - camera.target;
    const double needed = std::max(std::abs(d.dot(right)) / wide, std::abs(d.dot(up)) / tall);
    distance = std::max(distance, needed + d.dot(back));
  }
  camera.eye = camera.target + std::max(distance, std::numeric_limits<double>::min()) * back;
  return camera;
}

double fit_field_of_view(double field_of_view, double aspect)
{
  if (aspect >= kDefaultAspect) return field_of_view;
  return std::min(2 * std::atan(std::tan(field_of_view / 2) * kDefaultAspect / aspect),
                  std::max(kMaxFieldOfView, field_of_view));
}

}  // namespace thrum::media
