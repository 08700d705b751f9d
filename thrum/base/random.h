// SPDX-License-Identifier: MIT
// A seeded generator with its own distributions, so that a seed gives the same numbers with every standard
// library (std::normal_distribution and std::shuffle do not promise that).
//
// The generator is xoshiro256** 1.0 [Blackman and Vigna, "Scrambled linear pseudorandom number generators",
// ACM TOMS 47, 2021]: 32 bytes of state, period 2^256 - 1. Its state is filled by splitmix64 from the seed
// and the stream number. Only IEEE basic operations and square roots are used; the logarithm that normal()
// needs is our own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "thrum/base/vec.h"

namespace thrum::base {

class Random {
 public:
  using State = std::array<std::uint64_t, 4>;

  /// Generators with different seeds or different streams are independent for every practical purpose: give
  /// each body, pixel or chunk a stream of its own, and the result does not depend on the order of drawing.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  /// Continues from the state that state() returned. At least one word must be nonzero.
  [[nodiscard]] static Random from_state(const State& state);
  [[nodiscard]] const State& state() const { return state_; }

  /// A new generator for a part of the work; this one advances by one draw.
  [[nodiscard]] Random split();

  /// 64 random bits.
  std::uint64_t bits()
  {
    const std::uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate_left(state_[3], 45);
    return result;
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform in {0, 1, ..., count - 1}, without bias. `count` must be at least 1.
  std::size_t index(std::size_t count);

  /// Uniform integer in [low, high], both included.
  std::int64_t integer(std::int64_t low, std::int64_t high);

  /// True with the given probability.
  bool chance(double probability) { return uniform() < probability; }

  /// Standard normal: mean 0, variance 1.
  double normal();
  double normal(double mean, double deviation) { return mean + deviation * normal(); }

  /// Uniform on the unit sphere.
  Vec3 direction();

  /// Uniform over all rotations; a unit quaternion.
  Quat rotation();

  /// Uniform inside a box.
  Vec3 point(const Box3& box);

  /// Puts the elements in random order (Fisher and Yates).
  template <class T>
  void shuffle(std::span<T> elements)
  {
    for (std::size_t i = elements.size(); i > 1; --i) {
      using std::swap;
      swap(elements[i - 1], elements[index(i)]);
    }
  }

 private:
  Random() = default;
  static std::uint64_t rotate_left(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  State state_{};
};

/// One step of splitmix64 [Steele, Lea and Flood 2014]: advances `state` and returns 64 well-mixed bits.
std::uint64_t splitmix64(std::uint64_t& state);

/// Natural logarithm of a positive, finite, normal number from IEEE basic operations alone: the same bits
/// with every C library. Relative error below 1e-15, absolute near x = 1.
[[nodiscard]] double portable_log(double x);

}  // namespace thrum::base
