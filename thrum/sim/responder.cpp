// SPDX-License-Identifier: MIT
#include "thrum/sim/responder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/timing.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/sim/impact_losses.h"
#include "thrum/sim/responder_internal.h"
#include "thrum/vibration/energy_budget.h"
#include "thrum/vibration/mode_motion.h"
#include "thrum/vibration/response_limit.h"

namespace thrum::sim {

namespace {

/// A modal model and the shape of its body may differ so much in size and place, as a share of the shape's
/// diagonal: tetrahedra chamfer edges, and thin walls come out thinner.
constexpr double kMaxBoundsMismatch = 0.1;
/// A resting contact is pressed suddenly when it was approaching faster than gravity makes it in so many
/// steps.
constexpr double kForceJumpGravitySteps = 2;
/// A body no longer stands as its modes were computed when it is lifted by this share of its size, or turned
/// by this [rad].
constexpr double kMaxLift = 0.05;
constexpr double kMaxTilt = 0.35;

// The modes of a body that is held are those of where it stood. A sentence when it has left that place;
// sliding about does not count.
std::string pose_change_warning(const StepView& view, model::BodyIndex body, const model::ModalModel& modes,
                                const Pose& start)
{
  const double g = view.model.gravity.norm();
  if (modes.supports.empty() || !(g > 0)) return {};
  const Pose& now = view.state.bodies[at(body)].X_wb;
  const double lifted = std::abs((now.position - start.position).dot(view.model.gravity)) / g;
  const double turned = now.rotation.angularDistance(start.rotation);
  const double size = mesh::bounding_box(modes.surface).diagonal().norm();
  if (lifted <= kMaxLift * size && turned <= kMaxTilt) return {};
  return fmt::format(
      "'{}' is {:.2g} m higher or lower and turned by {:.0f} degrees since its modes were computed, and "
      "rings as if it were "
      "still held where it stood.",
      view.model.bodies[at(body)].name, lifted, turned * 180 / std::numbers::pi);
}

// A state may come from a file. A body that rings has an amplitude and a speed for each of its modes.
void check_amplitudes(const model::SceneState& state, model::BodyId body, const model::ModalModel& modes)
{
  const auto count = at(modes.frequencies.size());
  for (const model::ModalState& ring : state.modal_states) {
    if (ring.body != body || (ring.q.size() == count && ring.v.size() == count)) continue;
    throw Error(
        fmt::format("The state cannot be restored: body {} rings with {} amplitudes and {} speeds, but '{}' "
                    "has {} modes. "
                    "It is of a scene with other modes; run the scene again without --resume.",
                    to_string(body), ring.q.size(), ring.v.size(), modes.name, count));
  }
}

void remove_kinetic_energy(const StepView& view, StepActions& actions,
                           const std::set<model::BodyIndex>& bodies, double energy)
{
  if (!(energy > 0)) return;
  const auto moves = [&](model::BodyIndex body) {
    return view.model.bodies[at(body)].motion == model::Motion::dynamic;
  };
  double sum = 0;
  for (const model::BodyIndex body : bodies) {
    const std::size_t b = at(body);
    if (moves(body)) sum += model::kinetic_energy(view.model.bodies[b], view.state.bodies[b]);
  }
  if (!(sum > 0)) return;
  const double left = std::sqrt(std::max(0.0, 1 - energy / sum));
  for (const model::BodyIndex body : bodies) {
    if (moves(body)) actions.scale_velocity(body, left);
  }
}

}  // namespace

Responder::Responder(const ResponderDesc& desc) : desc_(desc), record_(std::make_shared<StepRecord>()) {}

void Responder::check_model(const collision::PreparedShape& shape, const model::ModalModel& model,
                            const std::string& body)
{
  if (shape.unbounded) return;
  const Box3 box = collision::world_bounds(shape, Pose{}, 0);
  Box3 modal;
  for (const Vec3& v : model.surface.vertices) modal.extend(v);
  const double off = std::max((modal.min() - box.min()).norm(), (modal.max() - box.max()).norm());
  if (off <= kMaxBoundsMismatch * box.diagonal().norm()) return;
  throw Error(fmt::format(
      "The modal model '{}' reaches from ({:.3g}) to ({:.3g}) m, but the body '{}' from ({:.3g}) to "
      "({:.3g}) m: it is the model of another mesh, or in other axes.",
      model.name, fmt::join(modal.min(), ", "), fmt::join(modal.max(), ", "), body,
      fmt::join(box.min(), ", "), fmt::join(box.max(), ", ")));
}

void Responder::add_body(const World& world, model::BodyId id, std::shared_ptr<const model::ModalModel> model,
                         const vibration::BodyResponseDesc& desc)
{
  const model::BodyProperties& body = world.model().bodies.at(at(world.index_of(id)));
  if (model == nullptr) throw Error(fmt::format("The body '{}' was given no modal model.", body.name));
  if (rings(id)) throw Error(fmt::format("The body '{}' has a response already.", body.name));
  check_model(world.shapes()[at(body.shape)], *model, body.name);
  check_amplitudes(world.state(), id, *model);
  // Micro-collisions need a rigid striker, which a body that passes an impact on is not: it trades momentum
  // instead.
  using vibration::KickRule;
  vibration::BodyResponseDesc transmitted_response = desc;
  if (desc.settings.rule == KickRule::automatic || desc.settings.rule == KickRule::micro_collisions)
    transmitted_response.settings.rule = KickRule::exchange;
  elastic::ModeList modes = elastic::mode_list(*model);
  auto own = std::make_unique<vibration::BodyResponse>(model, desc);
  auto transmitted = std::make_unique<vibration::BodyResponse>(std::move(model), transmitted_response);
  resonators_.push_back(std::make_shared<Resonator>(
      Resonator{id, std::move(own), std::move(transmitted), std::move(modes), world.body(id).X_wb}));
  std::sort(resonators_.begin(), resonators_.end(),
            [&](const auto& a, const auto& b) { return world.index_of(a->body) < world.index_of(b->body); });
}

void Responder::body_removed(model::BodyId id)
{
  std::erase_if(resonators_, [&](const auto& resonator) { return resonator->body == id; });
  moduli_.erase(id);
}

void Responder::check_state(const model::SceneState& state) const
{
  for (const auto& resonator : resonators_)
    check_amplitudes(state, resonator->body, resonator->response->model());
}

void Responder::set_modulus(model::BodyId id, double modulus)
{
  moduli_[id] = modulus;
}

double Responder::modulus_of(model::BodyId id) const
{
  const auto modulus = moduli_.find(id);
  return modulus != moduli_.end() ? modulus->second : 0;
}

bool Responder::rings(model::BodyId id) const
{
  return std::any_of(resonators_.begin(), resonators_.end(), [&](const auto& r) { return r->body == id; });
}

const vibration::BodyResponse* Responder::response_of(model::BodyId id) const
{
  for (const auto& resonator : resonators_) {
    if (resonator->body == id) return resonator->response.get();
  }
  return nullptr;
}

const model::ModalModel* Responder::model_of(model::BodyId id) const
{
  const auto resonator =
      std::find_if(resonators_.begin(), resonators_.end(), [&](const auto& r) { return r->body == id; });
  return resonator != resonators_.end() ? &(*resonator)->response->model() : nullptr;
}

std::vector<std::string> Responder::warnings() const
{
  std::vector<std::string> sentences;
  for (const auto& resonator : resonators_) {
    for (const std::string& sentence : {resonator->contact_warning, resonator->moved_warning}) {
      if (!sentence.empty()) sentences.push_back(sentence);
    }
  }
  if (unsolved_ > 0) {
    sentences.push_back(
        fmt::format("{} times the impulses of simultaneous contacts of the distant response were not found "
                    "to their tolerance; "
                    "the best that was found is used. Very different masses in one stack can be the reason.",
                    unsolved_));
  }
  if (over_budget_ > 0) {
    sentences.push_back(fmt::format(
        "{} responses took longer than response.time_budget, up to {:.2g} ms by estimate: no saving that "
        "keeps their kicks right was enough. Fewer modes, a shorter response.window or response.rule "
        "exchange, which is less accurate, take less time.",
        over_budget_, 1e3 * longest_over_budget_));
  }
  return sentences;
}

// New contacts strike. With detect_force_jumps so does a resting one that was pressed faster than gravity
// does it.
bool Responder::is_struck(const StepView& view, const model::ContactPoint& point) const
{
  if (!(point.normal_impulse > 0) || !(point.normal_speed < 0)) return false;
  return point.is_new ||
         (desc_.detect_force_jumps &&
          -point.normal_speed > kForceJumpGravitySteps * record_->h * view.model.gravity.norm());
}

// Kicks that arrive now. Since they were sent the body may have begun to move; it gets no more energy than
// was meant for it.
void Responder::apply_pending_kicks(const StepView& view, StepActions& actions)
{
  for (const model::PendingKick& kick : actions.take_pending_kicks(view.time + view.h)) {
    const model::BodyIndex index = view.index_of(kick.body);
    const model::BodyProperties& desc = view.model.bodies[at(index)];
    const model::BodyState& body = view.state.bodies[at(index)];
    const Vec3 turn = body.X_wb.direction(kick.arm_b).cross(kick.impulse);
    double share = 1;
    if (kick.energy >= 0) {
      const Vec3 turn_b = body.X_wb.direction_to_local(turn);
      share = vibration::max_scale_within_budget(
          kick.impulse.dot(body.velocity) + turn.dot(body.angular_velocity),
          kick.impulse.squaredNorm() / desc.mass + turn_b.dot(desc.inertia.inverse() * turn_b), kick.energy);
    }
    (void)actions.apply_impulse(index, share * kick.impulse, share * turn);
  }
  for (const model::PendingKick& kick : view.state.pending_kicks)
    report_.deferred += std::max(0.0, kick.energy);
}

double Responder::vibration_energy(const model::ModalState& ring) const
{
  const auto resonator = std::find_if(resonators_.begin(), resonators_.end(),
                                      [&](const auto& r) { return r->body == ring.body; });
  if (resonator == resonators_.end()) return 0;
  double sum = 0;
  for (std::size_t m = 0; m < ring.q.size(); ++m) {
    const double w = (*resonator)->modes.omegas[static_cast<Eigen::Index>(m)];
    sum += (ring.v[m] * ring.v[m] + w * w * ring.q[m] * ring.q[m]) / 2;
  }
  return sum;
}

// Takes energy from the vibration of the bodies for which `is_payer` is true, of each the same share. Returns
// what is still missing [J].
template <class IsPayer>
double Responder::drain_vibration(const StepView& view, StepActions& actions, double energy,
                                  const IsPayer& is_payer) const
{
  double sum = 0;
  for (const model::ModalState& ring : view.state.modal_states)
    sum += is_payer(ring.body) ? vibration_energy(ring) : 0;
  if (!(sum > 0)) return energy;
  const double left = std::sqrt(std::max(0.0, 1 - energy / sum));
  for (const model::ModalState& ring : view.state.modal_states) {
    if (is_payer(ring.body)) actions.scale_modal_state(ring.body, left);
  }
  return std::max(0.0, energy - sum);
}

// The account of the rigid step. What all bodies lost is what a response may use. Speeds that the last
// response had requested were deducted in advance, by their estimated energy; when the solver spent more
// on them, since friction held back or something was leant against the body, the vibration loses the
// difference, and the kicked bodies what it cannot.
void Responder::update_energy_budget(const StepView& view, StepActions& actions)
{
  const std::set<model::BodyIndex>& kicked = record_->kicked;
  budget_ = 0;
  if (record_->impacts.empty() && kicked.empty()) return;
  budget_ = record_->lost + record_->prepaid;
  if (budget_ >= 0) return;
  double deficit = -std::exchange(budget_, 0.0);
  if (kicked.empty()) return;
  // Motors of joints bring in energy too, which no kick has to give back.
  if (!view.model.joints.empty()) {
    double gained = -record_->prepaid;
    for (const model::BodyIndex body : kicked) gained -= body_energy_loss(view, body);
    deficit = std::clamp(gained, 0.0, deficit);
  }
  remove_kinetic_energy(view, actions, kicked,
                        drain_vibration(view, actions, deficit, [](model::BodyId) { return true; }));
}

void Responder::before_step(const StepView& view)
{
  *record_ = {};
  record_->h = view.h;
  if (resonators_.empty() || !(view.state.last_step > 0)) return;
  for (const model::ContactPatch& patch : view.state.patches) {
    for (const model::ContactPoint& point : patch.active())
      record_->loads.push_back(
          {patch.a, patch.b, point.position, point.normal_impulse / view.state.last_step});
  }
}

// The force of a contact before the step: that of the point that was nearest, where there was one.
double Responder::load_before(const StepView& view, const model::ContactPatch& patch,
                              const Vec3& position) const
{
  double load = 0;
  double nearest = kSamePointDistance * view.model.length_scale;
  for (const StepRecord::Load& old : record_->loads) {
    if (old.a != patch.a || old.b != patch.b) continue;
    const double distance = (old.position - position).norm();
    if (!(distance < nearest)) continue;
    nearest = distance;
    load = old.force;
  }
  return load;
}

// Gathers; nothing is answered before the step is complete.
void Responder::after_slice(const StepView& view, StepActions& actions)
{
  const base::Stopwatch watch;
  for (std::size_t p = 0; p < view.state.patches.size(); ++p) {
    const model::ContactPatch& patch = view.state.patches[p];
    for (std::size_t k = 0; k < patch.points.size(); ++k) {
      if (patch.points[k].allowed_energy == 0) continue;
      record_->prepaid += actions.take_allowed_energy(p, k);
      record_->kicked.insert({patch.a, patch.b});
    }
  }
  record_->lost += step_energy_loss(view);
  record_->last_slice = view.h;
  std::set<model::BodyIndex> struck;
  for (const model::ContactPatch& patch : view.state.patches) {
    const auto points = patch.active();
    if (std::any_of(points.begin(), points.end(), [&](const auto& point) { return is_struck(view, point); }))
      struck.insert({patch.a, patch.b});
  }
  if (!struck.empty() || !record_->impacts.empty()) {
    record_->slice_starts.clear();
    for (const model::BodyState& body : view.bodies_before) record_->slice_starts.push_back(body.X_wb);
  }
  for (const auto& resonator : resonators_) {
    const model::BodyIndex body = view.index_of(resonator->body);
    if (struck.count(body) > 0) record_impacts(view, *resonator);
    record_reactions(view, *resonator);
  }
  record_->seconds += watch.seconds();
}

void Responder::after_step(const StepView& view, StepActions& actions)
{
  const base::Stopwatch watch;
  report_ = {};
  // Who is struck, and who still rings.
  std::vector<model::BodyIndex> bodies;
  for (const auto& resonator : resonators_) bodies.push_back(view.index_of(resonator->body));
  std::vector<char> struck(resonators_.size(), 0);
  for (const StepRecord::Impact& impact : record_->impacts) {
    for (std::size_t r = 0; r < bodies.size(); ++r) {
      if (bodies[r] == impact.resonator) struck[r] = 1;
    }
  }
  update_energy_budget(view, actions);
  if (!view.state.pending_kicks.empty()) apply_pending_kicks(view, actions);
  std::vector<TransmittedImpact> transmitted_impacts;
  for (std::size_t r = 0; r < resonators_.size(); ++r) {
    const bool silent =
        std::none_of(view.state.modal_states.begin(), view.state.modal_states.end(),
                     [&](const model::ModalState& s) { return s.body == resonators_[r]->body; });
    if (struck[r] != 0 || !silent) respond_body(view, actions, *resonators_[r], {}, transmitted_impacts);
  }
  // Impacts passed on through bodies that ring themselves.
  for (int hop = 0; hop < desc_.max_hops && !transmitted_impacts.empty(); ++hop) {
    std::vector<TransmittedImpact> next;
    for (std::size_t r = 0; r < resonators_.size(); ++r) {
      std::vector<TransmittedImpact> mine;
      std::copy_if(transmitted_impacts.begin(), transmitted_impacts.end(), std::back_inserter(mine),
                   [&](const TransmittedImpact& impact) { return impact.resonator == bodies[r]; });
      if (mine.empty()) continue;
      ++report_.hops;
      respond_body(view, actions, *resonators_[r], mine, next);
    }
    transmitted_impacts.swap(next);
  }
  for (const model::ModalState& ring : view.state.modal_states)
    report_.vibration_energy += vibration_energy(ring);
  report_.seconds = record_->seconds + watch.seconds();
}

// One body's response. With `transmitted_impacts` empty the impacts are those of the step; otherwise these,
// and their energy is deducted from the bodies whose vibration they came from.
void Responder::respond_body(const StepView& view, StepActions& actions, Resonator& resonator,
                             const std::vector<TransmittedImpact>& transmitted_impacts,
                             std::vector<TransmittedImpact>& transmitted)
{
  ResonatorContacts resonator_contacts = gather_contacts(view, resonator, transmitted_impacts);
  if (transmitted_impacts.empty()) add_recorded_impacts(view, resonator, resonator_contacts);
  const auto& modal_states = view.state.modal_states;
  const auto ring = std::find_if(modal_states.begin(), modal_states.end(),
                                 [&](const model::ModalState& s) { return s.body == resonator.body; });
  vibration::ModeState modes = resonator.response->at_rest();
  if (ring != modal_states.end()) {
    modes.q = Eigen::Map<const VecX>(ring->q.data(), static_cast<Eigen::Index>(ring->q.size()));
    modes.v = Eigen::Map<const VecX>(ring->v.data(), static_cast<Eigen::Index>(ring->v.size()));
  }
  vibration::BodyResponse& response =
      transmitted_impacts.empty() ? *resonator.response : *resonator.transmitted_response;
  resonator_contacts.combine_stacks(
      view, response.desc(), [&](const model::ContactPoint& point) { return is_struck(view, point); },
      [&](model::BodyIndex body) { return rings(view.id_of(body)); });
  vibration::ModeState state_without_impact = modes;
  vibration::ResponseResult result = response.respond(resonator_contacts.input(), modes);
  const bool limited = response.desc().settings.limit_energy;
  if (result.impacts > 0 && limited) {
    // An impact that was passed on comes within the same step: the body has swung through it already.
    if (transmitted_impacts.empty()) vibration::advance(resonator.modes, view.h, state_without_impact);
    const auto is_payer = [&](model::BodyId id) {
      return std::any_of(transmitted_impacts.begin(), transmitted_impacts.end(),
                         [&](const TransmittedImpact& impact) { return impact.from == id; });
    };
    double available_energy = std::max(0.0, budget_);
    for (const model::ModalState& r : modal_states)
      available_energy += is_payer(r.body) ? vibration_energy(r) : 0;
    double used = vibration::limit_response(resonator_contacts.input(), resonator.modes, state_without_impact,
                                            available_energy, result, modes);
    if (!transmitted_impacts.empty() && used > 0) used = drain_vibration(view, actions, used, is_payer);
    budget_ -= used;
  }
  actions.set_modal_state(resonator.body, std::span(modes.q.data(), at(modes.q.size())),
                          std::span(modes.v.data(), at(modes.v.size())));
  report_.impacts += result.impacts;
  report_.kicks += static_cast<int>(result.kicks.size());
  report_.unsolved += result.unsolved;
  unsolved_ += static_cast<std::uint64_t>(result.unsolved);
  if (result.over_budget > 0) {
    ++report_.over_budget;
    ++over_budget_;
    longest_over_budget_ = std::max(longest_over_budget_, result.over_budget);
  }
  report_.lost += result.energy.lost;
  report_.received += result.energy.received;
  report_.given += result.energy.given;
  report_.warnings.insert(report_.warnings.end(), result.warnings.begin(), result.warnings.end());
  if (resonator.contact_warning.empty() && !result.warnings.empty())
    resonator.contact_warning = result.warnings.front();
  if (resonator.moved_warning.empty())
    resonator.moved_warning = pose_change_warning(view, view.index_of(resonator.body),
                                                  resonator.response->model(), resonator.start);
  if (result.impacts == 0) return;
  emit_events(view, actions, resonator.body, resonator_contacts, result);
  apply_result(view, actions, resonator, resonator_contacts, result, limited, transmitted);
}

}  // namespace thrum::sim
