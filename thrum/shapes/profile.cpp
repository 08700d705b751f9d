// SPDX-License-Identifier: MIT
#include "thrum/shapes/profile.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/shapes/shape_checks.h"

namespace thrum::shapes {

namespace {

// a sharper turn is a corner and is kept [rad]
constexpr double kProfileCorner = 30 * std::numbers::pi / 180;
constexpr double kMaxTurnPerSegment =
    60 * std::numbers::pi / 180;             // maximum turn of a smooth curve in one piece [rad]
constexpr int kMinRings = 6;                 // in a closed profile without or with one corner
constexpr double kOnAxis = 1e-9;             // r below this fraction of the maximum r is on the axis
constexpr double kLevel = 1e-6;              // slope below which a piece counts as level
constexpr double kSameProfilePoint = 1e-12;  // points closer than this fraction of the size are merged

double cross(const Vec2& a, const Vec2& b)
{
  return a.x() * b.y() - a.y() * b.x();
}

double side(const Vec2& a, const Vec2& b, const Vec2& c)
{
  return cross(b - a, c - a);
}

bool segments_touch(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d)
{
  if (std::max(a.x(), b.x()) < std::min(c.x(), d.x()) || std::max(c.x(), d.x()) < std::min(a.x(), b.x()) ||
      std::max(a.y(), b.y()) < std::min(c.y(), d.y()) || std::max(c.y(), d.y()) < std::min(a.y(), b.y())) {
    return false;
  }
  const double c_side = side(a, b, c);
  const double d_side = side(a, b, d);
  const double a_side = side(c, d, a);
  const double b_side = side(c, d, b);
  const auto apart = [](double p, double q) {
    return (p > 0 && q > 0) || (p < 0 && q < 0);
  };
  return !apart(c_side, d_side) && !apart(a_side, b_side);
}

// Angle by which the path turns at b [rad], 0 when straight.
double turn(const Vec2& a, const Vec2& b, const Vec2& c)
{
  const Vec2 u = b - a;
  const Vec2 v = c - b;
  return std::abs(std::atan2(cross(u, v), u.dot(v)));
}

// Points of an open chain, both ends included, spread evenly in the measure max(length / edge_length, turn /
// kMaxTurnPerSegment) of each segment. `end_turns` are the angles by which the chain bends at its first and
// last point.
std::vector<Vec2> cut_chain(std::span<const Vec2> chain, double edge_length, int min_count)
{
  std::vector<double> reached = {0};
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    double turned = 0;
    if (i > 0) turned += turn(chain[i - 1], chain[i], chain[i + 1]) / 2;
    if (i + 2 < chain.size()) turned += turn(chain[i], chain[i + 1], chain[i + 2]) / 2;
    const double length = (chain[i + 1] - chain[i]).norm();
    reached.push_back(reached.back() + std::max(length / edge_length, turned / kMaxTurnPerSegment));
  }
  const int count = segment_count(reached.back(), 1, min_count);
  std::vector<Vec2> cut;
  std::size_t bit = 0;
  for (int k = 0; k <= count; ++k) {
    const double target = reached.back() * k / count;
    while (bit + 2 < reached.size() && reached[bit + 1] < target) ++bit;
    const double width = reached[bit + 1] - reached[bit];
    const double t = std::clamp(width > 0 ? (target - reached[bit]) / width : 0, 0.0, 1.0);
    cut.push_back((1 - t) * chain[bit] + t * chain[bit + 1]);
  }
  cut.front() = chain.front();
  cut.back() = chain.back();
  return cut;
}

// Whether r or z has an extremum or the end of a level stretch at b: so feet, rims and bulges keep their
// dimensions.
bool is_extreme(const Vec2& a, const Vec2& b, const Vec2& c)
{
  const double small = kLevel * ((b - a).norm() + (c - b).norm());
  for (int k = 0; k < 2; ++k) {
    const double before = b[k] - a[k];
    const double after = c[k] - b[k];
    const auto sign = [&](double d) {
      return d > small ? 1 : d < -small ? -1 : 0;
    };
    if (sign(before) != sign(after)) return true;
  }
  return false;
}

std::vector<Vec2> remove_repeated_points(std::span<const Vec2> outline)
{
  double size = 0;
  for (const Vec2& p : outline) size = std::max(size, (p - outline.front()).norm());
  std::vector<Vec2> points;
  for (const Vec2& p : outline) {
    if (points.empty() || (p - points.back()).norm() > kSameProfilePoint * size) points.push_back(p);
  }
  while (points.size() > 1 && (points.back() - points.front()).norm() <= kSameProfilePoint * size)
    points.pop_back();
  return points;
}

}  // namespace

ProfileDrawing& ProfileDrawing::line_to(const Vec2& end)
{
  points_.push_back(end);
  return *this;
}

ProfileDrawing& ProfileDrawing::curve_to(const Vec2& control_a, const Vec2& control_b, const Vec2& end)
{
  const Vec2 start = points_.back();
  for (int i = 1; i <= kCurveSegments; ++i) {
    const double t = static_cast<double>(i) / kCurveSegments;
    const double s = 1 - t;
    points_.push_back(s * s * s * start + 3 * s * s * t * control_a + 3 * s * t * t * control_b +
                      t * t * t * end);
  }
  return *this;
}

ProfileDrawing& ProfileDrawing::arc(const Vec2& center, double angle)
{
  const Vec2 r = points_.back() - center;
  for (int i = 1; i <= kCurveSegments; ++i) {
    const double a = angle * i / kCurveSegments;
    points_.push_back(
        center + Vec2(std::cos(a) * r.x() - std::sin(a) * r.y(), std::sin(a) * r.x() + std::cos(a) * r.y()));
  }
  return *this;
}

double twice_area(std::span<const Vec2> polygon)
{
  double sum = 0;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i) sum += side(polygon[0], polygon[i], polygon[i + 1]);
  return sum;
}

bool is_simple_polygon(std::span<const Vec2> polygon)
{
  const std::size_t n = polygon.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2& a = polygon[i];
    const Vec2& b = polygon[(i + 1) % n];
    // The next edge may only share b: folding back on itself would overlap.
    const Vec2& c = polygon[(i + 2) % n];
    if (side(a, b, c) == 0 && (b - a).dot(c - b) < 0) return false;
    for (std::size_t j = i + 2; j < n; ++j) {
      if (i == 0 && j == n - 1) continue;
      if (segments_touch(a, b, polygon[j], polygon[(j + 1) % n])) return false;
    }
  }
  return true;
}

OrderedProfile ordered_profile(std::span<const Vec2> outline)
{
  OrderedProfile profile;
  double max_radius = 0;
  for (const Vec2& p : outline) {
    if (!p.allFinite()) throw Error("A point of the lathe's profile is not finite.");
    max_radius = std::max(max_radius, p.x());
  }
  profile.points = remove_repeated_points(outline);
  std::size_t axis_count = 0;
  for (Vec2& p : profile.points) {
    if (p.x() < -kOnAxis * max_radius)
      throw Error(fmt::format("The lathe's profile has a point at r = {} m; r is at least 0.", p.x()));
    if (p.x() <= kOnAxis * max_radius) {
      p.x() = 0;
      ++axis_count;
    }
  }
  auto& points = profile.points;
  if (points.size() < 3) throw Error("The lathe's profile needs at least three different points.");
  if (!is_simple_polygon(points)) throw Error("The lathe's profile crosses or touches itself.");
  if (twice_area(points) < 0) std::reverse(points.begin(), points.end());

  if (axis_count == 0) return profile;
  // Start where the profile leaves the axis: the point before it lies on the axis too.
  const std::size_t n = points.size();
  for (std::size_t i = 0; i < n && axis_count == 2; ++i) {
    if (points[i].x() == 0 && points[(i + n - 1) % n].x() == 0) {
      std::rotate(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(i), points.end());
      profile.on_axis = true;
      return profile;
    }
  }
  throw Error(
      "The lathe's profile must stay off the axis or have exactly two points on it, one after the other.");
}

std::vector<Vec2> resampled(const OrderedProfile& profile, double edge_length)
{
  const auto& points = profile.points;
  const std::size_t n = points.size();
  std::vector<std::size_t> corners;
  for (std::size_t i = 0; i < n; ++i) {
    const bool end = profile.on_axis && (i == 0 || i == n - 1);
    const Vec2& before = points[(i + n - 1) % n];
    const Vec2& after = points[(i + 1) % n];
    if (end || turn(before, points[i], after) > kProfileCorner || is_extreme(before, points[i], after)) {
      corners.push_back(i);
    }
  }
  const bool smooth = corners.empty();
  if (smooth) corners.push_back(0);

  std::vector<Vec2> result;
  const std::size_t chains = profile.on_axis ? corners.size() - 1 : corners.size();
  for (std::size_t c = 0; c < chains; ++c) {
    const std::size_t begin = corners[c];
    const std::size_t end = c + 1 < corners.size() ? corners[c + 1] : corners[0] + n;
    std::vector<Vec2> chain;
    for (std::size_t i = begin; i <= end; ++i) chain.push_back(points[i % n]);
    const int min_count = chains == 1 && !profile.on_axis ? kMinRings : 1;
    const std::vector<Vec2> cut = cut_chain(chain, edge_length, smooth ? kMinRings : min_count);
    result.insert(result.end(), cut.begin(), cut.end() - 1);
  }
  if (profile.on_axis) result.push_back(points.back());
  return result;
}

}  // namespace thrum::shapes
