// SPDX-License-Identifier: MIT Sound of bodies whose modes are part of the simulation: it is made from the
// forces on them at the substeps of the simulation, so that it has the pitch of the motion.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "tests/media/heard.h"
#include "tests/support/source_dir.h"

namespace thrum::media {
namespace {

// The strongest frequency of a range, under a window of Hann.
double strongest(const sound::AudioBuffer& sound, double from, double to, double low, double high,
                 double ratio)
{
  double best = 0, found = 0;
  for (double f = low; f < high; f *= ratio) {
    const double size = amplitude(sound, f, from, to);
    if (size > best) std::tie(best, found) = std::pair(size, f);
  }
  return found;
}

double decibels(double ratio)
{
  return 20 * std::log10(ratio);
}

std::filesystem::path write_scene(const char* name, const std::string& text)
{
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("{}_{}.json", name, ::getpid());
  std::ofstream(file) << text;
  return file;
}

// A cantilever of the free length L has 0.1615 t / L^2 sqrt(E / rho): that is the strongest frequency within
// a factor of 1.6 of it, and it rises while the ruler is drawn back.
TEST(FlexibleSound, TheRulerSoundsAtThePitchOfItsFreeLength)
{
  const double speed_of_sound = std::sqrt(2e11 / 7850);
  for (const double step : {0.001, 0.0013}) {
    const Heard ruler("ruler", {fmt::format("step={}", step), "duration=0.6", "sound.tail=0.1"});
    EXPECT_EQ(ruler.sound.sounding_bodies, 1U);
    EXPECT_GT(ruler.sound.modes, 80U);
    const sound::AudioBuffer heard = ruler.stem("ruler");
    const double window = 0.1;
    double last = 0;
    for (double from = 0.2; from + window < 0.6; from += window) {
      const double free_length = 0.2 - 0.12 * (from + window / 2);
      const double expected = 0.1615 * 0.001 / (free_length * free_length) * speed_of_sound;
      const double pitch = strongest(heard, from, from + window, expected / 1.6, 1.6 * expected, 1.002);
      EXPECT_NEAR(pitch / expected, 1, 0.03) << "at " << from << " s, step " << step;
      EXPECT_GT(pitch, last) << from;
      last = pitch;
    }
  }
}

// What is loudest of all is a partial of the free part too, the fourth, 34.4 times the first; contacts that
// are found again every 2 ms are not heard: lines at multiples of 500 Hz stay far below it.
TEST(FlexibleSound, TheLoudestPartialOfTheRulerIsOneOfItsFreeLength)
{
  const Heard ruler("ruler", {"duration=0.65", "sound.tail=0.1"});
  const sound::AudioBuffer heard = ruler.stem("ruler");
  const double from = 0.5, to = 0.6;
  const double free_length = 0.2 - 0.12 * (from + to) / 2;
  const double first = 0.1615 * 0.001 / (free_length * free_length) * std::sqrt(2e11 / 7850);
  const double loudest = strongest(heard, from, to, 100, 14000, 1.002);
  EXPECT_NEAR(loudest / (34.39 * first), 1, 0.05) << loudest;
  const double level = amplitude(heard, loudest, from, to);
  for (double line = 500; line < 12000; line += 500) {
    if (std::abs(line - loudest) < 250) continue;
    EXPECT_LT(decibels(amplitude(heard, line, from, to) / level), -6) << line;
  }
}

// A block stands on a steel strip that is held at its ends. It is put down at the beginning, and after a
// second that is silent the strip is tapped: the rest is 80 dB below the tap.
TEST(FlexibleSound, ARestingSecondIsSilent)
{
  const std::string text = R"({
    "duration": 1.8, "step": 0.004, "length_scale": 0.05,
    "stepper": {"kind": "flexible"}, "sound": true, "listener": {"position": [0, -0.5, 0.3], "kind": "mono"},
    "bodies": [
      {"name": "strip", "shape": {"kind": "box", "size": [0.3, 0.04, 0.004]}, "motion": "fixed", "material": "dull",
       "rings": {"modes": 12, "clamp": "x<-0.14 || x>0.14", "grid": [0.01, 0.01, 0.004]}},
      {"name": "block", "shape": {"kind": "box", "size": [0.03, 0.03, 0.03]}, "material": "dull",
       "position": [0.04, 0, 0.017]}
    ],
    "impulses": [{"body": "strip", "time": 1.6, "impulse": [0, 0, -0.01], "position": [-0.05, 0, 0.002]}],
    "materials": [{"name": "dull", "base": "steel", "alpha": 60, "restitution": 0.2, "friction": 0.4}]
  })";
  for (const double step : {0.004, 0.003}) {
    const std::filesystem::path file = write_scene("resting_strip", text);
    const Heard strip(file, {fmt::format("step={}", step)});
    const sound::AudioBuffer& heard = strip.sound.sound;
    const double tap = sound::rms(heard, 1.6, 1.7);
    EXPECT_GT(tap, 0);
    EXPECT_LT(decibels(sound::rms(heard, 0.6, 1.6) / tap), -80) << step;
    std::filesystem::remove(file);
  }
}

// A steel ball strikes a free bar: with the modes of the bar in the simulation and without, the bar sounds at
// the same frequencies, those of its modes, and about as loud.
TEST(FlexibleSound, ATappedBarSoundsAsWithTheConstraintStepper)
{
  const std::string text = R"({
    "duration": 0.5, "step": 0.002, "length_scale": 0.05, "gravity": [0, 0, 0],
    "sound": {"modes": 8}, "listener": {"position": [0, -0.5, 0.5]},
    "bodies": [
      {"name": "bar", "shape": {"kind": "box", "size": [0.3, 0.03, 0.005]}, "material": "steel",
       "rings": {"modes": 12, "grid": [0.01, 0.01, 0.005]}},
      {"name": "ball", "shape": {"kind": "sphere", "radius": 0.006}, "material": "steel",
       "position": [0.13, 0, 0.05], "velocity": [0, 0, -0.5]}
    ]
  })";
  const std::filesystem::path file = write_scene("tapped_bar", text);
  for (const double speed : {0.5, 0.43}) {
    const std::string velocity = fmt::format("bodies.ball.velocity=[0,0,-{}]", speed);
    const Heard flexible(file, {"stepper.kind=flexible", velocity});
    const Heard rigid(file, {"stepper.kind=constraint", velocity, "response.method=none"});
    const auto simulated = flexible.bodies.bodies[flexible.number("bar")].simulated;
    ASSERT_TRUE(simulated);
    EXPECT_FALSE(rigid.bodies.bodies[rigid.number("bar")].simulated);
    // Bending across the plate, of free bars: (4.730, 7.853, 10.996)^2.
    for (const double f : {288.25, 794.57, 1557.67}) {
      const double a = peak_near(flexible.stem("bar"), f, 0.15, 0.5);
      const double b = peak_near(rigid.stem("bar"), f, 0.15, 0.5);
      EXPECT_NEAR(a / b, 1, 0.01) << f << " Hz, " << speed << " m/s";
      EXPECT_NEAR(a / f, 1, 0.02) << f;
      EXPECT_NEAR(decibels(amplitude(flexible.stem("bar"), a, 0.15, 0.5) /
                           amplitude(rigid.stem("bar"), b, 0.15, 0.5)),
                  0, 6)
          << f;
    }
  }
  std::filesystem::remove(file);
}

// Forces on modes are part of the file of contacts: that of a run that was stopped and resumed has the same
// steps, bit for bit.
TEST(FlexibleSound, AResumedRunHasTheSameForces)
{
  scene::RunDesc desc;
  desc.scene_file = support::source_dir() / "scenes" / "cart.json";
  desc.reading.settings = {"duration=0.16"};
  desc.checkpoint_interval = 0;
  const auto folder = [](const char* name) {
    return std::filesystem::temp_directory_path() / fmt::format("thrum_forces_{}_{}", name, ::getpid());
  };
  const auto run = [&](const std::filesystem::path& into, double stop_at) {
    base::StopSource stop;
    scene::RunDesc now = desc;
    now.folder = into;
    now.stop = stop.token();
    now.on_progress = [&](const scene::RunProgress& progress) {
      if (progress.time >= stop_at) stop.request_stop();
    };
    return scene::run_scene(scene::read_scene(now.scene_file, now.reading), now);
  };
  const scene::RunResult whole = run(folder("whole"), 1);
  for (const double when : {0.03, 0.1}) {
    EXPECT_FALSE(run(folder("part"), when).finished);
    scene::RunDesc again;
    again.folder = folder("part");
    EXPECT_EQ(scene::resume_run(again).final_hash, whole.final_hash);
    sound::ExcitationReader a(folder("whole") / "contacts");
    sound::ExcitationReader b(folder("part") / "contacts");
    std::size_t with_substeps = 0;
    for (;;) {
      const auto x = a.next();
      const auto y = b.next();
      ASSERT_EQ(x.has_value(), y.has_value());
      if (!x) break;
      ASSERT_EQ(x->time, y->time);
      ASSERT_EQ(x->modal_forces, y->modal_forces) << x->time;
      for (const sound::ModalForceSample& forces : x->modal_forces) with_substeps += forces.begins.size();
    }
    EXPECT_GT(with_substeps, 100U);
  }
  for (const char* name : {"whole", "part"}) std::filesystem::remove_all(folder(name));
}

}  // namespace
}  // namespace thrum::media
