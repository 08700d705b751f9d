// SPDX-License-Identifier: MIT
// What the sources of sim::Responder share; not for others.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/sim/carried_bodies.h"
#include "thrum/sim/responder.h"

namespace thrum::sim {

/// A body that rings.
struct Responder::Resonator {
  model::BodyId body = {};
  std::unique_ptr<vibration::BodyResponse> response;
  std::unique_ptr<vibration::BodyResponse> transmitted_response;  ///< answers impacts that were passed on
  elastic::ModeList modes;
  Pose start = {};  ///< where the modes were computed
  std::string contact_warning = {},
              moved_warning = {};  ///< warnings about its responses and its pose, once each
};

/// An impact that a kick gives to the body above it.
struct Responder::TransmittedImpact {
  model::BodyIndex resonator = model::kNone;  ///< that is struck
  model::BodyId from = {};                    ///< whose vibration it came from and loses its energy
  std::size_t patch = 0;
  std::size_t point = 0;
  double impulse = 0;  ///< [N s]
  double speed = 0;    ///< [m/s]
  double energy = 0;   ///< [J]
};

/// A contact that is this near to one of the step before is the same, in length scales.
inline constexpr double kSamePointDistance = 0.05;

/// Names a contact point within a step.
struct ContactKey {
  static constexpr std::size_t kGone = static_cast<std::size_t>(-1);

  std::size_t patch = kGone;  ///< of the last slice; kGone: it has ended before
  std::size_t point = 0;
  std::uint32_t part_a = 0, part_b = 0, feature_a = 0, feature_b = 0;
  Vec3 position = Vec3::Zero();  ///< world [m]

  [[nodiscard]] bool same_features(const ContactKey& other) const
  {
    return part_a == other.part_a && part_b == other.part_b && feature_a == other.feature_a &&
           feature_b == other.feature_b;
  }
};

/// What the slices of a step brought, for the response at its end.
struct Responder::StepRecord {
  struct Impact {
    model::BodyIndex resonator = model::kNone;
    model::BodyIndex other = model::kNone;
    vibration::SurfaceContact contact;  ///< in the axes of the modal model; its body is not set
    Vec3 arm = Vec3::Zero();            ///< from the centre of the other body, likewise [m]
    ContactKey key;
    bool merged = false;   ///< another impact at the same place has its impulse
    double not_borne = 0;  ///< of a reaction: its steady load in the slices in which it had ended [N s]
  };
  /// A contact as the step before left it.
  struct Load {
    model::BodyIndex a = model::kNone;
    model::BodyIndex b = model::kNone;
    Vec3 position = Vec3::Zero();  ///< world [m]
    double force = 0;              ///< [N]
  };
  double h = 0;  ///< of the whole step [s]
  std::vector<Load> loads;
  std::vector<Pose> slice_starts;  ///< of all bodies, when contacts of the last slice were found
  std::vector<Impact> impacts;
  std::vector<Impact> reactions;  ///< contacts of struck bodies that can move, in the slices since the impact
  /// Where all bodies were before the first slice with an impact on a body that can move, by that body.
  std::map<model::BodyIndex, std::vector<Vec3>> centres_at_impact;
  double last_slice = 0;              ///< length of the last slice [s]
  double lost = 0;                    ///< by all bodies [J]
  double prepaid = 0;                 ///< that the requested speeds were allowed to bring in [J]
  std::set<model::BodyIndex> kicked;  ///< by these speeds
  double seconds = 0;                 ///< that gathering took
};

/// A ringing body and what is in contact with it, in the axes of its modal model.
struct Responder::ResonatorContacts {
  Pose X_wm;
  Pose X_wm_before;  ///< when the contacts were found
  std::vector<vibration::RigidBodyData> parts;
  std::vector<model::BodyIndex> bodies;              ///< of the parts
  std::map<model::BodyIndex, std::int32_t> numbers;  ///< of the bodies among the parts
  std::vector<vibration::SurfaceContact> contacts;
  std::vector<ContactKey> keys;  ///< of the contacts
  double step = 0;               ///< [s]
  double same_point = 0;         ///< contacts nearer than this to each other are one [m]
  /// Parts that carry other bodies; to the ringing body they are one with them.
  std::map<std::int32_t, BodyStack> stacks;

  /// Before the response: the parts that carry other bodies become one with them.
  void combine_stacks(const StepView& view, const vibration::BodyResponseDesc& desc,
                      const std::function<bool(const model::ContactPoint&)>& is_struck,
                      const std::function<bool(model::BodyIndex)>& rings);

  /// The other body was at the end of this arm when the contact acted [m].
  void set_arm(const Vec3& arm, vibration::SurfaceContact& contact) const
  {
    contact.travel = arm - (contact.position - parts[at(contact.body)].centre);
  }
  /// One that has ended since it was recorded; `part` is its other body. Returns its number.
  std::size_t add_contact(const StepRecord::Impact& recorded, std::int32_t part);
  /// Of the parts that stood on the ringing one when the impact came, contacts that are not among `closed`
  /// have come since then and take no part in it.
  void leave_out_new_contacts(const std::set<std::int32_t>& stood, const std::set<std::size_t>& closed);
  /// How high these parts and the ringing body were raised since the impact came; `centres` of all bodies
  /// then.
  void note_rise(const StepView& view, const std::set<std::int32_t>& stood, const std::vector<Vec3>& centres);

  [[nodiscard]] vibration::ResponseInput input() const { return {parts, contacts, step}; }
  [[nodiscard]] model::BodyIndex body_of(std::size_t contact) const
  {
    return bodies[at(contacts[contact].body)];
  }
  /// Whether it is the one that was called `key`. Edges and faces that are named in turn, as where a box
  /// rocks, can stand for one place.
  [[nodiscard]] bool is_at(std::size_t contact, model::BodyIndex other, const ContactKey& key) const
  {
    return body_of(contact) == other &&
           (keys[contact].same_features(key) || (keys[contact].position - key.position).norm() < same_point);
  }
};

}  // namespace thrum::sim
