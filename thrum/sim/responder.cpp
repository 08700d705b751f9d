// SPDX-License-Identifier: MIT
#include "thrum/sim/responder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "thrum/base/error.h"
#include "thrum/base/timing.h"
#include "thrum/collision/prepared_shape.h"

namespace thrum::sim {

namespace {

/// A modal model and the shape of its body may differ so much in size and place, as a share of the shape's diagonal: tetrahedra
/// chamfer edges, and thin walls come out thinner.
constexpr double kSameMesh = 0.1;
/// A resting contact is pressed suddenly when it was approaching faster than gravity makes it in so many steps.
constexpr double kGravitySteps = 2;

model::Surface surface_of(const model::SceneModel& model, model::BodyId a, model::BodyId b)
{
  const model::SurfaceId sa = model.bodies[static_cast<std::size_t>(a)].surface;
  const model::SurfaceId sb = model.bodies[static_cast<std::size_t>(b)].surface;
  for (const model::SurfacePair& pair : model.surface_pairs) {
    if ((pair.a == sa && pair.b == sb) || (pair.a == sb && pair.b == sa)) return pair.values;
  }
  return model::smaller_of(model.surfaces[static_cast<std::size_t>(sa)],
                           model.surfaces[static_cast<std::size_t>(sb)]);
}

void push_body(const model::BodyDesc& desc, model::BodyState& body, const Vec3& impulse,
               const Vec3& angular_impulse)
{
  if (desc.motion != model::Motion::dynamic) return;
  const Mat3 R = body.X_wb.rotation.toRotationMatrix();
  body.velocity += impulse / desc.mass;
  body.angular_velocity += R * desc.inertia.inverse() * R.transpose() * angular_impulse;
  body.asleep = false;
  body.still_time = 0;
}

// The solver's impulses over a step hold the weight of that step too. Taken back, they may leave a striking body no faster than
// it came.
void limit_impulses(std::span<const vibration::RigidPart> parts, std::vector<vibration::Touch>& touches)
{
  std::map<std::int32_t, double> shares;
  for (const vibration::Touch& touch : touches) {
    if (!touch.struck) continue;
    double gained = 0;
    for (const vibration::Touch& other : touches) {
      if (other.struck) gained += vibration::rigid_answer(parts, touch, other) * other.impulse;
    }
    const double change = touch.approach_speed + vibration::rigid_speed({parts, {}, 0}, touch);
    double& share = shares.try_emplace(touch.body, 1.0).first->second;
    if (gained > 0) share = std::min(share, std::max(0.0, change) / gained);
  }
  for (vibration::Touch& touch : touches) {
    if (touch.struck) touch.impulse *= shares[touch.body];
  }
}

}  // namespace

struct Responder::Ringer {
  model::BodyId body = model::kNone;
  std::unique_ptr<vibration::BodyResponse> response;
  std::unique_ptr<vibration::BodyResponse>
      passing;  ///< answers blows that were passed on, by the impulse alone
};

/// A blow that a kick gives to the body above it.
struct Responder::Blow {
  model::BodyId ringer = model::kNone;
  model::BodyId other = model::kNone;
  std::size_t patch = 0;
  std::size_t point = 0;
  double impulse = 0;  ///< [N s]
  double speed = 0;    ///< [m/s]
  double energy = 0;   ///< [J]
};

void Responder::add_body(World& world, model::BodyId id, std::shared_ptr<const model::ModalModel> model,
                         const vibration::BodyResponseDesc& desc)
{
  const model::BodyDesc& body = world.model().bodies.at(static_cast<std::size_t>(id));
  if (rings(id)) throw Error(fmt::format("The body '{}' has a response already.", body.name));
  const collision::PreparedShape& shape = world.shapes()[static_cast<std::size_t>(body.shape)];
  if (!shape.unbounded) {
    const Box3 box = collision::world_bounds(shape, Pose{}, 0);
    Box3 modal;
    for (const Vec3& v : model->surface.vertices) modal.extend(v);
    const double off = std::max((modal.min() - box.min()).norm(), (modal.max() - box.max()).norm());
    if (!(off <= kSameMesh * box.diagonal().norm())) {
      throw Error(fmt::format(
          "The modal model '{}' reaches from ({:.3g}) to ({:.3g}) m, but the body '{}' from ({:.3g}) to "
          "({:.3g}) m: it is the model of another mesh, or in other axes.",
          model->name, fmt::join(modal.min(), ", "), fmt::join(modal.max(), ", "), body.name,
          fmt::join(box.min(), ", "), fmt::join(box.max(), ", ")));
    }
  }
  vibration::BodyResponseDesc passing = desc;
  if (passing.settings.rule != vibration::KickRule::peak_displacement)
    passing.settings.rule = vibration::KickRule::peak_velocity;
  ringers_.push_back(
      std::make_shared<Ringer>(Ringer{id, std::make_unique<vibration::BodyResponse>(model, desc),
                                      std::make_unique<vibration::BodyResponse>(model, passing)}));
  std::sort(ringers_.begin(), ringers_.end(), [](const auto& a, const auto& b) { return a->body < b->body; });
}

void Responder::set_modulus(model::BodyId id, double modulus)
{
  const auto i = static_cast<std::size_t>(id);
  if (moduli_.size() <= i) moduli_.resize(i + 1, 0.0);
  moduli_[i] = modulus;
}

bool Responder::rings(model::BodyId id) const
{
  return std::any_of(ringers_.begin(), ringers_.end(), [&](const auto& r) { return r->body == id; });
}

const vibration::BodyResponse* Responder::response_of(model::BodyId id) const
{
  for (const auto& ringer : ringers_) {
    if (ringer->body == id) return ringer->response.get();
  }
  return nullptr;
}

void Responder::attach(World& world)
{
  world.on_respond([this](World& w, model::SceneState& state, double h) { respond(w, state, h); });
}

// New contacts strike. With force_jumps so does a resting one that was pressed faster than gravity does it.
bool Responder::is_struck(const model::SceneModel& model, const model::SceneState&,
                          const model::ContactPatch&, const model::ContactPoint& point, double h) const
{
  if (!(point.normal_impulse > 0) || !(point.normal_speed < 0)) return false;
  return point.is_new ||
         (desc_.force_jumps && -point.normal_speed > kGravitySteps * h * model.gravity.norm());
}

void Responder::apply_pending(const model::SceneModel& model, model::SceneState& state, double h)
{
  const double until = state.time + h;
  std::erase_if(state.pending_kicks, [&](const model::PendingKick& kick) {
    if (kick.time > until) return false;
    model::BodyState& body = state.bodies[static_cast<std::size_t>(kick.body)];
    push_body(model.bodies[static_cast<std::size_t>(kick.body)], body, kick.impulse,
              body.X_wb.direction(kick.arm_b).cross(kick.impulse));
    return true;
  });
}

void Responder::respond(World& world, model::SceneState& state, double h)
{
  const base::Stopwatch watch;
  report_ = {};
  const model::SceneModel& model = world.model();
  if (!state.pending_kicks.empty()) apply_pending(model, state, h);
  // Who is struck, and who still rings.
  std::vector<char> struck(ringers_.size(), 0);
  for (const model::ContactPatch& patch : state.patches) {
    for (const model::ContactPoint& point : patch.active()) {
      if (!is_struck(model, state, patch, point, h)) continue;
      for (std::size_t r = 0; r < ringers_.size(); ++r) {
        if (ringers_[r]->body == patch.a || ringers_[r]->body == patch.b) struck[r] = 1;
      }
    }
  }
  std::vector<Blow> blows;
  for (std::size_t r = 0; r < ringers_.size(); ++r) {
    const bool silent = std::none_of(state.rings.begin(), state.rings.end(),
                                     [&](const model::RingState& s) { return s.body == ringers_[r]->body; });
    if (struck[r] != 0 || !silent) answer(world, state, h, *ringers_[r], {}, blows);
  }
  // Blows passed on through bodies that ring themselves.
  for (int hop = 0; hop < desc_.most_hops && !blows.empty(); ++hop) {
    std::vector<Blow> next;
    for (const auto& ringer : ringers_) {
      std::vector<Blow> mine;
      std::copy_if(blows.begin(), blows.end(), std::back_inserter(mine),
                   [&](const Blow& blow) { return blow.ringer == ringer->body; });
      if (mine.empty()) continue;
      ++report_.hops;
      answer(world, state, h, *ringer, mine, next);
    }
    blows.swap(next);
  }
  report_.seconds = watch.seconds();
}

// One body's response. With `blows` empty the impacts are those of the step; otherwise they are the blows.
void Responder::answer(World& world, model::SceneState& state, double h, Ringer& ringer,
                       const std::vector<Blow>& blows, std::vector<Blow>& passed_on)
{
  const model::SceneModel& model = world.model();
  const auto self = static_cast<std::size_t>(ringer.body);
  const Pose X_wm = state.bodies[self].X_wb * model.bodies[self].X_bs;

  // Everything in the axes of the modal model.
  std::vector<vibration::RigidPart> parts;
  std::vector<model::BodyId> ids;
  std::map<model::BodyId, std::int32_t> numbers;
  const auto part_of = [&](model::BodyId id) {
    const auto [it, fresh] = numbers.try_emplace(id, static_cast<std::int32_t>(parts.size()));
    if (!fresh) return it->second;
    const model::BodyDesc& desc = model.bodies[static_cast<std::size_t>(id)];
    const model::BodyState& body = state.bodies[static_cast<std::size_t>(id)];
    vibration::RigidPart part;
    part.centre = X_wm.point_to_local(body.X_wb.position);
    part.velocity = X_wm.direction_to_local(body.velocity);
    part.angular_velocity = X_wm.direction_to_local(body.angular_velocity);
    if (desc.motion == model::Motion::dynamic) {
      const Mat3 R = (X_wm.rotation.conjugate() * body.X_wb.rotation).toRotationMatrix();
      part.inverse_mass = 1 / desc.mass;
      part.inverse_inertia = R * desc.inertia.inverse() * R.transpose();
      part.acceleration = X_wm.direction_to_local(desc.gravity_scale * model.gravity);
    }
    if (static_cast<std::size_t>(id) < moduli_.size()) part.modulus = moduli_[static_cast<std::size_t>(id)];
    parts.push_back(part);
    ids.push_back(id);
    return it->second;
  };
  (void)part_of(ringer.body);
  std::vector<vibration::Touch> touches;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t p = 0; p < state.patches.size(); ++p) {
    const model::ContactPatch& patch = state.patches[p];
    if (patch.a != ringer.body && patch.b != ringer.body) continue;
    const bool first = patch.a == ringer.body;
    const model::Surface surface = surface_of(model, patch.a, patch.b);
    for (std::size_t k = 0; k < patch.count; ++k) {
      const model::ContactPoint& point = patch.points[k];
      vibration::Touch touch;
      touch.key = (static_cast<std::uint64_t>(p) << 8) + k;
      touch.body = part_of(first ? patch.b : patch.a);
      touch.position = X_wm.point_to_local(point.position);
      touch.normal = X_wm.direction_to_local(first ? patch.normal : Vec3(-patch.normal));
      touch.gap = std::max(0.0, -point.depth);
      touch.restitution = surface.restitution;
      touch.friction = surface.friction;
      touch.load = point.normal_impulse / h;
      const auto blow = std::find_if(blows.begin(), blows.end(),
                                     [&](const Blow& b) { return b.patch == p && b.point == k; });
      if (blow != blows.end()) {
        touch.struck = true;
        touch.impulse = blow->impulse;
        touch.approach_speed = blow->speed;
        touch.loss = blow->energy;
      } else if (blows.empty() && is_struck(model, state, patch, point, h)) {
        touch.struck = true;
        touch.load = 0;
        touch.impulse = point.normal_impulse;
        touch.approach_speed = -point.normal_speed;
        // An impulse works with the mean of the speeds before and after, less what gravity took of the latter within the step;
        // it cannot take more than the pair had.
        const double after = vibration::rigid_speed({parts, {}, h}, touch) + h * model.gravity.norm();
        const double answer = vibration::rigid_answer(parts, touch, touch);
        touch.loss = std::clamp(-touch.impulse * (point.normal_speed + after) / 2, 0.0,
                                answer > 0 ? point.normal_speed * point.normal_speed / (2 * answer) : 0.0);
      }
      touches.push_back(touch);
      places.emplace_back(p, k);
    }
  }

  if (blows.empty()) limit_impulses(parts, touches);

  // The ringing so far.
  auto ring = std::find_if(state.rings.begin(), state.rings.end(),
                           [&](const model::RingState& s) { return s.body == ringer.body; });
  vibration::ModeState modes = ringer.response->at_rest();
  if (ring != state.rings.end()) {
    modes.q = Eigen::Map<const VecX>(ring->q.data(), static_cast<Eigen::Index>(ring->q.size()));
    modes.v = Eigen::Map<const VecX>(ring->v.data(), static_cast<Eigen::Index>(ring->v.size()));
  }
  vibration::BodyResponse& response = blows.empty() ? *ringer.response : *ringer.passing;
  const vibration::ResponseResult result = response.respond({parts, touches, h}, modes);
  const bool rings = modes.q.squaredNorm() + modes.v.squaredNorm() > 0;
  if (!rings && ring != state.rings.end()) state.rings.erase(ring);
  if (rings) {
    if (ring == state.rings.end()) ring = state.rings.insert(ring, model::RingState{ringer.body, {}, {}});
    ring->q.assign(modes.q.begin(), modes.q.end());
    ring->v.assign(modes.v.begin(), modes.v.end());
  }
  report_.impacts += result.impacts;
  report_.kicks += static_cast<int>(result.kicks.size());
  report_.lost += result.energy.lost;
  report_.received += result.energy.received;
  report_.given += result.energy.given;
  report_.rings += result.energy.rings;
  report_.warnings.insert(report_.warnings.end(), result.warnings.begin(), result.warnings.end());
  if (result.impacts == 0) return;

  // What it did, for the recording.
  const auto tell = [&](model::ResponseKind kind, std::size_t touch, double speed, double energy) {
    const auto& [p, k] = places[touch];
    world.report_response({.kind = kind,
                           .a = ringer.body,
                           .b = ids[static_cast<std::size_t>(touches[touch].body)],
                           .position = state.patches[p].points[k].position,
                           .normal = X_wm.direction(touches[touch].normal),
                           .speed = speed,
                           .energy = energy});
  };
  const auto count = std::count_if(touches.begin(), touches.end(), [](const auto& t) { return t.struck; });
  for (std::size_t i = 0; i < touches.size(); ++i) {
    if (touches[i].struck)
      tell(model::ResponseKind::struck, i, touches[i].approach_speed,
           result.energy.received / static_cast<double>(count));
  }
  for (const vibration::Kick& kick : result.kicks)
    tell(model::ResponseKind::kicked, kick.touch, kick.speed, kick.energy);

  // Pushes at once, speeds in the next solve, late ones when they arrive.
  for (const vibration::Push& push : result.pushes) {
    const auto b = static_cast<std::size_t>(ids[static_cast<std::size_t>(push.body)]);
    push_body(model.bodies[b], state.bodies[b], X_wm.direction(push.impulse),
              X_wm.direction(push.angular_impulse));
  }
  for (const vibration::Kick& kick : result.kicks) {
    const auto& [p, k] = places[kick.touch];
    const model::BodyId id = ids[static_cast<std::size_t>(touches[kick.touch].body)];
    const auto b = static_cast<std::size_t>(id);
    model::BodyState& body = state.bodies[b];
    const Vec3 normal = X_wm.direction(touches[kick.touch].normal);
    if (result.pushes.empty() && model.bodies[b].motion == model::Motion::dynamic) {
      body.asleep = false;
      body.still_time = 0;
      const Vec3 arm = state.patches[p].points[k].position - body.X_wb.position;
      if (kick.delay > h) {
        state.pending_kicks.push_back({id, state.time + kick.delay,
                                       kick.impulse * normal + X_wm.direction(kick.slide),
                                       body.X_wb.direction_to_local(arm)});
      } else {
        model::ContactPoint& point = state.patches[p].points[k];
        point.wanted_speed = std::max(point.wanted_speed, kick.speed);
        if (!kick.slide.isZero(0)) {
          const Vec3 slide = X_wm.direction(kick.slide);
          push_body(model.bodies[b], body, slide, arm.cross(slide));
        }
      }
    }
    if (model.bodies[b].motion == model::Motion::dynamic && this->rings(id) && kick.delay <= h)
      passed_on.push_back({id, ringer.body, p, k, kick.impulse, kick.speed, kick.energy});
  }
}

}  // namespace thrum::sim
