// SPDX-License-Identifier: MIT
#include "thrum/media/modes_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/bitmap_font.h"
#include "thrum/media/render.h"

namespace thrum::media {

namespace {

// Points that do not move are not quite black, so that the shape remains visible.
constexpr float kMinBrightness = 0.06F;

struct DeformedMesh {
  mesh::TriangleMesh mesh;
  std::vector<Colour> colours;
};

DeformedMesh deform(const model::ModalModel& model, Index mode, double amplitude)
{
  double max_norm = 0;
  for (Index v = 0; v < model.vertex_count(); ++v) {
    max_norm = std::max(max_norm, model.shapes.col(mode).segment<3>(3 * v).norm());
  }
  const double size = mesh::bounding_box(model.surface).diagonal().norm();
  DeformedMesh result{model.surface, {}};
  for (Index v = 0; v < model.vertex_count(); ++v) {
    const Vec3 part = model.shapes.col(mode).segment<3>(3 * v) / (max_norm > 0 ? max_norm : 1);
    result.mesh.vertices[at(v)] += amplitude * size * part;
    result.colours.push_back(
        (part.cwiseAbs().cast<float>().array() * (1 - kMinBrightness) + kMinBrightness).matrix());
  }
  return result;
}

}  // namespace

Image modes_picture(const model::ModalModel& model, const ModesPictureDesc& desc)
{
  const int count = std::min(desc.modes, static_cast<int>(model.mode_count()));
  if (count < 1) throw Error("The model has no modes to draw.");
  const int columns = std::min(desc.columns, count);
  const int rows = (count + columns - 1) / columns;
  Image sheet(columns * desc.width, rows * desc.height);
  const Box3 box = mesh::bounding_box(model.surface);
  const double gap = 2 * desc.amplitude * box.diagonal().norm();
  const Camera camera = frame_box(box, static_cast<double>(desc.width) / desc.height);
  for (int m = 0; m < count; ++m) {
    const DeformedMesh body = deform(model, m, desc.amplitude);
    RenderScene scene;
    scene.bodies.push_back({.mesh = &body.mesh, .vertex_colours = body.colours});
    scene.ground_height = box.min().z() - gap;
    Image tile = render(scene, camera, {.width = desc.width, .height = desc.height});
    draw_text(tile, 14, 14, fmt::format("mode {}: {:.4g} Hz", m + 1, model.frequencies[m]),
              Colour(0.2F, 0.24F, 0.28F), 2);
    paste(sheet, tile, (m % columns) * desc.width, (m / columns) * desc.height);
  }
  return sheet;
}

}  // namespace thrum::media
