// SPDX-License-Identifier: MIT
// Writing Gmsh .msh 2.2 and 4.1. Region r becomes physical group and volume r + 1.
#include <fmt/format.h>

#include <cstdint>
#include <iterator>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh_io/tetrahedral_mesh_io.h"

namespace thrum::mesh_io {

namespace {

constexpr int kTetrahedron = 4;

// Numbers as text with blanks or as bytes; a line end only where text has one.
class MshWriter {
 public:
  explicit MshWriter(FileEncoding encoding) : binary_(encoding == FileEncoding::binary) {}

  void text(std::string_view text) { out_ += text; }
  void integer(std::int32_t value)
  {
    if (binary_) {
      base::append_bytes(out_, value);
    } else {
      fmt::format_to(std::back_inserter(out_), "{} ", value);
    }
  }
  void tag(std::size_t value)
  {
    if (binary_) {
      base::append_bytes(out_, static_cast<std::uint64_t>(value));
    } else {
      fmt::format_to(std::back_inserter(out_), "{} ", value);
    }
  }
  void real(double value)
  {
    if (binary_) {
      base::append_bytes(out_, value);
    } else {
      fmt::format_to(std::back_inserter(out_), "{} ", value);
    }
  }
  void line()
  {
    if (binary_) return;
    if (!out_.empty() && out_.back() == ' ') out_.pop_back();
    out_ += '\n';
  }
  void end(std::string_view section)
  {
    if (binary_) out_ += '\n';
    out_ += section;
    out_ += '\n';
  }
  [[nodiscard]] bool binary() const { return binary_; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  bool binary_;
  std::string out_;
};

std::size_t region_count(const mesh::TetrahedralMesh& mesh)
{
  std::size_t count = mesh.region_names.size();
  for (const Index r : mesh.regions) count = std::max(count, at(r) + 1);
  return std::max<std::size_t>(count, 1);
}

std::size_t region_of(const mesh::TetrahedralMesh& mesh, std::size_t tetrahedron)
{
  return mesh.regions.empty() ? 0 : at(mesh.regions[tetrahedron]);
}

void check(const mesh::TetrahedralMesh& mesh)
{
  const auto vertices = count_of(mesh.vertices);
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    for (const Index v : mesh.tetrahedra[t]) {
      if (v < 0 || v >= vertices) {
        throw Error(
            fmt::format("Tetrahedron {} names vertex {}, but the mesh has {} vertices.", t, v, vertices));
      }
    }
  }
  if (!mesh.regions.empty() && mesh.regions.size() != mesh.tetrahedra.size()) {
    throw Error(fmt::format("The mesh has {} regions for {} tetrahedra.", mesh.regions.size(),
                            mesh.tetrahedra.size()));
  }
  for (const Index r : mesh.regions) {
    if (r < 0) throw Error(fmt::format("A tetrahedron is in region {}; regions count from 0.", r));
  }
}

void write_names(MshWriter& out, const mesh::TetrahedralMesh& mesh)
{
  if (mesh.region_names.empty()) return;
  out.text(fmt::format("$PhysicalNames\n{}\n", mesh.region_names.size()));
  for (std::size_t r = 0; r < mesh.region_names.size(); ++r) {
    // A quote or a line end in a name would end it early.
    std::string name = mesh.region_names[r];
    for (char& c : name) {
      if (c == '"' || c == '\n' || c == '\r') c = '\'';
    }
    out.text(fmt::format("3 {} \"{}\"\n", r + 1, name));
  }
  out.text("$EndPhysicalNames\n");
}

void write_v2(MshWriter& out, const mesh::TetrahedralMesh& mesh)
{
  out.text(fmt::format("$Nodes\n{}\n", mesh.vertices.size()));
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    out.integer(static_cast<std::int32_t>(v + 1));
    for (int k = 0; k < 3; ++k) out.real(mesh.vertices[v][k]);
    out.line();
  }
  out.end("$EndNodes");
  out.text(fmt::format("$Elements\n{}\n", mesh.tetrahedra.size()));
  if (out.binary() && !mesh.tetrahedra.empty()) {
    out.integer(kTetrahedron);
    out.integer(static_cast<std::int32_t>(mesh.tetrahedra.size()));
    out.integer(2);
  }
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    out.integer(static_cast<std::int32_t>(t + 1));
    if (!out.binary()) {
      out.integer(kTetrahedron);
      out.integer(2);
    }
    const auto region = static_cast<std::int32_t>(region_of(mesh, t) + 1);
    out.integer(mesh.regions.empty() ? 0 : region);
    out.integer(region);
    for (const Index v : mesh.tetrahedra[t]) out.integer(v + 1);
    out.line();
  }
  out.end("$EndElements");
}

void write_entities_v4(MshWriter& out, const mesh::TetrahedralMesh& mesh)
{
  Box3 box;
  for (const Vec3& v : mesh.vertices) box.extend(v);
  if (box.isEmpty()) box.extend(Vec3(0, 0, 0));
  out.text("$Entities\n");
  for (const std::size_t count : {std::size_t{0}, std::size_t{0}, std::size_t{0}, region_count(mesh)})
    out.tag(count);
  out.line();
  for (std::size_t r = 0; r < region_count(mesh); ++r) {
    out.integer(static_cast<std::int32_t>(r + 1));
    for (int k = 0; k < 3; ++k) out.real(box.min()[k]);
    for (int k = 0; k < 3; ++k) out.real(box.max()[k]);
    out.tag(mesh.regions.empty() ? 0 : 1);
    if (!mesh.regions.empty()) out.integer(static_cast<std::int32_t>(r + 1));
    out.tag(0);
    out.line();
  }
  out.end("$EndEntities");
}

void write_nodes_v4(MshWriter& out, const mesh::TetrahedralMesh& mesh)
{
  const std::size_t nodes = mesh.vertices.size();
  out.text("$Nodes\n");
  for (const std::size_t value : {std::size_t{1}, nodes, std::size_t{1}, nodes}) out.tag(value);
  out.line();
  out.integer(3);
  out.integer(1);
  out.integer(0);
  out.tag(nodes);
  out.line();
  for (std::size_t v = 0; v < nodes; ++v) {
    out.tag(v + 1);
    out.line();
  }
  for (const Vec3& p : mesh.vertices) {
    for (int k = 0; k < 3; ++k) out.real(p[k]);
    out.line();
  }
  out.end("$EndNodes");
}

// A block for every run of tetrahedra of one region, so that their order is kept.
void write_elements_v4(MshWriter& out, const mesh::TetrahedralMesh& mesh)
{
  const std::size_t count = mesh.tetrahedra.size();
  std::vector<std::size_t> starts;
  for (std::size_t t = 0; t < count; ++t) {
    if (t == 0 || region_of(mesh, t) != region_of(mesh, t - 1)) starts.push_back(t);
  }
  out.text("$Elements\n");
  for (const std::size_t value : {starts.size(), count, std::size_t{1}, count}) out.tag(value);
  out.line();
  for (std::size_t b = 0; b < starts.size(); ++b) {
    const std::size_t end = b + 1 < starts.size() ? starts[b + 1] : count;
    out.integer(3);
    out.integer(static_cast<std::int32_t>(region_of(mesh, starts[b]) + 1));
    out.integer(kTetrahedron);
    out.tag(end - starts[b]);
    out.line();
    for (std::size_t t = starts[b]; t < end; ++t) {
      out.tag(t + 1);
      for (const Index v : mesh.tetrahedra[t]) out.tag(at(v) + 1);
      out.line();
    }
  }
  out.end("$EndElements");
}

}  // namespace

std::string write_msh(const mesh::TetrahedralMesh& mesh, MshVersion version, FileEncoding encoding)
{
  check(mesh);
  MshWriter out(encoding);
  out.text(fmt::format("$MeshFormat\n{} {} 8\n", version == MshVersion::v4_1 ? "4.1" : "2.2",
                       out.binary() ? 1 : 0));
  if (out.binary()) {
    out.integer(1);
    out.text("\n");
  }
  out.text("$EndMeshFormat\n");
  write_names(out, mesh);
  if (version == MshVersion::v2_2) {
    write_v2(out, mesh);
  } else {
    write_entities_v4(out, mesh);
    write_nodes_v4(out, mesh);
    write_elements_v4(out, mesh);
  }
  return out.take();
}

}  // namespace thrum::mesh_io
