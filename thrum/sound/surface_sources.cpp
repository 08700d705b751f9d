// SPDX-License-Identifier: MIT
//
// A density s of monopoles on the surface makes the pressure and, just outside, its slope along the normal
//
//     p(x) = int s(y) G dS,   G = exp(-i k R)/(4 pi R),   R = |x - y|,                                    (1)
//     dp/dn(x) = -s(x)/2 + int s(y) dG/dn_x dS  =  -i w rho v(x).                                         (2)
//
// With s constant on each patch, (2) is integrated over each patch. G is 1/(4 pi R), whose gradient is
// known in closed form for a triangle, and a smooth rest that a few cells a patch integrate. So the two
// sides of a thin wall may be much closer than patches are wide. (2) has no unique solution at the
// frequencies of the standing waves inside the body (p = 0 on the surface): above 57 kHz for a wall of 3 mm,
// but within hearing for a solid body. There (2) reaches all velocities but those of a few patterns. A few
// sources inside, of amplitudes x, reach these too: of all s and x that make the velocity, those of the least
// sum of squares are taken,
//
//     A s + B x = b:   s = A^H y,  x = B^H y,  (A A^H + B B^H + ridge) y = b.                            (3)
#include "thrum/sound/surface_sources.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/mesh/winding_number.h"

namespace thrum::sound {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kOnEdge = 1e-12;    ///< share by which the way over a point on an edge may exceed the edge
constexpr double kSamePlace = 1e-6;  ///< k R below which two patches are one place
constexpr int kCellsPerPatch = 4;
constexpr int kOrdersAbove = 4;   ///< of the harmonics that are kept, in the sums over directions
constexpr double kRidge = 1e-10;  ///< of (3), relative to the mean of the diagonal
constexpr double kNear =
    4;  ///< closed form within so many sizes of a triangle, patch by patch within so many

struct Piece {
  Vec3 centre;
  Vec3 normal;
  double area;
};

std::vector<Piece> pieces_of(const mesh::TriangleMesh& surface)
{
  std::vector<Piece> pieces;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Vec3 vector = mesh::area_vector(surface, t);
    const Vec3 centre = (surface.corner(t, 0) + surface.corner(t, 1) + surface.corner(t, 2)) / 3;
    const double size = vector.norm();
    pieces.push_back({centre, size > 0 ? Vec3(vector / size) : Vec3(Vec3::UnitZ()), 0.5 * size});
  }
  return pieces;
}

/// Groups of neighbouring pieces with similar normals: each piece belongs to the nearest of `count` pieces
/// that are as far apart as possible, by place and normal. Number of its group, by piece.
std::vector<Index> group(const std::vector<Piece>& pieces, int count)
{
  double area = 0;
  for (const Piece& piece : pieces) area += piece.area;
  const double turn = area / count;  // the squared length that opposite normals are worth a quarter of
  std::vector<double> nearest(pieces.size(), std::numeric_limits<double>::infinity());
  std::vector<Index> groups(pieces.size(), 0);
  std::size_t next = 0;
  for (Index g = 0; g < count; ++g) {
    const Piece seed = pieces[next];
    double farthest = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const double distance = (pieces[i].centre - seed.centre).squaredNorm() +
                              turn * (pieces[i].normal - seed.normal).squaredNorm();
      if (distance < nearest[i]) {
        nearest[i] = distance;
        groups[i] = g;
      }
      if (nearest[i] > farthest) {
        farthest = nearest[i];
        next = i;
      }
    }
    if (farthest == 0) break;
  }
  return groups;
}

/// grad_x of the integral of 1/R over a triangle: the solid angle along its normal, and for each edge the
/// integral of 1/R along it, across the edge.
Vec3 potential_gradient(const std::array<Vec3, 3>& corners, const Vec3& normal, const Vec3& x)
{
  Vec3 gradient = 4 * kPi * mesh::triangle_winding(corners[0] - x, corners[1] - x, corners[2] - x) * normal;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 a = corners[k] - x;
    const Vec3 b = corners[(k + 1) % 3] - x;
    const Vec3 edge = b - a;
    const double length = edge.norm();
    const double sum = a.norm() + b.norm();
    if (!(sum > length * (1 + kOnEdge))) continue;  // x lies on the edge
    gradient -= (edge / length).cross(normal) * std::log((sum + length) / (sum - length));
  }
  return gradient;
}

}  // namespace

SurfaceSources::SurfaceSources(const model::ModalModel& model, int count, SourceSet inside)
    : inside_(std::move(inside))
{
  const std::vector<Piece> pieces = pieces_of(model.surface);
  // Triangles make cells, and cells make patches.
  const std::vector<Index> cell_of = group(pieces, kCellsPerPatch * count);
  cells_.resize(at(1 + *std::max_element(cell_of.begin(), cell_of.end())));
  for (std::size_t t = 0; t < pieces.size(); ++t) {
    Cell& cell = cells_[at(cell_of[t])];
    cell.centre += pieces[t].area * pieces[t].centre;
    cell.area += pieces[t].area;
    cell.area_vector += pieces[t].area * pieces[t].normal;
  }
  std::vector<Piece> cell_pieces;
  for (Cell& cell : cells_) {
    cell.centre /= std::max(cell.area, std::numeric_limits<double>::min());
    cell_pieces.push_back({cell.centre, cell.area_vector.normalized(), cell.area});
  }
  const std::vector<Index> patch_of_cell = group(cell_pieces, count);
  for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c].patch = patch_of_cell[c];
  std::vector<Index> patch_of;
  for (const Index cell : cell_of) patch_of.push_back(at(patch_of_cell, cell));
  const Index patches = 1 + *std::max_element(patch_of.begin(), patch_of.end());

  patch_areas_.assign(at(patches), 0.0);
  fluxes_ = MatX::Zero(patches, model.mode_count());
  VecX squares = VecX::Zero(model.mode_count());
  for (std::size_t t = 0; t < pieces.size(); ++t) {
    Eigen::RowVectorXd velocity = Eigen::RowVectorXd::Zero(model.mode_count());
    for (const Index v : model.surface.triangles[t]) {
      velocity += pieces[t].normal.transpose() * model.shapes.middleRows<3>(3 * Eigen::Index{v}) / 3;
    }
    patch_areas_[at(patch_of[t])] += pieces[t].area;
    fluxes_.row(patch_of[t]) += pieces[t].area * velocity;
    squares += pieces[t].area * velocity.cwiseAbs2().transpose();
  }
  VecX represented = VecX::Zero(model.mode_count());
  for (Index p = 0; p < patches; ++p) {
    if (patch_areas_[at(p)] > 0) represented += fluxes_.row(p).cwiseAbs2().transpose() / patch_areas_[at(p)];
  }
  missed_ = (1 - represented.array() / squares.array().max(std::numeric_limits<double>::min())).max(0).sqrt();
  build_static_part(model.surface, patch_of);
}

// Triangle by triangle between patches that are near each other, in closed form for triangles that are;
// patch by patch otherwise.
void SurfaceSources::build_static_part(const mesh::TriangleMesh& surface, const std::vector<Index>& patch_of)
{
  const std::vector<Piece> pieces = pieces_of(surface);
  const Index patches = patch_count();
  std::vector<std::vector<std::size_t>> members(at(patches));
  for (std::size_t t = 0; t < pieces.size(); ++t) members[at(patch_of[t])].push_back(t);
  std::vector<Piece> whole(at(patches), Piece{Vec3::Zero(), Vec3::Zero(), 0});
  for (std::size_t t = 0; t < pieces.size(); ++t) {
    Piece& patch = whole[at(patch_of[t])];
    patch.centre += pieces[t].area * pieces[t].centre;
    patch.normal += pieces[t].area * pieces[t].normal;
    patch.area += pieces[t].area;
  }
  for (Piece& patch : whole) patch.centre /= std::max(patch.area, std::numeric_limits<double>::min());

  static_ = MatX::Zero(patches, patches);
  const auto flux_between = [&](Index p, Index q) {
    const Vec3 way = whole[at(p)].centre - whole[at(q)].centre;
    const double size = std::sqrt(std::max(whole[at(p)].area, whole[at(q)].area));
    if (way.norm() > kNear * size) {
      return -whole[at(q)].area * whole[at(p)].normal.dot(way) / (4 * kPi * std::pow(way.norm(), 3));
    }
    double flux = 0;
    for (const std::size_t s : members[at(q)]) {
      const std::array<Vec3, 3> corners{surface.corner(s, 0), surface.corner(s, 1), surface.corner(s, 2)};
      const double reach = kNear * kNear * pieces[s].area;
      for (const std::size_t t : members[at(p)]) {
        if (s == t) continue;  // flat: no flux through itself
        const Vec3 arm = pieces[t].centre - pieces[s].centre;
        const double squared = arm.squaredNorm();
        const Vec3 gradient = squared > reach
                                  ? Vec3(-pieces[s].area / (squared * std::sqrt(squared)) * arm)
                                  : potential_gradient(corners, pieces[s].normal, pieces[t].centre);
        flux += pieces[t].area * pieces[t].normal.dot(gradient) / (4 * kPi);
      }
    }
    return flux;
  };
  base::parallel_for(at(patches), [&](std::size_t p) {
    for (Index q = 0; q < patches; ++q)
      static_(static_cast<Eigen::Index>(p), q) = flux_between(static_cast<Index>(p), q);
    static_(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(p)) -= 0.5 * patch_areas_[p];
  });
}

Eigen::MatrixXcd SurfaceSources::matrix_at(double k) const
{
  Eigen::MatrixXcd matrix = static_.cast<Complex>();
  // The rest: d/dR of (exp(-i k R) - 1)/R is (1 - (1 + i k R) exp(-i k R))/R^2.
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Cell& a = cells_[i];
    for (std::size_t j = 0; j < i; ++j) {
      const Cell& b = cells_[j];
      const Vec3 arm = a.centre - b.centre;
      const double R = arm.norm();
      if (R * k < kSamePlace) continue;
      const double x = k * R;
      const double c = std::cos(x);
      const double s = std::sin(x);
      const Complex slope = Complex(1 - c - x * s, s - x * c) / (4 * kPi * R * R * R);
      matrix(a.patch, b.patch) += b.area * a.area_vector.dot(arm) * slope;
      matrix(b.patch, a.patch) -= a.area * b.area_vector.dot(arm) * slope;
    }
  }
  return matrix;
}

// Columns as long as those of the sources on the surface are on average.
Eigen::MatrixXcd SurfaceSources::inner_fluxes(double omega, const Air& air) const
{
  SurfacePoints points;
  for (const Cell& cell : cells_) {
    points.points.push_back(cell.centre);
    points.normals.push_back(cell.area_vector.normalized());
    points.areas.push_back(cell.area);
  }
  const FieldMatrix fields = source_fields(points, inside_, omega / air.sound_speed(), air);
  Eigen::MatrixXcd fluxes = Eigen::MatrixXcd::Zero(patch_count(), fields.cols());
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    fluxes.row(cells_[c].patch) += Complex(0, -omega * air.density()) * std::sqrt(cells_[c].area) *
                                   fields.row(static_cast<Eigen::Index>(c));
  }
  return fluxes;
}

ModeFarField SurfaceSources::fit(Index mode, double omega, const Vec3& centre, double radius, int max_order,
                                 const Air& air) const
{
  const double k = omega / air.sound_speed();
  const Eigen::MatrixXcd matrix = matrix_at(k);
  const Eigen::VectorXcd right = Complex(0, -omega * air.density()) * fluxes_.col(mode).cast<Complex>();
  Eigen::VectorXcd density;
  Eigen::VectorXcd inner = Eigen::VectorXcd::Zero(2 * std::ssize(inside_));
  if (inside_.empty()) {
    density = matrix.partialPivLu().solve(right);
  } else {
    Eigen::MatrixXcd fluxes = inner_fluxes(omega, air);
    const double length = matrix.norm() / std::sqrt(static_cast<double>(matrix.cols()));
    const Eigen::VectorXd scale =
        length * fluxes.colwise().norm().cwiseMax(std::numeric_limits<double>::min()).cwiseInverse();
    fluxes = fluxes * scale.asDiagonal();
    Eigen::MatrixXcd gram = Eigen::MatrixXcd::Zero(matrix.rows(), matrix.rows());
    gram.selfadjointView<Eigen::Lower>().rankUpdate(matrix);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(fluxes);
    gram.diagonal().array() += kRidge * gram.diagonal().real().mean();
    const Eigen::VectorXcd y = gram.selfadjointView<Eigen::Lower>().llt().solve(right);
    density = matrix.adjoint() * y;
    inner = scale.asDiagonal() * (fluxes.adjoint() * y);
  }

  ModeFarField result;
  result.kind = ModeRadiationKind::surface_sources;
  result.residual = missed_[mode];
  result.unknowns = patch_count();
  const int needed = static_cast<int>(std::ceil(k * radius)) + 4;
  // Sources at the radius of the body have a little of the orders above, which must not count as lower ones.
  const SphereRule rule = sphere_rule(std::min(needed + kOrdersAbove, 2 * max_order));
  std::vector<Complex> values = far_amplitudes(inside_, inner, centre, k, rule.directions);
  for (const Cell& cell : cells_) {
    const Complex strength = cell.area / (4 * kPi) * density[cell.patch];
    const Vec3 arm = k * (cell.centre - centre);
    for (std::size_t d = 0; d < values.size(); ++d) {
      const double phase = rule.directions[d].dot(arm);
      values[d] += strength * Complex(std::cos(phase), std::sin(phase));
    }
  }
  expand_far_field(rule, values, needed, max_order, result);
  return result;
}

}  // namespace thrum::sound
