// SPDX-License-Identifier: MIT
// The whole simulation of [Forgue91, fig. 5] for two meshes: free motion, interfering faces (z_list.h), first
// impact by Boyse's tests (boyse.h), velocities after it (impact_dynamics.h), and on for the rest of the
// frame.
//
//   ImpactLoop loop(make_impact_object(head, 1000), make_impact_object(ground, 0), {.restitution = 0.6});
//   loop.mover().X_wb.position.z() = 2;
//   for (int i = 0; i < 300; ++i) loop.step(1.0 / 60);
//
// It is a loop of its own for one pair of bodies, as in the paper; `World` has contacts that last, many
// bodies and joints. The motion of a frame is split along its screw axis (screw_motion()): the axis and the
// way along it are those of the whole motion, so that a body that rolls or tips over an edge is not first
// pushed into it. What is deeper than BoyseDesc::max_depth is not seen, and no overlap is pushed out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/collision/boyse.h"
#include "thrum/collision/z_list.h"
#include "thrum/mesh/bvh.h"

namespace thrum::rigid {

/// A mesh in axes with its centre of mass at the origin.
struct ImpactObject {
  std::shared_ptr<const collision::BoyseSurface> surface;
  std::shared_ptr<const mesh::Bvh> bvh;  ///< only for ImpactCandidates::hierarchy
  double mass = 0;                       ///< 0: fixed [kg]
  Mat3 inertia = Mat3::Identity();       ///< about the centre of mass, in body axes [kg m^2]
  Pose X_wb;
  Vec3 velocity = Vec3::Zero();  ///< of the centre of mass [m/s]
  Vec3 spin = Vec3::Zero();      ///< angular velocity, world axes [rad/s]
};

/// The mesh as it is, with X_wb such that it stays in place. density 0 [kg/m^3]: fixed, and the mesh may be
/// open.
[[nodiscard]] ImpactObject make_impact_object(mesh::TriangleMesh mesh, double density);

/// Which pairs of faces Boyse's tests look at.
enum class ImpactCandidates : std::uint8_t { zlist, hierarchy, all_pairs };

struct ImpactLoopDesc {
  Vec3 gravity{0, 0, -9.81};  ///< [m/s^2]
  double restitution = 0.5;
  double friction = 0.3;
  double rest_speed = 0.05;  ///< slower approaches do not bounce: continuous contact [m/s]
  int max_impacts = 20;      ///< in a frame; the bodies wait for the next one after that
  ImpactCandidates candidates = ImpactCandidates::zlist;
  collision::ZListDesc z_list = {.list_inside = false};
  collision::BoyseDesc boyse = {};
};

struct ImpactStepReport {
  int impacts = 0;             ///< resolved in this frame
  std::size_t candidates = 0;  ///< pairs of faces, of all searches together
  bool stopped = false;        ///< max_impacts was reached
  double max_approach = 0;     ///< fastest approach at an impact [m/s]
};

class ImpactLoop {
 public:
  /// `other` may be fixed.
  ImpactLoop(ImpactObject mover, ImpactObject other, const ImpactLoopDesc& desc);

  ImpactStepReport step(double h);

  [[nodiscard]] ImpactObject& mover() { return a_; }
  [[nodiscard]] ImpactObject& other() { return b_; }
  /// Kinetic, and potential over z = 0 [J].
  [[nodiscard]] double energy() const;

  /// The pairs for Boyse's tests of one motion of the mover in axes of the other.
  [[nodiscard]] const std::vector<mesh::TrianglePair>& find_candidates(const collision::SplitMotion& motion);

 private:
  [[nodiscard]] Pose advanced(const ImpactObject& body, double h) const;
  [[nodiscard]] collision::BoyseVelocity relative_motion() const;
  /// Gives impulses until no contact approaches.
  void resolve(const std::vector<collision::BoyseContact>& contacts, ImpactStepReport& report);

  ImpactObject a_;
  ImpactObject b_;
  ImpactLoopDesc desc_;
  collision::ZListBuffer buffer_;
  std::vector<mesh::TrianglePair> pairs_;
};

}  // namespace thrum::rigid
