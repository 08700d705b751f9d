// SPDX-License-Identifier: MIT
// Distance along a surface by the heat method [Crane13]: let heat flow from the source for a short time, keep
// only the direction in which it flows, and find the function whose gradient has that direction and length
// one. Both steps are linear systems whose matrices do not depend on the source: factor once, solve per
// source.
//
//   const HeatGeodesics geodesics(mesh);                       // factors
//   const GeodesicField field = geodesics.distance(point);     // two solves
//   field.vertex_distance[i];  geodesics.evaluate(field, other_point);
//
// or, for one source, geodesic_distance(mesh, point). The linear elements are defined on an intrinsic
// Delaunay triangulation of the same surface, so needles, slivers and triangles without area do not reduce
// accuracy; see docs/methods/heat_geodesics.md.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/surface_point.h"
#include "thrum/mesh/triangle_mesh.h"
#include "thrum/numerics/sparse_factorisation.h"

namespace thrum::distance {

/// Boundary condition of the heat flow on an open surface: insulated, cooled, or the mean of both, which
/// distorts the lines of equal distance least [Crane13, sec. 3.4]. No effect on closed surfaces.
enum class HeatBoundary { insulated, cooled, averaged };

struct HeatGeodesicsDesc {
  HeatBoundary boundary = HeatBoundary::averaged;
  /// Time of the flow as a multiple of the squared mean edge length; typically 1 to 10. Larger is smoother
  /// and less accurate.
  double time_factor = 2;
  /// Edges longer than this are halved first [m]; 0: none. Coarse meshes need it: a table top of two
  /// triangles has no vertex at which a distance could be stored.
  double max_edge_length = 0;
  /// Off: linear elements on the input triangles.
  bool intrinsic_delaunay = true;
  /// One more pass per source that replaces each distance by a straight line over one unfolded triangle.
  /// Exact on flat parts; takes about as long as the solves.
  bool polish = false;
  numerics::FactorisationBackend backend = numerics::FactorisationBackend::automatic;
};

/// Distances from one set of sources. Points that are not connected to a source have distance infinity.
struct GeodesicField {
  std::vector<double>
      vertex_distance;  ///< at the vertices of the mesh, then at those that refinement added [m]
  std::vector<mesh::SurfacePoint> sources;
};

class HeatGeodesics {
 public:
  /// Throws Error for a mesh with invalid indices or coordinates, without triangles, or whose matrices cannot
  /// be factored.
  explicit HeatGeodesics(const mesh::TriangleMesh& mesh, const HeatGeodesicsDesc& desc = {});
  ~HeatGeodesics();
  HeatGeodesics(HeatGeodesics&&) noexcept;
  HeatGeodesics& operator=(HeatGeodesics&&) noexcept;

  /// Distance to the nearest of the sources (at least one). Const and safe from several threads. Throws Error
  /// for a triangle out of range or invalid barycentric coordinates.
  [[nodiscard]] GeodesicField distance(std::span<const mesh::SurfacePoint> sources) const;
  [[nodiscard]] GeodesicField distance(const mesh::SurfacePoint& source) const
  {
    return distance({&source, 1});
  }
  [[nodiscard]] GeodesicField distance_from_vertex(Index vertex) const;

  /// The distance at any point of the surface [m]: linear between vertices, straight to a source in the same
  /// triangle.
  [[nodiscard]] double evaluate(const GeodesicField& field, const mesh::SurfacePoint& point) const;

  struct Info {
    Index vertices = 0;  ///< after refinement
    Index triangles = 0;
    Index components = 0;
    Index flips = 0;          ///< edges flipped for the Delaunay triangulation
    Index shared_edges = 0;   ///< edges of more than two triangles; heat flows across, they are never flipped
    bool open = false;        ///< there are edges of one triangle only
    double added_length = 0;  ///< given to every edge because some triangles had no area [m]
    double mean_edge = 0;     ///< of the triangulation [m]
    double flow_length = 0;   ///< square root of the time of the flow [m]
    double factor_entries = 0;
    std::string backend;
  };
  [[nodiscard]] const Info& info() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The one-off form: distances at the vertices of the mesh.
[[nodiscard]] std::vector<double> geodesic_distance(const mesh::TriangleMesh& mesh,
                                                    const mesh::SurfacePoint& source,
                                                    const HeatGeodesicsDesc& desc = {});

}  // namespace thrum::distance
