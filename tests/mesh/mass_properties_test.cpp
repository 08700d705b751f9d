// SPDX-License-Identifier: MIT
#include "thrum/mesh/mass_properties.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/support/drawing.h"
#include "thrum/base/error.h"
#include "thrum/shapes/shapes.h"

namespace thrum::mesh {
namespace {

using support::real;
using support::whole;

Vec3 vector(double size)
{
  const double x = real(-size, size);
  const double y = real(-size, size);
  return {x, y, real(-size, size)};
}

Pose any_pose(double distance)
{
  const Vec3 axis = vector(1) + Vec3(0, 0, 1.5);
  return {vector(distance), Quat(Eigen::AngleAxisd(real(-3, 3), axis.normalized()))};
}

Mat3 box_inertia(const Vec3& s, double mass)
{
  return Vec3(s.y() * s.y() + s.z() * s.z(), s.z() * s.z() + s.x() * s.x(), s.x() * s.x() + s.y() * s.y())
             .asDiagonal() *
         (mass / 12);
}

RC_GTEST_PROP(MassProperties, OfAnyBoxAnywhereAreExact, ())
{
  const Vec3 size(real(0.01, 3), real(0.01, 3), real(0.01, 3));
  const double density = real(1, 8000);
  const Pose pose = any_pose(10);
  TriangleMesh mesh = generate(shapes::BoxDesc{size, 0, size.maxCoeff() / 3});
  transform(mesh, pose);
  const MassProperties body = solid_mass_properties(mesh, density);
  const double volume = size.prod();
  const double mass = density * volume;
  const Mat3 rotation = pose.rotation.toRotationMatrix();
  const Mat3 expected = rotation * box_inertia(size, mass) * rotation.transpose();
  RC_ASSERT(std::abs(body.volume - volume) < 1e-10 * volume);
  RC_ASSERT(std::abs(body.mass - mass) < 1e-10 * mass);
  RC_ASSERT((body.center - pose.position).norm() < 1e-12 * (1 + pose.position.norm()));
  RC_ASSERT((body.inertia - expected).norm() < 1e-9 * expected.norm());
}

TEST(MassProperties, KeepTheirDigitsFarFromTheOrigin)
{
  // The coordinates themselves carry 1e-16 * 1e6 m = 1e-10 m; the result must not be worse than that.
  TriangleMesh mesh = generate(shapes::BoxDesc{Vec3(0.25, 0.5, 1), 0, 0.25});
  transform(mesh, {Vec3(1e6, -2e6, 3e6), Quat::Identity()});
  const MassProperties body = solid_mass_properties(mesh);
  EXPECT_NEAR(body.volume, 0.125, 1e-9);
  EXPECT_LT((body.inertia - box_inertia(Vec3(0.25, 0.5, 1), 0.125)).norm(), 1e-9);
}

RC_GTEST_PROP(MassProperties, OfARegularPrismFollowItsClosedForm, ())
{
  // Regular n-gon of circumradius R: A = n/2 R^2 sin(2 pi/n), polar second moment A R^2 (2 + cos(2 pi/n))
  // / 6.
  const int n = whole(3, 60);
  const double radius = real(0.05, 2);
  const double height = real(0.05, 2);
  const MassProperties body = solid_mass_properties(generate(shapes::CylinderDesc{radius, height, 0, n}));
  const double step = 2 * std::numbers::pi / n;
  const double base = n / 2.0 * radius * radius * std::sin(step);
  const double polar = base * radius * radius * (2 + std::cos(step)) / 6;
  const double volume = base * height;
  const Vec3 moments(polar * height / 2 + volume * height * height / 12,
                     polar * height / 2 + volume * height * height / 12, polar * height);
  RC_ASSERT(std::abs(body.volume - volume) < 1e-11 * volume);
  RC_ASSERT(body.center.norm() < 1e-12);
  RC_ASSERT((body.inertia - Mat3(moments.asDiagonal())).norm() < 1e-10 * moments.norm());
}

TEST(MassProperties, OfRoundShapesConvergeWithTheSquareOfTheEdge)
{
  const double r = 0.5;
  const double ball = 4.0 / 3 * std::numbers::pi * r * r * r;
  const double big = 0.7;
  const double small = 0.2;
  const double ring = 2 * std::numbers::pi * std::numbers::pi * big * small * small;
  const double ring_axial = ring * (big * big + 0.75 * small * small);
  std::array<double, 2> ball_error{};
  std::array<double, 2> ring_error{};
  for (std::size_t i = 0; i < 2; ++i) {
    const double edge = i == 0 ? 0.08 : 0.04;
    const MassProperties sphere = solid_mass_properties(generate(shapes::SphereDesc{r, edge}));
    EXPECT_LT((sphere.inertia - 0.4 * sphere.mass * r * r * Mat3::Identity()).norm(),
              0.05 * sphere.inertia.norm());
    ball_error[i] = 1 - sphere.volume / ball;
    ring_error[i] =
        1 - solid_mass_properties(generate(shapes::TorusDesc{big, small, edge})).inertia(2, 2) / ring_axial;
  }
  EXPECT_GT(ball_error[1], 0);
  EXPECT_NEAR(ball_error[0] / ball_error[1], 4, 0.6);
  EXPECT_NEAR(ring_error[0] / ring_error[1], 4, 0.8);
}

TEST(MassProperties, OfAShellAreTheDifferenceOfTwoSolids)
{
  // A thin box shell of thickness t about the middle surface is the outer solid minus the inner one, up to
  // t^2.
  const Vec3 size(0.4, 0.3, 0.2);
  const double t = 1e-4;
  const MassProperties shell = shell_mass_properties(generate(shapes::BoxDesc{size}), t, 1000);
  const MassProperties outer =
      solid_mass_properties(generate(shapes::BoxDesc{size + Vec3::Constant(t)}), 1000);
  const MassProperties inner =
      solid_mass_properties(generate(shapes::BoxDesc{size - Vec3::Constant(t)}), 1000);
  EXPECT_NEAR(shell.mass, outer.mass - inner.mass, 1e-6 * shell.mass);
  EXPECT_LT((shell.inertia - (outer.inertia - inner.inertia)).norm(), 1e-5 * shell.inertia.norm());
  EXPECT_LT(shell.center.norm(), 1e-15);
}

RC_GTEST_PROP(MassProperties, OfAMovedBodyAreThoseOfTheMovedMesh, ())
{
  const Pose pose = any_pose(3);
  TriangleMesh mesh = generate(shapes::ConeDesc{0.4, 0.1, 0.7, 0, 12});
  const MassProperties body = transformed(solid_mass_properties(mesh, 7), pose);
  transform(mesh, pose);
  const MassProperties moved = solid_mass_properties(mesh, 7);
  RC_ASSERT((body.center - moved.center).norm() < 1e-12 * (1 + pose.position.norm()));
  RC_ASSERT((body.inertia - moved.inertia).norm() < 1e-11 * body.inertia.norm());
}

TEST(MassProperties, OfACutBoxAddUpToTheWhole)
{
  std::vector<MassProperties> parts;
  for (const double x : {-0.5, 0.25, 0.75}) {
    TriangleMesh part = generate(shapes::BoxDesc{Vec3(x < 0 ? 1.0 : 0.5, 0.4, 0.3)});
    transform(part, {Vec3(x, 0, 0), Quat::Identity()});
    parts.push_back(solid_mass_properties(part, 500));
  }
  const MassProperties sum = combined(parts);
  const MassProperties whole = solid_mass_properties(generate(shapes::BoxDesc{Vec3(2, 0.4, 0.3)}), 500);
  EXPECT_NEAR(sum.mass, whole.mass, 1e-12 * whole.mass);
  EXPECT_LT((sum.center - whole.center).norm(), 1e-15);
  EXPECT_LT((sum.inertia - whole.inertia).norm(), 1e-12 * whole.inertia.norm());
  EXPECT_DOUBLE_EQ(with_density_scaled(whole, 3).inertia(1, 1), 3 * whole.inertia(1, 1));
}

RC_GTEST_PROP(PrincipalAxes, DiagonaliseSortedAndRightHanded, ())
{
  const Mat3 rotation = any_pose(1).rotation.toRotationMatrix();
  const int equal = whole(0, 4);
  Vec3 moments(real(1, 2), real(2, 3), real(3, 4));
  if (equal == 1) moments[1] = moments[0];
  if (equal == 2) moments[1] = moments[2];
  if (equal == 3) moments.setConstant(moments[0]);
  const Mat3 inertia = rotation * moments.asDiagonal() * rotation.transpose();
  const PrincipalAxes axes = principal_axes(inertia);
  RC_ASSERT(std::abs(axes.rotation.determinant() - 1) < 1e-12);
  RC_ASSERT((axes.rotation * axes.rotation.transpose() - Mat3::Identity()).norm() < 1e-12);
  RC_ASSERT((axes.rotation * axes.moments.asDiagonal() * axes.rotation.transpose() - inertia).norm() < 1e-8);
  RC_ASSERT(axes.moments[0] <= axes.moments[1] && axes.moments[1] <= axes.moments[2]);
}

TEST(PrincipalAxes, OfACubeAreTheMeshAxes)
{
  const MassProperties cube = solid_mass_properties(generate(shapes::BoxDesc{Vec3(1, 1, 1), 0, 0.3}));
  EXPECT_EQ(principal_axes(cube.inertia).rotation, Mat3::Identity());
}

TEST(MassProperties, RejectAMeshThatIsInsideOut)
{
  TriangleMesh mesh = generate(shapes::BoxDesc{});
  for (Triangle& t : mesh.triangles) std::swap(t[0], t[1]);
  EXPECT_THROW(static_cast<void>(solid_mass_properties(mesh)), Error);
}

}  // namespace
}  // namespace thrum::mesh
