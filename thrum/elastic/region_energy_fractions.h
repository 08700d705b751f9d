// SPDX-License-Identifier: MIT
// The fraction of a mode's energy in each region of a body of several materials, and the decay of such a
// mode.
//
// A mode of angular frequency w has the fraction m_r of its kinetic and e_r of its elastic energy in region
// r. With the modal strain energy method [Johnson and Kienholz, AIAA J. 20, 1982] its decay is
//
//     sum over r of   (alpha_r m_r + beta_r w^2 e_r) / 2     rayleigh
//                     loss_factor_r w e_r / 2                loss_factor
//                     decays_r[mode] e_r                     table
//
// which is exact for Rayleigh damping when only the diagonal of the modal damping matrix is kept, and is the
// formula of model::Damping when all regions are of one material.
#pragma once

#include <span>

#include "thrum/base/vec.h"
#include "thrum/elastic/element_mesh.h"
#include "thrum/model/material.h"

namespace thrum::elastic {

/// Energy fractions of each mode: one row per region, one column per mode; columns sum to 1.
struct RegionEnergyFractions {
  MatX kinetic;
  MatX elastic;
};

/// `shapes` has 3 rows per node of the element mesh and one column per mode.
[[nodiscard]] RegionEnergyFractions region_energy_fractions(const ElementMesh& mesh,
                                                            std::span<const model::Material> materials,
                                                            const Eigen::Ref<const MatX>& shapes);

/// Decay of each mode [1/s]; `frequencies` in [Hz].
[[nodiscard]] VecX decays_by_region(std::span<const model::Material> materials,
                                    const RegionEnergyFractions& fractions, const VecX& frequencies);

}  // namespace thrum::elastic
