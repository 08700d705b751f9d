// SPDX-License-Identifier: MIT
#include "thrum/shapes/shape_catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/shapes/shape_checks.h"

namespace thrum::shapes {

namespace {

// The alternative with the given number, at its defaults.
template <std::size_t... I>
ShapeDesc alternative(std::size_t number, std::index_sequence<I...>)
{
  ShapeDesc shape;
  static_cast<void>(((number == I ? (shape.emplace<I>(), true) : false) || ...));
  return shape;
}

double edge_length_of(const ShapeDesc& shape)
{
  return std::visit(
      [](const auto& desc) -> double {
        if constexpr (requires { desc.edge_length; }) {
          return desc.edge_length;
        } else if constexpr (requires { desc.cup.edge_length; }) {
          return desc.cup.edge_length;
        } else {
          return 0;
        }
      },
      shape);
}

// Check before the work: the coarsest version of the shape gives the area. Furniture checks itself, since
// even that takes long.
void check_edge_length(const ShapeDesc& shape)
{
  const double edge_length = edge_length_of(shape);
  if (std::holds_alternative<TableDesc>(shape) || std::holds_alternative<ScaffoldDesc>(shape) ||
      std::holds_alternative<FridgeDesc>(shape) || !(edge_length > 0))
    return;
  const auto* mug = std::get_if<MugDesc>(&shape);
  ShapeDesc coarse = mug != nullptr ? ShapeDesc(mug->cup) : shape;
  set_edge_length(coarse, 0);
  check_triangle_count(area(generate(coarse)), edge_length);
}

mesh::TriangleMesh generate_unchecked(const ShapeDesc& shape)
{
  return std::visit(
      [](const auto& desc) {
        using Desc = std::decay_t<decltype(desc)>;
        if constexpr (std::is_same_v<Desc, TableDesc>) {
          return make_table(desc);
        } else if constexpr (std::is_same_v<Desc, ScaffoldDesc>) {
          return make_scaffold(desc);
        } else if constexpr (std::is_same_v<Desc, FridgeDesc>) {
          return make_fridge(desc);
        } else {
          return generate(desc);
        }
      },
      shape);
}

}  // namespace

mesh::TriangleMesh generate(const ShapeDesc& shape)
{
  check_edge_length(shape);
  mesh::TriangleMesh mesh = generate_unchecked(shape);
  if (!mesh.triangles.empty() && !(signed_volume(mesh) > 0))
    throw Error(fmt::format(
        "The edge length of {:.3g} m is too long for this shape: no volume is left. Use a shorter one.",
        edge_length_of(shape)));
  return mesh;
}

const std::vector<std::string_view>& shape_names()
{
  static const std::vector<std::string_view> names = {
      "box",  "sphere", "cylinder",     "capsule",     "torus",    "cone",  "lathe", "extrusion",
      "tube", "helix",  "height_field", "convex_hull", "plate",    "bowl",  "cup",   "mug",
      "pot",  "bottle", "candlestick",  "table",       "scaffold", "fridge"};
  return names;
}

std::string_view name_of(const ShapeDesc& shape)
{
  return shape_names()[shape.index()];
}

ShapeDesc default_shape(std::string_view name)
{
  const auto& names = shape_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(
        fmt::format("There is no shape called \"{}\". Available shapes: {}.", name, fmt::join(names, ", ")));
  }
  return alternative(at(found - names.begin()), std::make_index_sequence<std::variant_size_v<ShapeDesc>>());
}

bool set_edge_length(ShapeDesc& shape, double edge_length)
{
  return std::visit(
      [&](auto& desc) {
        if constexpr (requires { desc.edge_length; }) {
          desc.edge_length = edge_length;
          return true;
        } else if constexpr (requires { desc.cup.edge_length; }) {
          desc.cup.edge_length = edge_length;
          return true;
        } else {
          return false;
        }
      },
      shape);
}

}  // namespace thrum::shapes
