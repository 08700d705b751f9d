// SPDX-License-Identifier: MIT
#include "thrum/sound/struck_pairs.h"

#include <cmath>
#include <map>
#include <span>

namespace thrum::sound {

namespace {

constexpr int kMaxIterations = 50;
constexpr double kTolerance = 1e-9;  ///< of the residual, as a share of the right-hand side

using Modes = std::vector<std::complex<double>>;

double modal_energy(const Modes& modes)
{
  double sum = 0;
  for (const std::complex<double>& z : modes) sum += std::norm(z);
  return sum;
}

// Pairs that are linked by bodies with modes.
class Group {
 public:
  explicit Group(std::vector<const StruckPair*> pairs) : pairs_(std::move(pairs)) {}

  /// Of (2): X s + Y s. Without the first term: Y s.
  [[nodiscard]] std::vector<double> product(std::span<const double> s, bool with_rigid) const
  {
    std::map<std::uint32_t, Modes> moved;  // modes of each body by all its pairs
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      add(pairs_[p]->modes_a, s[p], moved[pairs_[p]->a]);
      add(pairs_[p]->modes_b, s[p], moved[pairs_[p]->b]);
    }
    std::vector<double> result(pairs_.size(), 0.0);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      result[p] = dot(pairs_[p]->modes_a, moved[pairs_[p]->a]) + dot(pairs_[p]->modes_b, moved[pairs_[p]->b]);
      if (with_rigid) result[p] += pairs_[p]->rigid() * s[p];
    }
    return result;
  }

  /// By conjugate gradients, scaled by the diagonal.
  [[nodiscard]] std::vector<double> solve() const
  {
    const std::size_t count = pairs_.size();
    std::vector<double> s(count, 0.0), residual(count), diagonal(count), towards(count), scaled(count);
    for (std::size_t p = 0; p < count; ++p) {
      residual[p] = pairs_[p]->rigid();
      diagonal[p] = pairs_[p]->rigid() + modal_energy(pairs_[p]->modes_a) + modal_energy(pairs_[p]->modes_b);
      towards[p] = scaled[p] = residual[p] / diagonal[p];
    }
    const double wanted = kTolerance * kTolerance * inner(residual, scaled);
    double size = inner(residual, scaled);
    for (int i = 0; i < kMaxIterations && size > wanted; ++i) {
      const std::vector<double> moved = product(towards, true);
      const double step = size / inner(towards, moved);
      for (std::size_t p = 0; p < count; ++p) {
        s[p] += step * towards[p];
        residual[p] -= step * moved[p];
        scaled[p] = residual[p] / diagonal[p];
      }
      const double next = inner(residual, scaled);
      for (std::size_t p = 0; p < count; ++p) towards[p] = scaled[p] + next / size * towards[p];
      size = next;
    }
    return s;
  }

  /// No impulse is turned round or made larger, and none of it may give modes more than (2) does.
  void limit(std::vector<double>& s) const
  {
    double rigid = 0;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      s[p] = std::clamp(s[p], 0.0, 1.0);
      rigid += pairs_[p]->rigid();
    }
    const double modal = inner(s, product(s, false)) / 2;
    if (modal <= rigid / 8) return;
    const double factor = std::sqrt(rigid / 8 / modal);
    for (double& x : s) x *= factor;
  }

 private:
  static void add(const Modes& modes, double factor, Modes& sum)
  {
    sum.resize(std::max(sum.size(), modes.size()));
    for (std::size_t m = 0; m < modes.size(); ++m) sum[m] += factor * modes[m];
  }
  static double dot(const Modes& x, const Modes& y)
  {
    double sum = 0;
    for (std::size_t m = 0; m < x.size(); ++m) sum += x[m].real() * y[m].real() + x[m].imag() * y[m].imag();
    return sum;
  }
  static double inner(std::span<const double> x, std::span<const double> y)
  {
    double sum = 0;
    for (std::size_t p = 0; p < x.size(); ++p) sum += x[p] * y[p];
    return sum;
  }

  std::vector<const StruckPair*> pairs_;
};

// The number of the group of each pair: those that share a body whose modes both move.
std::vector<std::size_t> groups_of(const std::vector<StruckPair>& pairs)
{
  std::vector<std::size_t> parent(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) parent[p] = p;
  const auto root = [&](std::size_t p) {
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
  };
  std::map<std::uint32_t, std::size_t> first;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto join = [&](std::uint32_t body, const Modes& modes) {
      if (modes.empty()) return;
      const auto [it, fresh] = first.try_emplace(body, p);
      const std::size_t x = root(it->second), y = root(p);
      parent[std::max(x, y)] = std::min(x, y);
    };
    join(pairs[p].a, pairs[p].modes_a);
    join(pairs[p].b, pairs[p].modes_b);
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) parent[p] = root(p);
  return parent;
}

}  // namespace

std::vector<double> yielding_factors(const std::vector<StruckPair>& pairs)
{
  std::map<std::size_t, std::vector<std::size_t>> groups;
  const std::vector<std::size_t> numbers = groups_of(pairs);
  for (std::size_t p = 0; p < pairs.size(); ++p) groups[numbers[p]].push_back(p);
  std::vector<double> factors(pairs.size(), 1.0);
  for (const auto& [number, members] : groups) {
    if (members.size() == 1) {
      const StruckPair& pair = pairs[members.front()];
      factors[members.front()] =
          pair.rigid() / (pair.rigid() + modal_energy(pair.modes_a) + modal_energy(pair.modes_b));
      continue;
    }
    std::vector<const StruckPair*> linked;
    for (const std::size_t p : members) linked.push_back(&pairs[p]);
    const Group group(std::move(linked));
    std::vector<double> s = group.solve();
    group.limit(s);
    for (std::size_t i = 0; i < members.size(); ++i) factors[members[i]] = s[i];
  }
  return factors;
}

}  // namespace thrum::sound
