// SPDX-License-Identifier: MIT
// Supports as text, and the nodes that they fix:
//   z<0.01                 half space; also <=, >, >= (the boundary is always included); x, y or z first
//   x>0 && z<0.01          several of them, all of which must hold: a box, possibly open
//   box(0,0,0, 1,1,0.1)    a box by its lowest and highest corner [m]
//   region feet            nodes of the region called feet
//   nodes 4 5 17           vertices of the tetrahedral mesh
//   x<0.1 || x>2.9         several places, each in one of the forms above
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/model/support.h"

namespace thrum::elastic {

struct ElementMesh;  // thrum/elastic/element_mesh.h

/// Reads one of the forms above; throws Error that shows them.
[[nodiscard]] model::Selection parse_selection(std::string_view text);

/// Reads one or more of them, separated by "||".
[[nodiscard]] std::vector<model::Selection> parse_selections(std::string_view text);

/// The selection in the syntax of parse_selection().
[[nodiscard]] std::string to_text(const model::Selection& selection);
/// "clamped where z<0.01", "z held where ..."
[[nodiscard]] std::string to_text(const model::Support& support);

/// Whether each node is selected. A mid-edge node is selected when both ends of its edge are, so that the
/// fixed part of a body does not depend on the element type. `region_names` are those of the tetrahedral
/// mesh.
[[nodiscard]] std::vector<bool> select_nodes(const ElementMesh& mesh,
                                             std::span<const std::string> region_names,
                                             const model::Selection& selection);

/// Which axes of each node are fixed by all supports together; empty when there are none. Throws Error when a
/// support selects no node, fixes no axis, or when no unknown is left free.
[[nodiscard]] std::vector<std::array<bool, 3>> held_axes(const ElementMesh& mesh,
                                                         std::span<const std::string> region_names,
                                                         std::span<const model::Support> supports);

/// The same supports, with half spaces and boxes that reach `by` farther [m], so that nodes on their limits
/// are held whatever rounding does.
[[nodiscard]] std::vector<model::Support> widened(std::vector<model::Support> supports, double by);

}  // namespace thrum::elastic
