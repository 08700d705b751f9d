// SPDX-License-Identifier: MIT
#include "thrum/sim/check_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/model/visit_state.h"

namespace thrum::sim {

namespace {

/// How far the length of a rotation or a normal may be from 1. Steps normalise both; what is left is
/// rounding.
constexpr double kUnitTolerance = 1e-6;
/// Step lengths outside this range are rejected: the ratio of two of them scales impulses [s].
constexpr double kMinStepLength = 1e-15;
constexpr double kMaxStepLength = 1e15;

class StateCheck {
 public:
  StateCheck(const model::SceneState& state, const std::vector<model::BodyId>& body_ids,
             const std::vector<model::JointId>& joint_ids)
      : state_(state), body_ids_(body_ids), joint_ids_(joint_ids), known_(body_ids.begin(), body_ids.end())
  {
  }

  void run()
  {
    check_same_parts();
    walk(state_, "");
    check_order(state_.patches, "patches");
    check_order(state_.sensor_patches, "sensor_patches");
    check_order(state_.references, "references");
    check_modal_states();
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const
  {
    throw Error(fmt::format(
        "The state cannot be restored: {} is {}, expected {}. It is damaged or of another scene; start from "
        "another checkpoint, or run the scene again without --resume.",
        path_, found, expected));
  }

  // Bodies and joints are the same, in the same order.
  void check_same_parts() const
  {
    const bool same_sizes =
        state_.bodies.size() == body_ids_.size() && state_.joints.size() == joint_ids_.size();
    if (same_sizes && state_.body_ids == body_ids_ && state_.joint_ids == joint_ids_) return;
    throw Error(fmt::format(
        "The state is of another set of bodies: it has {} bodies and {} joints, the world has {} and {}. A "
        "state can be restored only while the world has the same bodies and joints as when it was saved.",
        state_.bodies.size(), state_.joints.size(), body_ids_.size(), joint_ids_.size()));
  }

  // The next step looks for a pair of bodies by bisection.
  template <class Pair>
  void check_order(const std::vector<Pair>& pairs, const char* name)
  {
    for (std::size_t i = 1; i < pairs.size(); ++i) {
      path_ = fmt::format("{}[{}]", name, i);
      const std::pair before(pairs[i - 1].a, pairs[i - 1].b);
      const std::pair now(pairs[i].a, pairs[i].b);
      const bool repeated = std::is_same_v<Pair, model::PairReference> && now == before;
      if (now < before || repeated)
        fail(fmt::format("of the bodies {} and {}", pairs[i].a, pairs[i].b),
             repeated ? "each pair once" : "an order by bodies");
    }
  }

  // A body rings in one way at a time: two entries would answer for each other.
  void check_modal_states()
  {
    std::unordered_set<model::BodyId> ringing;
    for (std::size_t i = 0; i < state_.modal_states.size(); ++i) {
      path_ = fmt::format("modal_states[{}].body", i);
      if (!ringing.insert(state_.modal_states[i].body).second)
        fail(to_string(state_.modal_states[i].body), "each body once");
    }
  }

  // One field `name` of `Owner`, and all that is in it.
  template <class Owner, class T>
  void walk_field(const char* name, const T& value)
  {
    const std::size_t length = path_.size();
    if (length > 0) path_ += '.';
    path_ += name;
    if constexpr (std::is_same_v<T, double>) {
      check_number(value);
      check_range<Owner>(name, value);
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      check_integer<Owner>(name, value);
    } else {
      walk(value, name);
    }
    path_.resize(length);
  }

  template <class T>
  void walk(const T& value, const char* name)
  {
    if constexpr (std::is_same_v<T, double>) {
      check_number(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      // Both are valid.
    } else if constexpr (std::is_same_v<T, Vec3> || std::is_same_v<T, Quat>) {
      check_vector(value, name);
    } else if constexpr (std::is_same_v<T, model::BodyId>) {
      if (!known_.contains(value)) fail(to_string(value), "the id of a body of the scene");
    } else if constexpr (std::is_same_v<T, model::JointId>) {
      // Compared with those of the scene already.
    } else if constexpr (model::HasFields<T>) {
      model::visit_fields(value, [&](const char* field, const auto& part) { walk_field<T>(field, part); });
      check_whole(value);
    } else {
      static_assert(model::detail::Range<T>, "a field of this type needs a rule here");
      static_assert(!std::is_integral_v<std::remove_cvref_t<decltype(*value.begin())>>,
                    "a list of integers needs a rule here");
      const std::size_t length = path_.size();
      std::size_t index = 0;
      for (const auto& element : value) {
        path_ += fmt::format("[{}]", index++);
        walk(element, name);
        path_.resize(length);
      }
    }
  }

  void check_number(double value) const
  {
    if (!std::isfinite(value)) fail(fmt::format("{}", value), "a finite number");
    if (std::abs(value) > kMaxStateNumber)
      fail(fmt::format("{}", value), fmt::format("a number of at most {:g} in size", kMaxStateNumber));
  }

  template <class Vector>
  void check_vector(const Vector& value, std::string_view name) const
  {
    const auto numbers = [&] {
      if constexpr (std::is_same_v<Vector, Quat>) {
        return value.coeffs();
      } else {
        return value;
      }
    }();
    for (int k = 0; k < numbers.size(); ++k) check_number(numbers[k]);
    if (!std::is_same_v<Vector, Quat> && name != "normal") return;
    if (std::abs(numbers.squaredNorm() - 1) > kUnitTolerance)
      fail(fmt::format("of length {}", numbers.norm()), "of unit length");
  }

  template <class Owner>
  void check_range(std::string_view name, double value) const
  {
    if (std::is_same_v<Owner, model::SceneState> && name == "last_step") {
      if (value != 0 && !(value >= kMinStepLength && value <= kMaxStepLength))
        fail(fmt::format("{} s", value), "the length of a step, or 0 before the first");
    }
    if (std::is_same_v<Owner, model::PairReference> && name == "margin" && value < 0)
      fail(fmt::format("{} m", value), "at least 0 m");
    const bool is_duration = (std::is_same_v<Owner, model::SceneState> && name == "time") ||
                             (std::is_same_v<Owner, model::BodyState> && name == "still_time");
    if (is_duration && value < 0) fail(fmt::format("{} s", value), "at least 0 s");
  }

  template <class Owner, class T>
  void check_integer(std::string_view name, T value) const
  {
    if constexpr (std::is_same_v<Owner, model::ContactPatch> || std::is_same_v<Owner, model::PairReference>) {
      if (name == "a" || name == "b") {
        if (value >= 0 && static_cast<std::size_t>(value) < state_.bodies.size()) return;
        fail(fmt::format("{}", value), fmt::format("the index of one of {} bodies", state_.bodies.size()));
      }
    }
    if constexpr (std::is_same_v<Owner, model::ContactPatch>) {
      if (name == "count") {
        constexpr std::size_t kMaxPoints = std::tuple_size_v<decltype(Owner::points)>;
        if (value > 0 && static_cast<std::size_t>(value) <= kMaxPoints) return;
        fail(fmt::format("{}", static_cast<int>(value)), fmt::format("1 to {} points", kMaxPoints));
      }
    }
    // These are compared with one another and never used as an index.
    const bool is_name =
        (std::is_same_v<Owner, model::ContactPatch> && (name == "part_a" || name == "part_b")) ||
        (std::is_same_v<Owner, model::ContactPoint> && (name == "feature_a" || name == "feature_b"));
    const bool is_count = std::is_same_v<Owner, model::PairReference> && name == "patch_count";
    const bool is_counter = std::is_same_v<Owner, model::SceneState> && name == "step";
    if (!is_name && !is_counter && !is_count)
      fail("an integer without a rule", "a rule in StateCheck::check_integer (sim/check_state.cpp)");
  }

  // What concerns more than one field.
  template <class T>
  void check_whole(const T& value) const
  {
    if constexpr (std::is_same_v<T, model::ContactPatch> || std::is_same_v<T, model::PairReference>) {
      if (value.a == value.b) fail(fmt::format("between body {} and itself", value.a), "two bodies");
    }
    if constexpr (std::is_same_v<T, model::ModalState>) {
      if (value.q.size() != value.v.size())
        fail(fmt::format("{} amplitudes and {} speeds", value.q.size(), value.v.size()), "as many of each");
    }
  }

  const model::SceneState& state_;
  const std::vector<model::BodyId>& body_ids_;
  const std::vector<model::JointId>& joint_ids_;
  std::unordered_set<model::BodyId> known_;
  std::string path_;
};

}  // namespace

void check_state(const model::SceneState& state, const std::vector<model::BodyId>& body_ids,
                 const std::vector<model::JointId>& joint_ids)
{
  StateCheck(state, body_ids, joint_ids).run();
}

}  // namespace thrum::sim
