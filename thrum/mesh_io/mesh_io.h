// SPDX-License-Identifier: MIT
// Triangle meshes from and to files: OBJ, STL, PLY, GLB and glTF. docs/formats.md says what of each is read
// and what is skipped.
//
//   const TriangleMesh cup = read_mesh("cup.obj");
//   write_mesh("cup.glb", cup);
//
// Coordinates are taken as metres, z up; only glTF has a convention of its own (y up) and is turned. Readers
// change nothing else: welding, orienting and dropping faces is repair.h's work. What a file holds beyond
// triangles is skipped and said in `notes`. A file that is not what it should be throws InputError with
// its line or byte.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh_io {

enum class MeshFormat { obj, stl, ply, gltf };  ///< gltf is both .glb and .gltf

/// What a mesh file holds.
struct MeshFile {
  mesh::TriangleMesh mesh;
  std::vector<Index> parts;  ///< per triangle, an index into part_names; empty: one part without a name
  std::vector<std::string> part_names;  ///< OBJ groups and objects, STL solids, glTF nodes
  std::vector<std::string> notes;       ///< full sentences: what was skipped or joined
};

/// Reads by content and ending.
[[nodiscard]] mesh::TriangleMesh read_mesh(const std::filesystem::path& file);
[[nodiscard]] MeshFile read_mesh_file(const std::filesystem::path& file);

/// Reads from memory; `name` stands for the file in messages. A glTF here must hold its buffers itself.
[[nodiscard]] MeshFile read_mesh_bytes(std::string_view bytes, MeshFormat format,
                                       const std::filesystem::path& name);

/// The format that the content and, where that says nothing, the ending of the name point to; throws
/// InputError.
[[nodiscard]] MeshFormat detect_mesh_format(std::string_view bytes, const std::filesystem::path& name);

/// Writes by the ending: .obj, .stl (binary), .ply (binary), .glb. OBJ and PLY keep every digit; STL and GLB
/// hold 32-bit floats. Throws Error when the mesh has a bad index or the file cannot be written.
void write_mesh(const std::filesystem::path& file, const mesh::TriangleMesh& mesh);

// The formats one by one; the bytes of a file in, the bytes of a file out.

[[nodiscard]] MeshFile read_obj(std::string_view bytes, const std::filesystem::path& name);
[[nodiscard]] std::string write_obj(const mesh::TriangleMesh& mesh);

[[nodiscard]] MeshFile read_stl(std::string_view bytes, const std::filesystem::path& name);
[[nodiscard]] std::string write_stl(const mesh::TriangleMesh& mesh);  ///< binary
[[nodiscard]] std::string write_stl_ascii(const mesh::TriangleMesh& mesh);

enum class PlyEncoding { ascii, little_endian, big_endian };
[[nodiscard]] MeshFile read_ply(std::string_view bytes, const std::filesystem::path& name);
[[nodiscard]] std::string write_ply(const mesh::TriangleMesh& mesh,
                                    PlyEncoding encoding = PlyEncoding::little_endian);

/// `folder` is where the buffers of a .gltf lie; empty: it may have none outside itself.
[[nodiscard]] MeshFile read_gltf(std::string_view bytes, const std::filesystem::path& name,
                                 const std::filesystem::path& folder);
[[nodiscard]] std::string write_glb(const mesh::TriangleMesh& mesh, const std::string& name = "mesh");

}  // namespace thrum::mesh_io
