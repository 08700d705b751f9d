// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/tetrahedral_mesh_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh_io/file_bytes.h"
#include "thrum/mesh_io/tetrahedral_file_builder.h"
#include "thrum/mesh_io/text_scanner.h"

namespace thrum::mesh_io {

namespace {

// TetGen's files: a line of counts, then one line per item; "#" begins a comment; numbering from 0 or from 1.
void read_node_file(std::string_view bytes, const std::filesystem::path& name,
                    TetrahedralFileBuilder& builder)
{
  TextScanner scan(bytes, name);
  scan.skip_space('#');
  const std::size_t count = scan.next_count("nodes", 8);
  const std::int64_t dimension = scan.integer("the dimension");
  if (dimension != 3) scan.fail(fmt::format("dimension {}", dimension), "3");
  scan.next_line();
  builder.reserve_nodes(count);
  for (std::size_t i = 0; i < count; ++i) {
    scan.skip_space('#');
    const std::int64_t tag = scan.integer("a node number");
    Vec3 p;
    p.x() = scan.number("the x of a node");
    p.y() = scan.number("the y of a node");
    p.z() = scan.number("the z of a node");
    builder.add_node(tag, p);
    // Attributes and a boundary mark may follow.
    scan.next_line();
  }
  if (const auto twice = builder.close_nodes())
    scan.fail(fmt::format("node {} twice", *twice), "each node once");
}

void read_ele_file(std::string_view bytes, const std::filesystem::path& name, TetrahedralFileBuilder& builder)
{
  TextScanner scan(bytes, name);
  scan.skip_space('#');
  const std::size_t count = scan.next_count("tetrahedra", 10);
  const std::int64_t nodes = scan.integer("the nodes of a tetrahedron");
  if (nodes != 4 && nodes != 10) scan.fail(fmt::format("{} nodes in a tetrahedron", nodes), "4 or 10");
  const std::int64_t attributes = scan.at_line_end() ? 0 : scan.integer("the number of attributes");
  scan.next_line();
  builder.reserve_tetrahedra(count);
  for (std::size_t i = 0; i < count; ++i) {
    scan.skip_space('#');
    static_cast<void>(scan.integer("the number of a tetrahedron"));
    Tetrahedron corners{};
    for (std::int64_t k = 0; k < nodes; ++k) {
      const std::int64_t tag = scan.integer("a node number");
      const auto vertex = builder.vertex(tag);
      if (!vertex) scan.fail(fmt::format("node number {}", tag), "a node of the .node file");
      if (k < 4) corners[at(k)] = *vertex;
    }
    RegionTag region;
    if (attributes > 0)
      region = {RegionTag::Kind::attribute, std::llround(std::clamp(scan.number("a region"), -1e15, 1e15))};
    builder.add_tetrahedron(corners, region);
    scan.next_line();
  }
  if (nodes == 10)
    builder.note(fmt::format("{} quadratic tetrahedra were reduced to their four corners.", count));
}

// One array of legacy VTK: big-endian bytes or text.
template <class T>
void append_value(std::string& out, T value, FileEncoding encoding)
{
  if (encoding == FileEncoding::binary) {
    base::append_bytes(out, value, base::ByteOrder::big);
  } else {
    fmt::format_to(std::back_inserter(out), "{} ", value);
  }
}

void end_line(std::string& out, FileEncoding encoding)
{
  if (encoding == FileEncoding::text && out.back() == ' ') out.pop_back();
  out += '\n';
}

void append_field(std::string& out, const VtkField& field, std::size_t vertices, FileEncoding encoding)
{
  const bool vector = field.components == 3;
  if ((field.components != 1 && !vector) || field.data.size() != vertices * at(field.components)) {
    throw Error(fmt::format(
        "The field \"{}\" has {} numbers, {} per vertex, for {} vertices; expected 1 or 3 per vertex.",
        field.name, field.data.size(), field.components, vertices));
  }
  std::string name = field.name.empty() ? "field" : field.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  out += vector ? fmt::format("VECTORS {} double\n", name)
                : fmt::format("SCALARS {} double 1\nLOOKUP_TABLE default\n", name);
  for (const double value : field.data) append_value(out, value, encoding);
  end_line(out, encoding);
}

}  // namespace

TetrahedralMeshFile read_tetgen(std::string_view node_bytes, const std::filesystem::path& node_name,
                                std::string_view ele_bytes, const std::filesystem::path& ele_name)
{
  TetrahedralFileBuilder builder;
  read_node_file(node_bytes, node_name, builder);
  read_ele_file(ele_bytes, ele_name, builder);
  return builder.finish();
}

TetrahedralMeshFile read_tetrahedral_mesh_file(const std::filesystem::path& file)
{
  const std::string ending = lower_extension(file);
  if (ending == ".msh") {
    const FileBytes bytes(file);
    return read_msh(bytes.view(), file);
  }
  if (ending == ".node" || ending == ".ele") {
    std::filesystem::path node = file;
    std::filesystem::path ele = file;
    node.replace_extension(".node");
    ele.replace_extension(".ele");
    const FileBytes node_bytes(node);
    const FileBytes ele_bytes(ele);
    return read_tetgen(node_bytes.view(), node, ele_bytes.view(), ele);
  }
  throw InputError({file}, fmt::format("the file extension {}", quoted_text(ending)), ".msh, .node or .ele");
}

mesh::TetrahedralMesh read_tetrahedral_mesh(const std::filesystem::path& file)
{
  return read_tetrahedral_mesh_file(file).mesh;
}

void write_tetrahedral_mesh(const std::filesystem::path& file, const mesh::TetrahedralMesh& mesh)
{
  const std::string ending = lower_extension(file);
  if (ending == ".msh") {
    write_file_bytes(file, write_msh(mesh));
  } else if (ending == ".vtk") {
    write_file_bytes(file, write_vtk(mesh));
  } else {
    throw Error(fmt::format("{} cannot be written: the file extension must be .msh or .vtk.", file.string()));
  }
}

std::string write_vtk(const mesh::TetrahedralMesh& mesh, std::span<const VtkField> fields,
                      FileEncoding encoding)
{
  constexpr std::int32_t kVtkTetrahedron = 10;
  const std::size_t vertices = mesh.vertices.size();
  const std::size_t cells = mesh.tetrahedra.size();
  std::string out = fmt::format(
      "# vtk DataFile Version 3.0\ntetrahedra, metres\n{}\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
      encoding == FileEncoding::binary ? "BINARY" : "ASCII", vertices);
  for (const Vec3& p : mesh.vertices) {
    for (int k = 0; k < 3; ++k) append_value(out, p[k], encoding);
    if (encoding == FileEncoding::text) end_line(out, encoding);
  }
  out += fmt::format("\nCELLS {} {}\n", cells, 5 * cells);
  for (const Tetrahedron& t : mesh.tetrahedra) {
    append_value(out, std::int32_t{4}, encoding);
    for (const Index v : t) append_value(out, v, encoding);
    if (encoding == FileEncoding::text) end_line(out, encoding);
  }
  out += fmt::format("\nCELL_TYPES {}\n", cells);
  for (std::size_t t = 0; t < cells; ++t) append_value(out, kVtkTetrahedron, encoding);
  end_line(out, encoding);
  if (mesh.regions.size() == cells && cells > 0) {
    out += fmt::format("CELL_DATA {}\nSCALARS region int 1\nLOOKUP_TABLE default\n", cells);
    for (const Index r : mesh.regions) append_value(out, r, encoding);
    end_line(out, encoding);
  }
  if (!fields.empty()) out += fmt::format("POINT_DATA {}\n", vertices);
  for (const VtkField& field : fields) append_field(out, field, vertices, encoding);
  return out;
}

}  // namespace thrum::mesh_io
