// SPDX-License-Identifier: MIT
#include "thrum/media/render.h"

#include <gtest/gtest.h>

#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/parallel.h"
#include "thrum/shapes/shapes.h"

namespace thrum::media {
namespace {

/// A horizontal square with side 2 at the given height.
mesh::TriangleMesh square(double height)
{
  mesh::TriangleMesh mesh;
  mesh.vertices = {{-1, -1, height}, {1, -1, height}, {1, 1, height}, {-1, 1, height}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

int brightness(const Pixel& p)
{
  return p[0] + p[1] + p[2];
}

const RenderDesc kSmall{.width = 160, .height = 90};

TEST(Render, HitsTheSquareWhereTheCameraPredictsIt)
{
  const mesh::TriangleMesh mesh = square(0);
  RenderScene scene;
  scene.bodies.push_back({.mesh = &mesh, .colour = {0.9f, 0.1f, 0.1f}});
  scene.ground = false;
  const Camera camera{.eye = {0.4, -0.3, 9}, .target = {0.4, -0.3, 0}};
  const Image image = render(scene, camera, kSmall);
  for (int y = 0; y < 90; ++y) {
    for (int x = 0; x < 160; ++x) {
      // Pixels near the edge are blended: skip two on both sides.
      const Vec2 low = camera.project({-1, 1, 0}, 160, 90), high = camera.project({1, -1, 0}, 160, 90);
      const double in = std::min({x - low.x(), high.x() - x - 1, y - low.y(), high.y() - y - 1});
      const Pixel& p = image.at(x, y);
      if (in > 2) {
        EXPECT_GT(p[0], p[1] + 50) << x << " " << y;
      } else if (in < -2) {
        EXPECT_EQ(p, to_pixel(kSmall.background));
      }
    }
  }
}

TEST(Render, FramesTheWholeBox)
{
  for (const Vec3& from : {Vec3(1, 0, 0), Vec3(0.5, -1, 0.6), Vec3(0, 0, 1)}) {
    const Box3 box(Vec3(5, 6, 7), Vec3(5.5, 8, 7.1));
    const Camera camera = frame_box(box, 16.0 / 9, from);
    double least = INFINITY;
    for (int k = 0; k < 8; ++k) {
      const Vec2 p = camera.project(box.corner(static_cast<Box3::CornerType>(k)), 160, 90);
      least = std::min({least, p.x(), 160 - p.x(), p.y(), 90 - p.y()});
    }
    EXPECT_GT(least, 0);
    EXPECT_LT(least, 20);
  }
}

// At the outline of a round body drawn with few faces the interpolated normals point away from the viewer.
TEST(Render, TheLitSideOfARoundBodyHasNoDarkOutline)
{
  const mesh::TriangleMesh mesh =
      shapes::generate(shapes::CylinderDesc{.radius = 1, .height = 2, .segments = 14});
  RenderScene scene;
  scene.bodies.push_back({.mesh = &mesh, .colour = {0.9f, 0.9f, 0.9f}});
  scene.ground = false;
  // The sun is behind the viewer and to the left: all of the left half is lit, and the background is light.
  const Camera camera{.eye = {0, -9, 0}, .target = {0, 0, 0}};
  const Image image = render(scene, camera, kSmall);
  const int middle = brightness(image.at(static_cast<int>(camera.project({-0.5, -1, 0}, 160, 90).x()), 45));
  for (int y = 0; y < 90; ++y) {
    for (int x = 0; x < 70; ++x) EXPECT_GT(brightness(image.at(x, y)), 0.75 * middle) << x << " " << y;
  }
}

TEST(Render, ANarrowPictureShowsTheSameWidth)
{
  const double view = 0.5;
  EXPECT_EQ(fit_field_of_view(view, 16.0 / 9), view);
  EXPECT_EQ(fit_field_of_view(view, 3), view);
  Camera camera{.eye = {0, -5, 0}, .target = {0, 0, 0}, .field_of_view = view};
  const double wide = camera.project({1, 0, 0}, 1600, 900).x() / 1600;
  camera.field_of_view = fit_field_of_view(view, 0.8);
  EXPECT_NEAR(camera.project({1, 0, 0}, 800, 1000).x() / 800, wide, 1e-12);
  // Up to a limit.
  EXPECT_LT(fit_field_of_view(view, 0.01), 2);
}

TEST(Render, TheGroundIsDarkerInTheShadow)
{
  const mesh::TriangleMesh mesh = square(0.5);
  RenderScene scene;
  scene.bodies.push_back({.mesh = &mesh});
  scene.ground_height = 0;
  const Camera camera{.eye = {0, -9, 1.2}, .target = {0, 0, 0.2}};
  const Image image = render(scene, camera, kSmall);
  const Vec2 under = camera.project({0, 0, 0}, 160, 90);
  const Vec2 free = camera.project({-4, -1, 0}, 160, 90);
  const int dark = brightness(image.at(static_cast<int>(under.x()), static_cast<int>(under.y())));
  const int light = brightness(image.at(static_cast<int>(free.x()), static_cast<int>(free.y())));
  EXPECT_LT(dark, 0.8 * light);
  // Unshadowed ground has the colour of the background.
  EXPECT_NEAR(light, brightness(to_pixel(kSmall.background)), 6);
}

TEST(Render, ShowsTheScalarThroughTheMap)
{
  const mesh::TriangleMesh mesh = square(0);
  const std::vector<double> scalar{0, 1, 1, 0};
  RenderScene scene;
  scene.bodies.push_back({.mesh = &mesh, .scalar = scalar});
  scene.ground = false;
  const Camera camera{.eye = {0, 0, 8}, .target = {0, 0, 0}};
  const Image plain = render(scene, camera, kSmall);
  // Left is dark violet, right is light yellow, lighter from left to right.
  const int left = static_cast<int>(camera.project({-1, 0, 0}, 160, 90).x()) + 2;
  const int right = static_cast<int>(camera.project({1, 0, 0}, 160, 90).x()) - 3;
  for (int x = left; x + 8 <= right; x += 8) {
    EXPECT_LT(plain.at(x, 45)[1], plain.at(x + 8, 45)[1]);
  }
  // A line where the value is one half.
  scene.bodies[0].iso_spacing = 0.5;
  const Image lined = render(scene, camera, kSmall);
  EXPECT_LT(brightness(lined.at(80, 40)), brightness(plain.at(80, 40)) - 40);
  EXPECT_EQ(lined.at(70, 40), plain.at(70, 40));
}

TEST(Render, HasTheSameBitsForEveryThreadCount)
{
  const mesh::TriangleMesh mesh = square(0.3);
  RenderScene scene;
  scene.bodies.push_back({.mesh = &mesh});
  const Camera camera = frame_box(mesh::bounding_box(mesh), 16.0 / 9);
  base::set_thread_count(1);
  const Image one = render(scene, camera, kSmall);
  base::set_thread_count(5);
  const Image five = render(scene, camera, kSmall);
  base::set_thread_count(0);
  EXPECT_EQ(one.pixels, five.pixels);
}

TEST(Render, ReportsErrors)
{
  const mesh::TriangleMesh mesh = square(0);
  const std::vector<double> scalar{1, 2};
  RenderScene scene;
  scene.bodies.push_back({.mesh = &mesh, .scalar = scalar});
  EXPECT_THROW(static_cast<void>(render(scene, Camera(), kSmall)), Error);
  scene.bodies[0] = {};
  EXPECT_THROW(static_cast<void>(render(scene, Camera(), kSmall)), Error);
  // An empty scene gives an empty picture.
  EXPECT_NO_THROW(static_cast<void>(render({}, Camera(), kSmall)));
}

}  // namespace
}  // namespace thrum::media
