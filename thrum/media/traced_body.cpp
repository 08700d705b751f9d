// SPDX-License-Identifier: MIT
#include "thrum/media/traced_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/shaded_mesh.h"

namespace thrum::media {

namespace {

constexpr float kLineOpacity = 0.62f;  ///< of lines of equal value

}  // namespace

void check_body(const RenderBody& body, std::size_t index)
{
  if (body.mesh == nullptr) throw Error(fmt::format("Body {} of the picture has no mesh.", index));
  mesh::check_indices(*body.mesh);
  const std::size_t count = body.mesh->vertices.size();
  for (const std::size_t given : {body.scalar.size(), body.vertex_colours.size()}) {
    if (given == 0 || given == count) continue;
    throw Error(fmt::format("Body {} of the picture has {} vertices, but {} values.", index, count, given));
  }
}

TracedBody trace_body(const RenderBody& body, const Vec3& centre)
{
  TracedBody p;
  p.body = &body;
  p.triangles = body.mesh->triangles;
  for (const Vec3& v : body.mesh->vertices) p.vertices.push_back((body.X_wb.point(v) - centre).cast<float>());
  for (const Colour& c : body.vertex_colours) p.vertex_colours.push_back(linear_from_srgb(c));
  for (const std::array<Vec3, 3>& corners : corner_normals(*body.mesh, body.crease_angle)) {
    const auto turned = [&](std::size_t k) -> Vec3f {
      return body.X_wb.direction(corners[k]).cast<float>();
    };
    p.normals.push_back({turned(0), turned(1), turned(2)});
  }
  return p;
}

Colour albedo_at(const TracedBody& p, std::size_t t, const std::array<float, 3>& w, double pixel)
{
  const RenderBody& body = *p.body;
  const auto corner = [&](std::size_t k) {
    return at(p.triangles[t][k]);
  };
  if (!p.vertex_colours.empty()) {
    return w[0] * p.vertex_colours[corner(0)] + w[1] * p.vertex_colours[corner(1)] +
           w[2] * p.vertex_colours[corner(2)];
  }
  if (body.scalar.empty()) return linear_from_srgb(body.colour);
  const std::array<double, 3> f{body.scalar[corner(0)], body.scalar[corner(1)], body.scalar[corner(2)]};
  const double value = w[0] * f[0] + w[1] * f[1] + w[2] * f[2];
  Colour colour = linear_from_srgb(colour_of(body.map, body.range.fraction(value)));
  if (!(body.iso_spacing > 0)) return colour;
  // The gradient of the scalar over the triangle, times the size of a pixel there, is the change across a
  // pixel.
  const Vec3 e1 = (p.vertices[corner(1)] - p.vertices[corner(0)]).cast<double>();
  const Vec3 e2 = (p.vertices[corner(2)] - p.vertices[corner(0)]).cast<double>();
  const Vec3 n = e1.cross(e2);
  if (!(n.squaredNorm() > 0)) return colour;
  const Vec3 gradient = ((f[1] - f[0]) * e2.cross(n) + (f[2] - f[0]) * n.cross(e1)) / n.squaredNorm();
  const double change = gradient.norm() * pixel;
  const auto cover = static_cast<float>(iso_line_coverage(value, body.iso_spacing, change));
  return (1 - kLineOpacity * cover) * colour;
}

}  // namespace thrum::media
