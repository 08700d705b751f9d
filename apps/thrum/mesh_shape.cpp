// SPDX-License-Identifier: MIT
// thrum mesh shape NAME: writes a generated shape.
#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "apps/thrum/mesh_commands.h"
#include "thrum/base/error.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/shapes/shape_catalog.h"

namespace thrum::app {

namespace {

using mesh::TriangleMesh;

// One line about the file, with the numbers that show whether the size is right.
void print_written(const std::filesystem::path& file, const TriangleMesh& mesh)
{
  const Vec3 size = mesh::bounding_box(mesh).sizes();
  fmt::print("{}: {} vertices, {} triangles, {}, volume {:.6g} m^3\n", bold(file.string()),
             mesh.vertices.size(), mesh.triangles.size(), size_text(size), mesh::signed_volume(mesh));
}

// A command for a shape under `parent`: `options` adds its own options. Desc contains the defaults.
template <class Desc>
CLI::App* add_shape(CLI::App& parent, const std::string& name, const std::string& help,
                    const std::function<void(CLI::App&, Desc&)>& options)
{
  struct State {
    Desc desc;
    std::string file;
  };
  auto state = std::make_shared<State>();
  CLI::App* command = parent.add_subcommand(name, help);
  command->footer("");
  options(*command, state->desc);
  if constexpr (requires { state->desc.edge_length; }) {
    command->add_option("--edge", state->desc.edge_length, "target edge length of the triangles [m]")
        ->check(positive());
  }
  command->add_option("-o,--output", state->file, "the file to write: .obj, .ply, .stl or .glb")->required();
  command->callback([state] {
    check_output(state->file, {".obj", ".ply", ".stl", ".glb"});
    const TriangleMesh mesh = shapes::generate(shapes::ShapeDesc(state->desc));
    mesh_io::write_mesh(state->file, mesh);
    print_written(state->file, mesh);
  });
  return command;
}

void length_option(CLI::App& command, const char* name, double& value, const char* help)
{
  command.add_option(name, value, help)->check(positive())->capture_default_str();
}

void points_option(CLI::App& command, const char* name, std::vector<Vec3>& points, const char* help)
{
  command.add_option_function<std::string>(
      name, [name, &points](const std::string& text) { points = parse_points(name, text); }, help);
}

void outline_option(CLI::App& command, const char* name, std::vector<Vec2>& points, const char* help)
{
  command
      .add_option_function<std::string>(
          name, [name, &points](const std::string& text) { points = parse_outline(name, text); }, help)
      ->required();
}

// Rows of numbers separated by commas or spaces, the first row at the smallest y.
void read_heights(const std::string& file, shapes::HeightFieldDesc& desc)
{
  std::ifstream in(file);
  if (!in) throw Error(fmt::format("{}: cannot be opened.", file));
  desc.heights.clear();
  desc.rows = 0;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    for (char& c : line) c = c == ',' || c == ';' ? ' ' : c;
    std::istringstream words(line);
    int count = 0;
    for (double height = 0; words >> height; ++count) desc.heights.push_back(height);
    if (!words.eof()) throw InputError({file, number}, "text that is not a number", "numbers only");
    if (count == 0) continue;
    if (desc.rows++ == 0) desc.columns = count;
    if (count != desc.columns) {
      throw InputError({file, number}, fmt::format("{} numbers", count),
                       fmt::format("{}, the number in the first row", desc.columns));
    }
  }
}

void add_round_shapes(CLI::App& shape)
{
  add_shape<shapes::SphereDesc>(shape, "sphere", "A ball",
                                [](CLI::App& c, auto& d) { length_option(c, "--radius", d.radius, "[m]"); });
  add_shape<shapes::CylinderDesc>(shape, "cylinder", "A cylinder along z", [](CLI::App& c, auto& d) {
    length_option(c, "--radius", d.radius, "[m]");
    length_option(c, "--height", d.height, "[m]");
    c.add_option("--segments", d.segments, "number of segments around");
  });
  add_shape<shapes::CapsuleDesc>(shape, "capsule", "A cylinder along z with round ends",
                                 [](CLI::App& c, auto& d) {
                                   length_option(c, "--radius", d.radius, "[m]");
                                   length_option(c, "--height", d.height, "of the straight part [m]");
                                   c.add_option("--segments", d.segments, "number of segments around");
                                 });
  add_shape<shapes::TorusDesc>(shape, "torus", "A ring about z", [](CLI::App& c, auto& d) {
    length_option(c, "--major", d.major_radius, "from the axis to the middle of the tube [m]");
    length_option(c, "--minor", d.minor_radius, "radius of the tube [m]");
    c.add_option("--major-segments", d.major_segments, "around the axis");
    c.add_option("--minor-segments", d.minor_segments, "around the tube");
  });
  add_shape<shapes::ConeDesc>(shape, "cone", "A cone or a frustum along z", [](CLI::App& c, auto& d) {
    length_option(c, "--bottom", d.bottom_radius, "radius at the bottom [m]");
    c.add_option("--top", d.top_radius, "radius at the top; 0: a point [m]");
    length_option(c, "--height", d.height, "[m]");
    c.add_option("--segments", d.segments, "number of segments around");
  });
}

void add_drawn_shapes(CLI::App& shape)
{
  add_shape<shapes::LatheDesc>(shape, "lathe", "A profile rotated about z", [](CLI::App& c, auto& d) {
    outline_option(c, "--profile", d.profile, "closed outline r,z;r,z;... [m]");
    c.add_option("--segments", d.segments, "number of segments around");
  });
  add_shape<shapes::ExtrusionDesc>(shape, "extrusion", "A polygon extruded along z",
                                   [](CLI::App& c, auto& d) {
                                     outline_option(c, "--outline", d.outline, "x,y;x,y;... [m]");
                                     length_option(c, "--height", d.height, "[m]");
                                   });
  add_shape<shapes::TubeDesc>(shape, "tube", "A round rod or pipe along a path", [](CLI::App& c, auto& d) {
    points_option(c, "--path", d.path, "x,y,z;x,y,z;... [m]");
    c.add_flag("--closed", d.closed, "connect the last point to the first");
    length_option(c, "--radius", d.radius, "[m]");
    c.add_option("--inner-radius", d.inner_radius, "inner radius; 0: solid [m]");
    c.add_option("--segments", d.segments, "number of segments around");
  });
  add_shape<shapes::HelixDesc>(
      shape, "helix", "A polygon swept along a helix about z", [](CLI::App& c, auto& d) {
        outline_option(c, "--outline", d.outline, "outwards,upwards;... [m]");
        length_option(c, "--radius", d.radius, "from the axis to the origin of the outline [m]");
        length_option(c, "--pitch", d.pitch, "rise in a whole turn; below 0 it falls [m]");
        c.add_option("--turns", d.turns, "number of turns");
        c.add_option("--segments", d.segments, "number of segments in a turn");
      });
  add_shape<shapes::HeightFieldDesc>(shape, "height_field", "A terrain with walls and a flat bottom",
                                     [](CLI::App& c, auto& d) {
                                       c.add_option_function<std::string>(
                                            "--heights", [&d](const std::string& f) { read_heights(f, d); },
                                            "file with rows of heights [m]")
                                           ->required();
                                       length_option(c, "--spacing", d.spacing, "between the samples [m]");
                                       c.add_option("--bottom", d.bottom, "z of the flat bottom [m]");
                                     })
      ->alias("heightfield");
  add_shape<shapes::ConvexHullDesc>(
      shape, "convex_hull", "The convex hull of the vertices of a mesh file",
      [](CLI::App& c, auto& d) {
        c.add_option_function<std::string>(
             "--points", [&d](const std::string& f) { d.points = mesh_io::read_mesh(f).vertices; },
             "a mesh file")
            ->required();
      })
      ->alias("hull");
}

void add_tableware(CLI::App& shape)
{
  const auto round = [](CLI::App& c, auto& d) {
    length_option(c, "--radius", d.radius, "[m]");
    length_option(c, "--height", d.height, "[m]");
    length_option(c, "--thickness", d.thickness, "of the wall [m]");
  };
  add_shape<shapes::PlateDesc>(shape, "plate", "A dinner plate", round);
  add_shape<shapes::BowlDesc>(shape, "bowl", "A bowl", round);
  add_shape<shapes::CupDesc>(shape, "cup", "A cup without a handle", round);
  add_shape<shapes::PotDesc>(shape, "pot", "A cooking pot", round);
  add_shape<shapes::BottleDesc>(shape, "bottle", "A bottle", round);
  add_shape<shapes::MugDesc>(shape, "mug", "A mug with a handle", [&](CLI::App& c, auto& d) {
    round(c, d.cup);
    c.add_option("--edge", d.cup.edge_length, "target edge length of the triangles [m]")->check(positive());
  });
  add_shape<shapes::CandlestickDesc>(shape, "candlestick", "A candlestick", [](CLI::App& c, auto& d) {
    length_option(c, "--radius", d.base_radius, "of the foot [m]");
    length_option(c, "--height", d.height, "[m]");
  });
}

void add_furniture(CLI::App& shape)
{
  add_shape<shapes::TableDesc>(shape, "table", "A table: top, four legs and an apron",
                               [](CLI::App& c, auto& d) {
                                 length_option(c, "--length", d.length, "along x [m]");
                                 length_option(c, "--width", d.width, "along y [m]");
                                 length_option(c, "--height", d.height, "[m]");
                                 length_option(c, "--top", d.top_thickness, "thickness of the top [m]");
                                 length_option(c, "--leg", d.leg_thickness, "thickness of a leg [m]");
                               });
  add_shape<shapes::ScaffoldDesc>(
      shape, "scaffold", "A scaffold of pipes and planks", [](CLI::App& c, auto& d) {
        c.add_option("--bays", d.bays, "along x")->check(positive())->capture_default_str();
        length_option(c, "--bay-length", d.bay_length, "[m]");
        length_option(c, "--width", d.width, "[m]");
        length_option(c, "--height", d.height, "[m]");
        c.add_option("--lower-deck", d.lower_deck_height, "height of a second deck; 0: none [m]")
            ->capture_default_str();
      });
  add_shape<shapes::FridgeDesc>(shape, "fridge", "A fridge", [](CLI::App& c, auto& d) {
    length_option(c, "--width", d.width, "[m]");
    length_option(c, "--depth", d.depth, "[m]");
    length_option(c, "--height", d.height, "[m]");
  });
}

}  // namespace

void add_mesh_shape(CLI::App& mesh)
{
  CLI::App* shape =
      mesh.add_subcommand("shape", "Write a generated shape: closed, facing outwards, in metres");
  shape->require_subcommand(1);
  shape->footer("Example: thrum mesh shape box --size 1,1,0.02 -o plate.obj");
  add_shape<shapes::BoxDesc>(*shape, "box", "A box", [](CLI::App& c, auto& d) {
    c.add_option_function<std::string>(
        "--size", [&d](const std::string& text) { d.size = parse_vec3("--size", text); }, "x,y,z [m]");
    c.add_option("--rounding", d.rounding, "radius of the edges [m]");
  });
  add_round_shapes(*shape);
  add_drawn_shapes(*shape);
  add_tableware(*shape);
  add_furniture(*shape);
}

}  // namespace thrum::app
