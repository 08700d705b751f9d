// SPDX-License-Identifier: MIT
// Two round meshes. docs/methods/nonconvex_contact.md has the whole story.
#include "thrum/collision/round_pairs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "thrum/collision/patch_builder.h"
#include "thrum/collision/round_surface.h"

namespace thrum::collision {

namespace {

/// Contact normals that differ by less belong to one patch (cosine of about 4 degrees). Points of a patch share the
/// normal of the deepest: with 11 degrees a stack of four rings never came to rest.
constexpr double kSameNormal = 0.998;
/// Points nearer than this share of the thickness are one.
constexpr double kSamePoint = 0.1;
/// The first step of the descent and its bounds, in shares of the thickness; the slope at which it ends; most steps.
constexpr double kFirstStep = 0.25;
constexpr double kShortestStep = 0.1;
constexpr double kLongestStep = 8.0;
constexpr double kLevel = 0.003;
constexpr int kMostSteps = 12;
/// Sum of two unit normals that still count as opposite.
constexpr double kOpposite = 0.3;
/// The feature of a surface as a whole; the other side names the ball from which the search began.
constexpr std::uint32_t kWhole = 0x80000000;

/// Where to begin, in axes of a.
struct Seed {
  Vec3 x = Vec3::Zero();        ///< halfway between the surfaces [m]
  Vec3 normal = Vec3::UnitZ();  ///< from a to b
  double gap = 0;               ///< between the ball and the other surface [m]
  std::uint32_t feature_a = kWhole;
  std::uint32_t feature_b = kWhole;
};

struct RoundPair {
  const RoundSurface& a;
  const RoundSurface& b;
  Pose X_ab;
  Mat3 R_ab;
  double margin;     ///< [m]
  double thickness;  ///< of the thinner one [m]
};

// Balls of a near b. A piece of surface within `reach` of a centre c comes no nearer to b than phi_b(c) - reach.
void add_seeds_of_a(const RoundPair& pair, std::vector<Seed>& seeds)
{
  const double slack = pair.margin + pair.b.excess();
  const Mat3 R_ba = pair.R_ab.transpose();
  const Vec3 t_ba = -(R_ba * pair.X_ab.position);
  for (std::size_t i = 0; i < pair.a.balls().size(); ++i) {
    const InnerBall& ball = pair.a.balls()[i];
    const geometry::FieldSample at_b = pair.b.sample(R_ba * ball.centre + t_ba);
    const double distance = at_b.value;
    if (distance > ball.reach + slack) continue;
    Seed seed;
    seed.normal = -(pair.R_ab * at_b.direction());
    seed.gap = distance - ball.radius;
    seed.x = ball.centre + 0.5 * (distance + ball.radius) * seed.normal;
    seed.feature_a = static_cast<std::uint32_t>(i);
    seeds.push_back(seed);
  }
}

void add_seeds_of_b(const RoundPair& pair, std::vector<Seed>& seeds)
{
  const double slack = pair.margin + pair.a.excess();
  for (std::size_t i = 0; i < pair.b.balls().size(); ++i) {
    const InnerBall& ball = pair.b.balls()[i];
    const Vec3 centre = pair.R_ab * ball.centre + pair.X_ab.position;
    const geometry::FieldSample at_a = pair.a.sample(centre);
    const double distance = at_a.value;
    if (distance > ball.reach + slack) continue;
    Seed seed;
    seed.normal = at_a.direction();
    seed.gap = distance - ball.radius;
    seed.x = centre - 0.5 * (distance + ball.radius) * seed.normal;
    seed.feature_b = static_cast<std::uint32_t>(i);
    seeds.push_back(seed);
  }
}

// Between two round bodies the contact is where their normals are opposite, which is where
//
//     F(x) = phi_a(x) + phi_b(x),      grad F = n_a + n_b = 0;                                          (3)
//
// -F is then the depth, also when the overlap is deeper than the middle of either body, as long as x lies between the two
// middles. F does not change along the common normal n and grows across it with the curvatures, each about 1 / r. The step
// along -grad F is r / 2 at first and then that of Barzilai and Borwein, s.s / s.y with s the last move and y the change of
// slope, which needs three or four steps for crossed tubes and stays put along a line of contact. Along n, x is kept halfway
// between the surfaces. The result does not depend on how the surface was cut into triangles.
bool descend(const RoundPair& pair, Seed& seed, double& depth)
{
  const Mat3 R_ba = pair.R_ab.transpose();
  const Vec3 start = seed.x;
  Vec3 x = seed.x;
  double step = kFirstStep * pair.thickness;
  Vec3 last_slope = Vec3::Zero();
  Vec3 last_move = Vec3::Zero();
  for (int i = 0;; ++i) {
    const geometry::FieldSample at_a = pair.a.sample(x);
    const geometry::FieldSample at_b = pair.b.sample(R_ba * (x - pair.X_ab.position));
    const Vec3 g_a = at_a.direction();
    const Vec3 g_b = pair.R_ab * at_b.direction();
    Vec3 n = g_a - g_b;
    const double length = n.norm();
    if (length < 1) return false;
    n /= length;
    Vec3 slope = g_a + g_b;
    slope -= n * n.dot(slope);
    const double apart = static_cast<double>(at_a.value) - static_cast<double>(at_b.value);
    const double steepness = slope.norm();
    if (i == kMostSteps || steepness < kLevel) {
      depth = -static_cast<double>(at_a.value) - static_cast<double>(at_b.value);
      seed.normal = n;
      seed.x = x - 0.5 * apart * n;
      return steepness < kOpposite;
    }
    if (i > 0) {
      const double bend = last_move.dot(slope - last_slope);
      const double along = last_move.squaredNorm();
      step = bend * kLongestStep * pair.thickness > along ? along / bend : kLongestStep * pair.thickness;
      step = std::max(step, kShortestStep * pair.thickness);
    }
    last_move = -step * slope;
    last_slope = slope;
    x += last_move - 0.5 * apart * n;
    if ((x - start).squaredNorm() > pair.thickness * pair.thickness) return false;
  }
}

}  // namespace

void collide_round_surfaces(const PairInput& input, const RoundSurface& a, const RoundSurface& b,
                            double thickness, std::vector<model::ContactPatch>& patches)
{
  const Pose X_ab = input.X_wa.inverse() * input.X_wb;
  const RoundPair pair{a, b, X_ab, X_ab.rotation.toRotationMatrix(), input.margin, thickness};
  thread_local std::vector<Seed> seeds;
  thread_local std::vector<DirectedPoint> contacts;
  seeds.clear();
  contacts.clear();
  add_seeds_of_a(pair, seeds);
  if (seeds.empty()) return;
  add_seeds_of_b(pair, seeds);
  std::sort(seeds.begin(), seeds.end(), [](const Seed& p, const Seed& q) {
    if (p.gap != q.gap) return p.gap < q.gap;
    return p.feature_a != q.feature_a ? p.feature_a < q.feature_a : p.feature_b < q.feature_b;
  });
  const double same = kSamePoint * thickness;
  const auto known = [&](const Vec3& x) {
    return std::any_of(contacts.begin(), contacts.end(), [&](const DirectedPoint& c) {
      return (c.point.position - x).squaredNorm() < same * same;
    });
  };
  bool any = false;
  for (Seed& seed : seeds) {
    if (known(seed.x)) continue;
    double depth = 0;
    if (!descend(pair, seed, depth)) continue;
    any = true;
    if (depth <= -input.margin || known(seed.x)) continue;
    contacts.push_back({seed.normal, {seed.x, depth, seed.feature_a, seed.feature_b}});
  }
  // Bodies that lie in each other have no opposite normals; the least overlap of a ball is a way out.
  if (!any && !seeds.empty() && seeds.front().gap < 0) {
    const Seed& s = seeds.front();
    contacts.push_back({s.normal, {s.x, -s.gap, s.feature_a, s.feature_b}});
  }
  append_patches_by_normal(input, input.X_wa, kSameNormal, same, contacts, patches);
}

}  // namespace thrum::collision
