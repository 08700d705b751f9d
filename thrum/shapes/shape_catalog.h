// SPDX-License-Identifier: MIT
// All shapes under one type and by name, for the command line and scene files.
//
//   ShapeDesc shape = default_shape("mug");       // throws Error that lists the names for an unknown one
//   set_edge_length(shape, 0.004);
//   const TriangleMesh mesh = generate(shape);
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"

namespace thrum::shapes {

using ShapeDesc =
    std::variant<BoxDesc, SphereDesc, CylinderDesc, CapsuleDesc, TorusDesc, ConeDesc, LatheDesc,
                 ExtrusionDesc, TubeDesc, HelixDesc, HeightFieldDesc, ConvexHullDesc, PlateDesc, BowlDesc,
                 CupDesc, MugDesc, PotDesc, BottleDesc, CandlestickDesc, TableDesc, ScaffoldDesc, FridgeDesc>;

[[nodiscard]] mesh::TriangleMesh generate(const ShapeDesc& shape);

/// Lower-case names, in the order of the alternatives: "box", "sphere", ... "height_field", "convex_hull",
/// ... "fridge".
[[nodiscard]] const std::vector<std::string_view>& shape_names();

[[nodiscard]] std::string_view name_of(const ShapeDesc& shape);

/// The shape of that name with its default dimensions. A lathe's profile and a hull's points are empty and
/// must be set.
[[nodiscard]] ShapeDesc default_shape(std::string_view name);

/// False when the shape has no edge length of its own (height field, convex hull).
bool set_edge_length(ShapeDesc& shape, double edge_length);

}  // namespace thrum::shapes
