// SPDX-License-Identifier: MIT
// Impacts with restitution in the constraint stepper: its rows as impact_events.h wants them, and back.
#include "thrum/base/index.h"
#include "thrum/rigid/constraint_stepper.h"
#include "thrum/rigid/contact_place.h"

namespace thrum::rigid {

namespace {

class RowSource final : public ImpactSource {
 public:
  RowSource(const ContactRows& rows, SolverBodies& bodies, const StepFrame& frame)
      : rows_(rows), bodies_(bodies), model_(frame.model), state_(frame.state)
  {
  }
  [[nodiscard]] std::size_t count() const override { return rows_.patches().size(); }
  [[nodiscard]] std::array<std::int32_t, 2> bodies_of(std::size_t patch) const override
  {
    return {rows_.patches()[patch].a, rows_.patches()[patch].b};
  }
  // Points have moved with the bodies since contacts were found: see move_arms in contact_rows.cpp.
  [[nodiscard]] ImpactPatch patch(std::size_t index) const override
  {
    const SolverPatch& p = rows_.patches()[index];
    const PatchRecord& record = rows_.records()[index];
    const model::ContactPatch& contact = state_.patches[at(p.source)];
    const SolverBody& A = bodies_[p.a];
    const SolverBody& B = bodies_[p.b];
    const bool both = A.inverse_mass > 0 && B.inverse_mass > 0;
    const Vec3 half_slide = both ? Vec3(0.5 * (B.dx - A.dx)) : Vec3(Vec3::Zero());
    ImpactPatch result;
    result.a = p.a;
    result.b = p.b;
    result.n = record.n;
    result.restitution = record.restitution;
    result.friction = static_cast<double>(p.mu);
    result.count = p.count;
    for (int i = 0; i < p.count; ++i) {
      const model::ContactPoint& from = contact.points[at(i)];
      ImpactPatch::Point& point = result.points[at(i)];
      const Vec3 place = acting_place(from.position, from.depth, record.n, A, B);
      point.ra = place - (state_.bodies[at(p.a)].X_wb.position - A.dx) + half_slide;
      point.rb = place - (state_.bodies[at(p.b)].X_wb.position - B.dx) - half_slide;
      point.gap = -from.depth + record.n.dot(B.dx - A.dx) + point.rb.cross(record.n).dot(B.dth) -
                  point.ra.cross(record.n).dot(A.dth);
      point.pressed = from.warm_impulse > 0;
    }
    set_balls(model_, state_, result);
    return result;
  }

 private:
  const ContactRows& rows_;
  SolverBodies& bodies_;
  const model::SceneModel& model_;
  const model::SceneState& state_;
};

}  // namespace

// Points that were not pressed or have a gap: see impact_events.h.
void ConstraintStepper::find_bouncing_patches(StepFrame& frame)
{
  bouncing_.clear();
  impacts_.clear();
  if (!impacts_.enabled()) return;
  const std::span<const SolverPatch> patches = contacts_.patches();
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const PatchRecord& record = contacts_.records()[i];
    if (!(record.restitution > 0)) continue;
    for (int k = 0; k < patches[i].count; ++k) {
      const model::ContactPoint& point = frame.state.patches[at(patches[i].source)].points[at(k)];
      if (point.warm_impulse > 0 && !(point.depth < 0)) continue;
      bouncing_.push_back(i);
      break;
    }
  }
  if (!bouncing_.empty()) impacts_.begin_step(RowSource(contacts_, bodies_, frame), bodies_.all().size());
}

void ConstraintStepper::collide_within_substep(StepFrame& frame, double h)
{
  impacts_.clear();
  if (bouncing_.empty()) return;
  const ImpactValues values{h, frame.h, frame.model.length_scale, frame.model.gravity.norm()};
  candidates_.clear();
  for (const std::size_t i : bouncing_) {
    const SolverPatch& p = contacts_.patches()[i];
    const SolverBody& A = bodies_[p.a];
    const SolverBody& B = bodies_[p.b];
    const Lanes gap = p.gap + along_rows(p, B.dx - A.dx, A.dth, B.dth).head<4>();
    const Lanes speed = along_rows(p, B.v - A.v, A.w, B.w).head<4>();
    const Vec3& n = contacts_.records()[i].n;
    const double acceleration = std::abs(n.dot(A.acceleration)) + std::abs(n.dot(B.acceleration));
    for (int k = 0; k < p.count; ++k) {
      if (!ImpactEvents::may_collide(static_cast<double>(gap[k]), static_cast<double>(speed[k]), acceleration,
                                     values))
        continue;
      candidates_.push_back(i);
      break;
    }
  }
  if (candidates_.empty()) return;
  joints_.build(frame.model, frame.state, settings_, bodies_, h);
  if (!impacts_.run(RowSource(contacts_, bodies_, frame), bodies_, joints_.rows(), candidates_, values))
    return;
  for (const ImpactEvents::ChangedPatch& changed : impacts_.changed())
    saved_gaps_.emplace_back(changed.index, contacts_.patches()[changed.index].gap);
  impacts_.start_from_shifts(bodies_);
  contacts_.apply_impacts(impacts_.changed(), bodies_);
}

void ConstraintStepper::restore_gaps()
{
  for (const auto& [patch, gap] : saved_gaps_) contacts_.patches()[patch].gap = gap;
  saved_gaps_.clear();
}

}  // namespace thrum::rigid
