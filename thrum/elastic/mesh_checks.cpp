// SPDX-License-Identifier: MIT
#include "thrum/elastic/mesh_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/tolerances.h"
#include "thrum/elastic/material_library.h"

namespace thrum::elastic {

namespace {

// Bodies whose lowest mode is above this are smaller than a grain of rice, or their mesh is in the wrong unit
// [Hz].
constexpr double kMaxPlausibleFrequency = 200e3;
// The same holds for bodies smaller than this whose lowest mode is above hearing [m, Hz].
constexpr double kMinPlausibleSize = 2e-3;
constexpr double kMaxAudibleFrequency = 20e3;
// Bodies larger than this whose lowest mode is below kMinPlausibleFrequency are bridges and towers, or meshes
// in millimetres [m, Hz].
constexpr double kMaxPlausibleSize = 50;
constexpr double kMinPlausibleFrequency = 20;

void check_indices(const mesh::TetrahedralMesh& mesh)
{
  if (mesh.tetrahedra.empty()) throw Error("The mesh has no tetrahedra, so there is no solid to analyse.");
  const auto count = count_of(mesh.vertices);
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t)
    for (const Index v : mesh.tetrahedra[t])
      if (v < 0 || v >= count)
        throw Error(fmt::format("Tetrahedron {} names vertex {}, but the mesh has vertices 0 to {}.", t, v,
                                count - 1));
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    if (!mesh.vertices[v].allFinite())
      throw Error(fmt::format("Vertex {} has a coordinate that is not finite.", v));
}

double longest_edge(const mesh::TetrahedralMesh& mesh, std::size_t t)
{
  double longest = 0;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = a + 1; b < 4; ++b)
      longest = std::max(
          longest,
          (mesh.vertices[at(mesh.tetrahedra[t][a])] - mesh.vertices[at(mesh.tetrahedra[t][b])]).norm());
  return longest;
}

void check_volumes(const mesh::TetrahedralMesh& mesh)
{
  std::size_t inverted = 0;
  std::size_t flat = 0;
  std::size_t first = 0;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    const double six = mesh::six_times_volume(mesh, t);
    const double edge = longest_edge(mesh, t);
    const bool thin = std::abs(six) <= base::kVolumeTolerance.times(edge * edge * edge);
    if (!thin && six > 0) continue;
    if (inverted + flat == 0) first = t;
    ++(thin ? flat : inverted);
  }
  if (inverted == mesh.tetrahedra.size())
    throw Error(
        "Every tetrahedron is inverted: the file uses the other orientation. Swap two corners of each.");
  if (inverted > 0)
    throw Error(
        fmt::format("{} of {} tetrahedra are inverted (negative volume), the first is number {}: the mesh "
                    "overlaps itself there. Regenerate the mesh, or swap two corners of each.",
                    inverted, mesh.tetrahedra.size(), first));
  if (flat > 0)
    throw Error(fmt::format(
        "{} of {} tetrahedra are flat, the first is number {}. Remove them or regenerate the mesh.", flat,
        mesh.tetrahedra.size(), first));
}

Index root_of(std::vector<Index>& parent, Index v)
{
  while (parent[at(v)] != v) {
    Index& up = parent[at(v)];
    up = parent[at(up)];
    v = up;
  }
  return v;
}

}  // namespace

void check_connected(const mesh::TetrahedralMesh& mesh)
{
  std::vector<Index> parent(mesh.vertices.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const Tetrahedron& t : mesh.tetrahedra)
    for (std::size_t k = 1; k < 4; ++k) parent[at(root_of(parent, t[k]))] = root_of(parent, t[0]);
  std::map<Index, std::size_t> parts;
  for (const Tetrahedron& t : mesh.tetrahedra) ++parts[root_of(parent, t[0])];
  if (parts.size() <= 1) return;
  std::vector<std::size_t> sizes;
  for (const auto& [root, size] : parts) sizes.push_back(size);
  std::sort(sizes.rbegin(), sizes.rend());
  throw Error(
      fmt::format("The body has {} parts that share no vertex (the largest have {} and {} tetrahedra), so it "
                  "is not one solid. Merge vertices at equal positions, or analyse each part separately.",
                  parts.size(), sizes[0], sizes[1]));
}

void check_mesh(const mesh::TetrahedralMesh& mesh)
{
  check_indices(mesh);
  check_volumes(mesh);
  check_connected(mesh);
}

void check_closed(const mesh::TriangleMesh& surface)
{
  mesh::check_indices(surface);
  if (surface.triangles.empty()) throw Error("The surface has no triangles.");
  // Each edge of a closed surface is used once in each direction.
  std::map<std::pair<Index, Index>, int> balance;
  for (const Triangle& t : surface.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k];
      const Index b = t[(k + 1) % 3];
      balance[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
    }
  const auto open =
      std::count_if(balance.begin(), balance.end(), [](const auto& edge) { return edge.second != 0; });
  if (open > 0)
    throw Error(fmt::format(
        "The surface is open: {} of its {} edges have a triangle on one side only (or two triangles of "
        "opposite orientation), so it has no interior. Close the holes and orient all triangles outwards.",
        open, balance.size()));
  if (!(mesh::signed_volume(surface) > 0))
    throw Error("The surface is inside out or encloses no volume. Reverse the orientation of its triangles.");
}

void check_materials(const mesh::TetrahedralMesh& mesh, std::span<const model::Material> materials)
{
  if (materials.empty()) throw Error("The body has no material.");
  for (const model::Material& material : materials)
    check_material(material,
                   material.name.empty() ? "The material" : fmt::format("Material '{}'", material.name));
  if (mesh.regions.empty() || materials.size() == 1) return;
  if (mesh.regions.size() != mesh.tetrahedra.size())
    throw Error(fmt::format(
        "The mesh has {} tetrahedra but {} region entries; there must be one per tetrahedron, or none.",
        mesh.tetrahedra.size(), mesh.regions.size()));
  const auto [min_region, max_region] = std::minmax_element(mesh.regions.begin(), mesh.regions.end());
  if (*min_region < 0 || at(*max_region) >= materials.size())
    throw Error(fmt::format(
        "The regions of the mesh go from {} to {}, but there are {} materials: give one for each region, "
        "or a single one for the whole body.",
        *min_region, *max_region, materials.size()));
}

double single_layer_fraction(const mesh::TetrahedralMesh& mesh)
{
  const mesh::BoundarySurface boundary = mesh::boundary_surface(mesh);
  std::vector<bool> outside(mesh.vertices.size(), false);
  for (const Index n : boundary.nodes) outside[at(n)] = true;
  double across = 0;
  double total = 0;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    const Tetrahedron& c = mesh.tetrahedra[t];
    const double volume = mesh::six_times_volume(mesh, t);
    total += volume;
    if (std::all_of(c.begin(), c.end(), [&](Index v) { return outside[at(v)]; })) across += volume;
  }
  return across / total;
}

std::optional<std::string> implausible_size_warning(const Box3& bounds, double lowest_frequency)
{
  const double size = bounds.sizes().maxCoeff();
  if (lowest_frequency > kMaxPlausibleFrequency ||
      (size < kMinPlausibleSize && lowest_frequency > kMaxAudibleFrequency))
    return fmt::format(
        "The body is {:.3g} mm long and its lowest mode is at {:.3g} kHz, above hearing. If the mesh is "
        "not in metres, scale it first (a mesh that was scaled by 0.001 twice needs a factor of 1000).",
        1e3 * size, 1e-3 * lowest_frequency);
  if (size > kMaxPlausibleSize && lowest_frequency < kMinPlausibleFrequency)
    return fmt::format(
        "The body is {:.3g} m long and its lowest mode is at {:.3g} Hz, below hearing. If the mesh is in "
        "millimetres, scale it by 0.001 first.",
        size, lowest_frequency);
  return std::nullopt;
}

}  // namespace thrum::elastic
