// SPDX-License-Identifier: MIT
// What the contacts of a ringing body that can move pass on while it is struck, within a step that is longer
// than the impact.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "thrum/base/index.h"
#include "thrum/sim/responder_internal.h"
#include "thrum/vibration/ringing_body.h"

namespace thrum::sim {

namespace {

constexpr double kApart = std::numeric_limits<double>::infinity();  // [m]

// The loads that contacts of a ringing body carried when an impact came. What stands on it bears its own
// weight; what does not move bears all of them together. A contact that pressed harder, or whose body moved
// already, was in the middle of an impact.
class SteadyLoads {
 public:
  SteadyLoads(const StepView& view, model::BodyIndex self) : view_(view), weight_(weight_of(self)) {}

  void add(model::BodyIndex other, double load, double approach_speed, double min_speed)
  {
    const model::BodyIndex body = bearer(other);
    if (body != model::kNone && !loads_.contains(body)) weight_ += weight_of(body);
    loads_[body] += load;
    if (load > 0 && std::abs(approach_speed) > min_speed) moving_.insert(body);
  }

  [[nodiscard]] bool is_steady(model::BodyIndex other) const
  {
    constexpr double kMaxSteadyLoad = 1.5;  // in weights
    const model::BodyIndex body = bearer(other);
    const auto load = loads_.find(body);
    const double borne = body == model::kNone ? weight_ : weight_of(body);
    return !moving_.contains(body) && (load == loads_.end() || load->second <= kMaxSteadyLoad * borne);
  }

 private:
  // model::kNone: what does not move.
  [[nodiscard]] model::BodyIndex bearer(model::BodyIndex body) const
  {
    return view_.model.bodies[at(body)].motion == model::Motion::dynamic ? body : model::kNone;
  }
  [[nodiscard]] double weight_of(model::BodyIndex body) const
  {
    return view_.model.bodies[at(body)].mass * view_.model.gravity.norm();
  }

  const StepView& view_;
  double weight_;                             // of the ringing body and all that stands on it [N]
  std::map<model::BodyIndex, double> loads_;  // [N]
  std::set<model::BodyIndex> moving_;         // that approach or leave already when the impact comes
};

}  // namespace

std::size_t Responder::ResonatorContacts::add_contact(const StepRecord::Impact& recorded, std::int32_t part)
{
  contacts.push_back(recorded.contact);
  contacts.back().body = part;
  set_arm(recorded.arm, contacts.back());
  keys.push_back(recorded.key);
  return contacts.size() - 1;
}

void Responder::ResonatorContacts::leave_out_new_contacts(const std::set<std::int32_t>& stood,
                                                          const std::set<std::size_t>& closed)
{
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (!contacts[i].struck && stood.contains(contacts[i].body) && !closed.contains(i))
      contacts[i].gap = kApart;
  }
}

void Responder::ResonatorContacts::note_rise(const StepView& view, const std::set<std::int32_t>& stood,
                                             const std::vector<Vec3>& centres)
{
  const Vec3 up = -view.model.gravity.normalized();
  const auto rise_of = [&](std::size_t part) {
    const auto body = at(bodies[part]);
    return std::max(0.0, up.dot(view.state.bodies[body].X_wb.position - centres[body]));
  };
  parts[0].risen = rise_of(0);
  for (const std::int32_t part : stood) parts[at(part)].risen = rise_of(at(part));
}

// What the contacts of a body that can move gave beyond their steady loads since it was struck. One that has
// ended does not carry its load any more: what it bore has fallen since then.
void Responder::record_reactions(const StepView& view, const Resonator& resonator)
{
  const model::BodyIndex self = view.index_of(resonator.body);
  const auto is_struck_here = [&](model::BodyIndex other, const ContactKey& key) {
    return std::any_of(
        record_->impacts.begin(), record_->impacts.end(), [&](const StepRecord::Impact& impact) {
          return impact.resonator == self && impact.other == other && impact.key.same_features(key);
        });
  };
  if (view.model.bodies[at(self)].motion != model::Motion::dynamic) return;
  if (std::none_of(record_->impacts.begin(), record_->impacts.end(),
                   [&](const StepRecord::Impact& impact) { return impact.resonator == self; }))
    return;
  std::vector<Vec3>& centres = record_->centres_at_impact[self];
  if (centres.empty()) {
    for (const model::BodyState& body : view.bodies_before) centres.push_back(body.X_wb.position);
  }
  for (StepRecord::Impact& reaction : record_->reactions) {
    if (reaction.resonator == self) reaction.not_borne += view.h * reaction.contact.load;
  }
  const ResonatorContacts gathered = gather_contacts(view, resonator, {});
  for (std::size_t i = 0; i < gathered.contacts.size(); ++i) {
    if (is_struck_here(gathered.body_of(i), gathered.keys[i])) continue;
    const auto known = std::find_if(
        record_->reactions.begin(), record_->reactions.end(), [&](const StepRecord::Impact& reaction) {
          return reaction.resonator == self && gathered.is_at(i, reaction.other, reaction.key);
        });
    if (known != record_->reactions.end()) {
      const double load = view.h * known->contact.load;
      known->contact.reaction += gathered.contacts[i].impulse - load;
      known->not_borne -= load;
      continue;
    }
    const model::ContactPatch& patch = view.state.patches[gathered.keys[i].patch];
    StepRecord::Impact& reaction = record_->reactions.emplace_back();
    reaction.resonator = self;
    reaction.other = gathered.body_of(i);
    reaction.contact = gathered.contacts[i];
    reaction.arm =
        vibration::arm_of_other(gathered.parts[at(gathered.contacts[i].body)], gathered.contacts[i]);
    reaction.contact.load = load_before(view, patch, gathered.keys[i].position);
    reaction.contact.reaction = reaction.contact.impulse - view.h * reaction.contact.load;
    reaction.key = gathered.keys[i];
    reaction.key.patch = ContactKey::kGone;
  }
}

// A body that can move passes an impact on within the rigid step, which may throw what stands on it off again
// before the step ends: in a step of 1/30 s a box on a plate of 12 kg was 3 mm up by then, kept the speed of
// the rigid throw, 0.45 m/s instead of 0.16, and was not kicked. Contacts that carried a load when the impact
// came are closed again, and take part in it from there; how high the body has been raised meanwhile is taken
// from its hop.
void Responder::add_reactions(const StepView& view, double min_speed, ResonatorContacts& gathered) const
{
  const model::BodyIndex self = gathered.bodies[0];
  SteadyLoads loads(view, self);
  for (const StepRecord::Impact& reaction : record_->reactions) {
    if (reaction.resonator == self)
      loads.add(reaction.other, reaction.contact.load, reaction.contact.approach_speed, min_speed);
  }
  std::set<std::size_t> closed;
  std::set<std::int32_t> stood;
  for (const StepRecord::Impact& reaction : record_->reactions) {
    if (reaction.resonator != self) continue;
    std::size_t i = 0;
    while (i < gathered.contacts.size() && !gathered.is_at(i, reaction.other, reaction.key)) ++i;
    if (i == gathered.contacts.size()) {
      i = gathered.add_contact(reaction, part_of(view, reaction.other, gathered));
      gathered.contacts[i].reaction = 0;
      gathered.contacts[i].gap = kApart;
    }
    vibration::SurfaceContact& contact = gathered.contacts[i];
    contact.reaction += reaction.contact.reaction;
    if (contact.struck || !(reaction.contact.load > 0) || !loads.is_steady(reaction.other)) continue;
    contact.reaction -= reaction.not_borne;
    contact.load = reaction.contact.load;
    contact.gap = 0;
    closed.insert(i);
    stood.insert(contact.body);
  }
  gathered.leave_out_new_contacts(stood, closed);
  const auto centres = record_->centres_at_impact.find(self);
  if (centres != record_->centres_at_impact.end() && !stood.empty())
    gathered.note_rise(view, stood, centres->second);
}

}  // namespace thrum::sim
