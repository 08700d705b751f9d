// SPDX-License-Identifier: MIT
// A body as the flexible stepper keeps it; not for others.
#pragma once

#include <memory>
#include <vector>

#include "thrum/elastic/modal_filter.h"
#include "thrum/elastic/surface_map.h"
#include "thrum/flexible/flexible_stepper.h"

namespace thrum::flexible {

struct FlexibleStepper::FlexibleBody {
  FlexibleBody(const ElasticBody& body, double max_frequency);

  ElasticBody elastic;
  elastic::ModeList modes;                   ///< those that take part in contact
  std::vector<double> scale;                 ///< root mean square of each shape on the surface [kg^(-1/2)]
  std::unique_ptr<elastic::SurfaceMap> map;  ///< empty: no modes
  std::vector<double> max_shape;             ///< largest displacement of the surface by each [kg^(-1/2)]
  std::vector<double> max_slope;             ///< largest slope, likewise [kg^(-1/2) / m]
  mesh::TriangleMesh contact_surface;        ///< on which it is met when it is bent far
  MatX contact_shapes;                       ///< displacement of its vertices, as in ModalModel
  std::unique_ptr<collision::DeformedShape> deformed;  ///< made when it is first bent so far
  bool is_deformed = false;                            ///< in this slice
  bool is_held = false;                                ///< between two others, likewise
  void make_contact_surface();
  [[nodiscard]] double shortest_wave() const;  ///< of the modes that take part [m]

 private:
  void find_bounds();
};

}  // namespace thrum::flexible
