// SPDX-License-Identifier: MIT
// Tetrahedral meshes from and to files: reads Gmsh .msh 2.2 and 4.1 (text and binary) and TetGen .node/.ele,
// writes .msh and legacy VTK for ParaView. docs/formats.md lists what is read and what is skipped.
//
// Regions keep their names: a physical group of Gmsh, else "volume <tag>"; a region attribute of TetGen is
// "region <attribute>". Coordinates are metres. Tetrahedra with negative volume are flipped (TetGen uses the
// opposite orientation), quadratic ones are reduced to their four corners, nodes that no tetrahedron uses are
// removed; each of these is reported in `notes`.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::mesh_io {

struct TetrahedralMeshFile {
  mesh::TetrahedralMesh mesh;
  std::vector<std::string> notes;  ///< full sentences: what was flipped, removed or skipped
};

/// By the extension: .msh, or .node / .ele (either of the pair names both). Throws InputError with the line
/// or the byte.
[[nodiscard]] mesh::TetrahedralMesh read_tetrahedral_mesh(const std::filesystem::path& file);
[[nodiscard]] TetrahedralMeshFile read_tetrahedral_mesh_file(const std::filesystem::path& file);

/// By the extension: .msh (4.1, binary) or .vtk (binary).
void write_tetrahedral_mesh(const std::filesystem::path& file, const mesh::TetrahedralMesh& mesh);

// One function per format; they take and return bytes. Names are the file names in messages.

[[nodiscard]] TetrahedralMeshFile read_msh(std::string_view bytes, const std::filesystem::path& name);
[[nodiscard]] TetrahedralMeshFile read_tetgen(std::string_view node_bytes,
                                              const std::filesystem::path& node_name,
                                              std::string_view ele_bytes,
                                              const std::filesystem::path& ele_name);

enum class MshVersion { v2_2, v4_1 };
enum class FileEncoding { text, binary };
[[nodiscard]] std::string write_msh(const mesh::TetrahedralMesh& mesh, MshVersion version = MshVersion::v4_1,
                                    FileEncoding encoding = FileEncoding::binary);

/// Values at the vertices for display in ParaView: one (scalars) or three (vectors) per vertex.
struct VtkField {
  std::string name;              ///< without blanks
  int components = 1;            ///< 1 or 3
  std::span<const double> data;  ///< components * number of vertices, vertex by vertex
};
[[nodiscard]] std::string write_vtk(const mesh::TetrahedralMesh& mesh, std::span<const VtkField> fields = {},
                                    FileEncoding encoding = FileEncoding::binary);

}  // namespace thrum::mesh_io
