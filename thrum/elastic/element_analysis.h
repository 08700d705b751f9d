// SPDX-License-Identifier: MIT
// The modes of a body that is already divided into elements, however it was filled.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/element_mesh.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::elastic {

/// The displacement of each surface vertex as a weighted sum of those of nodes: entries
/// [first[v], first[v + 1]).
struct SurfaceWeights {
  std::vector<std::size_t> first = {0};
  std::vector<Index> nodes;
  std::vector<double> weights;

  [[nodiscard]] std::size_t vertex_count() const { return first.size() - 1; }
  void add_vertex(std::span<const Index> of, std::span<const double> with)
  {
    nodes.insert(nodes.end(), of.begin(), of.end());
    weights.insert(weights.end(), with.begin(), with.end());
    first.push_back(nodes.size());
  }
};

struct ElementBody {
  ElementMesh elements;
  std::string element_name;               ///< ModalModel::element
  std::vector<std::array<bool, 3>> held;  ///< axes of each node that supports hold; empty: none
  mesh::TriangleMesh surface;             ///< where the modes are kept [m]
  SurfaceWeights surface_weights;         ///< one entry for each of its vertices
  std::vector<Index> surface_nodes;       ///< ModalModel::surface_nodes
  bool single_layer = false;              ///< one layer of elements between its two sides
  /// The result besides the model: what each element contributes to the error of all modes, where the error
  /// was estimated by stress jumps.
  std::vector<double> element_errors;
};

/// Moves the surface out of `body`. Errors and failures as in analyse_modes().
[[nodiscard]] ModalAnalysisResult analyse_elements(ElementBody& body, const ModalAnalysisDesc& desc);

/// Adds a warning to a model whose frequency_errors are too large.
void add_error_warning(const ModalAnalysisDesc& desc, model::ModalModel& model);

}  // namespace thrum::elastic
