// SPDX-License-Identifier: MIT
#include "thrum/shapes/unite_parts.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/mesh/mesh_topology.h"
#include "thrum/mesh/winding_number.h"
#include "thrum/shapes/boolean.h"

namespace thrum::shapes {

namespace {

mesh::TriangleMesh part_of(const mesh::TriangleMesh& mesh, const std::vector<Index>& triangles)
{
  mesh::TriangleMesh part;
  std::vector<Index> number(mesh.vertices.size(), -1);
  for (const Index t : triangles) {
    Triangle corners = mesh.triangles[at(t)];
    for (Index& v : corners) {
      Index& own = number[at(v)];
      if (own < 0) {
        own = count_of(part.vertices);
        part.vertices.push_back(mesh.vertices[at(v)]);
      }
      v = own;
    }
    part.triangles.push_back(corners);
  }
  return part;
}

// The smallest solid around a hollow.
std::size_t around(const mesh::TriangleMesh& hollow, const std::vector<mesh::TriangleMesh>& solids,
                   const std::vector<double>& volumes)
{
  constexpr double kHalf = 0.5;
  const Vec3& p = hollow.vertices[0];
  std::size_t best = solids.size();
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < solids.size(); ++k)
    if (volumes[k] < smallest && mesh::exact_winding_number(solids[k], p) > kHalf) {
      best = k;
      smallest = volumes[k];
    }
  if (best == solids.size())
    throw Error(fmt::format(
        "A part at ({:.4g}, {:.4g}, {:.4g}) m faces inwards but lies in no other one. 'thrum mesh "
        "repair' turns it.",
        p.x(), p.y(), p.z()));
  return best;
}

}  // namespace

std::vector<mesh::TriangleMesh> separate_parts(const mesh::TriangleMesh& mesh)
{
  std::vector<mesh::TriangleMesh> parts;
  const mesh::MeshComponents components = mesh::edge_components(mesh, mesh::edge_uses(mesh));
  for (const std::vector<Index>& triangles : mesh::triangles_by_component(components))
    parts.push_back(part_of(mesh, triangles));
  return parts;
}

UnitedParts unite_parts(const mesh::TriangleMesh& mesh)
{
  (void)mesh::require_closed(mesh, "the mesh", "be united");
  std::vector<mesh::TriangleMesh> solids;
  std::vector<mesh::TriangleMesh> hollows;
  std::vector<double> volumes;
  for (mesh::TriangleMesh& part : separate_parts(mesh)) {
    const double volume = mesh::signed_volume(part);
    if (volume < 0) {
      hollows.push_back(std::move(part));
      continue;
    }
    solids.push_back(std::move(part));
    volumes.push_back(volume);
  }
  if (solids.size() < 2) return {mesh, solids.size()};
  std::vector<std::size_t> owners;
  owners.reserve(hollows.size());
  for (const mesh::TriangleMesh& hollow : hollows) owners.push_back(around(hollow, solids, volumes));
  for (std::size_t k = 0; k < hollows.size(); ++k) mesh::append(solids[owners[k]], hollows[k]);
  return {boolean_union(solids), solids.size()};
}

}  // namespace thrum::shapes
