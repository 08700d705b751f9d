// SPDX-License-Identifier: MIT
// A compound touches with each of its parts.
#include "thrum/collision/pair_table.h"

namespace thrum::collision {

namespace {

void collide_compound(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  // a is the compound; b may be one as well and then comes back here with the roles exchanged.
  const auto& compound = pair.a->as<model::Compound>();
  Box3 box_b;
  if (!pair.b->unbounded) box_b = world_bounds(*pair.b, pair.X_wb, pair.margin);
  for (std::size_t i = 0; i < compound.parts.size(); ++i) {
    PairInput part = pair;
    part.a = &pair.a->parts[i];
    part.X_wa = pair.X_wa * compound.parts[i].X_sp;
    part.part_a = static_cast<std::uint32_t>(i);
    if (!pair.b->unbounded && !world_bounds(*part.a, part.X_wa, 0).intersects(box_b)) continue;
    pair.table->collide(part, patches);
  }
}

}  // namespace

void register_compound_pairs(PairTable& table)
{
  for (std::size_t kind = 0; kind < model::kShapeKinds; ++kind) {
    table.set(model::ShapeKind::compound, static_cast<model::ShapeKind>(kind), collide_compound);
  }
}

}  // namespace thrum::collision
