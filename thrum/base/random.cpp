// SPDX-License-Identifier: MIT
#include "thrum/base/random.h"

#include <cmath>

#include "thrum/base/error.h"

namespace thrum::base {

std::uint64_t splitmix64(std::uint64_t& state)
{
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Random::Random(std::uint64_t seed, std::uint64_t stream)
{
  // The seed is mixed before the stream is added, so that (seed, stream + 1) and (seed + 1, stream) differ.
  std::uint64_t mixer = seed;
  mixer = splitmix64(mixer);
  mixer ^= stream;
  mixer = splitmix64(mixer);
  for (std::uint64_t& word : state_) word = splitmix64(mixer);
}

Random Random::from_state(const State& state)
{
  if (state == State{}) throw Error("The state of a random generator cannot be all zeros.");
  Random random;
  random.state_ = state;
  return random;
}

Random Random::split()
{
  const std::uint64_t seed = bits();
  return Random(seed, state_[0]);
}

std::size_t Random::index(std::size_t count)
{
  THRUM_ASSERT(count > 0);
  // 2^64 mod count of the draws are rejected, so that all remainders are equally likely.
  const std::uint64_t n = count;
  const std::uint64_t rejection_threshold = (0 - n) % n;
  std::uint64_t draw = bits();
  while (draw < rejection_threshold) draw = bits();
  return static_cast<std::size_t>(draw % n);
}

std::int64_t Random::integer(std::int64_t low, std::int64_t high)
{
  THRUM_ASSERT(low <= high);
  const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = width == 0 ? bits() : index(width);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Random::normal()
{
  // Marsaglia's polar method: for (x, y) uniform in the unit disk and s = x^2 + y^2,
  //
  //     x sqrt(-2 ln(s) / s)                                                            (1)
  //
  // is normal. The second value, with y, is discarded: keeping it would add state that state() does not
  // return.
  for (;;) {
    const double x = uniform(-1, 1);
    const double y = uniform(-1, 1);
    const double s = x * x + y * y;
    if (s > 0 && s < 1) return x * std::sqrt(-2 * portable_log(s) / s);
  }
}

Vec3 Random::direction()
{
  // Marsaglia 1972: an equal-area map takes (x, y), uniform in the disk, to the sphere.
  for (;;) {
    const double x = uniform(-1, 1);
    const double y = uniform(-1, 1);
    const double s = x * x + y * y;
    if (s >= 1) continue;
    const double stretch = 2 * std::sqrt(1 - s);
    return {x * stretch, y * stretch, 1 - 2 * s};
  }
}

Quat Random::rotation()
{
  // Marsaglia 1972, in four dimensions: two points of the disk, the second stretched onto the sphere.
  double x = 0, y = 0, s = 1;
  while (s >= 1) {
    x = uniform(-1, 1);
    y = uniform(-1, 1);
    s = x * x + y * y;
  }
  double u = 0, v = 0, t = 1;
  while (t >= 1 || t == 0) {
    u = uniform(-1, 1);
    v = uniform(-1, 1);
    t = u * u + v * v;
  }
  const double stretch = std::sqrt((1 - s) / t);
  return {x, y, u * stretch, v * stretch};
}

Vec3 Random::point(const Box3& box)
{
  const double x = uniform(box.min().x(), box.max().x());
  const double y = uniform(box.min().y(), box.max().y());
  const double z = uniform(box.min().z(), box.max().z());
  return {x, y, z};
}

double portable_log(double x)
{
  // With x = m 2^e, m in [sqrt(1/2), sqrt(2)), and r = (m - 1) / (m + 1),
  //
  //     ln x = e ln 2 + 2 (r + r^3/3 + r^5/5 + ...)                                       (2)
  //
  // |r| <= 0.1716, so that after eleven terms the next is below 2e-18 of the first.
  constexpr double kSqrtHalf = 0.70710678118654752440;
  constexpr double kLn2 = 0.69314718055994530942;
  constexpr int kTerms = 11;
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < kSqrtHalf) {
    m *= 2;
    --e;
  }
  const double r = (m - 1) / (m + 1);
  const double r2 = r * r;
  double series = 0;
  for (int k = kTerms - 1; k > 0; --k) series = (series + 1.0 / (2 * k + 1)) * r2;
  return e * kLn2 + 2 * (r + r * series);
}

}  // namespace thrum::base
