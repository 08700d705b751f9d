// SPDX-License-Identifier: MIT
#include "thrum/geometry/shape_catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "thrum/base/error.h"

namespace thrum::geometry {

namespace {

// The alternative with the given number, at its defaults.
template <std::size_t... I>
ShapeDesc alternative(std::size_t number, std::index_sequence<I...>)
{
  ShapeDesc shape;
  static_cast<void>(((number == I ? (shape.emplace<I>(), true) : false) || ...));
  return shape;
}

}  // namespace

TriangleMesh generate(const ShapeDesc& shape)
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

const std::vector<std::string_view>& shape_names()
{
  static const std::vector<std::string_view> names = {
      "box",       "sphere", "cylinder",     "capsule",     "torus", "cone",     "lathe",
      "extrusion", "tube",   "height_field", "convex_hull", "plate", "bowl",     "cup",
      "mug",       "pot",    "bottle",       "candlestick", "table", "scaffold", "fridge"};
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
    throw Error(fmt::format("There is no shape called \"{}\". There are: {}.", name, fmt::join(names, ", ")));
  }
  return alternative(static_cast<std::size_t>(found - names.begin()),
                     std::make_index_sequence<std::variant_size_v<ShapeDesc>>());
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

}  // namespace thrum::geometry
