// SPDX-License-Identifier: MIT
#include "thrum/mesh/section_change.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "thrum/base/parallel.h"
#include "thrum/mesh/bvh.h"

namespace thrum::mesh {

namespace {

// Within at least so many edges of a triangle, so that the facets of a curve count with their mean.
constexpr double kMinEdges = 2;
constexpr double kStart = 1e-7;  // of a ray below the surface, of the size

struct Facet {
  Vec3 middle = Vec3::Zero();
  Vec3 normal = Vec3::Zero();
  double area = 0;
  double thickness = 0;
  double radius = 0;  // within which changes are added up
  double gap = 0;     // volume between it and the given surface, outside positive
};

Facet measure(const TriangleMesh& mesh, std::size_t t, const Bvh& self, const Bvh& given)
{
  Facet facet;
  facet.middle = (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3;
  const Vec3 twice_area = area_vector(mesh, t);
  facet.area = twice_area.norm() / 2;
  if (!(facet.area > 0)) return facet;
  const double size = self.bounds().sizes().maxCoeff();
  const Vec3 inwards = -twice_area.normalized();
  const RayHit hit = self.first_hit({facet.middle + kStart * size * inwards, inwards});
  facet.thickness = hit.found() ? hit.t : size;
  double longest = 0;
  // The gap is quadratic over it, so that the mean over the middles of its edges is exact.
  for (int k = 0; k < 3; ++k) {
    const Vec3 a = mesh.corner(t, k);
    const Vec3 b = mesh.corner(t, (k + 1) % 3);
    longest = std::max(longest, (b - a).norm());
    const Vec3 p = 0.5 * (a + b);
    facet.gap -= (p - given.closest_point(p).point).dot(inwards) / 3 * facet.area;
  }
  facet.normal = -inwards;
  facet.radius = std::max(facet.thickness, kMinEdges * longest);
  return facet;
}

}  // namespace

double largest_section_change(const TriangleMesh& given, const TriangleMesh& changed)
{
  const Bvh self(changed), surface(given);
  std::vector<Facet> facets(changed.triangles.size());
  base::parallel_for(facets.size(), [&](std::size_t t) { facets[t] = measure(changed, t, self, surface); });
  // Over the sector between a facet of a rod and its middle, at a height h over the plane in which it bends,
  // the second moment is its area times its distance from the middle times h^2 / 4; a gap adds its own
  // area times h^2.
  std::vector<double> changes(facets.size(), 0);
  base::parallel_for(facets.size(), [&](std::size_t t) {
    const Facet& here = facets[t];
    if (!(here.area > 0)) return;
    const Vec3 centre = here.middle - 0.5 * here.thickness * here.normal;
    double change = 0, moment = 0;
    for (const Facet& other : facets) {
      const Vec3 arm = other.middle - centre;
      if (arm.squaredNorm() > here.radius * here.radius) continue;
      const double square = std::pow(arm.dot(here.normal), 2);
      change += other.gap * square;
      moment += other.area * std::max(0.0, arm.dot(other.normal)) * square / 4;
    }
    if (moment > 0) changes[t] = 0.5 * std::abs(change) / moment;
  });
  return changes.empty() ? 0 : *std::max_element(changes.begin(), changes.end());
}

}  // namespace thrum::mesh
