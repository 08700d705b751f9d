// SPDX-License-Identifier: MIT
#include "thrum/shapes/rings.h"

#include <cstdint>

namespace thrum::shapes {

void add_band(mesh::TriangleMesh& mesh, const Ring& a, const Ring& b)
{
  // Walk both rings together and always advance on the one whose next edge has its middle at the smaller
  // angle. The comparison is in integers, so the band has the symmetry of the counts.
  const int steps_a = a.count == 1 ? 0 : a.count;
  const int steps_b = b.count == 1 ? 0 : b.count;
  int i = 0;
  int j = 0;
  while (i < steps_a || j < steps_b) {
    const bool advance_a =
        j >= steps_b || (i < steps_a && static_cast<std::int64_t>(2 * i + 1) * steps_b <=
                                            static_cast<std::int64_t>(2 * j + 1) * steps_a);
    if (advance_a) {
      mesh.triangles.push_back({a.at(i), a.at(i + 1), b.at(j)});
      ++i;
    } else {
      mesh.triangles.push_back({a.at(i), b.at(j + 1), b.at(j)});
      ++j;
    }
  }
}

}  // namespace thrum::shapes
