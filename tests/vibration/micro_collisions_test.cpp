// SPDX-License-Identifier: MIT
#include "thrum/vibration/micro_collisions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/vibration/plate_model.h"
#include "thrum/base/random.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {
namespace {

ResponseSettings micro(double step = 2e-5)
{
  ResponseSettings settings;
  settings.rule = KickRule::micro_collisions;
  settings.micro.step = step;
  return settings;
}

TEST(MicroCollisions, OnAStiffHeavyPlateABallBouncesWithItsRestitution)
{
  const auto heavy = plate_model({.h = 3, .density = 7e5});
  for (const double e : {0.0, 0.15, 0.5, 0.8, 1.0}) {
    ContactScene scene;
    scene.strike({0.5, 0.4, 0}, 1.0, 2.0, e);
    ModalResponse response(heavy, micro(2e-5));
    ModeState state = response.at_rest();
    const ResponseResult r = response.respond(scene.input(), state);
    EXPECT_NEAR(pushed(scene.bodies, r.body_impulses)[1].velocity.z() / 2, e, 0.02) << e;
  }
}

TEST(MicroCollisions, ElasticImpactsKeepTheTotal)
{
  base::Random random(7);
  const auto plate = plate_model({.alpha = 0, .beta = 0});
  for (int i = 0; i < 20; ++i) {
    ContactScene scene;
    const auto place = [&] {
      return Vec3(random.uniform(0.1, 1.5), random.uniform(0.1, 0.8), 0);
    };
    scene.strike(place(), random.uniform(0.5, 5), random.uniform(0.5, 2), 1);
    scene.bodies[1].acceleration.setZero();
    ResponseSettings settings = micro(i % 2 == 0 ? 2e-5 : 2e-4);
    settings.window = 0.1;                   // it has left by then
    settings.micro.tail_modes = i % 4 >= 2;  // what these take leaves
    ModalResponse response(plate, settings);
    ModeState state = response.at_rest();
    const double before = kinetic(before_impact(scene));
    const ResponseResult r = response.respond(scene.input(), state);
    const double after = kinetic(pushed(scene.bodies, r.body_impulses)) + energy(response.modes(), state);
    EXPECT_LT(after, before * (1 + 1e-6));
    if (!settings.micro.tail_modes) {
      EXPECT_GT(after, before * (1 - 1e-6)) << i;
    }
  }
}

// Speeds of five balls at rest on a plate of few modes that is struck, with those that are drawn for it.
std::vector<double> kick_speeds(double height, double gap, bool tail_modes = true)
{
  ContactScene scene;
  const std::size_t struck = scene.strike({0.5, 0.4, 0}, 2.0, 2.0);
  scene.contacts[struck].position.z() += height;
  for (const double x : {0.3, 0.7, 0.9, 1.1, 1.3}) scene.contacts[scene.rest({x, 0.5, 0}, 0.3)].gap = gap;
  for (RigidBodyData& part : scene.bodies) part.modulus = 2.2e11;
  ResponseSettings settings = micro();
  settings.micro.tail_modes = tail_modes;
  ModalResponse response(plate_model({.modes = 20}), settings);
  ModeState state = response.at_rest();
  std::vector<double> speeds;
  for (const Kick& kick : response.respond(scene.input(), state).kicks) speeds.push_back(kick.speed);
  return speeds;
}

// The rigid solver finds an impact where the striking body still is, off the surface by a way that depends on
// the step. What the drawn modes do there belongs to the place on the surface.
TEST(MicroCollisions, KicksDoNotDependOnWhereTheImpactWasFound)
{
  const std::vector<double> touching = kick_speeds(0, 0);
  ASSERT_EQ(touching.size(), 5U);
  EXPECT_NE(touching, kick_speeds(0, 0, false));  // there are drawn modes
  for (const double height : {0.001, 0.01, 0.03}) EXPECT_EQ(kick_speeds(height, 0), touching) << height;
}

// What carries a load touches: the rigid solver may leave it a micrometre above the surface, which is as much
// as fast modes move.
TEST(MicroCollisions, KicksOfLoadedContactsDoNotDependOnWhatTheSolverLeaves)
{
  for (const double gap : {1e-9, 1e-6, 1e-5}) EXPECT_EQ(kick_speeds(0, gap), kick_speeds(0, 0)) << gap;
}

// Which hop is the highest can change from one substep to another where two are nearly equal; the middle of
// several places does not.
TEST(MicroCollisions, KickConvergesAsTheSubStepShrinks)
{
  const auto speed = [](double step) {
    std::vector<double> speeds;
    for (const double x : {0.3, 0.7, 0.9, 1.1, 1.3}) {
      ContactScene scene;
      scene.strike({0.5, 0.4, 0}, 2.0, 1.0);
      scene.rest({x, 0.5, 0}, 0.3);
      ModalResponse response(plate_model(), micro(step));
      ModeState state = response.at_rest();
      speeds.push_back(response.respond(scene.input(), state).kicks.at(0).speed);
    }
    std::sort(speeds.begin(), speeds.end());
    return speeds[2];
  };
  const double fine = speed(1e-6);
  EXPECT_NEAR(speed(2e-5), fine, 0.05 * fine);
}

TEST(MicroCollisions, DoesNotDependOnTheRigidStep)
{
  const auto speed = [](double h) {
    ContactScene scene;
    scene.strike({0.5, 0.4, 0}, 2.0, 1.0);
    scene.rest({1.1, 0.5, 0}, 0.3);
    scene.step = h;
    ModalResponse response(plate_model(), micro());
    ModeState state = response.at_rest();
    return response.respond(scene.input(), state).kicks.at(0).speed;
  };
  EXPECT_EQ(speed(1.0 / 30), speed(0.001));
}

// A box on four corners rocks before and after it flies. The velocity it gets takes its centre up, as
// high as it went: never down, which the next rigid solve would only stop.
TEST(MicroCollisions, ABoxOnFourCornersLeavesUpwards)
{
  base::Random random(11);
  int kicked = 0;
  for (int i = 0; i < 40; ++i) {
    ContactScene scene;
    scene.strike({random.uniform(0.2, 1.4), random.uniform(0.2, 0.7), 0}, random.uniform(1, 3), 2.4);
    const Vec3 half(random.uniform(0.03, 0.06), random.uniform(0.03, 0.06), 0.03);
    const Vec3 place(random.uniform(0.2, 1.4), random.uniform(0.2, 0.7), 0);
    const double mass = random.uniform(0.1, 0.8);
    RigidBodyData box;
    box.inverse_mass = 1 / mass;
    const Vec3 squares = half.cwiseProduct(half);
    box.inverse_inertia = (Vec3::Constant(squares.sum()) - squares).cwiseInverse().asDiagonal();
    box.inverse_inertia *= 3 / mass;
    box.centre = place + half.z() * Vec3::UnitZ();
    box.acceleration = {0, 0, -9.81};
    scene.bodies.push_back(box);
    for (const double x : {-half.x(), half.x()}) {
      for (const double y : {-half.y(), half.y()}) {
        SurfaceContact contact;
        contact.body = 2;
        contact.position = place + Vec3(x, y, 0);
        contact.restitution = 0.15;
        contact.load = 9.81 * mass / 4;
        scene.contacts.push_back(contact);
      }
    }
    ModalResponse response(plate_model(), micro());
    ModeState state = response.at_rest();
    const ResponseResult r = response.respond(scene.input(), state);
    kicked += r.kicks.empty() ? 0 : 1;
    EXPECT_GE(pushed(scene.bodies, r.body_impulses)[2].velocity.z(), 0) << "case " << i;
  }
  EXPECT_GT(kicked, 20);
}

// A surface that moves sideways as it comes up carries the body along, at most as fast as friction lets it.
TEST(MicroCollisions, FrictionCarriesTheBodyAlongInsideTheCone)
{
  auto tilted = std::make_shared<model::ModalModel>(*plate_model());
  for (Index v = 0; v < tilted->vertex_count(); ++v)
    tilted->shapes.row(3 * v) = 0.8 * tilted->shapes.row(3 * v + 2);
  const auto leaves = [&](double mu, bool friction) {
    ContactScene scene;
    scene.strike({0.5, 0.4, 0}, 2.0, 1.0);
    scene.rest({1.1, 0.5, 0}, 0.3);
    scene.contacts[1].friction = mu;
    ResponseSettings settings = micro();
    settings.micro.friction = friction;
    ModalResponse response(tilted, settings);
    ModeState state = response.at_rest();
    const double before = kinetic(before_impact(scene));
    const ResponseResult r = response.respond(scene.input(), state);
    const std::vector<RigidBodyData> after = pushed(scene.bodies, r.body_impulses);
    EXPECT_LE(kinetic(after) + energy(response.modes(), state), before * (1 + 1e-9));
    return after[2].velocity;
  };
  EXPECT_TRUE(ResponseSettings().micro.friction);
  EXPECT_EQ(leaves(0.5, false).x(), 0);
  EXPECT_EQ(leaves(0, true).x(), 0);
  double last = 0;
  for (const double mu : {0.05, 0.1, 0.3}) {
    const Vec3 v = leaves(mu, true);
    EXPECT_GT(v.z(), 0.01);
    EXPECT_GT(std::abs(v.x()), last);
    // Normal impulses give the body at least its speed, and hold its weight for the 20 ms of the window.
    EXPECT_LT(std::abs(v.x()), 1.2 * mu * (v.z() + 4 * v.z() + 9.81 * 0.02)) << mu;
    last = std::abs(v.x());
  }
}

// A ringing body that can move, but is heavy, rubs like one that cannot.
TEST(MicroCollisions, FrictionIsTheSameOnAHeavyBodyThatCanMove)
{
  auto tilted = std::make_shared<model::ModalModel>(*plate_model());
  for (Index v = 0; v < tilted->vertex_count(); ++v)
    tilted->shapes.row(3 * v) = 0.8 * tilted->shapes.row(3 * v + 2);
  const auto leaves = [&](double inverse_mass) {
    ContactScene scene;
    scene.bodies[0].inverse_mass = inverse_mass;
    scene.bodies[0].inverse_inertia = inverse_mass * Mat3::Identity();
    scene.strike({0.5, 0.4, 0}, 2.0, 1.0);
    scene.rest({1.1, 0.5, 0}, 0.3);
    scene.contacts[1].friction = 0.2;
    ModalResponse response(tilted, micro());
    ModeState state = response.at_rest();
    const ResponseResult r = response.respond(scene.input(), state);
    return pushed(scene.bodies, r.body_impulses)[2].velocity;
  };
  const Vec3 fixed = leaves(0);
  ASSERT_GT(std::abs(fixed.x()), 1e-3);
  EXPECT_LT((leaves(1e-7) - fixed).norm(), 1e-3 * fixed.norm());
}

// On a slope friction holds a body that does not leave the surface; without it the body runs down for the
// whole window.
TEST(MicroCollisions, FrictionHoldsABodyOnASlope)
{
  const auto runs = [](bool friction) {
    ContactScene scene;
    scene.strike({0.2, 0.2, 0}, 0.05, 1.0);
    scene.rest({1.1, 0.5, 0}, 1.0);
    scene.bodies[2].acceleration = {2, 0, -9.6};
    scene.bodies[2].inverse_inertia = 1e-6 * Mat3::Identity();  // it does not roll
    scene.contacts[1].load = 9.6;
    ResponseSettings settings = micro();
    settings.micro.friction = friction;
    ModalResponse response(plate_model(), settings);
    ModeState state = response.at_rest();
    const ResponseResult r = response.respond(scene.input(), state);
    return std::abs(pushed(scene.bodies, r.body_impulses)[2].velocity.x());
  };
  EXPECT_LT(runs(true), 0.2 * runs(false) + 1e-4);
}

TEST(MicroCollisions, ABodyOnFourFeetRisesWithoutTurningWhenStruckFromTheMiddle)
{
  ContactScene scene;
  scene.strike({0.8, 0.45, 0}, 2.0, 1.0);
  scene.rest({0.3, 0.35, 0}, 0.4);
  scene.bodies[2].centre = {0.4, 0.45, 0.02};
  scene.contacts[1].load = 0.981;
  for (const Vec3& at : {Vec3(0.5, 0.35, 0), Vec3(0.5, 0.55, 0), Vec3(0.3, 0.55, 0)}) {
    SurfaceContact contact = scene.contacts[1];
    contact.position = at;
    scene.contacts.push_back(contact);
  }
  ModalResponse response(plate_model({.cells = 64}), micro());
  ModeState state = response.at_rest();
  const ResponseResult r = response.respond(scene.input(), state);
  const RigidBodyData after = pushed(scene.bodies, r.body_impulses)[2];
  EXPECT_GT(after.velocity.z(), 0.01);
  // The plate is symmetric about y = 0.45; only its turn about y may differ from zero.
  EXPECT_LT(std::abs(after.angular_velocity.x()) * 0.1, 0.1 * after.velocity.z());
}

// A box on four feet is one body: what its kicks say they bring is, together, what it gains.
// Of a box that comes down on one corner the rest has no contact yet: it falls about that corner for the
// whole window, which is the rigid simulation's to do. A surface at rest has nothing to give, so that no box
// may be faster afterwards than it came; a board left with 0.48 m/s downwards after it had come with 0.09.
TEST(MicroCollisions, ABoxThatStrikesWithOneCornerGainsNothing)
{
  base::Random random(61);
  const auto plate = plate_model({.h = 0.05});
  int turned = 0;
  for (int i = 0; i < 40; ++i) {
    ContactScene scene;
    const Vec3 half(random.uniform(0.03, 0.25), random.uniform(0.03, 0.25), random.uniform(0.01, 0.05));
    const double speed = random.uniform(0.02, 1);
    scene.strike({random.uniform(0.4, 1.2), random.uniform(0.3, 0.6), 0}, random.uniform(0.3, 4), speed);
    RigidBodyData& box = scene.bodies[1];
    SurfaceContact& corner = scene.contacts[0];
    const Vec3 s = (2 * half).cwiseAbs2();
    box.inverse_inertia =
        (12 * box.inverse_mass * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y()).cwiseInverse())
            .asDiagonal();
    box.centre = corner.position - half.cwiseProduct(Vec3(1, 1, -1));
    box.velocity = {0, 0, -speed};
    const double before = kinetic(scene.bodies);
    // The rigid solver turns the corner round.
    corner.impulse = (1 + corner.restitution) * speed / inverse_effective_mass(scene.bodies, corner, corner);
    box.velocity += box.inverse_mass * corner.impulse * corner.normal;
    box.angular_velocity =
        box.inverse_inertia * arm_of_other(box, corner).cross(corner.impulse * corner.normal);
    ResponseSettings settings = micro();
    settings.window = i % 2 == 0 ? 0.02 : 0.1;
    ModalResponse response(plate, settings);
    ModeState state = response.at_rest();
    const ResponseResult r = response.respond(scene.input(), state);
    const std::vector<RigidBodyData> after = pushed(scene.bodies, r.body_impulses);
    EXPECT_LT(kinetic(after), before * (1 + 1e-6))
        << i << ": " << after[1].velocity.z() << " from " << -speed;
    turned += after[1].angular_velocity.norm() > 0.1 * speed / half.norm() ? 1 : 0;
  }
  EXPECT_GT(turned, 20);  // nor is it simply stopped
}

TEST(MicroCollisions, KicksOfOneBodyShareWhatItGains)
{
  ContactScene scene;
  scene.strike({0.5, 0.4, 0}, 2.0, 1.5);
  const std::size_t first = scene.rest({1.0, 0.5, 0}, 0.4);
  const std::int32_t box = scene.contacts[first].body;
  RigidBodyData& part = scene.bodies[static_cast<std::size_t>(box)];
  part.inverse_inertia = Mat3::Identity() / (0.4 * 0.1 * 0.1 / 6);
  for (const Vec3& foot : {Vec3(1.1, 0.5, 0), Vec3(1.0, 0.6, 0), Vec3(1.1, 0.6, 0)}) {
    SurfaceContact contact = scene.contacts[first];
    contact.position = foot;
    scene.contacts.push_back(contact);
  }
  for (SurfaceContact& contact : scene.contacts) {
    if (contact.body == box) contact.load = 0.4 * 9.81 / 4;
  }
  part.centre = {1.05, 0.55, 0.05};
  ModalResponse response(plate_model(), micro());
  ModeState state = response.at_rest();
  const ResponseResult r = response.respond(scene.input(), state);
  ASSERT_GT(r.kicks.size(), 1U);
  double sum = 0;
  for (const Kick& kick : r.kicks) sum += kick.energy;
  const double gained = kinetic({pushed(scene.bodies, r.body_impulses)[2]}) - kinetic({scene.bodies[2]});
  EXPECT_NEAR(sum, gained, 1e-9 * gained);
  EXPECT_NEAR(r.energy.given, gained, 1e-9 * gained);
}

}  // namespace
}  // namespace thrum::vibration
