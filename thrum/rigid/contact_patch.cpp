// SPDX-License-Identifier: MIT
#include "thrum/rigid/contact_patch.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/rigid/contact_place.h"

namespace thrum::rigid {

namespace {

/// The block of seven rows has rank six at most. It is regularised by this share of its diagonal, which
/// leaves as much of the error for the next visit.
constexpr RowReal kBlockRegularisation = 1e-3F;
/// Friction blocks are regularised by this share of their diagonal: a single point has no arm to twist about.
constexpr RowReal kFrictionRegularisation = 1e-6F;

Rows unit_row(std::size_t k)
{
  static const auto units = [] {
    std::array<Rows, 7> rows;
    for (std::size_t i = 0; i < 7; ++i) {
      rows[i].setZero();
      rows[i][static_cast<Eigen::Index>(i)] = 1;
    }
    return rows;
  }();
  return units[k];
}

Vec3 tangent_of(const Vec3& n)
{
  // The world axis least along n gives the steadiest tangent from step to step.
  Eigen::Index axis = 0;
  n.cwiseAbs().minCoeff(&axis);
  return n.cross(Vec3(Vec3::Unit(axis))).normalized();
}

void set_lane(std::array<Rows, 3>& rows, Eigen::Index lane, const Vec3& value)
{
  for (std::size_t k = 0; k < 3; ++k)
    rows[k][lane] = static_cast<RowReal>(value[static_cast<Eigen::Index>(k)]);
}

// Inverse of a symmetric 7 x 7 matrix with diagonal 1 and eigenvalues well above rounding, by sweeping each
// row in turn: operations on whole columns only, which is several times quicker here than a factorisation.
void invert_7x7(std::array<Rows, 7>& A)
{
  for (std::size_t k = 0; k < 7; ++k) {
    const Rows pivot = A[k];
    const RowReal d = 1 / pivot[static_cast<Eigen::Index>(k)];
    // The matrix is symmetric: pivot[j] is the entry of column j in row k. Row k becomes pivot[j] d, minus d
    // on the diagonal.
    const Rows reduced = pivot - unit_row(k);
    for (std::size_t j = 0; j < 7; ++j) A[j] -= (pivot[static_cast<Eigen::Index>(j)] * d) * reduced;
    A[k] = pivot * d - (1 + d) * unit_row(k);
  }
  for (Rows& column : A) column = -column;
}

// The rows of angular parts multiplied by an inverse inertia.
std::array<Rows, 3> times(const Mat3& inverse_inertia, const std::array<Rows, 3>& arm)
{
  const Eigen::Matrix<RowReal, 3, 3> I = inverse_inertia.cast<RowReal>();
  return {I(0, 0) * arm[0] + I(0, 1) * arm[1] + I(0, 2) * arm[2],
          I(1, 0) * arm[0] + I(1, 1) * arm[1] + I(1, 2) * arm[2],
          I(2, 0) * arm[0] + I(2, 1) * arm[1] + I(2, 2) * arm[2]};
}

// J M^-1 J^T of the patch, by columns.
void set_block(const SolverPatch& p, const SolverBody& A, const SolverBody& B, const PatchMasses& m,
               std::array<Rows, 7>& block)
{
  const auto inverse_mass =
      static_cast<RowReal>((m.movable_a ? A.inverse_mass : 0.0) + (m.movable_b ? B.inverse_mass : 0.0));
  const std::array<Rows, 3> linear{inverse_mass * p.linear[0], inverse_mass * p.linear[1],
                                   inverse_mass * p.linear[2]};
  for (std::size_t k = 0; k < 7; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    block[k] = linear[0] * p.linear[0][i] + linear[1] * p.linear[1][i] + linear[2] * p.linear[2][i];
  }
  const auto add = [&](const Mat3& inverse_inertia, const std::array<Rows, 3>& arm) {
    const std::array<Rows, 3> turned = times(inverse_inertia, arm);
    for (std::size_t k = 0; k < 7; ++k) {
      const auto i = static_cast<Eigen::Index>(k);
      block[k] += turned[0] * arm[0][i] + turned[1] * arm[1][i] + turned[2] * arm[2][i];
    }
  };
  if (m.movable_a) add(A.inverse_inertia, p.arm_a);
  if (m.movable_b) add(B.inverse_inertia, p.arm_b);
}

struct Impulses {
  Vec3 linear;
  Vec3 on_a;  ///< about the centre of a
  Vec3 on_b;
};

inline Impulses sum_of(const SolverPatch& p, const Rows& change)
{
  const auto sum = [&](const std::array<Rows, 3>& rows) {
    return Vec3((rows[0] * change).sum(), (rows[1] * change).sum(), (rows[2] * change).sum());
  };
  return {sum(p.linear), sum(p.arm_a), sum(p.arm_b)};
}

// Gives the bodies the impulses `change` on the rows: to their velocities `v` and `w`, or to those that push
// them apart.
template <auto v = &SolverBody::v, auto w = &SolverBody::w>
[[gnu::always_inline]] inline void apply_row_impulses(const SolverPatch& p, const PatchMasses& m,
                                                      SolverBody& A, SolverBody& B, const Rows& change)
{
  const Impulses j = sum_of(p, change);
  if (m.movable_a) {
    A.*v -= A.inverse_mass * j.linear;
    A.*w -= A.inverse_inertia * j.on_a;
  }
  if (m.movable_b) {
    B.*v += B.inverse_mass * j.linear;
    B.*w += B.inverse_inertia * j.on_b;
  }
}

inline Rows speeds(const SolverPatch& p, const SolverBody& A, const SolverBody& B)
{
  return along_rows(p, B.v - A.v, A.w, B.w);
}

inline bool within_friction(const SolverPatch& p, const Rows& lambda, FrictionCone cone)
{
  const RowReal limit = p.mu * lambda.head<4>().sum();
  const RowReal x = lambda[kFirstTangent];
  const RowReal y = lambda[kSecondTangent];
  const bool sticks = cone == FrictionCone::cone ? x * x + y * y <= limit * limit
                                                 : std::max(std::abs(x), std::abs(y)) <= limit;
  return sticks && std::abs(lambda[kTwist]) <= (p.twist_arm * lambda.head<4>()).sum();
}

// The largest speed among the rows; the turn about the normal counts with the reach of the patch.
inline RowReal max_speed(const SolverPatch& p, const Rows& speed)
{
  return speed.head<4>().abs().max(speed.tail<4>().abs() * p.friction_reach).maxCoeff();
}

// Where the whole block asks points to pull, they are let go one after the other, the one that pulls most
// first. With B the inverse of the block A, r the residual and i the point that is let go,
//
//     change = -B r + s B_i,     s = (-lambda_i - change_i) / B_ii                                      (1)
//
// solves all other rows for lambda_i = 0 and leaves the speed s at i, and B - B_i B_i^T / B_ii is the inverse
// for the next one. False when no point is left, or when one that was let go would approach again. Sweeping
// over the rows of such a patch instead, friction and normal rows undid each other's work on a box that stood
// on three of its four corners: the box was at rest and the sweeps never were.
bool release_pulling_points(const PatchMasses& m, const Rows& lambda, Rows& change, Rows& residual)
{
  std::array<Rows, 4> columns{m.inverse[0], m.inverse[1], m.inverse[2], m.inverse[3]};
  // A times each of these columns, as far as points are concerned.
  std::array<Lanes, 4> speed_of{Lanes(1, 0, 0, 0), Lanes(0, 1, 0, 0), Lanes(0, 0, 1, 0), Lanes(0, 0, 0, 1)};
  Lanes separation_speed = Lanes::Zero();
  for (int round = 0; round < 3; ++round) {
    const Lanes next = lambda.head<4>() + change.head<4>();
    Eigen::Index i = 0;
    for (Eigen::Index k = 1; k < 4; ++k) i = next[k] < next[i] ? k : i;
    if (!(next[i] < RowReal(0))) break;
    const Rows column = columns[at(i)];
    const Lanes speeds = speed_of[at(i)];
    if (!(column[i] > RowReal(0))) return false;
    const RowReal s = (-lambda[i] - change[i]) / column[i];
    change += column * s;
    change[i] = -lambda[i];
    separation_speed += speeds * s;
    // A point that may part asks for nothing.
    residual[i] = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const RowReal share = columns[k][i] / column[i];
      columns[k] -= column * share;
      speed_of[k] -= speeds * share;
    }
  }
  return !((lambda + change).head<4>() < RowReal(0)).any() && !(separation_speed < RowReal(0)).any();
}

// All seven rows at once. False, and nothing changed, when a bound of friction is met or all points part.
inline bool solve_block(const SolverPatch& p, const PatchMasses& m, Rows& lambda, SolverBody& A,
                        SolverBody& B, const Rows& speed, FrictionCone cone, RowReal& speed_change)
{
  Rows residual = speed + p.bias;
  // Nothing pushes and nothing approaches: every fifth visit in a heap of rings.
  if ((lambda == RowReal(0)).all() && (residual.head<4>() >= RowReal(0)).all()) return true;
  residual.head<4>() += m.cfm * lambda.head<4>();
  Rows change = -residual[0] * m.inverse[0];
  for (std::size_t k = 1; k < 7; ++k) change -= residual[static_cast<Eigen::Index>(k)] * m.inverse[k];
  if (((lambda + change).head<4>() < RowReal(0)).any() &&
      !release_pulling_points(m, lambda, change, residual))
    return false;
  const Rows next = lambda + change;
  if (!within_friction(p, next, cone)) return false;
  speed_change = max_speed(p, residual);
  lambda = next;
  apply_row_impulses(p, m, A, B, change);
  return true;
}

// Eq. (2)-(3b) for the normal rows: a gap may just close within the substep, surfaces that meet may not
// approach, and where restitution or a distant impact asks for it they must part.
Lanes solve_normal(const SolverPatch& p, const PatchMasses& m, Rows& lambda, Lanes residual, int sweeps)
{
  const Lanes start = lambda.head<4>();
  Lanes next = start;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int i = 0; i < p.count; ++i) {
      const RowReal old = next[i];
      next[i] = std::max(RowReal(0), old - (residual[i] + m.cfm[i] * old) * m.inverse_A[i]);
      residual += m.A[at(i)] * (next[i] - old);
    }
  }
  lambda.head<4>() = next;
  return next - start;
}

using Two = Eigen::Matrix<RowReal, 2, 1>;

/// Newton's method for the multiplier of the friction disc gains two digits and more in each step.
constexpr int kDiscNewtonSteps = 6;
constexpr RowReal kDiscAccuracy = 1e-4F;
constexpr RowReal kMultiplierRatio = 1e5F;
/// Friction below this is none [N s]: its square would underflow, and the multiplier become infinite.
constexpr RowReal kNegligibleFriction = 1e-15F;

// The impulse that stops the slip, if it is no longer than `limit`. Otherwise the one of that length that is
// opposite to the slip which it leaves: with K the block of the two tangents and b = K old - slip, for some
// c > 0
//
//     slip + K (lambda - old) = -c lambda,    so    lambda(c) = (K + c I)^-1 b,
//
// |lambda(c)| = limit. 1 / |lambda| is concave in c and nearly linear, so that Newton's method for it comes
// from below, where |lambda| is too long, without passing the root. Scaling lambda(0) back to the limit
// instead, its direction was that of K^-1 slip: a box thrown obliquely left its line by a tenth of its way at
// any length of step.
Two solve_friction_disc(const Eigen::Matrix<RowReal, 2, 2>& K, const Two& b, RowReal limit)
{
  if (limit < kNegligibleFriction) return Two::Zero();
  // Where c outweighs K, as for a point that is hardly pressed, the impulse is along b.
  const RowReal trace = K(0, 0) + K(1, 1);
  const RowReal b_length = b.norm();
  if (b_length > kMultiplierRatio * trace * limit) return b * (limit / b_length);
  // |lambda(c)| >= |b| / (trace + c)
  RowReal c = std::max(RowReal(0), b_length / limit - trace);
  Two lambda = Two::Zero();
  for (int step = 0; step < kDiscNewtonSteps; ++step) {
    const RowReal xx = K(0, 0) + c;
    const RowReal yy = K(1, 1) + c;
    const RowReal xy = K(0, 1);
    const RowReal scale = 1 / (xx * yy - xy * xy);
    const auto solve = [&](const Two& r) {
      return Two(scale * (yy * r.x() - xy * r.y()), scale * (xx * r.y() - xy * r.x()));
    };
    lambda = solve(b);
    const RowReal square = lambda.squaredNorm();
    const RowReal excess = std::sqrt(square) / limit - 1;
    if (!(excess > kDiscAccuracy)) break;
    c += excess * square / lambda.dot(solve(lambda));
  }
  const RowReal length = lambda.norm();
  return length > limit ? Two(lambda * (limit / length)) : lambda;
}

// One tangent after the other: the slip along one that sticks is zero also where the other
// slides.
Two solve_friction_box(const Eigen::Matrix<RowReal, 2, 2>& K, const Two& old, Two slip, RowReal limit)
{
  Two next = old;
  for (Eigen::Index i = 0; i < 2; ++i) {
    next[i] = std::clamp(old[i] - slip[i] / K(i, i), -limit, limit);
    slip += K.col(i) * (next[i] - old[i]);
  }
  return next;
}

// The twist about the normal, then Coulomb friction at the centre of the patch. Each must find its bound by
// itself: solved together and bounded afterwards, a single point, which can resist no twist, left that to the
// twist and pushed along with the slip. A ring that lay on another one by two points spun itself up from rest
// to 500 J within 2 s.
Lanes solve_friction(const SolverPatch& p, const PatchMasses& m, Rows& lambda, const Rows& speed,
                     FrictionCone cone)
{
  const RowReal old_twist = lambda[kTwist];
  const RowReal twist_limit = (p.twist_arm * lambda.head<4>()).sum();
  const RowReal wanted = m.friction_row[2] > 0 ? old_twist - speed[kTwist] / m.friction_row[2] : RowReal(0);
  const RowReal twist = std::clamp(wanted, -twist_limit, twist_limit);
  const Two slip = speed.segment<2>(kFirstTangent).matrix() + m.twist_slips * (twist - old_twist);
  const Two old = lambda.segment<2>(kFirstTangent).matrix();
  const RowReal limit = p.mu * lambda.head<4>().sum();
  Two next = Two::Zero();
  if (limit > 0) {
    next = cone == FrictionCone::cone ? solve_friction_disc(m.friction, m.friction * old - slip, limit)
                                      : solve_friction_box(m.friction, old, slip, limit);
  }
  lambda.segment<2>(kFirstTangent) = next.array();
  lambda[kTwist] = twist;
  return {next.x() - old.x(), next.y() - old.y(), twist - old_twist, 0};
}

// Resistance to rolling, a turning impulse across the normal bounded by the coefficient times the normal
// impulse. Gives the change of speed at the patch that it brings [m/s].
RowReal solve_rolling(const PatchMasses& m, const PatchRecord& record, double pressure, Vec3& impulse,
                      SolverBody& A, SolverBody& B)
{
  if (!(pressure > 0) && impulse.isZero(0)) return 0;
  const Vec3 w = B.w - A.w;
  Vec3 next = impulse - record.rolling_mass * (w - record.n * record.n.dot(w));
  next -= record.n * record.n.dot(next);
  const double max_rolling = record.rolling * pressure;
  const double square = next.squaredNorm();
  if (square > max_rolling * max_rolling) next *= max_rolling / std::sqrt(square);
  const Vec3 change = next - impulse;
  impulse = next;
  double speed_change = 0;
  if (m.movable_a) {
    const Vec3 turn = A.inverse_inertia * change;
    A.w -= turn;
    speed_change += std::sqrt(turn.squaredNorm() * record.ra.squaredNorm());
  }
  if (m.movable_b) {
    const Vec3 turn = B.inverse_inertia * change;
    B.w += turn;
    speed_change += std::sqrt(turn.squaredNorm() * record.rb.squaredNorm());
  }
  return static_cast<RowReal>(speed_change);
}

}  // namespace

void set_rows(const model::ContactPatch& contact, const ContactMembers& members, const SolverBody& A,
              const Vec3& xa, const SolverBody& B, const Vec3& xb, const model::Surface& surface,
              SolverPatch& p, PatchRecord& record)
{
  p.count = contact.count;
  p.mu = static_cast<RowReal>(surface.friction);
  p.friction_reach = {1, 1, 0, 0};
  p.twist_arm.setZero();
  record.n = contact.normal;
  record.t1 = tangent_of(record.n);
  record.t2 = record.n.cross(record.t1);
  for (std::size_t k = 0; k < 3; ++k) {
    p.linear[k].setZero();
    p.arm_a[k].setZero();
    p.arm_b[k].setZero();
  }
  std::array<Vec3, 4> places;
  Vec3 centre = Vec3::Zero();
  for (int i = 0; i < p.count; ++i) {
    const model::ContactPoint& point = contact.points[at(i)];
    places[at(i)] = acting_place(point.*members.position, point.*members.depth, record.n, A, B);
    centre += places[at(i)];
  }
  centre /= p.count;
  for (int i = 0; i < p.count; ++i) {
    // Along the normal the two places are one.
    const Vec3& place = contact.points[at(i)].*members.position;
    set_lane(p.linear, i, record.n);
    set_lane(p.arm_a, i, (place - xa).cross(record.n));
    set_lane(p.arm_b, i, (place - xb).cross(record.n));
    const double from_centre = (places[at(i)] - centre).norm();
    p.twist_arm[i] = static_cast<RowReal>(surface.friction * from_centre + surface.spinning_friction);
    p.friction_reach[2] = std::max(p.friction_reach[2], static_cast<RowReal>(from_centre));
  }
  record.ra = centre - xa;
  record.rb = centre - xb;
  set_lane(p.linear, kFirstTangent, record.t1);
  set_lane(p.linear, kSecondTangent, record.t2);
  set_lane(p.arm_a, kFirstTangent, record.ra.cross(record.t1));
  set_lane(p.arm_a, kSecondTangent, record.ra.cross(record.t2));
  set_lane(p.arm_a, kTwist, record.n);
  set_lane(p.arm_b, kFirstTangent, record.rb.cross(record.t1));
  set_lane(p.arm_b, kSecondTangent, record.rb.cross(record.t2));
  set_lane(p.arm_b, kTwist, record.n);
}

void set_masses(const SolverPatch& p, const SolverBody& A, const SolverBody& B, bool hold_a, bool hold_b,
                double cfm, PatchMasses& m)
{
  m.movable_a = !hold_a && A.inverse_mass > 0;
  m.movable_b = !hold_b && B.inverse_mass > 0;
  std::array<Rows, 7>& block = m.inverse;
  set_block(p, A, B, m, block);

  const auto soft = static_cast<RowReal>(cfm);
  for (int i = 0; i < 4; ++i) {
    m.A[at(i)] = block[at(i)].head<4>();
    const RowReal diagonal = block[at(i)][i];
    m.cfm[i] = soft * diagonal;
    m.inverse_A[i] = diagonal > 0 ? 1 / (diagonal + m.cfm[i]) : RowReal(0);
  }
  Eigen::Matrix<RowReal, 3, 3> K;
  for (std::size_t i = 0; i < 3; ++i) m.friction_to_normal[i] = block[i + 4].head<4>();
  for (Eigen::Index i = 0; i < 3; ++i)
    K.col(i) = block[at(kFirstTangent + i)].segment<3>(kFirstTangent).matrix();
  m.friction_row = K.diagonal().array();
  // A row that nothing can move has nothing but zeros.
  for (int i = 0; i < 3; ++i) K(i, i) = K(i, i) > 0 ? K(i, i) * (1 + kFrictionRegularisation) : RowReal(1);
  m.friction = K.topLeftCorner<2, 2>();
  m.twist_slips = K.topRightCorner<2, 1>();

  // The rows are scaled to a diagonal of 1. Lanes without a point, rows that nothing can move, and friction
  // where there is none are scaled by 0 and so keep to themselves.
  Rows scale = Rows::Zero();
  const bool twists = (p.twist_arm > RowReal(0)).any();
  for (std::size_t k = 0; k < 7; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const bool has_friction = i == kTwist ? twists : p.mu > 0;
    const RowReal diagonal = block[k][i];
    if (diagonal > 0 && (i < kFirstTangent || has_friction)) scale[i] = 1 / std::sqrt(diagonal);
  }
  for (std::size_t k = 0; k < 7; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const RowReal added = kBlockRegularisation + (i < kFirstTangent ? soft : RowReal(0));
    block[k] = block[k] * scale * scale[i] + (scale[i] > 0 ? added : RowReal(1)) * unit_row(k);
  }
  invert_7x7(block);
  for (std::size_t k = 0; k < 7; ++k) block[k] *= scale * scale[static_cast<Eigen::Index>(k)];
}

void apply_rows(const SolverPatch& p, const PatchMasses& m, SolverBody& A, SolverBody& B, const Rows& change)
{
  apply_row_impulses(p, m, A, B, change);
}

void apply_rolling(const PatchMasses& m, SolverBody& A, SolverBody& B, const Vec3& impulse)
{
  if (m.movable_a) A.w -= A.inverse_inertia * impulse;
  if (m.movable_b) B.w += B.inverse_inertia * impulse;
}

RowReal solve_patch(const SolverPatch& p, const PatchMasses& m, PatchRecord& record, Rows& lambda,
                    Vec3& rolling_impulse, SolverBody& A, SolverBody& B, const SweepValues& s)
{
  RowReal speed_change = 0;
  Rows speed = speeds(p, A, B);
  if (solve_block(p, m, lambda, A, B, speed, s.cone, speed_change)) {
    if (p.rolls)
      speed_change =
          std::max(speed_change, solve_rolling(m, record, lambda.head<4>().sum(), rolling_impulse, A, B));
    return speed_change;
  }
  for (int k = 0; k < s.rounds; ++k) {
    if (k > 0) speed = speeds(p, A, B);
    Rows change = Rows::Zero();
    if (p.mu > 0 || p.twist_arm[0] > 0) {
      change.tail<4>() = solve_friction(p, m, lambda, speed, s.cone);
      speed_change = std::max({speed_change, std::abs(change[4]) * m.friction_row[0],
                               std::abs(change[5]) * m.friction_row[1],
                               std::abs(change[6]) * m.friction_row[2] * p.friction_reach[2]});
      // What friction does to the normal speeds, without a way through the bodies.
      for (std::size_t i = 0; i < 3; ++i)
        speed.head<4>() += m.friction_to_normal[i] * change[kFirstTangent + static_cast<Eigen::Index>(i)];
    }
    change.head<4>() = solve_normal(p, m, lambda, (speed + p.bias).head<4>(), s.inner);
    for (int i = 0; i < p.count; ++i)
      speed_change = std::max(speed_change, std::abs(change[i]) * m.A[at(i)][i]);
    apply_row_impulses(p, m, A, B, change);
    if (p.rolls)
      speed_change =
          std::max(speed_change, solve_rolling(m, record, lambda.head<4>().sum(), rolling_impulse, A, B));
  }
  return speed_change;
}

void solve_push(const SolverPatch& p, const PatchMasses& m, Lanes& push, SolverBody& A, SolverBody& B,
                const PushValues& s)
{
  const Lanes gap = p.gap_now + static_cast<RowReal>(s.slop);
  if ((gap >= RowReal(0)).all()) return;
  Lanes residual = along_rows(p, B.push_v - A.push_v, A.push_w, B.push_w).head<4>();
  residual += (gap * static_cast<RowReal>(s.rate)).max(-static_cast<RowReal>(s.speed));
  Rows change = Rows::Zero();
  for (int sweep = 0; sweep < s.inner; ++sweep) {
    for (int i = 0; i < p.count; ++i) {
      if (gap[i] >= 0) continue;
      const RowReal next = std::max(RowReal(0), push[i] - residual[i] * m.inverse_A[i]);
      const RowReal delta = next - push[i];
      push[i] = next;
      change[i] += delta;
      residual += m.A[at(i)] * delta;
    }
  }
  apply_row_impulses<&SolverBody::push_v, &SolverBody::push_w>(p, m, A, B, change);
}

}  // namespace thrum::rigid
