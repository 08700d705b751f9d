// SPDX-License-Identifier: MIT
#include "thrum/sim/excitation_recorder.h"

#include <algorithm>
#include <map>

#include "thrum/base/hash.h"
#include "thrum/base/index.h"
#include "thrum/flexible/flexible_report.h"

namespace thrum::sim {

namespace {

// What a unit impulse along n at the point adds to the speed of the body there [1/kg].
double inverse_mass_at(const StepView& view, model::BodyIndex body, const Vec3& position, const Vec3& n)
{
  const model::BodyProperties& desc = view.model.bodies[at(body)];
  if (desc.motion != model::Motion::dynamic || !(desc.mass > 0)) return 0;
  const Pose& X_wb = view.bodies_before[at(body)].X_wb;
  const Vec3 turn_b = X_wb.direction_to_local((position - X_wb.position).cross(n));
  return 1 / desc.mass + turn_b.dot(desc.inertia.inverse() * turn_b);
}

// Time from the beginning of the slice at which surfaces that approach at this speed meet: a gap is crossed
// within the slice, overlap began before it [s].
double impact_delay(double depth, double approach, double h)
{
  if (!(approach > 0)) return 0;
  return std::clamp(-depth / approach, -h, h);
}

std::uint64_t key_of(const model::ContactPatch& patch, const model::ContactPoint& point)
{
  return base::Hasher()
      .add(patch.part_a)
      .add(patch.part_b)
      .add(point.feature_a)
      .add(point.feature_b)
      .finish()
      .low;
}

}  // namespace

sound::ExcitationStep excitation_of(const StepView& view, const ExcitationRecorder::NumberOf& number_of)
{
  sound::ExcitationStep step;
  step.time = view.time;
  step.duration = view.h;
  std::map<model::BodyIndex, std::uint32_t> numbers;
  const auto number = [&](model::BodyIndex body) {
    const auto [it, fresh] = numbers.try_emplace(body, 0);
    if (fresh) it->second = static_cast<std::uint32_t>(number_of(view.id_of(body)));
    return it->second;
  };
  for (std::size_t p = 0; p < view.state.patches.size(); ++p) {
    const model::ContactPatch& patch = view.state.patches[p];
    double pressure = 0;
    for (const model::ContactPoint& point : patch.active()) pressure += point.normal_impulse;
    if (!(pressure > 0)) continue;
    for (const model::ContactPoint& point : patch.active()) {
      if (!(point.normal_impulse > 0)) continue;
      sound::ContactSample& contact = step.contacts.emplace_back();
      contact.a = number(patch.a);
      contact.b = number(patch.b);
      contact.key = key_of(patch, point);
      contact.position = point.position;
      contact.normal = patch.normal;
      contact.normal_impulse = point.normal_impulse;
      contact.friction_impulse = (point.normal_impulse / pressure) * patch.friction_impulse;
      const Vec3 relative = model::velocity_at(view.state.bodies[at(patch.b)], point.position) -
                            model::velocity_at(view.state.bodies[at(patch.a)], point.position);
      contact.slip = relative - patch.normal * patch.normal.dot(relative);
      contact.approach_speed = std::max(0.0, -point.normal_speed);
      contact.impact_delay = impact_delay(point.depth, contact.approach_speed, view.h);
      contact.inverse_mass = inverse_mass_at(view, patch.a, point.position, patch.normal) +
                             inverse_mass_at(view, patch.b, point.position, patch.normal);
      contact.friction = p < view.surfaces.size() ? view.surfaces[p].friction : 0;
      contact.is_new = point.is_new;
      contact.bounced = point.bounced;
    }
  }
  for (const auto& [body, n] : numbers) {
    const Pose X_ws = view.bodies_before[at(body)].X_wb * view.model.bodies[at(body)].X_bs;
    step.poses.push_back({n, X_ws});
  }
  std::sort(step.poses.begin(), step.poses.end(),
            [](const auto& x, const auto& y) { return x.body < y.body; });
  return step;
}

namespace {

const std::filesystem::path& prepared(const std::filesystem::path& file, std::optional<double> after)
{
  if (after) sound::truncate_excitation(file, *after);
  return file;
}

}  // namespace

ExcitationRecorder::ExcitationRecorder(World& world, const std::filesystem::path& file, NumberOf number_of,
                                       std::optional<double> after, const base::Hash128& run)
    : world_(world), number_of_(std::move(number_of)), writer_(prepared(file, after), after.has_value(), run)
{
  world_.add_observer(*this);
}

ExcitationRecorder::~ExcitationRecorder()
{
  world_.remove_observer(*this);
}

void ExcitationRecorder::after_slice(const StepView& view, StepActions& /*actions*/)
{
  sound::ExcitationStep step = excitation_of(view, number_of_);
  if (world_.desc().stepper == StepperKind::flexible) add_modal_forces(step);
  writer_.add(step);
}

// Modes on which nothing acts need none.
void ExcitationRecorder::add_modal_forces(sound::ExcitationStep& step) const
{
  for (const flexible::ModalForces& on : world_.flexible_report().modal_forces) {
    if (std::all_of(on.forces.begin(), on.forces.end(), [](double force) { return force == 0; })) continue;
    const auto body = static_cast<std::uint32_t>(number_of_(on.body));
    step.modal_forces.push_back(sound::pack_modal_forces(body, on.durations, on.forces));
  }
  std::sort(step.modal_forces.begin(), step.modal_forces.end(),
            [](const auto& x, const auto& y) { return x.body < y.body; });
}

}  // namespace thrum::sim
