// SPDX-License-Identifier: MIT
// The way from an object to one of its members, through members of members, so that a key of a scene file can
// be read into a settings struct of the library as it is:
//
//   .field({.key = "gravity"}, path(&SceneDesc::world, &sim::WorldDesc::gravity))
//
// A path remembers which members it leads through. A test counts them, and so finds settings without a key.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <typeindex>
#include <vector>

namespace thrum::scene {

/// A member of a struct that a key reads into.
struct MemberBinding {
  std::type_index owner;
  std::ptrdiff_t offset = 0;  ///< of the member in its owner [bytes]
  friend auto operator<=>(const MemberBinding&, const MemberBinding&) = default;
};

template <class Owner, class Member>
[[nodiscard]] MemberBinding binding_of(Member Owner::*member)
{
  // Room for an owner, which is never made: only distances between addresses are taken.
  alignas(Owner) static const std::byte room[sizeof(Owner)] = {};
  const auto* owner = reinterpret_cast<const Owner*>(room);
  return {typeid(Owner),
          reinterpret_cast<const char*>(&(owner->*member)) - reinterpret_cast<const char*>(owner)};
}

template <class Owner, class Member>
struct MemberPath {
  std::function<Member&(Owner&)> get;
  std::vector<MemberBinding> bindings;
};

template <class Owner, class Member>
[[nodiscard]] MemberPath<Owner, Member> path(Member Owner::*member)
{
  return {[member](Owner& owner) -> Member& { return owner.*member; }, {binding_of(member)}};
}

template <class Owner, class Middle, class Next, class... Rest>
[[nodiscard]] auto path(Middle Owner::*first, Next Middle::*next, Rest... rest)
{
  auto inner = path(next, rest...);
  using Member = std::remove_reference_t<decltype(inner.get(std::declval<Middle&>()))>;
  MemberPath<Owner, Member> result;
  result.get = [first, get = inner.get](Owner& owner) -> Member& {
    return get(owner.*first);
  };
  result.bindings.push_back(binding_of(first));
  result.bindings.insert(result.bindings.end(), inner.bindings.begin(), inner.bindings.end());
  return result;
}

}  // namespace thrum::scene
