// SPDX-License-Identifier: MIT
#include "thrum/tets/monomial_moments.h"

#include <cmath>
#include <numbers>

#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

// Points and weights of Gauss and Legendre's rule on 0..1: exact to the degree 2 n - 1.
struct GaussRule {
  std::vector<double> at;
  std::vector<double> weights;
};

GaussRule gauss_rule(int n)
{
  GaussRule rule;
  for (int k = 0; k < n; ++k) {
    // Newton's method for the roots of Legendre's polynomial, from Tricomi's approximation.
    double x = std::cos(std::numbers::pi * (k + 0.75) / (n + 0.5));
    double slope = 1;
    for (int iteration = 0; iteration < 50; ++iteration) {
      double before = 1;
      double value = x;
      for (int j = 2; j <= n; ++j) {
        const double next = ((2 * j - 1) * x * value - (j - 1) * before) / j;
        before = value;
        value = next;
      }
      slope = n * (x * value - before) / (x * x - 1);
      const double step = value / slope;
      x -= step;
      if (std::abs(step) < 1e-16) break;
    }
    rule.at.push_back(0.5 * (1 + x));
    rule.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

// Barycentric coordinates of q and r, and weights that add up to 1/2.
struct TrianglePoint {
  double q;
  double r;
  double weight;
};

// A square folded to a triangle: exact to the degree 2 n - 2.
std::vector<TrianglePoint> triangle_rule(int n)
{
  const GaussRule rule = gauss_rule(n);
  std::vector<TrianglePoint> points;
  for (std::size_t i = 0; i < rule.at.size(); ++i)
    for (std::size_t j = 0; j < rule.at.size(); ++j) {
      const double rest = 1 - rule.at[i];
      points.push_back({rule.at[i], rest * rule.at[j], rule.weights[i] * rule.weights[j] * rest});
    }
  return points;
}

struct Tables {
  std::vector<Exponents> list;
  std::array<std::array<std::array<std::size_t, kMaxMonomialDegree + 1>, kMaxMonomialDegree + 1>,
             kMaxMonomialDegree + 1>
      index{};
  // Each monomial but the first is an earlier one times one coordinate.
  std::vector<std::size_t> factor;
  std::vector<int> axis;
};

const Tables& tables()
{
  static const Tables kTables = [] {
    Tables t;
    for (int degree = 0; degree <= kMaxMonomialDegree; ++degree)
      for (int a = degree; a >= 0; --a)
        for (int b = degree - a; b >= 0; --b) {
          const int c = degree - a - b;
          t.index[at(a)][at(b)][at(c)] = t.list.size();
          const int axis = a > 0 ? 0 : b > 0 ? 1 : 2;
          Exponents lower = {a, b, c};
          if (degree > 0) --lower[at(axis)];
          t.factor.push_back(t.index[at(lower[0])][at(lower[1])][at(lower[2])]);
          t.axis.push_back(axis);
          t.list.push_back({a, b, c});
        }
    return t;
  }();
  return kTables;
}

}  // namespace

const std::vector<Exponents>& monomials()
{
  return tables().list;
}

std::size_t monomial_index(const Exponents& exponents)
{
  return tables().index[at(exponents[0])][at(exponents[1])][at(exponents[2])];
}

void evaluate_monomials(int degree, const Vec3& point, std::span<double> values)
{
  const Tables& t = tables();
  values[0] = 1;
  for (std::size_t m = 1; m < monomial_count(degree); ++m) values[m] = values[t.factor[m]] * point[t.axis[m]];
}

void add_cone_moments(int degree, const Vec3& p, const Vec3& q, const Vec3& r, std::span<double> moments)
{
  static const std::array<std::vector<TrianglePoint>, kMaxMonomialDegree + 1> kRules = [] {
    std::array<std::vector<TrianglePoint>, kMaxMonomialDegree + 1> rules;
    for (int d = 0; d <= kMaxMonomialDegree; ++d) rules[at(d)] = triangle_rule(d / 2 + 1 + d % 2);
    return rules;
  }();
  const double volume = 6 * p.dot(q.cross(r));
  const std::size_t count = monomial_count(degree);
  std::array<double, monomial_count(kMaxMonomialDegree)> sums{};
  std::array<double, monomial_count(kMaxMonomialDegree)> values;
  for (const TrianglePoint& point : kRules[at(degree)]) {
    evaluate_monomials(degree, (1 - point.q - point.r) * p + point.q * q + point.r * r, values);
    for (std::size_t m = 0; m < count; ++m) sums[m] += point.weight * values[m];
  }
  std::size_t m = 0;
  for (int d = 0; d <= degree; ++d)
    for (; m < monomial_count(d); ++m) moments[m] += volume / (d + 3) * sums[m];
}

std::vector<double> whole_monomial_moments(int degree)
{
  const auto factorial = [](int n) {
    double product = 1;
    for (int k = 2; k <= n; ++k) product *= k;
    return product;
  };
  std::vector<double> whole;
  for (std::size_t m = 0; m < monomial_count(degree); ++m) {
    const auto& [a, b, c] = monomials()[m];
    whole.push_back(6 * factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 3));
  }
  return whole;
}

}  // namespace thrum::tets
