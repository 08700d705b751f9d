// SPDX-License-Identifier: MIT
// Contacts of a rigid simulation as points on the surface of a modal model [Coevoet20, section 4.2].
//
// A contact lies near the surface, not on it, since rigid engines collide with proxies: it takes the closest
// point with its barycentric weights. What depends on the place alone, the displacement of that point by each
// mode, is kept from step to step: the place is rounded to kGrid of the mesh's size first, so that a contact
// that trembles finds what it left, and the answer never depends on what was asked before.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/surface_point.h"
#include "thrum/model/modal_model.h"

namespace thrum::elastic {

struct MappedPoint {
  mesh::SurfacePoint point;
  double distance = 0;  ///< of the contact from the surface [m]
  Eigen::Matrix<double, 3, Eigen::Dynamic>
      shapes;  ///< displacement of the point by each mode, H_p U [kg^(-1/2)]
};

class SurfaceMap {
  struct Entry {
    MappedPoint mapped;
    std::uint64_t used = 0;
  };

 public:
  /// Where a contact was when it was last asked for: one that has not left its place is found at once.
  class Hint {
    friend class SurfaceMap;
    Vec3 cells = Vec3::Zero();
    Entry* entry = nullptr;
    std::uint64_t evictions = 0;  ///< before `entry` was found
  };

  static constexpr double kGrid = 2e-4;             ///< share of the diagonal of the mesh
  static constexpr std::size_t kMaxPoints = 16384;  ///< kept; beyond it those not used for longest go

  /// Throws Error when the model has no surface, or shapes for another number of vertices.
  explicit SurfaceMap(std::shared_ptr<const model::ModalModel> model);

  /// The point closest to `position`, in the axes of the model [m]. Valid until the next call of
  /// evict_unused().
  [[nodiscard]] const MappedPoint& find(const Vec3& position);
  /// The same, beginning with `hint`, which is then this place.
  [[nodiscard]] const MappedPoint& find(const Vec3& position, Hint& hint);
  /// Once a step: lets go of what was not used for long when there is too much.
  void evict_unused();

  /// Displacement of vertex v by each mode: three rows, x, y and z, of one entry a mode [kg^(-1/2)].
  using VertexShapes = Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>>;
  [[nodiscard]] VertexShapes vertex_shapes(Index v) const
  {
    const Eigen::Index modes = model_->shapes.cols();
    return {vertex_shapes_.data() + static_cast<std::size_t>(3 * modes) * static_cast<std::size_t>(v), 3,
            modes};
  }

  [[nodiscard]] const model::ModalModel& model() const { return *model_; }
  [[nodiscard]] const mesh::Bvh& bvh() const { return bvh_; }
  [[nodiscard]] double size() const { return size_; }  ///< diagonal of the mesh [m]
  [[nodiscard]] std::uint64_t searches() const { return searches_; }

 private:
  struct Cell {
    std::array<std::int64_t, 3> at;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  struct CellHash {
    std::size_t operator()(const Cell& cell) const;
  };
  [[nodiscard]] Entry& find(const Vec3& position, const Vec3& rounded_cells);
  [[nodiscard]] Vec3 cells_of(const Vec3& position) const;

  std::shared_ptr<const model::ModalModel> model_;
  mesh::Bvh bvh_;
  double size_ = 0;
  double grid_ = 0;
  double cells_per_metre_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t searches_ = 0;
  std::uint64_t evictions_ = 0;
  std::vector<double> vertex_shapes_;  ///< of all vertices, each in one place, unlike in the model
  std::unordered_map<Cell, Entry, CellHash> points_;
  /// The entries asked for last, by their hash: most contacts are those of the step before.
  struct Recent {
    Cell cell{};
    Entry* entry = nullptr;
  };
  static constexpr std::size_t kRecent = 512;
  std::array<Recent, kRecent> recent_{};
};

}  // namespace thrum::elastic
