// SPDX-License-Identifier: MIT
#include "thrum/collision/boyse.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/collision/boyse_scale.h"
#include "thrum/mesh/mesh_topology.h"

namespace thrum::collision {

namespace {

/// Faces that bend by less are one flat face (cosine of about 0.08 degrees).
constexpr double kFlatBend = 1 - 1e-6;
/// A contact approaches when its speed along the normal is below minus this share of its speed.
constexpr double kApproachShare = 1e-9;
/// Candidates for the first impact that the static check does not confirm; then the search ends.
constexpr std::size_t kMaxUnconfirmed = 64;

}  // namespace

BoyseSurface::BoyseSurface(mesh::TriangleMesh mesh)
    : mesh_(std::move(mesh)), normals_(distance::pseudonormals(mesh_)), bounds_(mesh::bounding_box(mesh_))
{
  const std::size_t faces = mesh_.triangles.size();
  edge_kind_.assign(3 * faces, EdgeKind::sharp);
  neighbour_.assign(3 * faces, -1);
  const auto local = [&](Index face, Index low, Index high) {
    const Triangle& t = mesh_.triangles[at(face)];
    for (int k = 0; k < 3; ++k) {
      const Index u = t[at(k)];
      const Index v = t[at((k + 1) % 3)];
      if (std::min(u, v) == low && std::max(u, v) == high) return k;
    }
    return 0;
  };
  const std::vector<mesh::EdgeUse> uses = mesh::edge_uses(mesh_);
  mesh::for_each_edge(std::span<const mesh::EdgeUse>(uses), [&](std::span<const mesh::EdgeUse> edge) {
    if (edge.size() != 2) return;
    const Index f = edge[0].triangle;
    const Index g = edge[1].triangle;
    const int kf = local(f, edge[0].low, edge[0].high);
    const int kg = local(g, edge[0].low, edge[0].high);
    neighbour_[at_edge(f, kf)] = g;
    neighbour_[at_edge(g, kg)] = f;
    const Vec3 beyond = mesh_.corner(at(g), (kg + 2) % 3) - mesh_.corner(at(f), kf);
    EdgeKind kind = EdgeKind::sharp;
    if (normals_.face[at(f)].dot(normals_.face[at(g)]) > kFlatBend) {
      kind = EdgeKind::flat;
    } else if (normals_.face[at(f)].dot(beyond) > 0) {
      kind = EdgeKind::notch;
    }
    edge_kind_[at_edge(f, kf)] = edge_kind_[at_edge(g, kg)] = kind;
  });
  double area = 0;
  for (std::size_t f = 0; f < faces; ++f) area += 0.5 * mesh::area_vector(mesh_, f).norm();
  if (faces > 0) face_size_ = std::sqrt(area / static_cast<double>(faces));
  owner_.assign(mesh_.vertices.size(), -1);
  flat_.assign(mesh_.vertices.size(), 1);
  for (std::size_t f = 0; f < faces; ++f) {
    for (const Index v : mesh_.triangles[f]) {
      if (owner_[at(v)] < 0) owner_[at(v)] = static_cast<Index>(f);
      if (normals_.face[f].dot(normals_.face[at(owner_[at(v)])]) <= kFlatBend) flat_[at(v)] = 0;
    }
  }
}

bool BoyseSurface::owns_vertex(Index face, int k) const
{
  return owner_[at(mesh_.triangles[at(face)][at(k)])] == face;
}

std::array<Vec3, 3> BoyseSurface::corners(Index face) const
{
  return {mesh_.corner(at(face), 0), mesh_.corner(at(face), 1), mesh_.corner(at(face), 2)};
}

double approach_speed(const SplitMotion& motion, bool in_rotation, const BoyseContact& contact)
{
  const Vec3 v = in_rotation ? Vec3(motion.angle * motion.axis.cross(contact.point - motion.centre))
                             : motion.translation;
  const double along = v.dot(contact.normal);
  return along < -kApproachShare * v.norm() ? along : std::max(along, 0.0);
}

namespace {

// Looks for roots in one phase of the motion.
class PhaseSearch {
 public:
  PhaseSearch(const BoyseSurface& a, const BoyseSurface& b, const SplitMotion& motion, bool in_rotation,
              const BoyseScale& scale)
      : a_(a), b_(b), in_rotation_(in_rotation), tolerance_(scale.tolerance)
  {
    const SplitMotion seen = seen_from_mover(motion);
    X_ba_ = in_rotation ? motion.translated(1) : motion.start;
    X_ab_ = in_rotation ? seen_end_of_translation(motion) : seen.start;
    d_b_ = motion.translation;
    d_a_ = seen.translation;
    turn_b_ = {motion.centre, motion.axis, motion.angle};
    turn_a_ = {seen.centre, seen.axis, seen.angle};
    // How far a corner moves away from the chord of its path.
    bulge_ = in_rotation ? 1 - std::cos(0.5 * motion.angle) : 0;
    end_ = in_rotation ? motion.end() : motion.translated(1);
  }

  void visit(const mesh::TrianglePair& pair)
  {
    const std::array<Vec3, 3> own = a_.corners(pair.a);
    const std::array<Vec3, 3> other = b_.corners(pair.b);
    std::array<Vec3, 3> placed;
    Box3 path;
    double bulge = tolerance_;
    for (std::size_t k = 0; k < 3; ++k) {
      placed[k] = X_ba_.point(own[k]);
      path.extend(placed[k]);
      path.extend(end_.point(own[k]));
      if (in_rotation_) bulge = std::max(bulge, tolerance_ + bulge_ * (placed[k] - turn_b_.centre).norm());
    }
    Box3 box;
    for (const Vec3& q : other) box.extend(q);
    if ((path.min().array() > box.max().array() + bulge).any() ||
        (box.min().array() > path.max().array() + bulge).any()) {
      return;
    }
    for (int k = 0; k < 3; ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (a_.owns_vertex(pair.a, k)) {
        add(in_rotation_ ? rotate_vertex(placed[i], turn_b_, other, tolerance_)
                         : translate_vertex(placed[i], d_b_, other, tolerance_));
      }
      if (b_.owns_vertex(pair.b, k)) {
        const Vec3 p = X_ab_.point(other[i]);
        add(in_rotation_ ? rotate_vertex(p, turn_a_, own, tolerance_)
                         : translate_vertex(p, d_a_, own, tolerance_));
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (!can_touch(a_, pair.a, i)) continue;
      const std::array<Vec3, 2> edge{placed[i], placed[(i + 1) % 3]};
      for (std::size_t j = 0; j < 3; ++j) {
        if (!can_touch(b_, pair.b, j)) continue;
        const std::array<Vec3, 2> fixed{other[j], other[(j + 1) % 3]};
        add(in_rotation_ ? rotate_edge(edge, turn_b_, fixed, tolerance_)
                         : translate_edge(edge, d_b_, fixed, tolerance_));
      }
    }
  }

  /// All roots, ascending.
  [[nodiscard]] const std::vector<double>& roots()
  {
    std::sort(roots_.begin(), roots_.end());
    return roots_;
  }

 private:
  static Pose seen_end_of_translation(const SplitMotion& motion) { return motion.translated(1).inverse(); }

  static bool can_touch(const BoyseSurface& surface, Index face, std::size_t k)
  {
    return surface.owns_edge(face, static_cast<int>(k)) &&
           surface.edge_kind(face, static_cast<int>(k)) == BoyseSurface::EdgeKind::sharp;
  }

  void add(const BoyseRoots& found)
  {
    for (int i = 0; i < found.count; ++i) roots_.push_back(found.share[static_cast<std::size_t>(i)]);
  }

  const BoyseSurface& a_;
  const BoyseSurface& b_;
  bool in_rotation_;
  double tolerance_;
  Pose X_ba_;
  Pose X_ab_;
  Pose end_;
  Vec3 d_b_;
  Vec3 d_a_;
  BoyseRotation turn_b_;
  BoyseRotation turn_a_;
  double bulge_ = 0;
  std::vector<double> roots_;
};

// Whether a contact at this share approaches; then it is the impact.
bool confirm(const BoyseSurface& a, const BoyseSurface& b, const SplitMotion& motion, bool in_rotation,
             double share, std::span<const mesh::TrianglePair> pairs, const BoyseDesc& desc,
             BoyseImpact& impact)
{
  const Pose X_ba = in_rotation ? motion.rotated(share) : motion.translated(share);
  std::vector<BoyseContact> contacts = find_touching_features(a, b, X_ba, pairs, desc);
  const auto approaches = [&](const BoyseContact& c) {
    if (!desc.velocity) return approach_speed(motion, in_rotation, c) < 0;
    const Vec3 v = desc.velocity->linear + desc.velocity->spin.cross(c.point - X_ba.position);
    return v.dot(c.normal) < -kApproachShare * v.norm();
  };
  if (std::none_of(contacts.begin(), contacts.end(), approaches)) return false;
  impact.found = true;
  impact.in_rotation = in_rotation;
  impact.share = share;
  impact.X_ba = X_ba;
  impact.contacts = std::move(contacts);
  return true;
}

}  // namespace

BoyseImpact find_first_impact(const BoyseSurface& a, const BoyseSurface& b, const SplitMotion& motion,
                              std::span<const mesh::TrianglePair> pairs, const BoyseDesc& desc)
{
  BoyseImpact impact;
  impact.X_ba = motion.end();
  if (pairs.empty()) return impact;
  const BoyseScale scale = scale_of(a, b, desc);
  for (const bool in_rotation : {false, true}) {
    if (in_rotation ? !(motion.angle > 0) : motion.translation.isZero()) continue;
    // What touches at the beginning of the phase.
    if (confirm(a, b, motion, in_rotation, 0, pairs, desc, impact)) return impact;
    PhaseSearch search(a, b, motion, in_rotation, scale);
    for (const mesh::TrianglePair& pair : pairs) search.visit(pair);
    std::size_t unconfirmed = 0;
    double last = -1;
    for (const double share : search.roots()) {
      if (share <= last) continue;
      if (confirm(a, b, motion, in_rotation, share, pairs, desc, impact)) return impact;
      ++impact.unconfirmed;
      if (++unconfirmed == kMaxUnconfirmed) break;
      last = share;
    }
  }
  return impact;
}

}  // namespace thrum::collision
