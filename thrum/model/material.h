// SPDX-License-Identifier: MIT
// What a body is made of: a homogeneous, isotropic, linearly elastic solid, and how its vibration dies away.
#pragma once

#include <string>
#include <vector>

namespace thrum::model {

enum class DampingKind {
  rayleigh,     ///< D = alpha M + beta K
  loss_factor,  ///< the same share of the energy lost in every cycle
  table,        ///< a measured decay for each mode
};

/// How the free vibration of a mode of angular frequency w dies away: its amplitude falls as exp(-decay t),
///
///     rayleigh       decay = (alpha + beta w^2) / 2
///     loss_factor    decay = loss_factor w / 2
///     table          decay = decays[mode]; modes past the end of the table follow alpha and beta
///
/// and the damping ratio is xi = decay / w.
struct Damping {
  DampingKind kind = DampingKind::rayleigh;
  double alpha = 0;                 ///< mass-proportional [1/s]
  double beta = 0;                  ///< stiffness-proportional [s]
  double loss_factor = 0;           ///< energy lost per radian over energy stored [1]
  std::vector<double> decays = {};  ///< by mode, lowest first [1/s]

  friend bool operator==(const Damping&, const Damping&) = default;
};

struct Material {
  std::string name;    ///< for people and files; may be empty
  double density = 0;  ///< [kg/m^3]
  double young = 0;    ///< Young's modulus [Pa]
  double poisson = 0;  ///< Poisson's ratio [1], in (-1, 0.5)
  Damping damping = {};
  double contact_damping = 0;  ///< gamma of [Zheng11, section 5.3] [1]; 0: touching does not damp

  friend bool operator==(const Material&, const Material&) = default;
};

}  // namespace thrum::model
