// SPDX-License-Identifier: MIT
#include "thrum/base/id.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

namespace thrum::base {
namespace {

struct BodyTag;
using BodyId = Id<BodyTag>;

TEST(Id, IsInvalidByDefault)
{
  EXPECT_FALSE(BodyId().valid());
  EXPECT_EQ(BodyId::unpack(BodyId{3, 7}.packed()), (BodyId{3, 7}));
}

TEST(SlotMap, AStaleIdDoesNotFindTheReusedSlot)
{
  SlotMap<std::string, BodyTag> bodies;
  const BodyId pot = bodies.insert("pot");
  EXPECT_TRUE(bodies.erase(pot));
  EXPECT_FALSE(bodies.erase(pot));
  const BodyId plate = bodies.insert("plate");
  EXPECT_EQ(plate.slot, pot.slot);
  EXPECT_EQ(bodies.find(pot), nullptr);
  EXPECT_THROW(static_cast<void>(bodies.at(pot)), Error);
  EXPECT_EQ(bodies.at(plate), "plate");
}

// Against a map that never forgets an id, under any sequence of insertions and removals.
RC_GTEST_PROP(SlotMap, BehavesAsAMap, (const std::vector<unsigned char>& choices))
{
  SlotMap<int, BodyTag> slots;
  std::map<BodyId, int> model;
  std::vector<BodyId> given;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (given.empty() || choices[i] % 3 != 0) {
      const BodyId id = slots.insert(static_cast<int>(i));
      RC_ASSERT(model.emplace(id, static_cast<int>(i)).second);
      given.push_back(id);
    } else {
      const BodyId id = given[choices[i] % given.size()];
      RC_ASSERT(slots.erase(id) == (model.erase(id) == 1));
    }
  }
  RC_ASSERT(slots.size() == model.size());
  for (const BodyId id : given) RC_ASSERT(slots.contains(id) == (model.count(id) == 1));
  std::map<BodyId, int> walked;
  slots.for_each([&](BodyId id, int value) { walked.emplace(id, value); });
  RC_ASSERT(walked == model);
}

}  // namespace
}  // namespace thrum::base
