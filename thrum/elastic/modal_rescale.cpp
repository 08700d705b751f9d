// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_rescale.h"

#include <fmt/format.h>

#include <cmath>

#include "thrum/base/error.h"
#include "thrum/elastic/damping.h"

namespace thrum::elastic {

namespace {

void require_positive(double factor, const char* what)
{
  if (!(std::isfinite(factor) && factor > 0)) {
    throw Error(fmt::format("The factor on the {} is {}; it must be finite and positive.", what, factor));
  }
}

// Selections given by lengths scale with the body.
void scale_selection(model::Selection& where, double size)
{
  where.offset *= size;
  if (!where.box.isEmpty()) where.box = Box3(where.box.min() * size, where.box.max() * size);
}

}  // namespace

// With lengths times g, density times r and modulus times e, stiffness goes as e g and mass as r g^3, so
//
//     w -> w sqrt(e / r) / g,        U -> U / sqrt(r g^3)      (U^T M U = 1),
//     mass -> mass r g^3,            inertia -> inertia r g^5.
//
// Shapes keep their form. Decays follow the damping law at the new frequencies; a measured table is not
// changed. Regions with different damping laws need the energy fraction of each mode per region, which the
// file does not contain.
model::ModalModel rescaled(const model::ModalModel& model, const RescaleDesc& desc)
{
  require_positive(desc.size, "size");
  require_positive(desc.density, "density");
  require_positive(desc.young, "Young's modulus");
  for (const model::Material& material : model.materials) {
    if (!(material.damping == model.materials.front().damping)) {
      throw Error(
          "The regions of this body are damped differently, so its decays at other frequencies need a new "
          "solve.");
    }
  }
  const double mass_factor = desc.density * std::pow(desc.size, 3);

  model::ModalModel result = model;
  result.frequencies *= std::sqrt(desc.young / desc.density) / desc.size;
  result.shapes /= std::sqrt(mass_factor);
  result.mass *= mass_factor;
  result.inertia *= mass_factor * desc.size * desc.size;
  result.centre_of_mass *= desc.size;
  for (Vec3& v : result.surface.vertices) v *= desc.size;
  for (model::Support& support : result.supports) scale_selection(support.where, desc.size);
  for (model::Material& material : result.materials) {
    material.density *= desc.density;
    material.young *= desc.young;
  }
  if (!result.materials.empty()) {
    result.decays = decays_of_modes(result.materials.front().damping, result.frequencies);
  }
  return result;
}

}  // namespace thrum::elastic
