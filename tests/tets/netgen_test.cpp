// SPDX-License-Identifier: MIT
// Netgen as a child process, where it is installed and where it is not. What a program of that name does is
// played by scripts, so that the tests are the same on every machine.
#include "thrum/tets/netgen.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "tests/base/scratch_folder.h"
#include "thrum/shapes/shapes.h"

namespace thrum::tets {
namespace {

// PATH for the time of a test.
class PathOf {
 public:
  explicit PathOf(const std::string& path) : before_(std::getenv("PATH"))
  {
    ::setenv("PATH", path.c_str(), 1);
  }
  ~PathOf() { ::setenv("PATH", before_.c_str(), 1); }
  PathOf(const PathOf&) = delete;
  PathOf& operator=(const PathOf&) = delete;

 private:
  std::string before_;
};

void write_program(const std::filesystem::path& folder, const std::string& script)
{
  const std::filesystem::path file = folder / "netgen";
  std::ofstream(file) << "#!/bin/sh\n" << script;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

std::string failure(const NetgenDesc& desc)
{
  try {
    (void)tetrahedralise_with_netgen(shapes::generate(shapes::BoxDesc{.size = {0.2, 0.1, 0.1}}), desc);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Netgen, IsNamedWithThePackageWhenItIsNotInstalled)
{
  const base::ScratchFolder empty;
  const PathOf path(empty.path().string());
  EXPECT_TRUE(find_netgen().empty());
  const std::string text = failure({.edge = 0.05});
  EXPECT_NE(text.find("Netgen is not installed"), std::string::npos) << text;
  EXPECT_NE(text.find("apt install netgen"), std::string::npos) << text;
}

// The program sees the surface with a length of 1000 and the edge in the same units, and its answer comes
// back in metres and in place, with the flat tetrahedron left out and all others positive.
TEST(Netgen, GetsUnitsThatSuitItAndIsReadBack)
{
  const base::ScratchFolder folder;
  write_program(folder.path(),
                "[ \"$1\" = -batchmode ] || exit 3\n"
                "/bin/grep -q 'options.meshsize 250' ng.opt || exit 4\n"
                "/bin/grep -q 'vertex 1000' body.stl || exit 5\n"
                "/bin/cat > body.msh <<'END'\n"
                "$MeshFormat\n2.0 0 8\n$EndMeshFormat\n$Nodes\n6\n"
                "1 0 0 0\n2 1000 0 0\n3 0 500 0\n4 0 0 500\n5 500 0 0\n6 1 1 1\n$EndNodes\n"
                "$Elements\n3\n1 2 2 0 1 1 2 3\n2 4 2 0 1 1 3 2 4\n3 4 2 0 1 1 2 5 3\n$EndElements\nEND\n");
  const PathOf path(folder.path().string());
  ASSERT_FALSE(find_netgen().empty());
  mesh::TriangleMesh surface = shapes::generate(shapes::BoxDesc{.size = {0.2, 0.1, 0.1}});
  const mesh::TetrahedralMesh mesh = tetrahedralise_with_netgen(surface, {.edge = 0.05});
  ASSERT_EQ(mesh.tetrahedra.size(), 1U);
  EXPECT_EQ(mesh.vertices.size(), 4U);
  EXPECT_NEAR(mesh::volume(mesh), 0.2 * 0.1 * 0.1 / 6, 1e-12);
  EXPECT_LT((mesh.vertices[0] - Vec3(-0.1, -0.05, -0.05)).norm(), 1e-12);
}

// Debian's program asks the loader for libgui.so, which lies in lib/<machine>/netgen beside its own folder.
TEST(Netgen, FindsItsLibrariesBesideIt)
{
  const base::ScratchFolder folder;
  const std::filesystem::path libraries = folder.path() / "lib" / "machine" / "netgen";
  std::filesystem::create_directories(folder.path() / "bin");
  std::filesystem::create_directories(libraries);
  std::ofstream(libraries / "libgui.so") << "";
  write_program(folder.path() / "bin", "echo \"libraries: $LD_LIBRARY_PATH\"\nexit 1\n");
  const PathOf path((folder.path() / "bin").string());
  const std::string text = failure({.edge = 0.05});
  EXPECT_NE(text.find("libraries: "), std::string::npos) << text;
  EXPECT_NE(text.find(libraries.string()), std::string::npos) << text;
}

TEST(Netgen, FailuresSayWhatItSaid)
{
  const base::ScratchFolder folder;
  write_program(folder.path(), "echo Mesh overlaps itself\necho\nexit 1\n");
  const PathOf path(folder.path().string());
  const std::string text = failure({.edge = 0.05});
  EXPECT_NE(text.find("Mesh overlaps itself"), std::string::npos) << text;
  EXPECT_NE(failure({.edge = 0}).find("must be positive"), std::string::npos);
}

TEST(Netgen, IsEndedAfterTheTimeLimit)
{
  const base::ScratchFolder folder;
  write_program(folder.path(), "exec /bin/sleep 60\n");
  const PathOf path(folder.path().string());
  const auto start = std::chrono::steady_clock::now();
  const std::string text = failure({.edge = 0.05, .time_limit = 0.2});
  EXPECT_NE(text.find("did not finish within 0.2 s"), std::string::npos) << text;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace thrum::tets
