// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/mesh_io.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <tiny_gltf.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numbers>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/mesh_io/file_bytes.h"

namespace thrum::mesh_io {
namespace {

const std::filesystem::path kName = "test file";

mesh::TriangleMesh tetrahedron_surface()
{
  mesh::TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  return mesh;
}

// Any finite doubles as coordinates, from the whole range of their bits; any triangles over them.
mesh::TriangleMesh any_mesh(bool as_float)
{
  mesh::TriangleMesh mesh;
  const auto coordinate = rc::gen::suchThat(
      rc::gen::oneOf(rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                                  [](std::int64_t bits) {
                                    double v;
                                    std::memcpy(&v, &bits, sizeof v);
                                    return v;
                                  }),
                     rc::gen::map(rc::gen::inRange(-100000, 100000), [](int v) { return v / 1000.0; })),
      [](double v) { return std::isfinite(v); });
  const std::size_t vertices = *rc::gen::inRange<std::size_t>(1, 40);
  for (std::size_t i = 0; i < vertices; ++i) {
    Vec3 p(*coordinate, *coordinate, *coordinate);
    if (as_float) {
      for (int k = 0; k < 3; ++k) {
        const double cut = std::clamp(p[k], -1e30, 1e30);
        p[k] = static_cast<double>(static_cast<float>(cut));
      }
    }
    mesh.vertices.push_back(p);
  }
  const std::size_t triangles = *rc::gen::inRange<std::size_t>(1, 60);
  const auto index = rc::gen::inRange<Index>(0, static_cast<Index>(vertices));
  for (std::size_t t = 0; t < triangles; ++t) mesh.triangles.push_back({*index, *index, *index});
  return mesh;
}

void expect_same(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b)
{
  RC_ASSERT(a.vertices == b.vertices);
  RC_ASSERT(a.triangles == b.triangles);
}

// Formats that share no vertices keep the corners of each triangle.
void expect_same_corners(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b)
{
  RC_ASSERT(a.triangles.size() == b.triangles.size());
  for (std::size_t t = 0; t < a.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) RC_ASSERT(a.corner(t, k) == b.corner(t, k));
  }
}

RC_GTEST_PROP(ObjFile, ReadsBackEveryBit, ())
{
  const mesh::TriangleMesh mesh = any_mesh(false);
  expect_same(read_obj(write_obj(mesh), kName).mesh, mesh);
}

RC_GTEST_PROP(PlyFile, ReadsBackEveryBitInEachEncoding, ())
{
  const mesh::TriangleMesh mesh = any_mesh(false);
  for (const auto encoding : {PlyEncoding::ascii, PlyEncoding::little_endian, PlyEncoding::big_endian}) {
    expect_same(read_ply(write_ply(mesh, encoding), kName).mesh, mesh);
  }
}

RC_GTEST_PROP(StlFile, ReadsBackTheCornersOfBothKinds, ())
{
  const mesh::TriangleMesh mesh = any_mesh(true);
  expect_same_corners(read_stl(write_stl(mesh), kName).mesh, mesh);
  expect_same_corners(read_stl(write_stl_ascii(mesh), kName).mesh, mesh);
}

RC_GTEST_PROP(GltfFile, ReadsBackFloats, ())
{
  const mesh::TriangleMesh mesh = any_mesh(true);
  expect_same(read_gltf(write_glb(mesh), kName, {}).mesh, mesh);
}

std::string error_of(MeshFormat format, std::string_view bytes)
{
  try {
    static_cast<void>(read_mesh_bytes(bytes, format, kName));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(ObjFile, ReadsNegativeIndicesTexturesGroupsAndContinuedLines)
{
  const MeshFile file = read_obj(
      "# comment\n\nmtllib a.mtl\nv 0 0 0 1.0\nv 1 0 0\r\nv 1 1 0 # corner\nv 0 1 0\nf -4 -3 -2\ng left "
      "side\n"
      "f 1/7/7 3//2 \\\n4/1\nusemtl x\nl 1 2\n",
      kName);
  ASSERT_EQ(file.mesh.triangles.size(), 2u);
  EXPECT_EQ(file.mesh.triangles[0], (Triangle{0, 1, 2}));
  EXPECT_EQ(file.mesh.triangles[1], (Triangle{0, 2, 3}));
  ASSERT_EQ(file.parts.size(), 2u);
  EXPECT_EQ(file.part_names[static_cast<std::size_t>(file.parts[0])], "default");
  EXPECT_EQ(file.part_names[static_cast<std::size_t>(file.parts[1])], "left side");
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_HAS(file.notes[0], "1 lines \"l\"");
}

TEST(ObjFile, ErrorNamesTheLine)
{
  EXPECT_HAS(error_of(MeshFormat::obj, "v 0 0 0\nf 1 2 3\n"),
             "test file:2: found vertex number 3, expected at most 1");
  EXPECT_HAS(error_of(MeshFormat::obj, "v 0 0 0\nf 0 1 1\n"), ":2: found vertex number 0");
  EXPECT_HAS(error_of(MeshFormat::obj, "v 0 0 0\nf -2 1 1\n"), ":2: found vertex number -2");
  EXPECT_HAS(error_of(MeshFormat::obj, "v 0 nan 0\n"), ":1: found \"nan\", expected the y of a vertex");
  EXPECT_HAS(error_of(MeshFormat::obj, "v 0 1e999 0\n"), ":1: found \"1e999\"");
  EXPECT_HAS(error_of(MeshFormat::obj, "v 0 0\n"), "found the end of the line");
  EXPECT_HAS(error_of(MeshFormat::obj, "v 0 0 0\nf 1 1\n"), "a face of 2 corners");
  EXPECT_HAS(error_of(MeshFormat::obj, "f 99999999999999999999 1 1\n"), "at most 18 digits");
  EXPECT_HAS(error_of(MeshFormat::obj, std::string_view("\x7f\x45LF\x02\0\0\n", 8)),
             "found the keyword \"\\x7fELF");
}

// A star of 2 n corners is concave at every second one; the triangles must cover exactly its area.
TEST(ObjFile, TriangulatesConcavePolygonsInsideTheirOutline)
{
  constexpr int kCorners = 80;
  std::string text;
  double twice_area = 0;
  std::vector<Vec3> star;
  for (int i = 0; i < kCorners; ++i) {
    const double r = i % 2 == 0 ? 1.0 : 0.4;
    const double angle = 2 * std::numbers::pi * i / kCorners;
    star.emplace_back(r * std::cos(angle), 0.5, -r * std::sin(angle));
  }
  std::string face = "f";
  for (int i = 0; i < kCorners; ++i) {
    text += fmt::format("v {} 0.5 {}\n", star[i].x(), star[i].z());
    face += fmt::format(" {}", i + 1);
  }
  const mesh::TriangleMesh mesh = read_obj(text + face + "\n", kName).mesh;
  ASSERT_EQ(mesh.triangles.size(), kCorners - 2u);
  for (int i = 0; i < kCorners; ++i) twice_area += star[i].cross(star[(i + 1) % kCorners]).y();
  // Every triangle has the orientation of the outline, and the areas sum up to that of the star: no overlap,
  // nothing outside.
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    EXPECT_GT(mesh::area_vector(mesh, t).y() * twice_area, 0);
    sum += mesh::area_vector(mesh, t).y();
  }
  EXPECT_NEAR(sum, twice_area, 1e-12);
}

TEST(StlFile, DetectsBinaryByLengthNotByItsFirstWord)
{
  const mesh::TriangleMesh mesh = tetrahedron_surface();
  std::string binary = write_stl(mesh);
  std::memcpy(binary.data(), "solid cube facet", 16);
  EXPECT_EQ(read_stl(binary, kName).mesh.vertices.size(), 4u);
  const std::string text =
      "solid a\nfacet normal nan nan nan\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 -0\n"
      "endloop\nendfacet\nendsolid a\nsolid b\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n"
      "vertex 0 1 0\nvertex -1 0 0\nendloop\nendfacet\nendsolid\n";
  const MeshFile two = read_stl(text, kName);
  EXPECT_EQ(two.mesh.vertices.size(), 4u);
  EXPECT_EQ(two.part_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(two.parts, (std::vector<Index>{0, 1}));
}

TEST(StlFile, RejectsTruncatedAndWrongFiles)
{
  const std::string binary = write_stl(tetrahedron_surface());
  EXPECT_HAS(error_of(MeshFormat::stl, std::string_view(binary).substr(0, 200)),
             "expected 4 triangles of 50 bytes");
  EXPECT_HAS(error_of(MeshFormat::stl, "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n"), ":4:");
  std::string nan = binary;
  const float bad = std::nanf("");
  std::memcpy(nan.data() + 84 + 12, &bad, 4);
  EXPECT_HAS(error_of(MeshFormat::stl, nan), "byte 84: found a corner (nan");
}

TEST(PlyFile, SkipsUnknownElementsAndProperties)
{
  const std::string text =
      "ply\nformat ascii 1.0\ncomment c\nobj_info o\nelement camera 2\nproperty list uchar float k\nproperty "
      "int n\n"
      "element vertex 4\nproperty float nx\nproperty float x\nproperty float y\nproperty float z\n"
      "property list int uchar extra\nelement face 1\nproperty uchar flag\nproperty list uint8 int32 "
      "vertex_index\n"
      "property list uchar float texcoord\nelement edge 1\nproperty int a\nproperty int b\nend_header\n"
      "2 1 2 5\n0 6\nnan 0 0 0 0\n1 1 0 0 1 7\n1 1 1 0 2 7 8\n1 0 1 0 0\n9 4 0 1 2 3 2 0.5 0.5\n0 1\n";
  const MeshFile file = read_ply(text, kName);
  EXPECT_EQ(file.mesh.vertices.size(), 4u);
  EXPECT_EQ(file.mesh.triangles.size(), 2u);
  EXPECT_NEAR(mesh::area(file.mesh), 1, 1e-15);
}

TEST(PlyFile, ReadsStrips)
{
  const MeshFile file = read_ply(
      "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
      "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n"
      "8 0 1 2 3 -1 3 2 1\n",
      kName);
  ASSERT_EQ(file.mesh.triangles.size(), 3u);
  EXPECT_GT(mesh::area_vector(file.mesh, 0).z(), 0);
  EXPECT_GT(mesh::area_vector(file.mesh, 1).z(), 0);
  EXPECT_EQ(file.mesh.triangles[2], (Triangle{3, 2, 1}));
}

TEST(PlyFile, RejectsHugeCountsBadIndicesAndNoise)
{
  const std::string head = "ply\nformat binary_little_endian 1.0\nelement vertex ";
  const std::string tail =
      "\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
      "property list uchar int vertex_indices\nend_header\n";
  EXPECT_HAS(error_of(MeshFormat::ply, head + "4000000000" + tail),
             "test file:3: found 4000000000 of \"vertex\"");
  EXPECT_HAS(error_of(MeshFormat::ply, head + "x" + tail), ":3: found \"x\"");
  EXPECT_HAS(error_of(MeshFormat::ply, "ply\nformat ascii 2\nelement vertex -1"), "a count of 0 or more");
  std::string bytes = head + "1" + tail;
  const std::size_t data = bytes.size();
  for (int k = 0; k < 3; ++k) base::append_bytes(bytes, 0.5f);
  base::append_bytes(bytes, std::uint8_t{3});
  for (int k = 0; k < 3; ++k) base::append_bytes(bytes, std::int32_t{k});
  EXPECT_HAS(error_of(MeshFormat::ply, bytes),
             "byte " + std::to_string(data + 12 + 1 + 8) + ": found vertex number 1");
  EXPECT_HAS(error_of(MeshFormat::ply,
                      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float "
                      "y\nproperty float z\nend_header\ninf 0 0\n"),
             "finite coordinates");
}

std::string gltf_with(const std::string& nodes, const std::string& more = "", const std::string& mode = "4",
                      int count = 4)
{
  // Three floats for each of four points: (0,0,0) (1,0,0) (0,1,0) (0,0,1), y up.
  std::string binary;
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) base::append_bytes(binary, i == k + 1 ? 1.0f : 0.0f);
  }
  for (const int i : {0, 1, 2, 3, 1, 2}) base::append_bytes(binary, static_cast<std::uint16_t>(i));
  std::string json =
      R"({"asset":{"version":"2.0"},"buffers":[{"byteLength":60,"uri":"data:application/octet-stream;base64,)";
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < binary.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | static_cast<unsigned char>(binary[i + k]);
    for (int k = 3; k >= 0; --k) json += kDigits[(bits >> (6 * k)) & 63];
  }
  json += R"("}],"bufferViews":[{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":12}],)"
          R"("accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},)"
          R"({"bufferView":1,"componentType":5123,"count":)" +
          std::to_string(count) +
          R"(,"type":"SCALAR"}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1,"mode":)" +
          mode + R"(}]}],"nodes":)" + nodes + more + "}";
  return json;
}

TEST(GltfFile, AppliesNodeTransformsAndConvertsToZUp)
{
  // A parent that moves up by 2 (y in the file, z here) and a child that doubles and mirrors x.
  const MeshFile file = read_gltf(
      gltf_with(R"([{"children":[1],"translation":[0,2,0]},{"mesh":0,"scale":[-2,1,1],"name":"wing"}])", "",
                "4", 3),
      kName, {});
  ASSERT_EQ(file.mesh.triangles.size(), 1u);
  EXPECT_EQ(file.mesh.vertices[0], Vec3(0, 0, 2));
  EXPECT_EQ(file.mesh.vertices[1], Vec3(-2, 0, 2));
  EXPECT_EQ(file.mesh.vertices[2], Vec3(0, 0, 3));
  EXPECT_EQ(file.mesh.vertices[3], Vec3(0, -1, 2));
  // Mirrored, so two corners are exchanged and the face keeps its direction.
  EXPECT_EQ(file.mesh.triangles[0], (Triangle{0, 2, 1}));
  EXPECT_EQ(file.part_names, (std::vector<std::string>{"wing"}));
}

TEST(GltfFile, ReadsStripsFansAndInstances)
{
  const MeshFile strip = read_gltf(gltf_with(R"([{"mesh":0}])", "", "5"), kName, {});
  EXPECT_EQ(strip.mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {2, 1, 3}}));
  const MeshFile fan = read_gltf(gltf_with(R"([{"mesh":0},{"mesh":0}])", "", "6"), kName, {});
  EXPECT_EQ(fan.mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {4, 5, 6}, {4, 6, 7}}));
  const MeshFile points = read_gltf(gltf_with(R"([{"mesh":0}])", "", "0"), kName, {});
  EXPECT_TRUE(points.mesh.triangles.empty());
  EXPECT_EQ(points.notes.size(), 1u);
}

TEST(GltfFile, RejectsUnsupportedFiles)
{
  const auto error = [](const std::string& text) {
    return error_of(MeshFormat::gltf, text);
  };
  EXPECT_HAS(error(gltf_with(R"([{"children":[1]},{"children":[0]}])", R"(,"scenes":[{"nodes":[0]}])")),
             "with two parents");
  EXPECT_HAS(error(gltf_with(R"([{"mesh":7}])")), "\"mesh\" 7");
  EXPECT_HAS(error(gltf_with(R"([{"mesh":0}])", "", "4", 400)), "accessor 1 of 400 elements");
  EXPECT_HAS(error(gltf_with(R"([{"mesh":0}])", "", "4", 4)), "a multiple of three");
  EXPECT_HAS(error(gltf_with("[]", R"(,"extensionsRequired":["KHR_draco_mesh_compression"])")),
             "without compression");
  EXPECT_HAS(error("{"), "invalid JSON");
  EXPECT_HAS(error(R"({"asset":{"version":"1.0"}})"), "glTF version \"1.0\"");
  EXPECT_HAS(error(R"({"asset":{"version":"2.0"},"buffers":[{"byteLength":4,"uri":"../secret.bin"}]})"),
             "the external buffer");
  // Very deep nesting in unused parts is accepted.
  const std::string deep =
      R"({"asset":{"version":"2.0"},"extras":)" + std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_EQ(error(deep), "no error");
  EXPECT_HAS(error(write_glb(tetrahedron_surface()).substr(0, 300)), "bytes, the length in its header");
}

TEST(GltfFile, TinygltfReadsItsFiles)
{
  const mesh::TriangleMesh mesh = tetrahedron_surface();
  const std::string bytes = write_glb(mesh, "body");
  tinygltf::TinyGLTF loader;
  tinygltf::Model model;
  std::string problem;
  std::string warning;
  ASSERT_TRUE(loader.LoadBinaryFromMemory(&model, &problem, &warning,
                                          reinterpret_cast<const unsigned char*>(bytes.data()),
                                          static_cast<unsigned>(bytes.size())))
      << problem;
  EXPECT_EQ(problem + warning, "");
  ASSERT_EQ(model.accessors.size(), 2u);
  EXPECT_EQ(model.accessors[0].count, 4u);
  EXPECT_EQ(model.accessors[1].count, 12u);
  EXPECT_EQ(model.accessors[0].minValues, (std::vector<double>{0, 0, -1}));
  EXPECT_EQ(model.nodes.at(0).name, "body");
}

TEST(MeshIo, WritesAndReadsFilesByExtensionAndContent)
{
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "thrum_mesh_io_test";
  std::filesystem::create_directories(folder);
  const mesh::TriangleMesh mesh = tetrahedron_surface();
  for (const char* name : {"a.obj", "b.STL", "c.ply", "d.glb"}) {
    write_mesh(folder / name, mesh);
    const mesh::TriangleMesh back = read_mesh(folder / name);
    EXPECT_EQ(back.triangles.size(), 4u) << name;
    EXPECT_DOUBLE_EQ(mesh::signed_volume(back), 1.0 / 6) << name;
  }
  // A PLY with another file extension.
  write_file_bytes(folder / "e.obj", write_ply(mesh));
  EXPECT_EQ(read_mesh(folder / "e.obj").triangles, mesh.triangles);
  EXPECT_THROW(write_mesh(folder / "f.xyz", mesh), Error);
  EXPECT_THROW(static_cast<void>(read_mesh(folder / "not there.obj")), InputError);
  EXPECT_THROW(static_cast<void>(read_mesh(folder)), InputError);
  mesh::TriangleMesh broken = mesh;
  broken.triangles[0][0] = 17;
  EXPECT_THROW(write_mesh(folder / "g.obj", broken), Error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace thrum::mesh_io
