// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/tetrahedral_mesh_io.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "thrum/base/error.h"
#include "thrum/mesh_io/file_bytes.h"

namespace thrum::mesh_io {
namespace {

const std::filesystem::path kName = "test.msh";

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// Positive tetrahedra over scattered points, in up to three named regions; every point is used.
mesh::TetrahedralMesh any_tetrahedra()
{
  mesh::TetrahedralMesh mesh;
  const auto coordinate = rc::gen::map(rc::gen::inRange(-1000000, 1000000), [](int v) { return v / 7777.0; });
  const int wanted = *rc::gen::inRange(1, 20);
  const int regions = *rc::gen::inRange(0, 4);
  for (int t = 0; t < wanted; ++t) {
    const auto first = static_cast<Index>(mesh.vertices.size());
    for (int k = 0; k < 4; ++k) mesh.vertices.emplace_back(*coordinate, *coordinate, *coordinate);
    mesh.tetrahedra.push_back({first, first + 1, first + 2, first + 3});
    if (mesh::six_times_volume(mesh, mesh.tetrahedra.size() - 1) < 0)
      std::swap(mesh.tetrahedra.back()[2], mesh.tetrahedra.back()[3]);
  }
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) RC_PRE(mesh::six_times_volume(mesh, t) > 0);
  // Regions are numbered by first appearance, as a reader does it.
  if (regions > 0) {
    Index seen = 0;
    for (int t = 0; t < wanted; ++t) {
      const Index r = std::min(*rc::gen::inRange<Index>(0, regions), seen);
      seen = std::max(seen, r + 1);
      mesh.regions.push_back(r);
    }
    for (Index r = 0; r < seen; ++r) mesh.region_names.push_back(fmt::format("part number {}", r));
  }
  return mesh;
}

void expect_same(const mesh::TetrahedralMesh& a, const mesh::TetrahedralMesh& b)
{
  RC_ASSERT(a.vertices == b.vertices);
  RC_ASSERT(a.tetrahedra == b.tetrahedra);
  RC_ASSERT(a.regions == b.regions);
  RC_ASSERT(a.region_names == b.region_names);
}

RC_GTEST_PROP(MshFile, ReadsBackEveryBitInBothVersionsAndEncodings, ())
{
  const mesh::TetrahedralMesh mesh = any_tetrahedra();
  for (const MshVersion version : {MshVersion::v2_2, MshVersion::v4_1}) {
    for (const FileEncoding encoding : {FileEncoding::text, FileEncoding::binary}) {
      expect_same(read_msh(write_msh(mesh, version, encoding), kName).mesh, mesh);
    }
  }
}

RC_GTEST_PROP(TetgenFile, ReadsNodesAndElementsFromAnyFirstNumber, (bool from_one))
{
  const mesh::TetrahedralMesh mesh = any_tetrahedra();
  const int first = from_one ? 1 : 0;
  std::string node = fmt::format("# made by a test\n{} 3 0 1\n", mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3& p = mesh.vertices[i];
    node += fmt::format("  {}  {} {} {}  1\n", static_cast<int>(i) + first, p.x(), p.y(), p.z());
  }
  std::string ele = fmt::format("{} 4 {}\n", mesh.tetrahedra.size(), mesh.regions.empty() ? 0 : 1);
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    const Tetrahedron& v = mesh.tetrahedra[t];
    // Written with negative volume, as TetGen does.
    ele += fmt::format("{} {} {} {} {}", t, v[0] + first, v[1] + first, v[3] + first, v[2] + first);
    if (!mesh.regions.empty()) ele += fmt::format(" {}", mesh.regions[t]);
    ele += "\n# end\n";
  }
  mesh::TetrahedralMesh expected = mesh;
  for (std::size_t r = 0; r < expected.region_names.size(); ++r)
    expected.region_names[r] = fmt::format("region {}", r);
  expect_same(read_tetgen(node, "a.node", ele, "a.ele").mesh, expected);
}

// A file with the layout that Gmsh writes: surface triangles and a point besides the tetrahedra, sparse node
// numbers, a quadratic tetrahedron, unknown sections.
TEST(MshFile, ReadsWhatGmshWrites)
{
  const std::string text =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Comments\nanything $Nodes\n$EndComments\n"
      "$PhysicalNames\n2\n2 7 \"skin\"\n3 9 \"the body\"\n$EndPhysicalNames\n"
      "$Entities\n1 0 1 1\n1 0 0 0 0\n5 0 0 0 1 1 0 1 7 0\n3 0 0 0 1 1 1 1 9 1 5\n$EndEntities\n"
      "$Nodes\n2 11 3 40\n2 5 1 3\n3\n10\n20\n0 0 0 0.1 0.2\n1 0 0 0.3 0.4\n0 1 0 0.5 0.6\n"
      "3 3 0 8\n30\n40\n31\n32\n33\n34\n35\n36\n0 0 1\n9 9 9\n.5 0 0\n.5 .5 0\n0 .5 0\n0 0 .5\n0 .5 .5\n.5 0 "
      ".5\n"
      "$EndNodes\n"
      "$Elements\n3 3 1 3\n0 1 15 1\n1 3\n2 5 2 1\n2 3 10 20\n3 3 11 1\n3 3 10 20 30 31 32 33 34 35 "
      "36\n$EndElements\n";
  const TetrahedralMeshFile file = read_msh(text, kName);
  ASSERT_EQ(file.mesh.tetrahedra.size(), 1u);
  EXPECT_EQ(file.mesh.vertices.size(), 4u);
  EXPECT_NEAR(mesh::volume(file.mesh), 1.0 / 6, 1e-15);
  EXPECT_EQ(file.mesh.region_names, (std::vector<std::string>{"the body"}));
  // The notes list what is not in the result: two other elements, one quadratic, seven unused nodes.
  ASSERT_EQ(file.notes.size(), 3u);
  EXPECT_HAS(file.notes[0], "2 elements");
  EXPECT_HAS(file.notes[1], "1 tetrahedra of higher order");
  EXPECT_HAS(file.notes[2], "7 nodes");
}

std::string error_of(std::string_view bytes)
{
  try {
    static_cast<void>(read_msh(bytes, kName));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MshFile, ErrorNamesTheLineOrTheByte)
{
  const std::string head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
  EXPECT_HAS(error_of("solid"), "test.msh:1: found an unknown first line");
  EXPECT_HAS(error_of("$MeshFormat\n4 0 8\n$EndMeshFormat\n"), "found version 4, expected 2.2 or 4.1");
  EXPECT_HAS(error_of(head + "$Nodes\n4000000000\n"), ":5: found nodes 4000000000");
  EXPECT_HAS(error_of(head + "$Nodes\n1\n1 0 nan 0\n"), ":6: found \"nan\"");
  EXPECT_HAS(error_of(head + "$Nodes\n2\n1 0 0 0\n1 0 0 0\n$EndNodes\n"), "node 1 twice");
  EXPECT_HAS(
      error_of(head + "$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 2 0 1 1 1 1 5\n$EndElements\n"),
      ":10: found node number 5 in an element");
  EXPECT_HAS(error_of(head + "$Elements\n1\n"), "$Elements before $Nodes");
  EXPECT_HAS(error_of(head), "no section $Elements");
  EXPECT_HAS(error_of(head + "$Foo\n1\n"), "found the end of the file, expected \"$EndFoo\"");
  mesh::TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  const std::string binary = write_msh(mesh);
  EXPECT_HAS(error_of(std::string_view(binary).substr(0, 200)), "byte ");
}

TEST(TetrahedralMeshIo, WritesAndReadsFiles)
{
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "thrum_tetrahedral_io_test";
  std::filesystem::create_directories(folder);
  mesh::TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  write_tetrahedral_mesh(folder / "a.msh", mesh);
  EXPECT_EQ(read_tetrahedral_mesh(folder / "a.msh").tetrahedra, mesh.tetrahedra);
  write_tetrahedral_mesh(folder / "a.vtk", mesh);
  write_file_bytes(folder / "b.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
  write_file_bytes(folder / "b.ele", "1 4 0\n1 1 2 3 4\n");
  EXPECT_EQ(read_tetrahedral_mesh(folder / "b.ele").tetrahedra, mesh.tetrahedra);
  EXPECT_EQ(read_tetrahedral_mesh(folder / "b.node").vertices, mesh.vertices);
  EXPECT_THROW(write_tetrahedral_mesh(folder / "a.xyz", mesh), Error);
  mesh.tetrahedra[0][1] = 9;
  EXPECT_THROW(write_tetrahedral_mesh(folder / "c.msh", mesh), Error);
  std::filesystem::remove_all(folder);
}

TEST(VtkFile, HasTheSizesItDeclares)
{
  mesh::TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  mesh.regions = {0};
  const std::vector<double> values(12, 0.5);
  const std::vector<VtkField> fields = {{"mode 1", 3, values}};
  const std::string text = write_vtk(mesh, fields, FileEncoding::text);
  EXPECT_HAS(text, "POINTS 4 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n");
  EXPECT_HAS(text, "CELLS 1 5\n4 0 1 2 3\n");
  EXPECT_HAS(text, "CELL_TYPES 1\n10\n");
  EXPECT_HAS(text, "VECTORS mode_1 double\n0.5 0.5");
  // Binary: 24 bytes per point, 20 per cell, 4 per type.
  const std::string binary = write_vtk(mesh);
  const std::size_t points = binary.find("double\n") + 7;
  EXPECT_EQ(binary.find("\nCELLS"), points + 4 * 24);
  const std::vector<VtkField> wrong = {{"short", 1, std::span(values).first(3)}};
  EXPECT_THROW(static_cast<void>(write_vtk(mesh, wrong)), Error);
}

}  // namespace
}  // namespace thrum::mesh_io
