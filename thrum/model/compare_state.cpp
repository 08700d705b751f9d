// SPDX-License-Identifier: MIT
#include "thrum/model/compare_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "thrum/model/visit_state.h"

namespace thrum::model {

namespace {

template <class T>
std::uint64_t bits_of(T value)
{
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

// Hashes the numbers as words in a row, many at a time: every recorded frame has the hash of its state.
class HashVisitor : public NumberVisitor {
 public:
  template <class T>
  void list(const std::vector<T>& values)
  {
    number(values.size());
  }
  template <class T>
  void number(T value)
  {
    words_[count_++] = bits_of(value);
    if (count_ == words_.size()) feed();
  }
  [[nodiscard]] base::Hash128 finish()
  {
    feed();
    return hasher_.finish();
  }

 private:
  void feed()
  {
    hasher_.bytes(std::as_bytes(std::span(words_).first(count_)));
    count_ = 0;
  }

  base::Hasher hasher_;
  std::array<std::uint64_t, 512> words_{};
  std::size_t count_ = 0;
};

// The numbers of a state in a row, as bits. Lengths of lists are among them.
struct BitsVisitor : NumberVisitor {
  std::vector<std::uint64_t> bits;

  template <class T>
  void list(const std::vector<T>& values)
  {
    bits.push_back(values.size());
  }
  template <class T>
  void number(T value)
  {
    bits.push_back(bits_of(value));
  }
};

// Name and value of the number at place `wanted` of that row.
struct NameVisitor : NumberVisitor {
  std::size_t wanted = 0;
  std::size_t place = 0;
  std::vector<std::string> path;
  std::string name;
  std::string value;

  void enter(const char* field) { path.push_back(path.empty() ? field : fmt::format(".{}", field)); }
  void enter(std::size_t index) { path.push_back(fmt::format("[{}]", index)); }
  void leave() { path.pop_back(); }
  template <class T>
  void list(const std::vector<T>& values)
  {
    take(values.size(), ".size");
  }
  template <class T>
  void number(T number)
  {
    take(number, "");
  }
  template <class T>
  void take(T number, const char* suffix)
  {
    if (place++ != wanted) return;
    name = fmt::format("{}{}", fmt::join(path, ""), suffix);
    if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>) {
      value = fmt::format("{}", static_cast<int>(number));
    } else {
      value = fmt::format("{}", number);
    }
  }
};

}  // namespace

base::Hash128 hash_of(const SceneState& state)
{
  HashVisitor visitor;
  visit_numbers(state, visitor);
  return visitor.finish();
}

std::optional<StateDifference> first_difference(const SceneState& a, const SceneState& b)
{
  BitsVisitor bits_a;
  BitsVisitor bits_b;
  visit_numbers(a, bits_a);
  visit_numbers(b, bits_b);
  // A list of another length differs in its length first, so up to the first difference the rows have the
  // same names.
  const auto [at, other] =
      std::mismatch(bits_a.bits.begin(), bits_a.bits.end(), bits_b.bits.begin(), bits_b.bits.end());
  if (at == bits_a.bits.end() && other == bits_b.bits.end()) return std::nullopt;
  NameVisitor name_a;
  NameVisitor name_b;
  name_a.wanted = name_b.wanted = static_cast<std::size_t>(at - bits_a.bits.begin());
  visit_numbers(a, name_a);
  visit_numbers(b, name_b);
  return StateDifference{name_a.name, name_a.value, name_b.value};
}

}  // namespace thrum::model
