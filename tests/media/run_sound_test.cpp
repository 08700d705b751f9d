// SPDX-License-Identifier: MIT
// Scenes that are run and heard: from the scene file to the samples.
#include "thrum/media/run_sound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <sstream>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/sound_sources.h"
#include "thrum/media/viewer_data.h"
#include "thrum/scene/run_scene.h"
#include "thrum/sound/air.h"
#include "thrum/sound/audio_file.h"
#include "thrum/sound/loudness.h"
#include "thrum/sound/propagation.h"

namespace thrum::media {
namespace {

namespace fs = std::filesystem;

class RunSoundTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  sim::Recording run(const std::string& text, const std::vector<std::string>& settings = {})
  {
    scene::RunDesc desc;
    desc.folder = folder_;
    desc.reading.settings = settings;
    const scene::SceneDesc scene = scene::parse_scene(text, "test.json", desc.reading);
    (void)scene::run_scene(scene, desc);
    return sim::read_recording(folder_ / "recording");
  }

  fs::path folder_ =
      fs::temp_directory_path() /
      ("thrum_run_sound_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

double spectrum(const sound::AudioBuffer& sound, double frequency, double from, double to)
{
  const auto begin = static_cast<std::size_t>(from * sound.sample_rate);
  const auto end = std::min(sound.frame_count(), static_cast<std::size_t>(to * sound.sample_rate));
  std::complex<double> sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double x = static_cast<double>(i - begin) / static_cast<double>(end - begin);
    const double angle = 2 * std::numbers::pi * frequency * static_cast<double>(i) / sound.sample_rate;
    sum += sound.channels[0][i] * (0.5 - 0.5 * std::cos(2 * std::numbers::pi * x)) * std::polar(1.0, -angle);
  }
  return std::abs(sum);
}

// A free bar in the air, tapped at its end, then in a node of its lowest mode.
const char* const kBar = R"({
  "duration": 1.2, "step": 0.01, "gravity": [0, 0, 0], "length_scale": 0.1,
  "sound": {"impulse_duration": 1e-4, "modes": 12, "tail": 0.2},
  "listener": {"position": [0, -0.5, 0.3], "kind": "mono"},
  "bodies": [{"name": "bar", "shape": {"kind": "box", "size": [0.3, 0.03, 0.005]}, "material": "steel",
              "rings": {"modes": 12, "grid": [0.015, 0.015, 0.005]}}],
  "impulses": [{"body": "bar", "time": 0.1, "impulse": [0, 0, 1e-3], "position": [-0.15, 0, -0.0025]},
               {"body": "bar", "time": 0.7, "impulse": [0, 0, -1e-3], "position": [-0.15, 0, 0.0025]}]
})";

TEST_F(RunSoundTest, ATappedBarHasThePitchesOfTheTheoryOfBeams)
{
  const RunSound heard = write_run_sound(folder_, run(kBar));
  EXPECT_EQ(heard.sounding_bodies, 1U);
  EXPECT_TRUE(heard.warnings.empty());
  for (const double mode : {288.25, 794.57}) {  // (bL)^2 / (2 pi L^2) sqrt(E I / (rho A))
    double best = 0;
    double best_frequency = 0;
    for (double f = 0.93 * mode; f < 1.07 * mode; f *= 1.001) {
      if (const double size = spectrum(heard.sound, f, 0.15, 0.6); size > best) {
        best = size;
        best_frequency = f;
      }
    }
    EXPECT_NEAR(best_frequency / mode, 1, 0.01);
  }
  // The file holds the same sound, its peak at -1 dB.
  const sound::AudioBuffer file =
      sound::read_audio_file(folder_ / "sound.wav", {.full_scale = heard.full_scale});
  ASSERT_EQ(file.frame_count(), heard.sound.frame_count());
  EXPECT_NEAR(sound::peak(file), heard.peak, 1e-6 * heard.peak);
  EXPECT_NEAR(heard.peak / heard.full_scale, 0.89, 1e-9);
}

// Multipoles about the middle of a bar fit none of its modes.
TEST_F(RunSoundTest, ModesWhoseRadiationIsNotFittedAreWarnedOf)
{
  const sim::Recording recording = run(kBar);
  const auto with = [&](const char* radiation) {
    return write_run_sound(folder_, recording,
                           {.settings = {fmt::format("sound.radiation={}", radiation), "sound.modes=3"}});
  };
  EXPECT_TRUE(with("scalar").radiation.entries().empty());
  const RunSound poor = with("multipole");
  ASSERT_EQ(poor.radiation.entries().size(), 1U);
  const BodyRadiation& bar = poor.radiation.entries().front();
  EXPECT_EQ(bar.body, "bar");
  EXPECT_EQ(bar.modes, 3U);
  EXPECT_EQ(bar.scalar_modes, 3U);
  EXPECT_GT(bar.mean_residual, 0.5);
  EXPECT_LE(bar.max_residual, 1.0);
  ASSERT_EQ(poor.warnings.size(), 1U);
  EXPECT_NE(poor.warnings[0].find("3 of 3 of \"bar\" (residual"), std::string::npos) << poor.warnings[0];
  const RunSound good = with("equivalent_sources");
  EXPECT_TRUE(good.warnings.empty());
  EXPECT_EQ(good.radiation.entries().front().scalar_modes, 0U);
  EXPECT_NE(good.radiation.text().find("0 of 3 modes"), std::string::npos) << good.radiation.text();
}

TEST_F(RunSoundTest, InverseDistanceAndGivenFullScale)
{
  const sim::Recording recording = run(kBar);
  const std::vector<std::string> common = {"sound.air_absorption=false", "sound.full_scale=2"};
  std::vector<std::string> near = common;
  near.emplace_back("listener.position=[0, -1, 0]");
  std::vector<std::string> far = common;
  far.emplace_back("listener.position=[0, -4, 0]");
  const RunSound a = write_run_sound(folder_, recording, {.settings = near});
  const RunSound b = write_run_sound(folder_, recording, {.settings = far});
  EXPECT_NEAR(sound::rms(a.sound, 0.15, 0.6) / sound::rms(b.sound, 0.15 + 3 / 343.2, 0.6 + 3 / 343.2), 4,
              0.02);
  EXPECT_EQ(a.full_scale, 2);
}

// A listener straight above the bar, below it, or in it hears it too.
TEST_F(RunSoundTest, AListenerMayBeAnywhere)
{
  const sim::Recording recording = run(kBar);
  double above = 0;
  for (const char* position : {"[0, 0, 2]", "[0, 0, -2]", "[0, 0, 0]", "[0.1, 0, 0]"}) {
    const RunSound heard =
        write_run_sound(folder_, recording,
                        {.settings = {std::string("listener.position=") + position, "listener.kind=stereo"}});
    for (const auto& channel : heard.sound.channels)
      for (const double x : channel) ASSERT_TRUE(std::isfinite(x)) << position;
    if (above == 0) above = heard.peak;
    EXPECT_GT(heard.peak, 0.3 * above) << position;
    EXPECT_LT(heard.peak, 40 * above) << position;
  }
}

TEST_F(RunSoundTest, AListenerInsideABodyIsToldSo)
{
  const sim::Recording recording = run(kBar);
  const auto warnings_at = [&](const char* position) {
    return write_run_sound(folder_, recording, {.settings = {std::string("listener.position=") + position}})
        .warnings;
  };
  EXPECT_TRUE(warnings_at("[0, 0, 0.05]").empty());
  const std::vector<std::string> inside = warnings_at("[0.01, 0, 0]");
  ASSERT_EQ(inside.size(), 1U);
  EXPECT_NE(inside[0].find("\"bar\""), std::string::npos) << inside[0];
  EXPECT_NE(inside[0].find("listener.position"), std::string::npos) << inside[0];
}

// Its centre is 13 cm away, its end is not.
TEST_F(RunSoundTest, AListenerInTheEndOfALongBodyIsToldSo)
{
  const sim::Recording recording = run(kBar);
  const auto warnings_with = [&](std::vector<std::string> settings) {
    return write_run_sound(folder_, recording, {.settings = std::move(settings)}).warnings;
  };
  ASSERT_EQ(warnings_with({"listener.position=[0.13, 0, 0]"}).size(), 1U);
  EXPECT_TRUE(warnings_with({"listener.position=[0.16, 0, 0]"}).empty());
  EXPECT_TRUE(warnings_with({"listener.position=[0.01, 0, 0.01]"}).empty());  // near its centre, but outside
  // One microphone of two.
  EXPECT_EQ(
      warnings_with({"listener.position=[0.24, 0, 0]", "listener.kind=stereo", "listener.forward=[0, 1, 0]"})
          .size(),
      1U);
  // One that comes by.
  EXPECT_EQ(warnings_with({R"(listener.path=[{"time": 0, "position": [0.12, -1, 0], "forward": [0, 1, 0]},
                                             {"time": 1, "position": [0.12, 1, 0], "forward": [0, 1, 0]}])"})
                .size(),
            1U);
}

// f' = f (1 - v / c) for a listener that moves away, whatever it hears with.
TEST_F(RunSoundTest, AMovingListenerHearsTheShiftOfDoppler)
{
  const sim::Recording recording = run(kBar);
  const double speed_of_sound = sound::Air{}.sound_speed();
  const auto pitch = [&](const std::string& kind, double v, double near) {
    const RunSound heard = write_run_sound(
        folder_, recording,
        {.settings = {
             fmt::format(R"(listener.path=[{{"time": 0, "position": [0, {0}, 0], "forward": [1, 0, 0]}},
                                                    {{"time": 1, "position": [0, {1}, 0], "forward": [1, 0, 0]}}])",
                         -3.0 + (v < 0 ? v : 0), -3.0 - (v > 0 ? v : 0)),
             "listener.kind=" + kind, "sound.modes=1"}});
    double best = 0;
    double found = 0;
    for (double f = 0.98 * near; f < 1.02 * near; f += 0.1) {
      if (const double size = spectrum(heard.sound, f, 0.15, 0.68); size > best) {
        best = size;
        found = f;
      }
    }
    return found;
  };
  const double still = pitch("mono", 0, 288.25);
  EXPECT_NEAR(still, 288.25, 3);
  for (const char* kind : {"mono", "stereo", "ambisonic", "binaural"}) {
    for (const double v : {-30.0, 20.0}) {
      const double expected = still * (1 - v / speed_of_sound);
      EXPECT_NEAR(pitch(kind, v, expected) / expected, 1, 1e-3) << kind << ", " << v << " m/s";
    }
  }
}

// Modes that are too low to be heard are not counted as heard.
TEST_F(RunSoundTest, ModesThatAreHeardAreCounted)
{
  const sim::Recording recording = run(kBar);
  EXPECT_EQ(write_run_sound(folder_, recording).modes, 12U);
  const RunSound high = write_run_sound(folder_, recording, {.settings = {"sound.min_frequency=500"}});
  EXPECT_EQ(high.modes, 11U);  // without that of 288 Hz
  ASSERT_EQ(high.mode_frequencies.size(), 11U);
  EXPECT_NEAR(high.mode_frequencies.front(), 794.57, 8);
  const RunSound none = write_run_sound(folder_, recording, {.settings = {"sound.min_frequency=19999"}});
  EXPECT_EQ(none.modes, 0U);
  EXPECT_TRUE(none.mode_frequencies.empty());
}

// A listener on a body that turns hears what one at rest hears of sound from all sides in turn.
TEST_F(RunSoundTest, AListenerOnABodyMovesAndTurnsWithIt)
{
  const sim::Recording recording = run(R"({
    "duration": 1, "step": 0.005, "gravity": [0, 0, 0], "length_scale": 0.1,
    "sound": {"impulse_duration": 1e-4, "modes": 3, "tail": 0},
    "listener": {"body": "disc", "position": [0, 0, 0.5], "kind": "ambisonic"},
    "bodies": [{"name": "bar", "shape": {"kind": "box", "size": [0.3, 0.03, 0.005]}, "material": "steel", "motion": "fixed",
                "position": [2, 0, 0.5], "rings": {"method": "none", "grid": [0.015, 0.015, 0.005]}},
               {"name": "disc", "shape": {"kind": "box", "size": [0.2, 0.2, 0.02]}, "angular_velocity": [0, 0, 3]}],
    "impulses": [{"body": "bar", "time": 0.02, "impulse": [0, 0, 1e-3], "position": [-0.15, 0, -0.0025]}]
  })");
  const RunSound heard = write_run_sound(folder_, recording);
  ASSERT_EQ(heard.sound.channels.size(), 4U);
  const auto& w = heard.sound.channels[0];
  for (const double t : {0.1, 0.4, 0.7, 0.95}) {
    double wx = 0, wy = 0, ww = 0;
    const auto begin = static_cast<std::size_t>(t * heard.sound.sample_rate);
    for (std::size_t i = begin; i < begin + 480; ++i) {
      ww += w[i] * w[i];
      wy += w[i] * heard.sound.channels[1][i];
      wx += w[i] * heard.sound.channels[3][i];
    }
    const double angle = -3 * (t + 0.005);
    ASSERT_GT(ww, 0);
    EXPECT_NEAR(wx / ww, std::cos(angle), 0.03) << t;
    EXPECT_NEAR(wy / ww, std::sin(angle), 0.03) << t;
  }
  EXPECT_THROW((void)write_run_sound(folder_, recording, {.settings = {"listener.body=dics"}}), Error);
}

// Decays of the bar are 2.5 1/s and more: it is below both limits after some seconds, whatever is asked for.
TEST_F(RunSoundTest, ATailEndsWhenNothingIsHeard)
{
  const sim::Recording recording = run(kBar, {"sound.modes=4"});
  const RunSound heard = write_run_sound(folder_, recording, {.settings = {"sound.tail=600"}});
  // From its peak at 0.7 s on it falls by at least 100 dB and to 20 uPa, at alpha / 2 of the lowest mode.
  const double decay = 2.549;
  const double limit = std::min(20e-6, 1e-5 * heard.peak);
  const double expected = 0.7 + std::log(heard.peak / limit) / decay;
  EXPECT_LT(heard.sound.duration(), expected + 0.5);
  EXPECT_GT(heard.sound.duration(), expected - 1.5);
  const double end = heard.sound.duration();
  EXPECT_LT(sound::rms(heard.sound, end - 0.1, end), limit);
  for (const auto& channel : heard.sound.channels) EXPECT_LE(channel.capacity(), 2 * channel.size() + 100000);
  // A tail that ends before is as it was.
  const RunSound cut = write_run_sound(folder_, recording, {.settings = {"sound.tail=0.5"}});
  EXPECT_NEAR(cut.sound.duration(), 1.7, 0.05);
  for (std::size_t i = 0; i + 240 < cut.sound.frame_count(); i += 11)
    ASSERT_EQ(cut.sound.channels[0][i], heard.sound.channels[0][i]);
}

// A sound that is cut while it goes on fades out by half a cosine over the last 5 ms, and by nothing else.
TEST_F(RunSoundTest, ASoundThatIsCutFadesOut)
{
  const sim::Recording recording = run(kBar, {"sound.modes=4"});
  const RunSound whole = write_run_sound(folder_, recording, {.settings = {"sound.tail=600"}});
  for (const char* settings : {"sound.stems=false", "sound.stems=true"}) {
    const RunSound cut = write_run_sound(folder_, recording, {.settings = {"sound.tail=0", settings}});
    const std::size_t frames = cut.sound.frame_count();
    const std::size_t fade = 240;  // 5 ms at 48 kHz
    ASSERT_GT(sound::rms(whole.sound, cut.sound.duration() - 0.005, cut.sound.duration()), 1e-4 * whole.peak);
    for (std::size_t i = 0; i < frames; ++i) {
      const double left = static_cast<double>(frames - 1 - i) / fade;
      const double weight = left < 1 ? 0.5 - 0.5 * std::cos(std::numbers::pi * left) : 1;
      ASSERT_NEAR(cut.sound.channels[0][i], weight * whole.sound.channels[0][i], 1e-12 * whole.peak) << i;
    }
    EXPECT_EQ(cut.sound.channels[0].back(), 0);
  }
}

// What is on its way when the last body falls silent still arrives.
TEST_F(RunSoundTest, ADistantListenerHearsTheEnd)
{
  const sim::Recording recording = run(kBar, {"sound.modes=4", "duration=0.75"});
  const std::vector<std::string> common = {"sound.tail=60", "sound.air_absorption=false"};
  const auto heard_at = [&](const char* position) {
    std::vector<std::string> settings = common;
    settings.emplace_back(std::string("listener.position=") + position);
    return write_run_sound(folder_, recording, {.settings = settings});
  };
  const RunSound near = heard_at("[0, -1, 0]");
  const RunSound far = heard_at("[0, -601, 0]");
  const double late = 600 / sound::Air{}.sound_speed();
  EXPECT_NEAR(sound::rms(near.sound, 0.8, 1.2) / sound::rms(far.sound, 0.8 + late, 1.2 + late), 601, 3);
}

// A ball lands on a damped wooden board and comes to rest.
const char* const kBall = R"({
  "duration": 3, "step": 0.002, "length_scale": 0.02,
  "sound": {"modes": 20, "tail": 0},
  "listener": {"position": [0, -0.5, 0.3], "kind": "mono"},
  "bodies": [
    {"name": "board", "shape": {"kind": "box", "size": [0.3, 0.2, 0.02]}, "motion": "fixed", "material": "damped",
     "rings": {"method": "none", "grid": [0.03, 0.04, 0.02]}},
    {"name": "cube", "shape": {"kind": "box", "size": [0.03, 0.03, 0.03]}, "material": "damped", "position": [0.05, 0, 0.075],
     "rings": {"method": "none", "grid": [0.015, 0.015, 0.015]}}],
  "materials": [{"name": "damped", "base": "wood", "alpha": 60, "restitution": 0.3, "friction": 0.5}]
})";

TEST_F(RunSoundTest, ARestingSecondIsEightyDecibelsBelowTheImpact)
{
  const RunSound heard = write_run_sound(folder_, run(kBall));
  // It falls 5 cm: 0.101 s, and the sound takes 1.7 ms.
  const double impact = sound::rms(heard.sound, 0.101, 0.151);
  EXPECT_EQ(sound::rms(heard.sound, 0, 0.099), 0);
  ASSERT_GT(impact, 1e-4);
  EXPECT_LT(20 * std::log10((sound::rms(heard.sound, 2, 3) + 1e-30) / impact), -80);
  const std::string table = base::read_text_file(folder_ / "sound.csv");
  EXPECT_NE(table.find("board,cube"), std::string::npos);
}

// A cube that slides from the beginning strikes nothing, and the board under it is heard. The cube has no
// mode below 20 kHz, and nothing touches the second board.
TEST_F(RunSoundTest, BodiesThatSoundAreCountedWithoutImpacts)
{
  const RunSound heard = write_run_sound(folder_, run(R"({
    "duration": 0.2, "step": 0.002, "length_scale": 0.02,
    "sound": {"modes": 20, "tail": 0}, "listener": {"position": [0, -0.5, 0.3], "kind": "mono"},
    "bodies": [
      {"name": "board", "shape": {"kind": "box", "size": [0.6, 0.2, 0.02]}, "motion": "fixed", "material": "wood",
       "rings": {"method": "none", "grid": [0.03, 0.04, 0.02]}},
      {"name": "far", "shape": {"kind": "box", "size": [0.6, 0.2, 0.02]}, "motion": "fixed", "material": "wood",
       "position": [0, 1, 0], "rings": {"method": "none", "grid": [0.03, 0.04, 0.02]}},
      {"name": "cube", "shape": {"kind": "box", "size": [0.03, 0.03, 0.03]}, "material": "wood",
       "position": [-0.2, 0, 0.025], "velocity": [0.8, 0, 0],
       "rings": {"method": "none", "grid": [0.015, 0.015, 0.015]}}]
  })"));
  EXPECT_EQ(heard.impacts, 0U);
  EXPECT_GT(heard.peak, 0);
  EXPECT_EQ(heard.sounding_bodies, 1U);
  EXPECT_EQ(heard.modes, 20U);
}

// The last twentieth of the file is missing, as after a copy that was stopped: of its 150 KB at most the last
// 64 KB are not heard.
TEST_F(RunSoundTest, OfCutContactsOnlyTheLastPieceIsLost)
{
  const sim::Recording recording = run(kBall, {"duration=3", "step=0.0005"});
  const std::string contacts = base::read_text_file(folder_ / "contacts");
  ASSERT_GT(contacts.size(), 150000U);
  base::write_file(folder_ / "contacts", std::string_view(contacts).substr(0, contacts.size() * 19 / 20));
  const RunSound heard = write_run_sound(folder_, recording);
  EXPECT_GT(heard.impacts, 0U);
  EXPECT_GT(heard.peak, 0);
  ASSERT_FALSE(heard.warnings.empty());
  EXPECT_NE(heard.warnings[0].find("cut short"), std::string::npos) << heard.warnings[0];
}

TEST_F(RunSoundTest, ContactsThatWereCutShortAreHeardAsFarAsTheyGo)
{
  const sim::Recording recording = run(kBall, {"duration=0.5"});
  const std::string contacts = base::read_text_file(folder_ / "contacts");
  base::write_file(folder_ / "contacts", std::string_view(contacts).substr(0, contacts.size() - 7));
  const RunSound heard = write_run_sound(folder_, recording);
  ASSERT_FALSE(heard.warnings.empty());
  EXPECT_NE(heard.warnings[0].find("cut short"), std::string::npos) << heard.warnings[0];
  EXPECT_TRUE(fs::exists(folder_ / "sound.wav"));
}

// Only the mark of the file is left, as of a run that was killed before its first contacts were written.
TEST_F(RunSoundTest, ContactsThatWereLostAreNotTakenForSilence)
{
  const sim::Recording recording = run(kBall, {"duration=0.5"});
  const std::string contacts = base::read_text_file(folder_ / "contacts");
  base::write_file(folder_ / "contacts", std::string_view(contacts).substr(0, 12));
  const RunSound heard = write_run_sound(folder_, recording);
  ASSERT_EQ(heard.warnings.size(), 1U);
  EXPECT_NE(heard.warnings[0].find("cut short"), std::string::npos) << heard.warnings[0];
  EXPECT_NE(heard.warnings[0].find("0 of 0.5 s"), std::string::npos) << heard.warnings[0];
  base::write_file(folder_ / "contacts", std::string_view(contacts));
  EXPECT_TRUE(write_run_sound(folder_, recording).warnings.empty());
}

// The image source of the ground is meant for listeners above it.
TEST_F(RunSoundTest, AListenerBelowTheGroundIsToldSo)
{
  std::string scene = kBar;
  scene.insert(scene.find("\"bodies\": [") + 11, R"({"name": "floor", "shape": {"kind": "plane"},
    "motion": "fixed", "position": [0, 0, -0.5]}, )");
  const sim::Recording recording = run(scene, {"sound.modes=4"});
  const auto warnings_with = [&](std::vector<std::string> settings) {
    return write_run_sound(folder_, recording, {.settings = std::move(settings)}).warnings;
  };
  EXPECT_TRUE(warnings_with({"listener.position=[0, -1, -0.49]"}).empty());
  EXPECT_TRUE(warnings_with({"listener.position=[0, -1, -2]", "sound.ground_reflection=0"}).empty());
  for (const char* place :
       {"listener.position=[0, -1, -0.51]",
        R"(listener.path=[{"time": 0, "position": [0, -1, 0]}, {"time": 1, "position": [0, -1, -2]}])"}) {
    const std::vector<std::string> below = warnings_with({place});
    ASSERT_EQ(below.size(), 1U) << place;
    EXPECT_NE(below[0].find("below the ground"), std::string::npos) << below[0];
    EXPECT_NE(below[0].find("-0.5 m"), std::string::npos) << below[0];
  }
}

// A body may carry its listener faster than a path may: f' = f (1 - v / c) up to the speed of sound, beyond
// which it is told.
TEST_F(RunSoundTest, AListenerOnAFastBodyHearsTheShiftOfDoppler)
{
  const auto moving = [&](double v) {
    return run(fmt::format(R"({{
      "duration": 1, "step": 0.005, "gravity": [0, 0, 0], "length_scale": 0.1,
      "sound": {{"impulse_duration": 1e-4, "modes": 1, "tail": 0}}, "listener": {{"body": "bullet", "kind": "mono"}},
      "bodies": [{{"name": "bar", "shape": {{"kind": "box", "size": [0.3, 0.03, 0.005]}}, "material": "steel",
                  "rings": {{"method": "none", "grid": [0.015, 0.015, 0.005]}}, "motion": "fixed"}},
                 {{"name": "bullet", "shape": {{"kind": "sphere", "radius": 0.02}}, "velocity": [0, {0}, 0],
                  "position": [0, {1}, 0]}}],
      "impulses": [{{"body": "bar", "time": 0.02, "impulse": [0, 0, 1e-3], "position": [-0.15, 0, -0.0025]}}]
    }})",
                           v, v < 0 ? 3 - v : 3.0));
  };
  const auto pitch = [&](const sim::Recording& recording, double near, double from, double to) {
    const RunSound heard = write_run_sound(folder_, recording);
    EXPECT_TRUE(heard.warnings.empty()) << heard.warnings[0];
    double best = 0;
    double found = 0;
    for (double f = 0.97 * near; f < 1.03 * near; f += 0.05) {
      if (const double size = spectrum(heard.sound, f, from, to); size > best) {
        best = size;
        found = f;
      }
    }
    return found;
  };
  const double c = sound::Air{}.sound_speed();
  const double still = pitch(moving(0), 288.25, 0.1, 0.9);
  EXPECT_NEAR(pitch(moving(-300), still * (1 + 300 / c), 0.6, 0.95) / (still * (1 + 300 / c)), 1, 1e-3);
  EXPECT_NEAR(pitch(moving(200), still * (1 - 200 / c), 0.1, 0.9) / (still * (1 - 200 / c)), 1, 2e-3);
  const RunSound faster = write_run_sound(folder_, moving(500));
  ASSERT_EQ(faster.warnings.size(), 2U);  // the other: it outruns the strike, and hears nothing
  EXPECT_NE(faster.warnings[0].find("\"bullet\""), std::string::npos) << faster.warnings[0];
  EXPECT_NE(faster.warnings[0].find("500 m/s"), std::string::npos) << faster.warnings[0];
}

// What is not right because something is too fast is said before the work is done.
TEST_F(RunSoundTest, SpeedsAreWarnedOfBeforeTheSynthesis)
{
  const sim::Recording recording = run(R"({
    "duration": 0.3, "step": 0.005, "gravity": [0, 0, 0], "length_scale": 0.1,
    "sound": {"impulse_duration": 1e-4, "modes": 1, "tail": 0}, "listener": {"position": [0, -3, 0]},
    "materials": [{"name": "lead", "base": "steel"}],
    "bodies": [{"name": "bar", "shape": {"kind": "box", "size": [0.3, 0.03, 0.005]}, "material": "steel",
                "rings": {"method": "none", "grid": [0.015, 0.015, 0.005]}, "velocity": [0, 0, 400]},
               {"name": "silent", "shape": {"kind": "sphere", "radius": 0.02}, "material": "lead",
                "position": [3, 0, 0], "velocity": [0, 0, 500]}],
    "impulses": [{"body": "bar", "time": 0.02, "impulse": [0, 0, 1e-3], "position": [-0.15, 0, -0.0025]}]
  })");
  bool has_begun = false;
  std::vector<std::string> early, all;
  RunSoundDesc desc;
  desc.on_progress = [&](double) {
    has_begun = true;
  };
  desc.on_warning = [&](const std::string& warning) {
    all.push_back(warning);
    if (!has_begun) early.push_back(warning);
  };
  const RunSound heard = write_run_sound(folder_, recording, desc);
  ASSERT_EQ(early.size(), 1U);  // what is struck by nothing makes no sound that could be wrong
  EXPECT_NE(early[0].find("\"bar\" moves at up to 400 m/s"), std::string::npos) << early[0];
  EXPECT_EQ(all, heard.warnings);
}

TEST_F(RunSoundTest, ContactsOfAnotherRunAreRejected)
{
  const sim::Recording one = run(kBall, {"duration=0.1"});
  const fs::path saved = fs::temp_directory_path() / "thrum_contacts_of_another_run";
  fs::copy_file(folder_ / "contacts", saved, fs::copy_options::overwrite_existing);
  const sim::Recording other = run(kBall, {"duration=0.12"});
  EXPECT_NE(one.header.note("run"), other.header.note("run"));
  EXPECT_NO_THROW((void)write_run_sound(folder_, other));
  // With as many bodies as before.
  fs::copy_file(saved, folder_ / "contacts", fs::copy_options::overwrite_existing);
  try {
    (void)write_run_sound(folder_, other);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("different runs"), std::string::npos) << error.what();
  }
  // The same scene again is the same run.
  EXPECT_EQ(run(kBall, {"duration=0.1"}).header.note("run"), one.header.note("run"));
  fs::copy_file(saved, folder_ / "contacts", fs::copy_options::overwrite_existing);
  EXPECT_NO_THROW((void)write_run_sound(folder_, one));
  fs::remove(saved);
}

// A microphone on an arm r of a listener that turns at w moves at w r, though the head is at rest.
TEST_F(RunSoundTest, AMicrophoneOnALongArmFasterThanSoundIsWarnedOf)
{
  const auto warnings_with = [&](double arm) {
    const sim::Recording recording = run(fmt::format(R"({{
      "duration": 0.2, "step": 0.001, "gravity": [0, 0, 0], "length_scale": 0.1,
      "sound": {{"impulse_duration": 1e-4, "modes": 1, "tail": 0.2}},
      "listener": {{"body": "top", "kind": "microphones", "microphones": [{{"position": [{}, 0, 0]}}]}},
      "bodies": [{{"name": "bar", "shape": {{"kind": "box", "size": [0.3, 0.03, 0.005]}}, "material": "steel",
                  "rings": {{"method": "none", "grid": [0.015, 0.015, 0.005]}}, "motion": "fixed"}},
                 {{"name": "top", "shape": {{"kind": "sphere", "radius": 0.02}}, "position": [0, 1, 0],
                  "angular_velocity": [0, 0, 40]}}],
      "impulses": [{{"body": "bar", "time": 0.02, "impulse": [0, 0, 1e-3], "position": [-0.15, 0, -0.0025]}}]
    }})",
                                                     arm));
    return write_run_sound(folder_, recording).warnings;
  };
  EXPECT_TRUE(warnings_with(7.5).empty());  // 300 m/s
  const std::vector<std::string> fast = warnings_with(10);
  ASSERT_GE(fast.size(), 1U);
  EXPECT_NE(fast[0].find("microphone"), std::string::npos) << fast[0];
  EXPECT_NE(fast[0].find("400 m/s"), std::string::npos) << fast[0];
}

TEST_F(RunSoundTest, TheSameRunGivesTheSameBytesAndStemsAddUp)
{
  const sim::Recording recording = run(kBall, {"duration=0.4"});
  (void)write_run_sound(folder_, recording);
  const std::string first = base::read_text_file(folder_ / "sound.wav");
  (void)write_run_sound(folder_, recording);
  EXPECT_EQ(base::read_text_file(folder_ / "sound.wav"), first);
  const RunSound stems = write_run_sound(folder_, recording, {.settings = {"sound.stems=true"}});
  const auto board = sound::read_audio_file(folder_ / "stems/board.wav", {.full_scale = stems.full_scale});
  const auto cube = sound::read_audio_file(folder_ / "stems/cube.wav", {.full_scale = stems.full_scale});
  for (std::size_t i = 0; i < stems.sound.frame_count(); ++i) {
    ASSERT_NEAR(board.channels[0][i] + cube.channels[0][i], stems.sound.channels[0][i], 1e-6 * stems.peak);
  }
}

// What the bodies emit, carried to the listener, is the sound: p(t) = s(t - r / c) / r of both.
TEST_F(RunSoundTest, SourcesMakeUpTheSound)
{
  const sim::Recording recording = run(kBall, {"duration=0.4", "sound.air_absorption=false"});
  const RunSound heard = write_run_sound(folder_, recording);
  const SoundSources sources = read_sound_sources(folder_ / "sources.npz");
  EXPECT_EQ(sources.frames, static_cast<std::int64_t>(heard.sound.frame_count()));
  EXPECT_EQ(sources.full_scale, heard.full_scale);
  EXPECT_FALSE(sources.at_camera);  // the scene says where
  ASSERT_EQ(sources.centres.size(), 2U);
  const sound::PoseTrack ear(Pose{{0, -0.5, 0.3}});
  std::vector<double> sum(heard.sound.frame_count(), 0.0);
  for (std::size_t body = 0; body < 2; ++body) {
    std::vector<double> amplitude(sum.size(), 0.0);
    for (std::size_t b = 0; b < sources.bodies.size(); ++b) {
      if (at(sources.bodies[b]) != body) continue;
      const std::size_t first = at(sources.numbers[b]) * at(sources.block_size);
      for (std::size_t i = 0; i < at(sources.block_size) && first + i < amplitude.size(); ++i)
        amplitude[first + i] = sources.samples[b * at(sources.block_size) + i];
    }
    std::vector<double> times;
    std::vector<Pose> poses;
    for (const sim::RecordedFrame& frame : recording.frames) {
      times.push_back(frame.time);
      poses.push_back(frame.poses[body].pose());
    }
    const sound::PoseTrack track(times, poses);
    sound::Propagator way(sound::SoundPath({track, sources.centres[body]}, {ear}, {.absorption = false}),
                          48000);
    std::vector<double> pressure;
    way.push(amplitude);
    way.pull(pressure);
    way.finish(pressure, sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += pressure[i];
  }
  ASSERT_GT(heard.peak, 0);
  // To the fade at its end, which is where the sound is heard.
  EXPECT_TRUE(sources.is_cut);
  sound::AudioBuffer carried{.sample_rate = 48000, .channels = {sum}};
  sound::fade_out(carried);
  sum = carried.channels[0];
  for (std::size_t i = 0; i < sum.size(); ++i)
    ASSERT_NEAR(sum[i], heard.sound.channels[0][i], 3e-5 * heard.peak) << i;
  // Of a file of its own there are none, and a listener without a place is at the camera.
  std::filesystem::remove(folder_ / "sources.npz");
  (void)write_run_sound(folder_, recording, {.output = folder_ / "other.wav"});
  EXPECT_FALSE(fs::exists(folder_ / "sources.npz"));
  std::string scene = kBall;
  scene.erase(scene.find("\"listener\""), scene.find("\"bodies\"") - scene.find("\"listener\""));
  (void)write_run_sound(folder_, run(scene, {"duration=0.2"}));
  EXPECT_TRUE(read_sound_sources(folder_ / "sources.npz").at_camera);
}

// However its path is written, sound.wav of the run is its sound, and what its page is made of follows.
TEST_F(RunSoundTest, TheFileOfTheRunByItsPathReplacesTheSourcesToo)
{
  const sim::Recording recording = run(kBall, {"duration=0.2"});
  double full_scale = 10;
  for (const fs::path& output :
       {fs::path(), folder_ / "sound.wav", folder_ / ".." / folder_.filename() / "sound.wav",
        fs::relative(folder_) / "." / "sound.wav"}) {
    full_scale += 1;
    (void)write_run_sound(
        folder_, recording,
        {.settings = {fmt::format("sound.full_scale={}", full_scale), "sound.stems=true"}, .output = output});
    EXPECT_EQ(read_sound_sources(folder_ / "sources.npz").full_scale, full_scale) << output;
    EXPECT_FALSE(fs::exists(folder_ / "sound_stems")) << output;
  }
  (void)write_run_sound(folder_, recording,
                        {.settings = {"sound.full_scale=20"}, .output = folder_ / "other.wav"});
  EXPECT_EQ(read_sound_sources(folder_ / "sources.npz").full_scale, full_scale);
}

TEST_F(RunSoundTest, DamagedSourcesAreRejected)
{
  const fs::path file = folder_ / "sources.npz";
  const sim::Recording recording = run(kBall, {"duration=0.2"});
  (void)write_run_sound(folder_, recording);
  const SoundSources whole = read_sound_sources(file);
  EXPECT_TRUE(viewer_run(folder_, recording).sources);
  const auto message = [&](auto damage) -> std::string {
    SoundSources sources = whole;
    damage(sources);
    write_sound_sources(file, sources);
    try {
      (void)viewer_run(folder_, recording);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(message([](auto& s) { s.numbers[0] = -1; }).find("block -1 is"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.numbers[0] = 1 << 30; }).find("block 1073741824"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.bodies[0] = 2; }).find("body 2 does not exist"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.samples[7] = kNan; }).find("amplitudes"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.centres[1].y() = kNan; }).find("centres"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.full_scale = 0; }).find("full_scale"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.spacing = -1; }).find("spacing"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.centres.resize(3, Vec3::Zero()); }).find("it has 3 bodies, the run 2"),
            std::string::npos);
}

TEST_F(RunSoundTest, StemsOfSimilarNamesAddUp)
{
  std::string scene = kBall;
  const auto rename = [&](const std::string& from, const std::string& to) {
    for (std::size_t i = scene.find(from); i != std::string::npos; i = scene.find(from, i + to.size()))
      scene.replace(i, from.size(), to);
  };
  rename("\"board\"", "\"a/0\"");
  rename("\"cube\"", "\"a_0\"");
  const sim::Recording recording = run(scene, {"duration=0.4"});
  const RunSound whole = write_run_sound(folder_, recording, {.settings = {"sound.stems=true"}});
  std::vector<double> sum(whole.sound.frame_count(), 0.0);
  for (const auto& entry : fs::directory_iterator(folder_ / "stems")) {
    const auto stem = sound::read_audio_file(entry.path(), {.full_scale = whole.full_scale});
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += stem.channels[0][i];
  }
  for (std::size_t i = 0; i < sum.size(); ++i)
    ASSERT_NEAR(sum[i], whole.sound.channels[0][i], 1e-6 * whole.peak) << i;
}

TEST_F(RunSoundTest, AMutedBodyIsMissingAndNothingElse)
{
  const sim::Recording recording = run(kBall, {"duration=0.4"});
  const RunSound whole = write_run_sound(folder_, recording, {.settings = {"sound.stems=true"}});
  const auto board = sound::read_audio_file(folder_ / "stems/board.wav", {.full_scale = whole.full_scale});
  const RunSound muted = write_run_sound(folder_, recording,
                                         {.settings = {}, .output = folder_ / "muted.wav", .mute = {"cube"}});
  ASSERT_GT(sound::peak(board), 0);
  for (std::size_t i = 0; i < std::min(muted.sound.frame_count(), board.frame_count()); ++i)
    ASSERT_NEAR(muted.sound.channels[0][i], board.channels[0][i], 1e-6 * whole.peak);
  EXPECT_THROW((void)write_run_sound(folder_, recording, {.mute = {"cub"}}), Error);
  // The run keeps the parts of its own sound until that is made again.
  EXPECT_TRUE(fs::exists(folder_ / "stems"));
  (void)write_run_sound(folder_, recording);
  EXPECT_FALSE(fs::exists(folder_ / "stems"));
}

// From the recording alone: a body that was silent, or had no material, rings as if the scene had said so.
TEST_F(RunSoundTest, BodiesThatWereSilentAreGivenModesAfterwards)
{
  const std::string text = kBall;
  const auto without = [&](std::string words) {
    std::string changed = text;
    const std::string of_board = R"("motion": "fixed", "material": "damped")";
    changed.replace(changed.find(of_board), of_board.size(), R"("motion": "fixed")" + words);
    return changed;
  };
  // The same motion: the surface of a body without a material is another one.
  const std::vector<std::string> short_run = {"duration=0.3", "materials[0].restitution=0",
                                              "materials[0].friction=0.5"};
  const RunSound wanted = write_run_sound(folder_, run(text, short_run));
  const sim::Recording silent = run(without(R"(, "material": "damped", "sound": false)"), short_run);
  const RunSound before = write_run_sound(folder_, silent);
  EXPECT_LT(before.modes, wanted.modes);
  const RunSound after = write_run_sound(folder_, silent, {.settings = {"bodies.board.sound=true"}});
  EXPECT_EQ(after.modes, wanted.modes);
  EXPECT_EQ(after.sound.channels, wanted.sound.channels);
  std::string plain = text;
  const std::string of_board = R"("motion": "fixed", "material": "damped",
     "rings": {"method": "none", "grid": [0.03, 0.04, 0.02]}})";
  ASSERT_NE(plain.find(of_board), std::string::npos);
  plain.replace(plain.find(of_board), of_board.size(), R"("motion": "fixed"})");
  const sim::Recording bare = run(plain, short_run);
  EXPECT_LT(write_run_sound(folder_, bare).modes, wanted.modes);
  const RunSound given = write_run_sound(folder_, bare, {.settings = {"bodies.board.material=wood"}});
  EXPECT_EQ(given.modes, wanted.modes);
  EXPECT_GT(given.peak, 0);
}

TEST_F(RunSoundTest, GainsAndDampingAreChangedWithoutSimulatingAgain)
{
  const sim::Recording recording = run(kBar);
  const auto heard_with = [&](std::vector<std::string> settings) {
    return write_run_sound(folder_, recording, {.settings = std::move(settings)});
  };
  const RunSound plain = heard_with({});
  for (const char* setting : {"materials.steel.gain=3", "bodies.bar.gain=3"}) {
    const RunSound louder = heard_with({setting});
    for (std::size_t i = 0; i < plain.sound.frame_count(); i += 7)
      ASSERT_NEAR(louder.sound.channels[0][i], 3 * plain.sound.channels[0][i], 1e-9 * louder.peak);
  }
  EXPECT_EQ(heard_with({"bodies.bar.gain=0"}).peak, 0);
  // alpha / 2 more of decay.
  const RunSound damped = heard_with({"materials.steel.alpha=25"});
  const auto fall = [](const RunSound& heard) {
    return std::log(spectrum(heard.sound, 288, 0.12, 0.32) / spectrum(heard.sound, 288, 0.42, 0.62)) / 0.3;
  };
  EXPECT_NEAR(fall(damped) - fall(plain), 10, 0.3);
  // With the modes as they were, which are in the cache.
  EXPECT_LT(damped.modes_seconds, 0.5 * plain.modes_seconds + 0.2);
}

TEST_F(RunSoundTest, NormalisedSoundHasItsLoudnessAndTheTableIsInOrder)
{
  const sim::Recording recording = run(kBall, {"duration=0.5"});
  const RunSound heard = write_run_sound(folder_, recording, {.settings = {"sound.normalise=true"}});
  const sound::LoudnessReport report = sound::measure_loudness(heard.sound, {.full_scale = heard.full_scale});
  EXPECT_LE(report.peak, -1 + 1e-9);
  EXPECT_TRUE(std::abs(report.integrated + 18) < 0.1 || std::abs(report.peak + 1) < 1e-6)
      << report.integrated << " LUFS, " << report.peak << " dBFS";
  std::istringstream lines(base::read_text_file(folder_ / "sound.csv"));
  std::string line;
  std::getline(lines, line);
  double last = -1;
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    EXPECT_GE(std::stod(line), last);
    last = std::stod(line);
  }
  EXPECT_GT(count, 1);
}

TEST_F(RunSoundTest, ARunWithoutContactsSaysWhatToDo)
{
  const sim::Recording recording = run(kBar, {"sound=false", "duration=0.1"});
  try {
    (void)write_run_sound(folder_, recording);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--sound"), std::string::npos);
  }
}

}  // namespace
}  // namespace thrum::media
