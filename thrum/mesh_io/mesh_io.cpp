// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/mesh_io.h"

#include <fmt/format.h>

#include "thrum/base/error.h"
#include "thrum/mesh_io/file_bytes.h"

namespace thrum::mesh_io {

MeshFormat detect_mesh_format(std::string_view bytes, const std::filesystem::path& name)
{
  // GLB and PLY are recognised by their first bytes, the others by the file extension.
  if (bytes.starts_with("glTF")) return MeshFormat::gltf;
  if (bytes.starts_with("ply\n") || bytes.starts_with("ply\r")) return MeshFormat::ply;
  const std::string ending = lower_extension(name);
  if (ending == ".obj") return MeshFormat::obj;
  if (ending == ".stl") return MeshFormat::stl;
  if (ending == ".ply") return MeshFormat::ply;
  if (ending == ".glb" || ending == ".gltf") return MeshFormat::gltf;
  throw InputError({name}, fmt::format("the file extension {}", quoted_text(ending)),
                   ".obj, .stl, .ply, .glb or .gltf");
}

MeshFile read_mesh_bytes(std::string_view bytes, MeshFormat format, const std::filesystem::path& name)
{
  switch (format) {
    case MeshFormat::obj:
      return read_obj(bytes, name);
    case MeshFormat::stl:
      return read_stl(bytes, name);
    case MeshFormat::ply:
      return read_ply(bytes, name);
    case MeshFormat::gltf:
      break;
  }
  return read_gltf(bytes, name, {});
}

MeshFile read_mesh_file(const std::filesystem::path& file)
{
  const FileBytes bytes(file);
  const MeshFormat format = detect_mesh_format(bytes.view(), file);
  if (format == MeshFormat::gltf) {
    const std::filesystem::path folder =
        file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    return read_gltf(bytes.view(), file, folder);
  }
  return read_mesh_bytes(bytes.view(), format, file);
}

mesh::TriangleMesh read_mesh(const std::filesystem::path& file)
{
  return read_mesh_file(file).mesh;
}

void write_mesh(const std::filesystem::path& file, const mesh::TriangleMesh& mesh)
{
  check_indices(mesh);
  const std::string ending = lower_extension(file);
  if (ending == ".obj") {
    write_file_bytes(file, write_obj(mesh));
  } else if (ending == ".stl") {
    write_file_bytes(file, write_stl(mesh));
  } else if (ending == ".ply") {
    write_file_bytes(file, write_ply(mesh));
  } else if (ending == ".glb") {
    write_file_bytes(file, write_glb(mesh, file.stem().string()));
  } else {
    throw Error(fmt::format("{} cannot be written: the file extension must be .obj, .stl, .ply or .glb.",
                            file.string()));
  }
}

}  // namespace thrum::mesh_io
