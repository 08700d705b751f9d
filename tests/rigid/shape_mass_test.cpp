// SPDX-License-Identifier: MIT
#include "thrum/rigid/shape_mass.h"

#include <gtest/gtest.h>

#include "thrum/base/error.h"
#include "thrum/shapes/shapes.h"

namespace thrum::rigid {
namespace {

// The closed forms against the exact integral over a fine polyhedron of the same shape.
TEST(ShapeMass, ClosedFormsAgreeWithPolyhedra)
{
  shapes::CapsuleDesc capsule;
  capsule.radius = 0.3;
  capsule.height = 0.8;
  capsule.segments = 96;
  const auto exact = shape_mass({model::Capsule{0.3, 0.4}}, 500);
  const auto mesh = mesh::solid_mass_properties(shapes::generate(capsule), 500);
  EXPECT_NEAR(exact.mass, mesh.mass, 0.01 * exact.mass);
  EXPECT_NEAR((exact.inertia - mesh.inertia).norm(), 0, 0.02 * exact.inertia.norm());
}

TEST(ShapeMass, OfABoxIsTheTextbookFormula)
{
  const auto m = shape_mass({model::Box{{0.5, 1.0, 1.5}}}, 2);
  EXPECT_DOUBLE_EQ(m.mass, 12);
  EXPECT_NEAR(m.inertia(0, 0), 12.0 / 12 * (4 + 9), 1e-12);
}

TEST(ShapeMass, APlaneHasNone)
{
  EXPECT_THROW(static_cast<void>(shape_mass({model::Plane{}}, 1)), Error);
}

}  // namespace
}  // namespace thrum::rigid
