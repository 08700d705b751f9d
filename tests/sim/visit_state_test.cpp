// SPDX-License-Identifier: MIT
// Hash, checkpoint and comparison see every field of a state: each number is changed in turn.
#include "thrum/model/visit_state.h"
#include "tests/support/named_visitor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <span>
#include <string>

#include "thrum/base/error.h"
#include "thrum/base/npz.h"
#include "thrum/model/compare_state.h"
#include "thrum/sim/checkpoint.h"

namespace thrum::sim {
namespace {

// Every list has elements, those of patches differ in how many points count.
model::SceneState state_with_all_fields()
{
  model::SceneState state;
  state.body_ids.resize(2);
  state.bodies.resize(2);
  state.joint_ids.resize(1);
  state.joints.resize(1);
  state.patches.resize(2);
  for (model::ContactPatch& patch : state.patches) patch.a = patch.b = 0;
  state.patches[0].count = 1;
  state.patches[1].count = 3;
  state.references.resize(1);
  state.references[0].a = state.references[0].b = 0;
  state.sensor_patches.resize(1);
  state.sensor_patches[0].a = state.sensor_patches[0].b = 0;
  state.modal_states.push_back({{0, 0}, {0.25, 0.5}, {0.125}});
  state.pending_kicks.resize(1);
  return state;
}

// Changes the number at place `wanted` and remembers its name.
struct Change : support::NamedVisitor {
  std::size_t wanted = 0;
  std::size_t place = 0;
  std::string name;

  template <class T>
  void number(T& value)
  {
    if (place++ != wanted) return;
    name = path.back();
    if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else if constexpr (std::is_floating_point_v<T>) {
      value += 1;
    } else {
      value ^= 1;
    }
  }
};

model::SceneState round_trip(const model::SceneState& state)
{
  Checkpoint checkpoint;
  checkpoint.state = state;
  return parse_checkpoint(checkpoint_bytes(checkpoint), "checkpoint").state;
}

TEST(VisitState, EveryNumberChangesHashCheckpointAndComparison)
{
  const model::SceneState state = state_with_all_fields();
  EXPECT_FALSE(model::first_difference(state, round_trip(state)));
  std::set<std::string> names;
  for (std::size_t k = 0;; ++k) {
    model::SceneState other = state;
    Change change;
    change.wanted = k;
    model::visit_numbers(other, change);
    if (change.name.empty()) break;
    names.insert(change.name);
    EXPECT_NE(model::hash_of(other), model::hash_of(state)) << change.name;
    const auto difference = model::first_difference(state, other);
    ASSERT_TRUE(difference) << change.name;
    EXPECT_EQ(difference->field, change.name);
    EXPECT_NE(difference->a, difference->b) << change.name;
    const model::SceneState restored = round_trip(other);
    const auto lost = model::first_difference(other, restored);
    EXPECT_FALSE(lost) << lost->text();
    EXPECT_NE(model::hash_of(restored), model::hash_of(state)) << change.name;
  }
  // 3 of the state; 21 and 2 of its id for each body, 14 + 2 for a joint, 18 for a patch (one of a sensor)
  // and 17 for each of its points that count, 18 for the reference of a pair, 5 of the ringing body, 10 of
  // the kick.
  EXPECT_EQ(names.size(), 3 + 2 * (21 + 2) + (14 + 2) + 3 * 18 + 4 * 17 + 18 + 5 + 10);
  for (const char* name : {"last_step", "bodies[1].force.y", "bodies[0].X_wb.rotation.w",
                           "patches[1].points[2].allowed_energy", "patches[0].warm_rolling.x",
                           "joints[0].warm_impulse[7]", "modal_states[0].v[0]", "pending_kicks[0].energy"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// Numbers are hashed many at a time.
TEST(VisitState, EveryNumberOfALongStateChangesTheHash)
{
  model::SceneState state;
  state.bodies.resize(60);  // 21 numbers each
  const base::Hash128 hash = model::hash_of(state);
  std::set<base::Hash128> hashes{hash};
  std::size_t count = 0;
  for (;; ++count) {
    model::SceneState other = state;
    Change change;
    change.wanted = count;
    model::visit_numbers(other, change);
    if (change.name.empty()) break;
    hashes.insert(model::hash_of(other));
  }
  EXPECT_EQ(count, 3 + 60 * 21);
  EXPECT_EQ(hashes.size(), count + 1);
}

TEST(VisitState, EveryListCountsWithItsLength)
{
  const model::SceneState state = state_with_all_fields();
  const auto expect_seen = [&](const char* name, auto&& change) {
    model::SceneState other = state;
    change(other);
    EXPECT_NE(model::hash_of(other), model::hash_of(state)) << name;
    const auto difference = model::first_difference(state, other);
    ASSERT_TRUE(difference) << name;
    EXPECT_EQ(difference->field, name);
    EXPECT_FALSE(model::first_difference(other, round_trip(other))) << name;
  };
  expect_seen("bodies.size", [](auto& s) { s.bodies.emplace_back(); });
  expect_seen("body_ids.size", [](auto& s) { s.body_ids.pop_back(); });
  expect_seen("sensor_patches.size", [](auto& s) { s.sensor_patches.clear(); });
  expect_seen("references.size", [](auto& s) { s.references.clear(); });
  expect_seen("joints.size", [](auto& s) { s.joints.pop_back(); });
  expect_seen("patches.size", [](auto& s) { s.patches.pop_back(); });
  expect_seen("modal_states.size", [](auto& s) { s.modal_states.emplace_back(); });
  expect_seen("modal_states[0].q.size", [](auto& s) { s.modal_states[0].q.pop_back(); });
  expect_seen("pending_kicks.size", [](auto& s) { s.pending_kicks.clear(); });
}

TEST(VisitState, PointsBeyondTheCountDoNotCount)
{
  const model::SceneState state = state_with_all_fields();
  model::SceneState other = state;
  other.patches[1].points[3].warm_impulse = 5;
  EXPECT_EQ(model::hash_of(other), model::hash_of(state));
  EXPECT_FALSE(model::first_difference(state, other));
}

TEST(VisitState, ComparesByBits)
{
  const model::SceneState state = state_with_all_fields();
  model::SceneState other = state;
  other.bodies[1].velocity.z() = -0.0;
  EXPECT_NE(model::hash_of(other), model::hash_of(state));
  EXPECT_EQ(model::first_difference(state, other)->text(), "bodies[1].velocity.z: 0 and -0");
  other.bodies[1].velocity.z() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(model::first_difference(other, other));
}

TEST(VisitState, ADamagedCountOfPointsIsRejected)
{
  Checkpoint checkpoint;
  checkpoint.state = state_with_all_fields();
  checkpoint.state.patches[1].count = 200;
  EXPECT_THROW(static_cast<void>(parse_checkpoint(checkpoint_bytes(checkpoint), "checkpoint")), Error);
}

// The checksum is right, what it covers is not.
TEST(VisitState, PartsOfBodiesThatDoNotExistAndBytesAfterTheEndAreRejected)
{
  const auto message = [](const std::string& bytes) -> std::string {
    try {
      static_cast<void>(parse_checkpoint(bytes, "run/checkpoint"));
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  const auto message_after = [&](auto&& damage) {
    Checkpoint checkpoint;
    checkpoint.state = state_with_all_fields();
    damage(checkpoint.state);
    return message(checkpoint_bytes(checkpoint));
  };
  const std::string contact = "run/checkpoint is damaged: it has a contact of a body that it does not have.";
  const std::string pair = "run/checkpoint is damaged: it has a pair with a body that it does not have.";
  EXPECT_EQ(message_after([](model::SceneState&) {}), "none");
  for (const model::BodyIndex wrong : {2, -1}) {
    EXPECT_TRUE(message_after([&](auto& s) { s.patches[1].a = wrong; }).starts_with(contact)) << wrong;
    EXPECT_TRUE(message_after([&](auto& s) { s.patches[0].b = wrong; }).starts_with(contact)) << wrong;
    EXPECT_TRUE(message_after([&](auto& s) { s.sensor_patches[0].a = wrong; }).starts_with(contact)) << wrong;
    EXPECT_TRUE(message_after([&](auto& s) { s.references[0].a = wrong; }).starts_with(pair)) << wrong;
    EXPECT_TRUE(message_after([&](auto& s) { s.references[0].b = wrong; }).starts_with(pair)) << wrong;
  }

  constexpr std::size_t kChecksum = 12;  // after the name and the version of the format
  Checkpoint checkpoint;
  checkpoint.state = state_with_all_fields();
  std::string bytes = checkpoint_bytes(checkpoint) + "abc";
  const std::uint32_t checksum =
      base::crc32(std::as_bytes(std::span(bytes).subspan(kChecksum + sizeof(std::uint32_t))));
  std::memcpy(bytes.data() + kChecksum, &checksum, sizeof(checksum));
  EXPECT_TRUE(message(bytes).starts_with("run/checkpoint is damaged: 3 bytes follow its end."))
      << message(bytes);
}

// A struct with more fields than its list does not compile; that rests on the fields being counted right.
TEST(VisitState, FieldsAreCounted)
{
  struct Four {
    double number = 1;
    Vec3 vector = Vec3::Zero();
    std::vector<double> list;
    std::array<model::ContactPoint, 4> points;
  };
  EXPECT_EQ(model::detail::count_fields<Four>(), 4U);
  EXPECT_EQ(model::detail::count_fields<model::BodyState>(), 7U);
}

}  // namespace
}  // namespace thrum::sim
