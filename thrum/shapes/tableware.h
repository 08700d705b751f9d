// SPDX-License-Identifier: MIT
// Tableware, with the dimensions of real objects as defaults. Each is one closed mesh, standing on z = 0
// about the z axis.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

/// A dinner plate: flat well, raised rim, foot ring.
struct PlateDesc {
  double radius = 0.135;      ///< [m]
  double height = 0.025;      ///< [m]
  double thickness = 0.005;   ///< [m]
  double edge_length = 0.01;  ///< [m]
};

/// A round bowl on a foot ring.
struct BowlDesc {
  double radius = 0.075;       ///< at the rim [m]
  double height = 0.065;       ///< [m]
  double thickness = 0.004;    ///< [m]
  double edge_length = 0.008;  ///< [m]
};

/// A cup without a handle, slightly wider at the top.
struct CupDesc {
  double radius = 0.04;        ///< at the rim [m]
  double foot_radius = 0.033;  ///< [m]
  double height = 0.095;       ///< [m]
  double thickness = 0.004;    ///< [m]
  double edge_length = 0.006;  ///< [m]
};

/// A cup with a handle.
struct MugDesc {
  CupDesc cup;
  double handle_radius = 0.005;  ///< of the handle's section [m]
  double handle_reach = 0.03;    ///< from the wall to the middle of the grip [m]
};

/// A cooking pot: straight walls, rounded bottom edge, turned-out rim.
struct PotDesc {
  double radius = 0.11;        ///< [m]
  double height = 0.13;        ///< [m]
  double thickness = 0.003;    ///< [m]
  double edge_length = 0.012;  ///< [m]
};

/// A wine bottle: hollow, open at the mouth, with a punt in its base.
struct BottleDesc {
  double radius = 0.0375;       ///< of the body [m]
  double height = 0.3;          ///< [m]
  double neck_radius = 0.0145;  ///< [m]
  double thickness = 0.004;     ///< [m]
  double edge_length = 0.008;   ///< [m]
};

/// A turned candlestick with a socket for the candle.
struct CandlestickDesc {
  double base_radius = 0.05;     ///< [m]
  double height = 0.2;           ///< [m]
  double socket_radius = 0.011;  ///< of the hole [m]
  double edge_length = 0.006;    ///< [m]
};

[[nodiscard]] mesh::TriangleMesh generate(const PlateDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const BowlDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const CupDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const MugDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const PotDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const BottleDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const CandlestickDesc& desc);

/// The outlines (r, z) behind them, for the lathe.
[[nodiscard]] std::vector<Vec2> profile_of(const PlateDesc& desc);
[[nodiscard]] std::vector<Vec2> profile_of(const BowlDesc& desc);
[[nodiscard]] std::vector<Vec2> profile_of(const CupDesc& desc);
[[nodiscard]] std::vector<Vec2> profile_of(const PotDesc& desc);
[[nodiscard]] std::vector<Vec2> profile_of(const BottleDesc& desc);
[[nodiscard]] std::vector<Vec2> profile_of(const CandlestickDesc& desc);

}  // namespace thrum::shapes
