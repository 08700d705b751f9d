// SPDX-License-Identifier: MIT
// glTF 2.0, both as .glb and as .gltf with external or embedded buffers.
//
// Read with a reader of our own on nlohmann's JSON: tinygltf 2.7 overflows the stack on deeply nested
// "extras" (a file of 400 kB is enough), decodes images that are not needed, and is a shared library that the
// browser build does not have. It is used in the tests as an independent reader of the output of write_glb().
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh_io/file_bytes.h"
#include "thrum/mesh_io/gltf_buffers.h"
#include "thrum/mesh_io/mesh_io.h"

namespace thrum::mesh_io {

namespace {

using Json = nlohmann::json;
using Mat4 = Eigen::Matrix4d;

enum class PrimitiveMode {
  points = 0,
  lines,
  line_loop,
  line_strip,
  triangles,
  triangle_strip,
  triangle_fan
};

// The nodes of a file may use one mesh many times, so a small file can describe a big scene. Files with more
// than this many vertices and triangles, plus this many for each byte of the file, are rejected.
constexpr std::uint64_t kMaxInstances = 2'000'000;
constexpr std::uint64_t kInstancesPerByte = 4;

// glTF has y up, we have z up: (x, y, z) becomes (x, -z, y).
Vec3 z_up(const Vec3& p)
{
  return {p.x(), -p.z(), p.y()};
}

class GltfReader {
 public:
  GltfReader(GltfBuffers buffers, std::size_t file_bytes)
      : buffers_(std::move(buffers)), max_elements_(kMaxInstances + kInstancesPerByte * file_bytes)
  {
  }

  MeshFile read()
  {
    reject_unknown_extensions();
    const std::size_t nodes = buffers_.list("nodes").size();
    visited_.assign(nodes, false);
    if (nodes == 0) {
      // Meshes without a scene: add them without a transform.
      for (std::size_t i = 0; i < buffers_.list("meshes").size(); ++i) add_mesh(i, Mat4::Identity(), "");
    } else {
      for (const std::size_t root : root_nodes()) add_nodes_from(root);
    }
    if (skipped_primitives_ > 0) {
      file_.notes.push_back(
          fmt::format("{} primitives of points or lines were skipped.", skipped_primitives_));
    }
    if (!buffers_.list("skins").empty())
      file_.notes.emplace_back("Skins were skipped: the mesh is in its rest shape.");
    if (!buffers_.list("animations").empty()) file_.notes.emplace_back("Animations were skipped.");
    return std::move(file_);
  }

 private:
  void reject_unknown_extensions() const
  {
    for (const Json& entry : buffers_.list("extensionsRequired")) {
      const std::string name = entry.is_string() ? entry.get<std::string>() : "?";
      const bool is_appearance = name.starts_with("KHR_materials_") || name.starts_with("KHR_texture_") ||
                                 name.starts_with("EXT_texture_") || name == "KHR_lights_punctual";
      if (!is_appearance && name != "KHR_mesh_quantization") {
        buffers_.fail(fmt::format("the required extension {}", quoted_text(name)),
                      "a mesh without compression: export it again without this option");
      }
    }
  }

  // The roots of the chosen scene; without scenes, every node that is not a child.
  std::vector<std::size_t> root_nodes() const
  {
    std::vector<std::size_t> roots;
    const Json& scenes = buffers_.list("scenes");
    if (!scenes.empty()) {
      const auto chosen = buffers_.index(buffers_.root(), "scene", scenes.size(), 0);
      for (const Json& node : buffers_.list_in(scenes[*chosen], "nodes")) {
        roots.push_back(buffers_.checked_index(node, "node", visited_.size()));
      }
      return roots;
    }
    std::vector<bool> child(visited_.size(), false);
    for (const Json& node : buffers_.list("nodes")) {
      for (const Json& c : buffers_.list_in(node, "children"))
        child[buffers_.checked_index(c, "node", child.size())] = true;
    }
    for (std::size_t i = 0; i < child.size(); ++i) {
      if (!child[i]) roots.push_back(i);
    }
    return roots;
  }

  // Depth first with an explicit stack: a chain of a million nodes must not overflow the call stack.
  void add_nodes_from(std::size_t root)
  {
    struct Visit {
      std::size_t node;
      Mat4 to_world;
    };
    std::vector<Visit> open = {{root, Mat4::Identity()}};
    while (!open.empty()) {
      const Visit visit = open.back();
      open.pop_back();
      if (visited_[visit.node])
        buffers_.fail(fmt::format("node {} with two parents", visit.node), "a tree of nodes");
      visited_[visit.node] = true;
      const Json& node = buffers_.list("nodes")[visit.node];
      const Mat4 to_world = visit.to_world * local_transform(node);
      if (const auto mesh = buffers_.index(node, "mesh", buffers_.list("meshes").size())) {
        add_mesh(*mesh, to_world, buffers_.text(node, "name"));
      }
      const Json& children = buffers_.list_in(node, "children");
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        open.push_back({buffers_.checked_index(*child, "node", visited_.size()), to_world});
      }
    }
  }

  Mat4 local_transform(const Json& node) const
  {
    Mat4 m = Mat4::Identity();
    if (node.contains("matrix")) {
      const auto columns = buffers_.numbers<16>(node, "matrix", {});
      for (int i = 0; i < 16; ++i) m(i % 4, i / 4) = columns[at(i)];
      return m;
    }
    const auto t = buffers_.numbers<3>(node, "translation", {0, 0, 0});
    const auto r = buffers_.numbers<4>(node, "rotation", {0, 0, 0, 1});
    const auto s = buffers_.numbers<3>(node, "scale", {1, 1, 1});
    const Quat rotation = Quat(r[3], r[0], r[1], r[2]).normalized();
    m.topLeftCorner<3, 3>() = rotation.toRotationMatrix() * Vec3(s[0], s[1], s[2]).asDiagonal();
    m.topRightCorner<3, 1>() = Vec3(t[0], t[1], t[2]);
    return m;
  }

  void add_mesh(std::size_t number, const Mat4& to_world, std::string name)
  {
    const Json& mesh = buffers_.list("meshes")[number];
    if (name.empty()) name = buffers_.text(mesh, "name");
    if (name.empty()) name = fmt::format("mesh {}", number);
    const std::size_t before = file_.mesh.triangles.size();
    for (const Json& primitive : buffers_.list_in(mesh, "primitives")) add_primitive(primitive, to_world);
    if (file_.mesh.triangles.size() == before) return;
    file_.parts.resize(file_.mesh.triangles.size(), count_of(file_.part_names));
    file_.part_names.push_back(std::move(name));
  }

  void add_primitive(const Json& primitive, const Mat4& to_world)
  {
    const auto mode = static_cast<PrimitiveMode>(
        buffers_.index(primitive, "mode", 7, at(PrimitiveMode::triangles)).value());
    if (mode < PrimitiveMode::triangles) {
      ++skipped_primitives_;
      return;
    }
    if (primitive.contains("extensions") && primitive["extensions"].is_object() &&
        primitive["extensions"].contains("KHR_draco_mesh_compression")) {
      buffers_.fail("a primitive compressed with Draco",
                    "a mesh without compression: export it again without this option");
    }
    const Json attributes = primitive.value("attributes", Json::object());
    const auto position = buffers_.index(attributes, "POSITION", buffers_.list("accessors").size());
    if (!position) buffers_.fail("a primitive without POSITION", "the coordinates of its vertices");
    const Accessor points = buffers_.accessor(*position, 3);
    std::optional<Accessor> corners;
    if (const auto indices = buffers_.index(primitive, "indices", buffers_.list("accessors").size())) {
      corners = buffers_.accessor(*indices, 1);
      if (corners->floating) buffers_.fail("vertex indices of type float", "integers");
    }
    count_instances(points.count + (corners ? corners->count : points.count));
    const auto first = count_of(file_.mesh.vertices);
    add_points(points, to_world);
    add_triangles(mode, corners, points.count, first, to_world.topLeftCorner<3, 3>().determinant() < 0);
  }

  void count_instances(std::uint64_t more)
  {
    element_count_ += more;
    if (element_count_ > max_elements_) {
      buffers_.fail(fmt::format("nodes that repeat meshes to {} vertices and triangles", element_count_),
                    fmt::format("at most {} from a file of this size", max_elements_));
    }
  }

  void add_points(const Accessor& points, const Mat4& to_world)
  {
    file_.mesh.vertices.reserve(file_.mesh.vertices.size() + points.count);
    for (std::size_t i = 0; i < points.count; ++i) {
      const Vec3 p(points.value(i, 0), points.value(i, 1), points.value(i, 2));
      const Vec3 world = (to_world * p.homogeneous()).head<3>();
      if (!world.allFinite()) {
        buffers_.fail(fmt::format("a vertex at ({}, {}, {})", world.x(), world.y(), world.z()),
                      "finite coordinates");
      }
      file_.mesh.vertices.push_back(z_up(world));
    }
  }

  // Corners by number or, without indices, one after the other; as a list, a strip or a fan.
  void add_triangles(PrimitiveMode mode, const std::optional<Accessor>& corners, std::size_t points,
                     Index first, bool mirrored)
  {
    const std::size_t count = corners ? corners->count : points;
    const auto corner = [&](std::size_t i) {
      const double number = corners ? corners->value(i, 0) : static_cast<double>(i);
      if (!(number >= 0 && number < static_cast<double>(points))) {
        buffers_.fail(fmt::format("vertex number {} in a primitive", number),
                      fmt::format("0 to {}", points) + " (exclusive)");
      }
      return first + static_cast<Index>(number);
    };
    const auto add = [&](std::size_t a, std::size_t b, std::size_t c) {
      Triangle t = {corner(a), corner(b), corner(c)};
      // A transform that mirrors turns the mesh inside out; exchanging two corners of each triangle reverses
      // that.
      if (mirrored) std::swap(t[1], t[2]);
      file_.mesh.triangles.push_back(t);
    };
    if (mode == PrimitiveMode::triangles) {
      if (count % 3 != 0) buffers_.fail(fmt::format("{} corners of triangles", count), "a multiple of three");
      file_.mesh.triangles.reserve(file_.mesh.triangles.size() + count / 3);
      for (std::size_t i = 0; i < count; i += 3) add(i, i + 1, i + 2);
      return;
    }
    for (std::size_t i = 2; i < count; ++i) {
      if (mode == PrimitiveMode::triangle_fan) {
        add(0, i - 1, i);
      } else {
        add(i % 2 == 0 ? i - 2 : i - 1, i % 2 == 0 ? i - 1 : i - 2, i);
      }
    }
  }

  GltfBuffers buffers_;
  std::uint64_t max_elements_;
  std::uint64_t element_count_ = 0;
  std::size_t skipped_primitives_ = 0;
  std::vector<bool> visited_;
  MeshFile file_;
};

}  // namespace

MeshFile read_gltf(std::string_view bytes, const std::filesystem::path& name,
                   const std::filesystem::path& folder)
{
  GltfBuffers buffers(bytes, name, folder);
  const std::size_t size = buffers.total_bytes();
  return GltfReader(std::move(buffers), size).read();
}

std::string write_glb(const mesh::TriangleMesh& mesh, const std::string& name)
{
  check_indices(mesh);
  constexpr int kFloat = 5126;
  constexpr int kUnsignedInt = 5125;
  constexpr int kVertexBuffer = 34962;
  constexpr int kIndexBuffer = 34963;

  // Positions turned to y up, then indices; both are multiples of four bytes.
  std::string binary;
  binary.reserve(12 * (mesh.vertices.size() + mesh.triangles.size()));
  Eigen::Array3f low = Eigen::Array3f::Constant(std::numeric_limits<float>::max());
  Eigen::Array3f high = -low;
  for (const Vec3& v : mesh.vertices) {
    const Eigen::Array3f p = Vec3(v.x(), v.z(), -v.y()).cast<float>().array();
    if (!p.allFinite()) throw Error("A coordinate does not fit the 32-bit floats of GLB.");
    low = low.min(p);
    high = high.max(p);
    for (int k = 0; k < 3; ++k) base::append_bytes(binary, p[k]);
  }
  const std::size_t position_bytes = binary.size();
  for (const Triangle& t : mesh.triangles) {
    for (const Index v : t) base::append_bytes(binary, static_cast<std::uint32_t>(v));
  }

  Json root = {{"asset", {{"version", "2.0"}, {"generator", "thrum"}}},
               {"scene", 0},
               {"scenes", {{{"nodes", Json::array()}}}}};
  if (!mesh.triangles.empty()) {
    root["scenes"][0]["nodes"] = {0};
    root["nodes"] = {{{"mesh", 0}, {"name", name}}};
    root["meshes"] = {
        {{"name", name}, {"primitives", {{{"attributes", {{"POSITION", 0}}}, {"indices", 1}, {"mode", 4}}}}}};
    root["buffers"] = {{{"byteLength", binary.size()}}};
    root["bufferViews"] = {
        {{"buffer", 0}, {"byteOffset", 0}, {"byteLength", position_bytes}, {"target", kVertexBuffer}},
        {{"buffer", 0},
         {"byteOffset", position_bytes},
         {"byteLength", binary.size() - position_bytes},
         {"target", kIndexBuffer}}};
    root["accessors"] = {{{"bufferView", 0},
                          {"componentType", kFloat},
                          {"count", mesh.vertices.size()},
                          {"type", "VEC3"},
                          {"min", {low[0], low[1], low[2]}},
                          {"max", {high[0], high[1], high[2]}}},
                         {{"bufferView", 1},
                          {"componentType", kUnsignedInt},
                          {"count", 3 * mesh.triangles.size()},
                          {"type", "SCALAR"}}};
  } else {
    // A scene without nodes must leave the list out.
    root["scenes"][0].erase("nodes");
    root["scenes"][0]["name"] = name;
    binary.clear();
  }
  return glb_from_chunks(root.dump(), binary);
}

}  // namespace thrum::mesh_io
