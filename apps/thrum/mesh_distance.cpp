// SPDX-License-Identifier: MIT
// thrum mesh distance FILE: distance along the surface from a point.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/thrum/mesh_commands.h"
#include "thrum/base/error.h"
#include "thrum/base/npz.h"
#include "thrum/distance/heat_geodesics.h"
#include "thrum/media/image.h"
#include "thrum/media/picture.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh_io/mesh_io.h"

namespace thrum::app {

namespace {

struct DistanceOptions {
  std::string input;
  Vec3 from = Vec3::Zero();  // [m]
  std::vector<Vec3> to;      // [m]
  double edge = 0;           // [m]
  std::string output;
  std::string picture;
};

// The surface point nearest to a point in space, with a warning when they are apart: between two walls it may
// be on the wrong one.
mesh::SurfacePoint on_surface(const mesh::Bvh& bvh, const Vec3& p, const char* option)
{
  const mesh::ClosestPoint closest = bvh.closest_point(p);
  const double size = mesh::bounding_box(bvh.mesh()).diagonal().norm();
  if (closest.distance > 1e-3 * size) {
    const Vec3 q = remove_rounding_noise(closest.point, size);
    fmt::print("{}\n", warning(fmt::format(
                           "{} is {} away from the surface; its closest point {:.4g},{:.4g},{:.4g} is used.",
                           option, length_text(closest.distance), q.x(), q.y(), q.z())));
  }
  return {closest.triangle, closest.barycentric};
}

void write_distances(const std::string& file, const mesh::TriangleMesh& mesh,
                     const std::vector<double>& distance)
{
  base::NpzWriter out(file);
  out.add("distance", distance);
  out.add("vertices", std::span<const double>(mesh.vertices.data()->data(), 3 * mesh.vertices.size()),
          {mesh.vertices.size(), 3});
  out.commit();
  fmt::print("{}: distance [m] at {} vertices\n", bold(file), distance.size());
}

void run(const DistanceOptions& options)
{
  check_output(options.output, {".npz"});
  check_output(options.picture, {".png"});
  const mesh::TriangleMesh mesh = mesh_io::read_mesh(options.input);
  const mesh::Bvh bvh(mesh);
  const distance::HeatGeodesics geodesics(mesh, {.max_edge_length = options.edge, .polish = true});
  const distance::GeodesicField field = geodesics.distance(on_surface(bvh, options.from, "--from"));
  std::vector<double> distance = field.vertex_distance;
  distance.resize(mesh.vertices.size());

  double farthest = 0;
  std::size_t unreachable = 0;
  for (const double d : distance) {
    if (std::isfinite(d)) farthest = std::max(farthest, d);
    if (!std::isfinite(d)) ++unreachable;
  }
  fmt::print("{}: the farthest vertex is {} away along the surface\n", bold(options.input),
             length_text(farthest));
  if (unreachable > 0) fmt::print("{} vertices are on parts that are not connected to it\n", unreachable);
  for (const Vec3& target : options.to) {
    const double d = geodesics.evaluate(field, on_surface(bvh, target, "--to"));
    fmt::print("to {:g},{:g},{:g}: {}\n", target.x(), target.y(), target.z(),
               std::isfinite(d) ? fmt::format("{:.6g} m", d) : "no path along the surface");
  }
  if (!options.output.empty()) write_distances(options.output, mesh, distance);
  if (!options.picture.empty()) {
    media::write_png(
        options.picture,
        media::picture_of_mesh(mesh, distance, {.title = "distance", .unit = "m", .iso_lines = true}));
    fmt::print("{}: picture\n", bold(options.picture));
  }
}

}  // namespace

void add_mesh_distance(CLI::App& mesh)
{
  auto options = std::make_shared<DistanceOptions>();
  CLI::App* command = mesh.add_subcommand("distance", "Measure distances along a surface (heat method)");
  command->add_option("mesh", options->input, "the surface")->required();
  command
      ->add_option_function<std::string>(
          "--from", [options](const std::string& text) { options->from = parse_vec3("--from", text); },
          "x,y,z: the source point [m]")
      ->required();
  command->add_option_function<std::string>(
      "--to", [options](const std::string& text) { options->to = parse_points("--to", text); },
      "x,y,z;x,y,z;...: print the distance to these points [m]");
  command->add_option("--edge", options->edge, "halve edges longer than this first [m]")->check(positive());
  command->add_option("-o,--output", options->output, "distances at all vertices: .npz");
  command->add_option("--picture", options->picture, "picture coloured by distance: .png");
  command->footer("Example: thrum mesh distance table.obj --from 0,0,0.75 --picture table.png");
  command->callback([options] { run(*options); });
}

}  // namespace thrum::app
