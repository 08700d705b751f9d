// SPDX-License-Identifier: MIT
// What a scene file holds, apart from shapes.
#include "thrum/scene/scene_tables.h"

namespace thrum::scene {

namespace {

#define THRUM_TABLE(Type, function, ...)                \
  const ObjectTable<Type>& function()                   \
  {                                                     \
    static const ObjectTable<Type> table = __VA_ARGS__; \
    return table;                                       \
  }

THRUM_TABLE(ShapeEntry, shape_entry_table,
            ObjectTable<ShapeEntry>("shape entry", "A shape that bodies refer to by its name.")
                .field({.key = "name", .doc = "by which bodies refer to it", .required = true},
                       &ShapeEntry::name)
                .object({.key = "shape", .doc = "the shape", .required = true}, &ShapeEntry::shape,
                        &shape_table))

ValueRule share(const char* key, const char* doc)
{
  return {.key = key, .doc = doc, .bounds = between(0, 1)};
}
ValueRule coefficient(const char* key, const char* unit, const char* doc)
{
  return {.key = key, .unit = unit, .doc = doc, .bounds = at_least(0)};
}

THRUM_TABLE(
    MaterialEntry, material_table,
    ObjectTable<MaterialEntry>("material", "What bodies are made of. What is not given comes from \"base\".")
        .field({.key = "name", .doc = "by which bodies refer to it", .required = true}, &MaterialEntry::name)
        .field({.key = "base", .doc = "a material of the library, or one listed before"},
               &MaterialEntry::base)
        .field({.key = "density", .unit = "kg/m^3", .doc = "of the solid", .bounds = above(0)},
               &MaterialEntry::density)
        .field({.key = "young", .unit = "Pa", .doc = "Young's modulus", .bounds = above(0)},
               &MaterialEntry::young)
        .field({.key = "poisson", .doc = "Poisson's ratio", .bounds = {-1, 0.5, true}},
               &MaterialEntry::poisson)
        .field(coefficient("alpha", "1/s", "Rayleigh damping by mass"), &MaterialEntry::alpha)
        .field(coefficient("beta", "s", "Rayleigh damping by stiffness"), &MaterialEntry::beta)
        .field(share("restitution", "speed after an impact over speed before"), &MaterialEntry::restitution)
        .field(coefficient("friction", "", "Coulomb's coefficient"), &MaterialEntry::friction)
        .field(coefficient("rolling_friction", "m", "rolling torque per normal force"),
               &MaterialEntry::rolling_friction)
        .field(coefficient("spinning_friction", "m", "torque about the normal per normal force"),
               &MaterialEntry::spinning_friction)
        .field({.key = "colour", .doc = "in pictures"}, &MaterialEntry::colour))

THRUM_TABLE(MaterialPair, material_pair_table,
            ObjectTable<MaterialPair>("material pair",
                                      "How two materials touch; without it the smaller value of each holds.")
                .field({.key = "a", .doc = "one material", .required = true}, &MaterialPair::a)
                .field({.key = "b", .doc = "the other", .required = true}, &MaterialPair::b)
                .field(share("restitution", "speed after an impact over speed before"),
                       &MaterialPair::restitution)
                .field(coefficient("friction", "", "Coulomb's coefficient"), &MaterialPair::friction)
                .field(coefficient("rolling_friction", "m", "rolling torque per normal force"),
                       &MaterialPair::rolling_friction)
                .field(coefficient("spinning_friction", "m", "torque about the normal per normal force"),
                       &MaterialPair::spinning_friction))

THRUM_TABLE(GridRepeat, grid_table,
            ObjectTable<GridRepeat>("grid", "Rows, columns and layers.")
                .field({.key = "count", .doc = "along x, y and z", .bounds = at_least(1), .required = true},
                       &GridRepeat::count)
                .field({.key = "spacing", .unit = "m", .doc = "between neighbours"}, &GridRepeat::spacing)
                .field({.key = "centred",
                        .doc = "about the body's position in x and y; layers always go up from it"},
                       &GridRepeat::centred)
                .field({.key = "rotate", .doc = "turn each at random"}, &GridRepeat::rotate))

THRUM_TABLE(StackRepeat, stack_table,
            ObjectTable<StackRepeat>("stack", "One above the other.")
                .field({.key = "count", .doc = "how many", .bounds = at_least(1), .required = true},
                       &StackRepeat::count)
                .field({.key = "spacing", .unit = "m", .doc = "between neighbours", .required = true},
                       &StackRepeat::spacing)
                .field({.key = "turn", .unit = "degrees", .doc = "of each against the one below"},
                       &StackRepeat::turn))

THRUM_TABLE(WallRepeat, wall_table,
            ObjectTable<WallRepeat>("wall", "Staggered rows in the plane of x and z, centred in x.")
                .field({.key = "columns", .doc = "in a row", .bounds = at_least(1), .required = true},
                       &WallRepeat::columns)
                .field({.key = "rows", .doc = "one above the other", .bounds = at_least(1), .required = true},
                       &WallRepeat::rows)
                .field({.key = "spacing", .unit = "m", .doc = "along x and along z", .required = true},
                       &WallRepeat::spacing)
                .field({.key = "stagger", .doc = "share of the spacing by which odd rows are shifted"},
                       &WallRepeat::stagger))

THRUM_TABLE(PyramidRepeat, pyramid_table,
            ObjectTable<PyramidRepeat>("pyramid", "Rows that get shorter by one, in the plane of x and z.")
                .field({.key = "rows",
                        .doc = "one above the other; as many bodies in the lowest",
                        .bounds = at_least(1),
                        .required = true},
                       &PyramidRepeat::rows)
                .field({.key = "spacing", .unit = "m", .doc = "along x and along z", .required = true},
                       &PyramidRepeat::spacing))

THRUM_TABLE(
    AlongRepeat, along_table,
    ObjectTable<AlongRepeat>("along", "Evenly along a path.")
        .field({.key = "points",
                .unit = "m",
                .doc = "corners of the path, relative to the body",
                .required = true},
               &AlongRepeat::points)
        .field(
            {.key = "count", .doc = "how many, both ends included", .bounds = at_least(1), .required = true},
            &AlongRepeat::count)
        .field({.key = "turn", .doc = "the x axis of each follows the path"}, &AlongRepeat::turn)
        .field({.key = "twist", .unit = "degrees", .doc = "of each against the one before, about the path"},
               &AlongRepeat::twist))

THRUM_TABLE(ScatterRepeat, scatter_table,
            ObjectTable<ScatterRepeat>("scatter", "At random in a box about the body's position.")
                .field({.key = "count", .doc = "how many", .bounds = at_least(1), .required = true},
                       &ScatterRepeat::count)
                .field({.key = "size", .unit = "m", .doc = "of the box", .bounds = at_least(0)},
                       &ScatterRepeat::size)
                .field({.key = "apart",
                        .unit = "m",
                        .doc = "least distance between two positions",
                        .bounds = at_least(0)},
                       &ScatterRepeat::apart)
                .field({.key = "rotate", .doc = "any orientation"}, &ScatterRepeat::rotate)
                .field({.key = "seed", .doc = "of this scatter; by itself it follows from the scene's seed"},
                       &ScatterRepeat::seed))

THRUM_TABLE(
    JointEntry, joint_table,
    ObjectTable<JointEntry>(
        "joint", "Holds two bodies, or a body and the world. Places are in the world, at the start.")
        .choice({.key = "kind", .doc = "what it allows", .required = true}, &JointEntry::kind,
                {{"fixed", model::JointKind::fixed},
                 {"ball", model::JointKind::ball},
                 {"hinge", model::JointKind::hinge},
                 {"slider", model::JointKind::slider},
                 {"distance", model::JointKind::distance},
                 {"spring", model::JointKind::spring}})
        .field({.key = "a", .doc = "a body", .required = true}, &JointEntry::a)
        .field({.key = "b", .doc = "another body; without it: the world"}, &JointEntry::b)
        .field(
            {.key = "position", .unit = "m", .doc = "of the joint; of its end on a for distance and spring"},
            &JointEntry::position)
        .field({.key = "other", .unit = "m", .doc = "distance and spring: its end on b"}, &JointEntry::other)
        .field({.key = "axis", .doc = "of a hinge or a slider"}, &JointEntry::axis)
        .field({.key = "limits", .unit = "degrees or m", .doc = "lowest and highest"}, &JointEntry::limits)
        .field({.key = "motor_speed", .unit = "rad/s or m/s", .doc = "drives a hinge or a slider"},
               &JointEntry::motor_speed)
        .field(coefficient("motor_force", "N m or N", "greatest of the motor"), &JointEntry::motor_force)
        .field({.key = "length",
                .unit = "m",
                .doc = "of a distance or a spring at rest; by itself: as placed",
                .bounds = at_least(0)},
               &JointEntry::length)
        .field(coefficient("stiffness", "N/m", "of a spring"), &JointEntry::stiffness)
        .field(coefficient("damping", "N s/m", "of a spring"), &JointEntry::damping)
        .field({.key = "collide", .doc = "whether the two bodies may touch each other"},
               &JointEntry::collide))

THRUM_TABLE(ImpulseEntry, impulse_table,
            ObjectTable<ImpulseEntry>("impulse", "A blow at one moment.")
                .field({.key = "body", .doc = "which is struck", .required = true}, &ImpulseEntry::body)
                .field({.key = "time", .unit = "s", .doc = "when", .bounds = at_least(0)},
                       &ImpulseEntry::time)
                .field({.key = "impulse", .unit = "N s", .doc = "in world axes", .required = true},
                       &ImpulseEntry::impulse)
                .field({.key = "position",
                        .unit = "m",
                        .doc = "where, in the axes of the shape; by itself: the centre of mass"},
                       &ImpulseEntry::position))

THRUM_TABLE(
    ForceEntry, force_table,
    ObjectTable<ForceEntry>("force", "A force over time, straight lines between the values, none outside.")
        .field({.key = "body", .doc = "which is pushed", .required = true}, &ForceEntry::body)
        .field({.key = "times", .unit = "s", .doc = "ascending", .bounds = at_least(0), .required = true},
               &ForceEntry::times)
        .field({.key = "forces", .unit = "N", .doc = "at these times, in world axes", .required = true},
               &ForceEntry::forces)
        .field({.key = "position",
                .unit = "m",
                .doc = "where, in the axes of the shape; by itself: the centre of mass"},
               &ForceEntry::position))

THRUM_TABLE(
    rigid::ConstraintSettings, constraint_table,
    ObjectTable<rigid::ConstraintSettings>("constraint", "Settings of the constraint stepper.")
        .field({.key = "sub_steps", .doc = "into which a step is cut", .bounds = between(1, 1000)},
               &rigid::ConstraintSettings::sub_steps)
        .field({.key = "iterations",
                .doc = "sweeps over all contacts in a sub-step",
                .bounds = between(1, 100000)},
               &rigid::ConstraintSettings::iterations)
        .field({.key = "more_iterations",
                .doc = "sweeps at most over what has not settled by then",
                .bounds = between(0, 100000)},
               &rigid::ConstraintSettings::more_iterations)
        .field({.key = "impact_iterations",
                .doc = "sweeps when something bounces",
                .bounds = between(1, 100000)},
               &rigid::ConstraintSettings::impact_iterations)
        .field(share("erp", "of the overlap removed in a sub-step"), &rigid::ConstraintSettings::erp)
        .field(share("cfm", "added to the diagonal, as a share of it"), &rigid::ConstraintSettings::cfm)
        .field(share("joint_erp", "of the error of joints removed in a sub-step"),
               &rigid::ConstraintSettings::joint_erp)
        .field(coefficient("push_out", "", "share of the length scale removed in a sub-step, at most"),
               &rigid::ConstraintSettings::push_out)
        .field({.key = "warm_start", .doc = "begin with the impulses of the step before"},
               &rigid::ConstraintSettings::warm_start)
        .choice({.key = "friction", .doc = "shape of the bound"}, &rigid::ConstraintSettings::friction,
                {{"cone", rigid::FrictionCone::cone}, {"box", rigid::FrictionCone::box}})
        .choice({.key = "friction_bounds", .doc = "what they follow"},
                &rigid::ConstraintSettings::friction_bounds,
                {{"each_iteration", rigid::FrictionBounds::each_iteration},
                 {"first_solve", rigid::FrictionBounds::first_solve}})
        .choice({.key = "order", .doc = "of the sweeps; contact_graph makes heavy stand on light"},
                &rigid::ConstraintSettings::order,
                {{"as_found", rigid::SweepOrder::as_found},
                 {"contact_graph", rigid::SweepOrder::contact_graph}})
        .choice({.key = "solver", .doc = "of the contact problem"}, &rigid::ConstraintSettings::solver,
                {{"gauss_seidel", rigid::RowSolver::gauss_seidel}, {"direct", rigid::RowSolver::direct}}))

THRUM_TABLE(
    StepperEntry, stepper_table,
    ObjectTable<StepperEntry>("stepper", "How contacts are resolved.")
        .choice({.key = "kind", .doc = "the method"}, &StepperEntry::kind,
                {{"constraint", sim::StepperKind::constraint}, {"impulse", sim::StepperKind::impulse}})
        .object({.key = "constraint", .doc = "settings of the constraint stepper"}, &StepperEntry::constraint,
                &constraint_table)
        .field({.key = "greatest_move",
                .doc = "share of its least extent that a body moves before contacts are found again",
                .bounds = above(0)},
               &StepperEntry::greatest_move)
        .field({.key = "most_pieces", .doc = "into which a step is cut for that", .bounds = between(1, 1000)},
               &StepperEntry::most_pieces))

THRUM_TABLE(rigid::SleepSettings, sleep_table,
            ObjectTable<rigid::SleepSettings>("sleep", "When bodies at rest are left alone.")
                .field({.key = "enabled", .doc = "whether they are"}, &rigid::SleepSettings::enabled)
                .field(coefficient("speed", "1/s", "still below so many length scales a second"),
                       &rigid::SleepSettings::speed)
                .field(coefficient("angular_speed", "rad/s", "still below this"),
                       &rigid::SleepSettings::angular_speed)
                .field(coefficient("time", "s", "still for so long"), &rigid::SleepSettings::time))

std::vector<std::pair<std::string, ResponseMethod>> method_words()
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
                &ResponseEntry::method, method_words())
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
        .choice({.key = "memory", .doc = "what becomes of vibration at the end of a step"},
                &ResponseEntry::memory,
                {{"kept", vibration::RingMemory::kept}, {"restarted", vibration::RingMemory::restarted}})
        .field(coefficient("least_impulse", "N s", "of an impact that counts"), &ResponseEntry::least_impulse)
        .field(coefficient("least_speed", "m/s", "of approach that counts"), &ResponseEntry::least_speed)
        .field(coefficient("least_kick", "m/s", "that is given"), &ResponseEntry::least_kick)
        .field({.key = "window", .unit = "s", .doc = "followed after an impact", .bounds = above(0)},
               &ResponseEntry::window)
        .field({.key = "contact_radius",
                .unit = "m",
                .doc = "of curvature where bodies touch, for the duration of impacts",
                .bounds = above(0)},
               &ResponseEntry::contact_radius)
        .field(coefficient("time_budget", "s", "of one response, for the automatic rule"),
               &ResponseEntry::time_budget)
        .field({.key = "limit_energy", .doc = "kicks never exceed what the impact lost"},
               &ResponseEntry::limit_energy)
        .field({.key = "tangential", .doc = "kicks across the normal too"}, &ResponseEntry::tangential)
        .field({.key = "force_jumps", .doc = "resting contacts that are suddenly pressed count as impacts"},
               &ResponseEntry::force_jumps)
        .field({.key = "most_hops", .doc = "through further bodies that ring", .bounds = between(0, 100)},
               &ResponseEntry::most_hops))

THRUM_TABLE(
    AttenuationEntry, attenuation_table,
    ObjectTable<AttenuationEntry>("attenuation", "How waves in a large body grow weaker with distance.")
        .field(
            {.key = "fit",
             .doc =
                 "C and beta (with full: alpha, beta and r0) and least_distance from the body's own modes"},
            &AttenuationEntry::fit)
        .field({.key = "full", .doc = "exp(-alpha (r - r0)) (r / r0)^-beta instead of C r^-beta"},
               &AttenuationEntry::full)
        .field(coefficient("C", "m^beta", "0.4 to 1 plausible, up to 2 exaggerated"), &AttenuationEntry::C)
        .field(coefficient("alpha", "1/m", "absorption"), &AttenuationEntry::alpha)
        .field(coefficient("beta", "", "0 rods, 0.5 shells, 1 volumes"), &AttenuationEntry::beta)
        .field({.key = "r0", .unit = "m", .doc = "where nothing is lost yet", .bounds = above(0)},
               &AttenuationEntry::r0)
        .field({.key = "least_distance", .unit = "m", .doc = "nearer counts as that far", .bounds = above(0)},
               &AttenuationEntry::least_distance)
        .field({.key = "average", .doc = "mean motion of all upward vertices"}, &AttenuationEntry::average)
        .choice({.key = "distance", .doc = "along the surface, or straight for flat ground"},
                &AttenuationEntry::distance,
                {{"geodesic", vibration::WaveDistance::geodesic},
                 {"euclidean", vibration::WaveDistance::euclidean}})
        .field({.key = "arrival_delay", .doc = "kicks arrive with the wave"},
               &AttenuationEntry::arrival_delay))

THRUM_TABLE(CameraEntry, camera_table,
            ObjectTable<CameraEntry>("camera",
                                     "Where pictures are taken from; by itself it sees all that moves.")
                .field({.key = "eye", .unit = "m", .doc = "where it stands"}, &CameraEntry::eye)
                .field({.key = "target", .unit = "m", .doc = "what it looks at"}, &CameraEntry::target)
                .field({.key = "field_of_view",
                        .unit = "degrees",
                        .doc = "from top to bottom",
                        .bounds = between(1, 150)},
                       &CameraEntry::field_of_view)
                .field({.key = "from", .doc = "direction to look from, when there is no eye"},
                       &CameraEntry::from))

THRUM_TABLE(ListenerEntry, listener_table,
            ObjectTable<ListenerEntry>("listener", "Where sound is heard.")
                .field({.key = "position", .unit = "m", .doc = "of the head"}, &ListenerEntry::position)
                .field({.key = "forward", .doc = "where it looks"}, &ListenerEntry::forward))

THRUM_TABLE(
    OutputEntry, output_table,
    ObjectTable<OutputEntry>("outputs", "What a run writes.")
        .field(coefficient("frame_rate", "1/s", "poses a second in the recording; 0: every step"),
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

}  // namespace

const KindTable<RepeatDesc>& repeat_table()
{
  static const KindTable<RepeatDesc> table =
      KindTable<RepeatDesc>("repeat", "Many bodies from one. Names get a number: \"box/0\", \"box/1\" ...")
          .kind(&grid_table)
          .kind(&stack_table)
          .kind(&wall_table)
          .kind(&pyramid_table)
          .kind(&along_table)
          .kind(&scatter_table);
  return table;
}

THRUM_TABLE(
    RingsEntry, rings_table,
    ObjectTable<RingsEntry>("rings", "That a body rings, and how its modes are found.")
        .field({.key = "file", .doc = "a baked modal file; without it they are computed"}, &RingsEntry::file)
        .field({.key = "modes", .doc = "how many", .bounds = between(1, 2000)}, &RingsEntry::modes)
        .field({.key = "clamp", .doc = "where it is held, such as \"z<0.01\"; by itself: nowhere"},
               &RingsEntry::clamp)
        .choice({.key = "supports", .doc = "contacts: it is held also where it stands at its first rest"},
                &RingsEntry::supports, {{"clamp", SupportedBy::clamp}, {"contacts", SupportedBy::contacts}})
        .field(coefficient("spacing", "m", "of the tetrahedra; 0: by the size of the body"),
               &RingsEntry::spacing)
        .choice({.key = "method", .doc = "none: that of the scene"}, &RingsEntry::method, method_words())
        .object({.key = "attenuation", .doc = "of waves in a large body"}, &RingsEntry::attenuation,
                &attenuation_table))

THRUM_TABLE(
    BodyEntry, body_table,
    ObjectTable<BodyEntry>("body", "A body, or many alike.")
        .field({.key = "name",
                .doc = "by which joints, forces and files refer to it; by itself: body0, body1 ..."},
               &BodyEntry::name)
        .named_or_object({.key = "shape", .doc = "its shape"}, &BodyEntry::shape, &shape_table)
        .field({.key = "shapes", .doc = "names of shapes that the repeated bodies get in turn"},
               &BodyEntry::shapes)
        .field({.key = "material", .doc = "a material of this scene or of the library"}, &BodyEntry::material)
        .choice({.key = "motion", .doc = "what may move it"}, &BodyEntry::motion,
                {{"dynamic", model::Motion::dynamic},
                 {"kinematic", model::Motion::kinematic},
                 {"fixed", model::Motion::fixed}})
        .field({.key = "position", .unit = "m", .doc = "of the shape's origin"}, &BodyEntry::position)
        .field({.key = "rotation", .doc = "of the shape's axes"}, &BodyEntry::rotation)
        .field({.key = "velocity", .unit = "m/s", .doc = "of the centre of mass"}, &BodyEntry::velocity)
        .field({.key = "angular_velocity", .unit = "rad/s", .doc = "in world axes"},
               &BodyEntry::angular_velocity)
        .field({.key = "mass", .unit = "kg", .doc = "instead of what the density gives", .bounds = above(0)},
               &BodyEntry::mass)
        .field({.key = "density", .unit = "kg/m^3", .doc = "instead of the material's", .bounds = above(0)},
               &BodyEntry::density)
        .field({.key = "colour", .doc = "in pictures"}, &BodyEntry::colour)
        .object({.key = "rings", .doc = "that it rings"}, &BodyEntry::rings, &rings_table)
        .field({.key = "stretch",
                .doc = "[least, greatest] factor by which the lengths of each repeated mesh are changed at "
                       "random, along x, y "
                       "and z by themselves",
                .bounds = above(0)},
               &BodyEntry::stretch)
        .list({.key = "repeat", .doc = "each repeats what the one before made"}, &BodyEntry::repeat,
              &repeat_table))

THRUM_TABLE(IncludeEntry, include_table,
            ObjectTable<IncludeEntry>("include", "Another scene file as a part of this one.")
                .field({.key = "file", .doc = "the file", .required = true}, &IncludeEntry::file)
                .field({.key = "parameters", .doc = "values for its parameters"}, &IncludeEntry::parameters)
                .field({.key = "prefix", .doc = "in front of the names of its bodies, shapes and materials"},
                       &IncludeEntry::prefix)
                .field({.key = "position", .unit = "m", .doc = "where its origin comes to lie"},
                       &IncludeEntry::position)
                .field({.key = "rotation", .doc = "how it is turned"}, &IncludeEntry::rotation))

THRUM_TABLE(
    SceneDesc, scene_table,
    ObjectTable<SceneDesc>("scene", "A scene file. Lengths in m, masses in kg, times in s; z is up.")
        .field({.key = "$schema", .doc = "for editors"}, &SceneDesc::schema)
        .field({.key = "parameters",
                .doc = "names and values for expressions in this file, such as \"=height / 2\""},
               &SceneDesc::parameters)
        .list({.key = "include",
               .doc = "files that become part of this one; what they say twice, this file says last"},
              &SceneDesc::include, &include_table)
        .field({.key = "title", .doc = "for people"}, &SceneDesc::title)
        .field({.key = "description", .doc = "for people"}, &SceneDesc::description)
        .field({.key = "duration", .unit = "s", .doc = "of the run", .bounds = above(0)},
               &SceneDesc::duration)
        .field({.key = "step", .unit = "s", .doc = "of the simulation", .bounds = above(0)}, &SceneDesc::step)
        .field({.key = "seed", .doc = "of everything random"}, &SceneDesc::seed)
        .field({.key = "gravity", .unit = "m/s^2", .doc = "acceleration"}, &SceneDesc::gravity)
        .field({.key = "length_scale", .unit = "m", .doc = "size of a usual body", .bounds = above(0)},
               &SceneDesc::length_scale)
        .object({.key = "stepper", .doc = "how contacts are resolved"}, &SceneDesc::stepper, &stepper_table)
        .object({.key = "sleep", .doc = "when bodies at rest are left alone"}, &SceneDesc::sleep,
                &sleep_table)
        .object({.key = "response", .doc = "how impacts travel through bodies"}, &SceneDesc::response,
                &response_table)
        .object({.key = "camera", .doc = "where pictures are taken from"}, &SceneDesc::camera, &camera_table)
        .object({.key = "listener", .doc = "where sound is heard"}, &SceneDesc::listener, &listener_table)
        .object({.key = "outputs", .doc = "what a run writes"}, &SceneDesc::outputs, &output_table)
        .list({.key = "shapes", .doc = "shapes with names"}, &SceneDesc::shapes, &shape_entry_table)
        .list({.key = "materials", .doc = "materials with names"}, &SceneDesc::materials, &material_table)
        .list({.key = "material_pairs", .doc = "how certain materials touch"}, &SceneDesc::material_pairs,
              &material_pair_table)
        .list({.key = "bodies", .doc = "what there is"}, &SceneDesc::bodies, &body_table)
        .list({.key = "joints", .doc = "what holds bodies together"}, &SceneDesc::joints, &joint_table)
        .list({.key = "impulses", .doc = "blows at chosen moments"}, &SceneDesc::impulses, &impulse_table)
        .list({.key = "forces", .doc = "forces over time"}, &SceneDesc::forces, &force_table))

#undef THRUM_TABLE

}  // namespace thrum::scene
