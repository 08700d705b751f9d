// SPDX-License-Identifier: MIT
#include "thrum/collision/pair_table.h"

#include <utility>

#include "thrum/base/index.h"
#include "thrum/collision/pair_scratch.h"

namespace thrum::collision {

void PairTable::set(model::ShapeKind a, model::ShapeKind b, PairFunction function)
{
  const std::size_t i = at(a);
  const std::size_t j = at(b);
  if (i != j) entries_[j][i] = {function, true};
  entries_[i][j] = {function, false};
}

bool PairTable::has(model::ShapeKind a, model::ShapeKind b) const
{
  return entries_[at(a)][at(b)].function != nullptr;
}

void PairTable::collide(const PairInput& pair, std::vector<model::ContactPatch>& patches) const
{
  const Entry& entry = entries_[at(pair.a->kind)][at(pair.b->kind)];
  if (entry.function == nullptr) return;
  if (pair.scratch == nullptr) {
    PairScratch scratch;
    PairInput with_scratch = pair;
    with_scratch.scratch = &scratch;
    collide(with_scratch, patches);
    return;
  }
  if (!entry.swapped) {
    entry.function(pair, patches);
    return;
  }
  const std::size_t before = patches.size();
  PairInput swapped_pair = pair;
  std::swap(swapped_pair.a, swapped_pair.b);
  std::swap(swapped_pair.X_wa, swapped_pair.X_wb);
  std::swap(swapped_pair.part_a, swapped_pair.part_b);
  entry.function(swapped_pair, patches);
  for (std::size_t i = before; i < patches.size(); ++i) {
    model::ContactPatch& patch = patches[i];
    patch.normal = -patch.normal;
    std::swap(patch.part_a, patch.part_b);
    for (model::ContactPoint& point : patch.active()) std::swap(point.feature_a, point.feature_b);
  }
}

namespace {

PairTable make_table(Interference interference)
{
  PairTable t;
  register_convex_pairs(t);
  register_box_pairs(t);
  register_plane_pairs(t);
  register_triangle_pairs(t);
  register_mesh_pairs(t, interference);
  register_compound_pairs(t);
  return t;
}

}  // namespace

const PairTable& default_pair_table()
{
  static const PairTable table = make_table(Interference::hierarchy);
  return table;
}

const PairTable& pair_table_with(Interference interference)
{
  if (interference == Interference::hierarchy) return default_pair_table();
  static const PairTable table = make_table(interference);
  return table;
}

}  // namespace thrum::collision
