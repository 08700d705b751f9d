// SPDX-License-Identifier: MIT
// thrum mesh info FILE: the defects of a mesh, its mass, and what it can be used for. thrum mesh repair FILE:
// repairs what can be repaired and reports the changes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "apps/thrum/mesh_commands.h"
#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/mesh/repair.h"
#include "thrum/mesh/sheet.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/mesh_io/tetrahedral_mesh_io.h"
#include "thrum/shapes/unite_parts.h"
#include "thrum/tets/tet_quality.h"

namespace thrum::app {

namespace {

struct InfoOptions {
  std::string input;
  double density = 1000;  // [kg/m^3]
  double thickness = 0;   // [m]; 0: solid
};

void print_mass(const mesh::MassProperties& body)
{
  const mesh::PrincipalAxes axes = mesh::principal_axes(body.inertia);
  const double moment = body.inertia.trace();
  const double size = std::sqrt(moment / body.mass);  // [m]
  const auto text = [](const char* format, const Vec3& v, double of) {
    const Vec3 w = remove_rounding_noise(v, of);
    return fmt::format(fmt::runtime(format), w.x(), w.y(), w.z());
  };
  fmt::print("{}\n", bold("Mass properties"));
  fmt::print("  mass      {:.6g} kg   (volume {:.6g} m^3, {:.6g} kg/m^3)\n", body.mass, body.volume,
             body.mass / body.volume);
  fmt::print("  centre    {} m\n", text("{:.6g}, {:.6g}, {:.6g}", body.center, size));
  fmt::print("  inertia   about the centre [kg m^2]\n");
  for (int r = 0; r < 3; ++r)
    fmt::print("            {}\n", text("{:>12.5g} {:>12.5g} {:>12.5g}", body.inertia.row(r), moment));
  for (int a = 0; a < 3; ++a) {
    fmt::print("  principal {:.5g} kg m^2 about ({})\n", axes.moments[a],
               text("{:.4f}, {:.4f}, {:.4f}", axes.rotation.col(a), 1));
  }
}

bool is_tetrahedral(const std::filesystem::path& file)
{
  const std::string ending = file.extension().string();
  return ending == ".msh" || ending == ".node" || ending == ".ele";
}

void print_notes(const std::vector<std::string>& notes)
{
  for (const std::string& note : notes) fmt::print("note: {}\n", note);
}

void tetrahedral_info(const InfoOptions& options)
{
  const mesh_io::TetrahedralMeshFile file = mesh_io::read_tetrahedral_mesh_file(options.input);
  fmt::print("{}\n{}\n", bold(options.input), tets::describe(tets::measure_quality(file.mesh)));
  print_notes(file.notes);
  print_mass(mesh::solid_mass_properties(mesh::boundary_surface(file.mesh).surface, options.density));
}

void info(const InfoOptions& options)
{
  if (is_tetrahedral(options.input)) return tetrahedral_info(options);
  const mesh_io::MeshFile file = mesh_io::read_mesh_file(options.input);
  if (file.mesh.triangles.empty()) {
    throw Error(fmt::format("{} has no triangles, only {}.", options.input,
                            base::counted(file.mesh.vertices.size(), "vertex", "vertices")));
  }
  const mesh::MeshReport report = mesh::report_mesh(file.mesh);
  fmt::print("{}\n{}", bold(options.input), mesh::to_text(report));
  print_notes(file.notes);
  if (options.thickness > 0) {
    print_mass(mesh::shell_mass_properties(file.mesh, options.thickness, options.density));
  } else if (report.usable_for_mass) {
    print_mass(mesh::solid_mass_properties(file.mesh, options.density));
  } else if (report.closed && !report.watertight) {
    fmt::print("{}\n", warning("It is closed, but parts of it touch along edges of four triangles or more, "
                               "so it is not one solid. thrum mesh repair separates the parts."));
  } else {
    fmt::print("{}\n", warning("It is not closed, so it has no mass as a solid. Try thrum mesh repair, or "
                               "use --thickness to treat it as a sheet."));
  }
}

struct RepairOptions {
  std::string input;
  std::string output;
  double tolerance = mesh::kWeldTolerance;
  double scale = 1;
  bool fill_holes = false;
  double solidify = 0;  // [m]
  bool unite = false;
};

// Parts that are closed by themselves may touch each other: welded to each other, they would share edges of
// four triangles, where it is not known which belong together. None when the mesh is not made of such parts.
std::optional<mesh::TriangleMesh> closed_parts(const mesh::TriangleMesh& surface, double tolerance)
{
  mesh::TriangleMesh parts;
  for (const mesh::TriangleMesh& part : shapes::separate_parts(surface)) {
    const mesh::RepairResult repaired = mesh::repair_mesh(part, {.weld_tolerance = tolerance});
    if (!mesh::report_mesh(repaired.mesh, {.self_intersections = false}).closed) return std::nullopt;
    mesh::append(parts, repaired.mesh);
  }
  return parts;
}

void repair(const RepairOptions& options)
{
  check_output(options.output, {".obj", ".ply", ".stl", ".glb"});
  const mesh_io::MeshFile file = mesh_io::read_mesh_file(options.input);
  print_notes(file.notes);
  mesh::RepairResult result = mesh::repair_mesh(file.mesh, {.weld_tolerance = options.tolerance});
  for (const std::string& line : result.report.lines) fmt::print("{}\n", line);
  if (!result.report.changed()) fmt::print("{}\n", success("No changes were needed."));
  if (options.fill_holes) {
    const mesh::FillHolesResult holes = mesh::fill_holes(result.mesh);
    for (const std::string& line : holes.lines) fmt::print("{}\n", line);
    if (holes.filled + holes.kept == 0) fmt::print("There are no holes to fill.\n");
  }
  if (options.scale != 1) {
    mesh::scale(result.mesh, Vec3::Constant(options.scale));
    fmt::print("All lengths were multiplied by {}.\n", options.scale);
  }
  if (options.solidify > 0) {
    result.mesh = mesh::solidified(result.mesh, options.solidify);
    fmt::print("The surface became a solid sheet of {}, half of it to each side.\n",
               length_text(options.solidify));
  }
  if (options.unite) {
    // Hollows are only known as such beside what they lie in.
    const bool as_given =
        !options.fill_holes && options.solidify == 0 && options.scale == 1 && result.report.cavities == 0;
    const auto parts = as_given ? closed_parts(file.mesh, options.tolerance) : std::nullopt;
    shapes::UnitedParts united = shapes::unite_parts(parts ? *parts : result.mesh);
    if (united.parts > 1)
      fmt::print("{} parts were united.\n", united.parts);
    else
      fmt::print("There is only one part, so nothing was united.\n");
    result.mesh = std::move(united.mesh);
  }
  mesh_io::write_mesh(options.output, result.mesh);
  fmt::print("{}\n{}", bold(options.output), mesh::to_text(mesh::report_mesh(result.mesh)));
}

}  // namespace

void add_mesh_info(CLI::App& mesh)
{
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = mesh.add_subcommand("info", "Report the defects and the mass of a mesh");
  command
      ->add_option("mesh", options->input,
                   "a surface (.obj .stl .ply .glb .gltf) or tetrahedra (.msh .node .ele)")
      ->required();
  command->add_option("--density", options->density, "[kg/m^3]")->check(positive())->capture_default_str();
  command->add_option("--thickness", options->thickness, "treat it as a sheet of this thickness [m]")
      ->check(positive());
  command->callback([options] { info(*options); });
}

void add_mesh_repair(CLI::App& mesh)
{
  auto options = std::make_shared<RepairOptions>();
  CLI::App* command = mesh.add_subcommand(
      "repair",
      "Weld vertices, drop degenerate and duplicate triangles, orient outwards; report the changes");
  command->add_option("mesh", options->input, "the surface")->required();
  command->add_option("-o,--output", options->output, "the file to write: .obj, .ply, .stl or .glb")
      ->required();
  command
      ->add_option("--tolerance", options->tolerance,
                   "vertices closer than this are merged, as a fraction of the mesh's size")
      ->check(positive())
      ->capture_default_str();
  command
      ->add_option("--scale", options->scale,
                   "multiply all lengths, for example 0.001 for a mesh in millimetres")
      ->check(positive());
  command->add_flag("--fill-holes", options->fill_holes, "close each hole with triangles to its middle");
  command
      ->add_option("--solidify", options->solidify,
                   "make the surface a closed sheet of this thickness, half of it to each side [m, after "
                   "--scale]")
      ->check(positive());
  command->add_flag("--unite", options->unite,
                    "make one surface of closed parts that reach into each other, after --fill-holes or "
                    "--solidify");
  command->callback([options] { repair(*options); });
}

}  // namespace thrum::app
