// SPDX-License-Identifier: MIT
// The settings of a scene file: stepper, sleep, response, camera, listener, outputs.
#include "thrum/scene/scene_tables.h"

namespace thrum::scene {

namespace {

THRUM_TABLE(
    rigid::ConstraintSettings, constraint_table,
    ObjectTable<rigid::ConstraintSettings>("constraint", "Settings of the constraint stepper.")
        .field({.key = "substeps", .doc = "into which a step is cut", .bounds = between(1, 1000)},
               &rigid::ConstraintSettings::substeps)
        .field({.key = "iterations",
                .doc = "sweeps over all contacts in a substep",
                .bounds = between(1, 100000)},
               &rigid::ConstraintSettings::iterations)
        .field({.key = "max_extra_iterations",
                .doc = "max further sweeps over what has not converged",
                .bounds = between(0, 100000)},
               &rigid::ConstraintSettings::max_extra_iterations)
        .field({.key = "impact_iterations",
                .doc = "sweeps when something bounces",
                .bounds = between(1, 100000)},
               &rigid::ConstraintSettings::impact_iterations)
        .field({.key = "joint_iterations",
                .doc = "sweeps at most over the joints alone before each over the contacts",
                .bounds = between(1, 100000)},
               &rigid::ConstraintSettings::joint_iterations)
        .field(fraction("erp", "of the overlap removed in a substep"), &rigid::ConstraintSettings::erp)
        .field(fraction("cfm", "added to the diagonal, as a share of it"), &rigid::ConstraintSettings::cfm)
        .field(fraction("joint_erp", "of the error of joints removed in a substep"),
               &rigid::ConstraintSettings::joint_erp)
        .field(non_negative("max_push_out", "", "share of the length scale removed in a substep, at most"),
               &rigid::ConstraintSettings::max_push_out)
        .field({.key = "warm_start", .doc = "warm start with the impulses of the previous step"},
               &rigid::ConstraintSettings::warm_start)
        .choice({.key = "friction", .doc = "shape of the bound"}, &rigid::ConstraintSettings::friction,
                {{"cone", rigid::FrictionCone::cone}, {"box", rigid::FrictionCone::box}})
        .choice({.key = "friction_bounds", .doc = "when friction bounds are updated"},
                &rigid::ConstraintSettings::friction_bounds,
                {{"each_iteration", rigid::FrictionBounds::each_iteration},
                 {"first_solve", rigid::FrictionBounds::first_solve}})
        .choice({.key = "order", .doc = "of the sweeps; contact_graph makes heavy stand on light"},
                &rigid::ConstraintSettings::order,
                {{"unsorted", rigid::SweepOrder::unsorted},
                 {"contact_graph", rigid::SweepOrder::contact_graph}})
        .choice({.key = "solver", .doc = "of the contact problem"}, &rigid::ConstraintSettings::solver,
                {{"gauss_seidel", rigid::RowSolver::gauss_seidel}, {"direct", rigid::RowSolver::direct}}))

}  // namespace

THRUM_TABLE(
    StepperEntry, stepper_table,
    ObjectTable<StepperEntry>("stepper", "How contacts are resolved.")
        .choice({.key = "kind", .doc = "the method"}, &StepperEntry::kind,
                {{"constraint", sim::StepperKind::constraint}, {"impulse", sim::StepperKind::impulse}})
        .object({.key = "constraint", .doc = "settings of the constraint stepper"}, &StepperEntry::constraint,
                &constraint_table)
        .field(
            {.key = "max_move",
             .doc = "max motion of a body, as a fraction of its smallest extent, before contacts are updated",
             .bounds = above(0)},
            &StepperEntry::max_move)
        .field({.key = "max_slices",
                .doc = "max number of slices a step is cut into for that",
                .bounds = between(1, 1000)},
               &StepperEntry::max_slices))

THRUM_TABLE(rigid::SleepSettings, sleep_table,
            ObjectTable<rigid::SleepSettings>("sleep", "When bodies at rest are put to sleep.")
                .field({.key = "enabled", .doc = "whether bodies may sleep"}, &rigid::SleepSettings::enabled)
                .field(non_negative("speed", "1/s", "threshold: length scales per second"),
                       &rigid::SleepSettings::speed)
                .field(non_negative("angular_speed", "rad/s", "threshold"),
                       &rigid::SleepSettings::angular_speed)
                .field(non_negative("time", "s", "time below both thresholds before a body sleeps"),
                       &rigid::SleepSettings::time))

std::vector<std::pair<std::string, ResponseMethod>> method_names()
{
  return {{"none", ResponseMethod::none},
          {"modal", ResponseMethod::modal},
          {"attenuated", ResponseMethod::attenuated},
          {"blended", ResponseMethod::blended}};
}

THRUM_TABLE(
    ResponseEntry, response_table,
    ObjectTable<ResponseEntry>("response", "How impacts travel through bodies that ring.")
        .choice({.key = "method", .doc = "for bodies that do not choose their own; none: nothing rings"},
                &ResponseEntry::method, method_names())
        .choice({.key = "preset", .doc = "a published choice of all settings below"}, &ResponseEntry::preset,
                {{"none", ResponsePreset::none}, {"coevoet2020", ResponsePreset::coevoet2020}})
        .choice({.key = "rule", .doc = "how vibration becomes a kick"}, &ResponseEntry::rule,
                {{"automatic", vibration::KickRule::automatic},
                 {"peak_displacement", vibration::KickRule::peak_displacement},
                 {"peak_velocity", vibration::KickRule::peak_velocity},
                 {"exchange", vibration::KickRule::exchange},
                 {"micro_collisions", vibration::KickRule::micro_collisions}})
        .choice({.key = "form", .doc = "of the kicks of the two peak rules"}, &ResponseEntry::form,
                {{"speed", vibration::KickForm::speed}, {"impulse", vibration::KickForm::impulse}})
        .choice({.key = "vibration_after_step", .doc = "what happens to vibration at the end of a step"},
                &ResponseEntry::vibration_after_step,
                {{"keep", vibration::VibrationAfterStep::keep},
                 {"reset", vibration::VibrationAfterStep::reset}})
        .field(non_negative("min_impulse", "N s", "of an impact that counts"), &ResponseEntry::min_impulse)
        .field(non_negative("min_speed", "m/s", "of approach that counts"), &ResponseEntry::min_speed)
        .field(non_negative("min_kick", "m/s", "that is given"), &ResponseEntry::min_kick)
        .field({.key = "window", .unit = "s", .doc = "followed after an impact", .bounds = above(0)},
               &ResponseEntry::window)
        .field({.key = "contact_radius",
                .unit = "m",
                .doc = "of curvature where bodies touch, for the duration of impacts",
                .bounds = above(0)},
               &ResponseEntry::contact_radius)
        .field(non_negative("time_budget", "s", "of one response, for the automatic rule"),
               &ResponseEntry::time_budget)
        .field({.key = "limit_energy", .doc = "kicks never exceed what the impact lost"},
               &ResponseEntry::limit_energy)
        .field({.key = "tangential", .doc = "kicks across the normal too"}, &ResponseEntry::tangential)
        .field({.key = "detect_force_jumps",
                .doc = "resting contacts that are suddenly pressed count as impacts"},
               &ResponseEntry::detect_force_jumps)
        .field({.key = "max_hops", .doc = "through further bodies that ring", .bounds = between(0, 100)},
               &ResponseEntry::max_hops))

THRUM_TABLE(
    AttenuationEntry, attenuation_table,
    ObjectTable<AttenuationEntry>("attenuation", "How waves in a large body grow weaker with distance.")
        .field(
            {.key = "fit",
             .doc = "C and beta (with full: alpha, beta and r0) and min_distance from the body's own modes"},
            &AttenuationEntry::fit)
        .field({.key = "full", .doc = "exp(-alpha (r - r0)) (r / r0)^-beta instead of C r^-beta"},
               &AttenuationEntry::full)
        .field(non_negative("C", "m^beta", "0.4 to 1 plausible, up to 2 exaggerated"), &AttenuationEntry::C)
        .field(non_negative("alpha", "1/m", "absorption"), &AttenuationEntry::alpha)
        .field(non_negative("beta", "", "0 rods, 0.5 shells, 1 volumes"), &AttenuationEntry::beta)
        .field({.key = "r0", .unit = "m", .doc = "where nothing is lost yet", .bounds = above(0)},
               &AttenuationEntry::r0)
        .field({.key = "min_distance", .unit = "m", .doc = "nearer counts as that far", .bounds = above(0)},
               &AttenuationEntry::min_distance)
        .field({.key = "average", .doc = "mean motion of all upward vertices"}, &AttenuationEntry::average)
        .choice({.key = "distance", .doc = "along the surface, or straight for flat ground"},
                &AttenuationEntry::distance,
                {{"geodesic", vibration::WaveDistance::geodesic},
                 {"euclidean", vibration::WaveDistance::euclidean}})
        .field({.key = "arrival_delay", .doc = "kicks arrive with the wave"},
               &AttenuationEntry::arrival_delay))

THRUM_TABLE(
    CameraEntry, camera_table,
    ObjectTable<CameraEntry>("camera",
                             "Where pictures are taken from; default: a view of everything that moves.")
        .field({.key = "eye", .unit = "m", .doc = "where it stands"}, &CameraEntry::eye)
        .field({.key = "target", .unit = "m", .doc = "what it looks at"}, &CameraEntry::target)
        .field(
            {.key = "field_of_view",
             .unit = "degrees",
             .doc =
                 "from top to bottom of a picture of 16 : 9; a narrower one shows as much from left to right",
             .bounds = between(1, 150)},
            &CameraEntry::field_of_view)
        .field({.key = "from", .doc = "direction to look from, when there is no eye"}, &CameraEntry::from))

THRUM_TABLE(ListenerEntry, listener_table,
            ObjectTable<ListenerEntry>("listener", "Where sound is heard.")
                .field({.key = "position", .unit = "m", .doc = "of the head"}, &ListenerEntry::position)
                .field({.key = "forward", .doc = "where it looks"}, &ListenerEntry::forward))

THRUM_TABLE(
    OutputEntry, output_table,
    ObjectTable<OutputEntry>("outputs", "What a run writes.")
        .field(non_negative("frame_rate", "1/s", "poses a second in the recording; 0: every step"),
               &OutputEntry::frame_rate)
        .choice({.key = "contacts", .doc = "which are recorded"}, &OutputEntry::contacts,
                {{"all", RecordedContacts::all},
                 {"impacts", RecordedContacts::impacts},
                 {"none", RecordedContacts::none}})
        .field({.key = "glb", .doc = "write motion.glb"}, &OutputEntry::glb)
        .field({.key = "csv", .doc = "write events.csv and energy.csv"}, &OutputEntry::csv)
        .field({.key = "page", .doc = "write index.html"}, &OutputEntry::page)
        .field({.key = "poster", .doc = "write poster.png"}, &OutputEntry::poster)
        .field({.key = "poster_time", .unit = "s", .doc = "moment of the poster; negative: the end"},
               &OutputEntry::poster_time)
        .field({.key = "poster_width", .unit = "pixel", .doc = "of the poster", .bounds = between(16, 8192)},
               &OutputEntry::poster_width)
        .field({.key = "poster_height", .unit = "pixel", .doc = "of the poster", .bounds = between(16, 8192)},
               &OutputEntry::poster_height))

}  // namespace thrum::scene
