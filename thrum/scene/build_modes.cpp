// SPDX-License-Identifier: MIT
// The modes of a body of a scene: read, or computed once and kept on disk.
#include "thrum/base/error.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/scene/build_world.h"
#include "thrum/vibration/attenuation_fit.h"

namespace thrum::scene {

std::shared_ptr<const model::ModalModel> modes_of(const RingsEntry& rings, const std::string& name,
                                                  const mesh::TriangleMesh& mesh,
                                                  const model::Material& material,
                                                  std::span<const Box3> standing,
                                                  const base::ProgressDesc& progress)
{
  if (!rings.file.path.empty())
    return std::make_shared<const model::ModalModel>(elastic::read_modal_file(rings.file.path));
  elastic::ModalAnalysisDesc desc;
  desc.name = name;
  desc.materials = {material};
  if (!rings.clamp.empty())
    for (const model::Selection& where : elastic::parse_selections(rings.clamp))
      desc.supports.push_back({where, {true, true, true}});
  for (const Box3& place : standing) {
    model::Selection where;
    where.kind = model::SelectionKind::box;
    where.box = place;
    desc.supports.push_back({where, {true, true, true}});
  }
  desc.count = rings.modes;
  desc.progress = progress;
  elastic::FillDesc fill = {.spacing = rings.spacing, .grid = rings.grid, .thickness = rings.thickness};
  if (rings.fill == RingsFill::cut) fill.method = elastic::FillMethod::cut_cells;
  if (rings.fill == RingsFill::delaunay) fill.method = elastic::FillMethod::delaunay;
  if (rings.fill == RingsFill::stuffing) fill.method = elastic::FillMethod::stuffing;
  if (rings.quality == RingsQuality::draft) fill.quality = elastic::Quality::draft;
  if (rings.quality == RingsQuality::fine) fill.quality = elastic::Quality::fine;
  elastic::ModalAnalysisResult result = elastic::analyse_surface_modes_cached(mesh, fill, desc);
  if (!result.ok()) throw Error(elastic::describe_failure(result));
  return std::make_shared<const model::ModalModel>(std::move(result.model));
}

vibration::AttenuationSettings fitted_attenuation(const model::ModalModel& model,
                                                  const vibration::BodyResponseDesc& desc, const Vec3& up,
                                                  double step)
{
  vibration::AttenuationSampleDesc sampling = vibration::sample_desc(desc.settings, desc.attenuation, step);
  if (up.norm() > 0) sampling.facing = up;
  return vibration::with_fit(
      desc.attenuation, vibration::fit_attenuation(vibration::sample_attenuation(model, sampling).samples));
}

}  // namespace thrum::scene
