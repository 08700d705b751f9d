// SPDX-License-Identifier: MIT
// Triangle meshes from and to files: OBJ, STL, PLY, GLB and glTF. docs/formats.md lists what is read and what
// is skipped.
//
//   const TriangleMesh cup = read_mesh("cup.obj");
//   write_mesh("cup.glb", cup);
//
// Coordinates are taken as metres, z up; only glTF has a convention of its own (y up) and is rotated. Readers
// change nothing else: repair.h welds, orients and drops faces. What a file contains beyond triangles is
// skipped and listed in `notes`. An invalid file throws InputError with the line or byte.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh_io {

enum class MeshFormat { obj, stl, ply, gltf };  ///< gltf is both .glb and .gltf

/// The contents of a mesh file.
struct MeshFile {
  mesh::TriangleMesh mesh;
  std::vector<Index> parts;  ///< per triangle, an index into part_names; empty: one part without a name
  std::vector<std::string> part_names;  ///< OBJ groups and objects, STL solids, glTF nodes
  std::vector<std::string> notes;       ///< full sentences: what was skipped or merged
};

/// Detects the format by content and file extension.
[[nodiscard]] mesh::TriangleMesh read_mesh(const std::filesystem::path& file);
[[nodiscard]] MeshFile read_mesh_file(const std::filesystem::path& file);

/// Reads from memory; `name` is the file name in messages. A glTF must have its buffers embedded.
[[nodiscard]] MeshFile read_mesh_bytes(std::string_view bytes, MeshFormat format,
                                       const std::filesystem::path& name);

/// The format by content or, where that is not conclusive, by file extension; throws InputError.
[[nodiscard]] MeshFormat detect_mesh_format(std::string_view bytes, const std::filesystem::path& name);

/// Chooses the format by the extension: .obj, .stl (binary), .ply (binary), .glb. OBJ and PLY keep every
/// digit; STL and GLB store 32-bit floats. Throws Error when the mesh has an invalid index or the file cannot
/// be written.
void write_mesh(const std::filesystem::path& file, const mesh::TriangleMesh& mesh);

// One function per format; they take and return the bytes of a file.

[[nodiscard]] MeshFile read_obj(std::string_view bytes, const std::filesystem::path& name);
[[nodiscard]] std::string write_obj(const mesh::TriangleMesh& mesh);

[[nodiscard]] MeshFile read_stl(std::string_view bytes, const std::filesystem::path& name);
[[nodiscard]] std::string write_stl(const mesh::TriangleMesh& mesh);  ///< binary
[[nodiscard]] std::string write_stl_ascii(const mesh::TriangleMesh& mesh);

enum class PlyEncoding { ascii, little_endian, big_endian };
[[nodiscard]] MeshFile read_ply(std::string_view bytes, const std::filesystem::path& name);
[[nodiscard]] std::string write_ply(const mesh::TriangleMesh& mesh,
                                    PlyEncoding encoding = PlyEncoding::little_endian);

/// `folder` contains the external buffers of a .gltf; empty: external buffers are rejected.
[[nodiscard]] MeshFile read_gltf(std::string_view bytes, const std::filesystem::path& name,
                                 const std::filesystem::path& folder);
[[nodiscard]] std::string write_glb(const mesh::TriangleMesh& mesh, const std::string& name = "mesh");

}  // namespace thrum::mesh_io
