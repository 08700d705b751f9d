// SPDX-License-Identifier: MIT
// One body's response between the world and thrum/vibration: its contacts, and what becomes of its kicks.
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "thrum/base/index.h"
#include "thrum/sim/responder_internal.h"
#include "thrum/vibration/impact_loss.h"
#include "thrum/vibration/response_limit.h"
#include "thrum/vibration/ringing_body.h"

namespace thrum::sim {

namespace {

vibration::HostBody host_body(const StepView& view, model::BodyIndex index)
{
  const model::BodyProperties& desc = view.model.bodies[at(index)];
  const model::BodyState& body = view.state.bodies[at(index)];
  const model::BodyState& before = view.bodies_before[at(index)];
  vibration::HostBody host;
  if (desc.motion == model::Motion::dynamic) {
    host.mass = desc.mass;
    host.inertia = desc.inertia;
    host.gravity = desc.gravity_scale * view.model.gravity;
  }
  host.X_wb = body.X_wb;
  host.velocity = body.velocity;
  host.angular_velocity = body.angular_velocity;
  host.position_before = before.X_wb.position;
  host.velocity_before = before.velocity;
  host.angular_velocity_before = before.angular_velocity;
  return host;
}

// Point k of patch p as the ringing body sees it; `first`: this is body a of the patch.
vibration::HostContact host_contact(const StepView& view, std::size_t p, std::size_t k, bool first)
{
  const model::ContactPatch& patch = view.state.patches[p];
  const model::ContactPoint& point = patch.points[k];
  vibration::HostContact contact;
  contact.key = (static_cast<std::uint64_t>(p) << 8) + k;
  contact.position = point.position;
  contact.normal = first ? patch.normal : Vec3(-patch.normal);
  contact.gap = -point.depth;
  contact.restitution = view.surfaces[p].restitution;
  contact.friction = view.surfaces[p].friction;
  contact.impulse = point.normal_impulse;
  return contact;
}

// Speeds of approach are those at the beginning of the slice, where the gap was found; the rest of the way is
// a fall [m/s].
double speed_at_surface(const vibration::SurfaceContact& contact,
                        const std::vector<vibration::RigidBodyData>& parts)
{
  const double speed = contact.approach_speed;
  const double fall = -contact.normal.dot(parts[at(contact.body)].acceleration) * contact.gap;  // [m^2/s^2]
  return std::sqrt(std::max(0.0, speed * speed + 2 * fall));
}

// Time from the beginning of the slice, where the gap of a struck contact was found, to the surface [s].
double time_to_surface(const vibration::SurfaceContact& contact,
                       const std::vector<vibration::RigidBodyData>& parts, double slice)
{
  const double mean_speed = (contact.approach_speed + speed_at_surface(contact, parts)) / 2;
  return mean_speed > 0 ? std::min(contact.gap / mean_speed, slice) : 0;
}

Vec3 across(const Vec3& normal, const Vec3& v)
{
  return v - normal.dot(v) * normal;
}

ContactKey key_of(const model::ContactPatch& patch, std::size_t p, std::size_t k)
{
  const model::ContactPoint& point = patch.points[k];
  return {p, k, patch.part_a, patch.part_b, point.feature_a, point.feature_b, point.position};
}

}  // namespace

// The number of a body among those that touch the ringing one; a new one is added.
std::int32_t Responder::part_of(const StepView& view, model::BodyIndex index,
                                ResonatorContacts& gathered) const
{
  const auto [it, fresh] =
      gathered.numbers.try_emplace(index, static_cast<std::int32_t>(gathered.parts.size()));
  if (!fresh) return it->second;
  vibration::HostBody body = host_body(view, index);
  body.modulus = modulus_of(view.id_of(index));
  gathered.parts.push_back(vibration::in_model_axes(gathered.X_wm, body));
  gathered.bodies.push_back(index);
  return it->second;
}

// The contacts as they are now; of these only impacts that were passed on are struck. They were found at the
// beginning of the slice, and have gone along the surface with the other body since then.
Responder::ResonatorContacts Responder::gather_contacts(
    const StepView& view, const Resonator& resonator,
    const std::vector<TransmittedImpact>& transmitted_impacts) const
{
  const model::BodyIndex self = view.index_of(resonator.body);
  ResonatorContacts gathered;
  gathered.step = view.h;
  gathered.same_point = kSamePointDistance * view.model.length_scale;
  gathered.X_wm = view.state.bodies[at(self)].X_wb * view.model.bodies[at(self)].X_bs;
  const bool is_known = !record_->slice_starts.empty();
  gathered.X_wm_before =
      is_known ? record_->slice_starts[at(self)] * view.model.bodies[at(self)].X_bs : gathered.X_wm;
  (void)part_of(view, self, gathered);
  for (std::size_t p = 0; p < view.state.patches.size(); ++p) {
    const model::ContactPatch& patch = view.state.patches[p];
    if (patch.a != self && patch.b != self) continue;
    for (std::size_t k = 0; k < patch.count; ++k) {
      vibration::SurfaceContact contact = vibration::in_model_axes(
          gathered.X_wm_before, host_contact(view, p, k, patch.a == self), record_->last_slice);
      // A step with an impact presses harder than the load that was there before.
      contact.load = std::min(contact.load, load_before(view, patch, patch.points[k].position));
      const model::BodyIndex other = patch.a == self ? patch.b : patch.a;
      contact.body = part_of(view, other, gathered);
      if (is_known) {
        const Vec3 before = gathered.X_wm_before.point_to_local(record_->slice_starts[at(other)].position);
        contact.position += across(contact.normal, gathered.parts[at(contact.body)].centre - before);
      }
      contact.approach_speed = -patch.points[k].normal_speed;
      const auto impact =
          std::find_if(transmitted_impacts.begin(), transmitted_impacts.end(),
                       [&](const TransmittedImpact& b) { return b.patch == p && b.point == k; });
      if (impact != transmitted_impacts.end()) {
        contact.struck = true;
        contact.transmitted = true;
        contact.impulse = impact->impulse;
        contact.approach_speed = impact->speed;
        contact.loss = impact->energy;
      }
      gathered.contacts.push_back(contact);
      gathered.keys.push_back(key_of(patch, p, k));
    }
  }
  return gathered;
}

// A face that lands flat on four corners is held by two opposite ones as well as by all four: which of them
// the solver gives the impulse is arbitrary, and a face that strikes with two of its corners sets other modes
// ringing than one that strikes with all. New points that met the surface together with a struck one share
// the impulse: of all impulses with the same force and moment those with the least sum of squares,
//
//     x' = N^T (N N^T)^-1 N x,      N = [1 ... 1; r_1 ... r_n],
//
// unless one of them would have to pull.
void Responder::share_impulses(const StepView& view, std::size_t begin, std::size_t end, double max_gap,
                               ResonatorContacts& gathered)
{
  const auto point_of = [&](std::size_t i) -> const model::ContactPoint& {
    return view.state.patches[gathered.keys[i].patch].points[gathered.keys[i].point];
  };
  double depth = -std::numeric_limits<double>::infinity();
  for (std::size_t i = begin; i < end; ++i) {
    if (gathered.contacts[i].struck) depth = std::max(depth, point_of(i).depth);
  }
  std::vector<std::size_t> met;
  for (std::size_t i = begin; i < end; ++i) {
    const model::ContactPoint& point = point_of(i);
    const bool is_silent = !(point.normal_impulse > 0) && point.is_new && point.normal_speed < 0 &&
                           point.depth > depth - max_gap;
    if (gathered.contacts[i].struck || is_silent) met.push_back(i);
  }
  const bool is_shared =
      std::all_of(met.begin(), met.end(), [&](std::size_t i) { return gathered.contacts[i].struck; });
  if (is_shared || met.empty()) return;
  const auto n = static_cast<Eigen::Index>(met.size());
  Vec3 centre = Vec3::Zero();
  for (const std::size_t i : met) centre += gathered.contacts[i].position / static_cast<double>(n);
  Eigen::Matrix<double, 4, Eigen::Dynamic> N(4, n);
  VecX x(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const vibration::SurfaceContact& contact = gathered.contacts[met[at(k)]];
    N.col(k) << 1, (contact.position - centre) / view.model.length_scale;
    x[k] = contact.struck ? contact.impulse : 0;
  }
  const VecX shared = N.completeOrthogonalDecomposition().solve(N * x);
  if (!(shared.minCoeff() > 0)) return;
  for (Eigen::Index k = 0; k < n; ++k) {
    vibration::SurfaceContact& contact = gathered.contacts[met[at(k)]];
    contact.struck = true;
    contact.load = 0;
    contact.impulse = shared[k];
  }
}

// A struck contact acts where the other body met the surface, between the beginning of the slice and its end,
// and on that body as it was then. With its place of the beginning and the body of the end a ball that also
// moves along the surface is struck beside its centre, by up to the way of a slice: a ball of 30 mm at 2 m/s
// struck with 0.35 to 5 times its energy in steps of 1/30 s, and lost its spin.
void Responder::place_at_impact(const StepView& view, std::size_t i, ResonatorContacts& gathered)
{
  const ContactKey& key = gathered.keys[i];
  const Vec3& found = view.state.patches[key.patch].points[key.point].position;
  const model::BodyState& own = view.bodies_before[at(gathered.bodies[0])];
  const model::BodyState& other = view.bodies_before[at(gathered.body_of(i))];
  const Vec3 velocity = other.velocity - own.velocity - own.angular_velocity.cross(found - own.X_wb.position);
  vibration::SurfaceContact& contact = gathered.contacts[i];
  const Pose& X_wm = gathered.X_wm_before;
  contact.position =
      X_wm.point_to_local(found) + time_to_surface(contact, gathered.parts, view.h) *
                                       across(contact.normal, X_wm.direction_to_local(velocity));
  gathered.set_arm(X_wm.direction_to_local(found - other.X_wb.position), contact);
}

// The impacts of one slice on one body, with what they lost in it.
void Responder::record_impacts(const StepView& view, const Resonator& resonator)
{
  ResonatorContacts gathered = gather_contacts(view, resonator, {});
  const auto is_new_here = [&](std::size_t i) {
    const ContactKey& key = gathered.keys[i];
    return is_struck(view, view.state.patches[key.patch].points[key.point]);
  };
  // The feet of a body that is struck get new points as it yields, which carry some of the impact: what does
  // not approach is a reaction. A plate on four feet threw a box by up to 1.9 times its height where one of
  // them was taken for a striker.
  const bool can_move = view.model.bodies[at(gathered.bodies[0])].motion == model::Motion::dynamic;
  const double min_speed = can_move ? resonator.response->desc().settings.min_speed : 0;
  std::map<std::int32_t, double> fastest;  // by body [m/s]
  for (std::size_t i = 0; i < gathered.contacts.size(); ++i) {
    double& speed = fastest[gathered.contacts[i].body];
    if (is_new_here(i)) speed = std::max(speed, gathered.contacts[i].approach_speed);
  }
  for (std::size_t i = 0; i < gathered.contacts.size(); ++i) {
    if (!is_new_here(i) || fastest[gathered.contacts[i].body] < min_speed) continue;
    gathered.contacts[i].struck = true;
    gathered.contacts[i].load = 0;
  }
  const double max_gap = resonator.response->desc().settings.max_gap;
  for (std::size_t begin = 0; begin < gathered.contacts.size();) {
    std::size_t end = begin + 1;
    while (end < gathered.keys.size() && gathered.keys[end].patch == gathered.keys[begin].patch) ++end;
    share_impulses(view, begin, end, max_gap, gathered);
    begin = end;
  }
  std::vector<std::size_t> struck;
  for (std::size_t i = 0; i < gathered.contacts.size(); ++i) {
    if (!gathered.contacts[i].struck) continue;
    struck.push_back(i);
    place_at_impact(view, i, gathered);
  }
  vibration::merge_struck_contacts(
      gathered.parts, vibration::kMergeRatio * resonator.response->desc().settings.contact_radius,
      gathered.contacts);
  vibration::compute_impact_losses(gathered.parts, view.h, gathered.contacts);
  for (const std::size_t i : struck) {
    StepRecord::Impact& impact = record_->impacts.emplace_back();
    impact.merged = !gathered.contacts[i].struck;
    impact.arm = vibration::arm_of_other(gathered.parts[at(gathered.contacts[i].body)], gathered.contacts[i]);
    impact.resonator = gathered.bodies[0];
    impact.other = gathered.body_of(i);
    impact.contact = gathered.contacts[i];
    if (vibration::strikes_with_one_contact(gathered.contacts, gathered.contacts[i].body))
      impact.contact.approach_speed = speed_at_surface(gathered.contacts[i], gathered.parts);
    impact.key = gathered.keys[i];
    impact.key.patch = ContactKey::kGone;
  }
}

// The impacts of all slices among the contacts of the end of the step. One that has ended since then, as of
// a ball that has bounced off, is a contact more, unless it is too weak to count: then it is nothing.
void Responder::add_recorded_impacts(const StepView& view, const Resonator& resonator,
                                     ResonatorContacts& gathered) const
{
  const vibration::ResponseSettings& settings = resonator.response->desc().settings;
  for (const StepRecord::Impact& impact : record_->impacts) {
    if (impact.resonator != gathered.bodies[0] || impact.merged) continue;
    const auto is_same = [&](std::size_t i) {
      return !gathered.contacts[i].struck && gathered.body_of(i) == impact.other &&
             gathered.keys[i].same_features(impact.key);
    };
    std::size_t i = 0;
    while (i < gathered.contacts.size() && !is_same(i)) ++i;
    if (i == gathered.contacts.size()) {
      if (impact.contact.impulse < settings.min_impulse || impact.contact.approach_speed < settings.min_speed)
        continue;
      (void)gathered.add_contact(impact, part_of(view, impact.other, gathered));
      continue;
    }
    vibration::SurfaceContact& contact = gathered.contacts[i];
    contact.struck = true;
    contact.load = 0;
    contact.position = impact.contact.position;
    contact.normal = impact.contact.normal;
    gathered.set_arm(impact.arm, contact);
    contact.impulse = impact.contact.impulse;
    contact.approach_speed = impact.contact.approach_speed;
    contact.loss = impact.contact.loss;
  }
  // A ball that passes from one triangle to the next may be stopped by both, slice after slice.
  vibration::merge_struck_contacts(gathered.parts, vibration::kMergeRatio * settings.contact_radius,
                                   gathered.contacts);
  add_reactions(view, settings.min_speed, gathered);
}

// A resting body is thrown together with what stands on it: an impulse for the crate alone would be shared
// with the bottles in it in the next solve, and a crate of 2 kg with 3 kg of bottles would rise by a sixth of
// what the floor throws it. A body that rings passes the impact on to what stands on it by its own modes, and
// rules that ask the solver for speeds lift what stands on a body anyway.
void Responder::ResonatorContacts::combine_stacks(
    const StepView& view, const vibration::BodyResponseDesc& desc,
    const std::function<bool(const model::ContactPoint&)>& is_struck,
    const std::function<bool(model::BodyIndex)>& rings)
{
  using vibration::KickRule;
  const KickRule rule = desc.settings.rule;
  if (desc.method != vibration::ResponseMethod::modal || rule == KickRule::peak_velocity ||
      rule == KickRule::peak_displacement)
    return;
  std::set<std::int32_t> striking;
  for (const vibration::SurfaceContact& contact : contacts)
    if (contact.struck) striking.insert(contact.body);
  if (striking.empty()) return;
  const SupportGraph graph(
      view, [&](const model::ContactPoint& point) { return point.normal_impulse > 0 && !is_struck(point); });
  const auto touches = [&](model::BodyIndex body) {
    return numbers.contains(body);
  };
  const Mat3 R = X_wm.rotation.conjugate().toRotationMatrix();
  for (std::size_t b = 1; b < parts.size(); ++b) {
    const auto number = static_cast<std::int32_t>(b);
    if (striking.contains(number) || parts[b].inverse_mass == 0 || rings(bodies[b])) continue;
    std::vector<model::BodyIndex> members = graph.carried_by(bodies[b], touches);
    if (members.empty()) continue;
    members.insert(members.begin(), bodies[b]);
    const BodyStack& stack = stacks.emplace(number, BodyStack(view, std::move(members))).first->second;
    parts[b].inverse_mass = 1 / stack.mass;
    parts[b].inverse_inertia = R * stack.inertia.inverse() * R.transpose();
    parts[b].centre = X_wm.point_to_local(stack.centre);
    parts[b].velocity = R * stack.velocity;
    parts[b].angular_velocity = R * stack.angular_velocity;
  }
}

// What it did, for the recording.
void Responder::emit_events(const StepView& view, StepActions& actions, model::BodyId resonator,
                            const ResonatorContacts& resonator_contacts,
                            const vibration::ResponseResult& result)
{
  const auto emit = [&](model::ResponseKind kind, std::size_t contact, double speed, double energy) {
    actions.emit({.kind = kind,
                  .a = resonator,
                  .b = view.id_of(resonator_contacts.body_of(contact)),
                  .position = resonator_contacts.keys[contact].position,
                  .normal = resonator_contacts.X_wm.direction(resonator_contacts.contacts[contact].normal),
                  .speed = speed,
                  .energy = energy});
  };
  const auto count = std::count_if(resonator_contacts.contacts.begin(), resonator_contacts.contacts.end(),
                                   [](const auto& t) { return t.struck; });
  for (std::size_t i = 0; i < resonator_contacts.contacts.size(); ++i) {
    if (resonator_contacts.contacts[i].struck)
      emit(model::ResponseKind::struck, i, resonator_contacts.contacts[i].approach_speed,
           result.energy.received / static_cast<double>(count));
  }
  for (const vibration::Kick& kick : result.kicks)
    emit(model::ResponseKind::kicked, kick.contact, kick.speed, kick.energy);
}

// Impulses at once, speeds in the next solve, late ones when they arrive.
void Responder::apply_result(const StepView& view, StepActions& actions, const Resonator& resonator,
                             const ResonatorContacts& resonator_contacts,
                             const vibration::ResponseResult& result, bool limited,
                             std::vector<TransmittedImpact>& transmitted)
{
  const Pose& X_wm = resonator_contacts.X_wm;
  for (const vibration::BodyImpulse& push : result.body_impulses) {
    const auto stack = resonator_contacts.stacks.find(push.body);
    if (stack != resonator_contacts.stacks.end()) {
      stack->second.apply_impulse(view, actions, X_wm.direction(push.impulse),
                                  X_wm.direction(push.angular_impulse));
      continue;
    }
    (void)actions.apply_impulse(resonator_contacts.bodies[at(push.body)], X_wm.direction(push.impulse),
                                X_wm.direction(push.angular_impulse));
  }
  for (const vibration::Kick& kick : result.kicks) {
    const std::size_t p = resonator_contacts.keys[kick.contact].patch;
    const std::size_t k = resonator_contacts.keys[kick.contact].point;
    if (p == ContactKey::kGone) continue;  // only what is in contact with it now can be kicked
    const model::BodyIndex index = resonator_contacts.body_of(kick.contact);
    const model::BodyId id = view.id_of(index);
    if (view.model.bodies[at(index)].motion != model::Motion::dynamic) continue;
    if (result.body_impulses.empty()) {
      actions.wake(index);
      const Pose& X_wb = view.state.bodies[at(index)].X_wb;
      const Vec3 arm = view.state.patches[p].points[k].position - X_wb.position;
      const Vec3 tangential_impulse = X_wm.direction(kick.tangential_impulse);
      if (kick.delay > resonator_contacts.step) {
        const Vec3 normal = X_wm.direction(resonator_contacts.contacts[kick.contact].normal);
        actions.add_pending_kick({id, view.time + kick.delay, kick.impulse * normal + tangential_impulse,
                                  X_wb.direction_to_local(arm), limited ? kick.energy : -1});
        report_.deferred += kick.energy;
      } else {
        actions.request_separation_speed(p, k, kick.speed);
        double energy = kick.energy;
        if (!kick.tangential_impulse.isZero(0))
          energy -= actions.apply_impulse(index, tangential_impulse, arm.cross(tangential_impulse));
        report_.deferred += energy;
        if (limited) actions.allow_energy(p, k, std::max(energy, std::numeric_limits<double>::min()));
      }
    }
    if (rings(id) && kick.delay <= resonator_contacts.step)
      transmitted.push_back({index, resonator.body, p, k, kick.impulse, kick.speed, kick.energy});
  }
}

}  // namespace thrum::sim
