// SPDX-License-Identifier: MIT
#include "thrum/elastic/harmonic_system.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/elastic/tetrahedron_element.h"

namespace thrum::elastic {

namespace {

constexpr int kUnknowns = 18;  // of an element
/// Nodes nearer to the axis than this share of the profile's size are on it.
constexpr double kAxisTolerance = 1e-9;
using ElementMatrix = Eigen::Matrix<double, kUnknowns, kUnknowns>;

// Seven points, exact to degree five [Radon 1948].
struct Point {
  double weight;
  std::array<double, 3> at;
};

std::array<Point, 7> integration_points()
{
  const double root = std::sqrt(15.0);
  std::array<Point, 7> points{};
  points[0] = {0.225, {1.0 / 3, 1.0 / 3, 1.0 / 3}};
  for (std::size_t set = 0; set < 2; ++set) {
    const double sign = set == 0 ? -1 : 1;
    const double near = (6 + sign * root) / 21;
    for (std::size_t k = 0; k < 3; ++k) {
      Point& p = points[1 + 3 * set + k];
      p.weight = (155 + sign * root) / 1200;
      p.at.fill(near);
      p.at[k] = 1 - 2 * near;
    }
  }
  return points;
}

struct Element {
  ElementMatrix stiffness = ElementMatrix::Zero();
  ElementMatrix mass = ElementMatrix::Zero();
};

// Shape functions and their gradients at a point of a straight triangle.
struct Shape {
  std::array<double, 6> value{};
  std::array<Vec2, 6> gradient{};
};

Shape shape_at(const std::array<Vec2, 3>& gradients, const std::array<double, 3>& l)
{
  Shape shape;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t next = (k + 1) % 3;
    shape.value[k] = l[k] * (2 * l[k] - 1);
    shape.gradient[k] = (4 * l[k] - 1) * gradients[k];
    shape.value[3 + k] = 4 * l[k] * l[next];
    shape.gradient[3 + k] = 4 * (l[k] * gradients[next] + l[next] * gradients[k]);
  }
  return shape;
}

// Rows: rr, tt, zz, 2 rz, 2 rt, 2 zt.
Eigen::Matrix<double, 6, kUnknowns> strain_matrix(const Shape& shape, double r, double n)
{
  Eigen::Matrix<double, 6, kUnknowns> b = Eigen::Matrix<double, 6, kUnknowns>::Zero();
  for (int k = 0; k < 6; ++k) {
    const double around = shape.value[at(k)] / r;
    const Vec2& g = shape.gradient[at(k)];
    for (int part = 0; part < 2; ++part) {  // a = (s + d)/2, b = (s - d)/2
      const double sign = part == 0 ? 1 : -1;
      const int c = 3 * k + part;
      b(0, c) = g.x() / 2;
      b(1, c) = (1 + sign * n) * around / 2;
      b(3, c) = g.y() / 2;
      b(4, c) = (sign * g.x() - (sign + n) * around) / 2;
      b(5, c) = sign * g.y() / 2;
    }
    b(2, 3 * k + 2) = g.y();
    b(3, 3 * k + 2) = g.x();
    b(5, 3 * k + 2) = -n * around;
  }
  return b;
}

Element integrate(const ProfileMesh& mesh, const std::array<Index, 6>& nodes, const LameConstants& lame,
                  double density, int waves)
{
  static const std::array<Point, 7> kPoints = integration_points();
  const Vec2& p0 = mesh.nodes[at(nodes[0])];
  const Vec2& p1 = mesh.nodes[at(nodes[1])];
  const Vec2& p2 = mesh.nodes[at(nodes[2])];
  const double twice_area = (p1 - p0).x() * (p2 - p0).y() - (p1 - p0).y() * (p2 - p0).x();
  const std::array<Vec2, 3> gradients = {Vec2(p1.y() - p2.y(), p2.x() - p1.x()) / twice_area,
                                         Vec2(p2.y() - p0.y(), p0.x() - p2.x()) / twice_area,
                                         Vec2(p0.y() - p1.y(), p1.x() - p0.x()) / twice_area};
  Eigen::Matrix<double, 6, 6> elasticity = Eigen::Matrix<double, 6, 6>::Zero();
  elasticity.topLeftCorner<3, 3>().setConstant(lame.lambda);
  elasticity.diagonal().head<3>().array() += 2 * lame.mu;
  elasticity.diagonal().tail<3>().setConstant(lame.mu);
  // The integral of the squares around the axis.
  const double turn = waves == 0 ? 2 * std::numbers::pi : std::numbers::pi;
  Element element;
  for (const Point& point : kPoints) {
    const double r = point.at[0] * p0.x() + point.at[1] * p1.x() + point.at[2] * p2.x();
    const double weight = turn * 0.5 * twice_area * point.weight * r;
    const Shape shape = shape_at(gradients, point.at);
    const auto b = strain_matrix(shape, r, waves);
    element.stiffness.noalias() += b.transpose() * (weight * elasticity * b);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) {
        const double m = weight * density * shape.value[at(i)] * shape.value[at(j)];
        for (int k = 0; k < 3; ++k) element.mass(3 * i + k, 3 * j + k) += (k < 2 ? 0.5 : 1) * m;
      }
  }
  return element;
}

bool vanishes_on_axis(int waves, int component)
{
  if (waves == 0) return component < 2;
  if (waves == 1) return component != 1;
  return true;
}

void number_unknowns(const ProfileMesh& mesh, HarmonicSystem& system)
{
  double size = 0;
  for (const Vec2& p : mesh.nodes) size = std::max(size, p.cwiseAbs().maxCoeff());
  system.unknown.assign(3 * mesh.nodes.size(), -1);
  Index next = 0;
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
    for (int k = 0; k < 3; ++k) {
      const bool on_axis = mesh.nodes[n].x() < kAxisTolerance * size;
      if (!on_axis || !vanishes_on_axis(system.waves, k)) system.unknown[3 * n + at(k)] = next++;
    }
  system.rigid = MatX::Zero(next, system.waves < 2 ? 2 : 0);
  if (system.waves > 1) return;
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) {
    const double r = mesh.nodes[n].x();
    const double z = mesh.nodes[n].y();
    // Along the axis and around it; across it and about an axis across.
    const double parts[2][2][3] = {{{0, 0, 1}, {r, -r, 0}}, {{0, 2, 0}, {0, 2 * z, -r}}};
    for (std::size_t k = 0; k < 3; ++k) {
      const Index u = system.unknown[3 * n + k];
      if (u < 0) continue;
      for (int m = 0; m < 2; ++m) system.rigid(u, m) = parts[system.waves][m][k];
    }
  }
}

// Polynomials of degree three, times what makes them vanish on the axis as smooth motions do.
MatX trial_motions(const ProfileMesh& mesh, const HarmonicSystem& system, Index count)
{
  Eigen::AlignedBox2d box;
  for (const Vec2& p : mesh.nodes) box.extend(p);
  const double size = box.sizes().maxCoeff();
  MatX trials = MatX::Zero(count, 30);
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) {
    const double r = mesh.nodes[n].x() / size;
    const double z = (mesh.nodes[n].y() - box.center().y()) / size;
    for (int k = 0; k < 3; ++k) {
      const Index u = system.unknown[3 * n + at(k)];
      if (u < 0) continue;
      const int order = std::abs(system.waves + (k == 0 ? 1 : k == 1 ? -1 : 0));
      Eigen::Index column = 10 * k;
      for (int i = 0; i <= 3; ++i)
        for (int j = 0; i + j <= 3; ++j)
          trials(u, column++) = std::pow(r, order) * std::pow(r, i) * std::pow(z, j);
    }
  }
  return trials;
}

double estimate_lowest(const ProfileMesh& mesh, const HarmonicSystem& system)
{
  const auto K = system.stiffness.selfadjointView<Eigen::Lower>();
  const auto M = system.mass.selfadjointView<Eigen::Lower>();
  MatX trials = trial_motions(mesh, system, static_cast<Index>(system.stiffness.rows()));
  for (Eigen::Index c = 0; c < trials.cols(); ++c) {
    const VecX v = trials.col(c);
    const double norm = std::sqrt(v.dot(M * v));
    if (norm > 0) trials.col(c) /= norm;
  }
  const MatX mass = trials.transpose() * (M * trials);
  const Eigen::SelfAdjointEigenSolver<MatX> directions(mass);
  constexpr double kDependent = 1e-9;
  std::vector<Eigen::Index> kept;
  for (Eigen::Index c = 0; c < mass.cols(); ++c)
    if (directions.eigenvalues()[c] > kDependent) kept.push_back(c);
  MatX basis(trials.rows(), static_cast<Eigen::Index>(kept.size()));
  for (std::size_t k = 0; k < kept.size(); ++k)
    basis.col(static_cast<Eigen::Index>(k)) =
        trials * directions.eigenvectors().col(kept[k]) / std::sqrt(directions.eigenvalues()[kept[k]]);
  const MatX stiffness = basis.transpose() * (K * basis);
  const Eigen::SelfAdjointEigenSolver<MatX> ritz(stiffness, Eigen::EigenvaluesOnly);
  const Eigen::Index first = std::min(system.rigid.cols(), ritz.eigenvalues().size() - 1);
  return std::abs(ritz.eigenvalues()[first]);
}

}  // namespace

HarmonicSystem harmonic_system(const ProfileMesh& mesh, const model::Material& material, int waves)
{
  HarmonicSystem system;
  system.waves = waves;
  number_unknowns(mesh, system);
  const LameConstants lame = lame_constants(material);
  std::vector<Eigen::Triplet<double>> stiffness;
  std::vector<Eigen::Triplet<double>> mass;
  for (const auto& nodes : mesh.triangles) {
    const Element element = integrate(mesh, nodes, lame, material.density, waves);
    std::array<Index, kUnknowns> place{};
    for (std::size_t k = 0; k < place.size(); ++k) place[k] = system.unknown[3 * at(nodes[k / 3]) + k % 3];
    for (int i = 0; i < kUnknowns; ++i)
      for (int j = 0; j < kUnknowns; ++j) {
        const Index row = place[at(i)];
        const Index column = place[at(j)];
        if (column < 0 || row < column) continue;
        stiffness.emplace_back(row, column, element.stiffness(i, j));
        if (i % 3 == j % 3) mass.emplace_back(row, column, element.mass(i, j));
      }
  }
  const Eigen::Index count = system.rigid.rows();
  system.stiffness.resize(count, count);
  system.mass.resize(count, count);
  system.stiffness.setFromTriplets(stiffness.begin(), stiffness.end());
  system.mass.setFromTriplets(mass.begin(), mass.end());
  system.lowest_estimate = estimate_lowest(mesh, system);
  return system;
}

}  // namespace thrum::elastic
