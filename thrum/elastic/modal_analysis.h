// SPDX-License-Identifier: MIT
// From a tetrahedral mesh and a material to the modes of the body [Coevoet20, section 4.1; Zheng11, section
// 5.1].
//
//   const model::Material steel = MaterialLibrary::builtin().get("steel");
//   const ModalAnalysisResult result = analyse_modes(mesh, {.materials = {steel}});
//   for (const std::string& warning : result.model.warnings) ...
//
// The steps: check the input, build the element mesh, find the fixed unknowns, assemble K and M, solve K x =
// w^2 M x without the rigid motions, estimate the discretisation error, keep the surface.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "thrum/base/cache.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/element_kind.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/model/material.h"
#include "thrum/model/modal_model.h"
#include "thrum/model/support.h"
#include "thrum/numerics/generalised_eigen.h"

namespace thrum::elastic {

struct ModalAnalysisDesc {
  std::string name = {};  ///< name of the model
  std::vector<model::Material> materials =
      {};                                     ///< one for the whole body, or one for each region of the mesh
  std::vector<model::Support> supports = {};  ///< empty: the body is free
  Index count = 20;                           ///< number of modes, lowest first (0: all) ...
  double below =
      std::numeric_limits<double>::infinity();  ///< ... and of them only those below this frequency [Hz]
  ElementKind element = ElementKind::tet10;
  bool estimate_errors = true;
  numerics::EigenMethod method = numerics::EigenMethod::automatic;
  numerics::EigenVerification verification = numerics::EigenVerification::probe;
  numerics::FactorisationBackend backend = numerics::FactorisationBackend::automatic;
  double tolerance = 1e-8;  ///< residual of the eigenproblem, see GeneralisedEigenDesc
  base::ProgressDesc progress = {.style =
                                     base::ProgressStyle::quiet};  ///< its stop token can interrupt the work
};

struct ModalAnalysisResult {
  numerics::EigenStatus status = numerics::EigenStatus::ok;
  model::ModalModel model;
  VecX residuals;         ///< of each mode, relative
  bool verified = false;  ///< that no mode below the highest one is missing
  bool from_cache = false;
  Index solves = 0;  ///< right-hand sides of the shift-invert operator
  numerics::FactorisationResult factorisation;
  std::vector<std::string> hints;  ///< how to make it faster; may be empty

  [[nodiscard]] bool ok() const { return status == numerics::EigenStatus::ok; }
};

/// Throws Error for invalid input, with what to do, and base::Stopped when a stop was requested. A solver
/// failure is a status; the model then contains the modes found so far.
[[nodiscard]] ModalAnalysisResult analyse_modes(const mesh::TetrahedralMesh& mesh,
                                                const ModalAnalysisDesc& desc);

/// Why a result is not ok, and what to do, as full sentences; empty when it is.
[[nodiscard]] std::string describe_failure(const ModalAnalysisResult& result);

/// The same, or the result of an earlier call with the same input from the cache. Only complete results are
/// cached.
[[nodiscard]] ModalAnalysisResult analyse_modes_cached(const mesh::TetrahedralMesh& mesh,
                                                       const ModalAnalysisDesc& desc,
                                                       const base::Cache& cache = base::Cache());

}  // namespace thrum::elastic
