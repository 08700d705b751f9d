// SPDX-License-Identifier: MIT
#include "thrum/rigid/impact_events.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "thrum/base/index.h"

namespace thrum::rigid {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Rebounds slower than this share of what gravity gives in a substep are not worth a flight.
constexpr double kMinRebound = 0.02;
/// And slower than this share of the distance at which points touch, per substep.
constexpr double kMinMove = 1e-3;
/// Points nearer than this share of the length scale touch.
constexpr double kTouching = 2e-5;
/// Impacts of a body in a substep after which the next one ends in rest.
constexpr int kMaxImpacts = 16;
/// How often the contacts that hold a body are gone through.
constexpr int kHoldRounds = 2;
/// Newton's method for the time at which two balls meet, and the share of the distance at which points touch
/// to which it goes.
constexpr int kNewtonSteps = 40;
constexpr double kMet = 1e-6;
/// Impacts in a substep.
constexpr int kMaxEvents = 1000;
/// Groups of the largest size that a substep may reflect.
constexpr double kMaxGroups = 4;
/// Rows of joints that an impact may hold.
constexpr std::size_t kMaxJointRows = 96;
/// A point that was pressed before bounces when it would leave faster than gravity makes it in so many steps.
constexpr double kPressedSteps = 2;
/// Points that fly may approach this many times as fast as they could.
constexpr double kRoom = 2;
/// Below this restitution it hardly shows whether impacts are resolved together.
constexpr double kElastic = 0.5;
/// Gaps below this share of the distance at which points touch are none.
constexpr double kClosed = 1e-3;

double min_rebound(const ImpactValues& values)
{
  return std::max(kMinRebound * values.gravity * values.h,
                  kMinMove * kTouching * values.length_scale / values.h);
}

}  // namespace

void set_balls(const model::SceneModel& model, const model::SceneState& state, ImpactPatch& patch)
{
  const auto ball = [&](std::int32_t body) -> const model::Sphere* {
    const model::BodyProperties& of = model.bodies[at(body)];
    if (!of.X_bs.position.isZero(0)) return nullptr;
    return std::get_if<model::Sphere>(&model.shapes[at(of.shape)].geometry);
  };
  const model::Sphere* a = ball(patch.a);
  const model::Sphere* b = ball(patch.b);
  if (a == nullptr || b == nullptr) return;
  patch.balls = true;
  patch.radius_a = a->radius;
  patch.radius_b = b->radius;
  patch.between = state.bodies[at(patch.b)].X_wb.position - state.bodies[at(patch.a)].X_wb.position;
}

void ImpactEvents::begin_step(const ImpactSource& source, std::size_t bodies)
{
  clear();
  const std::size_t count = source.count();
  patch_begin_.assign(bodies + 1, 0);
  for (std::size_t p = 0; p < count; ++p)
    for (const std::int32_t body : source.bodies_of(p)) ++patch_begin_[at(body) + 1];
  for (std::size_t i = 1; i < patch_begin_.size(); ++i) patch_begin_[i] += patch_begin_[i - 1];
  body_patches_.resize(2 * count);
  std::vector<std::size_t> next(patch_begin_.begin(), patch_begin_.end() - 1);
  for (std::size_t p = 0; p < count; ++p)
    for (const std::int32_t body : source.bodies_of(p)) body_patches_[next[at(body)]++] = p;
  item_.assign(count, -1);
  motion_.assign(bodies, -1);
  in_cluster_.assign(bodies, 0);
}

bool ImpactEvents::may_collide(double gap, double speed, double acceleration, const ImpactValues& values)
{
  const double fall = values.h * acceleration;
  const double touching = kTouching * values.length_scale;
  if (gap <= touching && std::abs(speed) <= min_rebound(values)) return false;
  return gap + values.h * (speed - fall) < touching;
}

std::size_t ImpactEvents::item_of(std::size_t patch)
{
  if (item_[patch] < 0) {
    item_[patch] = static_cast<std::int32_t>(items_.size());
    items_.push_back({patch, source_->patch(patch), kNever, false});
  }
  return at(item_[patch]);
}

const ImpactEvents::Motion* ImpactEvents::known_motion(std::int32_t body) const
{
  return motion_[at(body)] < 0 ? nullptr : &motions_[at(motion_[at(body)])];
}

// Contact on this side takes the part of the acceleration that presses on it.
void ImpactEvents::hold(Motion& motion, const Vec3& outward)
{
  motion.flying = false;
  const double pressing = motion.acceleration.dot(outward);
  if (pressing < 0) motion.acceleration -= pressing * outward;
}

// A body is held by contacts that touch and do not part.
void ImpactEvents::find_acceleration(Motion& motion)
{
  const std::int32_t body = motion.body;
  motion.flying = true;
  motion.acceleration = (*bodies_)[body].acceleration;
  for (int round = 0; round < kHoldRounds; ++round) {
    for (std::size_t k = patch_begin_[at(body)]; k < patch_begin_[at(body) + 1]; ++k) {
      const ImpactPatch& patch = items_[at(item_[body_patches_[k]])].patch;
      for (int i = 0; i < patch.count; ++i) {
        const PointState s = state_at(patch, patch.points[at(i)], 0);
        // What falls onto something new is not held by it yet.
        const bool falls = !patch.points[at(i)].pressed && s.speed < -min_speed_;
        if (s.gap <= touching_ && !falls && s.speed <= std::max(min_speed_, values_.gravity * values_.h))
          hold(motion, patch.b == body ? s.n : Vec3(-s.n));
      }
    }
  }
}

// Begins to follow a body and its contacts.
void ImpactEvents::touch_body(std::int32_t body)
{
  if (motion_[at(body)] >= 0 || (*bodies_)[body].inverse_mass == 0) return;
  for (std::size_t k = patch_begin_[at(body)]; k < patch_begin_[at(body) + 1]; ++k) item_of(body_patches_[k]);
  const auto place = static_cast<std::int32_t>(motions_.size());
  Motion motion;
  motion.body = body;
  find_acceleration(motion);
  motions_.push_back(motion);
  motion_[at(body)] = place;
}

Vec3 ImpactEvents::moved_at(std::int32_t body, double t)
{
  const SolverBody& b = (*bodies_)[body];
  const Motion* m = known_motion(body);
  if (m == nullptr) return t * b.v;
  return m->shift + t * b.v + (0.5 * t * t) * m->acceleration;
}

ImpactEvents::PointState ImpactEvents::state_at(const ImpactPatch& patch, const ImpactPatch::Point& point,
                                                double t)
{
  if (patch.balls) return ball_state_at(patch, t);
  const SolverBody& A = (*bodies_)[patch.a];
  const SolverBody& B = (*bodies_)[patch.b];
  const Vec3 ra_n = point.ra.cross(patch.n);
  const Vec3 rb_n = point.rb.cross(patch.n);
  PointState s;
  s.n = patch.n;
  s.gap = point.gap;
  s.speed = patch.n.dot(B.v - A.v) + rb_n.dot(B.w) - ra_n.dot(A.w);
  const auto add = [&](const Motion* m, double sign) {
    if (m == nullptr) return;
    s.gap += sign * patch.n.dot(m->shift);
    s.acceleration += sign * patch.n.dot(m->acceleration);
  };
  add(known_motion(patch.a), -1);
  add(known_motion(patch.b), 1);
  s.gap += t * s.speed + 0.5 * t * t * s.acceleration;
  s.speed += t * s.acceleration;
  return s;
}

ImpactEvents::PointState ImpactEvents::ball_state_at(const ImpactPatch& patch, double t)
{
  const SolverBody& A = (*bodies_)[patch.a];
  const SolverBody& B = (*bodies_)[patch.b];
  Vec3 d = patch.between;
  Vec3 v = B.v - A.v;
  Vec3 a = Vec3::Zero();
  const auto add = [&](const Motion* m, double sign) {
    if (m == nullptr) return;
    d += sign * m->shift;
    a += sign * m->acceleration;
  };
  add(known_motion(patch.a), -1);
  add(known_motion(patch.b), 1);
  d += t * v + (0.5 * t * t) * a;
  v += t * a;
  PointState s;
  const double distance = d.norm();
  s.n = distance > 0 ? Vec3(d / distance) : patch.n;
  s.gap = distance - patch.radius_a - patch.radius_b;
  s.speed = s.n.dot(v);
  s.acceleration = s.n.dot(a);
  return s;
}

// gap + u t + a t^2 / 2 = 0, falling.
ImpactEvents::Meeting ImpactEvents::next_meeting(const ImpactPatch& patch, const ImpactPatch::Point& point,
                                                 double now)
{
  const PointState s = state_at(patch, point, now);
  if (now == 0 && s.gap < -touching_ && s.speed < -min_speed_ && !point.pressed && flies(patch)) {
    // Contact was found late: it met before the substep began.
    const double square = s.speed * s.speed - 2 * s.acceleration * s.gap;
    const double met = std::sqrt(std::max(0.0, square));
    const double t = 2 * s.gap / (met - s.speed);
    if (square > 0 && t >= -values_.step) return {t, met};
  }
  const double gap = s.gap <= touching_ ? 0.0 : s.gap;
  if (patch.balls && gap > 0) return next_meeting_of_balls(patch, now);
  const double square = s.speed * s.speed - 2 * s.acceleration * gap;
  if (!(square >= 0)) return {kNever, 0};
  const double met = std::sqrt(square);
  if (s.speed < 0) return {gap > 0 ? now + 2 * gap / (met - s.speed) : now, met};
  if (s.acceleration < 0) return {now + (s.speed + met) / -s.acceleration, met};
  return {kNever, 0};
}

// The distance of two points that move evenly is a convex function of time: Newton's method comes from before
// the meeting and does not pass it.
ImpactEvents::Meeting ImpactEvents::next_meeting_of_balls(const ImpactPatch& patch, double now)
{
  double t = now;
  for (int step = 0; step < kNewtonSteps; ++step) {
    const PointState s = ball_state_at(patch, t);
    if (s.gap <= kMet * touching_) return {t, -s.speed};
    // The acceleration helps a ball that is still rising.
    const double end = s.speed + (values_.h - t) * std::min(0.0, s.acceleration);
    if (!(end < 0)) break;
    t += s.gap / -std::min(s.speed, end);
    if (t > values_.h) break;
  }
  return {kNever, 0};
}

bool ImpactEvents::has_collided(const ImpactPatch& patch) const
{
  for (const std::int32_t body : {patch.a, patch.b}) {
    const Motion* motion = known_motion(body);
    if (motion != nullptr && motion->impacts > 0) return true;
  }
  return false;
}

bool ImpactEvents::flies(const ImpactPatch& patch) const
{
  for (const std::int32_t body : {patch.a, patch.b}) {
    const Motion* motion = known_motion(body);
    if (motion != nullptr && !motion->flying) return false;
  }
  return true;
}

// It was pressed in the step before, and has not left since.
bool ImpactEvents::is_pressed(const ImpactPatch::Point& point) const
{
  return point.pressed && !point.collided && point.gap <= touching_;
}

bool ImpactEvents::is_slow(const ImpactPatch& patch, double speed) const
{
  if (patch.restitution * speed <= min_speed_) return true;
  for (const std::int32_t body : {patch.a, patch.b}) {
    const Motion* motion = known_motion(body);
    if (motion != nullptr && motion->impacts >= kMaxImpacts) return true;
  }
  return false;
}

double ImpactEvents::next_impact(const Item& item, double now)
{
  const ImpactPatch& patch = item.patch;
  if (item.skipped || !(patch.restitution > 0)) return kNever;
  const bool landing = has_collided(patch);
  double next = kNever;
  for (int i = 0; i < patch.count; ++i) {
    const ImpactPatch::Point& point = patch.points[at(i)];
    if (is_pressed(point) && state_at(patch, point, now).gap <= touching_) continue;
    const Meeting meeting = next_meeting(patch, point, now);
    if (!(meeting.time <= values_.h) || !(meeting.speed > min_speed_)) continue;
    if (is_slow(patch, meeting.speed) && !landing) continue;
    next = std::min(next, meeting.time);
  }
  return next;
}

bool ImpactEvents::run(const ImpactSource& source, SolverBodies& bodies, std::span<const JointRow> joints,
                       std::span<const std::size_t> candidates, const ImpactValues& values)
{
  source_ = &source;
  bodies_ = &bodies;
  joints_ = joints;
  values_ = values;
  touching_ = kTouching * values.length_scale;
  min_speed_ = min_rebound(values);
  work_ = 0;
  for (const std::size_t patch : candidates)
    for (const std::int32_t body : source.bodies_of(patch)) touch_body(body);
  for (Item& item : items_) item.next = next_impact(item, 0);
  for (int event = 0; event < kMaxEvents; ++event) {
    const auto first = std::min_element(items_.begin(), items_.end(),
                                        [](const Item& p, const Item& q) { return p.next < q.next; });
    if (first == items_.end() || !(first->next <= values.h)) break;
    const double t = first->next;
    const auto number = static_cast<std::size_t>(first - items_.begin());
    if (!gather_cluster(number, t)) {
      items_[number].skipped = true;
      if (items_[number].patch.restitution >= kElastic) ++skipped_;
      items_[number].next = kNever;
      continue;
    }
    // Slow impacts end in rest; all impacts of this moment must be slow.
    bool land = true;
    for (const auto& [i, k] : point_of_) {
      const PointState s = state_at(items_[i].patch, items_[i].patch.points[k], t);
      if (s.speed < -min_speed_ && !is_slow(items_[i].patch, -s.speed)) land = false;
    }
    collide_cluster(t, land);
    for (const std::int32_t body : cluster_) {
      for (std::size_t k = patch_begin_[at(body)]; k < patch_begin_[at(body) + 1]; ++k) {
        Item& item = items_[at(item_[body_patches_[k]])];
        item.next = next_impact(item, t);
      }
    }
  }
  collect_results();
  return !changed_.empty();
}

// The bodies that hang together with an impact by contacts that touch at time t, or by joints. False: too
// many points.
bool ImpactEvents::gather_cluster(std::size_t first, double t)
{
  cluster_.clear();
  points_.clear();
  point_of_.clear();
  joint_rows_.clear();
  std::vector<std::size_t> taken;
  const auto reach = [&](std::int32_t body) {
    if ((*bodies_)[body].inverse_mass == 0 || in_cluster_[at(body)] != 0) return;
    touch_body(body);
    in_cluster_[at(body)] = 1;
    cluster_.push_back(body);
  };
  reach(items_[first].patch.a);
  reach(items_[first].patch.b);
  const auto most = static_cast<std::size_t>(settings_.max_points);
  bool fits = true;
  for (std::size_t c = 0; fits && c < cluster_.size(); ++c) {
    const std::int32_t body = cluster_[c];
    for (std::size_t k = patch_begin_[at(body)]; fits && k < patch_begin_[at(body) + 1]; ++k) {
      const std::size_t number = at(item_[body_patches_[k]]);
      if (std::find(taken.begin(), taken.end(), number) != taken.end()) continue;
      taken.push_back(number);
      // A copy: following a body may add items.
      const ImpactPatch patch = items_[number].patch;
      bool touches = false;
      for (int i = 0; i < patch.count; ++i) {
        const PointState s = state_at(patch, patch.points[at(i)], t);
        if (!(s.gap <= touching_)) continue;
        touches = true;
        ReflectionPoint point{patch.a, patch.b, s.n, patch.points[at(i)].ra, patch.points[at(i)].rb};
        if (patch.balls) {
          point.ra = patch.radius_a * s.n;
          point.rb = -patch.radius_b * s.n;
        } else if ((*bodies_)[patch.a].inverse_mass > 0 && (*bodies_)[patch.b].inverse_mass > 0) {
          // One point for both: see move_arms in contact_rows.cpp.
          const Vec3 half_slide = 0.5 * (moved_at(patch.b, t) - moved_at(patch.a, t));
          point.ra += half_slide;
          point.rb -= half_slide;
        }
        point.restitution = patch.restitution;
        point.friction = patch.friction;
        if (is_pressed(patch.points[at(i)])) {
          const double pull = std::max(std::abs(patch.n.dot((*bodies_)[patch.a].acceleration)),
                                       std::abs(patch.n.dot((*bodies_)[patch.b].acceleration)));
          point.min_rebound = kPressedSteps * values_.step * pull;
        }
        points_.push_back(point);
        point_of_.emplace_back(number, at(i));
      }
      fits = points_.size() <= most;
      if (!touches) continue;
      reach(patch.a);
      reach(patch.b);
    }
    for (const JointRow& row : joints_) {
      if (row.a != body && row.b != body) continue;
      reach(row.a);
      reach(row.b);
    }
    // Long chains.
    fits = fits && cluster_.size() <= 2 * most;
  }
  for (const JointRow& row : joints_) {
    const bool rigid = !row.spring && !row.limit && row.softness == 0 && row.lower < 0 &&
                       std::isinf(row.lower) && std::isinf(row.upper);
    if (rigid && (in_cluster_[at(row.a)] != 0 || in_cluster_[at(row.b)] != 0))
      joint_rows_.push_back({row.a, row.b, row.linear, row.angular_a, row.angular_b});
  }
  for (const std::int32_t body : cluster_) in_cluster_[at(body)] = 0;
  const auto size = static_cast<double>(points_.size() + joint_rows_.size());
  const double budget = kMaxGroups * static_cast<double>(most) * static_cast<double>(most);
  if (!fits || joint_rows_.size() > kMaxJointRows || work_ + size * size > budget) return false;
  work_ += size * size;
  return true;
}

void ImpactEvents::collide_cluster(double t, bool land)
{
  for (const std::int32_t body : cluster_) {
    Motion& motion = motions_[at(motion_[at(body)])];
    SolverBody& b = (*bodies_)[body];
    b.v += t * motion.acceleration;
    motion.v_before = b.v;
    motion.w_before = b.w;
  }
  if (land) {
    for (ReflectionPoint& point : points_) point.restitution = 0;
  }
  reflect(points_, joint_rows_, *bodies_);
  for (std::size_t k = 0; k < points_.size(); ++k) {
    ImpactPatch& patch = items_[point_of_[k].first].patch;
    ImpactPatch::Point& point = patch.points[point_of_[k].second];
    point.impulse += points_[k].impulse;
    patch.friction_impulse += points_[k].friction_impulse;
    if (points_[k].impulse > 0) point.collided = true;
  }
  // Eq. (1), where the acceleration may have changed as well: from where the body is at time t, back along
  // the line of its new velocity and acceleration.
  for (const std::int32_t body : cluster_) {
    Motion& motion = motions_[at(motion_[at(body)])];
    const SolverBody& b = (*bodies_)[body];
    if (b.v != motion.v_before || b.w != motion.w_before) ++motion.impacts;
    motion.shift += t * motion.v_before - (0.5 * t * t) * motion.acceleration;
    motion.acceleration = b.acceleration;
    motion.flying = true;
  }
  for (int round = 0; round < kHoldRounds; ++round) {
    for (const ReflectionPoint& point : points_) {
      const SolverBody& A = (*bodies_)[point.a];
      const SolverBody& B = (*bodies_)[point.b];
      const double speed = point.n.dot(B.v + B.w.cross(point.rb) - A.v - A.w.cross(point.ra));
      if (speed > min_speed_) continue;
      if (A.inverse_mass > 0) hold(motions_[at(motion_[at(point.a)])], -point.n);
      if (B.inverse_mass > 0) hold(motions_[at(motion_[at(point.b)])], point.n);
    }
  }
  for (const std::int32_t body : cluster_) {
    Motion& motion = motions_[at(motion_[at(body)])];
    SolverBody& b = (*bodies_)[body];
    b.v -= t * motion.acceleration;
    motion.shift -= t * b.v + (0.5 * t * t) * motion.acceleration;
  }
}

void ImpactEvents::collect_results()
{
  changed_.clear();
  shifts_.clear();
  for (const Motion& motion : motions_)
    if (motion.impacts > 0) shifts_.push_back({motion.body, motion.shift});
  for (const Item& item : items_) {
    const bool collided = has_collided(item.patch);
    bool any = collided;
    ChangedPatch changed{item.index, item.patch, {}, {}};
    for (int i = 0; i < item.patch.count; ++i) {
      const ImpactPatch::Point& point = item.patch.points[at(i)];
      const PointState now = state_at(item.patch, point, 0);
      const PointState end = state_at(item.patch, point, values_.h);
      // Overlap that only the shift makes is not there.
      changed.gap[at(i)] = std::max(now.gap, std::min(point.gap, 0.0));
      changed.flies[at(i)] = point.collided && end.gap > kClosed * touching_;
      if (changed.flies[at(i)])
        changed.gap[at(i)] =
            kRoom * values_.h * (std::abs(now.speed) + std::abs(end.speed) + values_.gravity * values_.h);
      if (collided) continue;
      // Contact looks at x0 + h v with the velocity at the end. A parabola that does not reach the ground in
      // this substep is left alone.
      changed.gap[at(i)] = point.gap;
      if (!(item.patch.restitution > 0) || !(now.gap > touching_) || !(end.gap > 0)) continue;
      const double missing = 0.5 * values_.h * values_.h * std::max(0.0, -now.acceleration);
      changed.gap[at(i)] = point.gap + missing;
      any = any || missing > 0;
    }
    if (any) changed_.push_back(changed);
  }
  for (const Item& item : items_) item_[item.index] = -1;
  for (const Motion& motion : motions_) motion_[at(motion.body)] = -1;
  items_.clear();
  motions_.clear();
}

void ImpactEvents::start_from_shifts(SolverBodies& bodies) const
{
  for (const Shift& shift : shifts_) {
    bodies[shift.body].dx += shift.linear;
  }
}

void ImpactEvents::apply_shifts(SolverBodies& bodies, double h) const
{
  for (const Shift& shift : shifts_) {
    bodies[shift.body].dx -= shift.linear;
    bodies[shift.body].push_v += shift.linear / h;
  }
}

}  // namespace thrum::rigid
