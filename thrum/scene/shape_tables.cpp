// SPDX-License-Identifier: MIT
// What shapes a scene file knows.
#include "thrum/scene/scene_tables.h"

namespace thrum::scene {

namespace {

using namespace shapes;

ValueRule length(const char* key, const char* doc)
{
  return {.key = key, .unit = "m", .doc = doc, .bounds = above(0)};
}
ValueRule edge()
{
  return {.key = "edge_length",
          .unit = "m",
          .doc = "target edge length of the triangles; 0: as few triangles as possible",
          .bounds = at_least(0)};
}
ValueRule count(const char* key, const char* doc)
{
  return {.key = key, .doc = doc, .bounds = at_least(0)};
}

THRUM_TABLE(BallShape, ball_table,
            ObjectTable<BallShape>("sphere", "A ball about the origin.")
                .field(length("radius", "of the ball"), &BallShape::radius))

THRUM_TABLE(BoxShape, box_table,
            ObjectTable<BoxShape>("box", "A box about the origin.")
                .field({.key = "size", .unit = "m", .doc = "lengths of its edges", .bounds = above(0)},
                       &BoxShape::size))

THRUM_TABLE(CapsuleShape, capsule_table,
            ObjectTable<CapsuleShape>("capsule", "A cylinder with round caps, along z.")
                .field(length("radius", "of the tube and the caps"), &CapsuleShape::radius)
                .field(length("height", "between the centres of the caps"), &CapsuleShape::height))

THRUM_TABLE(CylinderShape, cylinder_table,
            ObjectTable<CylinderShape>("cylinder", "A cylinder along z.")
                .field(length("radius", "of the cylinder"), &CylinderShape::radius)
                .field(length("height", "along z"), &CylinderShape::height))

THRUM_TABLE(PlaneShape, plane_table,
            ObjectTable<PlaneShape>("plane",
                                    "Everything below z = 0: an infinite ground. Fixed bodies only."))

THRUM_TABLE(HeightFieldShape, height_field_table,
            ObjectTable<HeightFieldShape>(
                "height_field",
                "Ground over a grid of heights from the origin on, solid below. Fixed bodies only.")
                .field({.key = "columns", .doc = "samples along x", .bounds = at_least(2), .required = true},
                       &HeightFieldShape::columns)
                .field(length("spacing", "between samples"), &HeightFieldShape::spacing)
                .field({.key = "heights",
                        .unit = "m",
                        .doc = "row after row, x running fastest; at least two rows",
                        .required = true},
                       &HeightFieldShape::heights))

THRUM_TABLE(
    HullShape, hull_table,
    ObjectTable<HullShape>("convex_hull", "The convex hull of points.")
        .field({.key = "points", .unit = "m", .doc = "at least four, not in one plane", .required = true},
               &HullShape::points))

THRUM_TABLE(FileShape, file_table,
            ObjectTable<FileShape>("file", "A mesh from a file: .obj, .stl, .ply, .glb or .gltf.")
                .field({.key = "file", .doc = "the mesh", .required = true}, &FileShape::file)
                .field({.key = "scale", .doc = "factor for all lengths", .bounds = above(0)},
                       &FileShape::scale)
                .field({.key = "convex", .doc = "touch as the convex hull of the mesh"}, &FileShape::convex))

THRUM_TABLE(
    CompoundPartDesc, part_table,
    ObjectTable<CompoundPartDesc>("part", "A shape within a compound.")
        .object({.key = "shape", .doc = "any but a compound, a plane or a height field", .required = true},
                &CompoundPartDesc::shape, &shape_table)
        .field({.key = "position", .unit = "m", .doc = "of its origin"}, &CompoundPartDesc::position)
        .field({.key = "rotation", .doc = "of its axes"}, &CompoundPartDesc::rotation))

THRUM_TABLE(CompoundShape, compound_table,
            ObjectTable<CompoundShape>("compound", "Several shapes held together.")
                .list({.key = "parts", .doc = "the shapes", .required = true}, &CompoundShape::parts,
                      &part_table))

THRUM_TABLE(
    TorusDesc, torus_table,
    ObjectTable<TorusDesc>("torus", "A ring about z.")
        .field(length("major_radius", "from the axis to the middle of the tube"), &TorusDesc::major_radius)
        .field(length("minor_radius", "of the tube"), &TorusDesc::minor_radius)
        .field(edge(), &TorusDesc::edge_length)
        .field(count("major_segments", "around the axis; 0: by the edge length"), &TorusDesc::major_segments)
        .field(count("minor_segments", "around the tube; 0: by the edge length"), &TorusDesc::minor_segments))

THRUM_TABLE(ConeDesc, cone_table,
            ObjectTable<ConeDesc>("cone", "A cone or a frustum along z.")
                .field(length("bottom_radius", "at the bottom"), &ConeDesc::bottom_radius)
                .field({.key = "top_radius", .unit = "m", .doc = "0: a point", .bounds = at_least(0)},
                       &ConeDesc::top_radius)
                .field(length("height", "along z"), &ConeDesc::height)
                .field(edge(), &ConeDesc::edge_length)
                .field(count("segments", "around; 0: by the edge length"), &ConeDesc::segments))

THRUM_TABLE(
    LatheDesc, lathe_table,
    ObjectTable<LatheDesc>("lathe", "An outline turned about z.")
        .field({.key = "profile", .unit = "m", .doc = "closed outline of points [r, z]", .required = true},
               &LatheDesc::profile)
        .field(edge(), &LatheDesc::edge_length)
        .field(count("segments", "around; 0: by the edge length"), &LatheDesc::segments))

THRUM_TABLE(ExtrusionDesc, extrusion_table,
            ObjectTable<ExtrusionDesc>("extrusion", "A prism over an outline, from z = 0 upwards.")
                .field({.key = "outline", .unit = "m", .doc = "corners [x, y]"}, &ExtrusionDesc::outline)
                .field({.key = "holes", .unit = "m", .doc = "outlines of holes"}, &ExtrusionDesc::holes)
                .field(length("height", "along z"), &ExtrusionDesc::height)
                .field(edge(), &ExtrusionDesc::edge_length))

THRUM_TABLE(TubeDesc, tube_table,
            ObjectTable<TubeDesc>("tube", "A round pipe along a path.")
                .field({.key = "path", .unit = "m", .doc = "corners of its middle line"}, &TubeDesc::path)
                .field({.key = "closed", .doc = "the last corner is joined to the first"}, &TubeDesc::closed)
                .field(length("radius", "of the pipe"), &TubeDesc::radius)
                .field({.key = "inner_radius", .unit = "m", .doc = "0: solid", .bounds = at_least(0)},
                       &TubeDesc::inner_radius)
                .field(edge(), &TubeDesc::edge_length)
                .field(count("segments", "around; 0: by the edge length"), &TubeDesc::segments))

THRUM_TABLE(HelixDesc, helix_table,
            ObjectTable<HelixDesc>("helix", "An outline swept along a helix about z, from the x axis on.")
                .field({.key = "outline", .unit = "m", .doc = "corners [outwards from the helix, upwards]"},
                       &HelixDesc::outline)
                .field(length("radius", "from the axis to the origin of the outline"), &HelixDesc::radius)
                .field({.key = "pitch", .unit = "m", .doc = "rise in a whole turn; below 0 it falls"},
                       &HelixDesc::pitch)
                .field({.key = "turns", .doc = "may be a part of one", .bounds = above(0)}, &HelixDesc::turns)
                .field(edge(), &HelixDesc::edge_length)
                .field(count("segments", "in a whole turn; 0: by the edge length"), &HelixDesc::segments))

THRUM_TABLE(PlateDesc, plate_table,
            ObjectTable<PlateDesc>("plate", "A dinner plate on z = 0.")
                .field(length("radius", "at the rim"), &PlateDesc::radius)
                .field(length("height", "of the rim"), &PlateDesc::height)
                .field(length("thickness", "of the wall"), &PlateDesc::thickness)
                .field(edge(), &PlateDesc::edge_length))

THRUM_TABLE(BowlDesc, bowl_table,
            ObjectTable<BowlDesc>("bowl", "A round bowl on z = 0.")
                .field(length("radius", "at the rim"), &BowlDesc::radius)
                .field(length("height", "of the rim"), &BowlDesc::height)
                .field(length("thickness", "of the wall"), &BowlDesc::thickness)
                .field(edge(), &BowlDesc::edge_length))

THRUM_TABLE(CupDesc, cup_table,
            ObjectTable<CupDesc>("cup", "A cup without a handle on z = 0.")
                .field(length("radius", "at the rim"), &CupDesc::radius)
                .field(length("foot_radius", "at the foot"), &CupDesc::foot_radius)
                .field(length("height", "of the rim"), &CupDesc::height)
                .field(length("thickness", "of the wall"), &CupDesc::thickness)
                .field(edge(), &CupDesc::edge_length))

THRUM_TABLE(MugDesc, mug_table,
            ObjectTable<MugDesc>("mug", "A cup with a handle on z = 0.")
                .object({.key = "cup", .doc = "the cup"}, &MugDesc::cup, &cup_table)
                .field(length("handle_radius", "of the handle's section"), &MugDesc::handle_radius)
                .field(length("handle_reach", "from the wall to the middle of the grip"),
                       &MugDesc::handle_reach))

THRUM_TABLE(PotDesc, pot_table,
            ObjectTable<PotDesc>("pot", "A cooking pot on z = 0.")
                .field(length("radius", "at the rim"), &PotDesc::radius)
                .field(length("height", "of the rim"), &PotDesc::height)
                .field(length("thickness", "of the wall"), &PotDesc::thickness)
                .field(edge(), &PotDesc::edge_length))

THRUM_TABLE(BottleDesc, bottle_table,
            ObjectTable<BottleDesc>("bottle", "A wine bottle on z = 0.")
                .field(length("radius", "of the body"), &BottleDesc::radius)
                .field(length("height", "of the whole"), &BottleDesc::height)
                .field(length("neck_radius", "of the neck"), &BottleDesc::neck_radius)
                .field(length("thickness", "of the wall"), &BottleDesc::thickness)
                .field(edge(), &BottleDesc::edge_length))

THRUM_TABLE(CandlestickDesc, candlestick_table,
            ObjectTable<CandlestickDesc>("candlestick", "A turned candlestick on z = 0.")
                .field(length("base_radius", "at the foot"), &CandlestickDesc::base_radius)
                .field(length("height", "of the whole"), &CandlestickDesc::height)
                .field(length("socket_radius", "of the hole for the candle"), &CandlestickDesc::socket_radius)
                .field(edge(), &CandlestickDesc::edge_length))

THRUM_TABLE(
    TableDesc, table_table,
    ObjectTable<TableDesc>("table", "A table with four legs on z = 0.")
        .field(length("length", "of the top, along x"), &TableDesc::length)
        .field(length("width", "of the top, along y"), &TableDesc::width)
        .field(length("height", "of the whole"), &TableDesc::height)
        .field(length("top_thickness", "of the top"), &TableDesc::top_thickness)
        .field(length("leg_thickness", "of the legs"), &TableDesc::leg_thickness)
        .field({.key = "overhang", .unit = "m", .doc = "of the top beyond the legs", .bounds = at_least(0)},
               &TableDesc::overhang)
        .field({.key = "apron_height", .unit = "m", .doc = "0: none", .bounds = at_least(0)},
               &TableDesc::apron_height)
        .field(length("apron_thickness", "of the boards under the top"), &TableDesc::apron_thickness)
        .field(edge(), &TableDesc::edge_length))

THRUM_TABLE(ScaffoldDesc, scaffold_table,
            ObjectTable<ScaffoldDesc>("scaffold", "Pipes and planks on z = 0.")
                .field({.key = "bays", .doc = "along x", .bounds = at_least(1)}, &ScaffoldDesc::bays)
                .field(length("bay_length", "between uprights along x"), &ScaffoldDesc::bay_length)
                .field(length("width", "between uprights along y"), &ScaffoldDesc::width)
                .field(length("height", "of the uprights"), &ScaffoldDesc::height)
                .field(length("deck_height", "of the planks' underside"), &ScaffoldDesc::deck_height)
                .field({.key = "lower_deck_height",
                        .unit = "m",
                        .doc = "of a second deck below; 0: none",
                        .bounds = at_least(0)},
                       &ScaffoldDesc::lower_deck_height)
                .field(length("pipe_radius", "of the pipes"), &ScaffoldDesc::pipe_radius)
                .field({.key = "planks", .doc = "side by side", .bounds = at_least(1)}, &ScaffoldDesc::planks)
                .field(length("plank_thickness", "of the planks"), &ScaffoldDesc::plank_thickness)
                .field(edge(), &ScaffoldDesc::edge_length))

THRUM_TABLE(FridgeDesc, fridge_table,
            ObjectTable<FridgeDesc>("fridge", "A refrigerator on z = 0, its door towards -y.")
                .field(length("width", "along x"), &FridgeDesc::width)
                .field(length("depth", "along y"), &FridgeDesc::depth)
                .field(length("height", "of the whole"), &FridgeDesc::height)
                .field(edge(), &FridgeDesc::edge_length))

}  // namespace

const KindTable<SceneShape>& shape_table()
{
  static const KindTable<SceneShape> table =
      KindTable<SceneShape>("shape", "What a body looks like, and where it touches.")
          .kind(&ball_table)
          .kind(&box_table)
          .kind(&capsule_table)
          .kind(&cylinder_table)
          .kind(&plane_table)
          .kind(&height_field_table)
          .kind(&hull_table)
          .kind(&file_table)
          .kind(&compound_table)
          .kind(&torus_table)
          .kind(&cone_table)
          .kind(&lathe_table)
          .kind(&extrusion_table)
          .kind(&tube_table)
          .kind(&helix_table)
          .kind(&plate_table)
          .kind(&bowl_table)
          .kind(&cup_table)
          .kind(&mug_table)
          .kind(&pot_table)
          .kind(&bottle_table)
          .kind(&candlestick_table)
          .kind(&table_table)
          .kind(&scaffold_table)
          .kind(&fridge_table)
          .alias("hull", "convex_hull")
          .alias("heightfield", "height_field");
  return table;
}

}  // namespace thrum::scene
