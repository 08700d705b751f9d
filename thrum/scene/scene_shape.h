// SPDX-License-Identifier: MIT
// Shapes as a scene file describes them: primitives, generated meshes, mesh files, hulls and compounds.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/scene/mistakes.h"
#include "thrum/scene/scene_names.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"

namespace thrum::scene {

// Primitives. Sizes are whole lengths, as a person would measure them.
struct BallShape {
  double radius = 0.5;  ///< [m]
};
struct BoxShape {
  Vec3 size = Vec3(1, 1, 1);  ///< [m]
};
struct CapsuleShape {
  double radius = 0.25;  ///< [m]
  double height = 0.5;   ///< between the centres of the two caps [m]
};
struct CylinderShape {
  double radius = 0.5;  ///< [m]
  double height = 1;    ///< [m]
};
struct PlaneShape {};

/// Ground over a grid of heights, solid below.
struct HeightFieldShape {
  int columns = 2;              ///< samples along x
  double spacing = 1;           ///< between samples [m]
  std::vector<double> heights;  ///< row after row, x running fastest [m]
};

/// A mesh from a file.
struct FileShape {
  FileName file;
  double scale = 1;     ///< of all lengths
  bool convex = false;  ///< touch as the convex hull of the mesh
};

/// The convex hull of points.
struct HullShape {
  std::vector<Vec3> points;  ///< [m]
};

struct CompoundPartDesc;
struct CompoundShape {
  std::vector<CompoundPartDesc> parts;
};

struct SceneShape {
  std::variant<BallShape, BoxShape, CapsuleShape, CylinderShape, PlaneShape, HeightFieldShape, HullShape,
               FileShape, CompoundShape, shapes::TorusDesc, shapes::ConeDesc, shapes::LatheDesc,
               shapes::ExtrusionDesc, shapes::TubeDesc, shapes::HelixDesc, shapes::PlateDesc,
               shapes::BowlDesc, shapes::CupDesc, shapes::MugDesc, shapes::PotDesc, shapes::BottleDesc,
               shapes::CandlestickDesc, shapes::TableDesc, shapes::ScaffoldDesc, shapes::FridgeDesc>
      data;
  ValueLocation place;
};

struct CompoundPartDesc {
  SceneShape shape;
  Vec3 position = Vec3::Zero();  ///< [m]
  Quat rotation = Quat::Identity();
};

/// A shape by the name under which the scene lists it, or described in place.
struct ShapeRef {
  std::string name;
  std::optional<SceneShape> object;
  ValueLocation place;
};

}  // namespace thrum::scene
