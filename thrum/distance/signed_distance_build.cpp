// SPDX-License-Identifier: MIT
// Sampling a mesh into a sparse field: which blocks, then their nodes.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/distance/local_distance.h"
#include "thrum/distance/signed_distance_field.h"

namespace thrum::distance {

namespace {

constexpr int kCells = SignedDistanceField::kBlockCells;
constexpr int kNodes = SignedDistanceField::kBlockNodes;
const double kHalfDiagonal = std::sqrt(3.0) / 2;  // of a unit cube
// Relative margin for the rounding of a distance to float.
constexpr double kFloatRounding = 0x1p-22;

std::size_t local_index(int i, int j, int k)
{
  return at((i * kNodes + j) * kNodes + k);
}

}  // namespace

struct SignedDistanceField::Builder {
  SignedDistanceField& field;
  const MeshDistance& mesh;
  double band;  // [m]
  Index hint = -1;
  LocalDistance local{mesh.bvh()};
  std::vector<Vec3> points = {};         // of the current part of a block
  std::vector<std::size_t> places = {};  // positions of these in the block
  std::vector<LocalDistance::Group> groups = {};
  std::vector<Index> closest = {};

  // Exact distance at a point; the last closest triangle starts the next search, since the points come in
  // rows.
  double exact(const Vec3& p)
  {
    const SignedPoint point = mesh.signed_distance(p, hint);
    hint = point.surface.triangle;
    return point.distance;
  }

  // The far field: exact at every block corner.
  void sample_corners()
  {
    const auto& n = field.blocks_;
    for (int i = 0; i <= n[0]; ++i) {
      for (int j = 0; j <= n[1]; ++j) {
        for (int k = 0; k <= n[2]; ++k) {
          field.corners_.push_back(
              static_cast<float>(exact(field.frame_.node(kCells * i, kCells * j, kCells * k))));
        }
      }
    }
  }

  // Whether a cube of `side` metres about `centre` may come within the band: |distance| changes no faster
  // than 1.
  bool may_touch_band(double distance, double side) const
  {
    return std::abs(distance) <= band + kHalfDiagonal * side;
  }

  // Numbers the blocks to store. The ball around a block is much larger than the block, so the eight balls
  // around its octants decide; that stores a third fewer.
  void choose_blocks()
  {
    const double side = kCells * field.frame_.spacing;
    std::int32_t count = 0;
    for (int i = 0; i < field.blocks_[0]; ++i) {
      for (int j = 0; j < field.blocks_[1]; ++j) {
        for (int k = 0; k < field.blocks_[2]; ++k) {
          const Vec3 lower = field.frame_.node(kCells * i, kCells * j, kCells * k);
          const double distance = exact(lower + Vec3::Constant(side / 2));
          bool fine = false;
          for (int octant = 0; octant < 8 && !fine && may_touch_band(distance, side); ++octant) {
            const Vec3 offset(octant & 1 ? 0.75 : 0.25, octant & 2 ? 0.75 : 0.25, octant & 4 ? 0.75 : 0.25);
            fine = may_touch_band(exact(lower + side * offset), side / 2);
          }
          // These hold for the exact distance in the block and for its corners, hence for the interpolant.
          const double reach = kHalfDiagonal * side;
          const double slack = kFloatRounding * (std::abs(distance) + reach);
          field.low_.push_back(static_cast<float>(distance - reach - slack));
          field.high_.push_back(static_cast<float>(distance + reach + slack));
          field.table_.push_back(fine ? count++ : kFar);
        }
      }
    }
    field.samples_.resize(at(count) * kBlockSamples);
  }

  float* block(int i, int j, int k) const
  {
    if (i >= field.blocks_[0] || j >= field.blocks_[1] || k >= field.blocks_[2]) return nullptr;
    const std::int32_t slot = field.table_[field.block_index(i, j, k)];
    return slot < 0 ? nullptr : field.samples_.data() + at(slot) * kBlockSamples;
  }

  // All nodes of a block, in eight parts of eight groups of two or three nodes a side. The nodes on the faces
  // between two blocks are sampled in both, which is cheaper than checking whether the neighbour has them.
  void sample_block(int bi, int bj, int bk, float* out)
  {
    constexpr std::array<int, 5> kCuts = {0, 2, 4, 6, kNodes};
    for (int part = 0; part < 8; ++part) {
      points.clear();
      places.clear();
      groups.clear();
      Box3 box;
      for (int group = 0; group < 8; ++group) {
        std::array<std::size_t, 3> cut{};
        for (int d = 0; d < 3; ++d) {
          cut[at(d)] = at(2 * (part >> d & 1) + (group >> d & 1));
        }
        const std::size_t first = points.size();
        Box3 group_box;
        for (int i = kCuts[cut[0]]; i < kCuts[cut[0] + 1]; ++i) {
          for (int j = kCuts[cut[1]]; j < kCuts[cut[1] + 1]; ++j) {
            for (int k = kCuts[cut[2]]; k < kCuts[cut[2] + 1]; ++k) {
              points.push_back(field.frame_.node(kCells * bi + i, kCells * bj + j, kCells * bk + k));
              places.push_back(local_index(i, j, k));
              group_box.extend(points.back());
            }
          }
        }
        groups.push_back({first, points.size(), group_box.center(), 0.5 * group_box.diagonal().norm()});
        box.extend(group_box);
      }
      sample_part(box, out);
    }
  }

  // The points gathered in `points`: compared with the triangles near them, or queried one by one where these
  // are too many.
  void sample_part(const Box3& box, float* out)
  {
    const bool few = local.gather(box.center(), 0.5 * box.diagonal().norm(), exact(box.center()));
    if (few) {
      closest.resize(points.size());
      local.closest_triangles(points, groups, closest);
    }
    for (std::size_t n = 0; n < points.size(); ++n) {
      out[places[n]] = static_cast<float>(few ? mesh.signed_distance_to(points[n], closest[n]).distance
                                              : exact(points[n]));
    }
  }

  // The samples bound the interpolant; a point of a cell is at most half a diagonal from a node, which bounds
  // the exact distance.
  void tighten_range(std::size_t index, const float* samples)
  {
    const auto [low, high] = std::minmax_element(samples, samples + kBlockSamples);
    const double reach = kHalfDiagonal * field.frame_.spacing * (1 + kFloatRounding);
    const double slack = kFloatRounding * (std::abs(*low) + std::abs(*high));
    field.low_[index] = std::max(field.low_[index], static_cast<float>(*low - reach - slack));
    field.high_[index] = std::min(field.high_[index], static_cast<float>(*high + reach + slack));
  }

  template <class Work>
  void for_each_fine_block(const Work& work)
  {
    for (int i = 0; i < field.blocks_[0]; ++i) {
      for (int j = 0; j < field.blocks_[1]; ++j) {
        for (int k = 0; k < field.blocks_[2]; ++k) {
          if (float* samples = block(i, j, k)) work(i, j, k, samples);
        }
      }
    }
  }
};

SignedDistanceField::SignedDistanceField(const MeshDistance& mesh, const DistanceFieldDesc& desc)
{
  set_frame(grid_around(mesh.bvh().bounds(), desc, kBlockCells));
  Builder builder{*this, mesh, desc.band * frame_.spacing};
  builder.sample_corners();
  builder.choose_blocks();
  builder.for_each_fine_block([&](int i, int j, int k, float* out) {
    builder.sample_block(i, j, k, out);
    builder.tighten_range(block_index(i, j, k), out);
  });
}

}  // namespace thrum::distance
