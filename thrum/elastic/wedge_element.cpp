// SPDX-License-Identifier: MIT
#include "thrum/elastic/wedge_element.h"

#include <cmath>

namespace thrum::elastic {

namespace {

// A point of the reference wedge and its weight; the weights add up to its volume, 1.
struct Point {
  Vec3 l = Vec3::Zero();  // triangular coordinates
  double z = 0;
  double weight = 0;
};

std::array<Point, 6> stiffness_points()
{
  std::array<Point, 6> points;
  std::size_t n = 0;
  for (const double z : {-1 / std::sqrt(3.0), 1 / std::sqrt(3.0)})
    for (int k = 0; k < 3; ++k) {
      Vec3 l = Vec3::Constant(1.0 / 6);
      l[k] = 2.0 / 3;
      points[n++] = {l, z, 1.0 / 6};
    }
  return points;
}

// Exact to degree four in the triangle [Strang and Fix] and five across it.
std::array<Point, 18> mass_points()
{
  constexpr double kAt[2] = {0.445948490915965, 0.091576213509771};
  constexpr double kTriangleWeight[2] = {0.223381589678011, 0.109951743655322};
  std::array<Point, 18> points;
  std::size_t n = 0;
  for (int row = -1; row <= 1; ++row)
    for (std::size_t set = 0; set < 2; ++set)
      for (int k = 0; k < 3; ++k) {
        Vec3 l = Vec3::Constant(kAt[set]);
        l[k] = 1 - 2 * kAt[set];
        points[n++] = {l, row * std::sqrt(0.6), kTriangleWeight[set] * (row == 0 ? 8.0 : 5.0) / 18};
      }
  return points;
}

using Values = Eigen::Matrix<double, 15, 1>;
// Derivatives by L_0, L_1, L_2 as if independent, and by z.
using Derivatives = Eigen::Matrix<double, 15, 4>;

void shape(const Point& p, Values& n, Derivatives& d)
{
  const double z = p.z;
  d.setZero();
  for (int i = 0; i < 3; ++i) {
    const double l = p.l[i];
    for (int side = 0; side < 2; ++side) {
      const double s = side == 0 ? -1 : 1;
      const int corner = i + 3 * side;
      n[corner] = 0.5 * l * ((2 * l - 1) * (1 + s * z) - (1 - z * z));
      d(corner, i) = 0.5 * ((4 * l - 1) * (1 + s * z) - (1 - z * z));
      d(corner, 3) = 0.5 * l * ((2 * l - 1) * s + 2 * z);
      const int j = (i + 1) % 3;
      const int edge = 6 + i + 3 * side;
      n[edge] = 2 * l * p.l[j] * (1 + s * z);
      d(edge, i) = 2 * p.l[j] * (1 + s * z);
      d(edge, j) = 2 * l * (1 + s * z);
      d(edge, 3) = 2 * l * p.l[j] * s;
    }
    n[12 + i] = l * (1 - z * z);
    d(12 + i, i) = 1 - z * z;
    d(12 + i, 3) = -2 * l * z;
  }
}

// Columns: derivatives of the place by L_1, L_2 (with L_0 = 1 - L_1 - L_2) and z.
Mat3 jacobian(std::span<const Vec3, 6> c, const Point& p)
{
  Mat3 j = Mat3::Zero();
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 along = 0.5 * ((1 - p.z) * c[i] + (1 + p.z) * c[i + 3]);
    if (i > 0) j.col(static_cast<Eigen::Index>(i) - 1) += along;
    if (i == 0) {
      j.col(0) -= along;
      j.col(1) -= along;
    }
    j.col(2) += 0.5 * p.l[static_cast<Eigen::Index>(i)] * (c[i + 3] - c[i]);
  }
  return j;
}

const std::array<Values, 18>& mass_values()
{
  static const std::array<Values, 18> kValues = [] {
    std::array<Values, 18> values;
    const auto points = mass_points();
    Derivatives unused;
    for (std::size_t q = 0; q < 18; ++q) shape(points[q], values[q], unused);
    return values;
  }();
  return kValues;
}

}  // namespace

WedgeElement::WedgeElement(std::span<const Vec3, 6> corners)
{
  static const auto kStiffness = stiffness_points();
  static const auto kMass = mass_points();
  Values n;
  Derivatives d;
  for (std::size_t q = 0; q < kStiffnessPoints; ++q) {
    const Mat3 j = jacobian(corners, kStiffness[q]);
    const double determinant = j.determinant();
    positive_ = positive_ && determinant > 0;
    // The reference triangle has the area 1/2 and the height 2, so weights of sum 1 stand for a volume of 1.
    weights_[q] = determinant * kStiffness[q].weight;
    shape(kStiffness[q], n, d);
    Eigen::Matrix<double, 15, 3> local;
    local.col(0) = d.col(1) - d.col(0);
    local.col(1) = d.col(2) - d.col(0);
    local.col(2) = d.col(3);
    if (determinant != 0) gradients_[q] = local * j.inverse();
  }
  for (std::size_t q = 0; q < kMassPoints; ++q) {
    const double determinant = jacobian(corners, kMass[q]).determinant();
    positive_ = positive_ && determinant > 0;
    mass_weights_[q] = determinant * kMass[q].weight;
    volume_ += mass_weights_[q];
  }
}

Mat3 WedgeElement::gradient_products(int a, int b) const
{
  Mat3 sum = Mat3::Zero();
  for (std::size_t q = 0; q < kStiffnessPoints; ++q)
    sum.noalias() += (weights_[q] * gradients_[q].row(a).transpose()) * gradients_[q].row(b);
  return sum;
}

double WedgeElement::mass(int a, int b) const
{
  const auto& values = mass_values();
  double sum = 0;
  for (std::size_t q = 0; q < kMassPoints; ++q) sum += mass_weights_[q] * values[q][a] * values[q][b];
  return sum;
}

MatX WedgeElement::stiffness_matrix(const LameConstants& lame) const
{
  MatX matrix(3 * kNodes, 3 * kNodes);
  for (int a = 0; a < kNodes; ++a)
    for (int b = 0; b < kNodes; ++b)
      matrix.block<3, 3>(3 * a, 3 * b) = stiffness_block(lame, gradient_products(a, b));
  return matrix;
}

MatX WedgeElement::mass_matrix(double density) const
{
  MatX matrix = MatX::Zero(3 * kNodes, 3 * kNodes);
  for (int a = 0; a < kNodes; ++a)
    for (int b = 0; b < kNodes; ++b)
      matrix.block<3, 3>(3 * a, 3 * b).diagonal().setConstant(density * mass(a, b));
  return matrix;
}

void WedgeElement::add_moments(std::span<const Vec3, 6> corners, const Vec3& origin, double& zeroth,
                               Vec3& first, Mat3& second) const
{
  static const auto kMass = mass_points();
  for (std::size_t q = 0; q < kMassPoints; ++q) {
    Vec3 x = -origin;
    for (std::size_t i = 0; i < 3; ++i)
      x += kMass[q].l[static_cast<Eigen::Index>(i)] * 0.5 *
           ((1 - kMass[q].z) * corners[i] + (1 + kMass[q].z) * corners[i + 3]);
    zeroth += mass_weights_[q];
    first += mass_weights_[q] * x;
    second += mass_weights_[q] * x * x.transpose();
  }
}

}  // namespace thrum::elastic
