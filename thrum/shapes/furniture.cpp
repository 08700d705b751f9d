// SPDX-License-Identifier: MIT
#include "thrum/shapes/furniture.h"

#include <vector>

#include "thrum/mesh/remesh.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/shape_checks.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

namespace {

mesh::TriangleMesh box_between(const Vec3& low, const Vec3& high)
{
  mesh::TriangleMesh mesh = generate(BoxDesc{high - low});
  // Corners are assigned, not translated, so that flush parts have bitwise equal coordinates.
  for (Vec3& v : mesh.vertices) {
    for (int k = 0; k < 3; ++k) v[k] = v[k] < 0 ? low[k] : high[k];
  }
  return mesh;
}

mesh::TriangleMesh pipe_between(const Vec3& a, const Vec3& b, double radius, int segments)
{
  TubeDesc tube;
  tube.path = {a, b};
  tube.radius = radius;
  tube.segments = segments;
  return generate(tube);
}

// A deviation of 0 derives it from the edge length.
mesh::TriangleMesh remeshed(const mesh::TriangleMesh& mesh, double edge_length, double deviation = 0)
{
  if (edge_length <= 0) return mesh;
  check_triangle_count(area(mesh), edge_length);
  mesh::RemeshDesc desc;
  desc.edge_length = edge_length;
  desc.deviation = deviation;
  return mesh::remesh(mesh, desc);
}

}  // namespace

mesh::TriangleMesh make_table(const TableDesc& desc)
{
  require_positive(desc.length, "length of the table");
  require_positive(desc.width, "width of the table");
  require_positive(desc.top_thickness, "thickness of the table top");
  require_positive(desc.leg_thickness, "thickness of the table legs");
  require_not_negative(desc.overhang, "overhang of the table top");
  require_not_negative(desc.apron_height, "height of the apron");
  require_not_negative(desc.edge_length, "edge length");
  const double x = desc.length / 2 - desc.overhang;  // outer faces of legs and apron
  const double y = desc.width / 2 - desc.overhang;
  const double under = desc.height - desc.top_thickness;
  require_positive(under - desc.apron_height, "height of the table minus top and apron");
  require_positive(std::min(x, y) - desc.leg_thickness, "space between the table legs");

  std::vector<mesh::TriangleMesh> parts = {box_between({-desc.length / 2, -desc.width / 2, under},
                                                       {desc.length / 2, desc.width / 2, desc.height})};
  const double leg = desc.leg_thickness;
  for (const double sx : {-1.0, 1.0}) {
    for (const double sy : {-1.0, 1.0}) {
      const Vec3 outer(sx * x, sy * y, 0);
      const Vec3 inner(sx * (x - leg), sy * (y - leg), under);
      parts.push_back(box_between(outer.cwiseMin(inner), outer.cwiseMax(inner)));
    }
  }
  if (desc.apron_height > 0) {
    require_positive(desc.apron_thickness, "thickness of the apron");
    const double low = under - desc.apron_height;
    const double t = desc.apron_thickness;
    for (const double s : {-1.0, 1.0}) {
      const double ya = s * y;
      const double yb = s * (y - t);
      parts.push_back(box_between({-x + leg, std::min(ya, yb), low}, {x - leg, std::max(ya, yb), under}));
      const double xa = s * x;
      const double xb = s * (x - t);
      parts.push_back(box_between({std::min(xa, xb), -y + leg, low}, {std::max(xa, xb), y - leg, under}));
    }
  }
  return remeshed(boolean_union(parts), desc.edge_length);
}

mesh::TriangleMesh make_scaffold(const ScaffoldDesc& desc)
{
  if (desc.bays < 1 || desc.planks < 1) throw Error("A scaffold has at least one bay and one plank.");
  require_positive(desc.pipe_radius, "radius of the scaffold's pipes");
  require_positive(desc.bay_length - 4 * desc.pipe_radius, "bay length minus four pipe radii");
  require_positive(desc.width - 4 * desc.pipe_radius, "width of the scaffold minus four pipe radii");
  require_positive(desc.height - desc.deck_height, "height of the uprights above the deck");
  require_positive(desc.plank_thickness, "thickness of the planks");
  require_not_negative(desc.lower_deck_height, "height of the scaffold's lower deck");
  require_positive(desc.deck_height - desc.lower_deck_height - desc.plank_thickness - 2 * desc.pipe_radius,
                   "space between the scaffold's decks");
  require_not_negative(desc.edge_length, "edge length");
  const double r = desc.pipe_radius;
  const double x0 = -desc.bay_length * desc.bays / 2;
  const double y0 = -desc.width / 2;
  const auto pipe = [&](const Vec3& a, const Vec3& b) {
    return pipe_between(a, b, r, desc.pipe_segments);
  };

  std::vector<mesh::TriangleMesh> parts;
  for (int i = 0; i <= desc.bays; ++i) {
    const double x = x0 + i * desc.bay_length;
    for (const double s : {0.0, 1.0})
      parts.push_back(pipe({x, y0 + s * desc.width, 0}, {x, y0 + s * desc.width, desc.height}));
  }
  // Rails along, low and at half height.
  for (const double z : {0.2 * desc.deck_height, 0.6 * desc.deck_height}) {
    for (const double s : {0.0, 1.0}) {
      parts.push_back(pipe({x0 - 2 * r, y0 + s * desc.width, z}, {-x0 + 2 * r, y0 + s * desc.width, z}));
    }
  }
  // Decks: planks between the rows of uprights, from end to end, on crossbars that overlap them by half a
  // radius, so that everything is one body.
  const double inside = desc.width - 2 * r - 2 * desc.plank_gap;
  const double plank = (inside - (desc.planks - 1) * desc.plank_gap) / desc.planks;
  require_positive(plank, "width left for a plank");
  const auto add_deck = [&](double z) {
    for (int i = 0; i <= desc.bays; ++i) {
      const double x = x0 + i * desc.bay_length;
      parts.push_back(pipe({x, y0 - 2 * r, z - r / 2}, {x, y0 + desc.width + 2 * r, z - r / 2}));
    }
    for (int i = 0; i < desc.planks; ++i) {
      const double y = y0 + r + desc.plank_gap + i * (plank + desc.plank_gap);
      parts.push_back(box_between({x0 - 2 * r, y, z}, {-x0 + 2 * r, y + plank, z + desc.plank_thickness}));
    }
  };
  add_deck(desc.deck_height);
  if (desc.lower_deck_height > 0) add_deck(desc.lower_deck_height);
  // Pipes stay round however long the edges are: an error of one percent of the volume.
  constexpr double kPipeDeviation = 0.05;  // of the radius
  return remeshed(boolean_union(parts), desc.edge_length, kPipeDeviation * r);
}

mesh::TriangleMesh make_fridge(const FridgeDesc& desc)
{
  require_positive(desc.width, "width of the fridge");
  require_positive(desc.plinth_height, "height of the plinth");
  require_positive(desc.groove, "groove of the fridge");
  require_positive(desc.door_thickness, "thickness of the fridge's door");
  require_positive(desc.depth - desc.door_thickness - desc.groove - 2 * desc.plinth_height,
                   "depth of the fridge's body");
  require_positive(desc.width - 2 * desc.plinth_height - 2 * desc.groove, "width of the fridge's plinth");
  require_positive(desc.height - desc.plinth_height - desc.handle_length,
                   "height of the fridge's door minus its handle");
  const double x = desc.width / 2;
  const double front = -desc.depth / 2;
  const double back = desc.depth / 2;
  const double low = desc.plinth_height;
  const double g = desc.groove;
  const double seam = front + desc.door_thickness;  // behind the door
  const double p = desc.plinth_height;

  // Body and door touch the same inner block, which is narrower by the groove all round: one body with a
  // seam.
  std::vector<mesh::TriangleMesh> parts = {
      box_between({-x + p, front + p + desc.door_thickness, 0}, {x - p, back, low}),
      box_between({-x, seam + g, low}, {x, back, desc.height}),
      box_between({-x + g, seam, low + g}, {x - g, seam + g, desc.height - g}),
      box_between({-x, front, low}, {x, seam, desc.height}),
  };
  // The handle: a bar on two posts in front of the door.
  const double bar = 0.5 * desc.door_thickness;
  const double hx = x - 2.5 * bar;
  const double bottom = low + (desc.height - low - desc.handle_length) / 2;
  const double top = bottom + desc.handle_length;
  parts.push_back(box_between({hx - bar / 2, front - 2 * bar, bottom}, {hx + bar / 2, front - bar, top}));
  parts.push_back(box_between({hx - bar / 2, front - bar, bottom}, {hx + bar / 2, front, bottom + bar}));
  parts.push_back(box_between({hx - bar / 2, front - bar, top - bar}, {hx + bar / 2, front, top}));
  return remeshed(boolean_union(parts), desc.edge_length);
}

}  // namespace thrum::shapes
