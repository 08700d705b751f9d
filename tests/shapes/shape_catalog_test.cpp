// SPDX-License-Identifier: MIT
#include "thrum/shapes/shape_catalog.h"

#include <gtest/gtest.h>

#include "tests/support/mesh_checks.h"
#include "thrum/base/error.h"
#include "thrum/mesh/self_intersections.h"

namespace thrum::shapes {
namespace {

TEST(ShapeCatalog, HasANameForEveryShapeAndBack)
{
  ASSERT_EQ(shape_names().size(), std::variant_size_v<ShapeDesc>);
  for (const std::string_view name : shape_names()) EXPECT_EQ(name_of(default_shape(name)), name);
  EXPECT_TRUE(std::holds_alternative<MugDesc>(default_shape("mug")));
  EXPECT_TRUE(std::holds_alternative<FridgeDesc>(default_shape("fridge")));
  EXPECT_TRUE(std::holds_alternative<HeightFieldDesc>(default_shape("height_field")));
  EXPECT_THROW(static_cast<void>(default_shape("teapot")), Error);
}

TEST(ShapeCatalog, GeneratesEveryShapeWithItsDefaults)
{
  for (const std::string_view name : shape_names()) {
    SCOPED_TRACE(name);
    ShapeDesc shape = default_shape(name);
    if (auto* lathe = std::get_if<LatheDesc>(&shape)) lathe->profile = {{0, 0}, {1, 0}, {0, 1}};
    if (auto* hull = std::get_if<ConvexHullDesc>(&shape))
      hull->points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    // The combined shapes are tested here without remeshing, which is fast; their own tests use it.
    const bool joined = std::holds_alternative<TableDesc>(shape) ||
                        std::holds_alternative<ScaffoldDesc>(shape) ||
                        std::holds_alternative<FridgeDesc>(shape);
    if (joined) set_edge_length(shape, 0);
    if (auto* scaffold = std::get_if<ScaffoldDesc>(&shape)) scaffold->bays = 1;
    const mesh::TriangleMesh mesh = generate(shape);
    EXPECT_TRUE(support::is_closed_manifold(mesh));
    EXPECT_EQ(support::component_count(mesh), 1);
    EXPECT_GT(mesh::signed_volume(mesh), 0);
    EXPECT_TRUE(mesh::self_intersections(mesh).empty());
  }
}

TEST(ShapeCatalog, SetsTheEdgeLengthWhereThereIsOne)
{
  ShapeDesc mug = default_shape("mug");
  EXPECT_TRUE(set_edge_length(mug, 0.003));
  EXPECT_EQ(std::get<MugDesc>(mug).cup.edge_length, 0.003);
  ShapeDesc hull = default_shape("convex_hull");
  EXPECT_FALSE(set_edge_length(hull, 0.1));
}

std::string error_message_of(const ShapeDesc& shape)
{
  try {
    static_cast<void>(generate(shape));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ShapeCatalog, RejectsEdgeLengthsThatGiveBillionsOfTrianglesAndSuggestsBetterOnes)
{
  // 6 m^2 over sqrt(3)/4 1e-10 m^2.
  const std::string box = error_message_of(BoxDesc{.size = Vec3(1, 1, 1), .edge_length = 1e-5});
  EXPECT_NE(box.find("about 1.4e+11 triangles"), std::string::npos) << box;
  EXPECT_NE(box.find("Use 0.026 m for about 20000 triangles"), std::string::npos) << box;
  for (const char* name :
       {"sphere", "cylinder", "torus", "tube", "plate", "mug", "bottle", "table", "fridge"}) {
    ShapeDesc shape = default_shape(name);
    ASSERT_TRUE(set_edge_length(shape, 1e-5));
    EXPECT_NE(error_message_of(shape).find("gives this shape about"), std::string::npos)
        << name << error_message_of(shape);
  }
  // The default edge length is too short for a plate of half a kilometre.
  EXPECT_NE(error_message_of(PlateDesc{.radius = 500}).find("gives this shape about"), std::string::npos);
}

TEST(ShapeCatalog, RejectsEdgeLengthsThatLeaveNoVolume)
{
  ShapeDesc bowl = default_shape("bowl");
  set_edge_length(bowl, 1000);
  EXPECT_NE(error_message_of(bowl).find("too long for this shape"), std::string::npos)
      << error_message_of(bowl);
}

}  // namespace
}  // namespace thrum::shapes
