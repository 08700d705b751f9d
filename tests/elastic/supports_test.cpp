// SPDX-License-Identifier: MIT
#include "thrum/elastic/supports.h"

#include <gtest/gtest.h>

#include "tests/elastic/fem_fixtures.h"
#include "thrum/base/error.h"
#include "thrum/elastic/element_mesh.h"

namespace thrum::elastic {
namespace {

using testing::message;

ElementMesh two_cells()
{
  return build_element_mesh(tets::tetrahedralise_box(Vec3(2, 1, 1), {2, 1, 1}), ElementKind::tet10);
}

std::size_t chosen(const ElementMesh& mesh, std::string_view text)
{
  const std::vector<bool> nodes = select_nodes(mesh, {}, parse_selection(text));
  return static_cast<std::size_t>(std::count(nodes.begin(), nodes.end(), true));
}

TEST(Supports, SelectByHalfSpaceBoxRegionAndNumber)
{
  const ElementMesh mesh = two_cells();
  // A square face cut in two: 4 corners, 4 sides, 1 diagonal.
  EXPECT_EQ(chosen(mesh, "x < -0.9"), 9u);
  EXPECT_EQ(chosen(mesh, "x>=1"), 9u);
  EXPECT_EQ(chosen(mesh, "x>0.5 && z < 0"), 3u);
  EXPECT_EQ(chosen(mesh, "box(-2,-2,-2, 2,2,2)"), mesh.nodes.size());
  EXPECT_EQ(chosen(mesh, "nodes 0 1"), 3u);
  EXPECT_EQ(chosen(mesh, "everything"), mesh.nodes.size());

  mesh::TetrahedralMesh parts = tets::tetrahedralise_box(Vec3(2, 1, 1), {2, 1, 1});
  parts.region_names = {"left", "right"};
  for (const Tetrahedron& t : parts.tetrahedra) {
    double x = 0;
    for (const Index v : t) x += parts.vertices[static_cast<std::size_t>(v)].x();
    parts.regions.push_back(x < 0 ? 0 : 1);
  }
  const ElementMesh named = build_element_mesh(parts, ElementKind::tet4);
  const std::vector<bool> right = select_nodes(named, parts.region_names, parse_selection("region right"));
  for (std::size_t n = 0; n < named.nodes.size(); ++n) EXPECT_EQ(right[n], named.nodes[n].x() > -0.5);
}

TEST(Supports, RoundTripThroughText)
{
  for (const char* text :
       {"z<0.01", "x>-0.25", "x>0 && z<0.01", "box(0,0,0, 1,1,0.1)", "region feet", "nodes 4 5 17"})
    EXPECT_EQ(to_text(parse_selection(text)), text);
  EXPECT_EQ(to_text(model::Support{parse_selection("z<0")}), "clamped where z<0");
  EXPECT_EQ(to_text(model::Support{parse_selection("z<0"), {false, false, true}}), "z held where z<0");
}

TEST(Supports, SeveralPlacesAreReadOneByOne)
{
  const std::vector<model::Selection> places = parse_selections("x<0 || z<0.5 && y>1||nodes 3");
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(to_text(places[0]), to_text(parse_selection("x<0")));
  EXPECT_EQ(to_text(places[1]), to_text(parse_selection("z<0.5 && y>1")));
  EXPECT_EQ(to_text(places[2]), to_text(parse_selection("nodes 3")));
  EXPECT_EQ(parse_selections("z<0.01").size(), 1U);
  for (const char* wrong : {"", "x<0 ||", "|| x<0", "x<0 || || y<0", "x<0 | y<0"})
    EXPECT_THROW((void)parse_selections(wrong), Error) << wrong;
}

TEST(Supports, FixTheSelectedAxes)
{
  const ElementMesh mesh = two_cells();
  const std::vector<model::Support> supports = {{parse_selection("x<-0.9"), {true, true, true}},
                                                {parse_selection("z<-0.4"), {false, false, true}}};
  const auto held = held_axes(mesh, {}, supports);
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) {
    const bool left = mesh.nodes[n].x() < -0.9;
    const bool bottom = mesh.nodes[n].z() < -0.4;
    EXPECT_EQ(held[n][0], left);
    EXPECT_EQ(held[n][2], left || bottom);
  }
  EXPECT_TRUE(held_axes(mesh, {}, {}).empty());
}

TEST(Supports, ReportInvalidInput)
{
  const ElementMesh mesh = two_cells();
  const auto hold = [&](const char* text, std::array<bool, 3> axes = {true, true, true}) {
    const std::vector<model::Support> supports = {{parse_selection(text), axes}};
    return message([&] { static_cast<void>(held_axes(mesh, {}, supports)); });
  };
  EXPECT_NE(hold("z<-3").find("selects no node: the body reaches from (-1, -0.5, -0.5)"), std::string::npos);
  EXPECT_NE(hold("z<5").find("every node"), std::string::npos);
  EXPECT_NE(hold("z<0", {false, false, false}).find("fixes no axis"), std::string::npos);
  EXPECT_NE(hold("nodes 99").find("0 to 11"), std::string::npos);
  EXPECT_NE(hold("region feet").find("no named regions"), std::string::npos);
  for (const char* text :
       {"", "z", "z<", "w<1", "z<1 &&", "box(1,2,3)", "nodes", "nodes 1.5", "z<1m", "z<nan"})
    EXPECT_NE(message([&] { static_cast<void>(parse_selection(text)); }).find("Write for example"),
              std::string::npos)
        << text;
}

}  // namespace
}  // namespace thrum::elastic
