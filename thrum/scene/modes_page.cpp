// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/elastic/modal_export.h"
#include "thrum/scene/base64.h"
#include "thrum/scene/pages.h"

namespace thrum::scene {

namespace {

template <class T>
std::string encoded(const std::vector<T>& values)
{
  return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

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
  std::vector<float> shapes(static_cast<std::size_t>(model.shapes.size()));
  for (Eigen::Index i = 0; i < model.shapes.size(); ++i) {
    shapes[static_cast<std::size_t>(i)] = static_cast<float>(model.shapes.data()[i]);
  }
  return {{"name", model.name},
          {"about", about(model)},
          {"warnings", model.warnings},
          {"frequencies", to_vector(model.frequencies)},
          {"decays", to_vector(model.decays)},
          {"loudness", to_vector(elastic::surface_motion(model))},
          {"vertices", encoded(vertices)},
          {"triangles", encoded(triangles)},
          {"shapes", encoded(shapes)}};
}

// Inside a script element only "</script" and "<!--" end it or confuse it; JSON may write '<' as an escape.
std::string inside_script(std::string text)
{
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

}  // namespace

std::string modes_page(const model::ModalModel& model)
{
  const std::string_view page = page_template("modes");
  if (page.empty()) {
    throw Error(
        "This thrum was built without pages: run script/bootstrap, which installs Node.js and the packages "
        "of "
        "web/, and build again. Pictures (.png) work without them.");
  }
  constexpr std::string_view kMark = "/*DATA*/";
  const std::size_t at = page.find(kMark);
  THRUM_ASSERT(at != std::string_view::npos);
  std::string text(page.substr(0, at));
  text += inside_script(page_data(model).dump());
  text += page.substr(at + kMark.size());
  return text;
}

}  // namespace thrum::scene
