// SPDX-License-Identifier: MIT
#include "thrum/mesh/mass_properties.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "thrum/base/error.h"

namespace thrum::mesh {

namespace {

// The second moment matrix C = integral of x x^T dm gives the inertia I = tr(C) 1 - C.
Mat3 inertia_from_second_moment(const Mat3& second)
{
  return second.trace() * Mat3::Identity() - second;
}

Vec3 mean_vertex(const TriangleMesh& mesh)
{
  // The mean is taken relative to the first vertex, so a mesh far from the origin loses no digits.
  const Vec3 first = mesh.vertices.front();
  Vec3 sum = Vec3::Zero();
  for (const Vec3& v : mesh.vertices) sum += v - first;
  return first + sum / static_cast<double>(mesh.vertices.size());
}

// The corners of a triangle about `origin`, and their sum.
struct Corners {
  Vec3 a, b, c, sum;

  Corners(const TriangleMesh& mesh, std::size_t t, const Vec3& origin)
      : a(mesh.corner(t, 0) - origin),
        b(mesh.corner(t, 1) - origin),
        c(mesh.corner(t, 2) - origin),
        sum(a + b + c)
  {
  }
  /// a a^T + b b^T + c c^T + s s^T, s being the sum.
  [[nodiscard]] Mat3 squares() const
  {
    return a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose();
  }
  [[nodiscard]] double triple_product() const { return a.dot(b.cross(c)); }
};

// Volume and first moment of the solid, about `origin`. The solid is the signed sum of the tetrahedra
// (origin, a, b, c):
//
//     V = sum d / 6,   integral x dV = sum d / 24 (a + b + c),      d = a . (b x c).           (1)
struct FirstMoments {
  double volume = 0;
  Vec3 first = Vec3::Zero();
};

FirstMoments first_moments(const TriangleMesh& mesh, const Vec3& origin)
{
  FirstMoments m;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Corners corners(mesh, t, origin);
    const double d = corners.triple_product();
    m.volume += d;
    m.first += d * corners.sum;
  }
  m.volume /= 6;
  m.first /= 24;
  return m;
}

// Over one tetrahedron the mean of x x^T is (1/20) (a a^T + b b^T + c c^T + s s^T), s = a + b + c, so
//
//     integral x x^T dV = sum d / 120 (a a^T + b b^T + c c^T + s s^T).                         (2)
Mat3 second_moment(const TriangleMesh& mesh, const Vec3& origin)
{
  Mat3 second = Mat3::Zero();
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Corners corners(mesh, t, origin);
    second += corners.triple_product() * corners.squares();
  }
  return second / 120;
}

Vec3 pointing_to_largest_component(const Vec3& axis)
{
  Eigen::Index max_axis = 0;
  axis.cwiseAbs().maxCoeff(&max_axis);
  return axis[max_axis] < 0 ? Vec3(-axis) : axis;
}

// The unit vector perpendicular to `axis` that is nearest to the mesh axis most perpendicular to it.
Vec3 perpendicular_near_mesh_axis(const Vec3& axis)
{
  Eigen::Index smallest = 0;
  axis.cwiseAbs().minCoeff(&smallest);
  const Vec3 e = Vec3::Unit(smallest);
  return (e - axis.dot(e) * axis).normalized();
}

}  // namespace

MassProperties solid_mass_properties(const TriangleMesh& mesh, double density)
{
  check_indices(mesh);
  if (mesh.vertices.empty() || mesh.triangles.empty()) throw Error("A mesh without triangles has no mass.");
  if (!(density > 0)) throw Error(fmt::format("The density is {} kg/m^3; it must be positive.", density));

  // First pass: the centre, from a reference near the mesh. Second pass: everything about the centre itself.
  const Vec3 reference = mean_vertex(mesh);
  const FirstMoments rough = first_moments(mesh, reference);
  if (!(rough.volume > 0)) {
    throw Error(fmt::format(
        "The mesh encloses a volume of {} m^3; it must be positive. Repair the mesh or turn it outwards.",
        rough.volume));
  }
  const Vec3 near_center = reference + rough.first / rough.volume;
  const FirstMoments fine = first_moments(mesh, near_center);
  const Vec3 shift = fine.first / fine.volume;

  MassProperties body;
  body.volume = fine.volume;
  body.mass = density * fine.volume;
  body.center = near_center + shift;
  const Mat3 second = second_moment(mesh, near_center) - fine.volume * shift * shift.transpose();
  body.inertia = density * inertia_from_second_moment(second);
  return body;
}

MassProperties shell_mass_properties(const TriangleMesh& mesh, double thickness, double density)
{
  check_indices(mesh);
  if (mesh.vertices.empty() || mesh.triangles.empty()) throw Error("A mesh without triangles has no mass.");
  if (!(thickness > 0))
    throw Error(fmt::format("The shell thickness is {} m; it must be positive.", thickness));
  if (!(density > 0)) throw Error(fmt::format("The density is {} kg/m^3; it must be positive.", density));

  // A triangle of area A about its own plane: integral x dA = A s / 3, and with s = a + b + c
  //
  //     integral x x^T dA = A / 12 (a a^T + b b^T + c c^T + s s^T).                            (3)
  const Vec3 origin = mean_vertex(mesh);
  double total_area = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Corners corners(mesh, t, origin);
    const double triangle_area = area_vector(mesh, t).norm() / 2;
    total_area += triangle_area;
    first += triangle_area / 3 * corners.sum;
    second += triangle_area / 12 * corners.squares();
  }
  if (!(total_area > 0)) throw Error("The mesh has no area, so a shell of it has no mass.");

  const Vec3 shift = first / total_area;
  MassProperties body;
  body.volume = thickness * total_area;
  body.mass = density * body.volume;
  body.center = origin + shift;
  body.inertia =
      density * thickness * inertia_from_second_moment(second - total_area * shift * shift.transpose());
  return body;
}

Mat3 inertia_about(const MassProperties& body, const Vec3& point)
{
  const Vec3 r = body.center - point;
  return body.inertia + body.mass * inertia_from_second_moment(r * r.transpose());
}

MassProperties with_density_scaled(const MassProperties& body, double factor)
{
  MassProperties scaled = body;
  scaled.mass *= factor;
  scaled.inertia *= factor;
  return scaled;
}

MassProperties transformed(const MassProperties& body, const Pose& pose)
{
  const Mat3 rotation = pose.rotation.toRotationMatrix();
  MassProperties moved = body;
  moved.center = pose.point(body.center);
  moved.inertia = rotation * body.inertia * rotation.transpose();
  return moved;
}

MassProperties combined(std::span<const MassProperties> bodies)
{
  MassProperties whole;
  if (bodies.empty()) return whole;
  const Vec3 origin = bodies.front().center;
  Vec3 first = Vec3::Zero();
  for (const MassProperties& body : bodies) {
    whole.mass += body.mass;
    whole.volume += body.volume;
    first += body.mass * (body.center - origin);
  }
  whole.center = whole.mass > 0 ? Vec3(origin + first / whole.mass) : origin;
  for (const MassProperties& body : bodies) whole.inertia += inertia_about(body, whole.center);
  return whole;
}

PrincipalAxes principal_axes(const Mat3& inertia)
{
  const Mat3 symmetric = (inertia + inertia.transpose()) / 2;
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(symmetric);
  PrincipalAxes axes;
  axes.moments = solver.eigenvalues();

  const double equal = kEqualMoments * axes.moments.cwiseAbs().maxCoeff();
  const bool lower_equal = axes.moments[1] - axes.moments[0] <= equal;
  const bool upper_equal = axes.moments[2] - axes.moments[1] <= equal;
  if (lower_equal && upper_equal) return axes;

  Vec3 x = pointing_to_largest_component(solver.eigenvectors().col(0));
  Vec3 y = pointing_to_largest_component(solver.eigenvectors().col(1));
  if (lower_equal) {
    // The distinct axis is z; x and y may turn about it.
    const Vec3 z = pointing_to_largest_component(solver.eigenvectors().col(2));
    x = perpendicular_near_mesh_axis(z);
    y = z.cross(x);
  } else if (upper_equal) {
    y = perpendicular_near_mesh_axis(x);
  }
  axes.rotation << x, y, x.cross(y);
  return axes;
}

}  // namespace thrum::mesh
