// SPDX-License-Identifier: MIT
#include "thrum/media/picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "thrum/base/error.h"

namespace thrum::media {
namespace {

// The distance to a sphere of radius 1: blue inside, red outside, a dark ring at the radius.
TEST(PictureOfSlice, ShowsTheSignAndTheZeroLineOfASphere)
{
  const auto sphere = [](const Vec3& p) {
    return p.norm() - 1;
  };
  const SlicePlane plane = slice_of_box(Box3(Vec3(-1, -1, -1), Vec3(1, 1, 1)), 1, 0.5);
  const Image image = picture_of_slice(sphere, plane, {.width = 200, .height = 100, .legend = false});
  // The rectangle is 4 m high: 25 pixels to a metre, the middle at (100, 50).
  const Pixel inside = image.at(100, 50), outside = image.at(100, 4);
  EXPECT_GT(inside[2], inside[0]);
  EXPECT_GT(outside[0], outside[2]);
  for (const double angle : {0.3, 1.2, 2.9, 4.0}) {
    const Pixel ring =
        image.at(static_cast<int>(100 + 25 * std::cos(angle)), static_cast<int>(50 + 25 * std::sin(angle)));
    EXPECT_LT(ring[0] + ring[1] + ring[2], 360) << angle;
  }
}

TEST(PictureOfMesh, DrawsTheLegendBesideTheMesh)
{
  mesh::TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 2}};
  const std::vector<double> scalar{0, 1, 2};
  const PictureDesc desc{.width = 320, .height = 180, .title = "distance", .unit = "m"};
  const Image with = picture_of_mesh(mesh, scalar, desc);
  PictureDesc bare = desc;
  bare.legend = false;
  const Image without = picture_of_mesh(mesh, scalar, bare);
  int different = 0;
  for (int y = 0; y < 180; ++y) {
    for (int x = 270; x < 320; ++x) different += with.at(x, y) != without.at(x, y) ? 1 : 0;
  }
  EXPECT_GT(different, 800);
  EXPECT_NO_THROW(static_cast<void>(picture_of_mesh(mesh, bare)));
}

TEST(SliceOfBox, LiesAcrossTheAxis)
{
  const Box3 box(Vec3(0, 0, 0), Vec3(1, 2, 3));
  for (int axis = 0; axis < 3; ++axis) {
    const SlicePlane plane = slice_of_box(box, axis);
    EXPECT_EQ(plane.half_right[axis], 0);
    EXPECT_EQ(plane.half_up[axis], 0);
    EXPECT_TRUE(plane.centre.isApprox(box.center()));
  }
  EXPECT_THROW(static_cast<void>(slice_of_box(box, 3)), Error);
}

}  // namespace
}  // namespace thrum::media
