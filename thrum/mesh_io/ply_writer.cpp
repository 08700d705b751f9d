// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>

#include "thrum/base/byte_reader.h"
#include "thrum/base/index.h"
#include "thrum/mesh_io/file_bytes.h"
#include "thrum/mesh_io/mesh_io.h"

namespace thrum::mesh_io {

std::string write_ply(const mesh::TriangleMesh& mesh, PlyEncoding encoding)
{
  check_indices(mesh);
  constexpr std::array<std::string_view, 3> kNames = {"ascii", "binary_little_endian", "binary_big_endian"};
  const std::string header = fmt::format(
      "ply\nformat {} 1.0\ncomment metres, z up\nelement vertex {}\nproperty double x\nproperty double y\n"
      "property double z\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
      kNames[at(encoding)], mesh.vertices.size(), mesh.triangles.size());
  if (encoding == PlyEncoding::ascii) {
    fmt::memory_buffer out;
    const auto to = std::back_inserter(out);
    fmt::format_to(to, "{}", header);
    for (const Vec3& v : mesh.vertices) fmt::format_to(to, "{} {} {}\n", v.x(), v.y(), v.z());
    for (const Triangle& t : mesh.triangles) fmt::format_to(to, "3 {} {} {}\n", t[0], t[1], t[2]);
    return {out.data(), out.size()};
  }
  const base::ByteOrder order =
      encoding == PlyEncoding::big_endian ? base::ByteOrder::big : base::ByteOrder::little;
  std::string out = header;
  out.reserve(header.size() + 24 * mesh.vertices.size() + 13 * mesh.triangles.size());
  for (const Vec3& v : mesh.vertices) {
    for (int k = 0; k < 3; ++k) base::append_bytes(out, v[k], order);
  }
  for (const Triangle& t : mesh.triangles) {
    base::append_bytes(out, std::uint8_t{3}, order);
    for (const Index v : t) base::append_bytes(out, v, order);
  }
  return out;
}

}  // namespace thrum::mesh_io
