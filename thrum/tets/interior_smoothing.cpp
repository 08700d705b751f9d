// SPDX-License-Identifier: MIT
#include "thrum/tets/interior_smoothing.h"

#include <algorithm>
#include <map>

#include "thrum/base/index.h"
#include "thrum/tets/tet_quality.h"

namespace thrum::tets {

namespace {

// Six times the volume, relative to the cube of the longest edge, below which a tetrahedron is flat. A corner
// of a thin wall, 1/1000 as thick as wide, has 1e-3.
constexpr double kFlatVolume = 1e-7;
// A vertex moves only for tetrahedra whose radius ratio is below this.
constexpr double kGoodRatio = 0.4;

Triangle sorted(Triangle t)
{
  std::sort(t.begin(), t.end());
  return t;
}

std::array<Triangle, 4> faces_of(const Tetrahedron& t)
{
  return {{{t[1], t[2], t[3]}, {t[0], t[2], t[3]}, {t[0], t[1], t[3]}, {t[0], t[1], t[2]}}};
}

double relative_volume(const mesh::TetrahedralMesh& mesh, std::size_t t)
{
  double longest = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = i + 1; k < 4; ++k)
      longest = std::max(longest,
                         (mesh.vertices[at(mesh.tetrahedra[t][i])] - mesh.vertices[at(mesh.tetrahedra[t][k])])
                             .squaredNorm());
  return mesh::six_times_volume(mesh, t) / (longest * std::sqrt(longest));
}

double worst_ratio(const mesh::TetrahedralMesh& mesh, const std::vector<Index>& tetrahedra)
{
  double worst = 1;
  for (const Index t : tetrahedra) worst = std::min(worst, radius_ratio(mesh, at(t)));
  return worst;
}

}  // namespace

std::size_t remove_flat_tetrahedra(mesh::TetrahedralMesh& mesh)
{
  std::map<Triangle, int> uses;  // of faces by tetrahedra
  for (const Tetrahedron& t : mesh.tetrahedra)
    for (const Triangle& face : faces_of(t)) ++uses[sorted(face)];
  std::vector<bool> removed(mesh.tetrahedra.size(), false);
  std::size_t count = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < mesh.tetrahedra.size(); ++i) {
      if (removed[i] || relative_volume(mesh, i) > kFlatVolume) continue;
      const auto faces = faces_of(mesh.tetrahedra[i]);
      const auto on_surface = std::count_if(faces.begin(), faces.end(),
                                            [&](const Triangle& face) { return uses.at(sorted(face)) == 1; });
      if (on_surface != 2) continue;
      for (const Triangle& face : faces) --uses.at(sorted(face));
      removed[i] = changed = true;
      ++count;
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < mesh.tetrahedra.size(); ++i)
    if (!removed[i]) mesh.tetrahedra[kept++] = mesh.tetrahedra[i];
  mesh.tetrahedra.resize(kept);
  return count;
}

void smooth_interior(mesh::TetrahedralMesh& mesh, int rounds)
{
  std::vector<std::vector<Index>> around(mesh.vertices.size());
  for (Index t = 0; t < count_of(mesh.tetrahedra); ++t)
    for (const Index v : mesh.tetrahedra[at(t)]) around[at(v)].push_back(t);
  std::vector<bool> fixed(mesh.vertices.size(), false);
  for (const Index v : mesh::boundary_surface(mesh).nodes) fixed[at(v)] = true;

  for (int round = 0; round < rounds; ++round) {
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
      if (fixed[v] || around[v].empty()) continue;
      double worst = worst_ratio(mesh, around[v]);
      if (worst > kGoodRatio) continue;
      Vec3 middle = Vec3::Zero();
      for (const Index t : around[v])
        for (const Index w : mesh.tetrahedra[at(t)]) middle += mesh.vertices[at(w)];
      middle /= 4.0 * static_cast<double>(around[v].size());
      const Vec3 before = mesh.vertices[v];
      Vec3 best = before;
      for (const double share : {1.0, 0.5, 0.25, -0.25}) {
        mesh.vertices[v] = before + share * (middle - before);
        const double now = worst_ratio(mesh, around[v]);
        if (now <= worst) continue;
        worst = now;
        best = mesh.vertices[v];
      }
      mesh.vertices[v] = best;
    }
  }
}

}  // namespace thrum::tets
