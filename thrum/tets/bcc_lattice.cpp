// SPDX-License-Identifier: MIT
#include "thrum/tets/bcc_lattice.h"

#include <fmt/core.h>

#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

// Site addresses are 32 bits wide: two million blocks of 1024 sites, about 12 billion tetrahedra.
constexpr double kMaxBlocks = 2.0e6;

}  // namespace

BccLattice::BccLattice(const Box3& bounds, double spacing) : spacing_(spacing)
{
  if (!(spacing > 0) || !std::isfinite(spacing)) {
    throw Error(fmt::format("The lattice spacing is {} m; it must be positive.", spacing));
  }
  if (bounds.isEmpty() || !bounds.min().allFinite() || !bounds.max().allFinite()) {
    throw Error("The box to fill with tetrahedra is empty or not finite.");
  }
  double block_count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    // One cell before the box and one after, and the plane of corners that closes the last cell.
    const double cells = std::ceil((bounds.max()[axis] - bounds.min()[axis]) / spacing) + 3;
    block_count *= std::ceil(cells / kBlockCells);
    if (block_count > kMaxBlocks) {
      const Vec3 size = bounds.sizes();
      throw Error(fmt::format(
          "A spacing of {:.3g} m is too fine for a box of {:.3g} x {:.3g} x {:.3g} m. Use a larger one.",
          spacing, size.x(), size.y(), size.z()));
    }
    const auto a = at(axis);
    blocks_[a] = (static_cast<int>(cells) + kBlockCells - 1) / kBlockCells;
    cells_[a] = blocks_[a] * kBlockCells;
  }
  origin_ = bounds.min() - Vec3::Constant(spacing);
}

LatticeSite BccLattice::site(SiteAddress address) const
{
  const auto slot = at(address / kBlockSites);
  const int local = address % kBlockSites;
  const auto first = first_cell(slot);
  const int cell = local >> 1;
  const int odd = local & 1;
  return {2 * (first[0] + (cell & 7)) + odd, 2 * (first[1] + ((cell >> 3) & 7)) + odd,
          2 * (first[2] + (cell >> 6)) + odd};
}

std::array<int, 3> BccLattice::first_cell(std::size_t slot) const
{
  const int block = block_of_slot_[slot];
  return {kBlockCells * (block % blocks_[0]), kBlockCells * ((block / blocks_[0]) % blocks_[1]),
          kBlockCells * (block / (blocks_[0] * blocks_[1]))};
}

// The sites of a cube of `size` cells reach from the first corner to the last centre, half a cell short of
// the cube.
Vec3 BccLattice::centre_of_sites(const std::array<int, 3>& cell, int size) const
{
  return origin_ + spacing_ * (Vec3(cell[0], cell[1], cell[2]) + Vec3::Constant(0.5 * (size - 0.5)));
}

// The distance is 1-Lipschitz, so a cube whose middle is further than this from the surface has no site
// within one spacing of it.
double BccLattice::reach(int size) const
{
  return spacing_ * (1 + 0.5 * (size - 0.5) * std::sqrt(3.0));
}

void BccLattice::sample(const distance::DistanceFunction& distance)
{
  std::vector<Part> parts;
  keep_blocks(distance, parts);
  for (int size = kBlockCells / 2; size >= 2; size /= 2) refine_parts(distance, size, parts);
  evaluate_sites(distance, 2, parts);
  check_edge_of_grid();
}

// The grid ends a cell beyond the box, so an inside site at its end means that the box does not contain the
// shape.
void BccLattice::check_edge_of_grid() const
{
  for (std::size_t slot = 0; slot < slot_count(); ++slot) {
    const auto first = first_cell(slot);
    bool at_edge = false;
    for (std::size_t a = 0; a < 3; ++a) at_edge |= first[a] == 0 || first[a] + kBlockCells == cells_[a];
    if (!at_edge) continue;
    const auto begin = static_cast<SiteAddress>(slot) * kBlockSites;
    for (SiteAddress at = begin; at < begin + kBlockSites; ++at) {
      if (value(at) > 0) continue;
      const LatticeSite s = site(at);
      if (contains(s - LatticeSite{2, 2, 2}) && contains(s + LatticeSite{2, 2, 2})) continue;
      const Vec3 p = position(s);
      throw Error(
          fmt::format("The shape extends beyond its bounding box, for example at ({:.6g}, {:.6g}, {:.6g}) m.",
                      p.x(), p.y(), p.z()));
    }
  }
}

void BccLattice::keep_blocks(const distance::DistanceFunction& distance, std::vector<Part>& parts)
{
  const auto count = at(blocks_[0]) * at(blocks_[1]) * at(blocks_[2]);
  std::vector<Vec3> centres;
  centres.reserve(count);
  for (int k = 0; k < blocks_[2]; ++k) {
    for (int j = 0; j < blocks_[1]; ++j) {
      for (int i = 0; i < blocks_[0]; ++i) {
        centres.push_back(centre_of_sites({i * kBlockCells, j * kBlockCells, k * kBlockCells}, kBlockCells));
      }
    }
  }
  std::vector<double> values(count);
  distance(centres, values);
  evaluations_ += count;

  // Outside blocks get no slot, inside blocks a slot of negative sites, the others are subdivided.
  slot_of_block_.assign(count, -1);
  std::vector<double> middle;
  for (std::size_t block = 0; block < count; ++block) {
    const bool near = !(std::abs(values[block]) > reach(kBlockCells));
    if (!near && values[block] > 0) continue;
    slot_of_block_[block] = static_cast<std::int32_t>(block_of_slot_.size());
    if (near) parts.push_back({slot_of_block_[block], 0, 0, 0});
    block_of_slot_.push_back(static_cast<std::int32_t>(block));
    near_surface_.push_back(near ? 1 : 0);
    middle.push_back(values[block]);
  }
  values_.resize(block_of_slot_.size() * at(kBlockSites));
  for (std::size_t slot = 0; slot < middle.size(); ++slot) {
    if (!near_surface(slot)) fill({static_cast<std::int32_t>(slot), 0, 0, 0}, kBlockCells, middle[slot]);
  }
}

// Cuts each part into eight of `size` cells and keeps those that may contain a site near the surface.
void BccLattice::refine_parts(const distance::DistanceFunction& distance, int size, std::vector<Part>& parts)
{
  std::vector<Part> pieces;
  std::vector<Vec3> centres;
  pieces.reserve(8 * parts.size());
  centres.reserve(8 * parts.size());
  for (const Part& part : parts) {
    const auto first = first_cell(at(part.slot));
    for (int octant = 0; octant < 8; ++octant) {
      const int i = part.i + size * (octant & 1), j = part.j + size * ((octant >> 1) & 1),
                k = part.k + size * (octant >> 2);
      pieces.push_back({part.slot, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j),
                        static_cast<std::uint8_t>(k)});
      centres.push_back(centre_of_sites({first[0] + i, first[1] + j, first[2] + k}, size));
    }
  }
  std::vector<double> values(pieces.size());
  distance(centres, values);
  evaluations_ += pieces.size();
  parts.clear();
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (std::abs(values[p]) > reach(size))
      fill(pieces[p], size, values[p]);
    else
      parts.push_back(pieces[p]);
  }
}

void BccLattice::evaluate_sites(const distance::DistanceFunction& distance, int size,
                                const std::vector<Part>& parts)
{
  std::vector<SiteAddress> addresses;
  std::vector<Vec3> points;
  const std::size_t each = 2 * at(size * size * size);
  addresses.reserve(each * parts.size());
  points.reserve(each * parts.size());
  for (const Part& part : parts) {
    const auto first = first_cell(at(part.slot));
    for (int k = 0; k < size; ++k) {
      for (int j = 0; j < size; ++j) {
        for (int i = 0; i < size; ++i) {
          const LatticeSite corner{2 * (first[0] + part.i + i), 2 * (first[1] + part.j + j),
                                   2 * (first[2] + part.k + k)};
          for (const int odd : {0, 1}) {
            const LatticeSite s = corner + LatticeSite{odd, odd, odd};
            addresses.push_back(address(s));
            points.push_back(position(s));
          }
        }
      }
    }
  }
  std::vector<double> values(points.size());
  distance(points, values);
  evaluations_ += points.size();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::isnan(values[i])) {
      const Vec3& p = points[i];
      throw Error(
          fmt::format("The distance at ({:.6g}, {:.6g}, {:.6g}) m is not a number.", p.x(), p.y(), p.z()));
    }
    set_value(addresses[i], values[i]);
  }
}

void BccLattice::fill(const Part& part, int size, double value)
{
  const auto first = first_cell(at(part.slot));
  for (int k = 0; k < size; ++k) {
    for (int j = 0; j < size; ++j) {
      const SiteAddress row =
          address({2 * (first[0] + part.i), 2 * (first[1] + part.j + j), 2 * (first[2] + part.k + k)});
      for (int n = 0; n < 2 * size; ++n) set_value(row + n, value);
    }
  }
}

}  // namespace thrum::tets
