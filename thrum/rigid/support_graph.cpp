// SPDX-License-Identifier: MIT
#include "thrum/rigid/support_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "thrum/base/index.h"

namespace thrum::rigid {

namespace {

/// A contact carries a body when its normal makes at least this much of gravity's direction (sine of 3
/// degrees).
constexpr double kMinSupport = 0.05;

using Edge = SupportEdge;

// Whether gravity alone would bring the two together along `n` (from the supporting body to the other).
bool falls_onto(const Vec3& gravity, const Vec3& n, double gap, double h)
{
  const double fall = -n.dot(gravity);
  return fall > kMinSupport * gravity.norm() && gap - h * h * fall < 0;
}

// Whether the body would run into `other` along `n` (from the other to it) if it alone moved for a step.
bool moves_into(const model::BodyState& body, const Vec3& gravity, const Vec3& n,
                const model::ContactPatch& patch, double h)
{
  for (const model::ContactPoint& point : patch.active()) {
    const Vec3 r = point.position - body.X_wb.position;
    const double u = n.dot(body.velocity + h * gravity + body.angular_velocity.cross(r));
    if (h * u < point.depth && u < 0) return true;
  }
  return false;
}

std::vector<Edge> find_edges(const model::SceneModel& model, const model::SceneState& state, double h,
                             ContactLevels levels)
{
  std::vector<Edge> edges;
  for (const model::ContactPatch& patch : state.patches) {
    // Gaps as they were found, so that levels stay while contacts are kept.
    double gap = -patch.points[0].reference_depth;
    for (const model::ContactPoint& point : patch.active()) gap = std::min(gap, -point.reference_depth);
    const auto gravity_of = [&](model::BodyIndex id) {
      return Vec3(model.bodies[at(id)].gravity_scale * model.gravity);
    };
    const auto rests = [&](model::BodyIndex body, const Vec3& n) {
      if (levels == ContactLevels::gravity) return falls_onto(gravity_of(body), n, gap, h);
      return moves_into(state.bodies[at(body)], gravity_of(body), n, patch, h);
    };
    if (rests(patch.b, patch.normal)) edges.push_back({patch.b, patch.a});
    if (rests(patch.a, -patch.normal)) edges.push_back({patch.a, patch.b});
  }
  return edges;
}

void add_joints(const model::SceneModel& model, std::vector<Edge>& edges)
{
  // A joint carries both ways, which puts its two bodies into one group.
  for (const model::Joint& joint : model.joints) {
    if (joint.b == model::kNone) continue;
    edges.push_back({joint.a, joint.b});
    edges.push_back({joint.b, joint.a});
  }
  const auto dynamic = [&](std::int32_t id) {
    return model.bodies[at(id)].motion == model::Motion::dynamic;
  };
  std::erase_if(edges, [&](const Edge& e) { return !dynamic(e.first) || !dynamic(e.second); });
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

// Strongly connected groups by Tarjan's algorithm with a stack of its own. Following the edges downwards, a
// group is complete only after all groups that it rests on, so its level can be set at once.
class LevelFinder {
 public:
  LevelFinder(std::size_t count, const std::vector<Edge>& edges)
      : edges_(edges), begin_(count + 1, 0), visit_(count)
  {
    for (const Edge& e : edges) ++begin_[static_cast<std::size_t>(e.first) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  }

  void visit(std::int32_t root, std::vector<std::int32_t>& level)
  {
    enter(root);
    while (!path_.empty()) {
      const std::int32_t body = path_.back();
      Visit& v = visit_[at(body)];
      if (v.next < begin_[static_cast<std::size_t>(body) + 1]) {
        const std::int32_t below = edges_[at(v.next++)].second;
        const Visit& other = visit_[at(below)];
        if (other.number == 0) {
          enter(below);
        } else if (other.open) {
          v.lowest = std::min(v.lowest, other.number);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) {
        Visit& parent = visit_[at(path_.back())];
        parent.lowest = std::min(parent.lowest, v.lowest);
      }
      if (v.lowest == v.number) close_group(body, level);
    }
  }
  [[nodiscard]] bool seen(std::int32_t body) const { return visit_[at(body)].number != 0; }

 private:
  struct Visit {
    std::int32_t number = 0;  ///< in order of discovery, from 1
    std::int32_t lowest = 0;  ///< least number reachable
    std::int32_t next = 0;    ///< edge to follow next
    bool open = false;        ///< its group is not complete
  };

  void enter(std::int32_t body)
  {
    Visit& v = visit_[at(body)];
    v = {++found_, found_, begin_[at(body)], true};
    path_.push_back(body);
    open_.push_back(body);
  }

  void close_group(std::int32_t body, std::vector<std::int32_t>& level)
  {
    auto first = open_.end();
    do {
      --first;
      visit_[at(*first)].open = false;
    } while (*first != body);
    // Levels of the group itself are still 0 here, so edges inside it do not count.
    std::int32_t below = 0;
    for (auto it = first; it != open_.end(); ++it) {
      const std::size_t i = at(*it);
      for (std::int32_t e = begin_[i]; e < begin_[i + 1]; ++e)
        below = std::max(below, level[at(edges_[at(e)].second)]);
    }
    for (auto it = first; it != open_.end(); ++it) level[at(*it)] = below + 1;
    open_.erase(first, open_.end());
  }

  const std::vector<Edge>& edges_;
  std::vector<std::int32_t> begin_;
  std::vector<Visit> visit_;
  std::vector<std::int32_t> path_;
  std::vector<std::int32_t> open_;
  std::int32_t found_ = 0;
};

}  // namespace

SupportGraph build_support_graph(const model::SceneModel& model, const model::SceneState& state, double h,
                                 ContactLevels levels)
{
  return build_support_graph(model, find_edges(model, state, h, levels));
}

SupportGraph build_support_graph(const model::SceneModel& model, std::vector<SupportEdge> edges)
{
  const std::size_t count = model.bodies.size();
  SupportGraph graph;
  graph.level.assign(count, 0);
  add_joints(model, edges);
  LevelFinder finder(count, edges);
  for (std::size_t i = 0; i < count; ++i) {
    const auto body = static_cast<std::int32_t>(i);
    if (model.bodies[i].motion != model::Motion::dynamic || finder.seen(body)) continue;
    finder.visit(body, graph.level);
  }
  for (const std::int32_t level : graph.level) graph.levels = std::max(graph.levels, level + 1);
  return graph;
}

}  // namespace thrum::rigid
