// SPDX-License-Identifier: MIT
#include "thrum/vibration/ringing_body.h"

#include <gtest/gtest.h>

#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/vibration/impact_loss.h"

namespace thrum::vibration {
namespace {

constexpr double kStep = 0.01, kMass = 2, kSpeed = 3, kRestitution = 0.2;
const Vec3 kGravity(0, 0, -9.81);

// A plate that does not move, a ball that struck it in this step and one that rests. The whole scene stands
// at X.
struct Host {
  std::vector<HostBody> bodies;
  std::vector<HostContact> contacts;

  explicit Host(const Pose& X)
  {
    HostBody plate;
    plate.X_wb = X;
    bodies.push_back(plate);
    // The solver's own impulse: gravity first, then the bounce. It rises for the whole step, and weight acts
    // in it.
    const double approach = kSpeed + 9.81 * kStep;
    add(X, {0.4, 0.45, 0}, kMass, -kSpeed, kRestitution * approach, (1 + kRestitution) * kMass * approach,
        true);
    add(X, {1.2, 0.45, 0}, 0.3, 0, 0, 0.3 * 9.81 * kStep, false);
  }

  void add(const Pose& X, const Vec3& at, double mass, double before, double after, double impulse,
           bool is_new)
  {
    HostBody ball;
    ball.mass = mass;
    ball.inertia = 0.4 * mass * 0.05 * 0.05 * Mat3::Identity();
    ball.gravity = X.direction(kGravity);
    ball.velocity_before = X.direction({0, 0, before});
    ball.velocity = X.direction({0, 0, after});
    ball.position_before = X.point(at + 0.05 * Vec3::UnitZ());
    ball.X_wb = {X.point(at + Vec3(0, 0, 0.05 + kStep * after)), X.rotation};
    bodies.push_back(ball);
    HostContact contact;
    contact.body = static_cast<std::int32_t>(bodies.size()) - 1;
    contact.key = bodies.size();
    contact.position = X.point(at);
    contact.normal = X.direction(Vec3::UnitZ());
    contact.impulse = impulse;
    contact.restitution = kRestitution;
    contact.is_new = is_new;
    contacts.push_back(contact);
  }
};

BodyResponseDesc exchange()
{
  BodyResponseDesc desc;
  desc.settings.rule = KickRule::exchange;
  return desc;
}

// Kinetic energy before minus after, and what gravity did on the way.
double mechanical_loss(const HostBody& ball)
{
  return ball.mass * (ball.velocity_before.squaredNorm() - ball.velocity.squaredNorm()) / 2 +
         ball.mass * ball.gravity.dot(ball.X_wb.position - ball.position_before);
}

TEST(RingingBody, FindsWhatTheImpactLost)
{
  Host host({});
  RingingBody plate(plate_model(), exchange());
  const ResponseResult result = plate.respond(host.bodies, host.contacts, kStep);
  EXPECT_EQ(result.impacts, 1);
  EXPECT_NEAR(result.energy.lost, mechanical_loss(host.bodies[1]), 1e-9);
  EXPECT_GT(result.energy.given, 0);
  EXPECT_LE(result.energy.given + result.energy.vibration_after, result.energy.lost * (1 + 1e-9));
  ASSERT_FALSE(result.body_impulses.empty());
  EXPECT_GT(plate.vibration().q.norm(), 0);
}

// Of the solver's impulse the share of the impact is the one without which the ball has the energy with which
// it came: m |v1 - s j / m|^2 / 2 = m v1^2 / 2 + L.
TEST(ImpactLoss, TakesTheShareOfTheImpulseThatTheImpactHas)
{
  Host host({});
  std::vector<RigidBodyData> parts;
  for (const HostBody& body : host.bodies) parts.push_back(in_model_axes({}, body));
  SurfaceContact contact = in_model_axes({}, host.contacts[0], kStep);
  contact.struck = true;
  contact.approach_speed = approach_speed(host.bodies, host.contacts[0]);
  EXPECT_NEAR(contact.approach_speed, kSpeed, 1e-12);
  compute_impact_losses(parts, kStep, {&contact, 1});
  const double after = host.bodies[1].velocity.z();
  EXPECT_NEAR(contact.loss, mechanical_loss(host.bodies[1]), 1e-9);
  const double without = after - contact.impulse / kMass;
  EXPECT_NEAR(kMass * without * without / 2, kMass * after * after / 2 + contact.loss, 1e-9);
}

// No world has a preferred place or direction: the impulses turn with the scene.
TEST(RingingBody, TurnsWithTheScene)
{
  const Pose X{{3, -2, 7}, Quat(0.3, 0.5, -0.4, 0.7).normalized()};
  Host host({});
  Host turned(X);
  RingingBody plate(plate_model(), exchange());
  RingingBody other(plate_model(), exchange());
  const auto expected = plate.respond(host.bodies, host.contacts, kStep).body_impulses;
  const auto found = other.respond(turned.bodies, turned.contacts, kStep).body_impulses;
  ASSERT_EQ(expected.size(), found.size());
  ASSERT_GE(expected.size(), 2u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(expected[i].body, found[i].body);
    EXPECT_LT((X.direction(expected[i].impulse) - found[i].impulse).norm(), 1e-9);
    EXPECT_LT((X.direction(expected[i].angular_impulse) - found[i].angular_impulse).norm(), 1e-9);
  }
}

// The model may have axes of its own in the host's body.
TEST(RingingBody, KnowsWhereItsModelIsInTheBody)
{
  const Pose X_bm{{0.1, 0.2, -0.3}, Quat(0.9, 0.1, 0.2, -0.3).normalized()};
  Host host({});
  Host shifted(X_bm);  // balls and contacts on the model, the body itself at the origin
  shifted.bodies[0].X_wb = {};
  RingingBody plate(plate_model(), exchange());
  RingingBody other(plate_model(), exchange(), X_bm);
  const double expected = plate.respond(host.bodies, host.contacts, kStep).energy.given;
  EXPECT_NEAR(other.respond(shifted.bodies, shifted.contacts, kStep).energy.given, expected, 1e-9);
}

TEST(RingingBody, ContactsThatRestDoNotStrike)
{
  Host host({});
  for (HostContact& contact : host.contacts) contact.is_new = false;
  RingingBody plate(plate_model(), exchange());
  EXPECT_EQ(plate.respond(host.bodies, host.contacts, kStep).impacts, 0);
}

// One call does what a host otherwise writes itself: fills in what was before, finds new contacts, applies.
TEST(RingingBody, RespondsAndAppliesAsAHostWould)
{
  const Pose X{{1, 2, 3}, Quat(Eigen::AngleAxisd(0.4, Vec3(1, 1, 0).normalized()))};
  const Host host(X);
  RingingBody plate(plate_model(), exchange());
  RingingBody other(plate_model(), exchange());
  const ResponseResult expected = other.respond(host.bodies, host.contacts, kStep);
  ASSERT_FALSE(expected.body_impulses.empty());
  // The resting ball was there in the step before, the other was not.
  std::vector<HostBody> before = host.bodies;
  for (HostBody& body : before) {
    body.X_wb.position = body.position_before;
    body.velocity = body.velocity_before;
    body.angular_velocity = body.angular_velocity_before;
  }
  before[0] = host.bodies[0];
  std::vector<HostBody> resting = before;
  static_cast<void>(plate.respond_and_apply(before, resting, std::span(host.contacts).subspan(1), kStep));
  std::vector<HostBody> bodies = host.bodies;
  for (HostBody& body : bodies) body.position_before = body.velocity_before = Vec3(7, 7, 7);
  bodies[0] = host.bodies[0];
  std::vector<HostContact> contacts = host.contacts;
  for (HostContact& contact : contacts) contact.is_new = !contact.is_new;
  const ResponseResult result = plate.respond_and_apply(before, bodies, contacts, kStep);
  ASSERT_EQ(result.body_impulses.size(), expected.body_impulses.size());
  for (std::size_t i = 0; i < result.body_impulses.size(); ++i) {
    const BodyImpulse& push = result.body_impulses[i];
    EXPECT_EQ(push.body, expected.body_impulses[i].body);
    EXPECT_LT((push.impulse - expected.body_impulses[i].impulse).norm(), 1e-9);
    if (push.body == 0) continue;
    // Momentum and angular momentum of the body change by what was given to it.
    const HostBody& was = host.bodies[static_cast<std::size_t>(push.body)];
    const HostBody& is = bodies[static_cast<std::size_t>(push.body)];
    const Mat3 R = is.X_wb.rotation.toRotationMatrix();
    EXPECT_LT((is.mass * (is.velocity - was.velocity) - push.impulse).norm(), 1e-12);
    EXPECT_LT(
        (R * is.inertia * R.transpose() * (is.angular_velocity - was.angular_velocity) - push.angular_impulse)
            .norm(),
        1e-12);
  }
  EXPECT_THROW(
      static_cast<void>(plate.respond_and_apply(std::span(before).first(1), bodies, contacts, kStep)), Error);
}

TEST(RingingBody, RejectsAHostStepThatMakesNoSense)
{
  Host host({});
  RingingBody plate(plate_model());
  EXPECT_THROW((void)plate.respond(host.bodies, host.contacts, 0), Error);
  EXPECT_THROW((void)plate.respond({}, {}, kStep), Error);
  host.contacts[0].body = 0;
  EXPECT_THROW((void)plate.respond(host.bodies, host.contacts, kStep), Error);
  host.contacts[0].body = 3;
  EXPECT_THROW((void)plate.respond(host.bodies, host.contacts, kStep), Error);
}

}  // namespace
}  // namespace thrum::vibration
