// SPDX-License-Identifier: MIT
// Corners in the notches of a mesh.
//
//        |  wall          A corner where a floor and a wall of a mesh meet touches both. The distance knows
//      x'|                the nearer one only, or, inside both, the edge between them. Lifted off what was
//     /  |                found, the corner x is nearest to the one face (x'), and lifted off that, to the
//    x   |                other.
//   _____|  floor
//
// A tetrahedron that slid over the floor of a vessel went through its wall: the corner that led the way was
// in contact with the floor.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "thrum/collision/element_contacts.h"

namespace thrum::collision {

/// How far a corner is lifted, in its depth and the margin; a face is looked at again from a share of that.
inline constexpr double kLift = 2;
inline constexpr double kSecondLift = 0.7;
/// The two faces of a notch differ by more than this (cosine of about 26 degrees).
inline constexpr double kNotch = 0.9;
/// Normals that are the same but for rounding.
inline constexpr double kSameFace = 1 - 1e-6;
/// How far a unit vector that two others span may be from their plane.
inline constexpr double kSameSpan = 1e-3;
/// Shorter gradients are those of a place without a normal.
inline constexpr double kMinGradient = 0.5;

/// Gaps up to which contacts are wanted, and depths [m].
struct NotchDesc {
  double margin = 0;
  double max_depth = 0;
};

// The face of the other body that is nearest to a corner lifted along n, as a plane: its normal and how far
// the corner is above it. What is seen from two heights with one normal is a face; an edge is not, unless it
// lies along n. The corner is what lies nearest to it: equation (1) of element_contacts.h. Normals are in
// axes of the other body, which `to_corner` maps to those of the corner.
template <class Distance>
bool find_face(const SurfaceElements& elements, const Quat& to_corner, const Distance& to_other,
               const NotchDesc& desc, double lift, const ElementContact& corner, const Vec3& n,
               DistanceProbe& face)
{
  const double reach = lift + std::max(desc.margin, desc.max_depth);
  const DistanceProbe high = to_other.exact(corner.point + lift * n, reach);
  if (!(high.gradient.norm() > kMinGradient)) return false;
  face.gradient = high.gradient.normalized();
  face.value = high.value - lift * n.dot(face.gradient);
  if (n.dot(face.gradient) > kNotch || face.value > desc.margin || face.value < -desc.max_depth) return false;
  const DistanceProbe low = to_other.exact(corner.point + kSecondLift * lift * n, reach);
  if (!(low.gradient.dot(face.gradient) > kSameFace * low.gradient.norm())) return false;
  const Vec3& x = elements.vertices()[at(corner.vertex)];
  const Vec3 out = to_corner * face.gradient;
  const auto neighbours = elements.neighbours(corner.vertex);
  return std::none_of(neighbours.begin(), neighbours.end(), [&](Index v) {
    const Vec3 away = elements.vertices()[at(v)] - x;
    return out.dot(away) < -kSlopeTolerance * away.norm();
  });
}

/// Whether n = a p + b q with positive a and b, as the way to the edge between two faces has it.
[[nodiscard]] inline bool is_between(const Vec3& n, const Vec3& p, const Vec3& q)
{
  const double c = p.dot(q);
  const double scale = 1 / (1 - c * c);
  const double a = scale * (n.dot(p) - c * n.dot(q));
  const double b = scale * (n.dot(q) - c * n.dot(p));
  return a > 0 && b > 0 && (n - a * p - b * q).norm() < kSameSpan;
}

/// The contacts of a corner that was found with the faces of a notch, where it lies in one: `first`, and
/// others of which the number is returned.
template <class Distance>
std::size_t split_in_notch(const SurfaceElements& elements, const Quat& to_corner, const Distance& to_other,
                           const NotchDesc& desc, ElementContact& first,
                           std::array<ElementContact, 2>& others)
{
  const double lift = kLift * (desc.margin + std::max(0.0, -first.distance));
  DistanceProbe face;
  const auto find = [&](const Vec3& n) {
    return find_face(elements, to_corner, to_other, desc, lift, first, n, face);
  };
  const auto contact_with_face = [&] {
    ElementContact contact = first;
    contact.normal = face.gradient;
    contact.distance = face.value;
    contact.is_strict = false;
    return contact;
  };
  // What was found is the edge between a face and the one last seen: that takes its place.
  const auto replace_edge = [&](const Vec3& between) {
    if (!(face.gradient.dot(first.normal) < kSameFace) || !is_between(first.normal, between, face.gradient))
      return false;
    first.normal = face.gradient;
    first.distance = face.value;
    return true;
  };
  if (!find(first.normal)) return 0;
  others[0] = contact_with_face();
  const Vec3& second = others[0].normal;
  if (find(second) && !replace_edge(second) && face.gradient.dot(first.normal) < kSameFace) {
    others[1] = contact_with_face();
    return 2;
  }
  // A third, where two walls and a floor meet.
  if (!find((first.normal + second).normalized())) return 1;
  if (face.gradient.dot(first.normal) > kNotch || face.gradient.dot(second) > kNotch) return 1;
  others[1] = contact_with_face();
  if (find((second + others[1].normal).normalized()) && !replace_edge(others[1].normal)) replace_edge(second);
  return 2;
}

}  // namespace thrum::collision
