// SPDX-License-Identifier: MIT
// How one lattice tetrahedron that the surface cuts is replaced [Labelle07, section 3].
//
// Corners are inside (-), on the surface (0) or outside (+). The part to keep is, by their numbers,
//
//     no -            nothing
//     no +            the tetrahedron itself
//     one -           one tetrahedron: outside corners are replaced by the cut points on their edges
//     - - 0 +         a pyramid over a quadrilateral, 2 tetrahedra
//     - - + +         a triangular prism, 3 tetrahedra
//     - - - +         a triangular prism, 3 tetrahedra
//
// Quadrilaterals lie in faces that two lattice tetrahedra share, so their diagonal must follow from the face
// alone:
//
//     the face has one long and two short edges. Where the long edge and one short edge are cut, the diagonal
//     starts at the cut point of the long edge. Where both short edges are cut, it starts at the cut point of
//     that short edge along which an even number of coordinates grows (parity rule): the two short edges of a
//     face differ in the sign of one coordinate, so that just one is even.
//
// With these rules the three diagonals of a prism never form a cycle around it, so it can always be cut.
#pragma once

#include <array>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/vec.h"
#include "thrum/tets/bcc_lattice.h"

namespace thrum::tets {

/// For the face a, b (inside), p (outside): whether the diagonal of the quadrilateral that remains joins a to
/// the cut point of edge b p; otherwise it joins b to the cut point of a p.
[[nodiscard]] constexpr bool diagonal_starts_at_first(const LatticeSite& a, const LatticeSite& b,
                                                      const LatticeSite& p)
{
  if (is_long_edge(b, p)) return true;
  if (is_long_edge(a, p)) return false;
  const int growing = (p.x > a.x ? 1 : 0) + (p.y > a.y ? 1 : 0) + (p.z > a.z ? 1 : 0);
  return growing % 2 != 0;
}

/// Cuts a positive prism, bottom A and top B, into three positive tetrahedra. Quadrilateral i stands on A[i],
/// A[i+1]; rising[i]: its diagonal joins A[i] to B[i+1].
template <class Emit>
void cut_prism(const std::array<Index, 3>& A, const std::array<Index, 3>& B,
               const std::array<bool, 3>& rising, Emit&& emit)
{
  // The bottom corner i where two diagonals start, j where one does, k where none does.
  std::array<int, 3> starts{};
  for (std::size_t q = 0; q < 3; ++q) ++starts[rising[q] ? q : (q + 1) % 3];
  std::size_t i = 0, j = 0, k = 0;
  for (std::size_t v = 0; v < 3; ++v) {
    if (starts[v] == 2) i = v;
    if (starts[v] == 1) j = v;
    if (starts[v] == 0) k = v;
  }
  THRUM_ASSERT(i != j && j != k && k != i);
  emit({A[0], A[1], A[2], B[k]});
  if (j == (i + 1) % 3)
    emit({A[i], A[j], B[k], B[j]});
  else
    emit({A[i], A[j], B[j], B[k]});
  emit({A[i], B[0], B[1], B[2]});
}

/// One corner of a lattice tetrahedron.
struct StencilCorner {
  LatticeSite site;
  SiteAddress address = kNoSite;
  int sign = 1;  ///< -1 inside, 0 on the surface, +1 outside
};

/// Emits the inside part of a positive lattice tetrahedron. `vertex(corner)` gives the mesh vertex of an
/// inside or surface corner, `cut(inside, outside)` that of the cut point between two corners.
template <class VertexOf, class CutOf, class Emit>
void stuff_tetrahedron(std::array<StencilCorner, 4> c, VertexOf&& vertex, CutOf&& cut, Emit&& emit)
{
  // Bring the corners in the order - 0 + by swaps. Four corners in three classes: two are of one class, and
  // swapping those makes the permutation even again without leaving the order.
  bool odd = false;
  for (int pass = 0; pass < 3; ++pass) {
    for (std::size_t m = 0; m + 1 < 4; ++m) {
      if (c[m].sign > c[m + 1].sign) {
        std::swap(c[m], c[m + 1]);
        odd = !odd;
      }
    }
  }
  if (odd) {
    for (std::size_t m = 0; m + 1 < 4; ++m) {
      if (c[m].sign == c[m + 1].sign) {
        std::swap(c[m], c[m + 1]);
        break;
      }
    }
  }
  int inside = 0, outside = 0;
  for (const StencilCorner& corner : c) {
    inside += corner.sign < 0 ? 1 : 0;
    outside += corner.sign > 0 ? 1 : 0;
  }

  if (inside == 0) return;
  if (outside == 0) return emit({vertex(c[0]), vertex(c[1]), vertex(c[2]), vertex(c[3])});
  if (inside == 1) {
    const auto end = [&](std::size_t m) {
      return c[m].sign == 0 ? vertex(c[m]) : cut(c[0], c[m]);
    };
    return emit({vertex(c[0]), end(1), end(2), end(3)});
  }
  const auto from_first = [&](std::size_t a, std::size_t b, std::size_t p) {
    return diagonal_starts_at_first(c[a].site, c[b].site, c[p].site);
  };
  if (inside == 2 && outside == 1) {
    const Index v0 = vertex(c[0]), v1 = vertex(c[1]), apex = vertex(c[2]);
    const Index c0 = cut(c[0], c[3]), c1 = cut(c[1], c[3]);
    if (from_first(0, 1, 3)) {
      emit({v0, v1, apex, c1});
      emit({v0, c1, apex, c0});
    } else {
      emit({v0, v1, apex, c0});
      emit({v1, c1, apex, c0});
    }
    return;
  }
  if (inside == 2) {
    // Bottom at corner 0, top at corner 1; quadrilaterals 0 and 2 lie in lattice faces, 1 on the surface. The
    // first two start at different ends, which leaves one choice for the third that does not close the cycle.
    const bool face_02 = from_first(0, 1, 2);  // corner 0 to the cut of 1-2
    const bool face_03 = from_first(0, 1, 3);
    THRUM_ASSERT(face_02 != face_03);
    cut_prism({vertex(c[0]), cut(c[0], c[2]), cut(c[0], c[3])},
              {vertex(c[1]), cut(c[1], c[2]), cut(c[1], c[3])}, {face_02, !face_02, !face_03}, emit);
    return;
  }
  cut_prism({vertex(c[0]), vertex(c[1]), vertex(c[2])}, {cut(c[0], c[3]), cut(c[1], c[3]), cut(c[2], c[3])},
            {from_first(0, 1, 3), from_first(1, 2, 3), from_first(2, 0, 3)}, emit);
}

}  // namespace thrum::tets
