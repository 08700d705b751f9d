// SPDX-License-Identifier: MIT
#include "thrum/tets/lattice_cuts.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/tets/isosurface_stuffing.h"

namespace thrum::tets {

namespace {

// A bracket narrower than this fraction of the edge is accurate enough, also where the distance jumps.
constexpr double kMinBracketWidth = 1e-13;
constexpr int kMaxSteps = 100;

// The false position method with the Illinois rule: the value at an end that stays twice in a row is halved.
struct Bracket {
  std::size_t cut;
  double low = 0, high = 1;        // fractions of the edge
  double at_low = 0, at_high = 0;  // distances there; at_low is halved as the rule says
  int retained_end = 0;            // -1 low end stayed last time, +1 high end did

  [[nodiscard]] double estimate() const
  {
    const double x = (low * at_high - high * at_low) / (at_high - at_low);
    return x > low && x < high ? x : 0.5 * (low + high);
  }

  void narrow(double x, double value)
  {
    if ((value < 0) == (at_low < 0)) {
      low = x;
      at_low = value;
      if (retained_end == 1) at_high *= 0.5;
      retained_end = 1;
    } else {
      high = x;
      at_high = value;
      if (retained_end == -1) at_low *= 0.5;
      retained_end = -1;
    }
  }
};

double edge_length(int edge, double spacing)
{
  return edge < kLongEdges ? spacing : 0.5 * std::sqrt(3.0) * spacing;
}

}  // namespace

std::size_t LatticeCuts::owned_cut(SiteAddress owner, int edge) const
{
  const auto site = at(owner);
  THRUM_ASSERT(cut_edges_[site] >> edge & 1);
  const unsigned before = cut_edges_[site] & ((1u << edge) - 1u);
  return at(first_cut_[site]) + at(std::popcount(before));
}

void LatticeCuts::collect_cut_edges()
{
  first_cut_.assign(lattice_.site_count(), 0);
  cut_edges_.assign(lattice_.site_count(), 0);
  warped_to_.assign(lattice_.site_count(), -1);
  for (std::size_t slot = 0; slot < lattice_.slot_count(); ++slot) {
    // Edges with two signs have both ends within a spacing of the surface, so blocks away from it have none.
    if (!lattice_.near_surface(slot)) continue;
    const auto begin = static_cast<SiteAddress>(slot) * BccLattice::kBlockSites;
    for (SiteAddress owner = begin; owner < begin + BccLattice::kBlockSites; ++owner) {
      first_cut_[at(owner)] = static_cast<std::int32_t>(cuts_.size());
      const double here = lattice_.value(owner);
      if (here == 0) continue;
      const LatticeSite site = lattice_.site(owner);
      for (int edge = 0; edge < static_cast<int>(kOwnedEdges.size()); ++edge) {
        const double there = lattice_.value(lattice_.address(site + kOwnedEdges[at(edge)]));
        if (!(here < 0 ? there > 0 : there < 0)) continue;
        cut_edges_[at(owner)] |= static_cast<std::uint8_t>(1u << edge);
        cuts_.push_back({owner, edge, 0, Vec3::Zero()});
      }
    }
  }
}

void LatticeCuts::find_cut_points(const distance::DistanceFunction& distance)
{
  collect_cut_edges();
  std::vector<Bracket> brackets;
  brackets.reserve(cuts_.size());
  std::vector<Vec3> origins;
  for (std::size_t c = 0; c < cuts_.size(); ++c) {
    const LatticeSite site = lattice_.site(cuts_[c].owner);
    const LatticeSite far = site + kOwnedEdges[at(cuts_[c].edge)];
    brackets.push_back({c, 0, 1, lattice_.value(cuts_[c].owner), lattice_.value(lattice_.address(far))});
  }

  // All brackets are narrowed together, so that the distance is evaluated for many points at a time.
  const double tolerance = kStuffingSurfaceTolerance * lattice_.spacing();
  std::vector<Vec3> points;
  std::vector<double> values;
  for (int step = 0; step < kMaxSteps && !brackets.empty(); ++step) {
    points.resize(brackets.size());
    values.resize(brackets.size());
    for (std::size_t b = 0; b < brackets.size(); ++b) {
      Cut& cut = cuts_[brackets[b].cut];
      const LatticeSite site = lattice_.site(cut.owner);
      const Vec3 from = lattice_.position(site);
      const Vec3 to = lattice_.position(site + kOwnedEdges[at(cut.edge)]);
      cut.fraction = brackets[b].estimate();
      cut.point = from + cut.fraction * (to - from);
      points[b] = cut.point;
    }
    distance(points, values);
    evaluations_ += points.size();
    std::size_t left = 0;
    for (std::size_t b = 0; b < brackets.size(); ++b) {
      Bracket bracket = brackets[b];
      bracket.narrow(cuts_[bracket.cut].fraction, values[b]);
      if (std::abs(values[b]) > tolerance && bracket.high - bracket.low > kMinBracketWidth)
        brackets[left++] = bracket;
    }
    brackets.resize(left);
  }
}

void LatticeCuts::warp()
{
  // For each violated site its violating cuts. A cut may violate one end only, since both fractions are below
  // a half.
  struct Violation {
    SiteAddress site;
    std::int32_t cut;
    double distance;
    SiteAddress other;
  };
  std::vector<Violation> violations;
  for (std::size_t c = 0; c < cuts_.size(); ++c) {
    const Cut& cut = cuts_[c];
    const double limit = cut.edge < kLongEdges ? kViolatedLong : kViolatedShort;
    const SiteAddress far = lattice_.address(lattice_.site(cut.owner) + kOwnedEdges[at(cut.edge)]);
    const double length = edge_length(cut.edge, lattice_.spacing());
    const auto index = static_cast<std::int32_t>(c);
    if (cut.fraction < limit) violations.push_back({cut.owner, index, cut.fraction * length, far});
    if (1 - cut.fraction < limit) violations.push_back({far, index, (1 - cut.fraction) * length, cut.owner});
  }
  std::sort(violations.begin(), violations.end(), [](const Violation& a, const Violation& b) {
    if (a.site != b.site) return a.site < b.site;
    return a.distance != b.distance ? a.distance < b.distance : a.cut < b.cut;
  });

  // Sites in order of address; the site moves to the nearest cut that an earlier move has not made void.
  for (const Violation& v : violations) {
    if (v.site == kNoSite) continue;
    if (lattice_.value(v.site) == 0 || lattice_.value(v.other) == 0) continue;
    warped_to_[at(v.site)] = v.cut;
    lattice_.set_value(v.site, 0);
  }
}

}  // namespace thrum::tets
