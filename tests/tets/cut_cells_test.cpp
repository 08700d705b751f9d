// SPDX-License-Identifier: MIT
#include "thrum/tets/cut_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "thrum/base/random.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"
#include "thrum/tets/cut_tetrahedron.h"
#include "thrum/tets/monomial_moments.h"
#include "thrum/tets/tet_quality.h"

namespace thrum::tets {
namespace {

Mat3 random_rotation(base::Random& random)
{
  Vec4 q;
  for (int k = 0; k < 4; ++k) q[k] = random.normal();
  return Eigen::Quaterniond(q.normalized()).toRotationMatrix();
}

mesh::TriangleMesh placed(mesh::TriangleMesh mesh, const Mat3& rotation, const Vec3& shift)
{
  for (Vec3& v : mesh.vertices) v = rotation * v + shift;
  return mesh;
}

// Mass, centre and inertia of unit density, from the moments of the cells.
mesh::MassProperties properties(const CutCells& cells)
{
  mesh::MassProperties sum;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  const CellMoments whole = whole_moments();
  for (std::size_t t = 0; t < cells.mesh().tetrahedra.size(); ++t) {
    const CellMoments& moments = cells.moments(t) != nullptr ? *cells.moments(t) : whole;
    const double volume = mesh::six_times_volume(cells.mesh(), t) / 6;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const double m = volume * moments.pair(i, j);
        const Vec3& a = cells.mesh().vertices[at(cells.mesh().tetrahedra[t][at(i)])];
        const Vec3& b = cells.mesh().vertices[at(cells.mesh().tetrahedra[t][at(j)])];
        sum.mass += m;
        first += m * a;
        second += m * a * b.transpose();
      }
  }
  sum.center = first / sum.mass;
  second -= sum.mass * sum.center * sum.center.transpose();
  sum.inertia = second.trace() * Mat3::Identity() - second;
  return sum;
}

void expect_properties(const mesh::TriangleMesh& surface, const CutCells& cells)
{
  const mesh::MassProperties expected = mesh::solid_mass_properties(surface);
  const mesh::MassProperties found = properties(cells);
  const double size = std::sqrt(expected.inertia.trace() / expected.mass);
  EXPECT_NEAR(found.mass, expected.mass, 1e-9 * expected.mass);
  EXPECT_LT((found.center - expected.center).norm(), 1e-9 * size);
  EXPECT_LT((found.inertia - expected.inertia).norm(), 1e-8 * expected.inertia.norm());
}

void expect_exact(const mesh::TriangleMesh& surface, double spacing)
{
  expect_properties(surface, CutCells(distance::MeshDistance(surface), {.spacing = spacing}));
}

TEST(CutTetrahedron, MomentsOfAHalfSpace)
{
  // The part L_0 >= c is a smaller tetrahedron at corner 0, with sides times 1 - c: its moments follow from
  // those of a whole one by the change of variables L_0 = c + (1 - c) M_0, L_k = (1 - c) M_k.
  const double c = 0.37;
  const double s = 1 - c;
  const auto on = [&](int k) {
    Vec4 p = Vec4::Zero();
    p[0] = c;
    p[k] = s;
    return p;
  };
  // A triangle of the plane that reaches beyond the tetrahedron.
  const Vec4 middle = (on(1) + on(2) + on(3)) / 3;
  const auto far = [&](int k) {
    return Vec4(middle + 4 * (on(k) - middle));
  };
  CutTetrahedron cut;
  cut.reset({true, false, false, false});
  cut.add_triangle(0, {far(1), far(2), far(3)}, {0, 1, 2});
  ASSERT_TRUE(cut.integrate());
  ASSERT_EQ(cut.pieces().size(), 1u);
  const CellMoments m = cut.pieces()[0];
  EXPECT_NEAR(m.fraction(), s * s * s, 1e-15);
  EXPECT_NEAR(m.pair(1, 2), std::pow(s, 5) / 20, 1e-15);
  EXPECT_NEAR(m.pair(0, 0), std::pow(s, 3) * (c * c + 2 * c * s / 4 + s * s / 10), 1e-15);
  // L_1^2 L_2^2: 3! 2! 2! / 7!.
  EXPECT_NEAR(m.quad(pair_index(1, 1), pair_index(2, 2)), std::pow(s, 7) * 24 / 5040, 1e-15);
  // The other side is what is left.
  cut.reset({false, true, true, true});
  cut.add_triangle(0, {far(1), far(3), far(2)}, {0, 1, 2});
  ASSERT_TRUE(cut.integrate());
  for (std::size_t k = 0; k < 35; ++k)
    EXPECT_NEAR(cut.pieces()[0].quads[k] + m.quads[k], whole_moments().quads[k], 1e-15);
}

TEST(CutTetrahedron, MonomialsOfAHalfSpace)
{
  // The part L_1 + L_2 + L_3 <= s is the tetrahedron shrunk towards corner 0: a monomial of degree k has
  // s^(k + 3) of its integral over the whole.
  const double s = 0.63;
  const auto on = [&](int k) {
    Vec4 p = Vec4::Zero();
    p[0] = 1 - s;
    p[k] = s;
    return p;
  };
  const Vec4 middle = (on(1) + on(2) + on(3)) / 3;
  const auto far = [&](int k) {
    return Vec4(middle + 4 * (on(k) - middle));
  };
  for (const int degree : {6, 8}) {
    CutTetrahedron cut;
    cut.reset({true, false, false, false}, degree);
    cut.add_triangle(0, {far(1), far(2), far(3)}, {0, 1, 2});
    ASSERT_TRUE(cut.integrate());
    const std::vector<double> small = cut.monomial_pieces()[0];
    cut.reset({false, true, true, true}, degree);
    cut.add_triangle(0, {far(1), far(3), far(2)}, {0, 1, 2});
    ASSERT_TRUE(cut.integrate());
    const std::vector<double> rest = cut.monomial_pieces()[0];
    const std::vector<double> whole = whole_monomial_moments(degree);
    ASSERT_EQ(small.size(), monomial_count(degree));
    for (std::size_t m = 0; m < whole.size(); ++m) {
      const auto& [a, b, c] = monomials()[m];
      EXPECT_NEAR(small[m], std::pow(s, a + b + c + 3) * whole[m], 1e-15) << a << b << c;
      EXPECT_NEAR(small[m] + rest[m], whole[m], 1e-15) << a << b << c;
    }
  }
}

TEST(CutTetrahedron, TwoWallsAreTwoPieces)
{
  // Material near corner 0 and near corner 1, with a gap between.
  const auto near = [](int corner, int other, double share) {
    Vec4 middle = Vec4::Constant(share / 3);
    middle[corner] = 1 - share;
    Vec4 p = Vec4::Zero();
    p[corner] = 1 - share;
    p[other] = share;
    return Vec4(middle + 1.2 * (p - middle));
  };
  CutTetrahedron cut;
  cut.reset({true, true, false, false});
  cut.add_triangle(0, {near(0, 1, 0.4), near(0, 2, 0.4), near(0, 3, 0.4)}, {0, 1, 2});
  cut.add_triangle(1, {near(1, 0, 0.4), near(1, 3, 0.4), near(1, 2, 0.4)}, {3, 4, 5});
  ASSERT_TRUE(cut.integrate());
  ASSERT_EQ(cut.pieces().size(), 2u);
  for (const CellMoments& piece : cut.pieces()) EXPECT_NEAR(piece.fraction(), 0.4 * 0.4 * 0.4, 1e-15);
  EXPECT_NE(cut.corner_pieces()[0], cut.corner_pieces()[1]);
  EXPECT_NE(cut.piece_of_triangle(0), cut.piece_of_triangle(1));
  // A surface that faces the wrong way does not fit the corners.
  cut.reset({true, true, false, false});
  cut.add_triangle(0, {near(0, 2, 0.4), near(0, 1, 0.4), near(0, 3, 0.4)}, {0, 1, 2});
  EXPECT_FALSE(cut.integrate());
}

TEST(CutCells, MassAndInertiaAreThoseOfTheSurface)
{
  base::Random random(7);
  const std::vector<mesh::TriangleMesh> surfaces = {
      shapes::generate(shapes::BoxDesc{.size = Vec3(0.5, 0.012, 0.01)}),
      shapes::generate(shapes::TorusDesc{.major_segments = 20, .minor_segments = 9}),
      shapes::generate(shapes::BowlDesc{.thickness = 0.001, .edge_length = 0.006}),
      shapes::generate(shapes::MugDesc{})};
  for (const mesh::TriangleMesh& surface : surfaces) {
    const double size = mesh::bounding_box(surface).sizes().maxCoeff();
    for (const double share : {0.3, 0.11}) {
      SCOPED_TRACE(share);
      expect_exact(surface, share * size);
      const Vec3 shift(random.normal(), random.normal(), random.normal());
      expect_exact(placed(surface, random_rotation(random), shift), share * size);
    }
  }
}

TEST(CutCells, RandomPolyhedra)
{
  // Spheres whose vertices are moved in and out at random: not convex, with sharp edges and tips.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    mesh::TriangleMesh surface = shapes::generate(shapes::SphereDesc{.radius = 1, .edge_length = 0.5});
    for (Vec3& v : surface.vertices) v *= random.uniform(0.3, 1.0);
    expect_exact(placed(std::move(surface), random_rotation(random), Vec3(3, -2, 1)),
                 random.uniform(0.15, 1.5));
  }
}

TEST(CutCells, FacesInThePlanesOfTheLattice)
{
  // Boxes whose faces fall on the planes of many lattices, and a lattice with faces in a face of the box.
  const mesh::TriangleMesh box = shapes::generate(shapes::BoxDesc{.size = Vec3(1, 1, 1)});
  for (const double spacing : {1.0, 0.5, 0.25, 1.0 / 3}) {
    expect_exact(box, spacing);
    for (const double offset : {-0.5, 0.0, 0.5}) {
      const CutCells cells(distance::MeshDistance(box),
                           {.spacing = spacing, .plane = CutCellsDesc::Plane{Vec3::UnitX(), offset}});
      EXPECT_NEAR(cells.volume(), 1, 1e-9);
      // No tetrahedron reaches across the plane.
      for (const Tetrahedron& t : cells.mesh().tetrahedra) {
        double low = 1e9;
        double high = -1e9;
        for (const Index v : t) {
          low = std::min(low, cells.mesh().vertices[at(v)].x());
          high = std::max(high, cells.mesh().vertices[at(v)].x());
        }
        EXPECT_TRUE(high < offset + 1e-5 || low > offset - 1e-5) << low << " " << high;
      }
    }
  }
}

TEST(CutCells, ANarrowGapIsNotBridged)
{
  // Two plates 1 mm apart, joined at one end, in cubes of 30 mm: a path through the elements from the free
  // end of one plate to the other must go through the joint, so the free ends share no vertex.
  const auto block = [](const Vec3& size, const Vec3& centre) {
    return placed(shapes::generate(shapes::BoxDesc{.size = size}), Mat3::Identity(), centre);
  };
  const std::vector<mesh::TriangleMesh> parts = {block(Vec3(0.3, 0.1, 0.01), Vec3(0, 0, 0.0055)),
                                                 block(Vec3(0.3, 0.1, 0.01), Vec3(0, 0, -0.0055)),
                                                 block(Vec3(0.03, 0.1, 0.02), Vec3(-0.15, 0, 0))};
  const mesh::TriangleMesh fork = shapes::boolean_union(parts);
  const distance::MeshDistance distance(fork);
  const CutCells cells(distance, {.spacing = 0.03});
  EXPECT_NEAR(cells.volume(), mesh::signed_volume(fork), 1e-9 * cells.volume());
  const auto corners_at = [&](const Vec3& p) {
    const mesh::ClosestPoint closest = distance.bvh().closest_point(p);
    return cells.mesh().tetrahedra[at(cells.find(closest.point, closest.triangle).tetrahedron)];
  };
  const Tetrahedron upper = corners_at(Vec3(0.12, 0.013, 0.0105));
  const Tetrahedron lower = corners_at(Vec3(0.12, 0.013, -0.0105));
  for (const Index a : upper)
    for (const Index b : lower) EXPECT_NE(a, b);
}

TEST(CutCells, FindsPointsOfTheSurface)
{
  const mesh::TriangleMesh mug = shapes::generate(shapes::MugDesc{});
  const CutCells cells(distance::MeshDistance(mug), {.spacing = 0.008});
  for (std::size_t t = 0; t < mug.triangles.size(); ++t) {
    for (const Index v : mug.triangles[t]) {
      const Vec3& p = mug.vertices[at(v)];
      const CutCells::Place place = cells.find(p, static_cast<Index>(t));
      EXPECT_GT(place.at.minCoeff(), -1e-4);
      Vec3 back = Vec3::Zero();
      for (std::size_t k = 0; k < 4; ++k)
        back += place.at[static_cast<Eigen::Index>(k)] *
                cells.mesh().vertices[at(cells.mesh().tetrahedra[at(place.tetrahedron)][k])];
      EXPECT_LT((back - p).norm(), 1e-12);
    }
  }
}

// A cell without a part of the surface has a neighbour with the same vertices at each face.
void expect_whole_cells_have_neighbours(const CutCells& cells)
{
  std::map<std::array<Index, 3>, int> count;
  const auto face = [&](std::size_t t, std::size_t opposite) {
    std::array<Index, 3> corners{};
    std::size_t n = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (k != opposite) corners[n++] = cells.mesh().tetrahedra[t][k];
    std::sort(corners.begin(), corners.end());
    return corners;
  };
  for (std::size_t t = 0; t < cells.mesh().tetrahedra.size(); ++t)
    for (std::size_t f = 0; f < 4; ++f) ++count[face(t, f)];
  int whole = 0;
  for (std::size_t t = 0; t < cells.mesh().tetrahedra.size(); ++t) {
    if (cells.moments(t) != nullptr) continue;
    ++whole;
    for (std::size_t f = 0; f < 4; ++f) EXPECT_GE(count[face(t, f)], 2) << t;
  }
  EXPECT_GT(whole, 10);
}

// Bisected at random, several times over: moments stay exact, faces match, no tetrahedron becomes narrow, and
// points are found.
TEST(CutCells, StayExactWhenBisected)
{
  base::Random random(3);
  const mesh::TriangleMesh mug = placed(shapes::generate(shapes::MugDesc{.cup = {.thickness = 0.009}}),
                                        random_rotation(random), Vec3(0.1, -0.2, 0.3));
  const distance::MeshDistance distance(mug);
  CutCells cells(distance, {.spacing = 0.02, .degree = 3});
  const double narrowest = measure_quality(cells.mesh()).min_dihedral;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint8_t> levels(cells.mesh().tetrahedra.size());
    std::uint8_t most = 0;
    for (std::uint8_t& level : levels)
      most = std::max(most, level = static_cast<std::uint8_t>(std::max(0.0, random.uniform(-8, 4))));
    ASSERT_GT(most, 0);
    const std::optional<CutCells> finer = cells.refined(distance, levels);
    ASSERT_TRUE(finer.has_value());
    EXPECT_GT(finer->mesh().tetrahedra.size(), 1.2 * static_cast<double>(levels.size()));
    cells = *finer;
    expect_properties(mug, cells);
    if (round > 0) expect_whole_cells_have_neighbours(cells);
    EXPECT_GT(measure_quality(cells.mesh()).min_dihedral, 0.7 * narrowest);
  }
  for (std::size_t v = 0; v < mug.vertices.size(); ++v) {
    const CutCells::Place place = cells.find(mug.vertices[v], -1);
    EXPECT_GT(place.at.minCoeff(), -1e-4);
  }
  // The moments of another degree are those of the same cells.
  const CutCells quartic = cells.of_degree(distance, 4);
  ASSERT_EQ(quartic.mesh().tetrahedra, cells.mesh().tetrahedra);
  for (std::size_t t = 0; t < cells.mesh().tetrahedra.size(); ++t) {
    const auto low = cells.monomial_moments(t);
    const auto high = quartic.monomial_moments(t);
    ASSERT_EQ(low.empty(), high.empty());
    for (std::size_t m = 0; m < low.size(); ++m) EXPECT_NEAR(low[m], high[m], 1e-13);
    if (!low.empty()) {
      EXPECT_NEAR(low[0], cells.moments(t)->fraction(), 1e-13);
    }
  }
}

TEST(CutCells, RejectASurfaceThatCrossesItself)
{
  mesh::TriangleMesh two = shapes::generate(shapes::BoxDesc{.size = Vec3(1, 1, 1)});
  const auto count = static_cast<Index>(two.vertices.size());
  const mesh::TriangleMesh second = two;
  for (const Vec3& v : second.vertices) two.vertices.push_back(v + Vec3(0.4, 0.3, 0.2));
  for (Triangle t : second.triangles) {
    for (Index& v : t) v += count;
    two.triangles.push_back(t);
  }
  EXPECT_THROW(CutCells(distance::MeshDistance(two), {.spacing = 0.2}), CrossingSurface);
}

}  // namespace
}  // namespace thrum::tets
