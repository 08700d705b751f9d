// SPDX-License-Identifier: MIT
#include "thrum/collision/impact_contacts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/collision/boyse.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {

namespace {

/// What is nearer than this share of the smaller one's least extent touches: twice the gap at which a slice
/// ends before an impact.
constexpr double kTouchGap = 0.0025;

double touch_gap_of(const PairInput& pair)
{
  const auto extent = [](const PreparedShape& shape) {
    return std::isfinite(shape.width) ? shape.min_extent : std::numeric_limits<double>::infinity();
  };
  return kTouchGap * std::min(extent(*pair.a), extent(*pair.b));
}

std::shared_ptr<const BoyseSurface> boyse_of(const PreparedShape& shape)
{
  return static_cast<const TriangleSurface&>(*shape.accelerator).boyse();
}

// The next slice finds other contacts, which are matched by their places.
std::uint32_t feature_of_face(Index face)
{
  constexpr std::uint32_t kFace = 0x20000000;
  return kFace + static_cast<std::uint32_t>(face);
}

}  // namespace

bool has_boyse_impacts(const PairTable& table)
{
  return &table == &pair_table_with(Interference::zlist);
}

const PairTable& table_of_impacts(const PairTable& table)
{
  if (!has_boyse_impacts(table)) return table;
  static const PairTable impacts = [] {
    PairTable with_features = pair_table_with(Interference::zlist);
    register_meeting_meshes(with_features);
    return with_features;
  }();
  return impacts;
}

void use_touching_features(const PairInput& pair, std::span<const mesh::TrianglePair> faces,
                           std::vector<MeshContact>& contacts)
{
  const double gap = touch_gap_of(pair);
  if (!std::isfinite(gap)) return;
  const bool is_deep =
      std::any_of(contacts.begin(), contacts.end(), [&](const MeshContact& c) { return c.depth > gap; });
  const bool touches =
      std::any_of(contacts.begin(), contacts.end(), [&](const MeshContact& c) { return c.depth >= -gap; });
  if (is_deep || !touches) return;
  const Pose X_ab = pair.X_wa.inverse() * pair.X_wb;
  const std::vector<BoyseContact> features = find_touching_features(
      *boyse_of(*pair.a), *boyse_of(*pair.b), X_ab.inverse(), faces, {.tolerance = gap, .max_depth = gap});
  if (features.empty()) return;
  std::erase_if(contacts, [&](const MeshContact& c) { return c.depth >= -gap; });
  for (const BoyseContact& feature : features) {
    MeshContact c;
    c.on_a = c.on_b = X_ab.point(feature.point);
    c.normal = -X_ab.direction(feature.normal);
    c.depth = feature.depth;
    c.feature_a = feature_of_face(feature.face_a);
    c.feature_b = feature_of_face(feature.face_b);
    contacts.push_back(c);
  }
}

}  // namespace thrum::collision
