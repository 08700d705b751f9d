// SPDX-License-Identifier: MIT
// Symbols: w = s_A(d) - s_B(-d) is a support point of the difference set D = A - B; v is the point nearest to
// the origin of the simplex found so far. The cores are |v| apart; they overlap when D holds the origin.
#include "thrum/collision/gjk.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "thrum/base/index.h"

namespace thrum::collision {

namespace {

constexpr int kMaxGjkSteps = 64;
constexpr int kMaxEpaSteps = 96;
/// GJK stops when a further support point can bring the origin nearer by less than this share of the
/// distance.
constexpr double kDistanceAccuracy = 1e-10;
/// A simplex this near to the origin, as a share of its own size, is taken to touch it.
constexpr double kTouchTolerance = 1e-11;
/// EPA stops when the hull can grow by less than this share of its size.
constexpr double kDepthAccuracy = 1e-9;
/// Simplices flatter than this, as a share of their size, have no volume.
constexpr double kFlatTolerance = 1e-10;

struct SupportPoint {
  Vec3 w;  ///< of the difference set
  Vec3 a;
  Vec3 b;
};

struct Difference {
  const ConvexView& a;
  const ConvexView& b;
  const Pose& X_ab;

  [[nodiscard]] SupportPoint operator()(const Vec3& d) const
  {
    SupportPoint p;
    p.a = support(a, d);
    p.b = X_ab.point(support(b, -X_ab.direction_to_local(d)));
    p.w = p.a - p.b;
    return p;
  }
};

struct Simplex {
  std::array<SupportPoint, 4> points;
  std::array<double, 4> weights{};
  int count = 0;

  void keep(std::array<int, 4> which, std::array<double, 4> w, int n)
  {
    std::array<SupportPoint, 4> kept;
    for (std::size_t i = 0; i < at(n); ++i) {
      kept[i] = points[at(which[i])];
      weights[i] = w[i];
    }
    for (std::size_t i = 0; i < at(n); ++i) points[i] = kept[i];
    count = n;
  }
  template <class Member>
  [[nodiscard]] Vec3 blend(Member member) const
  {
    Vec3 sum = Vec3::Zero();
    for (std::size_t i = 0; i < at(count); ++i) sum += weights[i] * (points[i].*member);
    return sum;
  }
};

struct Nearest {
  std::array<int, 4> which{};
  std::array<double, 4> weights{};
  int count = 0;
  double square = std::numeric_limits<double>::infinity();
};

Nearest nearest_on_segment(const Simplex& s, int i, int j)
{
  const Vec3& p = s.points[at(i)].w;
  const Vec3& q = s.points[at(j)].w;
  const Vec3 e = q - p;
  const double length = e.squaredNorm();
  const double t = length > 0 ? -p.dot(e) / length : 0;
  if (t <= 0) return {{i}, {1}, 1, p.squaredNorm()};
  if (t >= 1) return {{j}, {1}, 1, q.squaredNorm()};
  return {{i, j}, {1 - t, t}, 2, (p + t * e).squaredNorm()};
}

Nearest nearest_on_triangle(const Simplex& s, int i, int j, int k)
{
  const Vec3& p = s.points[at(i)].w;
  const Vec3& q = s.points[at(j)].w;
  const Vec3& r = s.points[at(k)].w;
  const Vec3 n = (q - p).cross(r - p);
  const double area = n.squaredNorm();
  // Barycentric weights of the origin's projection.
  const double wp = q.cross(r).dot(n);
  const double wq = r.cross(p).dot(n);
  const double wr = p.cross(q).dot(n);
  if (area > 0 && wp > 0 && wq > 0 && wr > 0) {
    const double sum = wp + wq + wr;
    const double height = p.dot(n);
    return {{i, j, k}, {wp / sum, wq / sum, wr / sum}, 3, height * height / area};
  }
  Nearest best = nearest_on_segment(s, i, j);
  for (const Nearest& other : {nearest_on_segment(s, j, k), nearest_on_segment(s, k, i)}) {
    if (other.square < best.square) best = other;
  }
  return best;
}

// Reduces the simplex to the part nearest to the origin. Returns false when a tetrahedron holds the origin.
bool reduce(Simplex& s)
{
  Nearest best;
  switch (s.count) {
    case 1:
      best = {{0}, {1}, 1, 0};
      break;
    case 2:
      best = nearest_on_segment(s, 0, 1);
      break;
    case 3:
      best = nearest_on_triangle(s, 0, 1, 2);
      break;
    default: {
      static constexpr std::array<std::array<int, 4>, 4> faces{
          {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}}};
      bool inside = true;
      for (const auto& f : faces) {
        const Vec3& p = s.points[at(f[0])].w;
        const Vec3 n = (s.points[at(f[1])].w - p).cross(s.points[at(f[2])].w - p);
        const double apex = n.dot(s.points[at(f[3])].w - p);
        const double origin = -n.dot(p);
        if (apex * origin > 0) continue;
        inside = false;
        const Nearest face = nearest_on_triangle(s, f[0], f[1], f[2]);
        if (face.square < best.square) best = face;
      }
      if (inside) return false;
      break;
    }
  }
  s.keep(best.which, best.weights, best.count);
  return true;
}

double size_of(const Simplex& s)
{
  double size = 0;
  for (int i = 0; i < s.count; ++i) size = std::max(size, s.points[at(i)].w.squaredNorm());
  return std::sqrt(size);
}

// --- Overlapping cores
// ----------------------------------------------------------------------------------------------

struct PolytopeFace {
  std::array<int, 3> corners{};
  Vec3 normal = Vec3::Zero();  ///< unit, outward
  double offset = 0.0;         ///< distance of its plane from the origin
  bool alive = true;
};

// A convex polytope inside the difference set that holds the origin.
class Polytope {
 public:
  std::vector<SupportPoint> points;
  std::vector<PolytopeFace> faces;

  void add_face(int i, int j, int k)
  {
    const Vec3& p = points[at(i)].w;
    PolytopeFace face;
    face.corners = {i, j, k};
    face.normal = (points[at(j)].w - p).cross(points[at(k)].w - p);
    const double length = face.normal.norm();
    if (length > 0) face.normal /= length;
    face.offset = length > 0 ? face.normal.dot(p) : std::numeric_limits<double>::infinity();
    faces.push_back(face);
  }

  [[nodiscard]] std::size_t nearest_face() const
  {
    std::size_t best = 0;
    double min_offset = std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < faces.size(); ++f) {
      if (faces[f].alive && faces[f].offset < min_offset) {
        min_offset = faces[f].offset;
        best = f;
      }
    }
    return best;
  }

  // Replaces the faces that see `point` by a fan from it over their outline.
  void insert(const SupportPoint& point, double tolerance)
  {
    const int apex = static_cast<int>(points.size());
    points.push_back(point);
    std::vector<std::array<int, 2>> outline;
    for (PolytopeFace& face : faces) {
      if (!face.alive || face.normal.dot(point.w) - face.offset <= tolerance) continue;
      face.alive = false;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::array<int, 2> edge{face.corners[k], face.corners[(k + 1) % 3]};
        bool shared = false;
        for (std::size_t e = 0; e < outline.size(); ++e) {
          if (outline[e][0] == edge[1] && outline[e][1] == edge[0]) {
            outline[e] = outline.back();
            outline.pop_back();
            shared = true;
            break;
          }
        }
        if (!shared) outline.push_back(edge);
      }
    }
    for (const auto& edge : outline) add_face(edge[0], edge[1], apex);
  }
};

// Adds support points until the simplex is a tetrahedron with volume. False when the set itself is flat;
// `normal` is then a direction across it.
bool grow_to_tetrahedron(const Difference& difference, Simplex& s, Vec3& normal)
{
  static const std::array<Vec3, 6> axes{Vec3::UnitX(),  -Vec3::UnitX(), Vec3::UnitY(),
                                        -Vec3::UnitY(), Vec3::UnitZ(),  -Vec3::UnitZ()};
  const double scale = std::max(size_of(s), std::numeric_limits<double>::min());
  const auto point = [&](int i) -> const Vec3& {
    return s.points[at(i)].w;
  };
  const auto push = [&](const SupportPoint& p) {
    s.points[at(s.count++)] = p;
  };
  normal = Vec3::UnitZ();
  if (s.count == 1) {
    for (const Vec3& d : axes) {
      const SupportPoint p = difference(d);
      if ((p.w - point(0)).norm() > kFlatTolerance * std::max(scale, p.w.norm())) {
        push(p);
        break;
      }
    }
    if (s.count == 1) return false;
  }
  if (s.count == 2) {
    const Vec3 e = (point(1) - point(0)).normalized();
    const Vec3 u = e.unitOrthogonal();
    const Vec3 v = e.cross(u);
    normal = u;
    for (const Vec3& d : {u, Vec3(-u), v, Vec3(-v)}) {
      const SupportPoint p = difference(d);
      if ((p.w - point(0)).cross(e).norm() > kFlatTolerance * std::max(scale, p.w.norm())) {
        push(p);
        break;
      }
    }
    if (s.count == 2) return false;
  }
  if (s.count == 3) {
    const Vec3 n = (point(1) - point(0)).cross(point(2) - point(0)).normalized();
    normal = n;
    for (const Vec3& d : {n, Vec3(-n)}) {
      const SupportPoint p = difference(d);
      if (std::abs((p.w - point(0)).dot(n)) > kFlatTolerance * std::max(scale, p.w.norm())) {
        push(p);
        break;
      }
    }
    if (s.count == 3) return false;
  }
  return true;
}

ConvexDistance flat_contact(const Simplex& s, const Vec3& normal)
{
  ConvexDistance result;
  result.normal = normal;
  result.on_a = s.points[0].a;
  result.on_b = s.points[0].b;
  return result;
}

// The face of the difference set nearest to the origin, by expanding a polytope inside it (van den Bergen).
ConvexDistance penetration(const Difference& difference, Simplex& s)
{
  Vec3 across;
  if (!grow_to_tetrahedron(difference, s, across)) return flat_contact(s, across);
  Polytope polytope;
  polytope.points.assign(s.points.begin(), s.points.end());
  // Outward faces whichever way round the tetrahedron is.
  const Vec3& o = s.points[0].w;
  const bool right = (s.points[1].w - o).cross(s.points[2].w - o).dot(s.points[3].w - o) < 0;
  const std::array<std::array<int, 3>, 4> faces =
      right ? std::array<std::array<int, 3>, 4>{{{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}}}
            : std::array<std::array<int, 3>, 4>{{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  for (const auto& f : faces) polytope.add_face(f[0], f[1], f[2]);

  std::size_t nearest = polytope.nearest_face();
  double size = size_of(s);
  for (int step = 0; step < kMaxEpaSteps; ++step) {
    const PolytopeFace face = polytope.faces[nearest];
    const SupportPoint p = difference(face.normal);
    size = std::max(size, p.w.norm());
    if (p.w.dot(face.normal) - face.offset <= kDepthAccuracy * size) break;
    polytope.insert(p, 0.1 * kDepthAccuracy * size);
    nearest = polytope.nearest_face();
  }
  const PolytopeFace& face = polytope.faces[nearest];
  Simplex last;
  for (std::size_t k = 0; k < 3; ++k) {
    last.points[k] = polytope.points[at(face.corners[k])];
  }
  last.count = 3;
  const Nearest weights = nearest_on_triangle(last, 0, 1, 2);
  last.keep(weights.which, weights.weights, weights.count);
  ConvexDistance result;
  result.distance = -std::max(0.0, face.offset);
  // Moving b by `offset` along the outward normal of A - B takes the origin out of it.
  result.normal = face.normal;
  result.on_a = last.blend(&SupportPoint::a);
  result.on_b = last.blend(&SupportPoint::b);
  return result;
}

}  // namespace

ConvexDistance convex_distance(const ConvexView& a, const ConvexView& b, const Pose& X_ab,
                               double max_distance)
{
  const Difference difference{a, b, X_ab};
  Simplex s;
  Vec3 direction = X_ab.position;
  if (direction.squaredNorm() == 0) direction = Vec3::UnitX();
  s.points[0] = difference(direction);
  s.weights[0] = 1;
  s.count = 1;
  Vec3 v = s.points[0].w;
  for (int step = 0; step < kMaxGjkSteps; ++step) {
    const double square = v.squaredNorm();
    const double size = size_of(s);
    if (square <= kTouchTolerance * kTouchTolerance * size * size || size == 0)
      return penetration(difference, s);
    const SupportPoint p = difference(-v);
    // The whole set lies beyond the plane through p across v.
    const double bound = v.dot(p.w);
    if (bound > 0 && bound * bound > max_distance * max_distance * square) {
      ConvexDistance far;
      far.beyond = true;
      far.distance = bound / std::sqrt(square);
      return far;
    }
    if (square - bound <= kDistanceAccuracy * square) break;
    bool known = false;
    for (int i = 0; i < s.count; ++i) known = known || s.points[at(i)].w == p.w;
    if (known) break;
    s.points[at(s.count)] = p;
    ++s.count;
    if (!reduce(s)) {
      if (bound <= 0) return penetration(difference, s);
      // A flat tetrahedron seems to hold the origin by rounding only: the plane across v keeps the set away
      // from it.
      --s.count;
      break;
    }
    const Vec3 next = s.blend(&SupportPoint::w);
    if (next.squaredNorm() >= square) break;  // rounding has the last word
    v = next;
  }
  ConvexDistance result;
  result.distance = v.norm();
  result.normal = -v / result.distance;
  result.on_a = s.blend(&SupportPoint::a);
  result.on_b = s.blend(&SupportPoint::b);
  return result;
}

}  // namespace thrum::collision
