// SPDX-License-Identifier: MIT
// A closed surface in a lattice of tetrahedra that are not fitted to it: each tetrahedron is kept whole, with
// the integrals over its inside part. Volume and all moments of the body are exact to rounding, sharp edges
// and thin walls included, and there is no meshing that can fail.
//
// See docs/methods/cut_cells.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/vec.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/tets/cell_moments.h"

namespace thrum::tets {

struct CutCellsDesc {
  double spacing = 0;  ///< side of the lattice cubes = longest edge of its tetrahedra [m]
  /// Faces of the lattice lie in this plane, so that what is on one side can be held fixed exactly.
  struct Plane {
    Vec3 normal = Vec3::UnitZ();  ///< unit length
    double offset = 0;            ///< along the normal [m]
  };
  std::optional<Plane> plane = {};
  /// Of the elements: above 2, monomial_moments() are there too; at most 4.
  int degree = 2;
  /// Called for each cell that was cut, by any thread, with its number and the number of all; may throw.
  std::function<void(std::size_t, std::size_t)> advance = {};
};

/// Thrown when a surface crosses itself, so that it is not known what is inside.
class CrossingSurface : public Error {
 public:
  using Error::Error;
};

/// A tetrahedron of the lattice that the surface passes through in several disconnected pieces is there once
/// for each of them, with vertices of its own, so that walls on the two sides of a narrow gap are not joined.
class CutCells {
 public:
  using Advance = std::function<void(std::size_t, std::size_t)>;

  /// Throws CrossingSurface, and Error for a spacing that is not positive or too fine.
  CutCells(const distance::MeshDistance& surface, const CutCellsDesc& desc);

  /// The same surface with tetrahedra of mesh() bisected as often as `levels` says, and what else must be for
  /// faces to match. None when a new vertex lies on the surface.
  [[nodiscard]] std::optional<CutCells> refined(const distance::MeshDistance& surface,
                                                std::span<const std::uint8_t> levels,
                                                const Advance& advance = {}) const;

  /// The same tetrahedra with the moments for elements of another degree.
  [[nodiscard]] CutCells of_degree(const distance::MeshDistance& surface, int degree,
                                   const Advance& advance = {}) const;

  /// Whole tetrahedra of the lattice, all with material inside.
  [[nodiscard]] const mesh::TetrahedralMesh& mesh() const { return mesh_; }
  /// Of the inside part of a tetrahedron; null when all of it is inside.
  [[nodiscard]] const CellMoments* moments(std::size_t tetrahedron) const
  {
    const Index cut = cut_of_[tetrahedron];
    return cut < 0 ? nullptr : &moments_[static_cast<std::size_t>(cut)];
  }
  /// The integrals of all monomials up to twice the degree (monomial_moments.h) over the inside part, for a
  /// tetrahedron of unit volume; empty for degree 2 and when all of it is inside.
  [[nodiscard]] std::span<const double> monomial_moments(std::size_t tetrahedron) const
  {
    const Index cut = cut_of_[tetrahedron];
    if (cut < 0 || monomial_moments_.empty()) return {};
    return monomial_moments_[static_cast<std::size_t>(cut)];
  }
  [[nodiscard]] int degree() const { return degree_; }
  /// Volume of the inside [m^3]; that of the surface, to rounding.
  [[nodiscard]] double volume() const { return volume_; }
  /// Of the lattice that the cells were bisected from [m].
  [[nodiscard]] double spacing() const { return spacing_; }

  /// A place in the body: a tetrahedron and barycentric coordinates in it.
  struct Place {
    Index tetrahedron = -1;
    Vec4 at = Vec4::Zero();
  };
  /// The tetrahedron that contains a point of the given triangle of the surface. At a tip, where no material
  /// is left in that tetrahedron, the closest one with material.
  [[nodiscard]] Place find(const Vec3& point, Index triangle) const;

 private:
  struct Builder;
  struct Covering;
  CutCells() = default;
  [[nodiscard]] CutCells same_lattice(int degree, std::shared_ptr<Covering>& covering) const;
  [[nodiscard]] Vec4 coordinates_in(Index cell, const Vec3& point) const;
  [[nodiscard]] Place place_in(Index tetrahedron, const Vec3& point) const;

  mesh::TetrahedralMesh mesh_;
  std::vector<Index> cut_of_;
  std::vector<CellMoments> moments_;
  std::vector<std::vector<double>> monomial_moments_;
  int degree_ = 2;
  double volume_ = 0;
  double spacing_ = 0;

  // From a point to its tetrahedron.
  Mat3 to_lattice_ = Mat3::Identity();
  Vec3 origin_ = Vec3::Zero();           // in lattice axes
  std::array<std::int64_t, 3> cells_{};  // of the grid
  std::shared_ptr<const Covering> covering_;
  std::vector<Index> first_piece_;  // of each tetrahedron with material: first in mesh_
  std::vector<std::vector<std::pair<Index, int>>> triangle_pieces_;  // where there are several pieces
};

}  // namespace thrum::tets
