// SPDX-License-Identifier: MIT
// Reading a mesh of 1 million triangles from the file cache of the system: the whole call, including opening
// the file.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "benchmarks/harness.h"
#include "thrum/mesh_io/file_bytes.h"
#include "thrum/mesh_io/mesh_io.h"

namespace {

using namespace thrum;
using namespace thrum::mesh;
using namespace thrum::mesh_io;
using namespace thrum::bench;

// A wavy sheet of n x n vertices.
TriangleMesh sheet(int n)
{
  TriangleMesh mesh;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      mesh.vertices.emplace_back(i * 1e-3, j * 1e-3, 0.1 * std::sin(0.01 * i) * std::cos(0.013 * j));
  }
  for (int i = 0; i + 1 < n; ++i) {
    for (int j = 0; j + 1 < n; ++j) {
      const Index a = i * n + j;
      mesh.triangles.push_back({a, a + n, a + n + 1});
      mesh.triangles.push_back({a, a + n + 1, a + 1});
    }
  }
  return mesh;
}

// The simple method: a line, a string stream, numbers by operator>>.
TriangleMesh read_obj_by_lines(const std::filesystem::path& file)
{
  TriangleMesh mesh;
  std::ifstream in(file);
  std::string line, word;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    words >> word;
    if (word == "v") {
      Vec3 p;
      words >> p.x() >> p.y() >> p.z();
      mesh.vertices.push_back(p);
    } else if (word == "f") {
      Triangle t{};
      words >> t[0] >> t[1] >> t[2];
      for (Index& v : t) --v;
      mesh.triangles.push_back(t);
    }
  }
  return mesh;
}

// The simple method for binary PLY: one stream read per number.
TriangleMesh read_ply_by_numbers(const std::filesystem::path& file)
{
  TriangleMesh mesh;
  std::ifstream in(file, std::ios::binary);
  std::string line;
  std::size_t vertices = 0, faces = 0;
  while (std::getline(in, line) && line != "end_header") {
    std::istringstream words(line);
    std::string element, name;
    std::size_t count = 0;
    words >> element >> name >> count;
    if (element == "element") (name == "vertex" ? vertices : faces) = count;
  }
  for (std::size_t i = 0; i < vertices; ++i) {
    Vec3 p;
    for (int k = 0; k < 3; ++k) in.read(reinterpret_cast<char*>(&p[k]), sizeof(double));
    mesh.vertices.push_back(p);
  }
  for (std::size_t i = 0; i < faces; ++i) {
    char corners = 0;
    in.read(&corners, 1);
    Triangle t{};
    for (Index& v : t) in.read(reinterpret_cast<char*>(&v), sizeof(Index));
    mesh.triangles.push_back(t);
  }
  return mesh;
}

constexpr int kSide = 708;  // 999,698 triangles

}  // namespace

THRUM_BENCHMARK(geometry, mesh_reading)
{
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "thrum_bench_mesh_reading";
  std::filesystem::create_directories(folder);
  const TriangleMesh mesh = sheet(kSide);
  write_mesh(folder / "sheet.ply", mesh);
  // Nine digits, as programs write them; ours would write all seventeen.
  std::string text;
  for (const Vec3& v : mesh.vertices) text += fmt::format("v {:.9g} {:.9g} {:.9g}\n", v.x(), v.y(), v.z());
  for (const Triangle& t : mesh.triangles) text += fmt::format("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1);
  write_file_bytes(folder / "sheet.obj", text);

  const double ply = min_cpu_seconds([&] { do_not_optimize(read_mesh(folder / "sheet.ply")); });
  const double ply_simple =
      min_cpu_seconds([&] { do_not_optimize(read_ply_by_numbers(folder / "sheet.ply")); }, 2);
  report.row({.name = "read binary PLY, 1 million triangles",
              .figure = ply,
              .unit = "s",
              .target = 0.3,
              .baseline = "a stream read per number",
              .baseline_value = ply_simple,
              .target_ratio = {}});
  const double obj = min_cpu_seconds([&] { do_not_optimize(read_mesh(folder / "sheet.obj")); });
  const double obj_simple =
      min_cpu_seconds([&] { do_not_optimize(read_obj_by_lines(folder / "sheet.obj")); }, 2);
  report.row({.name = "read OBJ, 1 million triangles",
              .figure = obj,
              .unit = "s",
              .target = 1.5,
              .baseline = "line by line through streams",
              .baseline_value = obj_simple,
              .target_ratio = {}});
  report.note("CPU time of one thread, file in the system's cache; coordinates of the OBJ have nine digits.");
  std::filesystem::remove_all(folder);
}
