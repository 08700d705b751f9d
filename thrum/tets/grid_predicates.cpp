// SPDX-License-Identifier: MIT
#include "thrum/tets/grid_predicates.h"

#include <array>
#include <cstdint>

#include "thrum/base/index.h"
#include "thrum/mesh/rounded_determinant.h"

namespace thrum::tets {

namespace {

__extension__ using Int128 = __int128;
using IntVec3 = std::array<Int128, 3>;

// [Shewchuk 1997, section 4.3], relative to the sum of the sizes of the terms as written below.
constexpr double kInSphereBound = (16 + 224 * mesh::kHalfUlp) * mesh::kHalfUlp;

int sign_of(Int128 value)
{
  return value > 0 ? 1 : (value < 0 ? -1 : 0);
}

IntVec3 difference(const Vec3& a, const Vec3& b)
{
  IntVec3 result;
  for (int k = 0; k < 3; ++k) result[at(k)] = static_cast<std::int64_t>(a[k] - b[k]);
  return result;
}

Int128 determinant(const IntVec3& u, const IntVec3& v, const IntVec3& w)
{
  return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
         u[2] * (v[0] * w[1] - v[1] * w[0]);
}

Int128 square(const IntVec3& u)
{
  return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
}

// A sum of products of a volume (126 bits and a sign) and a square of a length (84 bits), in four digits:
//
//     a 2^100 + b 2^60 + c 2^40 + d,
//
// since volume = m1 2^60 + m0 and square = l1 2^40 + l0. No digit overflows 128 bits.
class ProductSum {
 public:
  void add(Int128 volume, Int128 length)
  {
    const Int128 m1 = volume >> 60, m0 = volume - (m1 << 60);
    const Int128 l1 = length >> 40, l0 = length - (l1 << 40);
    a_ += m1 * l1;
    b_ += m1 * l0;
    c_ += m0 * l1;
    d_ += m0 * l0;
  }
  [[nodiscard]] int sign() const
  {
    // Carried upwards, all digits but the first are positive and together less than 2^100.
    const Int128 c = c_ + (d_ >> 40);
    const Int128 b = b_ + (c >> 20);
    const Int128 a = a_ + (b >> 40);
    if (a != 0) return sign_of(a);
    const auto rest = [](Int128 value, int bits) {
      return value - ((value >> bits) << bits);
    };
    return rest(b, 40) != 0 || rest(c, 20) != 0 || rest(d_, 40) != 0 ? 1 : 0;
  }

 private:
  Int128 a_ = 0, b_ = 0, c_ = 0, d_ = 0;
};

}  // namespace

int grid_orientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
  if (const int sign = mesh::rounded_orientation_3d(a, b, c, d); sign != 0) return sign;
  return sign_of(determinant(difference(b, a), difference(c, a), difference(d, a)));
}

// With p' = p - e the sphere through a, b, c, d has e inside when
//
//     |d'|^2 det[a' b' c'] - |c'|^2 det[a' b' d'] + |b'|^2 det[a' c' d'] - |a'|^2 det[b' c' d']
//
// is negative for a tetrahedron that is positive (det[b - a, c - a, d - a] > 0).
int grid_in_sphere(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e)
{
  const std::array<Vec3, 4> p = {a - e, b - e, c - e, d - e};
  constexpr std::array<std::array<std::size_t, 4>, 4> kTerms = {
      {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}}};
  double det = 0;
  double size = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const mesh::RoundedDeterminant volume =
        mesh::rounded_determinant(p[kTerms[k][0]], p[kTerms[k][1]], p[kTerms[k][2]]);
    const double length = p[kTerms[k][3]].squaredNorm();
    det += (k % 2 == 0 ? volume.value : -volume.value) * length;
    size += length * volume.size;
  }
  if (det > kInSphereBound * size) return -1;
  if (det < -kInSphereBound * size) return 1;
  std::array<IntVec3, 4> q;
  for (std::size_t k = 0; k < 4; ++k) q[k] = difference(*std::array<const Vec3*, 4>{&a, &b, &c, &d}[k], e);
  ProductSum sum;
  for (std::size_t k = 0; k < 4; ++k) {
    const Int128 volume = determinant(q[kTerms[k][0]], q[kTerms[k][1]], q[kTerms[k][2]]);
    sum.add(k % 2 == 0 ? volume : -volume, square(q[kTerms[k][3]]));
  }
  return -sum.sign();
}

}  // namespace thrum::tets
