// SPDX-License-Identifier: MIT
#include "thrum/tets/cavity_filling.h"

#include <algorithm>
#include <set>

namespace thrum::tets {

namespace {

// The smallest vertex first, with the turn kept.
OpenTriangle rotated(OpenTriangle face)
{
  std::rotate(face.begin(), std::min_element(face.begin(), face.end()), face.end());
  return face;
}

OpenTriangle reversed(const OpenTriangle& face)
{
  return rotated({face[0], face[2], face[1]});
}

bool contains(const OpenTriangle& face, Index vertex)
{
  return std::find(face.begin(), face.end(), vertex) != face.end();
}

class GiftWrapping {
 public:
  GiftWrapping(const DelaunayMesh& mesh, const std::vector<OpenTriangle>& faces) : mesh_(mesh)
  {
    for (const OpenTriangle& face : faces) {
      open_.insert(rotated(face));
      vertices_.insert(vertices_.end(), face.begin(), face.end());
    }
    std::sort(vertices_.begin(), vertices_.end());
    vertices_.erase(std::unique(vertices_.begin(), vertices_.end()), vertices_.end());
    boundary_.assign(open_.begin(), open_.end());
  }

  [[nodiscard]] bool fill()
  {
    // Between n vertices there are not more tetrahedra than about n^2 / 2.
    const std::size_t limit = vertices_.size() * vertices_.size();
    while (!open_.empty()) {
      if (cells.size() > limit || !wrap(*open_.begin())) return false;
    }
    return true;
  }

  std::vector<std::array<Index, 4>> cells;

 private:
  bool wrap(const OpenTriangle face)
  {
    std::vector<Index> above;
    for (const Index v : vertices_)
      if (!contains(face, v) && mesh_.orientation(face[0], face[1], face[2], v) > 0) above.push_back(v);
    // Of the spheres through a face and one vertex each, the part above the face of one contains that of the
    // other.
    std::sort(above.begin(), above.end(), [&](Index v, Index w) {
      return v != w && mesh_.is_in_sphere(face[0], face[1], face[2], w, v);
    });
    for (const Index v : above) {
      const std::array<Index, 4> cell = {face[0], face[1], face[2], v};
      if (!fits(cell)) continue;
      cells.push_back(cell);
      for (const OpenTriangle& inward : inward_faces(cell))
        if (open_.erase(rotated(inward)) == 0) open_.insert(reversed(inward));
      return true;
    }
    return false;
  }

  // Does the cell overlap nothing that is filled or outside? Its faces and the open ones must not pierce each
  // other.
  [[nodiscard]] bool fits(const std::array<Index, 4>& cell) const
  {
    const auto faces = inward_faces(cell);
    for (const OpenTriangle& inward : faces)
      if (!open_.contains(rotated(inward)) && open_.contains(reversed(inward))) return false;
    for (const Index v : vertices_) {
      if (std::find(cell.begin(), cell.end(), v) != cell.end()) continue;
      if (std::all_of(faces.begin(), faces.end(),
                      [&](const OpenTriangle& f) { return mesh_.orientation(f[0], f[1], f[2], v) >= 0; }))
        return false;
    }
    const auto pierces_any = [&](const auto& triangles) {
      return std::any_of(triangles.begin(), triangles.end(), [&](const OpenTriangle& open) {
        for (std::size_t i = 0; i < 3; ++i) {
          if (pierces(cell[i], cell[3], open))
            return true;  // edges of the face that is wrapped are open ones already
          for (const OpenTriangle& mine : faces)
            if (pierces(open[i], open[(i + 1) % 3], mine)) return true;
        }
        return false;
      });
    };
    return !pierces_any(open_) && !pierces_any(boundary_);
  }

  [[nodiscard]] bool pierces(Index p, Index q, const OpenTriangle& face) const
  {
    if (contains(face, p) || contains(face, q)) return false;
    const int above = mesh_.orientation(face[0], face[1], face[2], p);
    const int below = mesh_.orientation(face[0], face[1], face[2], q);
    if (above * below >= 0) return false;
    const int first = mesh_.orientation(p, q, face[0], face[1]);
    return first == mesh_.orientation(p, q, face[1], face[2]) &&
           first == mesh_.orientation(p, q, face[2], face[0]);
  }

  const DelaunayMesh& mesh_;
  std::vector<Index> vertices_;
  std::set<OpenTriangle> open_;
  std::vector<OpenTriangle> boundary_;
};

}  // namespace

std::array<OpenTriangle, 4> inward_faces(const std::array<Index, 4>& t)
{
  return {{{t[1], t[3], t[2]}, {t[0], t[2], t[3]}, {t[0], t[3], t[1]}, {t[0], t[1], t[2]}}};
}

std::optional<std::vector<std::array<Index, 4>>> fill_cavity(const DelaunayMesh& mesh,
                                                             std::vector<OpenTriangle> faces)
{
  GiftWrapping wrapping(mesh, faces);
  if (!wrapping.fill()) return std::nullopt;
  return std::move(wrapping.cells);
}

}  // namespace thrum::tets
