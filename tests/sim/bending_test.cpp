// SPDX-License-Identifier: MIT
// Bodies that bend by far more than the margin of contacts, in a world: a flat bar held at one end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/flexible/beam_model.h"
#include "tests/sim/world_fixture.h"
#include "thrum/flexible/elastic_body.h"

namespace thrum::sim {
namespace {

using namespace testing;
using flexible::BeamSize;

/// A bar along x, its held end at the origin, in a world without gravity.
class BarWorld {
 public:
  explicit BarWorld(const BeamSize& size, flexible::FlexibleSettings settings = {})
      : size_(size), model_(flexible::beam_model(size)), world_(make_world(settings))
  {
    BodyDesc desc;
    desc.shape = world_.add_shape({model::Box{0.5 * size.size}});
    desc.motion = model::Motion::kinematic;
    desc.X_ws.position = {0.5 * size.size.x(), 0, 0};
    bar_ = world_.add_body(desc);
    world_.set_elastic(bar_, {size.young / (1 - 0.09), model_});
  }

  void add_fixed_box(const Vec3& min, const Vec3& max)
  {
    BodyDesc desc;
    desc.shape = world_.add_shape({model::Box{0.5 * (max - min)}});
    desc.motion = model::Motion::fixed;
    desc.X_ws.position = 0.5 * (min + max);
    world_.set_elastic(world_.add_body(desc), {.modulus = 2e11});
  }

  /// Bends the part beyond `held` as a shorter bar that is held there, so that its end is at z.
  void bend(double z, double held = 0)
  {
    constexpr int kPoints = 2000;
    const double length = size_.size.x();
    std::vector<double> q(at(size_.modes), 0);
    for (int i = 0; i < kPoints; ++i) {
      const double x = length * (i + 0.5) / kPoints;
      if (x < held) continue;
      const double w = z * flexible::cantilever_shape(0, x - held, length - held)[0] / 2;
      for (int m = 0; m < size_.modes; ++m)
        q[at(m)] += w * flexible::cantilever_shape(m, x, length)[0] * std::sqrt(model_->mass) / kPoints;
    }
    model::SceneState state = world_.save();
    state.modal_states = {{bar_, q, std::vector<double>(q.size(), 0)}};
    world_.restore(state);
  }

  /// Height of the middle of its free end [m].
  [[nodiscard]] double end() const
  {
    double sum = 0;
    for (const model::ModalState& ring : world_.state().modal_states) {
      for (int m = 0; m < size_.modes; ++m) sum += end_shape(m) * ring.q[at(m)];
    }
    return sum;
  }

  [[nodiscard]] World& world() { return world_; }

 private:
  static World make_world(const flexible::FlexibleSettings& settings)
  {
    WorldDesc desc;
    desc.stepper = StepperKind::flexible;
    desc.flexible = settings;
    desc.gravity.setZero();
    return World(desc);
  }
  [[nodiscard]] double end_shape(int m) const
  {
    return flexible::cantilever_shape(m, size_.size.x(), size_.size.x())[0] / std::sqrt(model_->mass);
  }

  BeamSize size_;
  std::shared_ptr<const model::ModalModel> model_;
  World world_;
  model::BodyId bar_;
};

/// How low the end comes that swings down from `from` onto a block whose top is at `block`.
double lowest_end(double from, double block, double h, const flexible::FlexibleSettings& settings)
{
  BarWorld bar({.decay = 1}, settings);
  bar.add_fixed_box({0.25, -0.05, block - 0.02}, {0.35, 0.05, block});
  bar.bend(from);
  double lowest = from;
  for (int i = 0; i < static_cast<int>(std::lround(0.2 / h)); ++i) {
    bar.world().step(h);
    lowest = std::min(lowest, bar.end());
  }
  return lowest;
}

// The end of the bar swings down by 30 mm, and is stopped by a block that the straight bar is 20 mm above.
TEST(Bending, TheEndOfABentBarIsStoppedByABlock)
{
  for (const double h : {1.0 / 60, 1.0 / 200, 1.0 / 1000}) {
    EXPECT_GT(lowest_end(0.03, -0.02, h, {}), -0.0205) << h;
    // A long step sees the end too seldom.
    if (h < 0.01) {
      EXPECT_LT(lowest_end(0.03, -0.02, h, {}), -0.0190) << h;
    }
  }
}

/// Frequency of the end of a bar of which the part up to `held` lies between a table and a press [Hz].
double pitch(const BeamSize& size, double held, double h, const flexible::FlexibleSettings& settings)
{
  BarWorld bar(size, settings);
  const double t = 0.5 * size.size.z();
  bar.add_fixed_box({-0.05, -0.1, -t - 0.03}, {held, 0.1, -t});
  bar.add_fixed_box({-0.05, -0.1, t}, {held, 0.1, t + 0.03});
  const double free = size.size.x() - held;
  bar.bend(0.1 * free, held);
  std::vector<double> ends = {bar.end()};
  // A tenth of a second, and three periods at least.
  const double duration = std::max(0.1, 3.4 / flexible::cantilever_frequency(size, free));
  const int steps = static_cast<int>(std::lround(duration / h));
  for (int i = 0; i < steps; ++i) {
    bar.world().step(h);
    ends.push_back(bar.end());
  }
  // Where it rises through its mean, by linear interpolation.
  double mean = 0;
  for (const double z : ends) mean += z / static_cast<double>(ends.size());
  std::vector<double> rises;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i - 1] < mean && ends[i] >= mean)
      rises.push_back(h * (static_cast<double>(i) - (ends[i] - mean) / (ends[i] - ends[i - 1])));
  }
  if (rises.size() < 3) return 0;
  return static_cast<double>(rises.size() - 1) / (rises.back() - rises.front());
}

// Within 3 % at any length and step: with modes to 10 kHz the bar bends as sharply as it has to at the edge.
TEST(Bending, TheFreePartOfAHeldBarSoundsAsACantilever)
{
  const BeamSize size{.modes = 20};
  flexible::FlexibleSettings settings;
  settings.contact_radius = 1;
  settings.max_frequency = 20e3;
  for (const double held : {0.1, 0.15, 0.2}) {
    const double expected = flexible::cantilever_frequency(size, size.size.x() - held);
    for (const double h : {1e-3, 2.3e-4})
      EXPECT_NEAR(pitch(size, held, h, settings) / expected, 1, 0.03) << held << " " << h;
  }
}

}  // namespace
}  // namespace thrum::sim
