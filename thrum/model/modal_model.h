// SPDX-License-Identifier: MIT
// The modes of a body as the rest of the system uses them: on the surface only [Coevoet20, section 4.1].
//
// A small displacement of surface vertex v along axis a is
//
//     u(v, a) = sum_k shapes(3 v + a, k) q_k,
//     q_k'' + 2 decay_k q_k' + w_k^2 q_k = sum_v shapes_v,k . f_v,
//
// with w_k = 2 pi frequencies(k). Shapes are mass-normalised, so that a mode has unit mass and the energy
// (q'^2 + w^2 q^2)/2: they have the unit kg^(-1/2).
#pragma once

#include <numbers>
#include <string>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"
#include "thrum/model/material.h"
#include "thrum/model/support.h"

namespace thrum::model {

struct ModalModel {
  std::string name;  ///< for people; may be empty

  // How it rings. Rigid motions are not among the modes.
  VecX frequencies;  ///< undamped, ascending [Hz]
  VecX decays;       ///< amplitude falls as exp(-decay t) [1/s]; damping ratio decay / w
  MatX shapes;       ///< (3 x surface vertices) rows, one column a mode; row 3 v + axis [kg^(-1/2)]

  /// How much of each frequency is thought to be the mesh's fault: (computed - exact) / exact, >= 0 as
  /// elements are too stiff. Empty when it was not estimated.
  VecX frequency_errors;

  // Where it rings: the boundary of the tetrahedra, outward.
  mesh::TriangleMesh surface;  ///< [m]
  std::vector<Index>
      surface_nodes;  ///< vertex of the tetrahedral mesh behind each surface vertex; may be empty

  // What was computed.
  std::vector<Material>
      materials;                  ///< by region of the tetrahedral mesh; one entry for a body of one material
  std::vector<Support> supports;  ///< empty: a free body
  std::string element;            ///< "tet4" or "tet10"
  Index node_count = 0;           ///< of the finite-element mesh, mid-edge nodes included
  Index element_count = 0;
  Index rigid_mode_count = 0;  ///< rigid motions found and left out: 6 for a free body, 0 for a clamped one
  std::vector<std::string>
      warnings;  ///< what a person should know about the figures above, one sentence each

  // The body as a rigid one, in the axes of the surface.
  double mass = 0;                     ///< [kg]
  Vec3 centre_of_mass = Vec3::Zero();  ///< [m]
  Mat3 inertia = Mat3::Zero();         ///< about the centre of mass [kg m^2]

  [[nodiscard]] Index mode_count() const { return count_of(frequencies); }
  [[nodiscard]] Index vertex_count() const { return count_of(surface.vertices); }
  /// Undamped angular frequency of a mode [rad/s].
  [[nodiscard]] double omega(Index mode) const { return 2 * std::numbers::pi * frequencies[mode]; }
};

}  // namespace thrum::model
