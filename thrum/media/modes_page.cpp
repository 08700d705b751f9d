// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/elastic/modal_export.h"
#include "thrum/media/base64.h"
#include "thrum/media/pages.h"

namespace thrum::media {

namespace {

std::vector<double> to_vector(const VecX& values)
{
  return {values.data(), values.data() + values.size()};
}

std::string about(const model::ModalModel& model)
{
  const std::string material = model.materials.empty() ? "" : model.materials.front().name;
  return fmt::format("{}{:.4g} kg, {}, {} surface vertices", material.empty() ? "" : material + ", ",
                     model.mass, model.supports.empty() ? "free" : "supported", model.vertex_count());
}

nlohmann::json page_data(const model::ModalModel& model)
{
  std::vector<float> vertices;
  for (const Vec3& v : model.surface.vertices) {
    for (const double x : v) vertices.push_back(static_cast<float>(x));
  }
  std::vector<std::uint32_t> triangles;
  for (const Triangle& t : model.surface.triangles) {
    for (const Index v : t) triangles.push_back(static_cast<std::uint32_t>(v));
  }
  std::vector<float> shapes(at(model.shapes.size()));
  for (Eigen::Index i = 0; i < model.shapes.size(); ++i) {
    shapes[at(i)] = static_cast<float>(model.shapes.data()[i]);
  }
  return {{"name", model.name},
          {"about", about(model)},
          {"warnings", model.warnings},
          {"frequencies", to_vector(model.frequencies)},
          {"decays", to_vector(model.decays)},
          {"loudness", to_vector(elastic::surface_motion(model))},
          {"vertices", base64_of(vertices)},
          {"triangles", base64_of(triangles)},
          {"shapes", base64_of(shapes)}};
}

}  // namespace

std::string modes_page(const model::ModalModel& model)
{
  return fill_page("modes", page_data(model).dump());
}

}  // namespace thrum::media
