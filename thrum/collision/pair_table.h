// SPDX-License-Identifier: MIT
// One contact function for each pair of shape kinds. To add contact between two kinds, write a PairFunction,
// and register it in a function like those called by default_pair_table().
#pragma once

#include <array>
#include <vector>

#include "thrum/collision/narrow_phase_settings.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/model/contact.h"

namespace thrum::collision {

class PairTable;
struct PairScratch;

struct PairInput {
  const PreparedShape* a = nullptr;
  const PreparedShape* b = nullptr;
  Pose X_wa;                 ///< shape axes of a to world
  Pose X_wb;                 ///< shape axes of b to world
  double margin = 0.0;       ///< points with a gap up to this are wanted as well [m]
  std::uint32_t part_a = 0;  ///< to be copied into the patches
  std::uint32_t part_b = 0;
  const PairTable* table = nullptr;  ///< for shapes made of parts
  PairScratch* scratch = nullptr;    ///< working memory; without it PairTable::collide makes one for the call
};

/// Appends the patches of the pair: normal from a to b, parts, features and depths set, bodies left out.
using PairFunction = void (*)(const PairInput& pair, std::vector<model::ContactPatch>& patches);

class PairTable {
 public:
  /// Sets the function for (a, b); for (b, a) it is called with the two swapped and the result turned round.
  void set(model::ShapeKind a, model::ShapeKind b, PairFunction function);
  /// Does nothing for a pair without a function, for example two planes.
  void collide(const PairInput& pair, std::vector<model::ContactPatch>& patches) const;
  [[nodiscard]] bool has(model::ShapeKind a, model::ShapeKind b) const;

 private:
  struct Entry {
    PairFunction function = nullptr;
    bool swapped = false;
  };
  std::array<std::array<Entry, model::kShapeKinds>, model::kShapeKinds> entries_{};
};

/// All pairs that the library knows.
[[nodiscard]] const PairTable& default_pair_table();
/// The same with meshes against meshes and height fields by the method given.
[[nodiscard]] const PairTable& pair_table_with(Interference interference);

/// A convex shape a against the front faces of a mesh or height field b.
void collide_with_triangles(const PairInput& pair, std::vector<model::ContactPatch>& patches);

void register_box_pairs(PairTable& table);
void register_convex_pairs(PairTable& table);
void register_plane_pairs(PairTable& table);
void register_triangle_pairs(PairTable& table);
void register_mesh_pairs(PairTable& table, Interference interference = Interference::hierarchy);
void register_compound_pairs(PairTable& table);

}  // namespace thrum::collision
