// SPDX-License-Identifier: MIT
// Typed ids with generations, and the table that maps them to positions in arrays.
//
//   struct BodyTag;
//   using BodyId = Id<BodyTag>;
//   IdTable<BodyTag> table;
//   const BodyId id = table.add(0);   // the element at position 0
//   table.move(id, 3);                // it is now at position 3
//   table.remove(id);                 // the slot is free for another element ...
//   table.find(id) == kNoIndex;       // ... but the old id does not find it: its generation has passed
//
// An id of one kind cannot be passed where another kind is expected. The last freed slot is reused first, so
// the same calls give the same ids on every run. A table with an owner rejects ids of other owners, even
// where slot and generation match. The owner is for this check alone: ids are compared, hashed and saved
// without it, so that states of two owners can be compared, and one can restore what another saved.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "thrum/base/error.h"

namespace thrum::base {

inline constexpr std::int32_t kNoIndex = -1;  ///< position of nothing

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::uint32_t slot = kNone;
  std::uint32_t generation = 0;
  std::uint32_t owner = 0;  ///< of the table that gave it out; 0: not known, as of an id from a file

  /// True when it was given out by a table; only the table knows whether its element still exists.
  [[nodiscard]] constexpr bool valid() const { return slot != kNone; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr bool operator==(const Id& a, const Id& b)
  {
    return a.slot == b.slot && a.generation == b.generation;
  }
  friend constexpr std::strong_ordering operator<=>(const Id& a, const Id& b)
  {
    return a.slot != b.slot ? a.slot <=> b.slot : a.generation <=> b.generation;
  }

  /// One number for files and other languages, and back.
  [[nodiscard]] constexpr std::uint64_t packed() const { return (std::uint64_t{generation} << 32) | slot; }
  [[nodiscard]] static constexpr Id unpack(std::uint64_t number)
  {
    return {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), 0};
  }
};

/// "3" for the first element in slot 3, "3.2" for its third; "none" for an id that was never given out.
template <class Tag>
[[nodiscard]] std::string to_string(const Id<Tag>& id)
{
  if (!id.valid()) return "none";
  return id.generation == 0 ? fmt::format("{}", id.slot) : fmt::format("{}.{}", id.slot, id.generation);
}

/// Adding, removing, moving and finding take constant time.
template <class Tag>
class IdTable {
 public:
  using IdType = Id<Tag>;

  /// `owner`: 0 for a table that accepts ids of every owner.
  explicit IdTable(std::uint32_t owner = 0) : owner_(owner) {}

  /// A new id for the element at position `index`.
  [[nodiscard]] IdType add(std::int32_t index)
  {
    if (free_.empty()) {
      if (slots_.size() >= IdType::kNone) throw Error("An id table can hold at most 4294967294 elements.");
      slots_.push_back({kNoIndex, 0});
      free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].index = index;
    return {slot, slots_[slot].generation, owner_};
  }

  /// Whether another owner gave out the id.
  [[nodiscard]] bool is_foreign(IdType id) const
  {
    return id.owner != 0 && owner_ != 0 && id.owner != owner_;
  }

  /// The position of the element, or kNoIndex when it was removed, never existed or is of another owner.
  [[nodiscard]] std::int32_t find(IdType id) const
  {
    if (is_foreign(id)) return kNoIndex;
    if (id.slot >= slots_.size() || slots_[id.slot].generation != id.generation) return kNoIndex;
    return slots_[id.slot].index;
  }
  [[nodiscard]] bool contains(IdType id) const { return find(id) != kNoIndex; }

  /// The element is at another position from now on. It must exist.
  void move(IdType id, std::int32_t index) { slots_[id.slot].index = index; }

  /// False when there was nothing under this id.
  bool remove(IdType id)
  {
    if (!contains(id)) return false;
    Slot& slot = slots_[id.slot];
    slot.index = kNoIndex;
    // A slot whose generations are used up is retired, so that no id is ever given out twice.
    if (++slot.generation != 0) free_.push_back(id.slot);
    return true;
  }

 private:
  struct Slot {
    std::int32_t index = kNoIndex;
    std::uint32_t generation = 0;
  };

  std::uint32_t owner_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace thrum::base

template <class Tag>
struct std::hash<thrum::base::Id<Tag>> {
  std::size_t operator()(const thrum::base::Id<Tag>& id) const
  {
    return std::hash<std::uint64_t>()(id.packed());
  }
};
