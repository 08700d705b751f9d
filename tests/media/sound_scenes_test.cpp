// SPDX-License-Identifier: MIT
// The scenes with sound, from their files to what is heard, with few and coarse modes: pitches are those of
// the modes, decays those of the material and of the contacts, and each scene does what it is there for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <numbers>
#include <set>
#include <sstream>

#include "tests/media/heard.h"
#include "thrum/elastic/material_library.h"

namespace thrum::media {
namespace {

// Of the amplitude, from one time to another, each the middle of a window of `length` [1/s].
double measured_decay(const sound::AudioBuffer& sound, double frequency, double from, double to,
                      double length = 0.1)
{
  const auto at = [&](double t) {
    return amplitude(sound, frequency, t - length / 2, t + length / 2);
  };
  return std::log(at(from) / at(to)) / (to - from);
}

// First bending of a free bar by Euler and Bernoulli [Hz].
double beam_frequency(double length, double radius_of_gyration, const model::Material& material)
{
  return 22.373 / (2 * std::numbers::pi * length * length) * radius_of_gyration *
         std::sqrt(material.young / material.density);
}

TEST(SoundScenes, ABarTappedInANodeKeepsItsLowestModeAsItWas)
{
  const Heard bar("bar_taps", {"duration=1.4", "sound.tail=0.2"});
  const sound::AudioBuffer heard = bar.stem("bar");
  const model::Material& steel = elastic::MaterialLibrary::builtin().get("steel");
  EXPECT_NEAR(bar.frequency("bar", 0), beam_frequency(0.3, 0.005 / std::sqrt(12.0), steel), 3);
  for (const Eigen::Index mode : {0, 1})
    EXPECT_NEAR(peak_near(heard, bar.frequency("bar", mode), 0.15, 0.9) / bar.frequency("bar", mode), 1,
                0.01);
  // Over the second tap, at 1 s.
  EXPECT_NEAR(measured_decay(heard, bar.frequency("bar", 0), 0.9, 1.1), bar.decay("bar", 0, 1), 0.4);
  EXPECT_LT(measured_decay(heard, bar.frequency("bar", 1), 0.9, 1.1), -3);
}

TEST(SoundScenes, ATuningForkSingsUntilItLiesDown)
{
  // From far away, so that its fall does not change the distance; the sound takes 29 ms.
  const Heard fork("tuning_fork", {"sound.max_tetrahedra=3000", "sound.modes=6", "duration=1.2",
                                   "listener.position=[0,-10,0.3]", "sound.air_absorption=false"});
  const sound::AudioBuffer heard = fork.stem("fork");
  // Struck at 0.05 s, it falls for 0.35 s.
  Eigen::Index loudest = 0;
  for (Eigen::Index m = 1; m < fork.model("fork").modes().omegas.size(); ++m) {
    if (amplitude(heard, fork.frequency("fork", m), 0.1, 0.3) >
        amplitude(heard, fork.frequency("fork", loudest), 0.1, 0.3))
      loudest = m;
  }
  const double f = fork.frequency("fork", loudest);
  EXPECT_NEAR(peak_near(heard, f, 0.09, 0.36) / f, 1, 0.01);
  const double free = measured_decay(heard, f, 0.15, 0.31);
  EXPECT_NEAR(free / fork.decay("fork", loudest, 0.2), 1, 0.1);
  const double lying = measured_decay(heard, f, 0.78, 0.88);
  const auto [least, most] = fork.decay_range("fork", loudest, 0.8);
  EXPECT_GT(lying, 0.9 * least);
  EXPECT_LT(lying, 1.1 * most);
  EXPECT_LT(most, 3 * least);
  EXPECT_GT(lying, 5 * free);
}

TEST(SoundScenes, AMugRingsAsItStandsOrLies)
{
  const Heard mugs("mug_poses", {"sound.max_tetrahedra=3000", "sound.modes=8"});
  const std::map<std::string, double> landed = {{"upright", 0.3}, {"side", 1.2}, {"upside_down", 1.9}};
  std::vector<double> decays;
  for (const auto& [name, time] : landed) {
    const sound::AudioBuffer heard = mugs.stem(name);
    const double f = mugs.frequency(name, 0);
    EXPECT_NEAR(peak_near(heard, f, time - 0.05, time + 0.25) / f, 1, 0.01) << name;
    decays.push_back(measured_decay(heard, f, time, time + 0.2));
    EXPECT_NEAR(decays.back() / mugs.decay(name, 0, time + 0.1), 1, 0.1) << name;
  }
  // By name: side, upright, upside_down. The wall and the rim move more than the foot.
  EXPECT_GT(decays[0], 1.1 * decays[1]);
  EXPECT_GT(decays[2], 1.2 * decays[1]);
}

TEST(SoundScenes, PipesSoundByTheirLength)
{
  const Heard pipes("pipes", {"sound.max_tetrahedra=3000", "sound.modes=6", "duration=1.6"});
  const model::Material& steel = elastic::MaterialLibrary::builtin().get("steel");
  const double radius = std::sqrt(0.016 * 0.016 + 0.013 * 0.013) / 2;
  const struct {
    const char* name;
    double length, time;
  } cases[] = {{"pipe_60", 0.6, 0.3}, {"pipe_48", 0.48, 0.8}, {"pipe_38", 0.38, 1.3}};
  for (const auto& c : cases) {
    const double f = pipes.frequency(c.name, 0);
    EXPECT_NEAR(f / beam_frequency(c.length, radius, steel), 1, 0.06) << c.name;
    EXPECT_NEAR(peak_near(pipes.stem(c.name), f, c.time, c.time + 0.3) / f, 1, 0.01) << c.name;
    EXPECT_NEAR(f * c.length * c.length / (pipes.frequency("pipe_30", 0) * 0.09), 1, 0.05) << c.name;
  }
}

TEST(SoundScenes, MarblesClickAndTheBowlRings)
{
  const Heard bowl("marbles_in_bowl", {"sound.max_tetrahedra=3000", "sound.modes=12", "duration=0.8"});
  // A glass ball of 8 mm has its lowest mode near 180 kHz.
  EXPECT_EQ(bowl.model("marble/0").mode_count(), 0U);
  EXPECT_GT(sound::peak(bowl.stem("marble/0")), 0);
  int found = 0;
  for (Eigen::Index m = 0; m < 4; ++m) {
    const double f = bowl.frequency("bowl", m);
    if (std::abs(peak_near(bowl.stem("bowl"), f, 0.2, 0.7) / f - 1) < 0.01) ++found;
  }
  EXPECT_GE(found, 3);
}

TEST(SoundScenes, DominoesFallOneAfterTheOther)
{
  const Heard row("dominoes", {"parameters.count=12", "duration=1.5", "sound.max_tetrahedra=2000"});
  EXPECT_LT(sound::rms(row.sound.sound, 0.05, 0.2), 1e-4 * sound::rms(row.sound.sound, 0.2, 1));
  std::map<std::string, double> first;
  for (const Heard::Event& event : row.events()) first.try_emplace(event.a + " " + event.b, event.time);
  double before = 0.2;
  for (int i = 0; i + 1 < 12; ++i) {
    const std::string pair = "domino/" + std::to_string(i) + " domino/" + std::to_string(i + 1);
    ASSERT_TRUE(first.contains(pair)) << pair;
    EXPECT_GT(first[pair], before);
    before = first[pair];
  }
  // Sixty equal ones have one model.
  EXPECT_EQ(row.bodies.bodies[row.number("domino/0")].model,
            row.bodies.bodies[row.number("domino/11")].model);
}

// Rolling on its rim at the tilt a, a coin goes round with W = 2 sqrt(g / (r sin a)), and its rim passes over
// the plate with W cos a. The mesh of the rim has corners, of which each strikes as it comes by.
TEST(SoundScenes, ACoinRattlesFasterTheFlatterItLies)
{
  const Heard coin(
      "coin", {"sound.max_tetrahedra=2000", "sound.modes=20", "duration=0.6", "outputs.frame_rate=1000"});
  const std::size_t body = coin.number("coin");
  const auto axis = [&](double time) {
    const auto frame = static_cast<std::size_t>(time * 1000);
    return coin.recording.frames[frame].poses[body].pose().direction(Vec3::UnitZ());
  };
  const auto turned = [&](double from, double to) {
    double sum = 0;
    for (double t = from; t < to; t += 0.001) {
      const Vec3 u = axis(t), v = axis(t + 0.001);
      sum += std::atan2(u.x() * v.y() - u.y() * v.x(), u.x() * v.x() + u.y() * v.y());
    }
    return std::abs(sum) / (to - from);
  };
  const auto theory = [&](double from, double to, bool of_the_rim) {
    double sum = 0;
    int count = 0;
    for (double t = from; t < to; t += 0.001, ++count) {
      const double cosine = axis(t).z();
      sum += 2 * std::sqrt(9.81 / (0.0155 * std::sqrt(1 - cosine * cosine))) * (of_the_rim ? cosine : 1);
    }
    return sum / count;
  };
  EXPECT_NEAR(turned(0.02, 0.12) / theory(0.02, 0.12, false), 1, 0.15);
  EXPECT_NEAR(turned(0.2, 0.3) / theory(0.2, 0.3, false), 1, 0.15);
  EXPECT_NEAR(turned(0.3, 0.4) / theory(0.3, 0.4, false), 1, 0.15);
  // Hits a second, those at more than half the usual speed of the hardest ten, of which one may be that of
  // two corners at once: a corner that has come down rattles on softly, at a fifth of that.
  const auto rattle = [&](double from, double to) {
    std::vector<double> speeds;
    for (const Heard::Event& event : coin.events())
      if (event.time >= from && event.time < to) speeds.push_back(event.speed);
    std::sort(speeds.begin(), speeds.end(), std::greater<>());
    const double usual = speeds.at(5);
    return static_cast<double>(
               std::count_if(speeds.begin(), speeds.end(), [&](double speed) { return speed > usual / 2; })) /
           (to - from);
  };
  constexpr double kCorners = 32;  // of the mesh of a cylinder
  for (const double from : {0.0, 0.05, 0.1, 0.15, 0.2}) {
    const double expected = kCorners * theory(from, from + 0.05, true) / (2 * std::numbers::pi);
    EXPECT_NEAR(rattle(from, from + 0.05) / expected, 1, 0.15) << from << " s";
  }
}

TEST(SoundScenes, ToolsOfAKindShareTheirModes)
{
  const Heard tools("tools",
                    {"parameters.each=3", "sound.max_tetrahedra=1500", "sound.modes=10", "duration=0.6"});
  std::set<const sound::SoundModel*> models;
  for (int i = 0; i < 15; ++i) models.insert(&tools.model("tool/" + std::to_string(i)));
  EXPECT_EQ(models.size(), 5U);
  // The loudest tone of the plate is one of its modes.
  const sound::AudioBuffer plate = tools.stem("plate");
  double best = 0, loudest = 0, nearest = 0;
  for (double f = 60; f < 500; f += 0.5) {
    const double size = amplitude(plate, f, 0.35, 1);
    if (size > best) std::tie(best, loudest) = std::pair(size, f);
  }
  for (Eigen::Index m = 0; m < tools.model("plate").modes().omegas.size(); ++m) {
    const double f = tools.frequency("plate", m);
    if (std::abs(f - loudest) < std::abs(nearest - loudest)) nearest = f;
  }
  EXPECT_NEAR(loudest / nearest, 1, 0.01);
  EXPECT_GT(tools.sound.impacts, 20U);
}

// What falls is heard when it lands, not before.
TEST(SoundScenes, DinnerAndScaffoldAreSilentUntilSomethingFalls)
{
  const struct {
    const char* scene;
    const char* struck;
    double drop;
  } cases[] = {{"dinner", "table", 0.6}, {"scaffold", "scaffold", 0.8}};
  for (const auto& c : cases) {
    const Heard heard(c.scene, {"sound.max_tetrahedra=1500", "sound.modes=8", "duration=0.6",
                                "response.method=none", "sound.tail=0.1"});
    const double lands = std::sqrt(2 * c.drop / 9.81);
    const double before = sound::rms(heard.sound.sound, 0.15, lands - 0.02);
    const double after = sound::rms(heard.sound.sound, lands + 0.01, lands + 0.1);
    EXPECT_GT(after, 1e4 * before) << c.scene;
    EXPECT_GT(sound::peak(heard.stem(c.struck)), 0) << c.scene;
  }
}

}  // namespace
}  // namespace thrum::media
