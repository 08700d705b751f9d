// SPDX-License-Identifier: MIT
#include "tests/fuzz/readers.h"

#include <cstdio>
#include <cstdlib>

#include "thrum/base/error.h"
#include "thrum/geometry/mesh_io.h"
#include "thrum/geometry/tetrahedral_mesh_io.h"

namespace thrum::fuzz {

namespace {

void must(bool condition, const char* what)
{
  if (condition) return;
  std::fprintf(stderr, "unsound result: %s\n", what);
  std::abort();
}

void check(const geometry::MeshFile& file)
{
  geometry::check_indices(file.mesh);
  must(file.parts.empty() || file.parts.size() == file.mesh.triangles.size(), "a part per triangle");
  for (const Index p : file.parts)
    must(p >= 0 && static_cast<std::size_t>(p) < file.part_names.size(), "part");
}

void check(const geometry::TetrahedralMeshFile& file)
{
  const geometry::TetrahedralMesh& mesh = file.mesh;
  for (const Tetrahedron& t : mesh.tetrahedra) {
    for (const Index v : t) must(v >= 0 && static_cast<std::size_t>(v) < mesh.vertices.size(), "corner");
  }
  for (const Vec3& p : mesh.vertices) must(p.allFinite(), "finite");
  must(mesh.regions.empty() || mesh.regions.size() == mesh.tetrahedra.size(), "a region per tetrahedron");
  for (const Index r : mesh.regions)
    must(r >= 0 && static_cast<std::size_t>(r) < mesh.region_names.size(), "region");
}

// Two files in one: TetGen's are parted by a line "%".
void check_tetgen(std::string_view bytes)
{
  const std::size_t cut = bytes.find("%\n");
  const std::string_view node = bytes.substr(0, cut);
  const std::string_view ele = cut == std::string_view::npos ? std::string_view() : bytes.substr(cut + 2);
  check(geometry::read_tetgen(node, "fuzz.node", ele, "fuzz.ele"));
}

}  // namespace

bool read_and_check(std::string_view reader, std::string_view bytes)
{
  try {
    if (reader == "msh") {
      check(geometry::read_msh(bytes, "fuzz.msh"));
    } else if (reader == "tetgen") {
      check_tetgen(bytes);
    } else if (reader == "gltf") {
      check(geometry::read_gltf(bytes, "fuzz.glb", {}));
    } else if (reader == "obj") {
      check(geometry::read_obj(bytes, "fuzz.obj"));
    } else if (reader == "ply") {
      check(geometry::read_ply(bytes, "fuzz.ply"));
    } else if (reader == "stl") {
      check(geometry::read_stl(bytes, "fuzz.stl"));
    } else {
      must(false, "no such reader");
    }
  } catch (const InputError& error) {
    // The message must fit a line of a terminal or two, whatever the file holds.
    constexpr std::size_t kLongestMessage = 600;
    must(std::string_view(error.what()).size() < kLongestMessage, "a short message");
    return false;
  }
  return true;
}

}  // namespace thrum::fuzz
