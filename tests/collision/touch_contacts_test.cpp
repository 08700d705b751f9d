// SPDX-License-Identifier: MIT
#include "thrum/collision/touch_contacts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "thrum/base/random.h"
#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/pair_scratch.h"
#include "thrum/collision/prepared_shape.h"

namespace thrum::collision {
namespace {

double deepest(const std::vector<model::ContactPatch>& patches)
{
  double depth = -std::numeric_limits<double>::infinity();
  for (const model::ContactPatch& patch : patches) {
    for (const model::ContactPoint& point : patch.active()) depth = std::max(depth, point.depth);
  }
  return depth;
}

/// Gap at which shapes touch [m], and the share of it by which a clipped contact may be off.
constexpr double kTouch = 1e-4;
constexpr double kLostShare = 0.25;
constexpr double kAnyDistance = std::numeric_limits<double>::infinity();

struct Found {
  double touching;  ///< deepest contact of find_touch_contacts() [m]
  double ahead;     ///< likewise within the wide margin
};

Found find(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b, const Pose& X_wb, double touch,
           double margin)
{
  PairInput pair;
  pair.a = &a;
  pair.b = &b;
  pair.X_wa = X_wa;
  pair.X_wb = X_wb;
  pair.margin = margin;
  pair.table = &default_pair_table();
  PairScratch scratch;
  pair.scratch = &scratch;
  std::vector<model::ContactPatch> touching;
  find_touch_contacts(pair, touch, touching);
  std::vector<model::ContactPatch> ahead;
  pair.table->collide(pair, ahead);
  return {deepest(touching), deepest(ahead)};
}

// The tip of a pyramid under the flat side of a disc, up to its rim: the gap is what it was made.
// The disc's side is clipped as a polygon of 16 corners, which the tip is beside near the rim.
TEST(TouchContacts, OfADiscOverATipHoldTheTip)
{
  constexpr double kRadius = 0.1;
  constexpr double kHalf = 0.01;
  mesh::TriangleMesh pyramid;
  pyramid.vertices = {{0, 0, 0}, {1, 1, -0.2}, {-1, 1, -0.2}, {-1, -1, -0.2}, {1, -1, -0.2}};
  pyramid.triangles = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 1}};
  const model::Shape tip{model::Mesh{std::make_shared<const mesh::TriangleMesh>(pyramid), nullptr}};
  const PreparedShape surface = prepare(tip);
  const model::Shape cylinder{model::Cylinder{kRadius, kHalf}};
  const PreparedShape disc = prepare(cylinder);
  base::Random random(3);
  int lost = 0;
  for (int i = 0; i < 300; ++i) {
    const double angle = random.uniform(0, 2 * std::numbers::pi);
    const double r = kRadius * random.uniform(0, 0.999);
    const double gap = 1e-7 * random.uniform(0.5, 100);
    const Pose X_disc{{r * std::cos(angle), r * std::sin(angle), kHalf + gap}, Quat::Identity()};
    const Found found = find(disc, X_disc, surface, Pose{}, kTouch, 1e-2);
    ASSERT_NEAR(found.touching, -gap, kLostShare * kTouch) << r << ", " << angle;
    lost += found.ahead < -gap - kTouch ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

// Boxes of any orientation at a gap: corners, edges and faces.
TEST(TouchContacts, OfBoxesAreTheirDistance)
{
  base::Random random(4);
  const model::Shape shape{model::Box{{0.5, 0.3, 0.2}}};
  const PreparedShape box = prepare(shape);
  const auto rotation = [&] {
    return Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
  };
  int lost = 0;
  for (int i = 0; i < 2000; ++i) {
    const double gap = 1e-6 * random.uniform(0.5, 100);
    const Pose X_wa{Vec3::Zero(), rotation()};
    Pose X_wb{Vec3(random.normal(), random.normal(), random.normal()).normalized() * 1.5, rotation()};
    for (int k = 0; k < 20; ++k) {
      const ConvexDistance d =
          convex_distance(convex_view(box), convex_view(box), X_wa.inverse() * X_wb, kAnyDistance);
      X_wb.position += (gap - d.distance) * X_wa.direction(d.normal);
    }
    const Found found = find(box, X_wa, box, X_wb, kTouch, 0.05);
    ASSERT_NEAR(found.touching, -gap, kLostShare * kTouch) << i;
    lost += found.ahead < -gap - kTouch ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

// What is farther apart has none, however far ahead is looked.
TEST(TouchContacts, BeginAtTheMargin)
{
  const model::Shape shape{model::Box{{0.1, 0.1, 0.1}}};
  const PreparedShape box = prepare(shape);
  for (const double gap : {0.9e-3, 1.1e-3}) {
    const Pose X_upper{{0.03, 0, 0.2 + gap}, Quat::Identity()};
    const Found found = find(box, Pose{}, box, X_upper, 1e-3, 0.05);
    EXPECT_EQ(std::isfinite(found.touching), gap < 1e-3);
    EXPECT_NEAR(found.ahead, -gap, 1e-12);
  }
}

}  // namespace
}  // namespace thrum::collision
