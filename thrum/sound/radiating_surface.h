// SPDX-License-Identifier: MIT
// A vibrating surface as points with areas, normals and normal velocities: what radiation is fitted to.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/model/modal_model.h"

namespace thrum::sound {

/// Points of the surface, each standing for a part of its area.
struct SurfacePoints {
  std::vector<Vec3> points;   ///< [m]
  std::vector<Vec3> normals;  ///< outward, unit
  std::vector<double> areas;  ///< [m^2]
  MatX velocities;            ///< along the normal, a row a point and a column a mode [kg^(-1/2)]

  [[nodiscard]] Index size() const { return count_of(points); }
};

/// Where in a triangle the points are: at the centroid, or beside it for points that were not fitted.
enum class PointPlace { centroid, beside };

/// At most about `count` points, so chosen that each stands for an equal area when triangles have to be left
/// out; otherwise one a triangle.
[[nodiscard]] SurfacePoints sample_surface(const model::ModalModel& model, Index count, PointPlace place);

}  // namespace thrum::sound
