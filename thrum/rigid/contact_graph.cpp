// SPDX-License-Identifier: MIT
#include "thrum/rigid/contact_graph.h"

#include <algorithm>
#include <numeric>

#include "thrum/base/index.h"
#include "thrum/rigid/support_graph.h"

namespace thrum::rigid {

namespace {

// Which bodies a chain of contacts joins to something that does not yield.
std::vector<bool> find_grounded(const model::SceneModel& model, const model::SceneState& state)
{
  const std::size_t count = model.bodies.size();
  // Neighbours of each body, in the order of the patches.
  std::vector<std::int32_t> begin(count + 1, 0);
  for (const model::ContactPatch& patch : state.patches) {
    ++begin[static_cast<std::size_t>(patch.a) + 1];
    ++begin[static_cast<std::size_t>(patch.b) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::int32_t> neighbours(static_cast<std::size_t>(begin.back()));
  std::vector<std::int32_t> place(begin.begin(), begin.end() - 1);
  for (const model::ContactPatch& patch : state.patches) {
    neighbours[at(place[at(patch.a)]++)] = patch.b;
    neighbours[at(place[at(patch.b)]++)] = patch.a;
  }
  std::vector<bool> grounded(count, false);
  std::vector<std::int32_t> queue;
  for (std::size_t i = 0; i < count; ++i) {
    if (model.bodies[i].motion == model::Motion::dynamic) continue;
    grounded[i] = true;
    queue.push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto body = static_cast<std::size_t>(queue[head]);
    for (std::int32_t k = begin[body]; k < begin[body + 1]; ++k) {
      const std::int32_t other = neighbours[at(k)];
      if (grounded[at(other)]) continue;
      grounded[at(other)] = true;
      queue.push_back(other);
    }
  }
  return grounded;
}

}  // namespace

ContactGraph build_contact_graph(const model::SceneModel& model, const model::SceneState& state, double h)
{
  ContactGraph graph = contacts_as_found(state);
  SupportGraph support = build_support_graph(model, state, h);
  graph.level.swap(support.level);
  graph.level_count = support.levels;
  const std::vector<bool> grounded = find_grounded(model, state);
  for (std::size_t i = 0; i < graph.level.size(); ++i) {
    if (!grounded[i]) graph.level[i] = kUnsupported;
  }

  // Patches by the higher of their two levels, then the lower.
  const auto key = [&](std::int32_t p) {
    const model::ContactPatch& patch = state.patches[at(p)];
    const std::int32_t a = graph.level[at(patch.a)];
    const std::int32_t b = graph.level[at(patch.b)];
    return std::pair(std::max(a, b), std::min(a, b));
  };
  std::stable_sort(graph.patch_order.begin(), graph.patch_order.end(),
                   [&](std::int32_t p, std::int32_t q) { return key(p) < key(q); });
  return graph;
}

ContactGraph contacts_as_found(const model::SceneState& state)
{
  ContactGraph graph;
  graph.patch_order.resize(state.patches.size());
  std::iota(graph.patch_order.begin(), graph.patch_order.end(), 0);
  return graph;
}

}  // namespace thrum::rigid
