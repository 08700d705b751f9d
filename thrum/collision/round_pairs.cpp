// SPDX-License-Identifier: MIT
// Two round meshes. docs/methods/nonconvex_contact.md has the whole story.
#include "thrum/collision/round_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/collision/patch_builder.h"
#include "thrum/collision/round_surface.h"

namespace thrum::collision {

namespace {

/// Contact normals that differ by less belong to one patch (cosine of about 4 degrees). Points of a patch
/// share the normal of the deepest: with 11 degrees a stack of four rings never came to rest.
constexpr double kSameNormal = 0.998;
/// Points nearer than this share of the thickness are one.
constexpr double kSamePoint = 0.2;
/// The first step of the descent and its bounds, in shares of the thickness; the slope at which it ends; most
/// steps.
constexpr double kFirstStep = 0.25;
constexpr double kMinStep = 0.1;
constexpr double kMaxStep = 8.0;
constexpr double kMaxMove = 0.25;
constexpr double kSlopeTolerance = 0.003;
constexpr int kMaxSteps = 12;
/// Neighbouring balls whose gaps differ by less than this share of the thickness are equally near.
constexpr double kEquallyNear = 0.002;
/// The ellipse of a contact: the depth over which it is flat, its longest half axis, the distance over which
/// curvatures are measured, and the distance at which two points of a patch are one; shares of the thickness
/// all.
constexpr double kEllipseDepth = 0.001;
constexpr double kMaxHalfAxis = 0.25;
constexpr double kCurvatureProbe = 0.05;
constexpr double kSameEnd = 1e-4;
/// Sum of two unit normals that still count as opposite.
constexpr double kOpposite = 0.3;

struct RoundPair {
  const RoundSurface& a;
  const RoundSurface& b;
  Pose X_ab;
  Mat3 R_ab;
  double margin;     ///< [m]
  double thickness;  ///< of the thinner one [m]
};

// A piece of surface within `reach` of a centre c comes no nearer than phi(c) - reach. Of neighbours the
// nearest speaks for the others, or all that are equally near. A distance changes by no more than the way
// from one centre to the next, so that one that is far tells of others beside it without a look at them.
bool find_near_balls(const RoundSurface& of, const RoundSurface& other, const Mat3& R, const Vec3& t,
                     double margin, NearBalls& near)
{
  const std::span<const InnerBall> balls = of.balls();
  near.gap.assign(balls.size(), std::numeric_limits<double>::infinity());
  near.out.resize(balls.size());
  other.squared_box_distances(of, R, t, near.box_squares);
  bool any = false;
  double clearance = std::numeric_limits<double>::infinity();
  double far_distance = 0;  // of the other surface from `far_centre`, at least [m]
  Vec3 far_centre = Vec3::Zero();
  for (std::size_t i = 0; i < balls.size(); ++i) {
    const double ball_reach = balls[i].reach;
    const double near_distance = ball_reach + margin;
    const double reach = near_distance + other.excess();
    const auto box_square = static_cast<double>(near.box_squares[i]);
    if (box_square > reach * reach) {
      const double known = clearance + ball_reach;
      if (box_square < known * known) clearance = std::sqrt(box_square) - ball_reach;
      continue;
    }
    const double spare = far_distance - near_distance;
    if (spare > 0) {
      const double way = (balls[i].centre - far_centre).squaredNorm();
      if (way < spare * spare) {
        const double known = far_distance - ball_reach - clearance;
        if (!(known > 0 && way < known * known)) clearance = far_distance - ball_reach - std::sqrt(way);
        continue;
      }
    }
    const distance::FieldSample at = other.sample(R * balls[i].centre + t);
    if (static_cast<double>(at.value) > reach) {
      far_distance = static_cast<double>(at.value) - other.excess();
      far_centre = balls[i].centre;
      clearance = std::min(clearance, far_distance - ball_reach);
      continue;
    }
    near.gap[i] = static_cast<double>(at.value) - balls[i].radius;
    near.out[i] = at.direction();
    any = true;
  }
  near.clearance = clearance;
  return any;
}

bool is_local_minimum(const RoundSurface& of, const NearBalls& near, std::size_t i, double tolerance)
{
  for (const Index j : of.neighbours(i)) {
    if (near.gap[at(j)] + tolerance < near.gap[i]) return false;
  }
  return true;
}

// False when the two are apart.
bool find_seeds(const RoundPair& pair, NearBalls& near, std::vector<RoundSeed>& seeds)
{
  const double tolerance = kEquallyNear * pair.thickness;
  const Mat3 R_ba = pair.R_ab.transpose();
  const auto place = [](RoundSeed& seed, const Vec3& centre, double radius, double gap, double sign) {
    seed.gap = gap;
    seed.x = centre + sign * (radius + 0.5 * gap) * seed.normal;
    return seed;
  };
  if (!find_near_balls(pair.a, pair.b, R_ba, -(R_ba * pair.X_ab.position), pair.margin, near)) return false;
  for (std::size_t i = 0; i < near.gap.size(); ++i) {
    if (!std::isfinite(near.gap[i]) || !is_local_minimum(pair.a, near, i, tolerance)) continue;
    RoundSeed seed;
    seed.normal = -(pair.R_ab * near.out[i]);
    seed.feature_a = static_cast<std::uint32_t>(i);
    seeds.push_back(place(seed, pair.a.balls()[i].centre, pair.a.balls()[i].radius, near.gap[i], 1));
  }
  find_near_balls(pair.b, pair.a, pair.R_ab, pair.X_ab.position, pair.margin, near);
  for (std::size_t i = 0; i < near.gap.size(); ++i) {
    if (!std::isfinite(near.gap[i]) || !is_local_minimum(pair.b, near, i, tolerance)) continue;
    const InnerBall& ball = pair.b.balls()[i];
    RoundSeed seed;
    seed.normal = near.out[i];
    seed.feature_b = static_cast<std::uint32_t>(i);
    seeds.push_back(place(seed, pair.R_ab * ball.centre + pair.X_ab.position, ball.radius, near.gap[i], -1));
  }
  return true;
}

// Between two round bodies the contact is where their normals are opposite, which is where
//
//     F(x) = phi_a(x) + phi_b(x),      grad F = n_a + n_b = 0;                                          (3)
//
// -F is then the depth, also when the overlap is deeper than the middle of either body, as long as x lies
// between the two middles. F does not change along the common normal n and grows across it with the
// curvatures, each about 1 / r. The step along -grad F is r / 2 at first and then that of Barzilai and
// Borwein, s.s / s.y with s the last move and y the change of slope, which needs three or four steps for
// crossed tubes and stays put along a line of contact. Along n, x is kept halfway between the surfaces. The
// result does not depend on how the surface was cut into triangles.
struct Slope {
  Vec3 n = Vec3::Zero();       ///< from a to b; zero where the two do not face each other
  Vec3 across = Vec3::Zero();  ///< grad F, across n
  double value_a = 0;          ///< phi_a [m]
  double value_b = 0;
};

Slope slope_at(const RoundPair& pair, const Vec3& x)
{
  const distance::FieldSample at_a = pair.a.sample(x);
  const distance::FieldSample at_b = pair.b.sample(pair.R_ab.transpose() * (x - pair.X_ab.position));
  const Vec3 g_a = at_a.direction();
  const Vec3 g_b = pair.R_ab * at_b.direction();
  Slope slope;
  slope.value_a = at_a.value;
  slope.value_b = at_b.value;
  const Vec3 n = g_a - g_b;
  const double length = n.norm();
  if (length < 1) return slope;
  slope.n = n / length;
  slope.across = g_a + g_b;
  slope.across -= slope.n * slope.n.dot(slope.across);
  return slope;
}

bool descend(const RoundPair& pair, RoundSeed& seed, Slope& slope)
{
  const Vec3 start = seed.x;
  Vec3 x = seed.x;
  double step = kFirstStep * pair.thickness;
  Vec3 last_slope = Vec3::Zero();
  Vec3 last_move = Vec3::Zero();
  for (int i = 0;; ++i) {
    slope = slope_at(pair, x);
    if (slope.n.isZero()) return false;
    const Vec3 to_middle = -0.5 * (slope.value_a - slope.value_b) * slope.n;
    const double steepness = slope.across.norm();
    // Far along a valley that hardly rises, where it stands is as good as its lowest place.
    const bool far = (x - start).squaredNorm() > pair.thickness * pair.thickness;
    if (i == kMaxSteps || far || steepness < kSlopeTolerance) {
      seed.normal = slope.n;
      seed.x = x + to_middle;
      return steepness < kOpposite;
    }
    if (i > 0) {
      const double bend = last_move.dot(slope.across - last_slope);
      const double along = last_move.squaredNorm();
      step = bend * kMaxStep * pair.thickness > along ? along / bend : kMaxStep * pair.thickness;
      step = std::max(step, kMinStep * pair.thickness);
    }
    step = std::min(step, kMaxMove * pair.thickness / steepness);
    last_move = -step * slope.across;
    last_slope = slope.across;
    x += last_move + to_middle;
  }
}

// Bodies under load touch over an ellipse, that within which the gap exceeds its least by e,
//
//     x + s sqrt(2 e / H_k) v_k,      s = -1, 1,                                                         (4)
//
// with H_k and v_k the curvatures of F across n and their directions. Its four ends, all as deep as its
// middle, are the points of the contact: a body can stand on it, turn on it with resistance, and rocks to
// rest on it, which on a point it would not.
void add_ellipse(const RoundPair& pair, const RoundSeed& seed, const Slope& slope,
                 std::vector<DirectedPoint>& contacts)
{
  const double depth = -slope.value_a - slope.value_b;
  const double probe = kCurvatureProbe * pair.thickness;
  Eigen::Index axis = 0;
  slope.n.cwiseAbs().minCoeff(&axis);
  const Vec3 e1 = slope.n.cross(Vec3(Vec3::Unit(axis))).normalized();
  const Vec3 e2 = slope.n.cross(e1);
  const Vec3 along_1 = (slope_at(pair, seed.x + probe * e1).across - slope.across) / probe;
  const Vec3 along_2 = (slope_at(pair, seed.x + probe * e2).across - slope.across) / probe;
  const double h11 = along_1.dot(e1);
  const double h22 = along_2.dot(e2);
  const double h12 = 0.5 * (along_1.dot(e2) + along_2.dot(e1));
  const double mean = 0.5 * (h11 + h22);
  const double spread = std::hypot(0.5 * (h11 - h22), h12);
  // Direction of the greater curvature.
  const double angle = 0.5 * std::atan2(2 * h12, h11 - h22);
  const Vec3 v1 = std::cos(angle) * e1 + std::sin(angle) * e2;
  const Vec3 v2 = slope.n.cross(v1);
  const double flat = kEllipseDepth * pair.thickness;
  const auto half_axis = [&](double curvature) {
    const double longest = kMaxHalfAxis * pair.thickness;
    return curvature * longest * longest > 2 * flat ? std::sqrt(2 * flat / curvature) : longest;
  };
  const double d1 = half_axis(mean + spread);
  const double d2 = half_axis(mean - spread);
  const std::array<Vec3, 4> ends{Vec3(d1 * v1), Vec3(-d1 * v1), Vec3(d2 * v2), Vec3(-d2 * v2)};
  for (std::uint32_t k = 0; k < 4; ++k) {
    const auto named = [&](std::uint32_t feature) {
      return feature == kWholeSurface ? kWholeSurface : 4 * feature + k;
    };
    contacts.push_back(
        {seed.normal, {seed.x + ends[k], depth, named(seed.feature_a), named(seed.feature_b)}});
  }
}

}  // namespace

void collide_round_surfaces(const PairInput& input, const RoundSurface& a, const RoundSurface& b,
                            double thickness, std::vector<model::ContactPatch>& patches)
{
  const Pose X_ab = input.X_wa.inverse() * input.X_wb;
  const RoundPair pair{a, b, X_ab, X_ab.rotation.toRotationMatrix(), input.margin, thickness};
  std::vector<RoundSeed>& seeds = input.scratch->round.seeds;
  std::vector<DirectedPoint>& contacts = input.scratch->directed_points;
  seeds.clear();
  contacts.clear();
  if (!find_seeds(pair, input.scratch->round.near, seeds)) {
    input.scratch->clearance = input.scratch->round.near.clearance;
    return;
  }
  std::sort(seeds.begin(), seeds.end(), [](const RoundSeed& p, const RoundSeed& q) {
    if (p.gap != q.gap) return p.gap < q.gap;
    return p.feature_a != q.feature_a ? p.feature_a < q.feature_a : p.feature_b < q.feature_b;
  });
  std::vector<Vec3>& places = input.scratch->round.places;
  places.clear();
  const double same = kSamePoint * thickness;
  const auto known = [&](const Vec3& x) {
    return std::any_of(places.begin(), places.end(),
                       [&](const Vec3& place) { return (place - x).squaredNorm() < same * same; });
  };
  bool any = false;
  for (RoundSeed& seed : seeds) {
    if (known(seed.x)) continue;
    Slope slope;
    if (!descend(pair, seed, slope)) continue;
    any = true;
    if (slope.value_a + slope.value_b >= input.margin || known(seed.x)) continue;
    places.push_back(seed.x);
    add_ellipse(pair, seed, slope, contacts);
  }
  // Bodies that lie in each other have no opposite normals; the least overlap of a ball is a way out.
  if (!any && !seeds.empty() && seeds.front().gap < 0) {
    const RoundSeed& s = seeds.front();
    contacts.push_back({s.normal.normalized(), {s.x, -s.gap, s.feature_a, s.feature_b}});
  }
  append_patches_by_normal(input, input.X_wa, kSameNormal, kSameEnd * thickness, contacts, patches);
}

}  // namespace thrum::collision
