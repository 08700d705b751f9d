// SPDX-License-Identifier: MIT
#include "thrum/mesh/remesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/editable_mesh.h"
#include "thrum/mesh/feature_lines.h"
#include "thrum/mesh/slivers.h"
#include "thrum/mesh/surface_fit.h"
#include "thrum/mesh/surface_sizes.h"

namespace thrum::mesh {

namespace {

// Edges longer than 4/3 of the target length are split and those shorter than 4/5 collapsed: each brings the
// edge closer to the target length [Botsch and Kobbelt, "A remeshing approach to multiresolution modeling",
// 2004].
constexpr double kLong = 4.0 / 3;
constexpr double kShort = 4.0 / 5;
constexpr double kDefaultDeviation = 1.0 / 20;  // of the edge length
// triangles thinner than this fraction of the edge length are removed first
constexpr double kSliverThickness = 1e-3;
constexpr double kTurnLimit = 0.7;          // cosine of the angle by which one change may turn a normal
constexpr double kFlipThreshold = -1e-3;    // sum of cotangents below which an edge is flipped
constexpr double kFlat = 1 - 1e-7;          // cosine of the angle between two triangles of one flat part
constexpr double kMinRelativeArea = 1e-10;  // area over squared longest edge: below it there is no normal
constexpr double kCornerTurn = 0.75;  // a sharp edge that turns by more than acos of this has a corner there

std::uint64_t key(Index a, Index b)
{
  const auto low = static_cast<std::uint32_t>(std::min(a, b));
  const auto high = static_cast<std::uint32_t>(std::max(a, b));
  return (static_cast<std::uint64_t>(low) << 32) | high;
}

class Remesher {
 public:
  Remesher(const TriangleMesh& mesh, SurfaceSizes sizes, double feature_angle)
      : mesh_(mesh),
        lines_(*std::max_element(sizes.lengths.begin(), sizes.lengths.end())),
        sizes_(std::move(sizes))
  {
    find_features(std::cos(feature_angle));
  }

  void run(int rounds)
  {
    // The hierarchy is built on the split surface: the same points, but no triangle whose box spans the whole
    // body. Flips within flat parts come in between: splitting the slivers of a union without them would give
    // ten times as many triangles.
    constexpr int kPasses = 40;
    bool again = true;
    for (int pass = 0; pass < kPasses && again; ++pass) {
      flip_edges();
      again = split_pass();
    }
    surface_.emplace(mesh_.to_mesh());
    for (int round = 0; round < rounds; ++round) {
      split_long_edges();
      collapse_short_edges();
      flip_edges();
      relax();
    }
    // Splitting last: after any flips, no edge is longer than kLong.
    flip_edges();
    split_long_edges();
  }

  // Moves the vertices of curved sharp edges so that these lie on both sides of the given ones: each by the
  // mean distance of the two edges at it, by Simpson's rule.
  void fit_ridges()
  {
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::pair<Index, Vec3>> moves;
      for (Index v = 0; v < mesh_.vertex_count(); ++v) {
        if (mesh_.around(v).empty() || kind(v) != Kind::ridge) continue;
        const std::vector<Index> along = sharp_neighbours(v);
        if (along.size() != 2) continue;
        Vec3 move = Vec3::Zero();
        for (const Index w : along) {
          const Vec3& from = mesh_.position(v);
          const Vec3& to = mesh_.position(w);
          const auto gap = [&](const Vec3& p) -> Vec3 {
            return lines_.nearest(p, (to - from).normalized()) - p;
          };
          move += (gap(from) + 4 * gap((from + to) / 2) + gap(to)) / 12;
        }
        moves.emplace_back(v, mesh_.position(v) + move);
      }
      for (const auto& [v, position] : moves) mesh_.move(v, position);
    }
  }

  [[nodiscard]] TriangleMesh result() const { return mesh_.to_mesh(); }
  [[nodiscard]] const Bvh& surface() const { return *surface_; }
  // Of the result, those on no sharp edge.
  [[nodiscard]] std::vector<Index> smooth_vertices() const
  {
    std::vector<Index> found;
    Index place = 0;
    for (Index v = 0; v < mesh_.vertex_count(); ++v) {
      if (mesh_.around(v).empty()) continue;
      if (kind(v) == Kind::smooth) found.push_back(place);
      ++place;
    }
    return found;
  }

 private:
  enum class Kind : char { smooth, ridge, corner };

  void find_features(double min_cosine)
  {
    for (const auto& [a, b] : mesh_.edges()) {
      const auto s = mesh_.sides(a, b);
      const Vec3 left = mesh_.area_vector(s.left);
      const Vec3 right = mesh_.area_vector(s.right);
      if (left.dot(right) >= min_cosine * left.norm() * right.norm()) continue;
      sharp_.insert(key(a, b));
      lines_.add(mesh_.position(a), mesh_.position(b));
    }
    kind_.resize(at(mesh_.vertex_count()), Kind::smooth);
    for (Index v = 0; v < mesh_.vertex_count(); ++v) {
      const std::vector<Index> along = sharp_neighbours(v);
      if (along.empty()) continue;
      bool corner = along.size() != 2;
      if (!corner) {
        const Vec3 in = (mesh_.position(v) - mesh_.position(along[0])).normalized();
        const Vec3 out = (mesh_.position(along[1]) - mesh_.position(v)).normalized();
        corner = in.dot(out) < kCornerTurn;
      }
      kind_[at(v)] = corner ? Kind::corner : Kind::ridge;
    }
  }

  [[nodiscard]] bool is_sharp(Index a, Index b) const { return sharp_.count(key(a, b)) > 0; }
  [[nodiscard]] Kind kind(Index v) const { return kind_[at(v)]; }
  [[nodiscard]] double distance(Index a, Index b) const
  {
    return (mesh_.position(a) - mesh_.position(b)).norm();
  }

  [[nodiscard]] std::vector<Index> sharp_neighbours(Index v) const
  {
    std::vector<Index> along;
    for (const Index w : mesh_.neighbours(v)) {
      if (is_sharp(v, w)) along.push_back(w);
    }
    return along;
  }

  // The target length of an edge.
  [[nodiscard]] double length(Index a, Index b) const
  {
    return std::min(sizes_.lengths[at(a)], sizes_.lengths[at(b)]);
  }

  [[nodiscard]] bool is_on_surface(const Vec3& p, double deviation) const
  {
    return surface_->closest_point(p, deviation).found();
  }

  // Splits every long edge once, the longest first, so that the pieces of one edge are of similar length.
  // False when there is none.
  bool split_pass()
  {
    std::vector<std::pair<double, std::array<Index, 2>>> queue;
    for (const auto& e : mesh_.edges()) {
      const double l = distance(e[0], e[1]);
      if (l > kLong * length(e[0], e[1])) queue.emplace_back(-l, e);
    }
    std::sort(queue.begin(), queue.end());
    for (const auto& [negative_length, e] : queue) {
      if (!mesh_.has_edge(e[0], e[1])) continue;
      const bool sharp = is_sharp(e[0], e[1]);
      const Index m = mesh_.split(e[0], e[1], (mesh_.position(e[0]) + mesh_.position(e[1])) / 2);
      kind_.push_back(sharp ? Kind::ridge : Kind::smooth);
      const Size middle = mean_size(e[0], e[1]);
      sizes_.lengths.push_back(middle.length);
      sizes_.deviations.push_back(middle.deviation);
      if (sharp) {
        sharp_.erase(key(e[0], e[1]));
        sharp_.insert(key(e[0], m));
        sharp_.insert(key(e[1], m));
      }
    }
    return !queue.empty();
  }

  void split_long_edges()
  {
    while (split_pass()) {
    }
  }

  struct Size {
    double length;
    double deviation;
  };
  [[nodiscard]] Size size(Index v) const { return {sizes_.lengths[at(v)], sizes_.deviations[at(v)]}; }
  [[nodiscard]] Size mean_size(Index a, Index b) const
  {
    return {(size(a).length + size(b).length) / 2, (size(a).deviation + size(b).deviation) / 2};
  }

  // Which end of the edge may be removed, and the new position and size of the other. The less constrained
  // end is merged into the more constrained one.
  struct Collapse {
    Index removed;
    Index kept;
    Vec3 position;
    Size size;
  };

  [[nodiscard]] std::optional<Collapse> collapse_of(Index a, Index b) const
  {
    const bool sharp = is_sharp(a, b);
    const Kind ka = kind(a);
    const Kind kb = kind(b);
    if (ka == Kind::smooth && kb == Kind::smooth)
      return Collapse{b, a, (mesh_.position(a) + mesh_.position(b)) / 2, mean_size(a, b)};
    if (kb == Kind::smooth) return Collapse{b, a, mesh_.position(a), size(a)};
    if (ka == Kind::smooth) return Collapse{a, b, mesh_.position(b), size(b)};
    if (!sharp) return std::nullopt;
    if (kb == Kind::ridge) return Collapse{b, a, mesh_.position(a), size(a)};
    if (ka == Kind::ridge) return Collapse{a, b, mesh_.position(b), size(b)};
    return std::nullopt;
  }

  [[nodiscard]] bool is_collapse_allowed(const Collapse& c) const
  {
    if (!mesh_.can_collapse(c.removed, c.kept) || !is_on_surface(c.position, c.size.deviation)) return false;
    // A sharp edge must not be folded onto another one.
    if (kind(c.removed) == Kind::ridge) {
      for (const Index w : sharp_neighbours(c.removed)) {
        if (w != c.kept && mesh_.has_edge(w, c.kept)) return false;
      }
    }
    for (const Index end : {c.removed, c.kept}) {
      for (const Index t : mesh_.around(end)) {
        const Triangle& corners = mesh_.triangle(t);
        std::array<Vec3, 3> p;
        std::array<double, 3> lengths;
        bool vanishes = false;
        for (std::size_t k = 0; k < 3; ++k) {
          const Index v = corners[k];
          vanishes = vanishes || v == (end == c.removed ? c.kept : c.removed);
          p[k] = v == end ? c.position : mesh_.position(v);
          lengths[k] = v == end ? c.size.length : size(v).length;
        }
        if (vanishes) continue;
        if (!keeps_normal(mesh_.area_vector(t), p)) return false;
        for (std::size_t k = 0; k < 3; ++k) {
          if ((p[k] - p[(k + 1) % 3]).norm() > kLong * std::min(lengths[k], lengths[(k + 1) % 3]) &&
              (p[k] == c.position || p[(k + 1) % 3] == c.position))
            return false;
        }
        if (!lies_on_surface(p, c.size.deviation)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] static bool keeps_normal(const Vec3& old_area, const std::array<Vec3, 3>& p)
  {
    const Vec3 area = EditableMesh::area_vector(p[0], p[1], p[2]);
    const double longest2 =
        std::max({(p[0] - p[1]).squaredNorm(), (p[1] - p[2]).squaredNorm(), (p[2] - p[0]).squaredNorm()});
    if (area.norm() <= kMinRelativeArea * longest2) return false;
    return area.dot(old_area) > kTurnLimit * area.norm() * old_area.norm();
  }

  [[nodiscard]] bool lies_on_surface(const std::array<Vec3, 3>& p, double deviation) const
  {
    if (!is_on_surface((p[0] + p[1] + p[2]) / 3, deviation)) return false;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!is_on_surface((p[k] + p[(k + 1) % 3]) / 2, deviation)) return false;
    }
    return true;
  }

  void collapse_short_edges()
  {
    std::vector<std::pair<double, std::array<Index, 2>>> queue;
    for (const auto& e : mesh_.edges()) {
      const double l = distance(e[0], e[1]);
      if (l < kShort * length(e[0], e[1])) queue.emplace_back(l, e);
    }
    std::sort(queue.begin(), queue.end());
    for (const auto& [old_length, e] : queue) {
      if (!mesh_.has_edge(e[0], e[1]) || distance(e[0], e[1]) >= kShort * length(e[0], e[1])) continue;
      const auto c = collapse_of(e[0], e[1]);
      if (!c || !is_collapse_allowed(*c)) continue;
      for (const Index w : sharp_neighbours(c->removed)) {
        sharp_.erase(key(c->removed, w));
        if (w != c->kept) sharp_.insert(key(c->kept, w));
      }
      mesh_.collapse(c->removed, c->kept, c->position);
      sizes_.lengths[at(c->kept)] = c->size.length;
      sizes_.deviations[at(c->kept)] = c->size.deviation;
    }
  }

  // Delaunay: an edge is flipped when the angles opposite to it sum to more than a half turn.
  void flip_edges()
  {
    constexpr int kPasses = 5;
    for (int pass = 0; pass < kPasses; ++pass) {
      bool changed = false;
      for (const auto& [a, b] : mesh_.edges()) {
        if (!mesh_.has_edge(a, b) || is_sharp(a, b) || !is_flip_allowed(a, b)) continue;
        mesh_.flip(a, b);
        changed = true;
      }
      if (!changed) return;
    }
  }

  [[nodiscard]] bool is_flip_allowed(Index a, Index b) const
  {
    const auto s = mesh_.sides(a, b);
    const Vec3& pa = mesh_.position(a);
    const Vec3& pb = mesh_.position(b);
    const Vec3& pc = mesh_.position(s.left_apex);
    const Vec3& pd = mesh_.position(s.right_apex);
    const auto cotangent = [&](const Vec3& apex) {
      const Vec3 u = pa - apex;
      const Vec3 v = pb - apex;
      return u.dot(v) / std::max(u.cross(v).norm(), kMinRelativeArea * u.norm() * v.norm());
    };
    if (cotangent(pc) + cotangent(pd) >= kFlipThreshold || !mesh_.can_flip(a, b)) return false;
    const Vec3 left = mesh_.area_vector(s.left);
    const Vec3 right = mesh_.area_vector(s.right);
    const Vec3 both = left + right;
    if (!keeps_normal(both, {pc, pd, pb}) || !keeps_normal(both, {pd, pc, pa})) return false;
    if (!surface_) return left.dot(right) > kFlat * left.norm() * right.norm();
    return is_on_surface((pc + pd) / 2, mean_size(s.left_apex, s.right_apex).deviation);
  }

  void relax()
  {
    for (Index v = 0; v < mesh_.vertex_count(); ++v) {
      if (mesh_.around(v).empty() || kind(v) == Kind::corner) continue;
      const std::optional<Vec3> target = kind(v) == Kind::ridge ? along_ridge(v) : within_surface(v);
      if (!target) continue;
      // The full move, or half of it when triangles would flip over.
      const Vec3 start = mesh_.position(v);
      for (const double step : {1.0, 0.5}) {
        if (is_move_allowed(v, start + step * (*target - start))) {
          mesh_.move(v, start + step * (*target - start));
          break;
        }
      }
    }
  }

  [[nodiscard]] std::optional<Vec3> along_ridge(Index v) const
  {
    const std::vector<Index> along = sharp_neighbours(v);
    if (along.size() != 2) return std::nullopt;
    const Vec3 middle = (mesh_.position(along[0]) + mesh_.position(along[1])) / 2;
    const Vec3 chord = mesh_.position(along[1]) - mesh_.position(along[0]);
    if (!(chord.norm() > 0)) return std::nullopt;
    return lines_.nearest(middle, chord.normalized());
  }

  // The mean of the surrounding triangles' centres by area, moved within the tangent plane and projected onto
  // the surface.
  [[nodiscard]] std::optional<Vec3> within_surface(Index v) const
  {
    Vec3 sum = Vec3::Zero();
    Vec3 normal = Vec3::Zero();
    double weight = 0;
    for (const Index t : mesh_.around(v)) {
      const Triangle& c = mesh_.triangle(t);
      const Vec3 area = mesh_.area_vector(t);
      sum += area.norm() * (mesh_.position(c[0]) + mesh_.position(c[1]) + mesh_.position(c[2])) / 3;
      weight += area.norm();
      normal += area;
    }
    if (!(weight > 0) || !(normal.norm() > 0)) return std::nullopt;
    normal.normalize();
    const Vec3 middle = sum / weight;
    const Vec3 target = middle + normal.dot(mesh_.position(v) - middle) * normal;
    const ClosestPoint s = surface_->closest_point(target, size(v).length);
    if (!s.found()) return std::nullopt;
    // Do not project onto the other side of a thin part.
    const Vec3 there = mesh::area_vector(surface_->mesh(), at(s.triangle));
    if (there.dot(normal) <= 0) return std::nullopt;
    return s.point;
  }

  [[nodiscard]] bool is_move_allowed(Index v, const Vec3& target) const
  {
    const double deviation = size(v).deviation;
    if (!is_on_surface(target, deviation)) return false;
    for (const Index t : mesh_.around(v)) {
      const Triangle& c = mesh_.triangle(t);
      std::array<Vec3, 3> p;
      for (std::size_t k = 0; k < 3; ++k) p[k] = c[k] == v ? target : mesh_.position(c[k]);
      if (!keeps_normal(mesh_.area_vector(t), p)) return false;
      if (!lies_on_surface(p, deviation)) return false;
    }
    return true;
  }

  EditableMesh mesh_;
  std::optional<Bvh> surface_;  // the input, onto which everything is projected
  FeatureLines lines_;          // its sharp edges
  SurfaceSizes sizes_;          // of each vertex
  std::vector<Kind> kind_;
  std::unordered_set<std::uint64_t> sharp_;
};

}  // namespace

TriangleMesh remesh(const TriangleMesh& mesh, const RemeshDesc& desc)
{
  if (!(desc.edge_length > 0)) {
    throw Error(fmt::format("The edge length for remeshing is {} m; it must be positive.", desc.edge_length));
  }
  const TriangleMesh clean = remove_slivers(mesh, kSliverThickness * desc.edge_length);
  if (desc.curved_length > 0) {
    const SurfaceSizesDesc sizes = {desc.edge_length, desc.curved_length, desc.max_triangles};
    Remesher remesher(clean, sizes_for_elements(clean, sizes), desc.feature_angle);
    remesher.run(desc.rounds);
    remesher.fit_ridges();
    TriangleMesh result = remesher.result();
    fit_to_surface(result, remesher.smooth_vertices(), remesher.surface());
    return result;
  }
  const double deviation = desc.deviation > 0 ? desc.deviation : kDefaultDeviation * desc.edge_length;
  SurfaceSizes sizes;
  sizes.lengths.assign(clean.vertices.size(), desc.edge_length);
  sizes.deviations.assign(clean.vertices.size(), deviation);
  Remesher remesher(clean, std::move(sizes), desc.feature_angle);
  remesher.run(desc.rounds);
  return remesher.result();
}

}  // namespace thrum::mesh
