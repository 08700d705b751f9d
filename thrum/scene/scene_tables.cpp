// SPDX-License-Identifier: MIT
// What a scene file holds, apart from shapes and settings.
#include "thrum/scene/scene_tables.h"

#include "thrum/elastic/material_limits.h"

namespace thrum::scene {

namespace {

constexpr double kMaxGain = 1e6;

ValueRule roughness_field(const char* doc)
{
  return {.key = "roughness", .unit = "m", .doc = doc, .bounds = between(0, elastic::kMaxRoughness)};
}
ValueRule roughness_exponent_field(const char* doc)
{
  return {.key = "roughness_exponent", .doc = doc, .bounds = between(0, 1)};
}

THRUM_TABLE(ShapeEntry, shape_entry_table,
            ObjectTable<ShapeEntry>("shape entry", "A shape that bodies refer to by its name.")
                .field({.key = "name", .doc = "by which bodies refer to it", .required = true},
                       &ShapeEntry::name)
                .object({.key = "shape", .doc = "the shape", .required = true}, &ShapeEntry::shape,
                        &shape_table))

THRUM_TABLE(
    MaterialEntry, material_table,
    ObjectTable<MaterialEntry>("material", "What bodies are made of. What is not given comes from \"base\".")
        .field({.key = "name", .doc = "by which bodies refer to it", .required = true}, &MaterialEntry::name)
        .field({.key = "base", .doc = "a material of the library, or one listed before"},
               &MaterialEntry::base)
        .field({.key = "density",
                .unit = "kg/m^3",
                .doc = "of the solid",
                .bounds = between(elastic::kMinDensity, elastic::kMaxDensity)},
               &MaterialEntry::density)
        .field({.key = "young",
                .unit = "Pa",
                .doc = "Young's modulus",
                .bounds = between(elastic::kMinYoung, elastic::kMaxYoung)},
               &MaterialEntry::young)
        .field({.key = "poisson", .doc = "Poisson's ratio", .bounds = {-1, 0.5, true, true}},
               &MaterialEntry::poisson)
        .field({.key = "alpha", .unit = "1/s", .doc = "Rayleigh damping by mass", .bounds = between(0, 1e9)},
               &MaterialEntry::alpha)
        .field(
            {.key = "beta", .unit = "s", .doc = "Rayleigh damping by stiffness", .bounds = between(0, 1e3)},
            &MaterialEntry::beta)
        .field(non_negative("contact_damping", "",
                            "gamma of Zheng11: how much what it touches damps its sound"),
               &MaterialEntry::contact_damping)
        .field({.key = "gain",
                .doc = "factor of the sound of bodies of it; default: 1",
                .bounds = between(0, kMaxGain)},
               &MaterialEntry::gain)
        .field(roughness_field("rms height of the surface over wavelengths of 0.125 to 8 mm, which is heard "
                               "where it slides or rolls; variances of two surfaces add; default: 7e-7"),
               &MaterialEntry::roughness)
        .field(roughness_exponent_field("of Hurst: the spectrum of the heights falls with the wave number to "
                                        "the power -(2 H + 1); default: 0.5"),
               &MaterialEntry::roughness_exponent)
        .field(fraction("restitution", "speed after an impact over speed before"),
               &MaterialEntry::restitution)
        .field(non_negative("friction", "", "Coulomb's coefficient"), &MaterialEntry::friction)
        .field(non_negative("rolling_friction", "m", "rolling torque per normal force"),
               &MaterialEntry::rolling_friction)
        .field(non_negative("spinning_friction", "m", "torque about the normal per normal force"),
               &MaterialEntry::spinning_friction)
        .field({.key = "colour", .doc = "in pictures"}, &MaterialEntry::colour))

THRUM_TABLE(
    MaterialPair, material_pair_table,
    ObjectTable<MaterialPair>("material pair",
                              "How two materials touch; without it the smaller value of each holds, "
                              "and the sum of the spectra of their roughness. One that gives only "
                              "roughness leaves the coefficients as they are.")
        .field({.key = "a", .doc = "one material", .required = true}, &MaterialPair::a)
        .field({.key = "b", .doc = "the other", .required = true}, &MaterialPair::b)
        .field(fraction("restitution", "speed after an impact over speed before; default: 0"),
               &MaterialPair::restitution)
        .field(non_negative("friction", "", "Coulomb's coefficient; default: 0.5"), &MaterialPair::friction)
        .field(non_negative("rolling_friction", "m", "rolling torque per normal force; default: 0"),
               &MaterialPair::rolling_friction)
        .field(non_negative("spinning_friction", "m", "torque about the normal per normal force; default: 0"),
               &MaterialPair::spinning_friction)
        .field(roughness_field("rms height of both surfaces together"), &MaterialPair::roughness)
        .field(roughness_exponent_field("of both surfaces together"), &MaterialPair::roughness_exponent))

THRUM_TABLE(
    GridRepeat, grid_table,
    ObjectTable<GridRepeat>("grid", "Rows, columns and layers.")
        .field({.key = "count", .doc = "along x, y and z", .bounds = at_least(1), .required = true},
               &GridRepeat::count)
        .field({.key = "spacing", .unit = "m", .doc = "between neighbours"}, &GridRepeat::spacing)
        .field({.key = "centred", .doc = "about the body's position in x and y; layers always go up from it"},
               &GridRepeat::centred)
        .field({.key = "random_rotation", .doc = "turn each at random"}, &GridRepeat::random_rotation))

THRUM_TABLE(StackRepeat, stack_table,
            ObjectTable<StackRepeat>("stack", "One above the other.")
                .field({.key = "count", .doc = "how many", .bounds = at_least(1), .required = true},
                       &StackRepeat::count)
                .field({.key = "spacing", .unit = "m", .doc = "between neighbours", .required = true},
                       &StackRepeat::spacing)
                .field({.key = "twist", .unit = "degrees", .doc = "of each against the one below"},
                       &StackRepeat::twist))

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
        .field({.key = "follow_path", .doc = "the x axis of each follows the path"},
               &AlongRepeat::follow_path)
        .field({.key = "twist", .unit = "degrees", .doc = "of each against the one before, about the path"},
               &AlongRepeat::twist))

THRUM_TABLE(ScatterRepeat, scatter_table,
            ObjectTable<ScatterRepeat>("scatter", "At random in a box about the body's position.")
                .field({.key = "count", .doc = "how many", .bounds = at_least(1), .required = true},
                       &ScatterRepeat::count)
                .field({.key = "size", .unit = "m", .doc = "of the box", .bounds = at_least(0)},
                       &ScatterRepeat::size)
                .field({.key = "min_spacing",
                        .unit = "m",
                        .doc = "min distance between two positions",
                        .bounds = at_least(0)},
                       &ScatterRepeat::min_spacing)
                .field({.key = "random_rotation", .doc = "any orientation"}, &ScatterRepeat::random_rotation)
                .field({.key = "seed", .doc = "of this scatter; default: derived from the scene's seed"},
                       &ScatterRepeat::seed))

std::vector<std::pair<std::string, model::JointKind>> joint_kind_names()
{
  using Kind = model::JointKind;
  return {{"fixed", Kind::fixed},   {"ball", Kind::ball},         {"hinge", Kind::hinge},
          {"slider", Kind::slider}, {"distance", Kind::distance}, {"spring", Kind::spring}};
}

std::vector<std::pair<std::string, model::Motion>> motion_names()
{
  using Motion = model::Motion;
  return {{"dynamic", Motion::dynamic}, {"kinematic", Motion::kinematic}, {"fixed", Motion::fixed}};
}

THRUM_TABLE(
    JointEntry, joint_table,
    ObjectTable<JointEntry>(
        "joint", "Holds two bodies, or a body and the world. Places are in the world, at the start.")
        .choice({.key = "kind", .doc = "what it allows", .required = true},
                path(&JointEntry::desc, &model::JointDesc::kind), joint_kind_names())
        .field({.key = "a", .doc = "a body", .required = true}, &JointEntry::a)
        .field({.key = "b", .doc = "another body; without it: the world"}, &JointEntry::b)
        .field(
            {.key = "position", .unit = "m", .doc = "of the joint; of its end on a for distance and spring"},
            &JointEntry::position)
        .field({.key = "position_on_b", .unit = "m", .doc = "distance and spring: its end on b"},
               &JointEntry::position_on_b)
        .field({.key = "axis", .doc = "of a hinge or a slider"}, &JointEntry::axis)
        .field({.key = "limits", .unit = "degrees or m", .doc = "[min, max]"}, &JointEntry::limits)
        .field(
            {.key = "motor_speed",
             .unit = "rad/s or m/s",
             .doc = "drives a hinge or a slider: b against a. Where b is the world, a moves the other way"},
            &JointEntry::motor_speed)
        .field({.key = "motor_target",
                .unit = "degrees or m",
                .doc = "where the motor of a hinge or a slider drives it and holds it, from 0 as it "
                       "is placed; motor_speed is then the max speed on the way"},
               &JointEntry::motor_target)
        .field(non_negative("max_motor_force", "N m or N", "upper limit of the motor"),
               path(&JointEntry::desc, &model::JointDesc::motor, &model::JointMotor::max_force))
        .field({.key = "length",
                .unit = "m",
                .doc = "of a distance or a spring at rest; default: as placed",
                .bounds = at_least(0)},
               &JointEntry::length)
        .field(non_negative("stiffness", "N/m", "of a spring"),
               path(&JointEntry::desc, &model::JointDesc::stiffness))
        .field(non_negative("damping", "N s/m", "of a spring"),
               path(&JointEntry::desc, &model::JointDesc::damping))
        .field({.key = "collide_connected", .doc = "whether the two bodies may touch each other"},
               path(&JointEntry::desc, &model::JointDesc::collide_connected)))

THRUM_TABLE(ImpulseEntry, impulse_table,
            ObjectTable<ImpulseEntry>("impulse", "An impulse applied at one time.")
                .field({.key = "body", .doc = "which is struck", .required = true}, &ImpulseEntry::body)
                .field({.key = "time", .unit = "s", .doc = "when", .bounds = at_least(0)},
                       &ImpulseEntry::time)
                .field({.key = "impulse", .unit = "N s", .doc = "in world axes", .required = true},
                       &ImpulseEntry::impulse)
                .field({.key = "position",
                        .unit = "m",
                        .doc = "where, in the axes of the shape; default: the centre of mass"},
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
                .doc = "where, in the axes of the shape; default: the centre of mass"},
               &ForceEntry::position))

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
        .field({.key = "clamp",
                .doc = "where it is held, such as \"z<0.01\" or \"x<0.1 || x>2.9\"; default: nowhere"},
               &RingsEntry::clamp)
        .choice({.key = "supports", .doc = "contacts: it is held also where it stands at its first rest"},
                &RingsEntry::supports, {{"clamp", SupportKind::clamp}, {"contacts", SupportKind::contacts}})
        .field(non_negative("spacing", "m", "of the elements; 0: as fine as the quality needs"),
               &RingsEntry::spacing)
        .field(non_negative("thickness", "m",
                            "the shape is a sheet of this thickness, half of it to each side; 0: a solid"),
               &RingsEntry::thickness)
        .choice(
            {.key = "fill",
             .doc =
                 "delaunay: tetrahedra that keep the surface; cut: elements that are partly inside, exact; "
                 "stuffing: fitted tetrahedra, which cut off sharp edges; auto: free bodies of revolution "
                 "as round ones, bodies along three axes in a grid, thin walls in wedges, others by "
                 "delaunay, or remeshed or cut where they have too many triangles"},
            &RingsEntry::fill,
            {{"auto", RingsFill::automatic},
             {"delaunay", RingsFill::delaunay},
             {"cut", RingsFill::cut},
             {"stuffing", RingsFill::stuffing}})
        .choice(
            {.key = "quality", .doc = "error of the frequencies of 5, 1 or 0.2 %, without a spacing"},
            &RingsEntry::quality,
            {{"draft", RingsQuality::draft}, {"normal", RingsQuality::normal}, {"fine", RingsQuality::fine}})
        .field(
            {.key = "grid",
             .unit = "m",
             .doc = "largest cell along x, y and z of a grid that fills it exactly, instead of the lattice; "
                    "for bodies with all faces along their axes, such as boxes and tables"},
            &RingsEntry::grid)
        .choice({.key = "method", .doc = "default: that of the scene; none: it does not answer impacts"},
                path(&RingsEntry::method), method_names())
        .object({.key = "attenuation", .doc = "of waves in a large body"}, &RingsEntry::attenuation,
                &attenuation_table))

THRUM_TABLE(
    BodyEntry, body_table,
    ObjectTable<BodyEntry>("body", "A body, or many alike.")
        .field({.key = "name",
                .doc = "by which joints, forces and files refer to it; default: body0, body1 ..."},
               &BodyEntry::name)
        .named_or_object({.key = "shape", .doc = "its shape"}, &BodyEntry::shape, &shape_table)
        .field({.key = "shapes", .doc = "names of shapes that the repeated bodies get in turn"},
               &BodyEntry::shapes)
        .field({.key = "material", .doc = "a material of this scene or of the library"}, &BodyEntry::material)
        .choice({.key = "motion", .doc = "what may move it"}, path(&BodyEntry::desc, &sim::BodyDesc::motion),
                motion_names())
        .field({.key = "position", .unit = "m", .doc = "of the shape's origin"}, &BodyEntry::position)
        .field({.key = "rotation", .doc = "of the shape's axes"}, &BodyEntry::rotation)
        .field({.key = "velocity", .unit = "m/s", .doc = "of the centre of mass"},
               path(&BodyEntry::desc, &sim::BodyDesc::velocity))
        .field({.key = "angular_velocity", .unit = "rad/s", .doc = "in world axes"},
               path(&BodyEntry::desc, &sim::BodyDesc::angular_velocity))
        .field({.key = "mass",
                .unit = "kg",
                .doc = "instead of what the density gives",
                .bounds = above(0),
                .hint = "Leave it out to use the density."},
               path(&BodyEntry::desc, &sim::BodyDesc::mass))
        .field({.key = "centre_of_mass",
                .unit = "m",
                .doc = "in the axes of the shape; default: that of the shape filled evenly"},
               path(&BodyEntry::desc, &sim::BodyDesc::centre_of_mass))
        .field({.key = "inertia",
                .unit = "kg m^2",
                .doc = "about the centre of mass, in the axes of the shape; needs \"mass\"; default: that of "
                       "the shape filled evenly, about its own centre"},
               path(&BodyEntry::desc, &sim::BodyDesc::inertia))
        .field({.key = "density",
                .unit = "kg/m^3",
                .doc = "instead of the material's",
                .bounds = above(0),
                .hint = "Leave it out to use the material's."},
               &BodyEntry::density)
        .field({.key = "gravity_scale", .doc = "times the gravity of the scene; 0: none, below 0: it rises"},
               path(&BodyEntry::desc, &sim::BodyDesc::gravity_scale))
        .field(non_negative("linear_damping", "1/s", "rate at which the velocity decays"),
               path(&BodyEntry::desc, &sim::BodyDesc::linear_damping))
        .field(non_negative("angular_damping", "1/s", "rate at which the spin decays"),
               path(&BodyEntry::desc, &sim::BodyDesc::angular_damping))
        .field({.key = "group", .doc = "of bodies that it is in, for collides_with; default: \"default\""},
               &BodyEntry::group)
        .field({.key = "collides_with",
                .doc = "the groups that it touches; two bodies touch when each is in a group that the other "
                       "touches; default: all, []: none"},
               &BodyEntry::collides_with)
        .field(
            {.key = "sensor",
             .doc =
                 "reports what overlaps it by contacts without impulse and events begin and end, and changes "
                 "no motion; sees dynamic bodies, not other sensors"},
            path(&BodyEntry::desc, &sim::BodyDesc::sensor))
        .field({.key = "may_sleep", .doc = "false: it stays awake, and with it all that it touches"},
               path(&BodyEntry::desc, &sim::BodyDesc::may_sleep))
        .field({.key = "user_data",
                .doc = "a number for the program that embeds the scene; not read by thrum"},
               path(&BodyEntry::desc, &sim::BodyDesc::user_data))
        .field({.key = "colour", .doc = "in pictures"}, &BodyEntry::colour)
        .object({.key = "rings", .doc = "that it rings"}, &BodyEntry::rings, &rings_table)
        .field({.key = "sound", .doc = "whether it is heard, in a scene with sound"}, &BodyEntry::sound)
        .field({.key = "gain",
                .doc = "factor of its sound, beside that of its material",
                .bounds = between(0, kMaxGain)},
               &BodyEntry::gain)
        .field({.key = "scale_range",
                .doc = "[min, max] factor by which the lengths of each repeated mesh are changed at "
                       "random, along x, y "
                       "and z by themselves",
                .bounds = above(0)},
               &BodyEntry::scale_range)
        .list({.key = "repeat", .doc = "each repeats what the one before made"}, &BodyEntry::repeat,
              &repeat_table)
        .field(non_negative("appears_at", "s",
                            "it is added at the first step that begins then or later; 0: from the beginning"),
               &BodyEntry::appears_at)
        .field({.key = "removed_at",
                .unit = "s",
                .doc = "it is removed, with its joints, at the first step that begins then or later; "
                       "default: it stays",
                .bounds = above(0)},
               &BodyEntry::removed_at)
        .field(non_negative("appears_every", "s",
                            "each repeated body appears, and is removed, so much later than the one before"),
               &BodyEntry::appears_every))

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
        .field({.key = "gravity", .unit = "m/s^2", .doc = "acceleration"},
               path(&SceneDesc::world, &sim::WorldDesc::gravity))
        .field({.key = "length_scale", .unit = "m", .doc = "size of a typical body", .bounds = above(0)},
               path(&SceneDesc::world, &sim::WorldDesc::length_scale))
        .object({.key = "stepper", .doc = "how contacts are found and resolved"}, &SceneDesc::world,
                &stepper_table)
        .object({.key = "sleep", .doc = "when bodies at rest are put to sleep"},
                path(&SceneDesc::world, &sim::WorldDesc::sleep), &sleep_table)
        .object({.key = "response", .doc = "how impacts travel through bodies"}, &SceneDesc::response,
                &response_table)
        .object({.key = "camera", .doc = "where pictures are taken from"}, &SceneDesc::camera, &camera_table)
        .object({.key = "listener", .doc = "where sound is heard"}, &SceneDesc::listener, &listener_table)
        .flag_or_object({.key = "sound",
                         .doc = "that a run is heard: it records all contacts and writes sound.wav"},
                        &SceneDesc::sound, &sound_table)
        .object({.key = "outputs", .doc = "what a run writes"}, &SceneDesc::outputs, &output_table)
        .list({.key = "shapes", .doc = "shapes with names"}, &SceneDesc::shapes, &shape_entry_table)
        .list({.key = "materials", .doc = "materials with names"}, &SceneDesc::materials, &material_table)
        .list({.key = "material_pairs", .doc = "how certain materials touch"}, &SceneDesc::material_pairs,
              &material_pair_table)
        .field(
            {.key = "groups",
             .doc =
                 "names of groups that no body here need be in, such as those of a file that includes this "
                 "one; at most 32 with those of the bodies"},
            &SceneDesc::groups)
        .list({.key = "bodies", .doc = "the bodies of the scene"}, &SceneDesc::bodies, &body_table)
        .list({.key = "joints", .doc = "what holds bodies together"}, &SceneDesc::joints, &joint_table)
        .list({.key = "impulses", .doc = "impulses at given times"}, &SceneDesc::impulses, &impulse_table)
        .list({.key = "forces", .doc = "forces over time"}, &SceneDesc::forces, &force_table))

}  // namespace thrum::scene
