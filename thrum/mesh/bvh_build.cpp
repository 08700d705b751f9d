// SPDX-License-Identifier: MIT
// Building and refitting the hierarchy: binned surface area heuristic, four children per node.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/bvh.h"

namespace thrum::mesh {

namespace {

constexpr int kBins = 16;
// Deeper than this the halves are made equal in number, which bounds the depth and so the stack of every
// traversal.
constexpr int kMaxHeuristicDepth = 24;
// Boxes grow by this much [unit lengths]: covers rounding corners, queries and ray parameters to float.
constexpr float kBoxSlack = 0x1p-18f;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct FloatBox {
  float lower[3] = {kInfinity, kInfinity, kInfinity};
  float upper[3] = {-kInfinity, -kInfinity, -kInfinity};

  void extend(const FloatBox& other)
  {
    for (int d = 0; d < 3; ++d) {
      lower[d] = std::min(lower[d], other.lower[d]);
      upper[d] = std::max(upper[d], other.upper[d]);
    }
  }
  [[nodiscard]] float centre(int d) const { return 0.5f * (lower[d] + upper[d]); }
  /// Half the surface area; 0 for an empty box.
  [[nodiscard]] float half_area() const
  {
    const float x = upper[0] - lower[0], y = upper[1] - lower[1], z = upper[2] - lower[2];
    return x < 0 ? 0.0f : x * y + y * z + z * x;
  }
};

FloatBox triangle_box(const TriangleMesh& mesh, std::size_t triangle, const Vec3& origin, double unit)
{
  FloatBox box;
  for (int k = 0; k < 3; ++k) {
    const Vec3 corner = (mesh.corner(triangle, k) - origin) / unit;
    for (int d = 0; d < 3; ++d) {
      box.lower[d] = std::min(box.lower[d], static_cast<float>(corner[d]) - kBoxSlack);
      box.upper[d] = std::max(box.upper[d], static_cast<float>(corner[d]) + kBoxSlack);
    }
  }
  return box;
}

void set_child(Bvh::Node& node, int lane, const FloatBox& box, Index child)
{
  for (int d = 0; d < 3; ++d) {
    node.lower[d][lane] = box.lower[d];
    node.upper[d][lane] = box.upper[d];
  }
  node.child[lane] = child;
}

// Triangles first..last of the builder's order, with their box.
struct Range {
  Index first = 0;
  Index last = 0;
  FloatBox box;
  [[nodiscard]] Index count() const { return last - first; }
};

// A leaf is tested four triangles at a time, so it costs as many packets as it needs.
float leaf_cost(Index count)
{
  const Index packets = (count + Bvh::kWidth - 1) / Bvh::kWidth;
  return static_cast<float>(packets);
}

}  // namespace

struct Bvh::Builder {
  Bvh& bvh;
  std::vector<FloatBox> boxes;  // by triangle
  std::vector<Index> order;

  explicit Builder(Bvh& target) : bvh(target), boxes(target.mesh_.triangles.size()), order(boxes.size())
  {
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t t = 0; t < boxes.size(); ++t) {
      boxes[t] = triangle_box(bvh.mesh_, t, bvh.origin_, bvh.unit_);
    }
  }

  [[nodiscard]] Range range_of(Index first, Index last) const
  {
    Range range{first, last, {}};
    for (Index i = first; i < last; ++i) range.box.extend(box_at(i));
    return range;
  }

  [[nodiscard]] const FloatBox& box_at(Index i) const { return boxes[at(order[at(i)])]; }

  struct Plane {
    int axis = -1;  // -1: no plane separates the centres
    int bin = 0;    // centres in bins up to this one go left
    float low = 0;
    float scale = 0;
    float cost = kInfinity;

    [[nodiscard]] int bin_of(const FloatBox& box) const
    {
      return std::clamp(static_cast<int>((box.centre(axis) - low) * scale), 0, kBins - 1);
    }
  };

  // The cheapest of the planes between bins along one axis: sum over both sides of area x packets.
  void try_axis(const Range& range, int axis, float low, float high, Plane& best) const
  {
    Plane plane{axis, 0, low, static_cast<float>(kBins) / (high - low), 0};
    if (!(high > low) || !std::isfinite(plane.scale)) return;
    FloatBox bin_box[kBins];
    Index bin_count[kBins] = {};
    for (Index i = range.first; i < range.last; ++i) {
      const int bin = plane.bin_of(box_at(i));
      bin_box[bin].extend(box_at(i));
      ++bin_count[bin];
    }
    float right_cost[kBins] = {};
    FloatBox sweep;
    Index count = 0;
    for (int b = kBins - 1; b > 0; --b) {
      sweep.extend(bin_box[b]);
      count += bin_count[b];
      right_cost[b - 1] = count > 0 ? sweep.half_area() * leaf_cost(count) : kInfinity;
    }
    sweep = {};
    count = 0;
    for (int b = 0; b < kBins - 1; ++b) {
      sweep.extend(bin_box[b]);
      count += bin_count[b];
      if (count == 0) continue;
      plane.cost = sweep.half_area() * leaf_cost(count) + right_cost[b];
      if (plane.cost < best.cost) {
        best = plane;
        best.bin = b;
      }
    }
  }

  [[nodiscard]] Plane best_plane(const Range& range) const
  {
    Plane best;
    for (int axis = 0; axis < 3; ++axis) {
      float low = kInfinity;
      float high = -kInfinity;
      for (Index i = range.first; i < range.last; ++i) {
        low = std::min(low, box_at(i).centre(axis));
        high = std::max(high, box_at(i).centre(axis));
      }
      try_axis(range, axis, low, high, best);
    }
    return best;
  }

  [[nodiscard]] std::pair<Range, Range> split(const Range& range, int depth)
  {
    const auto begin = order.begin();
    Index middle = range.first + range.count() / 2;
    const Plane plane = depth < kMaxHeuristicDepth ? best_plane(range) : Plane{};
    if (plane.axis >= 0) {
      const auto mid = std::partition(begin + range.first, begin + range.last,
                                      [&](Index t) { return plane.bin_of(boxes[at(t)]) <= plane.bin; });
      middle = static_cast<Index>(mid - begin);
    }
    return {range_of(range.first, middle), range_of(middle, range.last)};
  }

  // Splits the most expensive range until there are four, then recurses into those that are still too big.
  Index build_node(const Range& whole, int depth)
  {
    std::vector<Range> parts = {whole};
    while (parts.size() < kWidth) {
      auto widest = parts.end();
      float max_cost = -1;
      for (auto it = parts.begin(); it != parts.end(); ++it) {
        const float cost = it->box.half_area() * leaf_cost(it->count());
        if (it->count() > kWidth && cost > max_cost) {
          max_cost = cost;
          widest = it;
        }
      }
      if (widest == parts.end()) break;
      const auto [left, right] = split(*widest, depth);
      *widest = left;
      parts.push_back(right);
    }

    const auto index = count_of(bvh.nodes_);
    bvh.nodes_.emplace_back();
    for (int lane = 0; lane < kWidth; ++lane) {
      set_child(bvh.nodes_[at(index)], lane, FloatBox{}, kNoChild);
    }
    for (std::size_t lane = 0; lane < parts.size(); ++lane) {
      const Range& part = parts[lane];
      const Index child = part.count() <= kWidth ? ~build_packet(part) : build_node(part, depth + 1);
      set_child(bvh.nodes_[at(index)], static_cast<int>(lane), part.box, child);
    }
    return index;
  }

  Index build_packet(const Range& range)
  {
    const auto index = count_of(bvh.packets_);
    Packet packet;
    std::fill(std::begin(packet.triangle), std::end(packet.triangle), -1);
    for (Index i = range.first; i < range.last; ++i) {
      const Index triangle = order[at(i)];
      packet.triangle[i - range.first] = triangle;
      bvh.slot_[at(triangle)] = kWidth * index + (i - range.first);
    }
    bvh.fill_packet(packet);
    bvh.packets_.push_back(packet);
    return index;
  }
};

Bvh::Bvh(TriangleMesh mesh) : mesh_(std::move(mesh))
{
  if (mesh_.triangles.empty()) {
    throw Error("A bounding volume hierarchy needs at least one triangle, but the mesh has none.");
  }
  check_indices(mesh_);
  fit_bounds();
  slot_.resize(mesh_.triangles.size());
  packets_.reserve(mesh_.triangles.size() / 2);
  Builder builder(*this);
  builder.build_node(builder.range_of(0, count_of(mesh_.triangles)), 0);
  packets_.shrink_to_fit();
  nodes_.shrink_to_fit();
}

void Bvh::fit_bounds()
{
  // Only vertices used by a triangle count.
  bounds_.setEmpty();
  for (const Triangle& t : mesh_.triangles) {
    for (const Index v : t) bounds_.extend(mesh_.vertices[at(v)]);
  }
  origin_ = bounds_.center();
  unit_ = 0.5 * bounds_.sizes().maxCoeff();
  if (!(unit_ > std::numeric_limits<double>::min())) unit_ = 1;
  tie_ = kTieAbsolute * unit_ * kTieAbsolute * unit_;
}

void Bvh::fill_packet(Packet& packet) const
{
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto inverse = [](const Vec3& edge) {
    return edge.squaredNorm() > 0 ? 1 / edge.squaredNorm() : 0.0;
  };
  for (int lane = 0; lane < kWidth; ++lane) {
    Vec3 a = Vec3::Constant(kNan), b = a, c = a;
    if (packet.triangle[lane] >= 0) {
      const std::size_t t = at(packet.triangle[lane]);
      a = mesh_.corner(t, 0);
      b = mesh_.corner(t, 1);
      c = mesh_.corner(t, 2);
    }
    for (int d = 0; d < 3; ++d) {
      packet.a[d][lane] = a[d];
      packet.b[d][lane] = b[d];
      packet.c[d][lane] = c[d];
    }
    // NaN keeps the inside of a triangle without area from ever being chosen.
    const double nn = (b - a).cross(c - a).squaredNorm();
    packet.inverse_nn[lane] = nn > 0 ? 1 / nn : kNan;
    packet.inverse_ab[lane] = inverse(b - a);
    packet.inverse_ac[lane] = inverse(c - a);
    packet.inverse_bc[lane] = inverse(c - b);
  }
}

void Bvh::refit(std::span<const Vec3> vertices)
{
  if (vertices.size() != mesh_.vertices.size()) {
    throw Error(
        "Refitting a hierarchy needs as many vertices as it was built with; use a new one for a new mesh.");
  }
  for (const Vec3& v : vertices) {
    if (!v.allFinite()) throw Error("Refitting a hierarchy: a vertex is not a finite point.");
  }
  std::copy(vertices.begin(), vertices.end(), mesh_.vertices.begin());
  fit_bounds();
  for (Packet& packet : packets_) fill_packet(packet);

  // Children come after their parents, so in one sweep from the back every child's box is finished before its
  // parent's.
  std::vector<FloatBox> node_box(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& node = nodes_[i];
    for (int lane = 0; lane < kWidth; ++lane) {
      if (node.child[lane] == kNoChild) continue;
      FloatBox box;
      if (node.child[lane] >= 0) {
        box = node_box[at(node.child[lane])];
      } else {
        for (const Index t : packets_[at(~node.child[lane])].triangle) {
          if (t >= 0) box.extend(triangle_box(mesh_, at(t), origin_, unit_));
        }
      }
      set_child(node, lane, box, node.child[lane]);
      node_box[i].extend(box);
    }
  }
}

std::size_t Bvh::memory_bytes() const
{
  return nodes_.size() * sizeof(Node) + packets_.size() * sizeof(Packet) + slot_.size() * sizeof(Index) +
         mesh_.vertices.size() * sizeof(Vec3) + mesh_.triangles.size() * sizeof(Triangle);
}

}  // namespace thrum::mesh
