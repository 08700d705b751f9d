// SPDX-License-Identifier: MIT
#include "thrum/rigid/shape_mass.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>

#include <numbers>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/collision/prepared_shape.h"

namespace thrum::rigid {

namespace {

using mesh::MassProperties;

constexpr double kPi = std::numbers::pi;
/// By which a given inertia may miss symmetry and the triangle inequality, of its size.
constexpr double kInertiaTolerance = 1e-9;

MassProperties diagonal(double volume, double density, const Vec3& moments_per_mass)
{
  MassProperties m;
  m.volume = volume;
  m.mass = density * volume;
  m.inertia = (m.mass * moments_per_mass).asDiagonal();
  return m;
}

MassProperties mass_of(const model::Sphere& s, double density)
{
  return diagonal(4.0 / 3 * kPi * s.radius * s.radius * s.radius, density,
                  Vec3::Constant(0.4 * s.radius * s.radius));
}

MassProperties mass_of(const model::Box& b, double density)
{
  const Vec3 q = b.half.cwiseProduct(b.half) / 3;
  return diagonal(8 * b.half.prod(), density, {q.y() + q.z(), q.z() + q.x(), q.x() + q.y()});
}

MassProperties mass_of(const model::Cylinder& c, double density)
{
  const double r2 = c.radius * c.radius;
  const double across = r2 / 4 + c.half_length * c.half_length / 3;
  return diagonal(2 * kPi * r2 * c.half_length, density, {across, across, r2 / 2});
}

// A cylinder and two half balls: each half ball has its centre of mass 3 r / 8 beyond the cylinder's end.
MassProperties mass_of(const model::Capsule& c, double density)
{
  const double r = c.radius;
  const double l = c.half_length;
  MassProperties cylinder = mass_of(model::Cylinder{r, l}, density);
  const double ball = density * 4.0 / 3 * kPi * r * r * r;
  const double along = ball * 0.4 * r * r;
  const double across = ball * (0.4 * r * r + l * l + 0.75 * r * l);
  cylinder.volume += ball / density;
  cylinder.mass += ball;
  cylinder.inertia += Vec3(across, across, along).asDiagonal();
  return cylinder;
}

MassProperties mass_of(const model::ConvexHull& hull, double density)
{
  return mesh::solid_mass_properties(collision::triangulate(*hull.polyhedron), density);
}

MassProperties mass_of(const model::Mesh& mesh, double density)
{
  return mesh::solid_mass_properties(*mesh.triangles, density);
}

MassProperties mass_of(const model::Compound& compound, double density)
{
  std::vector<MassProperties> parts;
  for (const model::CompoundPart& part : compound.parts) {
    parts.push_back(mesh::transformed(shape_mass(*part.shape, density), part.X_sp));
  }
  return mesh::combined(parts);
}

MassProperties mass_of(const model::Plane&, double)
{
  throw Error("A plane has no mass; only fixed bodies can be planes.");
}

MassProperties mass_of(const model::HeightField&, double)
{
  throw Error("A height field has no mass; only fixed bodies can be height fields.");
}

}  // namespace

mesh::MassProperties shape_mass(const model::Shape& shape, double density)
{
  if (!(density > 0)) throw Error("The density of a body must be positive.");
  return std::visit([&](const auto& geometry) { return mass_of(geometry, density); }, shape.geometry);
}

std::string find_inertia_mistake(const Mat3& inertia)
{
  if (!inertia.allFinite()) return "has an element that is not a finite number.";
  const double size = inertia.cwiseAbs().maxCoeff();
  if (!((inertia - inertia.transpose()).cwiseAbs().maxCoeff() <= kInertiaTolerance * size))
    return "is not symmetric.";
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(inertia, Eigen::EigenvaluesOnly).eigenvalues();
  const std::string listed = fmt::format("has the principal moments {:.4g}, {:.4g} and {:.4g} kg m^2",
                                         moments[0], moments[1], moments[2]);
  if (!(moments[0] > 0)) return listed + "; all three must be positive.";
  // Ixx + Iyy - Izz = 2 integral z^2 dm >= 0 about the principal axes.
  if (moments[2] > (moments[0] + moments[1]) * (1 + kInertiaTolerance))
    return listed + "; no body has one that is greater than the sum of the other two.";
  return {};
}

}  // namespace thrum::rigid
