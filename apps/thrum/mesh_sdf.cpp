// SPDX-License-Identifier: MIT
// thrum mesh sdf FILE: the signed distance field of a mesh, sampled, drawn and stored.
#include <fmt/format.h>

#include <memory>

#include "apps/thrum/mesh_commands.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/npz.h"
#include "thrum/base/parallel.h"
#include "thrum/distance/signed_distance_field.h"
#include "thrum/media/image.h"
#include "thrum/media/picture.h"
#include "thrum/mesh_io/mesh_io.h"

namespace thrum::app {

namespace {

struct SdfOptions {
  std::string input;
  std::vector<Vec3> at;  // [m]
  int resolution = 64;
  std::string axis = "y";
  std::string output;
  std::string picture;
};

// All nodes of the grid as a dense array, x slowest, for other programs.
void write_grid(const std::string& file, const distance::SignedDistanceField& field)
{
  const distance::GridFrame& frame = field.frame();
  const std::size_t nx = at(frame.cells[0]) + 1;
  const std::size_t ny = at(frame.cells[1]) + 1;
  const std::size_t nz = at(frame.cells[2]) + 1;
  std::vector<float> values(nx * ny * nz);
  base::parallel_for(nx, [&](std::size_t i) {
    for (std::size_t j = 0; j < ny; ++j) {
      for (std::size_t k = 0; k < nz; ++k) {
        const Vec3 node = frame.node(static_cast<int>(i), static_cast<int>(j), static_cast<int>(k));
        values[(i * ny + j) * nz + k] = static_cast<float>(field.value(node));
      }
    }
  });
  base::NpzWriter out(file);
  out.add("distance", values, {nx, ny, nz});
  out.add("origin", std::span<const double>(frame.origin.data(), 3));
  out.add("spacing", frame.spacing);
  out.commit();
  fmt::print("{}: {} x {} x {} samples [m]\n", bold(file), nx, ny, nz);
}

void run(const SdfOptions& options)
{
  check_output(options.output, {".npz"});
  check_output(options.picture, {".png"});
  const distance::MeshDistance mesh(mesh_io::read_mesh(options.input));
  const distance::SignedDistanceField field(mesh, {.resolution = options.resolution});
  const auto& cells = field.frame().cells;
  fmt::print("{}: grid of {} x {} x {} cells of {}, {} fine blocks, {:.2f} MB\n", bold(options.input),
             cells[0], cells[1], cells[2], length_text(field.spacing()), field.fine_block_count(),
             static_cast<double>(field.memory_bytes()) * 1e-6);
  if (mesh.sign_method() == distance::SignMethod::winding_number) {
    fmt::print("{}\n", warning("The mesh is open or not consistently oriented; the winding number decides "
                               "what is inside. See thrum mesh info for details."));
  }
  for (const Vec3& p : options.at) {
    const distance::SurfaceNormal exact = distance::closest_surface_normal(field, mesh, p);
    fmt::print("at {:g},{:g},{:g}: {:.6g} m ({}), field {:.6g} m, normal {:.4f},{:.4f},{:.4f}\n", p.x(),
               p.y(), p.z(), exact.distance, exact.distance < 0 ? "inside" : "outside", field.value(p),
               exact.normal.x(), exact.normal.y(), exact.normal.z());
  }
  if (!options.output.empty()) write_grid(options.output, field);
  if (!options.picture.empty()) {
    const int axis = options.axis == "x" ? 0 : options.axis == "y" ? 1 : 2;
    const Box3 box = mesh::bounding_box(mesh.bvh().mesh());
    const media::Image image =
        media::picture_of_slice([&](const Vec3& p) { return mesh.signed_distance(p).distance; },
                                media::slice_of_box(box, axis), {.title = "signed distance", .unit = "m"});
    media::write_png(options.picture, image);
    fmt::print("{}: picture of the middle plane across {}\n", bold(options.picture), options.axis);
  }
}

}  // namespace

void add_mesh_sdf(CLI::App& mesh)
{
  auto options = std::make_shared<SdfOptions>();
  CLI::App* command =
      mesh.add_subcommand("sdf", "Build the signed distance field of a mesh; sample and draw it");
  command->add_option("mesh", options->input, "the surface")->required();
  command->add_option("--resolution", options->resolution, "cells along the longest side")
      ->check(positive())
      ->capture_default_str();
  command->add_option_function<std::string>(
      "--at", [options](const std::string& text) { options->at = parse_points("--at", text); },
      "x,y,z;x,y,z;...: print the distance at these points [m]");
  command->add_option("-o,--output", options->output, "the whole grid: .npz");
  command->add_option("--picture", options->picture, "a slice: .png");
  command->add_option("--axis", options->axis, "normal of the slice: x, y or z")
      ->check(CLI::IsMember({"x", "y", "z"}))
      ->capture_default_str();
  command->footer("Example: thrum mesh sdf cup.obj --at 0,0,0.05 --picture cup.png");
  command->callback([options] { run(*options); });
}

}  // namespace thrum::app
