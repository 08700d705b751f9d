// SPDX-License-Identifier: MIT
// thrum mesh tets FILE: fills a closed mesh with tetrahedra.
#include <fmt/format.h>

#include <memory>

#include "apps/thrum/mesh_commands.h"
#include "thrum/base/error.h"
#include "thrum/geometry/mesh_io.h"
#include "thrum/geometry/mesh_report.h"
#include "thrum/geometry/mesh_stuffing.h"
#include "thrum/geometry/tet_quality.h"
#include "thrum/geometry/tetrahedral_mesh_io.h"

namespace thrum::app {

namespace {

struct TetsOptions {
  std::string input;
  std::string output;
  double spacing = 0;  // [m]
  double resolution = 30;
  int grading = 0;
};

void run(const TetsOptions& options)
{
  check_output(options.output, {".msh", ".vtk"});
  const geometry::TriangleMesh surface = geometry::read_mesh(options.input);
  geometry::require_closed(surface, options.input, "be filled");
  const geometry::MeshDistance distance(surface);
  const double longest = geometry::bounding_box(distance.bvh().mesh()).sizes().maxCoeff();
  const double spacing = options.spacing > 0 ? options.spacing : longest / options.resolution;
  const geometry::MeshStuffingResult result =
      geometry::tetrahedralise(distance, {.spacing = spacing, .grading = options.grading});
  if (result.stuffing.mesh.tetrahedra.empty()) {
    throw Error(
        fmt::format("{}: nothing of it is thick enough for a spacing of {}; a smaller --spacing is needed.",
                    options.input, length_text(spacing)));
  }
  geometry::write_tetrahedral_mesh(options.output, result.stuffing.mesh);

  fmt::print("{}: spacing {}\n{}", bold(options.output), length_text(spacing),
             geometry::describe(geometry::measure_quality(result.stuffing.mesh)));
  if (result.stuffing.dropped_pieces > 0) {
    const auto pieces = static_cast<std::size_t>(result.stuffing.dropped_pieces);
    fmt::print("{}\n", warning(fmt::format("{} of {:.3g} m^3 in all {} too small to keep.",
                                           counted(pieces, "loose piece", "loose pieces"),
                                           result.stuffing.dropped_volume, pieces == 1 ? "was" : "were")));
  }
  if (!result.resolution.resolved()) fmt::print("{}\n", warning(geometry::describe(result.resolution)));
}

}  // namespace

void add_mesh_tets(CLI::App& mesh)
{
  auto options = std::make_shared<TetsOptions>();
  CLI::App* command = mesh.add_subcommand("tets", "Fill a closed mesh with tetrahedra (isosurface stuffing)");
  command->add_option("mesh", options->input, "the surface: .obj, .stl, .ply, .glb, .gltf")->required();
  command->add_option("-o,--output", options->output, "the file to write: .msh (Gmsh) or .vtk (ParaView)")
      ->required();
  auto* spacing = command->add_option("--spacing", options->spacing, "side of the lattice cubes [m]");
  spacing->check(positive());
  command
      ->add_option("--resolution", options->resolution,
                   "lattice cubes along the longest side, without --spacing")
      ->check(positive())
      ->capture_default_str()
      ->excludes(spacing);
  command
      ->add_option("--grading", options->grading,
                   "0: even; 1 to 3: up to so many times coarser inside, by halves")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  command->footer("What the lattice cannot resolve is reported, with the spacing that would.");
  command->callback([options] { run(*options); });
}

}  // namespace thrum::app
