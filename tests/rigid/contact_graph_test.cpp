// SPDX-License-Identifier: MIT
#include "thrum/rigid/contact_graph.h"

#include <gtest/gtest.h>

#include "tests/rigid/pile.h"

namespace thrum::rigid {
namespace {

using namespace testing;

TEST(ContactGraph, PutsABodyThatLeansOverOthersAboveThem)
{
  // 1 stands on the ground and leans over 2, which lies on 3: one contact from the ground, and still the
  // highest.
  Pile pile(3);
  pile.rests_on(1, 0);
  pile.rests_on(1, 2);
  pile.rests_on(2, 3);
  pile.rests_on(3, 0);
  const ContactGraph graph = build_contact_graph(pile.model, pile.state, kStep);
  EXPECT_EQ(graph.level, (std::vector<std::int32_t>{0, 3, 2, 1}));
  // Support goes up: 3 on the ground, 2 on 3, then the two contacts of 1.
  EXPECT_EQ(graph.patch_order, (std::vector<std::int32_t>{3, 2, 0, 1}));
}

TEST(ContactGraph, GivesNoLevelToBodiesInTheAir)
{
  Pile pile(3);
  pile.rests_on(1, 0);
  pile.rests_on(3, 2);
  const ContactGraph graph = build_contact_graph(pile.model, pile.state, kStep);
  EXPECT_EQ(graph.level, (std::vector<std::int32_t>{0, 1, kUnsupported, kUnsupported}));
}

}  // namespace
}  // namespace thrum::rigid
