// SPDX-License-Identifier: MIT
// Which faces of two bodies interfere, by rasterisation: the z-list buffer of [Forgue91, sec. 2].
//
// The faces of both bodies that reach into the overlap of their boxes are drawn along a direction into a
// buffer of pixels. Each pixel gets a list of (depth, face), sorted by depth:
//
//         |  A  |           depth
//       --+-----+-- z 4     exit  A  \.
//     B   |     |   z 3     exit  B   | A and B overlap between z 2 and z 3: their faces interfere
//       --+-----+-- z 2     enter A  /
//         |     |   z 1     enter B
//
// One pass over a list finds faces of different bodies that meet in the pixel, and faces of one body between
// an entry and an exit of the other. The cost is linear in the number of faces, and no structure is built in
// advance: bodies may deform freely from frame to frame.
//
//   ZListBuffer buffer;                                     // keeps its memory
//   const ZListResult& found = buffer.find({&head, X_wh}, {&ground, X_wg}, {.pixel = 0.002});
//   for (const mesh::TrianglePair& pair : found.pairs) ...
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/collision/split_motion.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::collision {

/// What is drawn into a pixel.
enum class ZListSampling : std::uint8_t {
  /// Every face that touches the pixel, with the range of depths that it has there: no pair is missed,
  /// whatever the size of the pixels.
  conservative,
  /// The depth at the centre of the pixel, as in the paper: faces narrower than a pixel, or seen edge-on, may
  /// be missed.
  centre,
};

struct ZListDesc {
  /// Side of a pixel [m]. 0: half the mean width of the faces drawn.
  double pixel = 0;
  /// The buffer has at most so many pixels along a side; larger regions get larger pixels.
  int max_resolution = 512;
  /// Along which to draw, in world axes. Default: the world axis along which the boxes overlap least.
  std::optional<Vec3> direction = {};
  /// Faces with a gap of up to this are found as well (conservative sampling only) [m].
  double margin = 0;
  ZListSampling sampling = ZListSampling::conservative;
  /// Whether faces_a and faces_b also list faces that lie inside the other body.
  bool list_inside = true;
};

/// A body in the buffer. The mesh may be open: what is behind the faces of an open mesh is inside.
struct ZListBody {
  const mesh::TriangleMesh* mesh = nullptr;
  Pose X_w = {};                      ///< body axes to world
  std::span<const Index> faces = {};  ///< to be drawn, if not empty: for example those that a hierarchy left
  Box3 bounds = {};                   ///< of the mesh, in body axes; computed when empty [m]
  /// Draws the faces over the volume that they sweep in this motion, in world axes. X_w is then not used.
  const SplitMotion* motion = nullptr;
};

struct ZListResult {
  /// Faces that meet in a pixel (conservative), or that bound an overlap in one (centre), ascending.
  std::vector<mesh::TrianglePair> pairs;
  std::vector<Index> faces_a;  ///< in a pair, or inside the other body; ascending
  std::vector<Index> faces_b;
  double pixel = 0;  ///< side of a pixel used [m]
  std::size_t pixel_count = 0;
  std::size_t drawn = 0;    ///< faces that reach into the overlap of the boxes
  std::size_t entries = 0;  ///< of all lists
};

class ZListBuffer {
 public:
  /// The faces of a and b that interfere. The result stays until the next call. Throws Error when the pixel
  /// size, the margin or the direction is not usable.
  const ZListResult& find(const ZListBody& a, const ZListBody& b, const ZListDesc& desc = {});

 private:
  struct Entry {
    double low = 0;  ///< depth range [m]
    double high = 0;
    Index face = 0;
    std::int8_t facing = 0;  ///< 1: the outside is towards greater depth, -1: towards less, 0: edge-on
    bool of_b = false;
    bool listed = false;
  };
  struct Stamp {
    std::uint32_t pixel = 0;
    Entry entry;
  };
  /// A face in axes of the buffer.
  struct Drawn {
    Vec3 corner[3];  ///< at the end of a motion
    Box3 box;        ///< of all that it covers, margin included
    Index face = 0;
  };

  void load(const ZListBody& body, const Box3& region, double reach, std::vector<Drawn>& drawn);
  void load_swept(const ZListBody& body, const Box3& region, double reach, std::vector<Drawn>& drawn);
  [[nodiscard]] bool load_overlap(const ZListBody& a, const ZListBody& b, const ZListDesc& desc,
                                  double& reach);
  void choose_pixels(const ZListDesc& desc);
  void draw(bool of_b, bool swept, double reach, ZListSampling sampling);
  void draw_covered(const Drawn& face, bool swept, double reach, Entry entry);
  void draw_centres(const Drawn& face, Entry entry);
  void put(int column, int row, const Entry& entry);
  void gather_lists();
  void pass_over(std::span<Entry> list, bool list_inside);
  void store_result();

  Mat3 R_ = Mat3::Identity();  ///< world axes to those of the buffer, depth last
  Box3 region_;                ///< overlap of the boxes, in axes of the buffer
  double pixel_ = 0;           ///< [m]
  int columns_ = 0;
  int rows_ = 0;
  std::vector<std::uint8_t> outcodes_;  ///< by vertex: beyond which sides of the region it lies
  std::vector<Box3> swept_;             ///< by vertex, of a body drawn with its motion
  std::vector<Drawn> drawn_a_;
  std::vector<Drawn> drawn_b_;
  std::vector<std::uint8_t> touched_;  ///< by pixel: whether a was drawn there
  std::vector<Stamp> stamps_;
  std::vector<std::uint32_t> begin_;  ///< by pixel: its list in lists_
  std::vector<Entry> lists_;
  std::array<std::vector<std::uint32_t>, 2> of_body_;  ///< entries of a and of b in the list passed over
  std::vector<std::uint64_t> pairs_;
  ZListResult result_;
};

}  // namespace thrum::collision
