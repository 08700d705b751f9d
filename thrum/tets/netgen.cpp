// SPDX-License-Identifier: MIT
#include "thrum/tets/netgen.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/unused_vertices.h"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration)

namespace thrum::tets {

namespace {

constexpr const char* kProgram = "netgen";
// The length of the body for Netgen: its search tree is the box of the body grown by 10 units, and it writes
// six decimals.
constexpr double kUnits = 1000;
// Tetrahedra with less than this share of the cube of their longest edge are flat.
constexpr double kFlat = 1e-6;

// A folder that is removed with what is in it.
class ScratchFolder {
 public:
  ScratchFolder()
  {
    std::string name = (std::filesystem::temp_directory_path() / "thrum_netgen_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(fmt::format("No folder for Netgen could be made in {}.",
                              std::filesystem::temp_directory_path().string()));
    path_ = name;
  }
  ~ScratchFolder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The surface as STL in units of Netgen.
void write_surface(const std::filesystem::path& file, const mesh::TriangleMesh& surface, const Vec3& origin,
                   double scale)
{
  std::ofstream out(file);
  out << "solid body\n";
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    out << "facet normal 0 0 0\nouter loop\n";
    for (int k = 0; k < 3; ++k) {
      const Vec3 p = scale * (surface.corner(t, k) - origin);
      out << fmt::format("vertex {:.17g} {:.17g} {:.17g}\n", p.x(), p.y(), p.z());
    }
    out << "endloop\nendfacet\n";
  }
  out << "endsolid body\n";
  if (!out.flush()) throw Error(fmt::format("{} could not be written.", file.string()));
}

// The last line that the child wrote and that is not empty.
std::string last_line(const std::filesystem::path& file)
{
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  return last;
}

// Runs the program in `folder`, with what it prints in `log` there. Throws Error when it does not end in
// time.
// Debian's program loads its parts by name, from a folder that the loader does not search: lib/netgen or
// lib/<machine>/netgen beside the folder of the program.
std::string library_path(const std::filesystem::path& program)
{
  const char* given = std::getenv("LD_LIBRARY_PATH");
  std::string path = given != nullptr ? given : "";
  std::error_code ignored;
  const std::filesystem::path lib = std::filesystem::absolute(program).parent_path().parent_path() / "lib";
  std::vector<std::filesystem::path> candidates = {lib / "netgen"};
  for (const auto& entry : std::filesystem::directory_iterator(lib, ignored))
    candidates.push_back(entry.path() / "netgen");
  for (const std::filesystem::path& folder : candidates)
    if (std::filesystem::exists(folder / "libgui.so", ignored))
      path += (path.empty() ? "" : ":") + folder.string();
  return path;
}

// The environment of this process with a variable replaced.
std::vector<std::string> environment_with(const std::string& name, const std::string& value)
{
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with(name + "=")) variables.emplace_back(*entry);
  if (!value.empty()) variables.push_back(name + "=" + value);
  return variables;
}

// As posix_spawn() takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int run_child(const std::filesystem::path& program, const std::filesystem::path& folder,
              const NetgenDesc& desc)
{
  const std::string log = (folder / "log").string();
  std::vector<std::string> arguments = {program.string(), "-batchmode", "-geofile=body.stl",
                                        "-meshfile=body.msh", "-meshfiletype=Gmsh2 Format"};
  std::vector<std::string> variables = environment_with("LD_LIBRARY_PATH", library_path(program));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, pointers_to(arguments).data(),
                                   pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw Error(fmt::format("{} could not be started.", program.string()));

  const auto start = std::chrono::steady_clock::now();
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool stopped = desc.stop.stop_requested();
    if (stopped || seconds > desc.time_limit) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      if (stopped) throw base::Stopped();
      throw Error(fmt::format("Netgen did not finish within {:g} s. Use a larger spacing, or another --fill.",
                              desc.time_limit));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::filesystem::path find_netgen()
{
  const char* path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(folder) / kProgram;
    std::error_code ignored;
    if (!folder.empty() && std::filesystem::is_regular_file(candidate, ignored) &&
        ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return {};
}

mesh::TetrahedralMesh read_netgen_mesh(const std::filesystem::path& file)
{
  std::ifstream in(file);
  mesh::TetrahedralMesh mesh;
  for (std::string line; std::getline(in, line);) {
    std::size_t count = 0;
    if (line.starts_with("$Nodes")) {
      in >> count;
      for (std::size_t n = 0; n < count && in; ++n) {
        std::size_t number = 0;
        Vec3 p;
        in >> number >> p.x() >> p.y() >> p.z();
        if (number != n + 1) throw Error(fmt::format("{}: nodes are not numbered in order.", file.string()));
        mesh.vertices.push_back(p);
      }
    } else if (line.starts_with("$Elements")) {
      std::getline(in, line);  // their number
      constexpr int kTetrahedron = 4;
      while (std::getline(in, line) && !line.starts_with("$")) {
        std::istringstream words(line);
        Index number = 0, kind = 0, tags = 0, tag = 0;
        words >> number >> kind >> tags;
        for (Index k = 0; k < tags; ++k) words >> tag;
        Tetrahedron t{};
        for (Index& v : t) words >> v;
        if (!words || kind != kTetrahedron) continue;
        for (Index& v : t)
          if (--v < 0 || at(v) >= mesh.vertices.size())
            throw Error(fmt::format("{}: an element has no node {}.", file.string(), v + 1));
        mesh.tetrahedra.push_back(t);
      }
    }
  }
  // Its own order of corners may be the other one; then all are turned.
  std::vector<double> volumes;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) volumes.push_back(six_times_volume(mesh, t));
  const double sign = std::accumulate(volumes.begin(), volumes.end(), 0.0) < 0 ? -1 : 1;
  std::vector<Tetrahedron> kept;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    Tetrahedron corners = mesh.tetrahedra[t];
    double longest = 0;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < a; ++b)
        longest = std::max(longest, (mesh.vertices[at(corners[a])] - mesh.vertices[at(corners[b])]).norm());
    if (!(sign * volumes[t] > kFlat * longest * longest * longest)) continue;
    if (sign < 0) std::swap(corners[2], corners[3]);
    kept.push_back(corners);
  }
  if (kept.empty()) throw Error(fmt::format("{} has no tetrahedra.", file.filename().string()));
  mesh.tetrahedra = std::move(kept);
  mesh::remove_unused_vertices(mesh.vertices, mesh.tetrahedra);
  return mesh;
}

mesh::TetrahedralMesh tetrahedralise_with_netgen(const mesh::TriangleMesh& surface, const NetgenDesc& desc)
{
  if (!(desc.edge > 0))
    throw Error(fmt::format("The longest edge for Netgen is {} m; it must be positive.", desc.edge));
  const std::filesystem::path program = find_netgen();
  if (program.empty())
    throw Error(
        "Netgen is not installed: there is no program 'netgen' in PATH. Install it (Debian: apt install "
        "netgen "
        "libnglib-dev), or use another --fill; 'auto' needs no other program.");
  const ScratchFolder folder;
  const Box3 box = mesh::bounding_box(surface);
  const double scale = kUnits / box.sizes().maxCoeff();
  write_surface(folder.path() / "body.stl", surface, box.min(), scale);
  std::ofstream(folder.path() / "ng.opt") << fmt::format("options.meshsize {:.9g}\n", scale * desc.edge);
  const int exit_code = run_child(program, folder.path(), desc);
  if (exit_code != 0 || !std::filesystem::exists(folder.path() / "body.msh"))
    throw Error(fmt::format(
        "Netgen could not fill the surface (exit code {}). Its last words: {}. Use another --fill.",
        exit_code, last_line(folder.path() / "log")));
  mesh::TetrahedralMesh mesh = read_netgen_mesh(folder.path() / "body.msh");
  for (Vec3& v : mesh.vertices) v = box.min() + v / scale;
  return mesh;
}

}  // namespace thrum::tets
