// SPDX-License-Identifier: MIT
// The settings of a scene file: stepper, sleep, response, camera, listener, outputs.
#include "thrum/scene/scene_tables.h"

namespace thrum::scene {

namespace {

using flexible::FlexibleSettings;
using rigid::ConstraintSettings;
using rigid::ImpulseSettings;
using rigid::PenaltySettings;
using sim::WorldDesc;
using vibration::AttenuationSettings;
using vibration::BodyResponseDesc;
using vibration::MicroSettings;
using vibration::ResponseSettings;

constexpr double kMaxIterations = 100000;
constexpr double kMaxSoundFactor = 1e6;  ///< of gains and of full scale [Pa]
constexpr double kMaxRoughness = 100;

[[nodiscard]] ValueRule sweeps(const char* key, const char* doc, double min = 1)
{
  return {.key = key, .doc = doc, .bounds = between(min, kMaxIterations)};
}
[[nodiscard]] ValueRule factor(const char* key, double max, const char* doc)
{
  return {.key = key, .doc = doc, .bounds = between(0, max)};
}
[[nodiscard]] ValueRule flag(const char* key, const char* doc)
{
  return {.key = key, .doc = doc};
}

THRUM_TABLE(
    ConstraintSettings, constraint_table,
    ObjectTable<ConstraintSettings>("constraint stepper", "Settings of the constraint stepper.")
        .field({.key = "substeps", .doc = "into which a step is cut", .bounds = between(1, 1000)},
               &ConstraintSettings::substeps)
        .field(sweeps("iterations", "sweeps over all contacts in a substep"), &ConstraintSettings::iterations)
        .field(sweeps("max_extra_iterations", "max further sweeps over what has not converged", 0),
               &ConstraintSettings::max_extra_iterations)
        .field(sweeps("patch_iterations",
                      "sweeps inside a patch of up to four points, each time it is visited"),
               &ConstraintSettings::patch_iterations)
        .field(sweeps("patch_rounds", "friction and normal rows in turn, each time a patch is visited"),
               &ConstraintSettings::patch_rounds)
        .field(sweeps("impact_iterations", "sweeps when something bounces"),
               &ConstraintSettings::impact_iterations)
        .field(fraction("erp", "of the overlap removed in a substep"), &ConstraintSettings::erp)
        .field(fraction("cfm", "added to the diagonal, as a share of it"), &ConstraintSettings::cfm)
        .field(fraction("joint_erp", "of the error of joints removed in a substep"),
               &ConstraintSettings::joint_erp)
        .field(sweeps("joint_iterations",
                      "sweeps at most over the joints alone before each over the contacts"),
               &ConstraintSettings::joint_iterations)
        .field(non_negative("max_push_out", "", "share of the length scale removed in a substep, at most"),
               &ConstraintSettings::max_push_out)
        .field(sweeps("push_out_iterations", "sweeps that remove overlap", 0),
               &ConstraintSettings::push_out_iterations)
        .field(non_negative("slop", "", "overlap left alone, as a share of the length scale"),
               &ConstraintSettings::slop)
        .field(flag("warm_start", "warm start with the impulses of the previous step"),
               &ConstraintSettings::warm_start)
        .choice({.key = "friction", .doc = "shape of the bound"}, &ConstraintSettings::friction,
                {{"cone", rigid::FrictionCone::cone}, {"box", rigid::FrictionCone::box}})
        .choice({.key = "friction_bounds",
                 .doc = "when friction bounds are updated; `first_solve` needs `solver: direct`"},
                &ConstraintSettings::friction_bounds,
                {{"each_iteration", rigid::FrictionBounds::each_iteration},
                 {"first_solve", rigid::FrictionBounds::first_solve}})
        .choice({.key = "order", .doc = "of the sweeps; contact_graph makes heavy stand on light"},
                &ConstraintSettings::order,
                {{"unsorted", rigid::SweepOrder::unsorted},
                 {"contact_graph", rigid::SweepOrder::contact_graph}})
        .field(sweeps("shock_iterations", "sweeps at most over each level of the contact graph", 0),
               &ConstraintSettings::shock_iterations)
        .field(non_negative("settled_threshold", "",
                            "levels need no sweep that change speeds by less than this share of what gravity "
                            "gives in a substep"),
               &ConstraintSettings::settled_threshold)
        .field(non_negative("unsettled_threshold", "",
                            "contacts that change a speed by more than this share get max_extra_iterations"),
               &ConstraintSettings::unsettled_threshold)
        .choice({.key = "solver", .doc = "of the contact problem"}, &ConstraintSettings::solver,
                {{"gauss_seidel", rigid::RowSolver::gauss_seidel}, {"direct", rigid::RowSolver::direct}})
        .field(sweeps("max_direct_rows", "rows of the largest island that the direct solver takes", 0),
               &ConstraintSettings::max_direct_rows))

THRUM_TABLE(rigid::ImpactSettings, impacts_table,
            ObjectTable<rigid::ImpactSettings>("impacts", "How impacts with restitution are resolved.")
                .choice({.key = "simultaneous",
                         .doc = "reflections: all contacts of an impact together, at its time within the "
                                "step; by_stepper: constraint resolves contacts one by one at the end "
                                "of a substep, impulse one pair after the other"},
                        &rigid::ImpactSettings::simultaneous,
                        {{"reflections", rigid::SimultaneousImpacts::reflections},
                         {"by_stepper", rigid::SimultaneousImpacts::by_stepper}})
                .field({.key = "max_points",
                        .doc = "max number of contact points that are reflected together; larger groups "
                               "are resolved by_stepper",
                        .bounds = between(1, 1000)},
                       &rigid::ImpactSettings::max_points))

THRUM_TABLE(
    ImpulseSettings, impulse_table,
    ObjectTable<ImpulseSettings>("impulse stepper", "Settings of the impulse stepper.")
        .field(sweeps("collision_iterations", "rounds over all pairs for impacts", 0),
               &ImpulseSettings::collision_iterations)
        .field(sweeps("contact_iterations", "passes over all pairs for resting contact", 0),
               &ImpulseSettings::contact_iterations)
        .field(sweeps("extra_contact_iterations",
                      "max further passes, while points of resting bodies approach each other faster than a "
                      "hundredth of gravity's speed in a step, others than a fifth",
                      0),
               &ImpulseSettings::extra_contact_iterations)
        .field(sweeps("pair_iterations", "max impulses each time a pair is visited"),
               &ImpulseSettings::pair_iterations)
        .field(sweeps("shock_sweeps", "sweeps in which lower bodies do not yield", 0),
               &ImpulseSettings::shock_sweeps)
        .field(sweeps("shock_level_iterations", "max rounds over each level in such a sweep"),
               &ImpulseSettings::shock_level_iterations)
        .field(sweeps("shock_pair_iterations", "max impulses each time a pair is visited in it"),
               &ImpulseSettings::shock_pair_iterations)
        .field(flag("separate_collisions", "impacts before the velocities are advanced; false: after"),
               &ImpulseSettings::separate_collisions)
        .field(flag("deepest_first", "the points of a pair by depth; false: by number"),
               &ImpulseSettings::deepest_first)
        .field(flag("gradual_restitution", "contact passes with -0.9, -0.8 ... 0; false: 0 in each"),
               &ImpulseSettings::gradual_restitution)
        .field(flag("contact_graph", "from the ground up; false: as found, and no shock propagation"),
               &ImpulseSettings::contact_graph)
        .field(flag("shock_propagation", "a last sweep in which lower bodies do not yield"),
               &ImpulseSettings::shock_propagation)
        .field(flag("friction", "false: none at all"), &ImpulseSettings::friction)
        .field(flag("rolling_and_spinning", "rolling and spinning friction"),
               &ImpulseSettings::rolling_and_spinning)
        .choice({.key = "contact_points",
                 .doc = "reduced: patches of at most four points, found once; paper: all vertices and edges "
                        "inside the other body, found again at each visit of a pair"},
                &ImpulseSettings::contact_points,
                {{"reduced", rigid::ContactPoints::reduced}, {"paper", rigid::ContactPoints::paper}})
        .choice({.key = "levels",
                 .doc = "of the contact graph: what a body runs into by gravity alone, or with its velocity, "
                        "as in the paper"},
                &ImpulseSettings::levels,
                {{"gravity", rigid::ContactLevels::gravity}, {"predicted", rigid::ContactLevels::predicted}})
        .field(flag("accumulate_impulses",
                    "sums of impulses obey the laws; false: each single impulse does, as in the paper"),
               &ImpulseSettings::accumulate_impulses)
        .field(flag("hold_resting_only",
                    "shock propagation holds what rests; false: every body of a level, as in the paper"),
               &ImpulseSettings::hold_resting_only)
        .field(flag("close_gaps", "a gap may close within the step; false: motion stops where it is"),
               &ImpulseSettings::close_gaps)
        .field(flag("solve_flat_patches",
                    "a flat patch that rests is solved as a whole; false: point by point"),
               &ImpulseSettings::solve_flat_patches)
        .field(flag("warm_start", "resting contact starts from the impulses of the step before"),
               &ImpulseSettings::warm_start)
        .field(flag("mean_velocity", "bodies in steady contact move with the mean of their two velocities"),
               &ImpulseSettings::mean_velocity)
        .field(flag("push_out", "overlap is removed by moving bodies, without giving them speed"),
               &ImpulseSettings::push_out)
        .field(fraction("push_out_share", "of the overlap, in each step"), &ImpulseSettings::push_out_share)
        .field(non_negative("push_out_speed", "1/s", "maximum, in length scales per second"),
               &ImpulseSettings::push_out_speed)
        .field(non_negative("slop", "", "overlap left alone, as a share of the length scale"),
               &ImpulseSettings::slop))

THRUM_TABLE(
    PenaltySettings, penalty_table,
    ObjectTable<PenaltySettings>("penalty stepper", "Settings of the penalty stepper.")
        .field({.key = "stiffness",
                .unit = "N/m",
                .doc = "of the spring at each contact point; default: from `contact_time` and the masses",
                .bounds = between(1e-3, 1e13)},
               &PenaltySettings::stiffness)
        .field({.key = "contact_time",
                .unit = "s",
                .doc = "of a bounce at one point, which sets the stiffness where none is given",
                .bounds = between(1e-6, 10)},
               &PenaltySettings::contact_time)
        .field(
            {.key = "damping_ratio",
             .doc =
                 "of the damper at each contact, 1: critical; default: from the restitution of the surfaces",
             .bounds = between(0, 1000)},
            &PenaltySettings::damping_ratio)
        .field(
            {.key = "max_damping_ratio", .doc = "for surfaces with little restitution", .bounds = above(0)},
            &PenaltySettings::max_damping_ratio)
        .field({.key = "friction_stiffness",
                .doc = "of the friction spring, as a share of the springs along the normal",
                .bounds = above(0)},
               &PenaltySettings::friction_stiffness)
        .field(non_negative("friction_damping_ratio", "", "of the friction spring, 1: critical"),
               &PenaltySettings::friction_damping_ratio)
        .field({.key = "substeps_per_contact",
                .doc = "substeps in half a period of the stiffest contact",
                .bounds = between(2, 1000)},
               &PenaltySettings::substeps_per_contact)
        .field({.key = "max_substeps", .doc = "max number in a slice", .bounds = between(1, 1000000)},
               &PenaltySettings::max_substeps)
        .field(sweeps("iterations", "max sweeps over all contacts in a substep"),
               &PenaltySettings::iterations)
        .field(fraction("push_out_share", "of the overlap that no spring was pressed by, in a slice"),
               &PenaltySettings::push_out_share)
        .field(non_negative("max_push_out", "", "share of the length scale removed in a slice, at most"),
               &PenaltySettings::max_push_out))

THRUM_TABLE(
    FlexibleSettings, flexible_table,
    ObjectTable<FlexibleSettings>("flexible stepper", "Settings of the flexible stepper.")
        .choice({.key = "contact", .doc = "hertz: places of contact yield; hard: the modes alone do"},
                &FlexibleSettings::contact,
                {{"hertz", flexible::ContactLaw::hertz}, {"hard", flexible::ContactLaw::hard}})
        .choice({.key = "friction",
                 .doc = "coupled: together with the normal forces; staggered: in turn, for hard contact"},
                &FlexibleSettings::friction,
                {{"coupled", flexible::FrictionSolver::coupled},
                 {"staggered", flexible::FrictionSolver::staggered}})
        .field({.key = "friction_directions",
                .doc = "corners of the friction polygon of staggered",
                .bounds = between(3, 1000)},
               &FlexibleSettings::friction_directions)
        .field({.key = "max_frequency",
                .unit = "Hz",
                .doc = "of the modes that take part in contact",
                .bounds = between(1, 100e3)},
               &FlexibleSettings::max_frequency)
        .field({.key = "max_step",
                .unit = "s",
                .doc = "after which contacts are found again; no substep is longer",
                .bounds = between(1e-7, 1)},
               &FlexibleSettings::max_step)
        .field(
            {.key = "min_step", .unit = "s", .doc = "no substep is cut shorter", .bounds = between(1e-9, 1)},
            &FlexibleSettings::min_step)
        .field({.key = "steps_per_period",
                .doc = "substeps in a period of the highest mode that moves",
                .bounds = between(0.1, 1000)},
               &FlexibleSettings::steps_per_period)
        .field({.key = "steps_per_impact",
                .doc = "substeps in the duration of an impact",
                .bounds = between(0.1, 1000)},
               &FlexibleSettings::steps_per_impact)
        .field(non_negative("min_impact_speed", "m/s", "slower impacts cut no substep"),
               &FlexibleSettings::min_impact_speed)
        .field(non_negative("deformed_slope", "rad",
                            "bodies whose surface is bent by more have contacts on the bent surface"),
               &FlexibleSettings::deformed_slope)
        .field({.key = "contact_radius",
                .unit = "m",
                .doc = "radius of curvature where neither body is round",
                .bounds = above(0)},
               &FlexibleSettings::contact_radius)
        .field({.key = "friction_stiffness",
                .doc = "of the friction spring, as a share of the contact's along the normal",
                .bounds = above(0)},
               &FlexibleSettings::friction_stiffness)
        .field(non_negative("friction_damping_ratio", "", "of the friction spring, 1: critical"),
               &FlexibleSettings::friction_damping_ratio)
        .field(flag("adapt_modes",
                    "modes that are too quiet to matter stand where forces hold them; false: all move"),
               &FlexibleSettings::adapt_modes)
        .field(non_negative("excitation", "",
                            "change of a force, as a share of the weight, that wakes a mode which stands"),
               &FlexibleSettings::excitation)
        .field(non_negative("quiet_energy", "J", "that wakes a mode; with a tenth of it, it stands"),
               &FlexibleSettings::quiet_energy)
        .field(flag("tail_modes", "modes above the highest carry off what short impacts give them"),
               &FlexibleSettings::tail_modes)
        .field(sweeps("iterations", "max sweeps over the contacts of a group in a substep"),
               &FlexibleSettings::iterations)
        .field(sweeps("sweeps_before_newton", "after which Newton's method takes over; 0: it comes first", 0),
               &FlexibleSettings::sweeps_before_newton)
        .field({.key = "tolerance",
                .doc = "change of a force at which sweeps end, as a share of the largest",
                .bounds = between(1e-14, 0.1)},
               &FlexibleSettings::tolerance)
        .field(fraction("push_out_share", "of the overlap that no contact has stored, in a slice"),
               &FlexibleSettings::push_out_share)
        .field(non_negative("max_push_out", "", "share of the length scale removed in a slice, at most"),
               &FlexibleSettings::max_push_out)
        .field(non_negative("gap_tolerance", "",
                            "share of the length scale: a pressed contact keeps its force across such a gap"),
               &FlexibleSettings::gap_tolerance))

using collision::BroadPhaseDesc;
using collision::NarrowPhaseDesc;

THRUM_TABLE(
    BroadPhaseDesc, broad_phase_table,
    ObjectTable<BroadPhaseDesc>("broad phase", "Which pairs of bodies are looked at.")
        .field(non_negative("looseness", "",
                            "growth of the box of a body on each side, as a share of its longest edge"),
               &BroadPhaseDesc::looseness)
        .field({.key = "max_pairs_per_body", .doc = "on average; a scene with more is rejected"},
               &BroadPhaseDesc::max_pairs_per_body)
        .field({.key = "min_pair_limit", .doc = "so many pairs are always accepted"},
               &BroadPhaseDesc::min_pair_limit))

// NarrowPhaseDesc::step is the length of the step, which the world fills in.
THRUM_TABLE(NarrowPhaseDesc, narrow_phase_table,
            ObjectTable<NarrowPhaseDesc>("narrow phase",
                                         "How near bodies are when contacts between them are found.")
                .field(non_negative("margin", "",
                                    "gap of resting bodies, as a share of the smaller one's least extent"),
                       &NarrowPhaseDesc::margin)
                .field(non_negative("max_margin", "", "of fast bodies, whose gap grows with speed and step"),
                       &NarrowPhaseDesc::max_margin)
                .field(non_negative("kept_move", "",
                                    "contacts are kept while two bodies have moved against each other by "
                                    "less than this share of the length scale; 0: found in each step"),
                       &NarrowPhaseDesc::kept_move)
                .field(non_negative("kept_turn", "rad", "and turned by less than this"),
                       &NarrowPhaseDesc::kept_turn))

std::vector<std::pair<std::string, vibration::KickRule>> rule_names()
{
  using Rule = vibration::KickRule;
  return {{"automatic", Rule::automatic},
          {"peak_displacement", Rule::peak_displacement},
          {"peak_velocity", Rule::peak_velocity},
          {"exchange", Rule::exchange},
          {"micro_collisions", Rule::micro_collisions}};
}

std::vector<std::pair<std::string, vibration::KickForm>> form_names()
{
  return {{"speed", vibration::KickForm::speed}, {"impulse", vibration::KickForm::impulse}};
}

std::vector<std::pair<std::string, vibration::VibrationAfterStep>> after_step_names()
{
  return {{"keep", vibration::VibrationAfterStep::keep}, {"reset", vibration::VibrationAfterStep::reset}};
}

std::vector<std::pair<std::string, vibration::WaveDistance>> distance_names()
{
  return {{"geodesic", vibration::WaveDistance::geodesic}, {"euclidean", vibration::WaveDistance::euclidean}};
}

// Paths to the settings of a response.
template <class Member>
auto setting(Member ResponseSettings::*member)
{
  return path(&ResponseEntry::body, &BodyResponseDesc::settings, member);
}
template <class Member>
auto micro_setting(Member MicroSettings::*member)
{
  return path(&ResponseEntry::body, &BodyResponseDesc::settings, &ResponseSettings::micro, member);
}
using sound::ListenerKind;
using sound::Microphone;
using sound::SynthesisSettings;

THRUM_TABLE(
    Microphone, microphone_table,
    ObjectTable<Microphone>("microphone", "One channel of a listener.")
        .field({.key = "name", .doc = "of the channel; default: m1, m2 ..."}, &Microphone::name)
        .field({.key = "position", .unit = "m", .doc = "in the axes of the listener: forward, left, up"},
               &Microphone::position)
        .field(fraction("pattern", "0: omnidirectional, 0.5: cardioid, 1: figure of eight"),
               &Microphone::pattern)
        .field({.key = "axis", .doc = "where it points, in the axes of the listener"}, &Microphone::axis))

THRUM_TABLE(
    ListenerKey, listener_key_table,
    ObjectTable<ListenerKey>("listener key", "Where a listener that moves is at a time.")
        .field({.key = "time", .unit = "s", .doc = "ascending", .bounds = at_least(0), .required = true},
               &ListenerKey::time)
        .field({.key = "position", .unit = "m", .doc = "of the head", .required = true},
               &ListenerKey::position)
        .field({.key = "forward", .doc = "where it looks; default: as listener.forward"},
               &ListenerKey::forward))

template <class Member>
auto synthesis(Member SynthesisSettings::*member)
{
  return path(&SoundEntry::synthesis, member);
}
template <class Member>
auto wave(Member AttenuationSettings::*member)
{
  return path(&AttenuationEntry::settings, member);
}

}  // namespace

THRUM_TABLE(
    WorldDesc, stepper_table,
    ObjectTable<WorldDesc>("stepper", "How contacts are found and resolved.")
        .choice({.key = "kind", .doc = "the method"}, &WorldDesc::stepper,
                {{"constraint", sim::StepperKind::constraint},
                 {"impulse", sim::StepperKind::impulse},
                 {"penalty", sim::StepperKind::penalty},
                 {"flexible", sim::StepperKind::flexible}})
        .object({.key = "constraint", .doc = "settings of the constraint stepper"}, &WorldDesc::constraint,
                &constraint_table)
        .object({.key = "impulse", .doc = "settings of the impulse stepper"}, &WorldDesc::impulse,
                &impulse_table)
        .object({.key = "penalty", .doc = "settings of the penalty stepper"}, &WorldDesc::penalty,
                &penalty_table)
        .object({.key = "flexible", .doc = "settings of the flexible stepper; bodies do not sleep with it"},
                &WorldDesc::flexible, &flexible_table)
        .object({.key = "impacts", .doc = "impacts with restitution, for constraint and impulse"},
                &WorldDesc::impacts, &impacts_table)
        .field(
            {.key = "max_move",
             .doc = "max motion of a body, as a fraction of its smallest extent, before contacts are updated",
             .bounds = above(0)},
            &WorldDesc::max_move)
        .field({.key = "max_turn",
                .unit = "rad",
                .doc = "max rotation of a body before contacts are updated",
                .bounds = above(0)},
               &WorldDesc::max_turn)
        .field({.key = "max_slices",
                .doc = "max number of slices a step is cut into for these two",
                .bounds = between(1, 1000)},
               &WorldDesc::max_slices)
        .choice({.key = "time_of_impact",
                 .doc = "what keeps fast bodies from passing through others; none: nothing; bisection, "
                        "conservative and timewarp end a slice at each impact"},
                &WorldDesc::time_of_impact,
                {{"none", sim::TimeOfImpactMethod::none},
                 {"continuous", sim::TimeOfImpactMethod::continuous},
                 {"bisection", sim::TimeOfImpactMethod::bisection},
                 {"conservative", sim::TimeOfImpactMethod::conservative},
                 {"timewarp", sim::TimeOfImpactMethod::timewarp}})
        .field({.key = "impact_tolerance",
                .doc = "of bisection, conservative and timewarp: gap left at an impact, as a fraction of the "
                       "smallest extent",
                .bounds = between(1e-9, 0.1)},
               &WorldDesc::impact_tolerance)
        .field({.key = "max_impact_slices",
                .doc = "max number of cuts of a step at impacts of fast bodies; beyond it they are stopped",
                .bounds = between(0, 1000)},
               &WorldDesc::max_impact_slices)
        .field({.key = "threads", .doc = "max number of threads of a step; 0: all", .bounds = at_least(0)},
               &WorldDesc::threads)
        .object({.key = "broad_phase", .doc = "which pairs of bodies are looked at"}, &WorldDesc::broad_phase,
                &broad_phase_table)
        .object({.key = "narrow_phase", .doc = "how near bodies are when contacts are found"},
                &WorldDesc::narrow_phase, &narrow_phase_table)
        .choice(
            {.key = "interference",
             .doc = "how faces of two meshes that may touch are found: by a hierarchy, or by drawing them "
                    "into a buffer of pixels, with their impacts by Boyse's tests"},
            &WorldDesc::interference,
            {{"hierarchy", collision::Interference::hierarchy}, {"zlist", collision::Interference::zlist}}))

THRUM_TABLE(rigid::SleepSettings, sleep_table,
            ObjectTable<rigid::SleepSettings>("sleep", "When bodies at rest are put to sleep.")
                .field({.key = "enabled", .doc = "whether bodies may sleep"}, &rigid::SleepSettings::enabled)
                .field(non_negative("speed", "1/s", "threshold: length scales per second"),
                       &rigid::SleepSettings::speed)
                .field(non_negative("angular_speed", "rad/s", "threshold"),
                       &rigid::SleepSettings::angular_speed)
                .field(non_negative("time", "s", "time below both thresholds before a body sleeps"),
                       &rigid::SleepSettings::time))

std::vector<std::pair<std::string, vibration::ResponseMethod>> method_names()
{
  using Method = vibration::ResponseMethod;
  return {{"none", Method::none},
          {"modal", Method::modal},
          {"attenuated", Method::attenuated},
          {"blended", Method::blended}};
}

THRUM_TABLE(
    ResponseEntry, response_table,
    ObjectTable<ResponseEntry>("response", "How impacts travel through bodies that ring.")
        .choice({.key = "method", .doc = "for bodies that do not choose their own; none: nothing rings"},
                path(&ResponseEntry::body, &BodyResponseDesc::method), method_names())
        .choice({.key = "rule", .doc = "how vibration becomes a kick"}, setting(&ResponseSettings::rule),
                rule_names())
        .choice({.key = "form", .doc = "of the kicks of the two peak rules"},
                setting(&ResponseSettings::form), form_names())
        .choice({.key = "vibration_after_step", .doc = "what happens to vibration at the end of a step"},
                setting(&ResponseSettings::vibration_after_step), after_step_names())
        .field(non_negative("min_impulse", "N s", "of an impact that counts"),
               setting(&ResponseSettings::min_impulse))
        .field(non_negative("min_speed", "m/s", "of approach that counts"),
               setting(&ResponseSettings::min_speed))
        .field(non_negative("min_kick", "m/s", "slower kicks are left out"),
               setting(&ResponseSettings::min_kick))
        .field(non_negative("max_offset", "",
                            "of a contact from the surface, as a share of its size; others are left out"),
               setting(&ResponseSettings::max_offset))
        .field(non_negative("max_gap", "m", "of a contact that counts as resting"),
               setting(&ResponseSettings::max_gap))
        .field(non_negative("window", "s",
                            "followed after an impact; 0: 20 ms, or the period of the lowest mode of the "
                            "body where that is longer, up to 0.25 s"),
               setting(&ResponseSettings::window))
        .field({.key = "contact_radius",
                .unit = "m",
                .doc = "of curvature where bodies touch, for the duration of impacts",
                .bounds = above(0)},
               setting(&ResponseSettings::contact_radius))
        .field(non_negative("time_budget", "s", "of one response, for the automatic rule"),
               setting(&ResponseSettings::time_budget))
        .field(flag("limit_energy", "kicks never exceed what the impact lost"),
               setting(&ResponseSettings::limit_energy))
        .field(flag("tangential",
                    "kicks across the normal too; for the rule micro_collisions see micro_friction"),
               setting(&ResponseSettings::tangential))
        .field({.key = "micro_step",
                .unit = "s",
                .doc = "of the rule micro_collisions; usual 1e-5 to 1e-4",
                .bounds = above(0)},
               micro_setting(&MicroSettings::step))
        .field(sweeps("micro_sweeps",
                      "over the closed contacts in each of these steps, before Newton's method takes over"),
               micro_setting(&MicroSettings::sweeps))
        .field({.key = "micro_steps_per_impact",
                .doc = "of the rule micro_collisions: steps in the contact time of an impact, where "
                       "micro_step is longer",
                .bounds = above(0)},
               micro_setting(&MicroSettings::steps_per_impact))
        .field(flag("micro_tail_modes",
                    "of the rule micro_collisions: stand for modes above the highest at an impact too short "
                    "for them"),
               micro_setting(&MicroSettings::tail_modes))
        .field(flag("micro_friction", "of the rule micro_collisions: resting bodies rub on the ringing one"),
               micro_setting(&MicroSettings::friction))
        .field(flag("paper_filter",
                    "coefficients of James and Pai, sampled at pi / (2 w_max); only with peak_displacement"),
               setting(&ResponseSettings::paper_filter))
        .field({.key = "max_modal_size",
                .unit = "m",
                .doc = "method blended: bodies up to this size answer by their modes alone",
                .bounds = above(0)},
               path(&ResponseEntry::body, &BodyResponseDesc::max_modal_size))
        .field({.key = "min_wave_size",
                .unit = "m",
                .doc = "method blended: bodies from this size on answer by waves alone",
                .bounds = above(0)},
               path(&ResponseEntry::body, &BodyResponseDesc::min_wave_size))
        .field(flag("detect_force_jumps", "resting contacts that are suddenly pressed count as impacts"),
               path(&ResponseEntry::responder, &sim::ResponderDesc::detect_force_jumps))
        .field({.key = "max_hops", .doc = "through further bodies that ring", .bounds = between(0, 100)},
               path(&ResponseEntry::responder, &sim::ResponderDesc::max_hops))
        .presets({.key = "preset", .doc = "a published choice of settings, which may not stand beside it"},
                 {{"coevoet2020",
                   [](ResponseEntry& entry) { vibration::apply_coevoet2020(entry.body.settings); },
                   {"rule", "form", "vibration_after_step", "limit_energy", "paper_filter"}}}))

THRUM_TABLE(
    AttenuationEntry, attenuation_table,
    ObjectTable<AttenuationEntry>("attenuation", "How waves in a large body grow weaker with distance.")
        .field(
            {.key = "fit",
             .doc = "C and beta (with full: alpha, beta and r0) and min_distance from the body's own modes"},
            &AttenuationEntry::fit)
        .field(flag("full", "exp(-alpha (r - r0)) (r / r0)^-beta instead of C r^-beta"),
               wave(&AttenuationSettings::full))
        .field(non_negative("C", "m^beta", "0.4 to 1 plausible, up to 2 exaggerated"),
               wave(&AttenuationSettings::C))
        .field(non_negative("alpha", "1/m", "absorption"), wave(&AttenuationSettings::alpha))
        .field(non_negative("beta", "", "0 rods, 0.5 shells, 1 volumes"), wave(&AttenuationSettings::beta))
        .field({.key = "r0", .unit = "m", .doc = "where nothing is lost yet", .bounds = above(0)},
               wave(&AttenuationSettings::r0))
        .field({.key = "min_distance", .unit = "m", .doc = "nearer counts as that far", .bounds = above(0)},
               wave(&AttenuationSettings::min_distance))
        .field(flag("average", "mean motion of all upward vertices"), wave(&AttenuationSettings::average))
        .choice({.key = "distance", .doc = "along the surface, or straight for flat ground"},
                wave(&AttenuationSettings::distance), distance_names())
        .field(flag("arrival_delay", "kicks arrive with the wave"), wave(&AttenuationSettings::arrival_delay))
        .field(non_negative("wave_speed", "m/s", "of that wave; 0: of Rayleigh waves in the material"),
               wave(&AttenuationSettings::wave_speed)))

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
            ObjectTable<ListenerEntry>("listener", "Where sound is heard; default: where the camera is.")
                .field({.key = "position", .unit = "m", .doc = "of the head"}, &ListenerEntry::position)
                .field({.key = "forward", .doc = "where it looks; default: as the camera"},
                       &ListenerEntry::forward)
                .field({.key = "body",
                        .doc = "the body that it moves and turns with; position (default: the origin) and "
                               "forward (default: x) are then in the axes of its shape"},
                       &ListenerEntry::body)
                .list({.key = "path",
                       .doc = "where it is at certain times, by smooth curves between; before and after it "
                              "stands still"},
                      &ListenerEntry::path, &listener_key_table)
                .choice({.key = "kind",
                         .doc = "mono; stereo: two microphones side by side; binaural: a head with two ears; "
                                "ambisonic: first order, ACN and SN3D; microphones: those of the list"},
                        &ListenerEntry::kind,
                        {{"mono", ListenerKind::mono},
                         {"stereo", ListenerKind::stereo},
                         {"microphones", ListenerKind::microphones},
                         {"ambisonic", ListenerKind::ambisonic},
                         {"binaural", ListenerKind::binaural}})
                .field({.key = "spacing",
                        .unit = "m",
                        .doc = "of the two microphones of stereo",
                        .bounds = between(0, 100)},
                       &ListenerEntry::spacing)
                .field({.key = "hrtf", .doc = "SOFA file for binaural; default: the set of libmysofa"},
                       &ListenerEntry::hrtf)
                .list({.key = "microphones", .doc = "for kind microphones, a channel each"},
                      &ListenerEntry::microphones, &microphone_table))

THRUM_TABLE(
    SoundEntry, sound_table,
    ObjectTable<SoundEntry>(
        "sound", "That a run is heard, and how. `thrum sound` makes the sound again with other values.")
        .field({.key = "sample_rate", .unit = "Hz", .doc = "of the file", .bounds = between(8000, 384000)},
               synthesis(&SynthesisSettings::sample_rate))
        .field(non_negative("min_frequency", "Hz", "modes below are not heard"),
               synthesis(&SynthesisSettings::min_frequency))
        .field({.key = "max_frequency", .unit = "Hz", .doc = "modes above are left out", .bounds = above(0)},
               synthesis(&SynthesisSettings::max_frequency))
        .field({.key = "modes", .doc = "of a body at most, lowest first", .bounds = between(0, 2000)},
               synthesis(&SynthesisSettings::modes))
        .field(
            {.key = "diffuse_modes",
             .doc = "modes drawn from the statistics of these stand for those beyond, up to max_frequency"},
            synthesis(&SynthesisSettings::diffuse_modes))
        .field({.key = "max_tetrahedra",
                .doc = "about, of a body whose modes are computed",
                .bounds = between(100, 1e6)},
               synthesis(&SynthesisSettings::max_tetrahedra))
        .choice(
            {.key = "radiation",
             .doc = "of the modes: scalar, the same in all directions; multipole or equivalent_sources, by "
                    "direction, computed once a body (up to a minute) and cached"},
            synthesis(&SynthesisSettings::radiation),
            std::vector<std::pair<std::string, sound::SoundRadiation>>{
                {"scalar", sound::SoundRadiation::scalar},
                {"multipole", sound::SoundRadiation::multipole},
                {"equivalent_sources", sound::SoundRadiation::equivalent_sources}})
        .field(factor("contact_damping_scale", kMaxSoundFactor,
                      "of contact_damping of the materials; 1: as published, which is hardly heard but "
                      "for steel; 10 to 30 doubles the decay of a mug"),
               synthesis(&SynthesisSettings::contact_damping_scale))
        .field(factor("roughness", kMaxRoughness,
                      "fluctuation of the force of every sliding contact, as a share of it; default: that of "
                      "the materials that touch (material.roughness)"),
               synthesis(&SynthesisSettings::roughness))
        .field(factor("rolling", kMaxRoughness,
                      "fluctuation of the force of a rolling contact against that of a sliding one"),
               synthesis(&SynthesisSettings::rolling))
        .field({.key = "acceleration_noise", .doc = "the click of a body that changes its speed"},
               synthesis(&SynthesisSettings::acceleration_noise))
        .field(non_negative("min_impact_speed", "m/s", "slower contacts press without striking"),
               synthesis(&SynthesisSettings::min_impact_speed))
        .field({.key = "seed", .doc = "of the roughness"}, synthesis(&SynthesisSettings::seed))
        .field({.key = "full_scale",
                .unit = "Pa",
                .doc = "pressure that is written as 1.0; 0: the peak becomes 0.89",
                .bounds = between(0, kMaxSoundFactor)},
               &SoundEntry::full_scale)
        .field({.key = "normalise",
                .doc = "choose full scale for a loudness of -18 LUFS, peaks at most -1 dBFS"},
               &SoundEntry::normalise)
        .field({.key = "tail",
                .unit = "s",
                .doc = "heard after the end of the motion, at most: it ends when nothing is heard any more",
                .bounds = between(0, 3600)},
               &SoundEntry::tail)
        .field(non_negative("impulse_duration", "s", "of the impulses of the scene"),
               &SoundEntry::impulse_duration)
        .field(fraction("ground_reflection", "of pressure, by the plane of the scene; 0: none"),
               &SoundEntry::ground_reflection)
        .field({.key = "air_absorption", .doc = "high frequencies grow weaker on their way"},
               &SoundEntry::air_absorption)
        .field({.key = "stems", .doc = "write a file per body too, in the folder stems"}, &SoundEntry::stems))

THRUM_TABLE(
    OutputEntry, output_table,
    ObjectTable<OutputEntry>("outputs", "What a run writes.")
        .field(non_negative("frame_rate", "1/s", "poses a second in the recording; 0: every step"),
               &OutputEntry::frame_rate)
        .choice({.key = "contacts", .doc = "which are recorded"}, &OutputEntry::contacts,
                {{"all", sim::FrameContacts::all},
                 {"impacts", sim::FrameContacts::impacts},
                 {"none", sim::FrameContacts::none}})
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
