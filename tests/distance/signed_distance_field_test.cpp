// SPDX-License-Identifier: MIT
#include "thrum/distance/signed_distance_field.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/test_meshes.h"
#include "thrum/base/error.h"
#include "thrum/distance/octree_distance_field.h"
#include "thrum/distance/uniform_distance_field.h"

namespace thrum::distance {
namespace {

using support::box_mesh;
using support::flipped;
using support::random_point;
using support::sphere_mesh;
using support::torus_mesh;

static_assert(DistanceField<SignedDistanceField>);
static_assert(DistanceField<UniformDistanceField>);
static_assert(DistanceField<OctreeDistanceField>);

// A closed shape that a grid of 24 cells or more resolves, chosen by number.
mesh::TriangleMesh some_shape(int which)
{
  switch (which % 4) {
    case 0:
      return box_mesh({-1, -0.7, -0.5}, {1, 0.7, 0.5});
    case 1:
      return sphere_mesh(1, 3);
    case 2:
      return torus_mesh(0.7, 0.3, 30, 20);
    default: {
      mesh::TriangleMesh hollow = box_mesh({-1, -1, -1}, {1, 1, 1});
      mesh::append(hollow, flipped(sphere_mesh(0.6, 2)));
      return hollow;
    }
  }
}

RC_GTEST_PROP(SignedDistanceField, IsWithinHalfACellOfExact, (unsigned seed))
{
  std::mt19937 generator(seed);
  const MeshDistance mesh(some_shape(static_cast<int>(generator() % 4)));
  DistanceFieldDesc desc;
  desc.resolution = *rc::gen::inRange(24, 40);
  const SignedDistanceField field(mesh, desc);
  const UniformDistanceField uniform(mesh, desc);
  const OctreeDistanceField octree(mesh, desc);
  const double h = field.spacing();
  for (int i = 0; i < 300; ++i) {
    const Vec3 p = random_point(generator, 1.3);
    const double exact = mesh.signed_distance(p).distance;
    // Half the diagonal of a cell bounds the error everywhere in a grid; in the band it is half a cell.
    if (uniform.bounds().contains(p)) RC_ASSERT(std::abs(uniform.value(p) - exact) <= std::sqrt(3.0) / 2 * h);
    if (std::abs(exact) <= desc.band * h) {
      RC_ASSERT(field.is_fine(p));
      RC_ASSERT(std::abs(field.value(p) - exact) <= 0.5 * h);
      RC_ASSERT(std::abs(uniform.value(p) - exact) <= 0.5 * h);
      RC_ASSERT(std::abs(octree.value(p) - exact) <= 0.5 * h);
    } else if (field.is_fine(p)) {
      RC_ASSERT(std::abs(field.value(p) - exact) <= std::sqrt(3.0) / 2 * h);
    } else if (field.bounds().contains(p)) {
      // Far away half the diagonal of a block bounds the error even at the medial axis, and the sign is
      // correct.
      RC_ASSERT(std::abs(field.value(p) - exact) <=
                std::sqrt(3.0) / 2 * h * SignedDistanceField::kBlockCells);
      RC_ASSERT((field.value(p) < 0) == (exact < 0));
      RC_ASSERT((octree.value(p) < 0) == (exact < 0));
    }
  }
}

TEST(SignedDistanceField, NodesOfFineBlocksAreExact)
{
  // Few large triangles, a fine mesh, and a soup with needles and points, of which only the magnitude is
  // compared.
  std::mt19937 generator(9);
  const mesh::TriangleMesh soup = support::random_triangles(generator, 60, 0.4);
  for (const mesh::TriangleMesh& shape : {some_shape(0), sphere_mesh(1, 5), soup}) {
    const MeshDistance mesh(shape, SignMethod::pseudonormal);
    const SignedDistanceField field(mesh, {.resolution = 40});
    const GridFrame& frame = field.frame();
    int compared = 0;
    for (int n = 0; n < 4000; ++n) {
      const auto node = [&](std::size_t d) {
        return static_cast<int>(generator() % static_cast<unsigned>(frame.cells[d]));
      };
      const int i = node(0), j = node(1), k = node(2);
      const Vec3 p = frame.node(i, j, k);
      if (!field.is_fine(p)) continue;
      const double exact = mesh.signed_distance(p).distance;
      const double stored = field.value(p);
      ASSERT_NEAR(std::abs(stored), std::abs(exact), 2e-5 * frame.spacing);
      if (mesh.normals().closed) {
        ASSERT_NEAR(stored, exact, 2e-5 * frame.spacing);
      }
      ++compared;
    }
    EXPECT_GT(compared, 500);
  }
}

TEST(SignedDistanceField, ErrorFallsWithTheSquareOfTheSpacingNearASmoothSurface)
{
  // The bound of trilinear interpolation, h^2 / 8 (|f_xx| + |f_yy| + |f_zz|), with second derivatives 2 / r
  // in all for the distance to a sphere. The facets of the mesh lie below the sphere by up to half the square
  // of their radius.
  const MeshDistance mesh(sphere_mesh(1, 6));
  double facet = 0;
  for (std::size_t t = 0; t < mesh.bvh().mesh().triangles.size(); ++t) {
    const mesh::TriangleMesh& m = mesh.bvh().mesh();
    facet = std::max(facet, 1 - (m.corner(t, 0) + m.corner(t, 1) + m.corner(t, 2)).norm() / 3);
  }
  std::mt19937 generator(4);
  for (const int resolution : {12, 24, 48}) {
    const SignedDistanceField field(mesh, {.resolution = resolution});
    const double h = field.spacing();
    double worst = 0;
    for (int i = 0; i < 2000; ++i) {
      const Vec3 p = random_point(generator, 1).normalized() * (1 + h * random_point(generator, 1).x());
      worst = std::max(worst, std::abs(field.value(p) - (p.norm() - 1)));
    }
    EXPECT_LT(worst, h * h / 4 / (1 - 2 * h) + 1.5 * facet) << "resolution " << resolution;
    EXPECT_GT(worst, h * h / 40) << "the bound is not too loose";
  }
}

TEST(SignedDistanceField, GradientIsThatOfTheInterpolant)
{
  const MeshDistance mesh(torus_mesh(0.7, 0.3, 40, 24));
  const SignedDistanceField field(mesh, {.resolution = 40});
  const UniformDistanceField uniform(mesh, {.resolution = 40});
  const OctreeDistanceField octree(mesh, {.resolution = 40});
  const double h = field.spacing();
  std::mt19937 generator(6);
  // Inside a cell the interpolant is linear along each axis, so a central difference is exact except for
  // float rounding.
  const double step = 0.02 * h;
  const auto check = [&](const auto& any, const Vec3& p) {
    const FieldSample s = any.sample(p);
    EXPECT_EQ(any.value(p), static_cast<double>(s.value));
    for (int d = 0; d < 3; ++d) {
      const double difference =
          (any.value(p + step * Vec3::Unit(d)) - any.value(p - step * Vec3::Unit(d))) / (2 * step);
      EXPECT_NEAR(s.gradient[static_cast<std::size_t>(d)], difference, 1e-3);
    }
  };
  for (int i = 0; i < 300; ++i) {
    const Vec3 place =
        random_point(generator, 0.4) + Vec3::Constant(0.5);  // in the cell, away from its faces
    const GridFrame& frame = field.frame();
    const auto cell = [&](int d) {
      return static_cast<int>(generator() % static_cast<unsigned>(frame.cells[static_cast<std::size_t>(d)]));
    };
    const int ci = cell(0), cj = cell(1), ck = cell(2);
    check(field, frame.node(ci, cj, ck) + h * place);
    // Outside the grid too.
    check(field, frame.node(ci, cj, frame.cells[2] + 5) + h * place);
  }
  for (int i = 0; i < 100; ++i) {
    const double angle = 0.063 * i;
    const FieldSample s = field.sample(Vec3(0.7 + 0.33 * std::cos(angle), 0, 0.33 * std::sin(angle)));
    EXPECT_NEAR(s.direction().norm(), 1, 0.07);
  }
  check(uniform, uniform.frame().node(7, 8, 5) + h * Vec3(0.3, 0.4, 0.6));
  check(octree, Vec3(3, 0.213, 0.128));
}

TEST(SignedDistanceField, BatchAndSingleSamplesAreBitIdentical)
{
  const MeshDistance mesh(some_shape(3));
  const SignedDistanceField field(mesh, {.resolution = 24});
  std::mt19937 generator(8);
  std::vector<Vec3> points;
  for (int i = 0; i < 500; ++i) points.push_back(random_point(generator, 2));
  points.push_back(field.bounds().min());
  points.push_back(field.bounds().max());
  points.emplace_back(1e30, -1e30, 0);
  std::vector<FieldSample> samples(points.size());
  field.sample(points, samples);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FieldSample one = field.sample(points[i]);
    EXPECT_EQ(one.value, samples[i].value);
    EXPECT_EQ(one.gradient, samples[i].gradient);
    EXPECT_TRUE(std::isfinite(one.value));
  }
}

RC_GTEST_PROP(SignedDistanceField, RangesBoundTheExactAndTheStoredDistance, (unsigned seed))
{
  std::mt19937 generator(seed);
  const MeshDistance mesh(some_shape(static_cast<int>(generator() % 4)));
  const SignedDistanceField field(mesh, {.resolution = 30});
  for (int i = 0; i < 30; ++i) {
    const Vec3 centre = random_point(generator, i % 3 == 0 ? 4.0 : 1.3);
    const Vec3 half = random_point(generator, i % 2 == 0 ? 1.0 : 0.1).cwiseAbs();
    const Box3 box(centre - half, centre + half);
    const DistanceRange range = field.range(box);
    for (int n = 0; n < 30; ++n) {
      const Vec3 p = centre + half.cwiseProduct(random_point(generator, 1));
      const double exact = mesh.signed_distance(p).distance;
      const double stored = field.value(p);
      RC_ASSERT(range.lower <= exact && exact <= range.upper);
      const double rounding = 1e-6 * std::abs(stored);
      RC_ASSERT(range.lower <= stored + rounding && stored <= range.upper + rounding);
    }
  }
}

TEST(SignedDistanceField, RangesExcludeRegionsFarFromTheSurface)
{
  const MeshDistance mesh(sphere_mesh(1, 3));
  const SignedDistanceField field(mesh, {.resolution = 64});
  const Vec3 little = Vec3::Constant(0.05);
  EXPECT_LT(field.range(Box3(-little, little)).upper, -0.4);
  const Vec3 corner(0.95, 0.95, 0.95);
  EXPECT_GT(field.range(Box3(corner - little, corner + little)).lower, 0.1);
  const Vec3 away(5, 0, 0);
  EXPECT_GT(field.range(Box3(away - little, away + little)).lower, 3);
}

TEST(SignedDistanceField, ThinPlateOpenMeshAndCavityKeepTheirSigns)
{
  // A plate two cells thick.
  const MeshDistance plate(box_mesh({-1, -1, -0.04}, {1, 1, 0.04}));
  const SignedDistanceField plate_field(plate, {.resolution = 50});
  EXPECT_LT(plate_field.value({0.31, 0.22, 0}), -0.02);
  EXPECT_GT(plate_field.value({0.31, 0.22, 0.08}), 0.02);
  EXPECT_GT(plate_field.value({0.31, 0.22, -0.08}), 0.02);

  mesh::TriangleMesh open = sphere_mesh(1, 3);
  std::erase_if(open.triangles,
                [&](const Triangle& t) { return open.vertices[static_cast<std::size_t>(t[0])].z() > 0.9; });
  const MeshDistance bowl(open);
  const SignedDistanceField bowl_field(bowl, {.resolution = 24});
  EXPECT_LT(bowl_field.value({0, 0, 0}), -0.5);
  EXPECT_LT(bowl_field.value({0, 0, -0.9}), 0);
  EXPECT_GT(bowl_field.value({0, 0, -1.1}), 0);
  EXPECT_GT(bowl_field.value({0, 0, 1.2}), 0);

  const SignedDistanceField cavity(MeshDistance(some_shape(3)), {.resolution = 24});
  EXPECT_GT(cavity.value({0, 0, 0}), 0);
  EXPECT_LT(cavity.value({0, 0, 0.8}), 0);
}

TEST(SignedDistanceField, TrueNormalAtASharpEdgeWhereTheGradientIsRound)
{
  const MeshDistance cube(box_mesh({-1, -1, -1}, {1, 1, 1}));
  const SignedDistanceField field(cube, {.resolution = 32});
  const Vec3 p(0.995, 0.2, 0.98);  // inside, nearer to the face x = 1
  const SurfaceNormal s = closest_surface_normal(field, cube, p);
  EXPECT_LT((s.normal - Vec3(1, 0, 0)).norm(), 1e-14);
  EXPECT_LT((s.point - Vec3(1, 0.2, 0.98)).norm(), 1e-14);
  EXPECT_NEAR(s.distance, -0.005, 1e-15);
  EXPECT_GT((field.sample(p).direction().normalized() - s.normal).norm(), 0.1);
  EXPECT_NEAR(closest_surface_normal(field, cube, {0, 5, 0}).distance, 4, 1e-14);
}

TEST(SignedDistanceField, DegenerateMeshesWorkOrThrow)
{
  EXPECT_THROW(MeshDistance(mesh::TriangleMesh{}), Error);
  const mesh::TriangleMesh one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const SignedDistanceField single(MeshDistance(one), {.resolution = 16});
  EXPECT_NEAR(std::abs(single.value({0.25, 0.25, 0.125})), 0.125, 0.5 / 16);
  mesh::TriangleMesh doubled = box_mesh({-1, -1, -1}, {1, 1, 1});
  mesh::append(doubled, box_mesh({-1, -1, -1}, {1, 1, 1}));
  EXPECT_LT(SignedDistanceField(MeshDistance(doubled), {.resolution = 16}).value({0.9, 0, 0}), 0);

  const MeshDistance point(mesh::TriangleMesh{{Vec3(7, 8, 9)}, {{0, 0, 0}}});
  EXPECT_THROW(SignedDistanceField(point, {}), Error);
  EXPECT_NEAR(SignedDistanceField(point, {.spacing = 0.1}).value({7, 8, 9.2}), 0.2, 0.1);

  const MeshDistance good(one);
  EXPECT_THROW(SignedDistanceField(good, {.resolution = 0}), Error);
  EXPECT_THROW(SignedDistanceField(good, {.spacing = -1}), Error);
  EXPECT_THROW(SignedDistanceField(good, {.spacing = 1e-12}), Error);
  EXPECT_THROW(SignedDistanceField(good, {.band = 0}), Error);
}

TEST(SignedDistanceField, BytesRoundTripAndBadBytesAreRejected)
{
  const MeshDistance mesh(some_shape(2));
  const SignedDistanceField field(mesh, {.resolution = 24});
  const std::vector<std::byte> bytes = field.to_bytes();
  const SignedDistanceField back = SignedDistanceField::from_bytes(bytes);
  EXPECT_EQ(back.to_bytes(), bytes);
  EXPECT_EQ(back.value({0.7, 0.1, 0.2}), field.value({0.7, 0.1, 0.2}));
  EXPECT_EQ(back.range(back.bounds()).lower, field.range(field.bounds()).lower);

  const auto expect_rejected = [&](std::vector<std::byte> changed) {
    EXPECT_THROW(static_cast<void>(SignedDistanceField::from_bytes(changed)), Error);
  };
  expect_rejected({});
  for (const std::size_t length : {std::size_t{7}, std::size_t{63}, std::size_t{64}, bytes.size() - 1}) {
    expect_rejected({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
  }
  const auto with = [&](std::size_t offset, auto value) {
    std::vector<std::byte> changed = bytes;
    std::memcpy(changed.data() + offset, &value, sizeof(value));
    return changed;
  };
  expect_rejected(with(0, 'X'));
  expect_rejected(with(8, std::uint32_t{2}));
  expect_rejected(with(40, -1.0));
  expect_rejected(with(48, std::int32_t{0x7ffffff8}));
  expect_rejected(with(60, std::int32_t{-1}));
  expect_rejected(with(64, std::int32_t{1 << 30}));
  expect_rejected(with(bytes.size() - 4, std::numeric_limits<float>::quiet_NaN()));
}

}  // namespace
}  // namespace thrum::distance
