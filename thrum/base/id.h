// SPDX-License-Identifier: MIT
// Typed ids with generations, and the slot map that hands them out.
//
//   struct BodyTag;
//   using BodyId = Id<BodyTag>;
//   SlotMap<Body, BodyTag> bodies;
//   const BodyId id = bodies.insert(body);
//   bodies.erase(id);               // the slot is free for another body ...
//   bodies.find(id) == nullptr;     // ... but the old id does not see it: its generation has passed
//
// An id of one kind cannot be given where another kind is wanted. Slots are reused last freed, first taken,
// and are walked in slot order, so the same calls give the same ids and the same order on every run.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "thrum/base/error.h"

namespace thrum::base {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::uint32_t slot = kNone;
  std::uint32_t generation = 0;

  /// True when it was handed out; whether the thing is still alive is known to its slot map.
  [[nodiscard]] constexpr bool valid() const { return slot != kNone; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;

  /// One number for files and other languages, and back.
  [[nodiscard]] constexpr std::uint64_t packed() const { return (std::uint64_t{generation} << 32) | slot; }
  [[nodiscard]] static constexpr Id unpack(std::uint64_t number)
  {
    return {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)};
  }
};

template <class T, class Tag = T>
class SlotMap {
 public:
  using IdType = Id<Tag>;

  IdType insert(T value)
  {
    if (free_.empty()) {
      if (slots_.size() >= IdType::kNone) throw Error("A slot map can hold at most 4294967294 elements.");
      slots_.push_back({std::nullopt, 0});
      free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    const std::uint32_t slot = free_.back();
    slots_[slot].value.emplace(std::move(value));
    free_.pop_back();
    ++size_;
    return {slot, slots_[slot].generation};
  }

  /// False when there was nothing under this id.
  bool erase(IdType id)
  {
    if (!contains(id)) return false;
    Slot& slot = slots_[id.slot];
    slot.value.reset();
    --size_;
    // A slot whose generations are used up is retired, so that no id is ever handed out twice.
    if (++slot.generation != 0) free_.push_back(id.slot);
    return true;
  }

  [[nodiscard]] bool contains(IdType id) const
  {
    return id.slot < slots_.size() && slots_[id.slot].generation == id.generation && slots_[id.slot].value;
  }

  /// The element, or null when it is gone.
  [[nodiscard]] T* find(IdType id) { return contains(id) ? &*slots_[id.slot].value : nullptr; }
  [[nodiscard]] const T* find(IdType id) const { return contains(id) ? &*slots_[id.slot].value : nullptr; }

  /// The element; throws Error when it is gone.
  [[nodiscard]] T& at(IdType id)
  {
    require(id);
    return *slots_[id.slot].value;
  }
  [[nodiscard]] const T& at(IdType id) const
  {
    require(id);
    return *slots_[id.slot].value;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// Calls visit(id, element) for each element in slot order.
  template <class Visit>
  void for_each(Visit&& visit)
  {
    for (std::uint32_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].value) visit(IdType{s, slots_[s].generation}, *slots_[s].value);
    }
  }
  template <class Visit>
  void for_each(Visit&& visit) const
  {
    for (std::uint32_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].value) visit(IdType{s, slots_[s].generation}, *slots_[s].value);
    }
  }

 private:
  struct Slot {
    std::optional<T> value;
    std::uint32_t generation = 0;
  };

  void require(IdType id) const
  {
    if (!contains(id)) {
      throw Error(fmt::format(
          "There is nothing under the id {}.{}: it was removed, or belongs to another collection.", id.slot,
          id.generation));
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;  ///< last freed is taken first
  std::size_t size_ = 0;
};

}  // namespace thrum::base

template <class Tag>
struct std::hash<thrum::base::Id<Tag>> {
  std::size_t operator()(const thrum::base::Id<Tag>& id) const
  {
    return std::hash<std::uint64_t>()(id.packed());
  }
};
