// SPDX-License-Identifier: MIT
// Impacts with restitution in the impulse stepper: its points as impact_events.h wants them, and back.
#include "thrum/base/index.h"
#include "thrum/rigid/impulse_stepper.h"

namespace thrum::rigid {

namespace {

class PairSource final : public ImpactSource {
 public:
  PairSource(std::span<const ImpulsePatch> patches, std::span<const ImpulsePair> pairs,
             const StepFrame& frame)
      : patches_(patches), model_(frame.model), state_(frame.state)
  {
    bodies_.resize(patches.size());
    for (const ImpulsePair& pair : pairs)
      for (std::size_t p = pair.begin; p < pair.end; ++p) bodies_[p] = {pair.a, pair.b};
  }
  [[nodiscard]] std::size_t count() const override { return patches_.size(); }
  [[nodiscard]] std::array<std::int32_t, 2> bodies_of(std::size_t patch) const override
  {
    return bodies_[patch];
  }
  [[nodiscard]] ImpactPatch patch(std::size_t index) const override
  {
    const ImpulsePatch& from = patches_[index];
    ImpactPatch result;
    result.a = bodies_[index][0];
    result.b = bodies_[index][1];
    result.n = from.n;
    result.restitution = from.restitution;
    result.friction = from.friction.sliding;
    result.count = from.count;
    for (std::size_t i = 0; i < from.active().size(); ++i) {
      result.points[i].ra = from.points[i].ra;
      result.points[i].rb = from.points[i].rb;
      result.points[i].gap = from.points[i].gap;
      result.points[i].pressed = from.points[i].weight > 0;
    }
    set_balls(model_, state_, result);
    return result;
  }

 private:
  std::span<const ImpulsePatch> patches_;
  const model::SceneModel& model_;
  const model::SceneState& state_;
  std::vector<std::array<std::int32_t, 2>> bodies_;
};

}  // namespace

// Not with the points of the paper, which has no times of impact, nor where impacts come after the velocities
// are advanced: then they cannot be distinguished from contact.
void ImpulseStepper::reflect_impacts(StepFrame& frame)
{
  impacts_.clear();
  if (!impacts_.enabled() || !settings_.separate_collisions || settings_.collision_iterations == 0) return;
  if (settings_.contact_points == ContactPoints::paper) return;
  const double h = frame.h;
  const ImpactValues values{h, h, length_scale_, frame.model.gravity.norm()};
  std::vector<std::size_t> candidates;
  for (const ImpulsePair& pair : pairs_) {
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      const ImpulsePatch& patch = patches_[p];
      if (!(patch.restitution > 0)) continue;
      const double acceleration = std::abs(patch.n.dot(bodies_[pair.a].acceleration)) +
                                  std::abs(patch.n.dot(bodies_[pair.b].acceleration));
      for (const ImpulsePoint& point : patch.active()) {
        if (point.weight > 0 && !(point.gap > 0)) continue;
        if (!ImpactEvents::may_collide(point.gap, point.speed, acceleration, values)) continue;
        candidates.push_back(p);
        break;
      }
    }
  }
  if (candidates.empty()) return;
  const PairSource source(patches_, pairs_, frame);
  impacts_.begin_step(source, bodies_.all().size());
  joints_.build(frame.model, frame.state, ConstraintSettings{}, bodies_, h);
  if (!impacts_.run(source, bodies_, joints_.rows(), candidates, values)) return;
  impacts_.start_from_shifts(bodies_);
  for (const ImpactEvents::ChangedPatch& changed : impacts_.changed()) {
    ImpulsePatch& patch = patches_[changed.index];
    patch.friction_total += changed.patch.friction_impulse;
    // Both bodies feel later impulses at one point.
    const SolverBody& A = bodies_[changed.patch.a];
    const SolverBody& B = bodies_[changed.patch.b];
    const bool both = A.inverse_mass > 0 && B.inverse_mass > 0;
    const Vec3 half_slide = both ? Vec3(0.5 * (B.dx - A.dx)) : Vec3(Vec3::Zero());
    for (std::size_t i = 0; i < patch.active().size(); ++i) {
      ImpulsePoint& point = patch.points[i];
      point.impulse += changed.patch.points[i].impulse;
      point.gap = changed.gap[i];
      point.ra += half_slide;
      point.rb -= half_slide;
      point.ra_n = point.ra.cross(patch.n);
      point.rb_n = point.rb.cross(patch.n);
      point.bounced = point.bounced || changed.patch.points[i].collided;
    }
  }
}

}  // namespace thrum::rigid
