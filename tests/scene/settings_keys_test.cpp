// SPDX-License-Identifier: MIT
// Every member of the settings structs of the library has a key in a scene, and a preset is never overridden
// in silence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/scene_mistakes.h"
#include "thrum/scene/build_world.h"
#include "thrum/scene/scene_schema.h"
#include "thrum/scene/scene_tables.h"

namespace thrum::scene {
namespace {

using support::mistakes_of;

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// Converts to whatever a member is. Optionals make themselves from it.
struct AnyMember {
  template <class T>
  requires(!kIsOptional<T>) operator T() const;
};

template <class T, std::size_t... I>
constexpr bool is_made_from(std::index_sequence<I...>)
{
  return requires
  {
    T{(static_cast<void>(I), std::declval<const AnyMember&>())...};
  };
}

// Number of members of an aggregate: the most values that its braces take.
template <class T, std::size_t N = 48>
constexpr std::size_t member_count()
{
  if constexpr (is_made_from<T>(std::make_index_sequence<N>())) {
    return N;
  } else {
    return member_count<T, N - 1>();
  }
}

struct Sample {
  int a = 0;
  Vec3 b;
  std::optional<double> c;
  std::string d;
  std::optional<Mat3> f;
  rigid::SleepSettings e;
};
static_assert(member_count<Sample>() == 6);

void collect(const TableBase& table, std::set<const TableBase*>& seen, std::set<MemberBinding>& bindings)
{
  if (!seen.insert(&table).second) return;
  for (const FieldInfo& field : table.fields()) {
    bindings.insert(field.bindings.begin(), field.bindings.end());
    for (const TableFunction& inner : field.tables) collect(inner(), seen, bindings);
  }
  for (const TableFunction& kind : table.kinds()) collect(kind(), seen, bindings);
}

// Members of S that some key of a scene reads into.
template <class S>
std::set<MemberBinding> members_with_keys()
{
  std::set<const TableBase*> seen;
  std::set<MemberBinding> all;
  collect(scene_table(), seen, all);
  std::erase_if(all, [](const MemberBinding& binding) { return binding.owner != typeid(S); });
  return all;
}

// `without_key` are members that a scene sets in another way.
template <class S>
void expect_keys(const std::set<MemberBinding>& without_key = {})
{
  const std::set<MemberBinding> with_key = members_with_keys<S>();
  for (const MemberBinding& member : without_key)
    EXPECT_EQ(with_key.count(member), 0u) << typeid(S).name() << ": a member has a key now";
  EXPECT_EQ(with_key.size() + without_key.size(), member_count<S>())
      << typeid(S).name() << ": a member has no key; add it to the tables of thrum/scene";
}

TEST(SettingsKeys, EveryMemberHasOne)
{
  // What a step reports is up to the program that reads it.
  expect_keys<sim::WorldDesc>({binding_of(&sim::WorldDesc::reports)});
  expect_keys<rigid::ConstraintSettings>();
  expect_keys<rigid::ImpulseSettings>();
  expect_keys<rigid::ImpactSettings>();
  expect_keys<rigid::SleepSettings>();
  expect_keys<collision::BroadPhaseDesc>();
  // The world gives the narrow phase the length of its step.
  expect_keys<collision::NarrowPhaseDesc>({binding_of(&collision::NarrowPhaseDesc::step)});
  // Attenuation is a key of each body that rings.
  expect_keys<vibration::BodyResponseDesc>({binding_of(&vibration::BodyResponseDesc::attenuation)});
  expect_keys<vibration::ResponseSettings>();
  expect_keys<vibration::MicroSettings>();
  expect_keys<vibration::AttenuationSettings>();
  expect_keys<sim::ResponderDesc>();
  // Beside the names and the roughness, each coefficient of a pair of materials.
  expect_keys<MaterialPair>();
  EXPECT_EQ(member_count<MaterialPair>(), member_count<model::Surface>() + 4);
}

// Names, places and groups of bodies and joints stand in a scene as words and in its own axes.
TEST(SettingsKeys, EveryMemberOfBodiesAndJointsHasOne)
{
  using sim::BodyDesc;
  expect_keys<BodyDesc>({binding_of(&BodyDesc::name), binding_of(&BodyDesc::shape),
                         binding_of(&BodyDesc::X_ws), binding_of(&BodyDesc::surface),
                         binding_of(&BodyDesc::density), binding_of(&BodyDesc::collision_group),
                         binding_of(&BodyDesc::collides_with)});
  using model::JointDesc;
  expect_keys<JointDesc>({binding_of(&JointDesc::a), binding_of(&JointDesc::b), binding_of(&JointDesc::X_aj),
                          binding_of(&JointDesc::X_bj), binding_of(&JointDesc::limited),
                          binding_of(&JointDesc::limits), binding_of(&JointDesc::length)});
  // motor_speed and motor_target set these, and that they are given switches the motor on.
  using model::JointMotor;
  expect_keys<JointMotor>({binding_of(&JointMotor::enabled), binding_of(&JointMotor::has_target),
                           binding_of(&JointMotor::speed), binding_of(&JointMotor::target)});
}

TEST(SettingsKeys, ReachTheWorld)
{
  const BuiltScene built = build_world(parse_scene(R"({"seed": 7, "gravity": [0, 1, 2], "length_scale": 3,
    "stepper": {"kind": "impulse", "impulse": {"contact_iterations": 3, "push_out": false}, "max_turn": 0.125,
                "constraint": {"patch_rounds": 4}, "penalty": {"stiffness": 5e4, "max_push_out": 0.5}, "broad_phase": {"max_pairs_per_body": 5},
                "narrow_phase": {"margin": 0.01}, "interference": "zlist",
                "impacts": {"simultaneous": "by_stepper", "max_points": 9}},
    "sleep": {"enabled": false}})",
                                                   "s.json"));
  const sim::WorldDesc& desc = built.world.desc();
  EXPECT_EQ(desc.gravity, Vec3(0, 1, 2));
  EXPECT_EQ(desc.length_scale, 3);
  EXPECT_EQ(desc.stepper, sim::StepperKind::impulse);
  EXPECT_EQ(desc.impulse.contact_iterations, 3);
  EXPECT_FALSE(desc.impulse.push_out);
  EXPECT_EQ(desc.max_turn, 0.125);
  EXPECT_EQ(desc.impacts.simultaneous, rigid::SimultaneousImpacts::by_stepper);
  EXPECT_EQ(desc.impacts.max_points, 9);
  EXPECT_EQ(desc.constraint.patch_rounds, 4);
  EXPECT_EQ(desc.penalty.stiffness, 5e4);
  EXPECT_EQ(desc.penalty.max_push_out, 0.5);
  EXPECT_EQ(desc.broad_phase.max_pairs_per_body, 5u);
  EXPECT_EQ(desc.narrow_phase.margin, 0.01);
  EXPECT_EQ(desc.interference, collision::Interference::zlist);
  EXPECT_FALSE(desc.sleep.enabled);
  const SceneDesc scene = parse_scene(
      R"({"response": {"micro_step": 2e-5, "max_gap": 0.001, "max_hops": 1, "method": "blended"}})",
      "s.json");
  EXPECT_EQ(scene.response.body.settings.micro.step, 2e-5);
  EXPECT_EQ(scene.response.body.settings.max_gap, 0.001);
  EXPECT_EQ(scene.response.responder.max_hops, 1);
  EXPECT_EQ(scene.response.body.method, vibration::ResponseMethod::blended);
}

// Values to try for a key of the response: each word, both booleans, or a number that all bounds allow.
std::vector<std::string> values_for(const FieldInfo& field)
{
  std::vector<std::string> values;
  for (const std::string& word : field.rule.choices) values.push_back("\"" + word + "\"");
  if (!values.empty()) return values;
  if (field.schema["type"] == "boolean") return {"true", "false"};
  return {field.schema["type"] == "integer" ? "7" : "3.5"};
}

ResponseEntry response_with(const std::string& keys)
{
  std::vector<Mistake> ignored;
  ReadContext context("s.json", ignored);
  ResponseEntry entry;
  response_table().read(parse_json("{" + keys + "}", "s.json"), entry, context);
  return entry;
}

// The keys listed for the preset are those that it changes, found by trying all values of all keys.
TEST(SettingsKeys, ThePresetListsWhatItSets)
{
  const ObjectTable<ResponseEntry>& table = response_table();
  ASSERT_EQ(table.preset_list().size(), 1u);
  const Preset<ResponseEntry>& preset = table.preset_list().front();
  for (const FieldInfo& field : table.fields()) {
    const std::string& key = field.rule.key;
    if (key == "preset") continue;
    bool changes = false;
    for (const std::string& value : values_for(field)) {
      ResponseEntry entry = response_with(fmt::format("\"{}\": {}", key, value));
      const std::string before = table.shown(key, entry);
      preset.apply(entry);
      changes = changes || table.shown(key, entry) != before;
    }
    const bool listed = std::find(preset.keys.begin(), preset.keys.end(), key) != preset.keys.end();
    EXPECT_EQ(changes, listed) << key;
  }
}

TEST(SettingsKeys, AKeyBesideAPresetThatSetsItIsAnError)
{
  const Preset<ResponseEntry>& preset = response_table().preset_list().front();
  for (const FieldInfo& field : response_table().fields()) {
    const std::string& key = field.rule.key;
    if (key == "preset" || key == "paper_filter") continue;
    const std::string value = values_for(field).front();
    const std::string mistakes = mistakes_of(
        fmt::format("{{\"response\": {{\"preset\": \"coevoet2020\",\n\"{}\": {}}}}}", key, value));
    const bool listed = std::find(preset.keys.begin(), preset.keys.end(), key) != preset.keys.end();
    if (listed) {
      EXPECT_TRUE(mistakes.starts_with(
          fmt::format("s.json:2:1: response.{} is {}, but \"preset\": \"coevoet2020\" on line 1 sets it to ",
                      key, value)))
          << mistakes;
    } else {
      EXPECT_EQ(mistakes, "none");
    }
  }
  EXPECT_EQ(
      mistakes_of(R"({"response": {"rule": "exchange", "preset": "coevoet2020"}})"),
      "s.json:1:15: response.rule is \"exchange\", but \"preset\": \"coevoet2020\" on line 1 sets it to "
      "peak_displacement. Remove one of the two.");
  const SceneDesc scene = parse_scene(
      R"({"response": {"preset": "coevoet2020", "min_speed": 0.5, "method": "attenuated"}})", "s.json");
  EXPECT_TRUE(scene.response.body.settings.paper_filter);
  EXPECT_EQ(scene.response.body.settings.min_speed, 0.5);
  EXPECT_EQ(scene.response.body.method, vibration::ResponseMethod::attenuated);
}

TEST(SettingsKeys, APresetFromTheCommandLineReplacesWhatTheFileSays)
{
  const std::string text = R"({"response": {"rule": "exchange", "limit_energy": true, "min_speed": 0.5}})";
  const SceneDesc scene = parse_scene(text, "s.json", {.settings = {"response.preset=coevoet2020"}});
  EXPECT_EQ(scene.response.body.settings.rule, vibration::KickRule::peak_displacement);
  EXPECT_FALSE(scene.response.body.settings.limit_energy);
  EXPECT_EQ(scene.response.body.settings.min_speed, 0.5);
  // Two settings of one command line that do not agree are a mistake, whichever comes first.
  for (const std::vector<std::string>& both :
       {std::vector<std::string>{"response.preset=coevoet2020", "response.rule=exchange"},
        std::vector<std::string>{"response.rule=exchange", "response.preset=coevoet2020"}})
    EXPECT_THROW((void)parse_scene(text, "s.json", {.settings = both}), SceneError);
}

TEST(SettingsKeys, TheReferenceSaysWhatAPresetSets)
{
  const std::string expected =
      "coevoet2020 sets rule = peak_displacement, form = speed, vibration_after_step = reset, limit_energy = "
      "false, "
      "paper_filter = true";
  EXPECT_NE(scene_reference().find(expected), std::string::npos);
  EXPECT_NE(scene_schema().find(expected), std::string::npos);
}

TEST(SettingsKeys, SettingsThatDoNotFitEachOtherAreErrors)
{
  EXPECT_EQ(
      mistakes_of(R"({"response": {"max_modal_size": 40}})"),
      "s.json:1:14: response.max_modal_size is 40 m and min_wave_size 30 m; the first must be smaller.");
  EXPECT_EQ(mistakes_of(R"({"response": {"paper_filter": true}})"),
            "s.json:1:14: response.paper_filter is true, which works only with \"rule\": "
            "\"peak_displacement\". Set "
            "that rule, or remove it.");
  EXPECT_EQ(
      mistakes_of(R"({"stepper": {"flexible": {"min_step": 0.01, "max_step": 0.005}}})"),
      "s.json:1:26: stepper.flexible.max_step is 0.005 s and min_step 0.01 s; max_step must be at least "
      "min_step.");
  EXPECT_EQ(mistakes_of(R"({"stepper": {"flexible": {"friction": "staggered"}}})"),
            "s.json:1:26: stepper.flexible.friction is \"staggered\", which works only with \"contact\": "
            "\"hard\". Set that contact, or \"friction\": \"coupled\".");
  EXPECT_EQ(mistakes_of(R"({"stepper": {"flexible": {"friction": "staggered", "contact": "hard"}}})"),
            "none");
  // A value that could not be read is not compared with another.
  EXPECT_EQ(
      mistakes_of(R"({"stepper": {"flexible": {"min_step": 0.01, "max_step": "long"}}})").find("at least"),
      std::string::npos);
}

}  // namespace
}  // namespace thrum::scene
