// SPDX-License-Identifier: MIT
// Integrals of the barycentric coordinates of a tetrahedron over a part of it.
//
// With L_0 + L_1 + L_2 + L_3 = 1 every polynomial of degree four or less is a sum of products of four
// barycentric coordinates, so the 35 integrals of L_i L_j L_k L_l determine stiffness and mass of a quadratic
// element that is only partly inside a body.
#pragma once

#include <array>
#include <cstddef>

namespace thrum::tets {

namespace detail {

using PairTable = std::array<std::array<int, 4>, 4>;
constexpr PairTable pair_table()
{
  PairTable table{};
  int next = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i; j < 4; ++j) table[i][j] = table[j][i] = next++;
  return table;
}
inline constexpr PairTable kPairs = pair_table();

using QuadTable = std::array<std::array<int, 10>, 10>;
constexpr QuadTable quad_table()
{
  // Each product of two pairs is the sorted product of four coordinates.
  QuadTable table{};
  for (auto& row : table) row.fill(-1);
  int next = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i; j < 4; ++j)
      for (std::size_t k = j; k < 4; ++k)
        for (std::size_t l = k; l < 4; ++l) {
          const std::array<std::size_t, 4> c = {i, j, k, l};
          constexpr std::array<std::array<std::size_t, 4>, 3> kSplits = {
              {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}}};
          for (const auto& s : kSplits) {
            const auto p = static_cast<std::size_t>(kPairs[c[s[0]]][c[s[1]]]);
            const auto q = static_cast<std::size_t>(kPairs[c[s[2]]][c[s[3]]]);
            table[p][q] = table[q][p] = next;
          }
          ++next;
        }
  return table;
}
inline constexpr QuadTable kQuads = quad_table();

}  // namespace detail

/// Index of the unordered pair (i, j) among the ten.
[[nodiscard]] constexpr int pair_index(int i, int j)
{
  return detail::kPairs[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
}
/// Index of the product of two pairs among the 35 products of four coordinates.
[[nodiscard]] constexpr int quad_index(int pair_a, int pair_b)
{
  return detail::kQuads[static_cast<std::size_t>(pair_a)][static_cast<std::size_t>(pair_b)];
}

/// Integrals over the inside part, divided by the volume of the whole tetrahedron.
struct CellMoments {
  std::array<double, 35> quads{};  ///< of L_i L_j L_k L_l, at quad_index()

  [[nodiscard]] double quad(int pair_a, int pair_b) const
  {
    return quads[static_cast<std::size_t>(quad_index(pair_a, pair_b))];
  }
  /// The integral of L_i L_j.
  [[nodiscard]] double pair(int i, int j) const
  {
    double sum = 0;
    for (int k = 0; k < 4; ++k)
      for (int l = 0; l < 4; ++l) sum += quad(pair_index(i, j), pair_index(k, l));
    return sum;
  }
  /// The share of the tetrahedron that is inside.
  [[nodiscard]] double fraction() const
  {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) sum += pair(i, j);
    return sum;
  }
};

/// Of a tetrahedron that is inside as a whole: a! b! c! d! 3! / 7! for the powers a, b, c, d.
[[nodiscard]] constexpr CellMoments whole_moments()
{
  CellMoments whole;
  for (int i = 0; i < 4; ++i)
    for (int j = i; j < 4; ++j)
      for (int k = j; k < 4; ++k)
        for (int l = k; l < 4; ++l) {
          std::array<int, 4> power{};
          for (const int c : {i, j, k, l}) ++power[static_cast<std::size_t>(c)];
          double product = 6.0 / 5040;
          for (const int p : power)
            for (int f = 2; f <= p; ++f) product *= f;
          whole.quads[static_cast<std::size_t>(quad_index(pair_index(i, j), pair_index(k, l)))] = product;
        }
  return whole;
}

}  // namespace thrum::tets
