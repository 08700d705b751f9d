// SPDX-License-Identifier: MIT
// The fields of SceneState, listed once. Hash, checkpoint and comparison all walk this list, so none of them
// can forget a field: a struct that gets one more field than its list does not compile.
//
//   visit_fields(state.bodies[0], [](const char* name, auto& field) { ... });   // X_wb, velocity, ... asleep
//   visit_numbers(state, visitor);                                             // down to the numbers
//
// To add a field, add its line to kFields below. A field of a type of its own needs a kFields of that type.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/model/scene.h"

namespace thrum::model {

/// `access` is a pointer to the member, or a function that returns a span of the elements that count.
template <class Access>
struct Field {
  const char* name;
  Access access;
};
template <class Access>
Field(const char*, Access) -> Field<Access>;

/// Tuple of the fields of a struct, in the order in which they are hashed and saved.
template <class Struct>
inline constexpr auto kFields = std::tuple<>{};

template <>
inline constexpr auto kFields<Pose> =
    std::tuple{Field{"position", &Pose::position}, Field{"rotation", &Pose::rotation}};

/// Fields of a struct that are no part of the state.
template <class Struct>
inline constexpr std::size_t kOmittedFields = 0;
template <class Tag>
inline constexpr std::size_t kOmittedFields<base::Id<Tag>> =
    1;  ///< Id::owner: the world differs, the state not

template <>
inline constexpr auto kFields<BodyId> =
    std::tuple{Field{"slot", &BodyId::slot}, Field{"generation", &BodyId::generation}};

template <>
inline constexpr auto kFields<JointId> =
    std::tuple{Field{"slot", &JointId::slot}, Field{"generation", &JointId::generation}};

template <>
inline constexpr auto kFields<BodyState> = std::tuple{Field{"X_wb", &BodyState::X_wb},
                                                      Field{"velocity", &BodyState::velocity},
                                                      Field{"angular_velocity", &BodyState::angular_velocity},
                                                      Field{"force", &BodyState::force},
                                                      Field{"torque", &BodyState::torque},
                                                      Field{"still_time", &BodyState::still_time},
                                                      Field{"asleep", &BodyState::asleep}};

template <>
inline constexpr auto kFields<JointState> =
    std::tuple{Field{"warm_impulse", &JointState::warm_impulse}, Field{"impulse", &JointState::impulse},
               Field{"angular_impulse", &JointState::angular_impulse}};

template <>
inline constexpr auto kFields<ContactPoint> =
    std::tuple{Field{"position", &ContactPoint::position},
               Field{"depth", &ContactPoint::depth},
               Field{"feature_a", &ContactPoint::feature_a},
               Field{"feature_b", &ContactPoint::feature_b},
               Field{"normal_impulse", &ContactPoint::normal_impulse},
               Field{"warm_impulse", &ContactPoint::warm_impulse},
               Field{"normal_speed", &ContactPoint::normal_speed},
               Field{"requested_speed", &ContactPoint::requested_speed},
               Field{"allowed_energy", &ContactPoint::allowed_energy},
               Field{"is_new", &ContactPoint::is_new},
               Field{"bounced", &ContactPoint::bounced},
               Field{"reference_position", &ContactPoint::reference_position},
               Field{"reference_depth", &ContactPoint::reference_depth}};

/// Only the active points count. `count` comes before them, so that it is known when they are read.
template <>
inline constexpr auto kFields<ContactPatch> = std::tuple{
    Field{"a", &ContactPatch::a},
    Field{"b", &ContactPatch::b},
    Field{"part_a", &ContactPatch::part_a},
    Field{"part_b", &ContactPatch::part_b},
    Field{"normal", &ContactPatch::normal},
    Field{"count", &ContactPatch::count},
    Field{"points",
          [](auto& patch) {
            // A damaged file may hold a count that is too large.
            return std::span(patch.points).first(std::min<std::size_t>(patch.count, patch.points.size()));
          }},
    Field{"friction_impulse", &ContactPatch::friction_impulse},
    Field{"warm_friction", &ContactPatch::warm_friction},
    Field{"warm_twist", &ContactPatch::warm_twist},
    Field{"warm_rolling", &ContactPatch::warm_rolling}};

template <>
inline constexpr auto kFields<PairReference> =
    std::tuple{Field{"a", &PairReference::a},           Field{"b", &PairReference::b},
               Field{"X_wa", &PairReference::X_wa},     Field{"X_wb", &PairReference::X_wb},
               Field{"margin", &PairReference::margin}, Field{"patch_count", &PairReference::patch_count}};

template <>
inline constexpr auto kFields<ModalState> =
    std::tuple{Field{"body", &ModalState::body}, Field{"q", &ModalState::q}, Field{"v", &ModalState::v}};

template <>
inline constexpr auto kFields<PendingKick> =
    std::tuple{Field{"body", &PendingKick::body}, Field{"time", &PendingKick::time},
               Field{"impulse", &PendingKick::impulse}, Field{"arm_b", &PendingKick::arm_b},
               Field{"energy", &PendingKick::energy}};

template <>
inline constexpr auto kFields<SceneState> = std::tuple{Field{"time", &SceneState::time},
                                                       Field{"step", &SceneState::step},
                                                       Field{"last_step", &SceneState::last_step},
                                                       Field{"body_ids", &SceneState::body_ids},
                                                       Field{"bodies", &SceneState::bodies},
                                                       Field{"joint_ids", &SceneState::joint_ids},
                                                       Field{"joints", &SceneState::joints},
                                                       Field{"patches", &SceneState::patches},
                                                       Field{"references", &SceneState::references},
                                                       Field{"sensor_patches", &SceneState::sensor_patches},
                                                       Field{"modal_states", &SceneState::modal_states},
                                                       Field{"pending_kicks", &SceneState::pending_kicks}};

namespace detail {

/// Converts to anything: stands for a field when the fields of a struct are counted.
struct AnyField {
  template <class T>
  operator T() const;
};

template <class Struct, class... Any>
constexpr std::size_t count_fields()
{
  if constexpr (requires { Struct{Any{}..., AnyField{}}; }) {
    return count_fields<Struct, Any..., AnyField>();
  } else {
    return sizeof...(Any);
  }
}

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <class T>
concept Range = requires(T& values)
{
  values.begin();
  values.end();
  values.size();
};

}  // namespace detail

/// Whether T has a list of fields; then the list is complete.
template <class T>
concept HasFields = std::tuple_size_v<std::remove_cvref_t<decltype(kFields<std::remove_const_t<T>>)>> >
0;

/// Calls visit(name, field) for each field, in order. The fields of a const struct are const.
template <HasFields Struct, class Visit>
void visit_fields(Struct& s, Visit&& visit)
{
  using Plain = std::remove_const_t<Struct>;
  static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(kFields<Plain>)>> + kOmittedFields<Plain> ==
                    detail::count_fields<Plain>(),
                "a field of this struct is not in its kFields");
  std::apply(
      [&](const auto&... field) {
        const auto one = [&](const char* name, auto&& value) {
          visit(name, value);
        };
        (one(field.name, std::invoke(field.access, s)), ...);
      },
      kFields<Plain>);
}

/// For visitors of visit_numbers(): does nothing where they do not care.
struct NumberVisitor {
  void enter(const char* /*name*/) {}   ///< a field
  void enter(std::size_t /*index*/) {}  ///< an element of a list
  void leave() {}
  /// Before the elements of a list of variable length; a reader gives it its length here.
  template <class T>
  void list(T& /*values*/)
  {
  }
};

/// Walks down to the numbers (integers, doubles and bools) of a state or a part of it, calling
/// visitor.number(x) for each, and the functions of NumberVisitor on the way.
template <class Visitor, class T>
void visit_numbers(T& value, Visitor& visitor)
{
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_arithmetic_v<Plain>) {
    visitor.number(value);
  } else if constexpr (HasFields<Plain>) {
    visit_fields(value, [&](const char* name, auto& field) {
      visitor.enter(name);
      visit_numbers(field, visitor);
      visitor.leave();
    });
  } else if constexpr (std::is_same_v<Plain, Vec3> || std::is_same_v<Plain, Quat>) {
    constexpr std::array names{"x", "y", "z", "w"};
    for (int k = 0; k < (std::is_same_v<Plain, Vec3> ? 3 : 4); ++k) {
      visitor.enter(names[at(k)]);
      if constexpr (std::is_same_v<Plain, Vec3>) {
        visitor.number(value[k]);
      } else {
        visitor.number(value.coeffs()[k]);
      }
      visitor.leave();
    }
  } else {
    static_assert(detail::Range<Plain>, "a field of this type needs a kFields of the type");
    if constexpr (detail::kIsList<Plain>) visitor.list(value);
    std::size_t index = 0;
    for (auto& element : value) {
      visitor.enter(index++);
      visit_numbers(element, visitor);
      visitor.leave();
    }
  }
}

}  // namespace thrum::model
