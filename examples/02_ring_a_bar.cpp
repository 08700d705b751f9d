// SPDX-License-Identifier: MIT
// The first bending modes of a free steel bar, computed and by the formula for slender beams.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "thrum/elastic/material_library.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/tets/structured_tets.h"

int main()
{
  const double length = 0.5;      // [m]
  const double thickness = 0.01;  // [m]
  const auto bar = thrum::tets::tetrahedralise_box({length, 0.012, thickness}, {25, 1, 1});
  const thrum::model::Material steel = thrum::elastic::MaterialLibrary::builtin().get("steel");
  const auto result = thrum::elastic::analyse_modes(bar, {.name = "bar", .materials = {steel}, .count = 3});

  // Free-free beam: f = (b L)^2 / (2 pi L^2) sqrt(E I / (rho A)), I / A = thickness^2 / 12.
  const double beam = std::pow(4.73004 / length, 2) / (2 * std::numbers::pi) *
                      std::sqrt(steel.young * thickness * thickness / (12 * steel.density));
  fmt::print("lowest mode {:.1f} Hz, slender-beam theory {:.1f} Hz\n", result.model.frequencies[0], beam);
  return std::abs(result.model.frequencies[0] / beam - 1) < 0.01 ? 0 : 1;
}
