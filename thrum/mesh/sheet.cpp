// SPDX-License-Identifier: MIT
#include "thrum/mesh/sheet.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/orient_components.h"
#include "thrum/mesh/self_intersections.h"

namespace thrum::mesh {

namespace {

// Where a vertex may move along the surface, the offset to a side hardly depends on it: this weight, relative
// to that of the triangles, keeps it along the normal.
constexpr double kAlongNormal = 1e-3;
// At a sharper fold some triangle would have less than this share of its half thickness.
constexpr double kMinOffset = 0.3;

std::string place_text(const Vec3& p)
{
  return fmt::format("({:.4g}, {:.4g}, {:.4g}) m", p.x(), p.y(), p.z());
}

using EdgeKey = std::pair<Index, Index>;

EdgeKey edge_key(Index a, Index b)
{
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace

void require_sheet(const TriangleMesh& mesh)
{
  std::map<EdgeKey, std::pair<int, int>> uses;  // upwards and downwards
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k];
      const Index b = t[(k + 1) % 3];
      if (a == b)
        throw Error("The sheet has a triangle with a repeated corner. 'thrum mesh repair' drops it.");
      ++(a < b ? uses[edge_key(a, b)].first : uses[edge_key(a, b)].second);
    }
  for (const auto& [edge, count] : uses) {
    const Vec3 middle = 0.5 * (mesh.vertices[at(edge.first)] + mesh.vertices[at(edge.second)]);
    if (count.first + count.second > 2)
      throw Error(
          fmt::format("The sheet branches at {}, where {} triangles meet at an edge. A branching sheet has "
                      "no thickness to "
                      "both sides; model it as a closed solid, or give its parts one by one.",
                      place_text(middle), count.first + count.second));
    if (count.first <= 1 && count.second <= 1) continue;
    TriangleMesh turned = mesh;
    if (orient_components(turned).unorientable_components > 0)
      throw Error(
          fmt::format("The sheet has only one side, like a strip that was twisted before its ends were "
                      "joined: turning triangles "
                      "moves the place where neighbours face different ways, now at {}. Cut it there.",
                      place_text(middle)));
    throw Error(fmt::format(
        "Neighbouring triangles of the sheet face different ways at {}. 'thrum mesh repair' turns them.",
        place_text(middle)));
  }
}

// From each vertex to the upper side: the least squares of having half the thickness over each triangle
// around it.
std::vector<Vec3> sheet_offsets(const TriangleMesh& mesh, double thickness)
{
  const std::size_t count = mesh.vertices.size();
  std::vector<Mat3> squares(count, Mat3::Zero());
  std::vector<Vec3> sums(count, Vec3::Zero());
  std::vector<Vec3> normals(mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 area = area_vector(mesh, t);
    if (!(area.norm() > 0))
      throw Error(fmt::format("The sheet has a flat triangle at {}. 'thrum mesh repair' removes it.",
                              place_text(mesh.vertices[at(mesh.triangles[t][0])])));
    normals[t] = area.normalized();
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3& p = mesh.vertices[at(mesh.triangles[t][k])];
      const Vec3 a = (mesh.vertices[at(mesh.triangles[t][(k + 1) % 3])] - p).normalized();
      const Vec3 b = (mesh.vertices[at(mesh.triangles[t][(k + 2) % 3])] - p).normalized();
      const double angle = std::acos(std::clamp(a.dot(b), -1.0, 1.0));
      squares[at(mesh.triangles[t][k])] += angle * normals[t] * normals[t].transpose();
      sums[at(mesh.triangles[t][k])] += angle * normals[t];
    }
  }
  std::vector<Vec3> offsets(count, Vec3::Zero());
  for (std::size_t v = 0; v < count; ++v) {
    if (sums[v].norm() == 0) continue;
    const Vec3 normal = sums[v].normalized();
    const Mat3 along = Mat3::Identity() - normal * normal.transpose();
    const Mat3 system = squares[v] + kAlongNormal * squares[v].trace() * along;
    offsets[v] = 0.5 * thickness * system.ldlt().solve(sums[v]);
  }
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (const Index v : mesh.triangles[t])
      if (!(normals[t].dot(offsets[at(v)]) > kMinOffset * 0.5 * thickness))
        throw Error(
            fmt::format("The sheet is folded too sharply at {} for a thickness to both sides. Model it as a "
                        "closed solid, "
                        "or leave the fold open.",
                        place_text(mesh.vertices[at(v)])));
  return offsets;
}

TriangleMesh solid_between(const TriangleMesh& mesh, const std::vector<Vec3>& across)
{
  const auto count = count_of(mesh.vertices);
  TriangleMesh solid;
  solid.vertices = mesh.vertices;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    solid.vertices.push_back(mesh.vertices[v] + across[v]);
  // Edges with one triangle get a strip between the sides.
  std::map<EdgeKey, int> uses;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) ++uses[edge_key(t[k], t[(k + 1) % 3])];
  for (const Triangle& t : mesh.triangles) {
    solid.triangles.push_back(t);
    solid.triangles.push_back({t[0] + count, t[2] + count, t[1] + count});
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k];
      const Index b = t[(k + 1) % 3];
      if (uses[edge_key(a, b)] != 1) continue;
      solid.triangles.push_back({b, a, a + count});
      solid.triangles.push_back({b, a + count, b + count});
    }
  }
  return solid;
}

TriangleMesh solidified(const TriangleMesh& mesh, double thickness)
{
  check_indices(mesh);
  if (!(thickness > 0) || !std::isfinite(thickness))
    throw Error(fmt::format("The thickness of the sheet is {} m; it must be positive.", thickness));
  require_sheet(mesh);
  const std::vector<Vec3> offsets = sheet_offsets(mesh, thickness);
  TriangleMesh upper = mesh;
  std::vector<Vec3> across;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    upper.vertices[v] += offsets[v];
    across.emplace_back(mesh.vertices[v] - offsets[v] - upper.vertices[v]);
  }
  return solid_between(upper, across);
}

void require_layers_apart(const TriangleMesh& mesh, double thickness)
{
  const TriangleMesh solid = solidified(mesh, thickness);
  const Index count = count_of(mesh.vertices);
  // Corners of the middle of the sheet; strips at the rim have those of one edge.
  const auto share_a_corner = [&](Index a, Index b) {
    const Triangle& s = solid.triangles[at(a)];
    const Triangle& t = solid.triangles[at(b)];
    return std::any_of(s.begin(), s.end(), [&](Index v) {
      return std::any_of(t.begin(), t.end(), [&](Index w) { return v % count == w % count; });
    });
  };
  for (const TrianglePair& pair : self_intersections(solid)) {
    if (share_a_corner(pair.a, pair.b)) continue;  // a narrow bend, which the wedges there tell
    throw Error(
        fmt::format("Two layers of the sheet are closer to each other than its thickness of {:.3g} m at {}. "
                    "Use a smaller "
                    "thickness, or move them apart.",
                    thickness, place_text(solid.corner(at(pair.a), 0))));
  }
}

}  // namespace thrum::mesh
