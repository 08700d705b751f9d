// SPDX-License-Identifier: MIT
#include "thrum/distance/heat_geodesics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/surface_samples.h"
#include "thrum/base/error.h"

namespace thrum::distance {
namespace {

constexpr double kPi = std::numbers::pi;

struct Errors {
  double mean = 0;
  double largest = 0;
};

// Errors at the vertices as fractions of the largest exact distance.
template <class Exact>
Errors errors(const mesh::TriangleMesh& mesh, const GeodesicField& field, const Exact& exact)
{
  Errors e;
  double farthest = 0;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const double expected = exact(mesh.vertices[v]);
    const double error = std::abs(field.vertex_distance[v] - expected);
    e.mean += error / static_cast<double>(mesh.vertices.size());
    e.largest = std::max(e.largest, error);
    farthest = std::max(farthest, expected);
  }
  return {e.mean / farthest, e.largest / farthest};
}

TEST(HeatGeodesics, PlaneConvergesFromAPointInsideATriangle)
{
  Errors before;
  for (const int n : {12, 24, 48}) {
    const mesh::TriangleMesh mesh = support::plane(n, n, 1, 1);
    const mesh::SurfacePoint source{n * n + n, Vec3(0.5, 0.3, 0.2)};
    const Vec3 centre = mesh::position(mesh, source);
    const HeatGeodesics geodesics(mesh);
    const Errors now =
        errors(mesh, geodesics.distance(source), [&](const Vec3& p) { return (p - centre).norm(); });
    if (before.mean > 0) {
      EXPECT_LT(now.mean, 0.75 * before.mean);
      EXPECT_LT(now.largest, 0.75 * before.largest);
    }
    before = now;
  }
  EXPECT_LT(before.mean, 0.003);
}

TEST(HeatGeodesics, SphereConverges)
{
  double before = 0;
  for (const int level : {2, 3, 4}) {
    const mesh::TriangleMesh mesh = support::sphere(level);
    const mesh::SurfacePoint source{11, Vec3(0.3, 0.3, 0.4)};
    const Vec3 centre = mesh::position(mesh, source).normalized();
    const HeatGeodesics geodesics(mesh);
    const Errors now = errors(mesh, geodesics.distance(source), [&](const Vec3& p) {
      return std::atan2(p.cross(centre).norm(), p.dot(centre));
    });
    if (before > 0) {
      EXPECT_LT(now.mean, 0.75 * before);
    }
    before = now.mean;
  }
  EXPECT_LT(before, 0.003);
}

TEST(HeatGeodesics, TorusAlongItsMeridianAndItsInnerEquator)
{
  // With ds^2 = r^2 dv^2 + (R + r cos v)^2 du^2, |dv| r bounds every path from below and the meridian reaches
  // it; so does (R - r) |du| and the inner equator.
  const double R = 1.0;
  const double r = 0.4;
  const int around = 80;
  const int tube = 32;
  const mesh::TriangleMesh mesh = support::torus(around, tube, R, r);
  const auto vertex = [](int i, int j) {
    return static_cast<std::size_t>(j * 80 + i);
  };
  for (const bool polish : {false, true}) {
    const double tolerance = polish ? 0.005 : 0.06;
    const HeatGeodesics geodesics(mesh, {.polish = polish});
    const GeodesicField outer = geodesics.distance_from_vertex(0);
    for (int j = 0; j <= tube / 2; ++j) {
      const double exact = r * 2 * kPi * j / tube;
      EXPECT_NEAR(outer.vertex_distance[vertex(0, j)], exact, tolerance * kPi * r);
    }
    const GeodesicField inner = geodesics.distance_from_vertex(static_cast<Index>(vertex(0, tube / 2)));
    for (int i = 0; i <= around / 2; ++i) {
      const double exact = (R - r) * 2 * kPi * i / around;
      EXPECT_NEAR(inner.vertex_distance[vertex(i, tube / 2)], exact, tolerance * kPi * (R - r));
    }
  }
}

TEST(HeatGeodesics, NeedlesOfACylinderDoNotReduceAccuracy)
{
  // 96 x 6 quadrilaterals on a cylinder_side: triangles 10 times as long as wide. Unrolled, distances are
  // straight.
  const double radius = 0.5;
  const double height = 2;
  const mesh::TriangleMesh mesh = support::cylinder_side(96, 6, radius, height);
  const mesh::SurfacePoint source{2 * 96 * 3, Vec3(1, 0, 0)};
  const auto exact = [&](const Vec3& p) {
    return std::hypot(radius * std::atan2(p.y(), p.x()), p.z() - 0.5 * height);
  };
  const Errors flipped = errors(mesh, HeatGeodesics(mesh).distance(source), exact);
  EXPECT_LT(flipped.mean, 0.02);
  const Errors polished = errors(mesh, HeatGeodesics(mesh, {.polish = true}).distance(source), exact);
  EXPECT_LT(polished.largest, 0.01);
  // Halving the long edges allows the heat flow to change direction.
  const Errors refined = errors(mesh, HeatGeodesics(mesh, {.max_edge_length = 0.07}).distance(source), exact);
  EXPECT_LT(refined.mean, 0.75 * flipped.mean);
}

TEST(HeatGeodesics, ShearedNeedlesOnAPlaneNeedTheDelaunayTriangulation)
{
  // The same points with two triangulations: quadrilaterals sheared by six columns are needles.
  mesh::TriangleMesh mesh = support::plane(40, 10, 4, 1);
  for (Vec3& p : mesh.vertices) p.x() += 6 * p.y();
  const mesh::SurfacePoint source{2 * (40 * 5 + 20), Vec3(1, 0, 0)};
  const Vec3 centre = mesh::position(mesh, source);
  // Only near the source: far away the straight line leaves the parallelogram.
  const auto mean_error = [&](const HeatGeodesicsDesc& desc) {
    const GeodesicField field = HeatGeodesics(mesh, desc).distance(source);
    double sum = 0;
    int count = 0;
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
      const double exact = (mesh.vertices[v] - centre).norm();
      if (exact > 1 || exact == 0) continue;
      sum += std::abs(field.vertex_distance[v] - exact) / exact;
      ++count;
    }
    return sum / count;
  };
  const double with_flips = mean_error({});
  const double without = mean_error({.intrinsic_delaunay = false});
  EXPECT_LT(with_flips, 0.1);
  EXPECT_LT(with_flips, 0.5 * without);
}

TEST(HeatGeodesics, BoxOfTwelveTrianglesByRefinement)
{
  const mesh::TriangleMesh mesh = support::box({1, 1, 1});
  // The middle of the top's diagonal, and the same of each side: 1 m apart over the edge; the bottom is 2 m
  // away.
  for (const bool polish : {false, true}) {
    const HeatGeodesics geodesics(mesh, {.max_edge_length = 0.06, .polish = polish});
    const GeodesicField field = geodesics.distance(mesh::SurfacePoint{2, Vec3(0, 0.5, 0.5)});
    const double tolerance = polish ? 0.01 : 0.04;
    for (const Index side : {4, 6, 8, 10}) {
      // The diagonal of each of these faces is an edge of its first triangle.
      const Triangle& t = mesh.triangles[static_cast<std::size_t>(side)];
      for (int k = 0; k < 3; ++k) {
        Vec3 b = Vec3::Constant(0.5);
        b[k] = 0;
        const Vec3 p = mesh::position(mesh, {side, b});
        if (std::abs(p.z() - 0.5) > 1e-9 || std::abs((p - Vec3(0.5, 0.5, 0.5)).norm() - 0.5) > 1e-9) continue;
        EXPECT_NEAR(geodesics.evaluate(field, {side, b}), 1, tolerance) << t[0];
      }
    }
    EXPECT_NEAR(geodesics.evaluate(field, {0, Vec3(0, 0.5, 0.5)}), 2, 2 * tolerance);
    // On the top itself, straight.
    for (const Vec3& b : {Vec3(0.6, 0.2, 0.2), Vec3(0.9, 0.05, 0.05), Vec3(0.1, 0.8, 0.1)}) {
      const double exact = (mesh::position(mesh, {2, b}) - Vec3(0.5, 0.5, 1)).norm();
      EXPECT_NEAR(geodesics.evaluate(field, {2, b}), exact, tolerance);
    }
  }
}

TEST(HeatGeodesics, PolishIsExactOnFlatSurfaces)
{
  const mesh::TriangleMesh mesh = support::plane(15, 9, 1.5, 0.9);
  const mesh::SurfacePoint source{100, Vec3(0.2, 0.5, 0.3)};
  const Vec3 centre = mesh::position(mesh, source);
  const HeatGeodesics geodesics(mesh, {.polish = true});
  const Errors e =
      errors(mesh, geodesics.distance(source), [&](const Vec3& p) { return (p - centre).norm(); });
  EXPECT_LT(e.largest, 2e-3);
  EXPECT_LT(e.mean, 1e-4);
}

TEST(HeatGeodesics, ZeroAtTheSourceFromBothSidesOfItsEdge)
{
  const mesh::TriangleMesh mesh = support::sphere(2);
  const HeatGeodesics geodesics(mesh);
  const Triangle& t = mesh.triangles[20];
  // The same point on the edge of the two triangles that share it.
  for (std::size_t s = 0; s < mesh.triangles.size(); ++s) {
    Vec3 b = Vec3::Zero();
    int found = 0;
    for (std::size_t k = 0; k < 3; ++k)
      if (mesh.triangles[s][k] == t[0] || mesh.triangles[s][k] == t[1]) {
        b[static_cast<Eigen::Index>(k)] = 0.5;
        ++found;
      }
    if (found != 2) continue;
    const GeodesicField field = geodesics.distance(mesh::SurfacePoint{20, Vec3(0.5, 0.5, 0)});
    EXPECT_NEAR(geodesics.evaluate(field, {static_cast<Index>(s), b}), 0, 1e-12);
  }
  const GeodesicField at_vertex = geodesics.distance_from_vertex(7);
  EXPECT_EQ(at_vertex.vertex_distance[7], 0);
  for (const double d : at_vertex.vertex_distance) EXPECT_GE(d, 0);
}

RC_GTEST_PROP(HeatGeodesics, SymmetricAndWithinTheTriangleInequality, ())
{
  static const mesh::TriangleMesh mesh = support::torus(40, 16, 1, 0.4);
  static const HeatGeodesics rough(mesh);
  static const HeatGeodesics polished(mesh, {.polish = true});
  const bool polish = *rc::gen::arbitrary<bool>();
  const HeatGeodesics& geodesics = polish ? polished : rough;
  const auto any = [] {
    const double a = *rc::gen::inRange(0, 1000) / 1000.0;
    const double b = *rc::gen::inRange(0, 1000) / 1000.0 * (1 - a);
    return mesh::SurfacePoint{*rc::gen::inRange<Index>(0, 2 * 40 * 16), Vec3(a, b, 1 - a - b)};
  };
  const mesh::SurfacePoint p = any();
  const mesh::SurfacePoint q = any();
  const mesh::SurfacePoint r = any();
  const GeodesicField from_p = geodesics.distance(p);
  const GeodesicField from_q = geodesics.distance(q);
  const double pq = geodesics.evaluate(from_p, q);
  const double qr = geodesics.evaluate(from_q, r);
  const double pr = geodesics.evaluate(from_p, r);
  // A distance may be wrong by half an edge (along the outer equator), a third of that after polishing;
  // comparisons of two or three distances allow two or three times that.
  const double edge = 2 * 1.4 * std::sin(std::numbers::pi / 40);
  const double error = polish ? edge / 6 : edge / 2;
  RC_ASSERT(std::abs(pq - geodesics.evaluate(from_q, p)) < 2 * error);
  RC_ASSERT(pr <= pq + qr + 3 * error);
  RC_ASSERT(pq >= (mesh::position(mesh, p) - mesh::position(mesh, q)).norm() - error);
}

TEST(HeatGeodesics, UnitsDoNotMatter)
{
  mesh::TriangleMesh mesh = support::cylinder_side(24, 10, 0.5, 1);
  const mesh::SurfacePoint source{31, Vec3(0.1, 0.6, 0.3)};
  const std::vector<double> metres = geodesic_distance(mesh, source);
  for (const double factor : {1e-3, 1e3}) {
    mesh::TriangleMesh scaled = mesh;
    mesh::scale(scaled, Vec3::Constant(factor));
    const std::vector<double> other = geodesic_distance(scaled, source);
    for (std::size_t v = 0; v < metres.size(); ++v) EXPECT_NEAR(other[v], factor * metres[v], 1e-9 * factor);
  }
}

TEST(HeatGeodesics, UnreachablePointsAreInfinitelyFar)
{
  mesh::TriangleMesh mesh = support::sphere(2);
  const std::size_t first = mesh.vertices.size();
  mesh::append(mesh, support::plane(3, 3, 1, 1));
  mesh.vertices.emplace_back(9, 9, 9);
  const HeatGeodesics geodesics(mesh);
  EXPECT_EQ(geodesics.info().components, 2);
  const GeodesicField field = geodesics.distance(mesh::SurfacePoint{0, Vec3(1, 1, 1) / 3});
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    EXPECT_EQ(std::isinf(field.vertex_distance[v]), v >= first);
  const Index on_plane = static_cast<Index>(mesh.triangles.size()) - 1;
  EXPECT_TRUE(std::isinf(geodesics.evaluate(field, {on_plane, Vec3(1, 1, 1) / 3})));
  // With a source on each, everything is reached and each component has its own constant.
  const std::vector<mesh::SurfacePoint> both = {{0, Vec3(1, 0, 0)}, {on_plane, Vec3(1, 0, 0)}};
  const GeodesicField all = geodesics.distance(both);
  for (std::size_t v = 0; v + 1 < mesh.vertices.size(); ++v) EXPECT_LT(all.vertex_distance[v], 4);
  EXPECT_THROW(
      static_cast<void>(geodesics.distance_from_vertex(static_cast<Index>(mesh.vertices.size()) - 1)), Error);
}

TEST(HeatGeodesics, SeveralSourcesGiveTheNearest)
{
  const mesh::TriangleMesh mesh = support::plane(30, 10, 3, 1);
  const std::vector<mesh::SurfacePoint> sources = {{2 * (5 * 30 + 4), Vec3(0.4, 0.3, 0.3)},
                                                   {2 * (5 * 30 + 24), Vec3(0.2, 0.3, 0.5)}};
  const HeatGeodesics geodesics(mesh);
  const Vec3 a = mesh::position(mesh, sources[0]);
  const Vec3 b = mesh::position(mesh, sources[1]);
  const Errors e = errors(mesh, geodesics.distance(sources),
                          [&](const Vec3& p) { return std::min((p - a).norm(), (p - b).norm()); });
  EXPECT_LT(e.mean, 0.02);
}

TEST(HeatGeodesics, AveragedBoundaryDistortsLeast)
{
  // A long strip from its middle: insulated rims pull the lines of equal distance one way, cooled rims the
  // other.
  const mesh::TriangleMesh mesh = support::plane(40, 8, 5, 1);
  const mesh::SurfacePoint source{2 * (4 * 40 + 20), Vec3(1, 0, 0)};
  const Vec3 centre = mesh::position(mesh, source);
  const auto error = [&](HeatBoundary boundary) {
    return errors(mesh, HeatGeodesics(mesh, {.boundary = boundary}).distance(source),
                  [&](const Vec3& p) { return (p - centre).norm(); })
        .mean;
  };
  const double averaged = error(HeatBoundary::averaged);
  EXPECT_LT(averaged, error(HeatBoundary::insulated));
  EXPECT_LT(averaged, error(HeatBoundary::cooled));
}

TEST(HeatGeodesics, LongDistancesDoNotUnderflow)
{
  // 3000 quadrilaterals in a row: e^-1500 would be zero.
  const mesh::TriangleMesh mesh = support::plane(3000, 1, 300, 0.1);
  const std::vector<double> d = geodesic_distance(mesh, {0, Vec3(1, 0, 0)});
  EXPECT_NEAR(d[3000], 300, 0.5);
  EXPECT_NEAR(d[1500], 150, 0.5);
}

TEST(HeatGeodesics, PagesOfABookAreReachedOverItsSpine)
{
  // Three pages share the z axis; a path from page to page is straight when unfolded.
  mesh::TriangleMesh mesh;
  const int n = 12;
  for (int page = 0; page < 3; ++page) {
    const double a = 2 * kPi * page / 3;
    mesh::TriangleMesh leaf = support::grid(
        n, n, false, false, [a](double u, double v) { return Vec3(u * std::cos(a), u * std::sin(a), v); });
    mesh::append(mesh, leaf);
  }
  // Merge the spines: column 0 of each page.
  const int per_page = (n + 1) * (n + 1);
  for (Triangle& t : mesh.triangles)
    for (Index& v : t)
      if (v >= per_page && (v % per_page) % (n + 1) == 0) v %= per_page;
  const HeatGeodesics geodesics(mesh, {.polish = true});
  EXPECT_EQ(geodesics.info().shared_edges, n);
  const int middle = (n / 2) * (n + 1) + n / 2;
  const GeodesicField field = geodesics.distance_from_vertex(middle);
  EXPECT_NEAR(field.vertex_distance[static_cast<std::size_t>(per_page + middle)], 1, 0.01);
  EXPECT_NEAR(field.vertex_distance[static_cast<std::size_t>(2 * per_page + middle)], 1, 0.01);
  EXPECT_NEAR(HeatGeodesics(mesh)
                  .distance_from_vertex(middle)
                  .vertex_distance[static_cast<std::size_t>(per_page + middle)],
              1, 0.08);
}

TEST(HeatGeodesics, WorksWithTrianglesWithoutArea)
{
  // A plane whose vertices at the top row are connected by flat triangles, and one triangle with a vertex
  // twice.
  mesh::TriangleMesh mesh = support::plane(10, 10, 1, 1);
  mesh.triangles.push_back({110, 112, 111});
  mesh.triangles.push_back({3, 3, 4});
  const HeatGeodesics geodesics(mesh);
  EXPECT_GT(geodesics.info().added_length, 0);
  const GeodesicField field = geodesics.distance(mesh::SurfacePoint{100, Vec3(1, 0, 0)});
  const Vec3 centre = mesh::position(mesh, {100, Vec3(1, 0, 0)});
  const Errors e = errors(mesh, field, [&](const Vec3& p) { return (p - centre).norm(); });
  EXPECT_LT(e.mean, 0.05);
}

TEST(HeatGeodesics, RejectsInvalidMeshesAndSources)
{
  EXPECT_THROW(HeatGeodesics(mesh::TriangleMesh{}), Error);
  mesh::TriangleMesh bad = support::sphere(0);
  bad.triangles[0][1] = 99;
  EXPECT_THROW(HeatGeodesics{bad}, Error);
  mesh::TriangleMesh point;
  point.vertices.assign(3, Vec3(1, 2, 3));
  point.triangles = {{0, 1, 2}};
  EXPECT_THROW(HeatGeodesics{point}, Error);
  const HeatGeodesics geodesics(support::sphere(1));
  EXPECT_THROW(static_cast<void>(geodesics.distance(mesh::SurfacePoint{99, Vec3(1, 0, 0)})), Error);
  EXPECT_THROW(static_cast<void>(geodesics.distance(mesh::SurfacePoint{0, Vec3(1, 1, 0)})), Error);
  EXPECT_THROW(static_cast<void>(geodesics.distance(std::vector<mesh::SurfacePoint>{})), Error);
  EXPECT_THROW(static_cast<void>(geodesics.distance_from_vertex(-1)), Error);
  EXPECT_THROW(HeatGeodesics(support::sphere(0), {.time_factor = 0}), Error);
}

TEST(HeatGeodesics, BackendsAgree)
{
  if (!numerics::has_backend(numerics::FactorisationBackend::cholmod_supernodal)) {
    GTEST_SKIP() << "built without CHOLMOD";
  }
  const mesh::TriangleMesh mesh = support::torus(30, 12, 1, 0.4);
  const mesh::SurfacePoint source{77, Vec3(0.2, 0.2, 0.6)};
  const auto with = [&](numerics::FactorisationBackend backend) {
    return geodesic_distance(mesh, source, {.backend = backend});
  };
  const std::vector<double> a = with(numerics::FactorisationBackend::eigen_ldlt);
  const std::vector<double> b = with(numerics::FactorisationBackend::cholmod_supernodal);
  for (std::size_t v = 0; v < a.size(); ++v) EXPECT_NEAR(a[v], b[v], 1e-9);
}

}  // namespace
}  // namespace thrum::distance
