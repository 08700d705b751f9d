// SPDX-License-Identifier: MIT
#include "thrum/tets/tet_quality.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

constexpr double kDegrees = 180 / std::numbers::pi;

std::array<Vec3, 4> corners_of(const mesh::TetrahedralMesh& mesh, std::size_t t)
{
  std::array<Vec3, 4> p;
  for (std::size_t k = 0; k < 4; ++k) p[k] = mesh.vertices[at(mesh.tetrahedra[t][k])];
  return p;
}

}  // namespace

// With edges a, b, c from one corner, V the volume and S the surface,
//
//     r = 3 V / S,    R = | a^2 b x c + b^2 c x a + c^2 a x b | / (12 V).
double radius_ratio(const mesh::TetrahedralMesh& mesh, std::size_t tetrahedron)
{
  return radius_ratio(corners_of(mesh, tetrahedron));
}

double radius_ratio(const std::array<Vec3, 4>& p)
{
  const Vec3 a = p[1] - p[0], b = p[2] - p[0], c = p[3] - p[0];
  const Vec3 bc = b.cross(c), ca = c.cross(a), ab = a.cross(b);
  const double six = a.dot(bc);
  if (!(six > 0)) return 0;
  const double surface = 0.5 * (bc.norm() + ca.norm() + ab.norm() + (bc + ca + ab).norm());
  const double inscribed = 0.5 * six / surface;
  const double circumscribed =
      (a.squaredNorm() * bc + b.squaredNorm() * ca + c.squaredNorm() * ab).norm() / (2 * six);
  return 3 * inscribed / circumscribed;
}

TetQuality measure_quality(const mesh::TetrahedralMesh& mesh)
{
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  TetQuality q;
  q.vertices = mesh.vertices.size();
  q.tetrahedra = mesh.tetrahedra.size();
  q.min_volume = q.shortest_edge = q.min_dihedral = q.min_radius_ratio = kInfinity;
  std::array<std::size_t, 18> counts{};
  std::size_t valid = 0;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    const double volume = six_times_volume(mesh, t) / 6;
    if (!(volume > 0)) {
      ++q.bad;
      continue;
    }
    ++valid;
    q.volume += volume;
    q.min_volume = std::min(q.min_volume, volume);
    q.max_volume = std::max(q.max_volume, volume);
    const auto p = corners_of(mesh, t);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        const double length = (p[i] - p[j]).norm();
        q.shortest_edge = std::min(q.shortest_edge, length);
        q.longest_edge = std::max(q.longest_edge, length);
      }
    }
    for (const double angle : dihedral_angles(mesh, t)) {
      q.min_dihedral = std::min(q.min_dihedral, angle);
      q.max_dihedral = std::max(q.max_dihedral, angle);
      ++counts[std::min<std::size_t>(static_cast<std::size_t>(angle * kDegrees / 10), counts.size() - 1)];
    }
    const double ratio = radius_ratio(mesh, t);
    q.min_radius_ratio = std::min(q.min_radius_ratio, ratio);
    q.mean_radius_ratio += ratio;
  }
  if (valid == 0) {
    q.min_volume = q.shortest_edge = q.min_dihedral = q.min_radius_ratio = 0;
    return q;
  }
  q.mean_radius_ratio /= static_cast<double>(valid);
  for (std::size_t b = 0; b < counts.size(); ++b) {
    q.dihedral_fractions[b] = static_cast<double>(counts[b]) / (6 * static_cast<double>(valid));
  }
  return q;
}

std::string describe(const TetQuality& q)
{
  std::string text =
      fmt::format("{} tetrahedra, {} vertices, volume {:.6g} m^3\n", q.tetrahedra, q.vertices, q.volume);
  if (q.bad > 0) text += fmt::format("{} tetrahedra are flat or inside out\n", q.bad);
  if (q.tetrahedra == q.bad) return text;
  text +=
      fmt::format("edges {:.4g} to {:.4g} m, volumes {:.4g} to {:.4g} m^3 (1 : {:.3g})\n", q.shortest_edge,
                  q.longest_edge, q.min_volume, q.max_volume, q.max_volume / q.min_volume);
  text += fmt::format("dihedral angles {:.1f} to {:.1f} degrees\n", q.min_dihedral * kDegrees,
                      q.max_dihedral * kDegrees);
  text += fmt::format("radius ratio {:.3f} at least, {:.3f} on average (1 is regular)\n", q.min_radius_ratio,
                      q.mean_radius_ratio);
  return text;
}

}  // namespace thrum::tets
