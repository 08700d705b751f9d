// SPDX-License-Identifier: MIT
// Integrals of L_1^a L_2^b L_3^c over a part of a tetrahedron, for elements of degree three and four.
//
// In the coordinates (L_1, L_2, L_3) corner 0 is the origin, and a part of the tetrahedron is a sum of signed
// cones from there. Over the cone of a triangle with corners p, q, r a monomial f of degree k is
//
//     integral over the cone of f  =  det(p, q, r) / (k + 3) x integral of f over the triangle,           (1)
//
// the latter for a triangle of area 1/2. The monomials are ordered by degree, so that those of a lower degree
// come first.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::tets {

/// Highest degree of the monomials: twice the degree of the elements.
inline constexpr int kMaxMonomialDegree = 8;

/// How many monomials have at most this degree.
[[nodiscard]] constexpr std::size_t monomial_count(int degree)
{
  return static_cast<std::size_t>((degree + 1) * (degree + 2) * (degree + 3) / 6);
}

using Exponents = std::array<int, 3>;

/// All monomials up to kMaxMonomialDegree, by degree.
[[nodiscard]] const std::vector<Exponents>& monomials();

/// The index of a monomial in monomials().
[[nodiscard]] std::size_t monomial_index(const Exponents& exponents);

/// The values of the monomials up to `degree` at a point.
void evaluate_monomials(int degree, const Vec3& point, std::span<double> values);

/// Adds eq. (1) for all monomials up to `degree`, six times: for a tetrahedron of unit volume.
void add_cone_moments(int degree, const Vec3& p, const Vec3& q, const Vec3& r, std::span<double> moments);

/// Those of the whole tetrahedron: 6 a! b! c! / (a + b + c + 3)!.
[[nodiscard]] std::vector<double> whole_monomial_moments(int degree);

}  // namespace thrum::tets
