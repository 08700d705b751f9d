// SPDX-License-Identifier: MIT
#include "thrum/scene/run_warnings.h"

#include <fmt/format.h>

#include "thrum/base/counted.h"
#include "thrum/flexible/flexible_report.h"

namespace thrum::scene {

namespace {

/// Fewer waves than this do not follow the edge of a place that holds a body: with 1.9 of them under the
/// hand the ruler of scenes/ruler.json was 7 to 18 % too high, with 2.6 of them 1.5 to 4 %, with 3.7 at most
/// 2.7 %.
constexpr double kResolvedWaves = 3;

void warn_of_cut_steps(const sim::World& world, std::vector<std::string>& warnings)
{
  const sim::ImpactCounts& impacts = world.impact_counts();
  if (impacts.stopped_bodies > 0) {
    warnings.push_back(fmt::format(
        "Bodies were stopped {} for the rest of a step, {:.3g} s in all, because they had more impacts in "
        "one "
        "step than stepper.max_impact_slices ({}). Raise it, or take a smaller step.",
        base::counted(impacts.stopped_bodies, "time"), impacts.lost_time, world.desc().max_impact_slices));
  }
  const sim::LimitCounts limits = world.limit_counts();
  if (limits.long_slices > 0) {
    warnings.push_back(fmt::format(
        "{} needed more slices than stepper.max_slices ({}), up to {:.3g}: fast bodies were followed less "
        "closely there. Raise it, or take a smaller step.",
        base::counted(limits.long_slices, "step"), world.desc().max_slices, limits.max_slices_needed));
  }
  if (limits.steps_not_warped > 0) {
    warnings.push_back(
        fmt::format("\"time_of_impact\": \"conservative\" took {} instead of \"timewarp\", which cannot run "
                    "with bodies that ring, the flexible stepper, or joints and the impulse stepper. Choose "
                    "\"conservative\", or change these.",
                    base::counted(limits.steps_not_warped, "step")));
  }
}

void warn_of_contacts(const sim::World& world, std::vector<std::string>& warnings)
{
  const sim::LimitCounts limits = world.limit_counts();
  if (limits.points_left_out > 0) {
    warnings.push_back(fmt::format(
        "{} left out: two bodies touch in eight patches at most. Split the bodies into parts where "
        "that matters.",
        base::counted(limits.points_left_out, "contact point")));
  }
  if (limits.large_impacts > 0) {
    warnings.push_back(
        fmt::format("{} reached more points at once than stepper.impacts.max_points ({}): resolved point by "
                    "point, as with "
                    "\"simultaneous\": \"by_stepper\".",
                    base::counted(limits.large_impacts, "impact"), world.desc().impacts.max_points));
  }
  if (limits.long_substeps > 0) {
    warnings.push_back(fmt::format(
        "{} needed more substeps than stepper.penalty.max_substeps ({}), up to {:.3g}: contacts were too "
        "stiff "
        "for their step there and may gain energy. Raise it, take a smaller step or softer contacts.",
        base::counted(limits.long_substeps, "slice"), world.desc().penalty.max_substeps,
        limits.max_substeps_needed));
  }
}

void warn_of_flexible_bodies(const sim::World& world, std::vector<std::string>& warnings)
{
  const flexible::GroupReport& groups = world.flexible_report().groups;
  if (groups.unsolved > 0) {
    warnings.push_back(
        fmt::format("{} of {} were not solved to stepper.flexible.tolerance; forces were off by up to {:.1e} "
                    "of the largest. "
                    "Raise stepper.flexible.iterations, or take a smaller stepper.flexible.max_step.",
                    groups.unsolved, base::counted(groups.substeps, "substep"), groups.max_residual));
  }
  for (const auto& [id, waves] : world.flexible_report().held_waves) {
    if (!world.contains(id) || waves >= kResolvedWaves) continue;
    warnings.push_back(
        fmt::format("Body '{}' is held over {:.1f} of the shortest waves of its modes, which is too few to "
                    "bend where it is "
                    "held: its free part sounds too high, by up to a fifth. Raise "
                    "stepper.flexible.max_frequency ({} Hz) and "
                    "the number of its modes (rings.modes) until there are 3.",
                    world.desc_of(id).name, waves, world.desc().flexible.max_frequency));
  }
}

}  // namespace

std::vector<std::string> limit_warnings(const sim::World& world)
{
  std::vector<std::string> warnings;
  warn_of_cut_steps(world, warnings);
  warn_of_contacts(world, warnings);
  if (world.desc().stepper == sim::StepperKind::flexible) warn_of_flexible_bodies(world, warnings);
  return warnings;
}

}  // namespace thrum::scene
