// SPDX-License-Identifier: MIT
// The distant response behind another engine: the host owns its bodies and finds its contacts; thrum's part is one call a step,
// contacts in, impulses out [Coevoet20, eq. 17-19]. A weight falls on a shelf, and the cups at its other end hop.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "thrum/elastic/material_library.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/supports.h"
#include "thrum/tets/structured_tets.h"
#include "thrum/vibration/modal_response.h"

namespace {

using thrum::Vec3;
// The host engine: balls that move up and down over a shelf whose upper face is at z = kTop.
constexpr double kTop = 0.01, kGravity = 9.81, kStep = 0.01, kBounce = 0.15;
struct Ball {
  double mass, x, height, speed;  // [kg], [m], above the shelf [m], upwards [m/s]
  bool was_in_contact = false;    // in the step before
  double highest = 0;             // after the blow [m]
};

// What the host knows after its own contact solve, as thrum wants it. Everything is in the axes of the modal model.
thrum::vibration::SurfaceContact contact_of(const Ball& ball, std::int32_t number, double approach,
                                            double impulse)
{
  thrum::vibration::SurfaceContact contact;
  contact.key = static_cast<std::uint64_t>(number);
  contact.body = number;
  contact.position = Vec3(ball.x, 0, kTop);
  contact.restitution = kBounce;
  contact.struck = !ball.was_in_contact;
  contact.load = contact.struck ? 0 : ball.mass * kGravity;
  if (contact.struck) {
    contact.impulse = impulse;
    contact.approach_speed = approach;
    contact.loss = ball.mass * approach * approach * (1 - kBounce * kBounce) / 2;
  }
  return contact;
}

}  // namespace

int main()
{
  // Once: a wooden shelf of 1.2 x 0.3 x 0.02 m about the origin, held at both ends.
  const auto body = thrum::tets::tetrahedralise_box({1.2, 0.3, 0.02}, {24, 6, 1});
  thrum::elastic::ModalAnalysisDesc analysis;
  analysis.materials = {thrum::elastic::MaterialLibrary::builtin().get("wood")};
  for (const char* end : {"x<-0.59", "x>0.59"})
    analysis.supports.push_back({thrum::elastic::parse_selection(end), {true, true, true}});
  const auto model =
      std::make_shared<thrum::model::ModalModel>(thrum::elastic::analyse_modes(body, analysis).model);
  thrum::vibration::ResponseSettings settings;
  settings.form = thrum::vibration::KickForm::impulse;
  thrum::vibration::ModalResponse shelf(model, settings);
  thrum::vibration::ModeState ringing = shelf.at_rest();

  std::vector<Ball> balls = {{2.0, -0.3, 0.2, 0}, {0.2, 0.1, 0, 0}, {0.2, 0.35, 0, 0}, {0.4, 0.5, 0, 0}};
  for (std::size_t i = 1; i < balls.size(); ++i) balls[i].was_in_contact = true;
  for (int step = 0; step < 60; ++step) {
    std::vector<thrum::vibration::RigidBodyData> parts(1);  // the first is the shelf, which does not move
    std::vector<thrum::vibration::SurfaceContact> contacts;
    for (std::size_t i = 0; i < balls.size(); ++i) {
      // The host's own step: gravity, then a contact that lets nothing pass.
      Ball& ball = balls[i];
      ball.speed -= kStep * kGravity;
      const bool in_contact = ball.height + kStep * ball.speed <= 0;
      const double approach = std::max(0.0, -ball.speed);
      if (in_contact) ball.speed = ball.was_in_contact ? 0 : kBounce * approach;
      // Its bodies and contacts, told to thrum.
      thrum::vibration::RigidBodyData part;
      part.inverse_mass = 1 / ball.mass;
      part.centre = Vec3(ball.x, 0, kTop + ball.height);
      part.velocity = Vec3(0, 0, ball.speed);
      part.acceleration = Vec3(0, 0, -kGravity);
      parts.push_back(part);
      const auto number = static_cast<std::int32_t>(i + 1);
      if (in_contact)
        contacts.push_back(contact_of(ball, number, approach, (1 + kBounce) * ball.mass * approach));
      ball.was_in_contact = in_contact;
    }
    const auto response = shelf.respond({parts, contacts, kStep}, ringing);
    // Impulses come back, one for each body that is kicked, or whose bounce the yielding shelf changes.
    for (const auto& push : response.body_impulses) {
      Ball& ball = balls[static_cast<std::size_t>(push.body - 1)];
      ball.speed += push.impulse.z() / ball.mass;
    }
    for (Ball& ball : balls) {
      ball.height = std::max(0.0, ball.height + kStep * ball.speed);
      if (step > 19) ball.highest = std::max(ball.highest, ball.height);
    }
  }
  for (std::size_t i = 1; i < balls.size(); ++i)
    fmt::print("cup at x = {:.2f} m hops {:.1f} mm\n", balls[i].x, 1000 * balls[i].highest);
  return balls[1].highest > 1e-4 && balls[2].highest > 1e-4 && balls[1].highest < 0.2 ? 0 : 1;
}
