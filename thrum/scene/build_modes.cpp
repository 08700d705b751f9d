// SPDX-License-Identifier: MIT
// The modes of a body of a scene: read, or computed once and kept on disk.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/elastic/supports.h"
#include "thrum/geometry/mesh_distance.h"
#include "thrum/geometry/mesh_stuffing.h"
#include "thrum/scene/build_world.h"

namespace thrum::scene {

std::shared_ptr<const model::ModalModel> modes_of(const RingsEntry& rings, const std::string& name,
                                                  const geometry::TriangleMesh& mesh,
                                                  const model::Material& material)
{
  if (!rings.file.path.empty())
    return std::make_shared<const model::ModalModel>(elastic::read_modal_file(rings.file.path));
  const geometry::MeshDistance distance(mesh);
  geometry::MeshStuffingResult filled =
      geometry::tetrahedralise(distance, {.spacing = rings.spacing, .report = rings.spacing == 0});
  if (rings.spacing == 0 && !filled.resolution.resolved())
    filled = geometry::tetrahedralise(distance, {.spacing = filled.resolution.spacing, .report = false});
  if (filled.stuffing.mesh.tetrahedra.empty())
    throw Error(
        fmt::format("nothing of '{}' is thick enough for a spacing of {:.3g} m", name, filled.spacing));
  elastic::ModalAnalysisDesc desc;
  desc.name = name;
  desc.materials = {material};
  if (!rings.clamp.empty())
    desc.supports.push_back({elastic::parse_selection(rings.clamp), {true, true, true}});
  desc.count = rings.modes;
  desc.estimate_errors = false;
  elastic::ModalAnalysisResult result = elastic::analyse_modes_cached(filled.stuffing.mesh, desc);
  if (!result.ok()) throw Error(fmt::format("the modes of '{}' were not found to the tolerance", name));
  return std::make_shared<const model::ModalModel>(std::move(result.model));
}

}  // namespace thrum::scene
