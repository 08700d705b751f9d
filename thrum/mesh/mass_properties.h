// SPDX-License-Identifier: MIT
// Mass, centre and inertia of solids and shells bounded by triangles, and the algebra on them.
//
// The integrals over a polyhedron are exact (no sampling): the only error is rounding, and since all moments
// are taken about the body's own centre it does not grow with the distance from the origin.
#pragma once

#include <span>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// All axes are those of the mesh. Bodies of unit density have mass == volume.
struct MassProperties {
  double mass = 0;              ///< [kg]
  double volume = 0;            ///< of the material [m^3]
  Vec3 center = Vec3::Zero();   ///< centre of mass [m]
  Mat3 inertia = Mat3::Zero();  ///< about the centre of mass [kg m^2]
};

/// `rotation` maps principal axes to mesh axes: inertia = R diag(moments) R^T, det R = +1.
struct PrincipalAxes {
  Mat3 rotation = Mat3::Identity();
  Vec3 moments = Vec3::Zero();  ///< ascending [kg m^2]
};

/// The solid inside a closed mesh of density `density` [kg/m^3]. Throws Error when the mesh encloses no
/// volume or is inside out; it does not check whether the mesh is closed.
[[nodiscard]] MassProperties solid_mass_properties(const TriangleMesh& mesh, double density = 1);

/// A thin sheet of `thickness` [m] whose middle surface is the mesh, open or closed. The sheet's own inertia
/// across its thickness is left out: relative error (thickness / size)^2.
[[nodiscard]] MassProperties shell_mass_properties(const TriangleMesh& mesh, double thickness,
                                                   double density = 1);

/// Inertia about `point` instead of the centre of mass (parallel axis theorem) [kg m^2].
[[nodiscard]] Mat3 inertia_about(const MassProperties& body, const Vec3& point);

/// The same body with `factor` times the density.
[[nodiscard]] MassProperties with_density_scaled(const MassProperties& body, double factor);

/// The same body moved by X_wb: center and inertia are then given in w axes.
[[nodiscard]] MassProperties transformed(const MassProperties& body, const Pose& pose);

/// Several bodies joined into one.
[[nodiscard]] MassProperties combined(std::span<const MassProperties> bodies);

/// Sorted, right-handed and unique: each axis points to the side of its largest component, and where moments
/// are equal (relative to kEqualMoments) the free axes are the ones nearest to the mesh axes.
[[nodiscard]] PrincipalAxes principal_axes(const Mat3& inertia);

/// Moments closer than this, relative to the largest, count as equal: rounding of the integrals is below it.
inline constexpr double kEqualMoments = 1e-9;

}  // namespace thrum::mesh
