// SPDX-License-Identifier: MIT
#include "thrum/rigid/overlap_push.h"

#include <algorithm>

#include "thrum/base/index.h"

namespace thrum::rigid {

namespace {

constexpr int kPushSweeps = 4;

}  // namespace

void push_out_overlap(const OverlapPush& push, std::vector<OverlapRow>& rows, double h, SolverBodies& bodies,
                      model::SceneState& state)
{
  for (SolverBody& body : bodies.all()) {
    body.push_v.setZero();
    body.push_w.setZero();
  }
  if (rows.empty()) return;
  for (int i = 0; i < kPushSweeps; ++i) {
    for (OverlapRow& overlap : rows) {
      const BodyRow& row = overlap.row;
      SolverBody& A = bodies[row.a];
      SolverBody& B = bodies[row.b];
      const double way = std::min(push.share * overlap.overlap, push.max_way);
      const double speed =
          row.linear.dot(B.push_v - A.push_v) + row.angular_b.dot(B.push_w) - row.angular_a.dot(A.push_w);
      const double impulse = std::max(0.0, overlap.impulse + (way / h - speed) / coupling(row, row, bodies));
      const double change = impulse - overlap.impulse;
      overlap.impulse = impulse;
      A.push_v -= (A.inverse_mass * change) * row.linear;
      A.push_w -= A.inverse_inertia * (change * row.angular_a);
      B.push_v += (B.inverse_mass * change) * row.linear;
      B.push_w += B.inverse_inertia * (change * row.angular_b);
    }
  }
  bodies.remove_push_out_energy(h);
  for (std::size_t i = 0; i < state.bodies.size(); ++i) {
    SolverBody& body = bodies.all()[i];
    if (!body.moves || body.inverse_mass == 0) continue;
    Pose& X_wb = state.bodies[i].X_wb;
    X_wb.position += h * body.push_v;
    if (!body.push_w.isZero(0)) {
      const Quat turn = advance_rotation(Quat::Identity(), body.push_w, h);
      X_wb.rotation = (turn * X_wb.rotation).normalized();
      body.w = turn * body.w;
    }
  }
}

}  // namespace thrum::rigid
