// SPDX-License-Identifier: MIT
// A checkpoint with a right checksum may still hold anything. Each number of a state is replaced by bad ones
// in turn: the state is refused with the name of the field, or the world goes on from it with finite numbers.
#include "thrum/sim/check_state.h"
#include "tests/sim/parameter_names.h"
#include "tests/support/named_visitor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

#include "tests/support/full_world.h"
#include "thrum/base/error.h"
#include "thrum/base/npz.h"
#include "thrum/model/compare_state.h"
#include "thrum/sim/checkpoint.h"

namespace thrum::sim {
namespace {

using thrum::testing::first_not_finite;
using thrum::testing::FullWorld;

enum class Damage { not_a_number, infinite, overflow, huge, minus_one, zero, largest };
constexpr Damage kDamages[] = {Damage::not_a_number, Damage::infinite, Damage::overflow, Damage::huge,
                               Damage::minus_one,    Damage::zero,     Damage::largest};

template <class T>
T damaged(Damage damage, T value)
{
  if constexpr (std::is_same_v<T, bool>) {
    return !value;
  } else if constexpr (std::is_floating_point_v<T>) {
    switch (damage) {
      case Damage::not_a_number:
        return std::numeric_limits<T>::quiet_NaN();
      case Damage::infinite:
        return -std::numeric_limits<T>::infinity();
      case Damage::overflow:
        return 1e300;
      case Damage::huge:
        return 0.99 * kMaxStateNumber;
      case Damage::minus_one:
        return -1;
      case Damage::zero:
        return 0;
      case Damage::largest:
        return -0.99 * kMaxStateNumber;
    }
    return 0;
  } else {
    switch (damage) {
      case Damage::minus_one:
        return static_cast<T>(-1);
      case Damage::zero:
        return 0;
      case Damage::huge:
        return static_cast<T>(value + 1000);
      case Damage::largest:
        return std::numeric_limits<T>::max();
      default:
        return static_cast<T>(value + 1);
    }
  }
}

// Replaces the number at place `wanted`.
struct Damager : support::NamedVisitor {
  std::size_t wanted = 0;
  Damage damage = Damage::zero;
  std::size_t place = 0;
  std::string name;
  bool is_real = false;
  bool is_changed = false;

  template <class T>
  void number(T& value)
  {
    if (place++ != wanted) return;
    name = path.back();
    is_real = std::is_floating_point_v<T>;
    const T bad = damaged(damage, value);
    is_changed = std::memcmp(&bad, &value, sizeof(T)) != 0;
    value = bad;
  }
};

model::SceneState through_a_checkpoint(const model::SceneState& state)
{
  Checkpoint checkpoint;
  checkpoint.state = state;
  return parse_checkpoint(checkpoint_bytes(checkpoint), "checkpoint").state;
}

/// Empty when the world accepted the state and went on from it, otherwise the message.
std::string restore_and_step(World& world, const model::SceneState& state)
{
  try {
    world.restore(through_a_checkpoint(state));
  } catch (const Error& error) {
    return error.what();
  }
  for (int i = 0; i < 3; ++i) world.step(FullWorld::kStep);
  return {};
}

class CheckState : public ::testing::TestWithParam<StepperKind> {};

TEST_P(CheckState, EveryNumberIsRefusedOrHarmless)
{
  FullWorld full(GetParam());
  World& world = full.world;
  const model::SceneState state = full.state_after_impact();
  ASSERT_FALSE(state.patches.empty() || state.sensor_patches.empty() || state.modal_states.empty() ||
               state.pending_kicks.empty() || state.joints.empty());
  ASSERT_EQ(restore_and_step(world, state), "");
  const base::Hash128 expected = world.hash();
  int accepted = 0;
  for (std::size_t k = 0;; ++k) {
    for (const Damage damage : kDamages) {
      // The penalty stepper takes hundreds of substeps a step: with it each number gets one of the damages.
      if (GetParam() >= StepperKind::penalty && damage != kDamages[k % std::size(kDamages)]) continue;
      model::SceneState bad = state;
      Damager damager;
      damager.wanted = k;
      damager.damage = damage;
      model::visit_numbers(bad, damager);
      if (damager.name.empty()) {
        EXPECT_GT(accepted, 100);
        return;
      }
      const std::string message = restore_and_step(world, bad);
      SCOPED_TRACE(damager.name + ", damage " + std::to_string(static_cast<int>(damage)) + ": " + message);
      const bool is_forbidden = damager.is_real && damage <= Damage::overflow;
      // An id that is changed into that of another body may be accepted, except in the lists of what there
      // is.
      const bool is_id = damager.name.ends_with(".slot") || damager.name.ends_with(".generation");
      const bool is_other_body = !damager.name.starts_with("body_ids") &&
                                 !damager.name.starts_with("joint_ids") &&
                                 (bad.modal_states[0].body.slot < bad.bodies.size() &&
                                  bad.pending_kicks[0].body.slot < bad.bodies.size()) &&
                                 damager.name.ends_with(".slot");
      if (is_forbidden) {
        // The path ends with the vector, not with its component.
        EXPECT_NE(message.find(damager.name.substr(0, damager.name.rfind('.'))), std::string::npos);
      }
      if (is_id && damager.is_changed && !is_other_body) {
        EXPECT_NE(message, "");
      }
      if (message.empty()) {
        ++accepted;
        EXPECT_EQ(first_not_finite(world.state()), "");
      } else {
        EXPECT_LT(message.size(), 400U);
      }
      // Nothing of the bad state is left behind.
      ASSERT_EQ(restore_and_step(world, state), "");
      ASSERT_EQ(world.hash(), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Steppers, CheckState,
                         ::testing::Values(StepperKind::constraint, StepperKind::impulse,
                                           StepperKind::penalty, StepperKind::flexible),
                         testing::stepper_name);

TEST(CheckStateLists, WrongLengthsAndOrdersAreRefused)
{
  FullWorld full(StepperKind::constraint);
  const model::SceneState state = full.state_after_impact();
  const auto expect_refused = [&](const char* part, auto&& change) {
    model::SceneState bad = state;
    change(bad);
    const std::string message = restore_and_step(full.world, bad);
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  };
  expect_refused("another set of bodies", [](auto& s) {
    s.bodies.clear();
    s.patches.clear();
    s.sensor_patches.clear();
    s.references.clear();
  });
  expect_refused("another set of bodies", [](auto& s) { s.bodies.emplace_back(); });
  expect_refused("another set of bodies", [](auto& s) { s.body_ids.pop_back(); });
  expect_refused("another set of bodies", [](auto& s) { std::swap(s.body_ids[0], s.body_ids[1]); });
  expect_refused("another set of bodies", [](auto& s) { s.joints.clear(); });
  expect_refused("another set of bodies", [](auto& s) { s.joint_ids.emplace_back(); });
  expect_refused("3 modes", [](auto& s) {
    s.modal_states[0].q.push_back(0);
    s.modal_states[0].v.push_back(0);
  });
  expect_refused("3 modes", [](auto& s) {
    s.modal_states[0].q.clear();
    s.modal_states[0].v.clear();
  });
  expect_refused("as many of each", [](auto& s) { s.modal_states[0].v.pop_back(); });
  expect_refused("each body once", [](auto& s) { s.modal_states.push_back(s.modal_states[0]); });
  expect_refused("two bodies", [](auto& s) { s.patches[0].b = s.patches[0].a; });
  expect_refused("an order by bodies", [](auto& s) { std::swap(s.patches.front(), s.patches.back()); });
  expect_refused("of unit length", [](auto& s) { s.bodies[2].X_wb.rotation.coeffs() *= 1.01; });
  expect_refused("of unit length", [](auto& s) { s.patches[0].normal *= 0.5; });
}

// Lists that are missing are no fault: a state without contacts, vibration or kicks is one at rest.
TEST(CheckStateLists, ContactsVibrationAndKicksMayBeAbsent)
{
  FullWorld full(StepperKind::constraint);
  model::SceneState state = full.state_after_impact();
  state.patches.clear();
  state.sensor_patches.clear();
  state.modal_states.clear();
  state.pending_kicks.clear();
  EXPECT_EQ(restore_and_step(full.world, state), "");
  EXPECT_EQ(first_not_finite(full.world.state()), "");
}

// A responder that comes later finds the same fault.
TEST(CheckStateLists, AnObserverThatIsAddedLaterChecksTheState)
{
  FullWorld full(StepperKind::constraint);
  model::SceneState state = full.state_after_impact();
  state.modal_states[0].q.push_back(0);
  state.modal_states[0].v.push_back(0);
  full.world.remove_observer(full.responder);
  full.world.restore(state);
  EXPECT_THROW(full.world.add_observer(full.responder), Error);
}

}  // namespace
}  // namespace thrum::sim
