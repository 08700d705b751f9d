// SPDX-License-Identifier: MIT
#include "thrum/base/id.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <type_traits>

namespace thrum::base {
namespace {

struct BodyTag;
struct ShapeTag;
using BodyId = Id<BodyTag>;

static_assert(!std::is_convertible_v<Id<ShapeTag>, BodyId>, "an id of one kind is not one of another");
static_assert(!std::is_convertible_v<int, BodyId>);

TEST(Id, IsInvalidByDefault)
{
  EXPECT_FALSE(BodyId().valid());
  EXPECT_EQ(BodyId::unpack(BodyId{3, 7}.packed()), (BodyId{3, 7}));
  EXPECT_EQ(to_string(BodyId()), "none");
  EXPECT_EQ(to_string(BodyId{3, 0}), "3");
  EXPECT_EQ(to_string(BodyId{3, 7}), "3.7");
}

TEST(IdTable, AStaleIdDoesNotFindTheReusedSlot)
{
  IdTable<BodyTag> table;
  const BodyId pot = table.add(5);
  EXPECT_TRUE(table.remove(pot));
  EXPECT_FALSE(table.remove(pot));
  const BodyId plate = table.add(9);
  EXPECT_EQ(plate.slot, pot.slot);
  EXPECT_EQ(table.find(pot), kNoIndex);
  EXPECT_EQ(table.find(plate), 9);
  table.move(plate, 2);
  EXPECT_EQ(table.find(plate), 2);
}

TEST(IdTable, RejectsIdsOfOtherOwners)
{
  IdTable<BodyTag> first(1), second(2), any;
  const BodyId pot = first.add(5);
  const BodyId plate = second.add(5);
  EXPECT_EQ(first.find(pot), 5);
  EXPECT_EQ(second.find(pot), kNoIndex);
  EXPECT_FALSE(second.remove(pot));
  EXPECT_TRUE(second.is_foreign(pot));
  // An id from a file has no owner, and a table without an owner accepts all.
  EXPECT_EQ(second.find(BodyId::unpack(pot.packed())), 5);
  static_cast<void>(any.add(7));
  EXPECT_EQ(any.find(plate), 7);
  // Nothing but the check sees the owner.
  EXPECT_EQ(pot, plate);
  EXPECT_EQ(std::hash<BodyId>()(pot), std::hash<BodyId>()(plate));
  EXPECT_EQ(to_string(pot), to_string(plate));
}

// Against a map that never forgets an id, under any sequence of additions, moves and removals.
RC_GTEST_PROP(IdTable, BehavesAsAMap, (const std::vector<unsigned char>& choices))
{
  IdTable<BodyTag> table;
  std::map<BodyId, std::int32_t> model;
  std::vector<BodyId> given;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    if (given.empty() || choices[i] % 4 < 2) {
      const BodyId id = table.add(index);
      RC_ASSERT(model.emplace(id, index).second);
      given.push_back(id);
      continue;
    }
    const BodyId id = given[choices[i] % given.size()];
    if (choices[i] % 4 == 2) {
      RC_ASSERT(table.remove(id) == (model.erase(id) == 1));
    } else if (model.count(id) == 1) {
      table.move(id, index);
      model[id] = index;
    }
  }
  for (const BodyId id : given) RC_ASSERT(table.find(id) == (model.count(id) == 1 ? model[id] : kNoIndex));
}

}  // namespace
}  // namespace thrum::base
