// SPDX-License-Identifier: MIT
// thrum mesh tets FILE: fills a closed mesh with tetrahedra.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "apps/thrum/mesh_commands.h"
#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/mesh_io/tetrahedral_mesh_io.h"
#include "thrum/tets/delaunay_fill.h"
#include "thrum/tets/mesh_stuffing.h"
#include "thrum/tets/tet_quality.h"

namespace thrum::app {

namespace {

// The default lattice: this many cubes along the longest side, finer for thin walls up to a limit.
constexpr int kDefaultResolution = 30;
constexpr double kMaxTetrahedra = 1e6;

// Below this share of the volume nothing is said of what the tetrahedra leave out or add.
constexpr double kSmallVolumeError = 1e-3;

struct TetsOptions {
  std::string input;
  std::string output;
  double spacing = 0;  // [m]
  double resolution = 0;
  int grading = 0;
  bool keep_surface = false;
};

void fill_kept_surface(const TetsOptions& options, const distance::MeshDistance& surface, double spacing)
{
  const tets::DelaunayFillResult result = tets::fill_by_delaunay(surface, {.spacing = spacing});
  mesh_io::write_tetrahedral_mesh(options.output, result.mesh);
  fmt::print("{}: edges of at most {}; {} points added to the surface, {} inside\n{}", bold(options.output),
             length_text(spacing), result.surface_points, result.inner_points,
             tets::describe(tets::measure_quality(result.mesh)));
}

void run(const TetsOptions& options)
{
  check_output(options.output, {".msh", ".vtk"});
  const mesh::TriangleMesh surface = mesh_io::read_mesh(options.input);
  const double volume = mesh::require_closed(surface, options.input, "be filled").volume;
  const distance::MeshDistance distance(surface);
  const double longest = mesh::bounding_box(distance.bvh().mesh()).sizes().maxCoeff();
  const bool chosen = options.spacing > 0 || options.resolution > 0;
  const double default_spacing = longest / (options.resolution > 0 ? options.resolution : kDefaultResolution);
  if (options.keep_surface) {
    fill_kept_surface(options, distance, options.spacing > 0 ? options.spacing : default_spacing);
    return;
  }
  const tets::MeshStuffingDesc desc{.spacing = options.spacing > 0 ? options.spacing : default_spacing,
                                    .grading = options.grading};
  const tets::MeshStuffingResult result = chosen ? tets::tetrahedralise(distance, desc)
                                                 : tets::tetrahedralise_walls(distance, desc, kMaxTetrahedra);
  if (result.stuffing.mesh.tetrahedra.empty()) {
    throw Error(fmt::format(
        "{}: no part is thick enough for a spacing of {}. A spacing of {:.3g} m resolves {}.", options.input,
        length_text(result.spacing), result.resolution.spacing_for_most_area,
        result.resolution.spacing_for_most_area > result.resolution.spacing ? "most of it" : "all of it"));
  }
  mesh_io::write_tetrahedral_mesh(options.output, result.stuffing.mesh);

  fmt::print("{}: spacing {}{}\n{}", bold(options.output), length_text(result.spacing),
             result.spacing < desc.spacing ? ", because of its thin walls" : "",
             tets::describe(tets::measure_quality(result.stuffing.mesh)));
  if (result.stuffing.dropped_pieces > 0) {
    const auto pieces = static_cast<std::size_t>(result.stuffing.dropped_pieces);
    fmt::print("{}\n", warning(fmt::format("{} of {:.3g} m^3 in total {} dropped as too small.",
                                           base::counted(pieces, "loose piece"),
                                           result.stuffing.dropped_volume, pieces == 1 ? "was" : "were")));
  }
  const double error = mesh::volume(result.stuffing.mesh) / volume - 1;
  if (std::abs(error) > kSmallVolumeError)
    fmt::print("{}\n", warning(fmt::format("The tetrahedra have {:.2g} % {} volume than the surface, since a "
                                           "lattice cuts edges off; --keep-surface keeps them.",
                                           100 * std::abs(error), error < 0 ? "less" : "more")));
  if (!result.resolution.resolved()) fmt::print("{}\n", warning(tets::describe(result.resolution)));
}

}  // namespace

void add_mesh_tets(CLI::App& mesh)
{
  auto options = std::make_shared<TetsOptions>();
  CLI::App* command = mesh.add_subcommand("tets", "Fill a closed mesh with tetrahedra");
  command->add_option("mesh", options->input, "the surface: .obj, .stl, .ply, .glb, .gltf")->required();
  command->add_option("-o,--output", options->output, "the file to write: .msh (Gmsh) or .vtk (ParaView)")
      ->required();
  auto* spacing = command->add_option("--spacing", options->spacing, "side of the lattice cubes [m]");
  spacing->check(positive());
  command
      ->add_option(
          "--resolution", options->resolution,
          fmt::format("lattice cubes along the longest side; default: {}, or more where thin walls need it",
                      kDefaultResolution))
      ->check(positive())
      ->excludes(spacing);
  auto* keep = command->add_flag(
      "--keep-surface", options->keep_surface,
      "keep every triangle, sharp edges and the volume (constrained Delaunay), with edges of "
      "at most the spacing; default: isosurface stuffing");
  command
      ->add_option("--grading", options->grading, "0: uniform; 1, 2, 3: inside up to 2, 4, 8 times coarser")
      ->check(CLI::Range(0, 3))
      ->excludes(keep)
      ->capture_default_str();
  command->footer(
      "Details that the lattice cannot resolve are reported, with the spacing that resolves them.");
  command->callback([options] { run(*options); });
}

}  // namespace thrum::app
