// SPDX-License-Identifier: MIT
#include "thrum/mesh/orient_components.h"

#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/mesh/winding_number.h"

namespace thrum::mesh {

namespace {

// An open component whose volume about its centre is below this fraction of the cube of its size is flat: it
// has no outside, and is not changed.
constexpr double kFlatVolume = 1e-6;

// The number of vertices of a component that are tested for lying in another one.
constexpr std::size_t kInsideSamples = 16;

void flip(Triangle& t)
{
  std::swap(t[1], t[2]);
}

struct Component {
  std::span<const Index> triangles;
  Box3 box;
};

// Correct for either orientation of a closed component: its winding number is 0 outside and 1 or -1 inside.
bool holds(const TriangleMesh& mesh, const Component& outer, const Vec3& p)
{
  double winding = 0;
  for (const Index t : outer.triangles) {
    const std::size_t i = at(t);
    winding += triangle_winding(mesh.corner(i, 0) - p, mesh.corner(i, 1) - p, mesh.corner(i, 2) - p);
  }
  constexpr double kHalf = 0.5;
  return std::abs(winding) > kHalf;
}

// Wholly inside: by box first, then by vertices spread over the component. Parts that only overlap (a leg in
// a table top) have vertices outside and are no cavities.
bool lies_in(const TriangleMesh& mesh, const Component& inner, const Component& outer)
{
  if (!outer.box.contains(inner.box)) return false;
  const std::size_t step = std::max<std::size_t>(1, inner.triangles.size() / kInsideSamples);
  for (std::size_t i = 0; i < inner.triangles.size(); i += step) {
    if (!holds(mesh, outer, mesh.corner(at(inner.triangles[i]), 0))) return false;
  }
  return true;
}

double volume_about_centre(const TriangleMesh& mesh, std::span<const Index> triangles, const Box3& box)
{
  const Vec3 centre = box.center();
  double six_times_volume = 0;
  for (const Index t : triangles) {
    const std::size_t i = at(t);
    six_times_volume +=
        (mesh.corner(i, 0) - centre).dot((mesh.corner(i, 1) - centre).cross(mesh.corner(i, 2) - centre));
  }
  return six_times_volume / 6;
}

// Neighbours across manifold edges, as (triangle, agrees) lists in one array.
struct Neighbours {
  struct Link {
    Index triangle;
    bool agrees;
  };
  std::vector<std::size_t> first;
  std::vector<Link> links;
};

Neighbours neighbours_of(const TriangleMesh& mesh, std::span<const EdgeUse> uses)
{
  Neighbours result;
  result.first.assign(mesh.triangles.size() + 1, 0);
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    if (edge.size() != 2) return;
    for (const EdgeUse& use : edge) ++result.first[at(use.triangle) + 1];
  });
  for (std::size_t i = 1; i < result.first.size(); ++i) result.first[i] += result.first[i - 1];
  result.links.resize(result.first.back());
  std::vector<std::size_t> next(result.first.begin(), result.first.end() - 1);
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    if (edge.size() != 2) return;
    const bool agrees = edge[0].forward != edge[1].forward;
    result.links[next[at(edge[0].triangle)]++] = {edge[1].triangle, agrees};
    result.links[next[at(edge[1].triangle)]++] = {edge[0].triangle, agrees};
  });
  return result;
}

// Which triangles must be flipped so that neighbours agree; patches joined only by non-manifold edges are
// started from their own lowest triangle. Returns per component whether that is possible.
std::vector<bool> find_turns(const TriangleMesh& mesh, const MeshComponents& components,
                             const Neighbours& neighbours, std::vector<char>& turn)
{
  constexpr char kUnknown = 2;
  turn.assign(mesh.triangles.size(), kUnknown);
  std::vector<bool> orientable(components.count, true);
  std::vector<Index> open;
  for (std::size_t seed = 0; seed < turn.size(); ++seed) {
    if (turn[seed] != kUnknown) continue;
    turn[seed] = 0;
    open.assign(1, static_cast<Index>(seed));
    while (!open.empty()) {
      const std::size_t t = at(open.back());
      open.pop_back();
      for (std::size_t i = neighbours.first[t]; i < neighbours.first[t + 1]; ++i) {
        const Neighbours::Link& link = neighbours.links[i];
        const auto expected = static_cast<char>(link.agrees ? turn[t] : 1 - turn[t]);
        char& other = turn[at(link.triangle)];
        if (other == kUnknown) {
          other = expected;
          open.push_back(link.triangle);
        } else if (other != expected) {
          orientable[at(components.of_triangle[t])] = false;
        }
      }
    }
  }
  return orientable;
}

}  // namespace

std::vector<ComponentState> component_states(const TriangleMesh& mesh, const MeshComponents& components,
                                             std::span<const EdgeUse> uses)
{
  std::vector<ComponentState> states(components.count);
  for (ComponentState& state : states) state.closed = true;
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    ComponentState& state = states[at(components.of_triangle[at(edge[0].triangle)])];
    if (edge.size() != 2) state.closed = false;
    if (edge.size() == 2 && edge[0].forward == edge[1].forward) state.consistent = false;
  });
  const std::vector<std::vector<Index>> lists = triangles_by_component(components);
  std::vector<Component> parts;
  for (const std::vector<Index>& list : lists) {
    Component part{list, Box3()};
    for (const Index t : list) {
      for (int k = 0; k < 3; ++k) part.box.extend(mesh.corner(at(t), k));
    }
    parts.push_back(part);
  }
  std::vector<char> turn;
  const std::vector<bool> orientable = find_turns(mesh, components, neighbours_of(mesh, uses), turn);
  for (std::size_t c = 0; c < states.size(); ++c) {
    ComponentState& state = states[c];
    state.orientable = orientable[c];
    state.first_triangle = lists[c].front();
    state.volume = volume_about_centre(mesh, parts[c].triangles, parts[c].box);
    for (std::size_t other = 0; other < states.size() && state.closed; ++other) {
      if (other != c && states[other].closed && states[other].consistent &&
          lies_in(mesh, parts[c], parts[other]))
        ++state.depth;
    }
    const bool outwards = state.depth % 2 == 0;
    state.inverted = state.closed && state.consistent && state.volume != 0 && (state.volume > 0) != outwards;
  }
  return states;
}

OrientResult orient_components(TriangleMesh& mesh)
{
  OrientResult result;
  const std::vector<EdgeUse> uses = edge_uses(mesh);
  const MeshComponents components = edge_components(mesh, uses);
  std::vector<char> turn;
  const std::vector<bool> orientable = find_turns(mesh, components, neighbours_of(mesh, uses), turn);

  // First make neighbours agree; a one-sided component cannot be made to, and is not changed.
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!orientable[at(components.of_triangle[t])]) turn[t] = 0;
    if (turn[t] != 0) flip(mesh.triangles[t]);
  }
  result.unorientable_components = at(std::count(orientable.begin(), orientable.end(), false));

  // Then choose the side of each component. Edges are computed again: their directions have changed.
  const std::vector<ComponentState> states = component_states(mesh, components, edge_uses(mesh));
  const std::vector<std::vector<Index>> lists = triangles_by_component(components);
  for (std::size_t c = 0; c < states.size(); ++c) {
    const ComponentState& state = states[c];
    if (state.closed && state.depth % 2 == 1) ++result.cavities;
    bool needs_flip = state.inverted;
    if (!state.closed && state.orientable) {
      Box3 box;
      for (const Index t : lists[c]) {
        for (int k = 0; k < 3; ++k) box.extend(mesh.corner(at(t), k));
      }
      const double size = box.diagonal().norm();
      needs_flip = state.volume < -kFlatVolume * size * size * size;
    }
    if (!needs_flip) continue;
    ++result.flipped_components;
    for (const Index t : lists[c]) {
      flip(mesh.triangles[at(t)]);
      char& turned = turn[at(t)];
      turned = static_cast<char>(1 - turned);
    }
  }
  result.flipped_triangles = at(std::count(turn.begin(), turn.end(), 1));
  return result;
}

}  // namespace thrum::mesh
