// SPDX-License-Identifier: MIT
// Where and how hard two bodies touch.
//
// The normal n points from body a to body b; depth is positive where they overlap. An impulse lambda at a
// contact changes the momentum of b by +lambda and of a by -lambda.
//
//        b  ___________
//           |         |
//            \   ^ n  /        Points that share a pair of bodies (or of parts of bodies) and a normal
//      ______ \__|___/ ____    form a patch of at most four points. A pair has at most eight
//        a       o position    patches.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "thrum/base/vec.h"
#include "thrum/model/ids.h"

namespace thrum::model {

/// One point of a patch. The solver fills the impulses.
struct ContactPoint {
  Vec3 position = Vec3::Zero();  ///< halfway between the two surfaces, world [m]
  double depth = 0.0;            ///< overlap along the normal, negative for a gap [m]
  std::uint32_t feature_a = 0;   ///< names the vertex, edge or face of a; the same from step to step
  std::uint32_t feature_b = 0;   ///< likewise for b
  double normal_impulse = 0.0;   ///< summed over the substeps of the last step [N s]
  double warm_impulse = 0.0;     ///< of one substep; where the next solve starts [N s]
  double normal_speed = 0.0;     ///< relative speed along n before the solve, negative when approaching [m/s]
  double requested_speed =
      0.0;  ///< least separation speed asked for in the coming solve, as by a distant impact [m/s]
  double allowed_energy =
      0.0;               ///< that this may bring to the bodies; kept until the response has settled it [J]
  bool is_new = true;    ///< false when it continues a point of the step before
  bool bounced = false;  ///< an impact with restitution was resolved here in this step

  // As the contact function found it. While a contact is kept (PairReference), position and depth follow from
  // these and from how far the bodies have moved since.
  Vec3 reference_position = Vec3::Zero();  ///< world [m]
  double reference_depth = 0.0;            ///< [m]
};

/// Up to four points of one pair of bodies with one normal, and the friction between them.
struct ContactPatch {
  BodyIndex a = kNone;
  BodyIndex b = kNone;
  std::uint32_t part_a = 0;  ///< part of a compound, region of a mesh; 0 otherwise
  std::uint32_t part_b = 0;
  Vec3 normal = Vec3::UnitZ();  ///< unit, from a to b
  std::uint8_t count = 0;
  std::array<ContactPoint, 4> points;

  // Friction acts on the patch as a whole: two tangent directions at its centre and the torque about the
  // normal.
  Vec3 friction_impulse = Vec3::Zero();  ///< on b, summed over the substeps of the last step [N s]
  Vec3 warm_friction = Vec3::Zero();     ///< of one substep [N s]
  double warm_twist = 0.0;               ///< about the normal, of one substep [N m s]
  Vec3 warm_rolling = Vec3::Zero();      ///< across the normal, of one substep [N m s]

  [[nodiscard]] std::span<ContactPoint> active() { return {points.data(), count}; }
  [[nodiscard]] std::span<const ContactPoint> active() const { return {points.data(), count}; }
};

/// Where the bodies of a pair were when its contacts were last searched for, also if there were none. While
/// they have hardly moved against each other since, the contacts are kept instead of found again.
struct PairReference {
  BodyIndex a = kNone;
  BodyIndex b = kNone;
  Pose X_wa;                      ///< body axes of a to world
  Pose X_wb;                      ///< likewise for b
  double margin = 0.0;            ///< gap up to which points were wanted [m]
  std::uint32_t patch_count = 0;  ///< that were found; with fewer in the state they are found again
};

/// One contact as reported to callbacks and recordings.
struct Contact {
  BodyId a = {};
  BodyId b = {};
  std::uint32_t part_a = 0;
  std::uint32_t part_b = 0;
  std::uint32_t feature_a = 0;
  std::uint32_t feature_b = 0;
  Vec3 position = Vec3::Zero();          ///< world [m]
  Vec3 normal = Vec3::UnitZ();           ///< from a to b
  double depth = 0.0;                    ///< [m]
  double normal_impulse = 0.0;           ///< on b along the normal, over the whole step [N s]
  Vec3 friction_impulse = Vec3::Zero();  ///< on b across the normal: this point's share of the patch [N s]
  double normal_speed = 0.0;             ///< before the solve, negative when approaching [m/s]
  Vec3 slip_velocity = Vec3::Zero();     ///< of b against a across the normal, after the solve [m/s]
  bool is_new = true;
};

enum class ContactEventKind : std::uint8_t {
  begin,  ///< the pair did not touch in the step before
  hit,    ///< an impact; once per impact and pair, at the point with the largest impulse
  slide,  ///< the pair slips while pressed together
  end     ///< the pair no longer touches; position and normal are the last known
};

struct ContactEvent {
  ContactEventKind kind = ContactEventKind::begin;
  double time = 0.0;  ///< at the end of the step; of a sensor: at its beginning, where overlap was found [s]
  BodyId a = {};
  BodyId b = {};
  Vec3 position = Vec3::Zero();  ///< world [m]
  Vec3 normal = Vec3::UnitZ();   ///< from a to b
  double speed = 0.0;            ///< of approach for hit, of slip for slide [m/s]
  double impulse = 0.0;          ///< normal impulse of the whole pair over the step [N s]
};

/// An impulse that a body received at a point: what vibration and sound are driven by.
struct ImpulseEvent {
  double time = 0.0;  ///< [s]
  BodyId body = {};
  BodyId other = {};               ///< what it came from, none for a scripted one
  Vec3 position_b = Vec3::Zero();  ///< in body axes [m]
  Vec3 impulse_b = Vec3::Zero();   ///< on the body, in body axes [N s]
  double approach_speed = 0.0;     ///< before the impact, at least 0 [m/s]
  double duration = 0.0;           ///< 0: not known, otherwise the time over which it acts [s]
  bool impact = true;              ///< false for the steady load of a resting or sliding contact
};

}  // namespace thrum::model
