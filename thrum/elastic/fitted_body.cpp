// SPDX-License-Identifier: MIT
#include "thrum/elastic/fitted_body.h"

#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/distance/surface_refinement.h"
#include "thrum/elastic/mesh_checks.h"
#include "thrum/elastic/supports.h"
#include "thrum/mesh/bvh.h"

namespace thrum::elastic {

ElementBody fitted_body(const mesh::TriangleMesh& surface, const mesh::TetrahedralMesh& mesh, double longest,
                        const ModalAnalysisDesc& desc, int degree)
{
  check_mesh(mesh);
  ElementBody body;
  body.elements = build_element_mesh(mesh, tetrahedron_of(degree));
  body.element_name = std::string(name_of(body.elements.kind));
  body.held = held_axes(body.elements, {}, desc.supports);
  body.surface = distance::split_long_edges(surface, longest).mesh;
  const mesh::BoundarySurface boundary = mesh::boundary_surface(mesh);
  const mesh::Bvh bvh(boundary.surface);
  for (const Vec3& v : body.surface.vertices) {
    const mesh::ClosestPoint closest = bvh.closest_point(v);
    const auto tetrahedron = at(boundary.tetrahedra[at(closest.triangle)]);
    const Tetrahedron& corners = mesh.tetrahedra[tetrahedron];
    Vec4 place = Vec4::Zero();
    for (int k = 0; k < 3; ++k) {
      const Index node = boundary.nodes[at(boundary.surface.triangles[at(closest.triangle)][at(k)])];
      place[std::find(corners.begin(), corners.end(), node) - corners.begin()] += closest.barycentric[k];
    }
    const VecX shape = shape_functions(body.elements.kind, place);
    body.surface_weights.add_vertex(std::span(body.elements.element(tetrahedron), at(shape.size())),
                                    std::span(shape.data(), at(shape.size())));
  }
  return body;
}

}  // namespace thrum::elastic
