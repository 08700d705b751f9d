// SPDX-License-Identifier: MIT
#include "thrum/rigid/overlap_push.h"

#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"

namespace thrum::rigid {

namespace {

constexpr int kPushSweeps = 4;

// Pays for the lift of a body from its budget and then from its motion; the push of one that cannot is made
// shorter.
void pay_for_lift(SolverBody& body, double& budget, double h)
{
  if (body.inverse_mass == 0 || body.push_v.isZero(0)) return;
  const double climbed = -2 * h * body.acceleration.dot(body.push_v);  // twice the energy by mass
  if (!(climbed > 0)) return;
  const double square =
      body.v.squaredNorm() + body.inverse_mass * body.w.dot(body.inverse_inertia.inverse() * body.w);
  const double given = 2 * body.inverse_mass * budget;
  const double paid = std::min(climbed, given + square);
  body.push_v *= paid / climbed;
  body.push_w *= paid / climbed;
  const double taken = std::min(paid, given);
  budget = std::max(0.0, budget - taken / (2 * body.inverse_mass));
  if (!(paid > taken)) return;
  const double kept = std::sqrt(std::max(0.0, 1 - (paid - taken) / square));
  body.v *= kept;
  body.w *= kept;
}

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
  if (push.budgets.empty()) {
    bodies.remove_push_out_energy(h);
  } else {
    for (std::size_t i = 0; i < push.budgets.size(); ++i) {
      SolverBody& body = bodies.all()[i];
      if (push.budgets[i] != nullptr) {
        pay_for_lift(body, *push.budgets[i], h);
      } else if (!body.push_v.isZero(0)) {
        remove_lift_energy(body, body.push_v, h);
      }
    }
  }
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
