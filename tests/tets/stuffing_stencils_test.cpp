// SPDX-License-Identifier: MIT
// The angles that any function can produce. A lattice tetrahedron depends on the function only by the signs
// of its corners, where its surface corners were moved to (along one of 14 edges, by at most the threshold of
// that edge) and where its edges are cut (between the thresholds of both ends). The extreme angles occur
// where each of these is at an end of its range, and those are few enough to test all of them.
#include "thrum/tets/stuffing_stencils.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "tests/support/tet_checks.h"
#include "thrum/tets/isosurface_stuffing.h"
#include "thrum/tets/lattice_cuts.h"

namespace thrum::tets {
namespace {

using namespace thrum::support;  // mesh checks

using Corners = std::array<LatticeSite, 4>;

Vec3 place(const LatticeSite& s)
{
  return 0.5 * Vec3(s.x, s.y, s.z);
}

double threshold(const LatticeSite& a, const LatticeSite& b)
{
  return is_long_edge(a, b) ? kViolatedLong : kViolatedShort;
}

// The steps along the 14 edges of a site, and none.
std::vector<LatticeSite> steps()
{
  std::vector<LatticeSite> all = {{0, 0, 0}};
  for (const LatticeSite& edge : kOwnedEdges) {
    all.push_back(edge);
    all.push_back(LatticeSite{} - edge);
  }
  return all;
}

// The four lattice tetrahedra around the edge from a site along x. The others are rotations and reflections
// of these with the same parities.
std::vector<Corners> lattice_tetrahedra()
{
  const std::array<LatticeSite, 4> face = {{{1, -1, -1}, {1, 1, -1}, {1, 1, 1}, {1, -1, 1}}};
  std::vector<Corners> all;
  for (const LatticeSite& from : {LatticeSite{0, 0, 0}, LatticeSite{1, 1, 1}}) {
    for (std::size_t m = 0; m < 4; ++m)
      all.push_back({from, from + LatticeSite{2, 0, 0}, from + face[m], from + face[(m + 1) % 4]});
  }
  return all;
}

// One lattice tetrahedron after warping, with one choice of signs, moves and cuts.
struct Warped {
  Corners sites;
  std::array<int, 4> signs{};
  std::array<Vec3, 4> moved;                   // corners
  std::array<std::array<double, 4>, 4> cut{};  // fraction of the edge from an inside to an outside corner
};

// Adds the inside part to the mesh.
void stuff(const Warped& warped, mesh::TetrahedralMesh& mesh)
{
  std::array<StencilCorner, 4> corners;
  for (std::size_t i = 0; i < 4; ++i)
    corners[i] = {warped.sites[i], static_cast<SiteAddress>(i), warped.signs[i]};
  const auto add = [&](const Vec3& point) {
    mesh.vertices.push_back(point);
    return static_cast<Index>(mesh.vertices.size() - 1);
  };
  stuff_tetrahedron(
      corners, [&](const StencilCorner& c) { return add(warped.moved[static_cast<std::size_t>(c.address)]); },
      [&](const StencilCorner& a, const StencilCorner& b) {
        const auto i = static_cast<std::size_t>(a.address), j = static_cast<std::size_t>(b.address);
        return add(place(a.site) + warped.cut[i][j] * (place(b.site) - place(a.site)));
      },
      [&](const Tetrahedron& tet) { mesh.tetrahedra.push_back(tet); });
}

// Whether this combination of moves is possible: not towards each other along one edge, since the first move
// leaves no cut point on it, nor around a triangle, since the signs before the moves would have to differ all
// around.
bool moves_are_possible(const std::array<int, 4>& towards)
{
  for (std::size_t i = 0; i < 4; ++i) {
    int end = static_cast<int>(i);
    for (int length = 1; length <= 3 && end >= 0; ++length) {
      end = towards[static_cast<std::size_t>(end)];
      if (end == static_cast<int>(i)) return false;
    }
  }
  return true;
}

// Calls visit(warped) for the signs given, with each cut and each move at each end of its range.
template <class Visit>
void for_each_extreme(Warped warped, Visit&& visit)
{
  static const std::vector<LatticeSite> all_steps = steps();
  std::vector<std::size_t> surface;
  std::vector<std::array<std::size_t, 2>> edges;
  for (std::size_t i = 0; i < 4; ++i) {
    warped.moved[i] = place(warped.sites[i]);
    if (warped.signs[i] == 0) surface.push_back(i);
    for (std::size_t j = 0; j < 4; ++j) {
      if (warped.signs[i] < 0 && warped.signs[j] > 0) edges.push_back({i, j});
    }
  }
  std::size_t moves = 1;
  for (std::size_t n = 0; n < surface.size(); ++n) moves *= all_steps.size();
  for (std::size_t move = 0; move < moves; ++move) {
    std::array<int, 4> towards = {-1, -1, -1, -1};
    std::size_t rest = move;
    for (const std::size_t i : surface) {
      const LatticeSite& site = warped.sites[i];
      const LatticeSite other = site + all_steps[rest % all_steps.size()];
      rest /= all_steps.size();
      warped.moved[i] = place(site) + threshold(site, other) * (place(other) - place(site));
      for (std::size_t j = 0; j < 4; ++j) {
        if (j != i && warped.sites[j] == other) towards[i] = static_cast<int>(j);
      }
    }
    if (!moves_are_possible(towards)) continue;
    for (std::size_t ends = 0; ends < std::size_t{1} << edges.size(); ++ends) {
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const auto [i, j] = edges[e];
        const double min = threshold(warped.sites[i], warped.sites[j]);
        warped.cut[i][j] = (ends >> e & 1) != 0 ? 1 - min : min;
      }
      visit(warped);
    }
  }
}

std::array<int, 4> signs_of(int code)
{
  return {code % 3 - 1, code / 3 % 3 - 1, code / 9 % 3 - 1, code / 27 - 1};
}

TEST(StuffingStencils, KeepTheAnglesAtTheEndsOfEveryRange)
{
  AngleRange range{10, 0};
  for (const Corners& sites : lattice_tetrahedra()) {
    for (int code = 0; code < 81; ++code) {
      for_each_extreme({sites, signs_of(code), {}, {}}, [&](const Warped& warped) {
        mesh::TetrahedralMesh part;
        stuff(warped, part);
        for (std::size_t t = 0; t < part.tetrahedra.size(); ++t)
          ASSERT_GT(mesh::six_times_volume(part, t), 0);
        if (part.tetrahedra.empty()) return;
        const AngleRange here = angle_range(part);
        range.min = std::min(range.min, here.min);
        range.max = std::max(range.max, here.max);
      });
    }
  }
  // The bounds are rounded to two decimals, and they are reached: there is no margin.
  EXPECT_NEAR(range.min / kDegree, kStuffingMinDihedral, 0.005);
  EXPECT_NEAR(range.max / kDegree, kStuffingMaxDihedral, 0.005);
}

// The ends of the ranges are the extremes: points between them are within the bounds too.
TEST(StuffingStencils, KeepTheAnglesBetweenTheEnds)
{
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  const std::vector<LatticeSite> all_steps = steps();
  const std::vector<Corners> all_sites = lattice_tetrahedra();
  for (int n = 0; n < 40'000; ++n) {
    Warped warped{all_sites[random() % all_sites.size()], signs_of(static_cast<int>(random() % 81)), {}, {}};
    std::array<int, 4> towards = {-1, -1, -1, -1};
    for (std::size_t i = 0; i < 4; ++i) {
      const LatticeSite& site = warped.sites[i];
      warped.moved[i] = place(site);
      for (std::size_t j = 0; j < 4; ++j) {
        const double min = j == i ? 0 : threshold(site, warped.sites[j]);
        warped.cut[i][j] = min + (1 - 2 * min) * unit(random);
      }
      if (warped.signs[i] != 0) continue;
      const LatticeSite other = site + all_steps[random() % all_steps.size()];
      warped.moved[i] += unit(random) * threshold(site, other) * (place(other) - place(site));
      for (std::size_t j = 0; j < 4; ++j) {
        if (j != i && warped.sites[j] == other) towards[i] = static_cast<int>(j);
      }
    }
    if (!moves_are_possible(towards)) continue;
    mesh::TetrahedralMesh part;
    stuff(warped, part);
    if (part.tetrahedra.empty()) continue;
    const AngleRange here = angle_range(part);
    ASSERT_GE(here.min / kDegree, kStuffingMinDihedral);
    ASSERT_LE(here.max / kDegree, kStuffingMaxDihedral);
  }
}

}  // namespace
}  // namespace thrum::tets
