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
#include "thrum/vibration/response_limit.h"

namespace thrum::sim {

namespace {

/// A modal model and the shape of its body may differ so much in size and place, as a share of the shape's diagonal: tetrahedra
/// chamfer edges, and thin walls come out thinner.
constexpr double kMaxBoundsMismatch = 0.1;
/// A resting contact is pressed suddenly when it was approaching faster than gravity makes it in so many steps.
constexpr double kForceJumpGravitySteps = 2;
/// A body no longer stands as its modes were computed when it is lifted by this share of its size, or turned by this [rad].
constexpr double kMaxLift = 0.05;
constexpr double kMaxTilt = 0.35;

// The modes of a body that is held are those of where it stood. A sentence when it has left that place; sliding about does not count.
std::string pose_change_warning(const World& world, model::BodyId id, const model::ModalModel& modes,
                                const Pose& start)
{
  const double g = world.model().gravity.norm();
  if (modes.supports.empty() || !(g > 0)) return {};
  const Pose& now = world.body(id).X_wb;
  const double lifted = std::abs((now.position - start.position).dot(world.model().gravity)) / g;
  const double turned = now.rotation.angularDistance(start.rotation);
  const double size = mesh::bounding_box(modes.surface).diagonal().norm();
  if (lifted <= kMaxLift * size && turned <= kMaxTilt) return {};
  return fmt::format(
      "'{}' is {:.2g} m higher or lower and turned by {:.0f} degrees since its modes were computed, and "
      "rings as if it were "
      "still held where it stood.",
      world.desc_of(id).name, lifted, turned * 180 / std::numbers::pi);
}

}  // namespace

void Responder::add_body(World& world, model::BodyId id, std::shared_ptr<const model::ModalModel> model,
                         const vibration::BodyResponseDesc& desc)
{
  const model::BodyDesc& body = world.desc_of(id);
  if (rings(id)) throw Error(fmt::format("The body '{}' has a response already.", body.name));
  const collision::PreparedShape& shape = world.shapes()[static_cast<std::size_t>(body.shape)];
  if (!shape.unbounded) {
    const Box3 box = collision::world_bounds(shape, Pose{}, 0);
    Box3 modal;
    for (const Vec3& v : model->surface.vertices) modal.extend(v);
    const double off = std::max((modal.min() - box.min()).norm(), (modal.max() - box.max()).norm());
    if (!(off <= kMaxBoundsMismatch * box.diagonal().norm())) {
      throw Error(fmt::format(
          "The modal model '{}' reaches from ({:.3g}) to ({:.3g}) m, but the body '{}' from ({:.3g}) to "
          "({:.3g}) m: it is the model of another mesh, or in other axes.",
          model->name, fmt::join(modal.min(), ", "), fmt::join(modal.max(), ", "), body.name,
          fmt::join(box.min(), ", "), fmt::join(box.max(), ", ")));
    }
  }
  // Micro-collisions need a rigid striker, which a body that passes a blow on is not: it trades momentum instead.
  using vibration::KickRule;
  vibration::BodyResponseDesc transmitted_response = desc;
  if (desc.settings.rule == KickRule::automatic || desc.settings.rule == KickRule::micro_collisions)
    transmitted_response.settings.rule = KickRule::exchange;
  elastic::ModeList modes = elastic::mode_list(*model);
  auto own = std::make_unique<vibration::BodyResponse>(model, desc);
  auto transmitted = std::make_unique<vibration::BodyResponse>(std::move(model), transmitted_response);
  resonators_.push_back(
      std::make_shared<Resonator>(Resonator{id, world.index_of(id), std::move(own), std::move(transmitted),
                                            std::move(modes), world.body(id).X_wb}));
  std::sort(resonators_.begin(), resonators_.end(),
            [](const auto& a, const auto& b) { return a->body < b->body; });
}

void Responder::set_modulus(model::BodyId id, double modulus)
{
  moduli_[id] = modulus;
}

bool Responder::rings(model::BodyId id) const
{
  return std::any_of(resonators_.begin(), resonators_.end(), [&](const auto& r) { return r->id == id; });
}

const vibration::BodyResponse* Responder::response_of(model::BodyId id) const
{
  for (const auto& resonator : resonators_) {
    if (resonator->id == id) return resonator->response.get();
  }
  return nullptr;
}

const model::ModalModel* Responder::model_of(model::BodyId id) const
{
  const auto resonator =
      std::find_if(resonators_.begin(), resonators_.end(), [&](const auto& r) { return r->id == id; });
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
  return sentences;
}

void Responder::attach(World& world)
{
  world.on_respond([this](World& w, model::SceneState& state, double h) { respond(w, state, h); });
}

// New contacts strike. With detect_force_jumps so does a resting one that was pressed faster than gravity does it.
bool Responder::is_struck(const model::SceneModel& model, const model::ContactPoint& point, double h) const
{
  if (!(point.normal_impulse > 0) || !(point.normal_speed < 0)) return false;
  return point.is_new || (desc_.detect_force_jumps &&
                          -point.normal_speed > kForceJumpGravitySteps * h * model.gravity.norm());
}

// Kicks that arrive now. Since they were sent the body may have begun to move; it gets no more energy than was meant for it.
void Responder::apply_pending_kicks(const World& world, model::SceneState& state, double h)
{
  const model::SceneModel& model = world.model();
  const double until = state.time + h;
  std::erase_if(state.pending_kicks, [&](const model::PendingKick& kick) {
    if (kick.time > until) return false;
    const model::BodyIndex index = world.index_of(kick.body);
    const model::BodyDesc& desc = at(model.bodies, index);
    model::BodyState& body = at(state.bodies, index);
    const Vec3 turn = body.X_wb.direction(kick.arm_b).cross(kick.impulse);
    double share = 1;
    if (kick.energy >= 0) {
      const Vec3 turn_b = body.X_wb.direction_to_local(turn);
      share = vibration::max_scale_within_budget(
          kick.impulse.dot(body.velocity) + turn.dot(body.angular_velocity),
          kick.impulse.squaredNorm() / desc.mass + turn_b.dot(desc.inertia.inverse() * turn_b), kick.energy);
    }
    apply_body_impulse(desc, body, share * kick.impulse, share * turn);
    return true;
  });
  for (const model::PendingKick& kick : state.pending_kicks) report_.deferred += std::max(0.0, kick.energy);
}

double Responder::vibration_energy(const model::ModalState& ring) const
{
  const auto resonator =
      std::find_if(resonators_.begin(), resonators_.end(), [&](const auto& r) { return r->id == ring.body; });
  if (resonator == resonators_.end()) return 0;
  double sum = 0;
  for (std::size_t m = 0; m < ring.q.size(); ++m) {
    const double w = (*resonator)->modes.omegas[static_cast<Eigen::Index>(m)];
    sum += (ring.v[m] * ring.v[m] + w * w * ring.q[m] * ring.q[m]) / 2;
  }
  return sum;
}

// Takes energy from the vibration of the bodies for which `pays` is true, of each the same share. Returns what is still owed [J].
template <class IsPayer>
double Responder::drain_vibration(model::SceneState& state, double energy, const IsPayer& is_payer) const
{
  double sum = 0;
  for (const model::ModalState& ring : state.modal_states)
    sum += is_payer(ring.body) ? vibration_energy(ring) : 0;
  if (!(sum > 0)) return energy;
  const double left = std::sqrt(std::max(0.0, 1 - energy / sum));
  for (model::ModalState& ring : state.modal_states) {
    if (!is_payer(ring.body)) continue;
    for (double& q : ring.q) q *= left;
    for (double& v : ring.v) v *= left;
  }
  return std::max(0.0, energy - sum);
}

// The account of the rigid step. What all bodies lost is what a response may use. Speeds that the last response had asked for were
// paid in advance, by their estimated energy; when the solver had to spend more on them, since friction held back or something was
// leant against the body, the vibration pays the difference, and the kicked bodies what it cannot.
void Responder::update_energy_budget(World& world, model::SceneState& state, double h, bool struck)
{
  double prepaid_energy = 0;
  std::set<model::BodyIndex> kicked;
  for (model::ContactPatch& patch : state.patches) {
    for (model::ContactPoint& point : patch.points) {
      if (point.allowed_energy == 0) continue;
      prepaid_energy += point.allowed_energy;
      point.allowed_energy = 0;
      kicked.insert({patch.a, patch.b});
    }
  }
  budget_ = 0;
  if (!struck && kicked.empty()) return;
  budget_ = step_energy_loss(world, h) + prepaid_energy;
  if (budget_ >= 0) return;
  double deficit = -std::exchange(budget_, 0.0);
  if (kicked.empty()) return;
  // Motors of joints bring in energy too; that is nobody's debt.
  if (!world.model().joints.empty()) {
    double gained = -prepaid_energy;
    for (const model::BodyIndex id : kicked) gained -= body_energy_loss(world, id, h);
    deficit = std::clamp(gained, 0.0, deficit);
  }
  remove_kinetic_energy(world.model(), state, kicked,
                        drain_vibration(state, deficit, [](model::BodyId) { return true; }));
}

void Responder::remove_kinetic_energy(const model::SceneModel& model, model::SceneState& state,
                                      const std::set<model::BodyIndex>& bodies, double energy)
{
  if (!(energy > 0)) return;
  const auto moves = [&](model::BodyIndex id) {
    return model.bodies[static_cast<std::size_t>(id)].motion == model::Motion::dynamic;
  };
  double sum = 0;
  for (const model::BodyIndex id : bodies) {
    const auto b = static_cast<std::size_t>(id);
    if (moves(id)) sum += model::kinetic_energy(model.bodies[b], state.bodies[b]);
  }
  if (!(sum > 0)) return;
  const double left = std::sqrt(std::max(0.0, 1 - energy / sum));
  for (const model::BodyIndex id : bodies) {
    if (!moves(id)) continue;
    state.bodies[static_cast<std::size_t>(id)].velocity *= left;
    state.bodies[static_cast<std::size_t>(id)].angular_velocity *= left;
  }
}

void Responder::respond(World& world, model::SceneState& state, double h)
{
  const base::Stopwatch watch;
  report_ = {};
  const model::SceneModel& model = world.model();
  std::erase_if(resonators_, [&](const auto& r) { return !world.contains(r->id); });
  for (const auto& resonator : resonators_) resonator->body = world.index_of(resonator->id);
  // Who is struck, and who still rings.
  std::vector<char> struck(resonators_.size(), 0);
  for (const model::ContactPatch& patch : state.patches) {
    for (const model::ContactPoint& point : patch.active()) {
      if (!is_struck(model, point, h)) continue;
      for (std::size_t r = 0; r < resonators_.size(); ++r) {
        if (resonators_[r]->body == patch.a || resonators_[r]->body == patch.b) struck[r] = 1;
      }
    }
  }
  update_energy_budget(world, state, h, std::find(struck.begin(), struck.end(), 1) != struck.end());
  if (!state.pending_kicks.empty()) apply_pending_kicks(world, state, h);
  std::vector<TransmittedImpact> transmitted_impacts;
  for (std::size_t r = 0; r < resonators_.size(); ++r) {
    const bool silent =
        std::none_of(state.modal_states.begin(), state.modal_states.end(),
                     [&](const model::ModalState& s) { return s.body == resonators_[r]->id; });
    if (struck[r] != 0 || !silent) respond_body(world, state, h, *resonators_[r], {}, transmitted_impacts);
  }
  // Blows passed on through bodies that ring themselves.
  for (int hop = 0; hop < desc_.max_hops && !transmitted_impacts.empty(); ++hop) {
    std::vector<TransmittedImpact> next;
    for (const auto& resonator : resonators_) {
      std::vector<TransmittedImpact> mine;
      std::copy_if(transmitted_impacts.begin(), transmitted_impacts.end(), std::back_inserter(mine),
                   [&](const TransmittedImpact& impact) { return impact.resonator == resonator->body; });
      if (mine.empty()) continue;
      ++report_.hops;
      respond_body(world, state, h, *resonator, mine, next);
    }
    transmitted_impacts.swap(next);
  }
  for (const model::ModalState& ring : state.modal_states) report_.vibration_energy += vibration_energy(ring);
  report_.seconds = watch.seconds();
}

// One body's response. With `blows` empty the impacts are those of the step; otherwise they are the blows, and the bodies whose
// vibration they came from pay for what becomes of them.
void Responder::respond_body(World& world, model::SceneState& state, double h, Resonator& resonator,
                             const std::vector<TransmittedImpact>& transmitted_impacts,
                             std::vector<TransmittedImpact>& transmitted)
{
  const ResonatorContacts resonator_contacts =
      gather_contacts(world, state, h, resonator, transmitted_impacts);
  auto ring = std::find_if(state.modal_states.begin(), state.modal_states.end(),
                           [&](const model::ModalState& s) { return s.body == resonator.id; });
  vibration::ModeState modes = resonator.response->at_rest();
  if (ring != state.modal_states.end()) {
    modes.q = Eigen::Map<const VecX>(ring->q.data(), static_cast<Eigen::Index>(ring->q.size()));
    modes.v = Eigen::Map<const VecX>(ring->v.data(), static_cast<Eigen::Index>(ring->v.size()));
  }
  vibration::BodyResponse& response =
      transmitted_impacts.empty() ? *resonator.response : *resonator.transmitted_response;
  vibration::ModeState state_without_impact = modes;
  vibration::ResponseResult result = response.respond(resonator_contacts.input(), modes);
  const bool limited = response.desc().settings.limit_energy;
  if (result.impacts > 0 && limited) {
    // A blow that was passed on comes within the same step: the body has swung through it already.
    if (transmitted_impacts.empty()) vibration::advance(resonator.modes, h, state_without_impact);
    const auto is_payer = [&](model::BodyId id) {
      return std::any_of(transmitted_impacts.begin(), transmitted_impacts.end(),
                         [&](const TransmittedImpact& impact) {
                           return state.body_ids[static_cast<std::size_t>(impact.from)] == id;
                         });
    };
    double available_energy = std::max(0.0, budget_);
    for (const model::ModalState& r : state.modal_states)
      available_energy += is_payer(r.body) ? vibration_energy(r) : 0;
    double used = vibration::limit_response(resonator_contacts.input(), resonator.modes, state_without_impact,
                                            available_energy, result, modes);
    if (!transmitted_impacts.empty() && used > 0) used = drain_vibration(state, used, is_payer);
    budget_ -= used;
  }
  const bool rings = modes.q.squaredNorm() + modes.v.squaredNorm() > 0;
  if (!rings && ring != state.modal_states.end()) state.modal_states.erase(ring);
  if (rings) {
    if (ring == state.modal_states.end())
      ring = state.modal_states.insert(ring, model::ModalState{resonator.id, {}, {}});
    ring->q.assign(modes.q.begin(), modes.q.end());
    ring->v.assign(modes.v.begin(), modes.v.end());
  }
  report_.impacts += result.impacts;
  report_.kicks += static_cast<int>(result.kicks.size());
  report_.lost += result.energy.lost;
  report_.received += result.energy.received;
  report_.given += result.energy.given;
  report_.warnings.insert(report_.warnings.end(), result.warnings.begin(), result.warnings.end());
  if (resonator.contact_warning.empty() && !result.warnings.empty())
    resonator.contact_warning = result.warnings.front();
  if (resonator.moved_warning.empty())
    resonator.moved_warning =
        pose_change_warning(world, resonator.id, resonator.response->model(), resonator.start);
  if (result.impacts == 0) return;
  report_response_events(world, resonator.body, resonator_contacts, result);
  apply_result(world.model(), state, resonator.body, resonator_contacts, result, limited, transmitted);
}

}  // namespace thrum::sim
