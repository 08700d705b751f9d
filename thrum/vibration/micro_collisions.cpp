// SPDX-License-Identifier: MIT
// Unknowns: amplitudes q, q' of the struck body; velocity V and small motion X of every touching rigid body (and of the struck
// one when it can move). A touch i, with J_i V its speed along the normal and f_i its row, has the gap
//
//     g_i = g_i(0) + J_i X - f_i q,        speed u_i = J_i V - f_i q'.
//
// One sub-step dt: the modes swing freely and exactly, gravity acts on the bodies, then impulses lambda act at closed contacts,
// each a spring k (which keeps a body as long as Hertz' contact would) with a dashpot c, one-sided:
//
//     lambda = max(0, -k dt (g(0) + g(1)) / 2 - c dt (u(0) + u(1)) / 2),   u(1) = u(0) + A lambda,   g(1) = g + dt A lambda / 2,
//
// g being the gap after the free motion and A = J M^-1 J^T + F F^T. With kappa = k dt^2 / 4 + c dt / 2 this is the
// complementarity problem
//
//     0 <= lambda  perpendicular to  (A + 1/kappa) lambda + (k dt^2 (g(0) + g)/(2 dt) + c dt u(0)) / kappa >= 0,
//
// solved by sweeps over the contacts that are closed. This is the midpoint rule: the spring gives back what it took while the
// contact stays closed, and the dashpot, with the damping ratio with which a mass on k bounces with the restitution of the pair,
// only takes. The implicit rule (everything at the end of the sub-step) needs a sub-step ten times shorter for the same error.
//
// The steady forces between the bodies before the impact have bent the struck body already; q is measured from there, so the
// modes feel lambda less the steady load.
//
// With tangential kicks a touching body rubs as well: after the normal impulse lambda of a contact follows the impulse against its slip u_t
// = (J V - H U q')_t along t = u_t / |u_t|,
//
//     j = min(|u_t| / (t . S t), mu lambda),       S = the answer of bodies and modes to an impulse in any direction,
//
// which changes the energy by -j |u_t| + j^2 t.S t / 2 <= 0. Striking bodies have had their friction from the rigid solver.
//
// What is handed over: a body that left the surface keeps the energy it left with, as a velocity. Hops that end inside the
// window count by their highest.
#include "thrum/vibration/micro_collisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "thrum/elastic/mode_swing.h"
#include "thrum/vibration/pulse.h"

namespace thrum::vibration {

namespace {

using Vec6 = Eigen::Matrix<double, 6, 1>;

constexpr double kSilent = 1e-4;   ///< share of the energy at which the ringing is over
constexpr int kSilenceCheck = 16;  ///< sub-steps between two looks at that
/// Change of the impulses at which sweeping ends, as a share of the greatest.
constexpr float kSettled = 1e-4F;
constexpr double kHigher = 1e-9;  ///< relative; a body in free flight does not leave again and again

// Restitution of a mass on a one-sided spring and dashpot of damping ratio z, which let go when the force would pull: with
// s = sqrt(|1 - z^2|) and the time t at which the force vanishes, e = exp(-z t) in units of the spring [Schwager and Poeschel 2007]:
//
//     t = (pi - atan2(2 z s, 1 - 2 z^2)) / s    for z < 1,       t = ln((z + s) / (z - s)) / s    for z > 1.
double restitution_of(double z)
{
  constexpr double kCritical = 1e-4;  // near z = 1 both tend to t = 2
  const double s = std::sqrt(std::abs(1 - z * z));
  if (s < kCritical) return std::exp(-2.0);
  const double t =
      z < 1 ? (std::numbers::pi - std::atan2(2 * z * s, 1 - 2 * z * z)) / s : std::log((z + s) / (z - s)) / s;
  return std::exp(-z * t);
}

// Its inverse, from a table made by halving.
double damping_ratio(double restitution)
{
  constexpr std::size_t kEntries = 257;
  static const std::array<double, kEntries> table = [] {
    constexpr int kHalvings = 50;
    constexpr double kGreatest = 10;  // bounces with 0.0025
    std::array<double, kEntries> ratios{};
    for (std::size_t i = 0; i + 1 < kEntries; ++i) {
      const double e = static_cast<double>(i) / (kEntries - 1);
      double low = 0;
      double high = kGreatest;
      for (int k = 0; k < kHalvings; ++k)
        (restitution_of((low + high) / 2) > e ? low : high) = (low + high) / 2;
      ratios[i] = (low + high) / 2;
    }
    return ratios;
  }();
  const double at = std::clamp(restitution, 0.0, 1.0) * (kEntries - 1);
  const auto i = std::min(static_cast<std::size_t>(at), kEntries - 2);
  const double share = at - static_cast<double>(i);
  return (1 - share) * table[i] + share * table[i + 1];
}

struct Mover {
  Vec6 V = Vec6::Zero();    // velocity and angular velocity
  Vec6 X = Vec6::Zero();    // how far it has moved and turned
  double inverse_mass = 0;  // [1/kg]
  Mat3 inverse_inertia = Mat3::Zero();
  Mat3 inertia = Mat3::Zero();
  double mass = 0;
  Vec6 acceleration = Vec6::Zero();  // of the turning too, none
  bool strikes = false;
  bool pushed = false;   // in this sub-step
  bool touched = false;  // ever
  double best = 0;       // greatest energy with which it left
  Vec6 leaving = Vec6::Zero();
  double start = 0;  // kinetic energy

  [[nodiscard]] double kinetic(const Vec6& W) const
  {
    const Vec3 w = W.tail<3>();
    return 0.5 * (mass * W.head<3>().squaredNorm() + w.dot(inertia * w));
  }
  [[nodiscard]] double energy() const { return kinetic(V) - mass * acceleration.head<3>().dot(X.head<3>()); }
};

class MicroRun {
 public:
  MicroRun(const Ringing& r, ModeState& state) : r_(r), state_(state) { prepare(); }

  ResponseResult run()
  {
    const double before = energy(r_.modes, state_) + body_energy();
    const auto steps = static_cast<int>(std::ceil(r_.settings.window / dt_));
    double loudest = 0;
    int step = 0;
    for (; step < steps; ++step) {
      sub_step();
      if (step % kSilenceCheck != kSilenceCheck - 1) continue;
      const double rings = energy(r_.modes, state_);
      loudest = std::max(loudest, rings);
      const bool striking =
          std::any_of(movers_.begin(), movers_.end(), [](const Mover& m) { return m.strikes && m.pushed; });
      if (!striking && rings < kSilent * loudest) break;
    }
    elapsed_ = (step < steps ? step + 1 : steps) * dt_;
    return hand_over(before);
  }

 private:
  void prepare()
  {
    dt_ = r_.settings.micro.step;
    const auto& input = r_.input;
    movers_.resize(input.bodies.size());
    for (std::size_t b = 0; b < movers_.size(); ++b) {
      const RigidPart& part = input.bodies[b];
      Mover& m = movers_[b];
      m.V << part.velocity, part.angular_velocity;
      m.inverse_inertia = part.inverse_inertia;
      m.inverse_mass = part.inverse_mass;
      m.mass = part.inverse_mass > 0 ? 1 / part.inverse_mass : 0;
      if (!part.inverse_inertia.isZero(0)) m.inertia = part.inverse_inertia.inverse();
      if (part.inverse_mass > 0) m.acceleration.head<3>() = part.acceleration;
    }
    for (const std::size_t i : r_.struck) members_.push_back(i);
    for (const std::size_t i : r_.resting) members_.push_back(i);
    n_ = static_cast<Eigen::Index>(members_.size());
    F_.resize(n_, r_.rows.cols());
    J_.resize(members_.size());
    for (Eigen::Index k = 0; k < n_; ++k) {
      const std::size_t i = members_[static_cast<std::size_t>(k)];
      F_.row(k) = r_.rows.row(static_cast<Eigen::Index>(i));
      const Touch& touch = r_.touch(i);
      for (const std::size_t b : {std::size_t{0}, static_cast<std::size_t>(touch.body)}) {
        Vec6 row;
        row << touch.normal, (touch.position - input.bodies[b].centre).cross(touch.normal);
        (b == 0 ? J_[static_cast<std::size_t>(k)].own : J_[static_cast<std::size_t>(k)].other) = row;
      }
      ContactJacobian& J = J_[static_cast<std::size_t>(k)];
      J.body = static_cast<std::size_t>(touch.body);
      J.pushes_own = direction_of(movers_[0], J.own);
      J.pushes_other = direction_of(movers_[J.body], J.other);
    }
    // Striking bodies go back to before the impact.
    for (const std::size_t i : r_.struck) {
      movers_[static_cast<std::size_t>(r_.touch(i).body)].strikes = true;
      push(i, -r_.touch(i).impulse);
    }
    for (Mover& m : movers_) m.start = m.kinetic(m.V);
    F_columns_ = F_.transpose();
    constexpr Eigen::Index kLanes =
        4;  // of a vector register: columns that begin on one are read without peeling
    const Eigen::Index padded = (n_ + kLanes - 1) / kLanes * kLanes;
    F_single_.setZero(padded, F_.cols());
    F_single_.topRows(n_) = F_.cast<float>();
    MatX A(n_, n_);
    A.noalias() = F_ * F_columns_;
    for (Eigen::Index k = 0; k < n_; ++k) {
      for (Eigen::Index l = 0; l <= k; ++l) {
        A(k, l) += rigid_answer(input.bodies, member(k), member(l));
        A(l, k) = A(k, l);
      }
    }
    A_.setZero(padded, n_);
    A_.topRows(n_) = A.cast<float>();
    pushed_.setZero(padded);
    prepare_contacts();
    prepare_modes();
    if (r_.settings.tangential) prepare_friction();
  }

  void prepare_friction()
  {
    answers_.assign(members_.size(), Mat3::Zero());
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const Touch& touch = r_.touch(members_[k]);
      Mat3& S = answers_[k];
      S = *r_.shapes[members_[k]] * r_.shapes[members_[k]]->transpose();
      for (const std::size_t b : {std::size_t{0}, static_cast<std::size_t>(touch.body)}) {
        if (movers_[b].mass == 0) continue;
        const Mat3 arm = base::skew(touch.position - r_.input.bodies[b].centre);
        S += movers_[b].inverse_mass * Mat3::Identity() - arm * movers_[b].inverse_inertia * arm;
      }
    }
  }

  void prepare_contacts()
  {
    for (VecX* v : {&gap_, &gap_base_, &load_}) v->setZero(n_);
    for (Eigen::VectorXf* v : {&spring_, &dash_, &inverse_kappa_, &inverse_diagonal_, &lambda_, &wish_})
      v->setZero(n_);
    for (Eigen::Index k = 0; k < n_; ++k) {
      const std::size_t i = members_[static_cast<std::size_t>(k)];
      const Touch& touch = member(k);
      const double answer = r_.answer[static_cast<Eigen::Index>(i)];
      if (!(answer > 0)) continue;
      const double speed = touch.struck ? std::max(touch.approach_speed, kRattleSpeed) : kRattleSpeed;
      // Without a modulus the contact is as hard as the sub-step can show.
      const double duration = std::max(r_.pulse_duration(i, speed), 2 * dt_);
      const double k_n = equal_time_stiffness(1 / answer, duration);
      const double c = 2 * damping_ratio(touch.restitution) * std::sqrt(k_n / answer);
      const double inverse_kappa = 1 / (k_n * dt_ * dt_ / 4 + c * dt_ / 2);
      spring_[k] = static_cast<float>(inverse_kappa * k_n * dt_);
      dash_[k] = static_cast<float>(inverse_kappa * c * dt_);
      inverse_kappa_[k] = static_cast<float>(inverse_kappa);
      inverse_diagonal_[k] = static_cast<float>(1 / (static_cast<double>(A_(k, k)) + inverse_kappa));
      load_[k] = touch.struck ? 0 : touch.load;
      gap_base_[k] = std::max(0.0, touch.gap) - load_[k] / k_n;
    }
    gap_ = gap_base_ - F_ * state_.q;
    hold_ = F_columns_ * (load_ * dt_);
    closed_.reserve(members_.size());
  }

  void prepare_modes()
  {
    const Eigen::Index m = state_.q.size();
    for (VecX* v : {&qq_, &qv_, &vq_, &vv_}) v->resize(m);
    for (Eigen::Index i = 0; i < m; ++i) {
      const double w = r_.modes.omegas[i];
      const double d = r_.modes.decays[i];
      const elastic::Swing s = elastic::swing(w, d, dt_);
      qq_[i] = s.cosine + d * s.sine;
      qv_[i] = s.sine;
      vq_[i] = -w * w * s.sine;
      vv_[i] = s.cosine - d * s.sine;
    }
    q_next_.resize(m);
    blow_.resize(m);
  }

  void sub_step()
  {
    // Free motion.
    q_next_ = qq_.cwiseProduct(state_.q) + qv_.cwiseProduct(state_.v);
    state_.v = vq_.cwiseProduct(state_.q) + vv_.cwiseProduct(state_.v) + hold_;
    state_.q.swap(q_next_);
    for (Mover& m : movers_) {
      m.V += dt_ * m.acceleration;
      m.X += dt_ * m.V;
      m.pushed = false;
    }
    // Gaps that this leaves.
    single_ = state_.q.cast<float>();
    moved_.noalias() = F_single_ * single_;
    free_gap_ = gap_base_ - moved_.head(n_).cast<double>();
    closed_.clear();
    for (Eigen::Index k = 0; k < n_; ++k) {
      free_gap_[k] += along(k, &Mover::X);
      if (gap_[k] + free_gap_[k] < 0 && inverse_diagonal_[k] > 0) {
        closed_.push_back(k);
      } else {
        lambda_[k] = 0;
      }
    }
    gap_.swap(free_gap_);
    if (!closed_.empty()) {
      solve();
      apply();
    }
    note_flights();
  }

  // free_gap_ holds the gaps at the start of the sub-step now, gap_ those after the free motion. Sweeps begin at the impulses of the
  // sub-step before, which a contact that stays closed hardly changes. They end at kSettled, so single precision is enough for them;
  // what bodies and modes then receive is added up in double.
  void solve()
  {
    single_ = state_.v.cast<float>();
    moved_.noalias() = F_single_ * single_;
    pushed_.setZero();
    for (const Eigen::Index k : closed_) {
      const auto u = static_cast<float>(along(k, &Mover::V)) - moved_[k];
      const auto g = static_cast<float>((free_gap_[k] + gap_[k]) / 2);
      wish_[k] = spring_[k] * g + dash_[k] * u;
      if (lambda_[k] > 0) pushed_ += lambda_[k] * A_.col(k);
    }
    for (int sweep = 0; sweep < r_.settings.micro.sweeps; ++sweep) {
      float most = 0;
      float moved = 0;
      for (const Eigen::Index k : closed_) {
        const float next =
            std::max(0.0F, lambda_[k] - (wish_[k] + pushed_[k] + inverse_kappa_[k] * lambda_[k]) *
                                            inverse_diagonal_[k]);
        const float change = next - lambda_[k];
        most = std::max(most, next);
        if (change == 0) continue;
        lambda_[k] = next;
        moved = std::max(moved, std::abs(change));
        pushed_ += change * A_.col(k);
      }
      if (moved <= kSettled * most) break;
    }
  }

  void apply()
  {
    blow_.setZero();
    for (const Eigen::Index k : closed_) {
      const auto lambda = static_cast<double>(lambda_[k]);
      if (lambda == 0) continue;
      const ContactJacobian& J = J_[static_cast<std::size_t>(k)];
      give(movers_[J.body], J.pushes_other, lambda);
      give(movers_[0], J.pushes_own, -lambda);
      blow_ += lambda * F_columns_.col(k);
    }
    gap_ += (dt_ / 2) * pushed_.head(n_).cast<double>();
    state_.v -= blow_;
    state_.q -= (dt_ / 2) * blow_;
    if (answers_.empty()) return;
    for (const Eigen::Index k : closed_) {
      if (lambda_[k] > 0 && !member(k).struck && member(k).friction > 0) rub(k);
    }
  }

  // Friction of one contact, one after the other.
  void rub(Eigen::Index k)
  {
    const Touch& touch = member(k);
    const auto& shapes = *r_.shapes[members_[static_cast<std::size_t>(k)]];
    const auto b = static_cast<std::size_t>(touch.body);
    const auto at = [&](std::size_t body) -> Vec3 {
      const Vec6& V = movers_[body].V;
      return V.head<3>() + Vec3(V.tail<3>()).cross(touch.position - r_.input.bodies[body].centre);
    };
    const Vec3 u = at(b) - at(0) - shapes * state_.v;
    Vec3 t = u - touch.normal * touch.normal.dot(u);
    const double slip = t.norm();
    if (!(slip > 0)) return;
    t /= slip;
    const double sticking = slip / t.dot(answers_[static_cast<std::size_t>(k)] * t);
    const Vec3 impulse = -std::min(sticking, touch.friction * static_cast<double>(lambda_[k])) * t;
    for (const auto& [body, sign] : {std::pair(b, 1.0), std::pair(std::size_t{0}, -1.0)}) {
      Vec6 row;
      row << sign * impulse, (touch.position - r_.input.bodies[body].centre).cross(sign * impulse);
      give(movers_[body], direction_of(movers_[body], row), 1);
    }
    blow_.noalias() = shapes.transpose() * impulse;
    state_.v -= blow_;
    state_.q -= (dt_ / 2) * blow_;
  }

  // `direction` is M^-1 J^T of a contact.
  void give(Mover& m, const Vec6& direction, double lambda) const
  {
    if (m.mass == 0) return;
    m.V += lambda * direction;
    m.X += (dt_ / 2 * lambda) * direction;
    m.pushed = true;
    m.touched = true;
  }

  static Vec6 direction_of(const Mover& m, const Vec6& J)
  {
    Vec6 direction;
    direction << m.inverse_mass * J.head<3>(), m.inverse_inertia * J.tail<3>();
    return direction;
  }

  void push(std::size_t i, double impulse)
  {
    const Touch& touch = r_.touch(i);
    for (const auto& [b, sign] :
         {std::pair(static_cast<std::size_t>(touch.body), 1.0), std::pair(std::size_t{0}, -1.0)}) {
      Mover& m = movers_[b];
      const Vec3 j = sign * impulse * touch.normal;
      m.V.head<3>() += m.inverse_mass * j;
      m.V.tail<3>() += m.inverse_inertia * (touch.position - r_.input.bodies[b].centre).cross(j);
    }
  }

  void note_flights()
  {
    for (Mover& m : movers_) {
      // In free flight the energy stays; only its beginning counts.
      if (m.pushed || !m.touched) continue;
      m.touched = false;
      const double now = m.energy();
      // A striking body counts from its last flight, the others from their highest.
      if (m.strikes || now > m.best * (1 + kHigher) + kHigher * m.start) {
        m.best = now;
        m.leaving = m.V;
      }
    }
  }

  ResponseResult hand_over(double before);

  struct ContactJacobian {
    Vec6 own;
    Vec6 other;
    Vec6 pushes_own;  // M^-1 J^T
    Vec6 pushes_other;
    std::size_t body = 0;  // the other
  };
  [[nodiscard]] const Touch& member(Eigen::Index k) const
  {
    return r_.touch(members_[static_cast<std::size_t>(k)]);
  }
  [[nodiscard]] double along(Eigen::Index k, Vec6 Mover::*what) const
  {
    const ContactJacobian& J = J_[static_cast<std::size_t>(k)];
    double sum = J.other.dot(movers_[J.body].*what);
    if (movers_[0].mass > 0) sum -= J.own.dot(movers_[0].*what);
    return sum;
  }
  [[nodiscard]] double body_energy() const
  {
    double sum = 0;
    for (const Mover& m : movers_) sum += m.kinetic(m.V);
    return sum;
  }

  const Ringing& r_;
  ModeState& state_;
  double dt_ = 0;
  double elapsed_ = 0;
  std::vector<Mover> movers_;
  std::vector<std::size_t> members_;  // touches that take part
  std::vector<ContactJacobian> J_;
  Eigen::Index n_ = 0;
  MatX F_, F_columns_;
  // The products that every sub-step takes, in single precision: gaps come out to 1e-7 of the displacement.
  Eigen::MatrixXf F_single_, A_;
  Eigen::VectorXf single_, moved_;
  Eigen::VectorXf spring_, dash_, inverse_kappa_, inverse_diagonal_;  // the first two over kappa
  Eigen::VectorXf lambda_, wish_, pushed_;                            // pushed_ = A lambda
  VecX gap_, free_gap_, gap_base_, load_;
  VecX hold_, q_next_, blow_;
  VecX qq_, qv_, vq_, vv_;
  std::vector<Eigen::Index> closed_;
  std::vector<Mat3> answers_;  // with friction: of each contact, to an impulse in any direction [1/kg]
};

// A body that left with kinetic and potential energy E gets a velocity of the same direction with that energy at the surface.
ResponseResult MicroRun::hand_over(double before)
{
  ResponseResult result;
  result.impacts = static_cast<int>(r_.struck.size());
  for (const std::size_t i : r_.struck) result.energy.lost += r_.touch(i).loss;
  std::vector<Vec6> after(movers_.size());
  double handed = 0;
  for (std::size_t b = 0; b < movers_.size(); ++b) {
    const Mover& m = movers_[b];
    const RigidPart& part = r_.input.bodies[b];
    after[b] << part.velocity, part.angular_velocity;
    if (m.mass == 0) continue;
    const bool left = m.strikes ? m.best > 0 && !m.touched : m.best > m.start;
    if (b == 0 || (m.strikes && !left)) {
      after[b] = m.V;
    } else if (left) {
      const double kinetic = m.kinetic(m.leaving);
      if (kinetic > 0) after[b] = m.leaving * std::sqrt(std::max(m.best, 0.0) / kinetic);
    }
    handed += m.kinetic(after[b]);
  }
  // The ringing pays when the hops that were handed over had given something back.
  double rings = energy(r_.modes, state_);
  const double left = std::max(0.0, before - handed);
  if (rings > left) {
    const double scale = std::sqrt(left / rings);
    state_.q *= scale;
    state_.v *= scale;
  }
  for (std::size_t b = 0; b < movers_.size(); ++b) {
    const Mover& m = movers_[b];
    if (m.mass == 0) continue;
    const RigidPart& part = r_.input.bodies[b];
    Vec6 now;
    now << part.velocity, part.angular_velocity;
    const Vec6 change = after[b] - now;
    if (change.isZero(0)) continue;
    result.pushes.push_back(
        {static_cast<std::int32_t>(b), m.mass * change.head<3>(), m.inertia * change.tail<3>()});
    if (!m.strikes && b > 0) result.energy.given += m.kinetic(after[b]) - m.kinetic(now);
    if (m.strikes) result.energy.received += m.start - m.kinetic(after[b]);
  }
  for (const std::size_t i : r_.resting) {
    const Touch& touch = r_.touch(i);
    const auto b = static_cast<std::size_t>(touch.body);
    const Vec3 at =
        after[b].head<3>() + Vec3(after[b].tail<3>()).cross(touch.position - r_.input.bodies[b].centre);
    const double speed = touch.normal.dot(at);
    const double gained = speed - rigid_speed(r_.input, touch);
    if (gained < r_.settings.least_kick) continue;
    Kick kick;
    kick.touch = i;
    kick.speed = speed;
    kick.impulse = gained / r_.answer[static_cast<Eigen::Index>(i)];
    kick.energy = movers_[b].kinetic(after[b]);
    result.kicks.push_back(kick);
  }
  advance(r_.modes, std::max(0.0, r_.input.step - elapsed_), state_);
  result.energy.rings = energy(r_.modes, state_);
  return result;
}

}  // namespace

ResponseResult collide_in_small(const Ringing& ringing, ModeState& state)
{
  const double rang = energy(ringing.modes, state);
  ResponseResult result = MicroRun(ringing, state).run();
  result.energy.rang = rang;
  return result;
}

double micro_cost(const Ringing& r)
{
  const auto touches = static_cast<double>(r.struck.size() + r.resting.size());
  const auto modes = static_cast<double>(r.modes.size());
  const double steps = r.settings.window / r.settings.micro.step;
  return touches * touches * modes + steps * (touches * (modes + 12) + 4 * modes);
}

}  // namespace thrum::vibration
