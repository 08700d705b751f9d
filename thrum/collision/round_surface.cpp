// SPDX-License-Identifier: MIT
#include "thrum/collision/round_surface.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "thrum/base/index.h"
#include "thrum/base/simd.h"

namespace thrum::collision {

namespace {

/// Cells across the thickness, and at most along the longest side.
constexpr double kCellsAcross = 8;
constexpr double kMaxCells = 96;
/// Cells around the mesh: contacts of the largest gap lie at half of it from either surface.
constexpr double kPadding = 3;
/// Share of the way from the flat facet to the tangent planes of its corners; see smooth_distance().
constexpr double kBend = 0.5;
/// Steps along the surface towards the point whose normal meets p.
constexpr int kProjections = 2;
/// A ball is grown inwards from the surface while it touches nothing else, to within this share of its
/// radius.
constexpr double kTouchTolerance = 0.05;
constexpr int kGrowthSteps = 32;
/// A ball stands for triangles whose corners lie within this many radii of its centre.
constexpr double kCoverRadii = 1.4;
/// Balls are next to each other when their centres are no farther apart than so many reaches.
constexpr double kNeighbourDistance = 1.2;

// The surface bent to its corners' normals N_i [Boubekeur and Alexa 2008, Phong tessellation]: with q the
// nearest point of the facets, u its barycentric coordinates and pi_i(q) = q - ((q - P_i) . N_i) N_i its
// image on the tangent plane of corner i,
//
//     s = (1 - a) q + a sum u_i pi_i(q),      N = sum u_i N_i / |sum u_i N_i|,                           (1)
//     phi(p) = (p - s) . N.                                                                              (2)
//
// Over a chord of length l the tangent planes of an arc of curvature k lie at 2 t (1 - t) k l^2 / 2, twice
// its sagitta, so that a = 1/2 follows the arc to second order; the source takes 3/4 for looks. (2) is the
// distance to first order in the angle between p - s and N, which is small near the surface.
struct SmoothPoint {
  Vec3 s;  ///< [m]
  Vec3 N;
};

SmoothPoint smooth_point(const distance::MeshDistance& mesh, const mesh::ClosestPoint& on_facet)
{
  const mesh::TriangleMesh& triangles = mesh.bvh().mesh();
  const auto t = at(on_facet.triangle);
  const Vec3 q = on_facet.point;
  SmoothPoint result{(1 - kBend) * q, Vec3::Zero()};
  for (int k = 0; k < 3; ++k) {
    const double u = on_facet.barycentric[k];
    const auto v = at(triangles.triangles[t][at(k)]);
    const Vec3& n = mesh.normals().vertex[v];
    result.s += kBend * u * (q - (q - triangles.vertices[v]).dot(n) * n);
    result.N += u * n;
  }
  result.N.normalize();
  return result;
}

double smooth_distance(const distance::MeshDistance& mesh, const Vec3& p, mesh::ClosestPoint on_facet)
{
  SmoothPoint point = smooth_point(mesh, on_facet);
  for (int i = 0; i < kProjections; ++i) {
    const Vec3 aside = p - point.s - (p - point.s).dot(point.N) * point.N;
    on_facet = mesh.signed_distance(on_facet.point + aside, on_facet.triangle).surface;
    point = smooth_point(mesh, on_facet);
  }
  return (p - point.s).dot(point.N);
}

}  // namespace

RoundSurface::RoundSurface(const distance::MeshDistance& mesh, double thickness)
{
  const Box3 box = mesh.bvh().bounds();
  const double size = box.sizes().maxCoeff();
  distance::DistanceFieldDesc desc;
  desc.spacing = std::max(thickness / kCellsAcross, size / kMaxCells);
  desc.padding = kPadding;
  frame_ = distance::grid_around(box, desc, 1);
  inverse_spacing_ = 1 / frame_.spacing;
  fill_grid(mesh);
  place_balls(mesh, thickness);
  find_neighbours();
  pack_balls();
  bound_bent_facets(mesh);
  middle_ = bounds_.center();
  half_ = 0.5 * bounds_.sizes() + Vec3::Constant(excess());
}

// Bent facets bulge out most halfway along their edges and in their middle.
void RoundSurface::bound_bent_facets(const distance::MeshDistance& mesh)
{
  const mesh::TriangleMesh& triangles = mesh.bvh().mesh();
  bounds_ = mesh.bvh().bounds();
  static const std::array<Vec3, 4> places{Vec3(0.5, 0.5, 0), Vec3(0, 0.5, 0.5), Vec3(0.5, 0, 0.5),
                                          Vec3(Vec3::Constant(1.0 / 3))};
  for (std::size_t t = 0; t < triangles.triangles.size(); ++t) {
    for (const Vec3& u : places) {
      mesh::ClosestPoint at;
      at.triangle = static_cast<Index>(t);
      at.barycentric = u;
      at.point =
          u[0] * triangles.corner(t, 0) + u[1] * triangles.corner(t, 1) + u[2] * triangles.corner(t, 2);
      bounds_.extend(smooth_point(mesh, at).s);
    }
  }
}

void RoundSurface::find_neighbours()
{
  for (std::size_t i = 0; i < balls_.size(); ++i) {
    neighbour_begin_.push_back(neighbours_.size());
    for (std::size_t j = 0; j < balls_.size(); ++j) {
      const double near = kNeighbourDistance * std::min(balls_[i].reach, balls_[j].reach);
      if (i != j && (balls_[i].centre - balls_[j].centre).norm() < near)
        neighbours_.push_back(static_cast<Index>(j));
    }
  }
  neighbour_begin_.push_back(neighbours_.size());
}

void RoundSurface::pack_balls()
{
  for (std::size_t first = 0; first < balls_.size(); first += 4) {
    FourBalls four{};
    for (std::size_t k = 0; k < 4; ++k) {
      const Vec3& centre = balls_[std::min(first + k, balls_.size() - 1)].centre;
      four.centre.x[k] = static_cast<float>(centre.x());
      four.centre.y[k] = static_cast<float>(centre.y());
      four.centre.z[k] = static_cast<float>(centre.z());
    }
    four_balls_.push_back(four);
  }
}

// The box is larger than the surface by excess(), many times the rounding of single precision.
void RoundSurface::squared_box_distances(const RoundSurface& other, const Mat3& R, const Vec3& t,
                                         std::vector<float>& squares) const
{
  using base::simd::all;
  using base::simd::Float4;
  const Eigen::Matrix3f r = R.cast<float>();
  const Eigen::Vector3f from_middle = (t - middle_).cast<float>();
  const Eigen::Vector3f half = half_.cast<float>();
  squares.resize(4 * other.four_balls_.size());
  for (std::size_t i = 0; i < other.four_balls_.size(); ++i) {
    const auto& c = other.four_balls_[i].centre;
    Float4 sum = all(0);
    for (Eigen::Index d = 0; d < 3; ++d) {
      const Float4 along = all(r(d, 0)) * c.x + all(r(d, 1)) * c.y + all(r(d, 2)) * c.z + all(from_middle[d]);
      const Float4 beyond = base::simd::max(base::simd::max(along, -along) - all(half[d]), all(0));
      sum += beyond * beyond;
    }
    std::memcpy(&squares[4 * i], &sum, sizeof(sum));
  }
}

void RoundSurface::fill_grid(const distance::MeshDistance& mesh)
{
  const auto& n = frame_.cells;
  nodes_.resize(node(n[0], n[1], n[2]) + 1);
  Index hint = -1;
  for (int i = 0; i <= n[0]; ++i) {
    for (int j = 0; j <= n[1]; ++j) {
      for (int k = 0; k <= n[2]; ++k) {
        const Vec3 p = frame_.node(i, j, k);
        const distance::SignedPoint found = mesh.signed_distance(p, hint);
        hint = found.surface.triangle;
        nodes_[node(i, j, k)].value = static_cast<float>(smooth_distance(mesh, p, found.surface));
      }
    }
  }
  // Gradients by differences to both sides, at the border to one.
  for (int i = 0; i <= n[0]; ++i) {
    for (int j = 0; j <= n[1]; ++j) {
      for (int k = 0; k <= n[2]; ++k) {
        const std::array<int, 3> at{i, j, k};
        for (std::size_t d = 0; d < 3; ++d) {
          std::array<int, 3> low = at;
          std::array<int, 3> high = at;
          low[d] = std::max(0, at[d] - 1);
          high[d] = std::min(n[d], at[d] + 1);
          const double rise =
              nodes_[node(high[0], high[1], high[2])].value - nodes_[node(low[0], low[1], low[2])].value;
          nodes_[node(i, j, k)].gradient[d] =
              static_cast<float>(rise * inverse_spacing_ / (high[d] - low[d]));
        }
      }
    }
  }
}

// Let each corner c of the cell speak for the value with half of its gradient, v_c + g_c . (p - x_c) / 2, and
// interpolate. With f the place in the cell [0, 1] and h its side this is
//
//     v(p) = sum_c w_c v_c - (h / 2) sum_d f_d (1 - f_d) (rise of g_d along axis d),                     (3)
//
// exact for quadratic functions. The sum of the v_c alone is off by h^2 / (8 r) in the middle of a cell and
// right at the nodes: bumps of 1 mm on a tube of 150 mm, in which bodies rocked and did not rest.
distance::FieldSample RoundSurface::sample(const Vec3& p) const
{
  using base::simd::all;
  using base::simd::Float4;
  const Vec3 x = inverse_spacing_ * (p - frame_.origin);
  const Vec3 last(frame_.cells[0], frame_.cells[1], frame_.cells[2]);
  const Vec3 inside = x.cwiseMax(0.0).cwiseMin(last);
  const int i = std::min(static_cast<int>(inside.x()), frame_.cells[0] - 1);
  const int j = std::min(static_cast<int>(inside.y()), frame_.cells[1] - 1);
  const int k = std::min(static_cast<int>(inside.z()), frame_.cells[2] - 1);
  const std::size_t y = at(frame_.cells[2]) + 1;
  const std::size_t plane = y * (at(frame_.cells[1]) + 1);
  const distance::FieldSample* corner = nodes_.data() + node(i, j, k);
  const auto at = [&](std::size_t offset) {
    return std::bit_cast<Float4>(corner[offset]);
  };
  const Float4 fx = all(static_cast<float>(inside.x() - i));
  const Float4 fy = all(static_cast<float>(inside.y() - j));
  const Float4 fz = all(static_cast<float>(inside.z() - k));
  // Value and gradient are interpolated alike: along z, then y, then x. `rise` is the difference along each
  // axis.
  const Float4 z00 = at(0), z01 = at(y), z10 = at(plane), z11 = at(plane + y);
  const Float4 d00 = at(1) - z00, d01 = at(y + 1) - z01, d10 = at(plane + 1) - z10,
               d11 = at(plane + y + 1) - z11;
  const Float4 y0 = z00 + fz * d00, y1 = z10 + fz * d10;
  const Float4 e0 = z01 + fz * d01 - y0, e1 = z11 + fz * d11 - y1;
  const Float4 x0 = y0 + fy * e0;
  const Float4 rise_x = y1 + fy * e1 - x0;
  const Float4 rise_y = e0 + fx * (e1 - e0);
  const Float4 low_z = d00 + fy * (d01 - d00);
  const Float4 rise_z = low_z + fx * (d10 + fy * (d11 - d10) - low_z);
  Float4 mixed = x0 + fx * rise_x;
  // Eq. (3): the value to second order.
  const Float4 one = all(1);
  const Float4 bend = fx * (one - fx) * rise_x;
  const Float4 bend_y = fy * (one - fy) * rise_y;
  const Float4 bend_z = fz * (one - fz) * rise_z;
  mixed[3] -= static_cast<float>(0.5 * frame_.spacing) * (bend[0] + bend_y[1] + bend_z[2]);
  auto result = std::bit_cast<distance::FieldSample>(mixed);
  // Outside the grid the distance grows as at its border: it is nearly straight along its gradient, and
  // convex above a body whose bounds the grid surrounds.
  if (inside != x) result.value += static_cast<float>(result.direction().dot(frame_.spacing * (x - inside)));
  return result;
}

void RoundSurface::place_balls(const distance::MeshDistance& mesh, double thickness)
{
  const mesh::TriangleMesh& triangles = mesh.bvh().mesh();
  const std::size_t count = triangles.triangles.size();
  // From the middle of each triangle the largest ball that touches the surface there and stays inside.
  std::vector<InnerBall> grown(count);
  for (std::size_t t = 0; t < count; ++t) {
    mesh::ClosestPoint centroid;
    centroid.triangle = static_cast<Index>(t);
    centroid.barycentric = Vec3::Constant(1.0 / 3);
    centroid.point = (triangles.corner(t, 0) + triangles.corner(t, 1) + triangles.corner(t, 2)) / 3;
    const auto [middle, n] = smooth_point(mesh, centroid);
    double radius = 0;
    for (int step = 1; step <= kGrowthSteps; ++step) {
      const double tried = 0.5 * thickness * step / kGrowthSteps;
      if (-static_cast<double>(sample(middle - tried * n).value) < (1 - kTouchTolerance) * tried - excess())
        break;
      radius = tried;
    }
    grown[t] = {middle - radius * n, radius, 0};
  }
  // Each ball takes with it the triangles that it nearly holds, moves to the middle of their balls, and
  // reaches to their corners.
  std::vector<bool> covered(count, false);
  std::vector<std::size_t> mine;
  for (std::size_t t = 0; t < count; ++t) {
    if (covered[t]) continue;
    const auto farthest = [&](const Vec3& centre, std::size_t other) {
      double max_distance = 0;
      for (int k = 0; k < 3; ++k)
        max_distance = std::max(max_distance, (triangles.corner(other, k) - centre).norm());
      return max_distance;
    };
    mine.clear();
    Vec3 sum = Vec3::Zero();
    for (std::size_t other = t; other < count; ++other) {
      const bool near =
          other == t || (!covered[other] && farthest(grown[t].centre, other) < kCoverRadii * grown[t].radius);
      if (!near) continue;
      mine.push_back(other);
      covered[other] = true;
      sum += grown[other].centre;
    }
    InnerBall ball;
    ball.centre = sum / static_cast<double>(mine.size());
    ball.radius = std::max(0.0, -static_cast<double>(sample(ball.centre).value));
    for (const std::size_t other : mine) ball.reach = std::max(ball.reach, farthest(ball.centre, other));
    // The bent facets bulge by no more than a cell's excess beyond their corners' ball.
    ball.reach = std::max(ball.reach, ball.radius) + excess();
    balls_.push_back(ball);
  }
}

}  // namespace thrum::collision
