// SPDX-License-Identifier: MIT
// Modes of bodies of revolution: a Fourier series around the axis and quadratic triangles in the profile.
//
// See docs/methods/revolved_bodies.md.
#pragma once

#include <optional>

#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/revolved_profile.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::elastic {

struct RevolvedDesc {
  double max_error = 0.01;  ///< of the frequencies below 20 kHz
  double max_triangles = 6e3;
};

/// The modes of a free body of one material. Shapes are kept at the vertices of the given surface, which come
/// first and in their order, and at points between them. None when the outline crosses itself.
[[nodiscard]] std::optional<ModalAnalysisResult> analyse_revolved(const mesh::TriangleMesh& surface,
                                                                  const RevolvedProfile& profile,
                                                                  const RevolvedDesc& limits,
                                                                  const ModalAnalysisDesc& desc);

/// How far frequencies of the round body may be from those of the one with facets.
[[nodiscard]] double facet_error(const RevolvedProfile& profile);

}  // namespace thrum::elastic
