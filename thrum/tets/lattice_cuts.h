// SPDX-License-Identifier: MIT
// Where the surface cuts the edges of the lattice, and the lattice vertices that are moved onto it.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/tets/bcc_lattice.h"

namespace thrum::tets {

/// A cut point nearer to the end of its edge than this fraction of the edge's length violates that end
/// [Labelle07]. Large values leave no short edges, small ones move no site far; of all pairs this one has the
/// largest minimum angle, 10.784 degrees, which two stencils reach at once. The pair (0.24999, 0.41189) has
/// 9.317 and 161.64 degrees.
inline constexpr double kViolatedLong = 0.28511;
inline constexpr double kViolatedShort = 0.39882;

class LatticeCuts {
 public:
  struct Cut {
    SiteAddress owner = kNoSite;
    int edge = 0;         ///< index into kOwnedEdges
    double fraction = 0;  ///< of the edge's length, from the owner
    Vec3 point = Vec3::Zero();
  };

  /// Refers to the lattice, and sets the values of warped sites to zero.
  explicit LatticeCuts(BccLattice& lattice) : lattice_(lattice) {}

  /// On each edge whose ends have opposite signs, the zero of the distance itself (not of its linear
  /// interpolant), to kStuffingSurfaceTolerance of the spacing.
  void find_cut_points(const distance::DistanceFunction& distance);

  /// Moves each violated site to the nearest of the cut points that violate it. The cut points on its other
  /// edges are then void, since one of their ends is on the surface.
  void warp();

  [[nodiscard]] const std::vector<Cut>& cuts() const { return cuts_; }
  /// The cut on the edge between two neighbouring sites.
  [[nodiscard]] std::size_t find(const LatticeSite& a, SiteAddress at_a, const LatticeSite& b,
                                 SiteAddress at_b) const
  {
    const int edge = owned_edge(b - a);
    return edge >= 0 ? owned_cut(at_a, edge) : owned_cut(at_b, owned_edge(a - b));
  }
  /// The position of a site after warping.
  [[nodiscard]] Vec3 position(SiteAddress address) const
  {
    const std::int32_t cut = warped_to_[at(address)];
    return cut < 0 ? lattice_.position(lattice_.site(address)) : cuts_[at(cut)].point;
  }
  [[nodiscard]] std::size_t evaluations() const { return evaluations_; }

 private:
  [[nodiscard]] std::size_t owned_cut(SiteAddress owner, int edge) const;
  void collect_cut_edges();

  BccLattice& lattice_;
  std::vector<Cut> cuts_;                // those of one owner follow each other, in the order of its edges
  std::vector<std::int32_t> first_cut_;  // per site
  std::vector<std::uint8_t> cut_edges_;  // per site, a bit for each owned edge
  std::vector<std::int32_t> warped_to_;  // per site, a cut or -1
  std::size_t evaluations_ = 0;
};

}  // namespace thrum::tets
