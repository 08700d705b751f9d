// SPDX-License-Identifier: MIT
// Bodies in the form that the ray caster of render.cpp uses.
#pragma once

#include <array>
#include <vector>

#include "thrum/media/render.h"

namespace thrum::media {

using Vec3f = Eigen::Vector3f;

/// A body ready to be shaded: positions around the scene's centre, a normal per corner, colours in linear
/// light.
struct TracedBody {
  std::vector<Vec3f> vertices;
  std::vector<Triangle> triangles;
  std::vector<std::array<Vec3f, 3>> normals;
  std::vector<Colour> vertex_colours;  ///< empty: by the scalar, or plain
  const RenderBody* body = nullptr;
};

/// Throws Error when the body, number `index` of the picture, has no mesh, or its number of values differs
/// from its number of vertices.
void check_body(const RenderBody& body, std::size_t index);

/// The body about `centre`, so that single precision is enough.
[[nodiscard]] TracedBody trace_body(const RenderBody& body, const Vec3& centre);

/// The colour, in linear light, at the point with barycentric weights `w` of triangle `t`; a pixel is `pixel`
/// wide there [m].
[[nodiscard]] Colour albedo_at(const TracedBody& p, std::size_t t, const std::array<float, 3>& w,
                               double pixel);

}  // namespace thrum::media
