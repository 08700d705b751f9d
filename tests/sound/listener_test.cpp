// SPDX-License-Identifier: MIT
#include "thrum/sound/listener.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/sound/ambisonics.h"
#include "thrum/sound/hrtf.h"
#include "thrum/sound/transform.h"

namespace thrum::sound {
namespace {

constexpr int kRate = 48000;

/// What a listener hears of a tone of amplitude 1 Pa m, from blocks of some length.
AudioBuffer heard(const Listener& listener, const PoseTrack& source, const std::optional<Ground>& ground = {},
                  std::size_t frames = 4800, std::size_t block = 480, double frequency = 700)
{
  AudioBuffer sound = make_silence(kRate, listener.channel_count(), frames);
  std::vector<double> tone(frames);
  for (std::size_t i = 0; i < frames; ++i) {
    tone[i] = std::sin(2 * std::numbers::pi * frequency * static_cast<double>(i) / kRate);
  }
  for (ListenerPath& path : listener.paths_from(source, {.absorption = false}, ground, sound)) {
    for (std::size_t i = 0; i < frames; i += block) {
      path.push(std::span(tone).subspan(i, std::min(block, frames - i)));
    }
    path.finish();
  }
  return sound;
}

Vec3 direction(double azimuth, double elevation)
{
  return {std::cos(azimuth) * std::cos(elevation), std::sin(azimuth) * std::cos(elevation),
          std::sin(elevation)};
}

TEST(Listener, MonoHearsPressureInPascals)
{
  const Listener mono({.kind = ListenerKind::mono}, PoseTrack(Pose{{0, 0, 1}}), kRate);
  const AudioBuffer sound = heard(mono, PoseTrack(Pose{{0, 4, 1}}));
  EXPECT_NEAR(rms(sound, 0.05, 0.1), 0.25 / std::sqrt(2), 0.25 * 1e-3);
  EXPECT_EQ(mono.channel_names(), std::vector<std::string>{"mono"});
}

// Sound from afar at azimuth a reaches the left microphone earlier by spacing sin(a) / c.
TEST(Listener, StereoPairHearsTheDelayOfItsSpacing)
{
  const double spacing = 0.4;
  const Listener pair({.kind = ListenerKind::stereo, .spacing = spacing}, {}, kRate);
  for (const double azimuth : {-1.2, -0.3, 0.0, 0.7, 1.5}) {
    const double frequency = 300;  // the delay is below half a period
    const AudioBuffer sound =
        heard(pair, PoseTrack(Pose{30 * direction(azimuth, 0)}), {}, 24000, 500, frequency);
    std::array<std::complex<double>, 2> phase{};
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t i = 8000; i < 8000 + 14400; ++i) {
        phase[c] += sound.channels[c][i] *
                    std::polar(1.0, -2 * std::numbers::pi * frequency * static_cast<double>(i) / kRate);
      }
    }
    const double delay = std::arg(phase[0] * std::conj(phase[1])) / (2 * std::numbers::pi * frequency);
    EXPECT_NEAR(delay, spacing * std::sin(azimuth) / Air{}.sound_speed(), 1e-6) << azimuth;
  }
}

TEST(Listener, MicrophonePatternsAreTheirFormula)
{
  const Vec3 axis = direction(0.4, 0.2);
  ListenerDesc desc{.kind = ListenerKind::microphones};
  for (const double pattern : {0.0, 0.5, 1.0}) desc.microphones.push_back({.pattern = pattern, .axis = axis});
  const Listener listener(desc, {}, kRate);
  ASSERT_EQ(listener.channel_count(), 3u);
  EXPECT_EQ(listener.channel_names()[2], "m3");
  for (const Vec3& from : {axis, Vec3(-axis), direction(1.4, -0.3)}) {
    const AudioBuffer sound = heard(listener, PoseTrack(Pose{2 * from}));
    for (std::size_t i = 1000; i < 4000; i += 97) {
      for (std::size_t c = 1; c < 3; ++c) {
        const double pattern = desc.microphones[c].pattern;
        EXPECT_NEAR(sound.channels[c][i], sound.channels[0][i] * (1 - pattern + pattern * axis.dot(from)),
                    1e-9);
      }
    }
  }
}

TEST(Listener, AmbisonicsOfAPlaneWaveIsTheClosedForm)
{
  const Pose pose{{1, 2, 3}, Quat(Eigen::AngleAxisd(0.8, Vec3(1, -2, 0.5).normalized()))};
  const Listener listener({.kind = ListenerKind::ambisonic}, pose, kRate);
  for (const double a : {-2.5, -0.4, 0.0, 1.1, 3.0}) {
    for (const double e : {-1.3, 0.0, 0.6}) {
      const AudioBuffer sound = heard(listener, PoseTrack(Pose{pose.point(5 * direction(a, e))}));
      const std::array<double, 4> gains{1, std::sin(a) * std::cos(e), std::sin(e), std::cos(a) * std::cos(e)};
      const std::array<double, 4> from_header = ambisonic_gains(direction(a, e));
      for (std::size_t c = 0; c < 4; ++c) {
        EXPECT_NEAR(from_header[c], gains[c], 1e-12);
        for (std::size_t i = 2000; i < 4000; i += 171) {
          EXPECT_NEAR(sound.channels[c][i], gains[c] * sound.channels[0][i], 1e-9);
        }
      }
    }
  }
}

PoseTrack turning(double speed, double duration)
{
  std::vector<double> times;
  std::vector<Pose> poses;
  for (double t = 0; t < duration; t += 0.005) {
    times.push_back(t);
    poses.push_back({Vec3::Zero(), Quat(Eigen::AngleAxisd(speed * t, Vec3::UnitZ()))});
  }
  return {times, poses};
}

PoseTrack circling(double speed, double radius, double duration, double lead)
{
  std::vector<double> times;
  std::vector<Pose> poses;
  for (double t = -0.1; t < duration; t += 0.002) {
    times.push_back(t);
    poses.push_back({radius * direction(speed * (t + lead), 0)});
  }
  return {times, poses};
}

// Only the direction in the head's own axes counts: a head that turns hears what a still head hears of a
// source that circles the other way. What arrives left r / c earlier, so the source leads by that.
TEST(Listener, TurningHeadEqualsACirclingSource)
{
  const double radius = 2;
  const double lead = radius / Air{}.sound_speed();
  for (const ListenerKind kind : {ListenerKind::ambisonic, ListenerKind::binaural}) {
    for (const double speed : {-6.0, 2.0}) {
      const Listener turning_head({.kind = kind}, turning(speed, 0.5), kRate);
      const Listener still_head({.kind = kind}, {}, kRate);
      const AudioBuffer a = heard(turning_head, PoseTrack(Pose{{radius, 0, 0}}), {}, 14400);
      const AudioBuffer b = heard(still_head, circling(-speed, radius, 0.5, lead), {}, 14400);
      double worst = 0;
      for (std::size_t c = 0; c < a.channels.size(); ++c) {
        for (std::size_t i = 2400; i < 14400; ++i) {
          worst = std::max(worst, std::abs(a.channels[c][i] - b.channels[c][i]));
        }
      }
      EXPECT_LE(worst, 0.01 * peak(a)) << "kind " << static_cast<int>(kind) << ", " << speed << " rad/s";
      EXPECT_GT(peak(a), 0.3);
    }
  }
}

// Clicks every 50 ms while the head turns: at each of them delay and level between the ears are those of the
// set for the direction of that moment.
TEST(Listener, EarsOfATurningHeadHearTheDelaysAndLevelsOfTheMoment)
{
  constexpr std::size_t kFrames = 48000;
  constexpr std::size_t kEvery = 2400;
  const Hrtf hrtf({}, kRate);
  FourierTransform transform(hrtf.transform_size());
  for (const double speed : {-1.5, 1.5}) {  // [rad/s]
    const Listener listener({.kind = ListenerKind::binaural}, turning(speed, 1.1), kRate);
    const PoseTrack source(Pose{{2, 0, 0}});
    AudioBuffer sound = make_silence(kRate, 2, kFrames);
    std::vector<double> clicks(kFrames, 0.0);
    for (std::size_t i = 0; i < kFrames; i += kEvery) clicks[i] = 1;
    for (ListenerPath& path : listener.paths_from(source, {.absorption = false}, {}, sound)) {
      path.push(clicks);
      path.finish();
    }
    const double delay = 2 / Air{}.sound_speed();
    double largest = 0;
    for (std::size_t i = kEvery; i + kEvery < kFrames; i += kEvery) {
      const auto begin = i + static_cast<std::size_t>(delay * kRate) - 30;
      const double azimuth = -speed * (static_cast<double>(i) / kRate + delay);
      const auto spectra = hrtf.spectra(direction(azimuth, 0));
      std::array<double, 2> level{}, expected_level{}, centre{}, expected_centre{};
      for (std::size_t ear = 0; ear < 2; ++ear) {
        const auto response = transform.samples(spectra[ear]);
        const std::span<const double> heard(sound.channels[ear].data() + begin, kEvery - 100);
        const auto measure = [](std::span<const double> samples, double& energy, double& middle) {
          for (std::size_t n = 0; n < samples.size(); ++n) {
            energy += samples[n] * samples[n];
            middle += static_cast<double>(n) * samples[n] * samples[n];
          }
          middle /= energy;  // where the energy is: a delay that needs no single peak
        };
        measure(heard, level[ear], centre[ear]);
        measure(response, expected_level[ear], expected_centre[ear]);
      }
      EXPECT_NEAR(10 * std::log10(level[0] / level[1]),
                  10 * std::log10(expected_level[0] / expected_level[1]), 1)
          << speed << " rad/s, click " << i;
      EXPECT_NEAR(centre[0] - centre[1], expected_centre[0] - expected_centre[1], 1.5) << i;
      largest = std::max(largest, std::abs(10 * std::log10(expected_level[0] / expected_level[1])));
    }
    EXPECT_GT(largest, 6);  // else nothing turned
  }
}

// A sine satisfies x[n] = 2 cos(w) x[n-1] - x[n-2]; what is left over is what turning adds to it. Changes of
// the response over 15 ms leave little, a step of it would leave as much as it changes.
TEST(Listener, ATurningHeadHearsNoClicks)
{
  const double frequency = 700;
  const double w = 2 * std::numbers::pi * frequency / kRate;
  for (const ListenerKind kind : {ListenerKind::stereo, ListenerKind::ambisonic, ListenerKind::binaural}) {
    for (const double speed : {0.5, 3.0, 12.0}) {  // [rad/s]
      const Listener listener({.kind = kind, .pattern = 0.5}, turning(speed, 0.6), kRate);
      const AudioBuffer sound = heard(listener, PoseTrack(Pose{{2, 0, 0}}), {}, 24000, 480, frequency);
      double worst = 0;
      for (const auto& x : sound.channels) {
        for (std::size_t n = 2402; n < 23000; ++n)
          worst = std::max(worst, std::abs(x[n] - 2 * std::cos(w) * x[n - 1] + x[n - 2]));
      }
      EXPECT_LT(20 * std::log10(worst / peak(sound)), -60) << static_cast<int>(kind) << ", " << speed;
    }
  }
}

// At most 1 / min_distance times the sums of the weights of the delay and of the responses of an ear.
TEST(Listener, OneThatOutrunsTheSoundHearsNothingWorse)
{
  for (const ListenerKind kind : {ListenerKind::mono, ListenerKind::ambisonic, ListenerKind::binaural}) {
    const PoseTrack leaping({0, 0.1, 0.101, 0.2, 0.201}, {Pose{{2, 0, 0}}, Pose{{2, 0, 0}}, Pose{{300, 0, 0}},
                                                          Pose{{300, 0, 0}}, Pose{{1, 0, 0}}});
    const Listener listener({.kind = kind}, leaping, kRate);
    const AudioBuffer sound = heard(listener, PoseTrack(Pose{}), {}, 60000, 77);
    const Listener still({.kind = kind}, PoseTrack(Pose{{1, 0, 0}}), kRate);
    const AudioBuffer after = heard(still, PoseTrack(Pose{}), {}, 60000, 77);
    for (std::size_t c = 0; c < sound.channels.size(); ++c) {
      for (const double x : sound.channels[c]) ASSERT_LE(std::abs(x), 100);
      // 300 m away it hears what left 0.87 s before, when there was none; back again, all that it would have
      // heard.
      for (std::size_t i = 6000; i < 9000; ++i) ASSERT_LE(std::abs(sound.channels[c][i]), 1e-12) << i;
      for (std::size_t i = 12000; i < 50000; ++i)
        ASSERT_NEAR(sound.channels[c][i], after.channels[c][i], 1e-4) << i;
    }
  }
}

TEST(Listener, ResultDoesNotDependOnTheBlocks)
{
  for (const ListenerKind kind : {ListenerKind::stereo, ListenerKind::ambisonic, ListenerKind::binaural}) {
    const Listener listener({.kind = kind, .pattern = 0.5}, turning(3, 0.3), kRate);
    const PoseTrack source = circling(20, 1.5, 0.3, 0);
    const AudioBuffer whole = heard(listener, source, Ground{.height = -1}, 9000, 9000);
    for (const std::size_t block : {1u, 77u, 1024u}) {
      EXPECT_EQ(heard(listener, source, Ground{.height = -1}, 9000, block).channels, whole.channels) << block;
    }
  }
}

TEST(Listener, GroundAddsItsReflection)
{
  const Listener mono({.kind = ListenerKind::mono}, PoseTrack(Pose{{4, 0, 0}}), kRate);
  const PoseTrack source(Pose{{0, 0, 3}});
  const AudioBuffer direct = heard(mono, source);
  const AudioBuffer both = heard(mono, source, Ground{.height = 0, .reflection = 0.6});
  for (std::size_t i = 0; i < direct.frame_count(); ++i) {
    EXPECT_NEAR(both.channels[0][i], 1.6 * direct.channels[0][i], 1e-9);
  }
}

TEST(Listener, DescriptionsThatMakeNoSenseAreRejected)
{
  EXPECT_THROW(Listener({.kind = ListenerKind::microphones}, {}, kRate), Error);
  EXPECT_THROW(Listener({.kind = ListenerKind::stereo, .spacing = -1}, {}, kRate), Error);
  EXPECT_THROW(Listener({.kind = ListenerKind::stereo, .pattern = 2}, {}, kRate), Error);
  EXPECT_THROW(Listener({.kind = ListenerKind::mono}, {}, 0), Error);
  EXPECT_THROW(Listener({.kind = ListenerKind::binaural, .hrtf_file = "no/such.sofa"}, {}, kRate), Error);
  const Listener mono({.kind = ListenerKind::mono}, {}, kRate);
  AudioBuffer stereo = make_silence(kRate, 2, 10);
  EXPECT_THROW(static_cast<void>(mono.paths_from(mono.track(), {}, {}, stereo)), Error);
}

TEST(Listener, ReportsHowCloseTheSourceCame)
{
  const Listener mono({.kind = ListenerKind::mono}, {}, kRate);
  AudioBuffer sound = make_silence(kRate, 1, 4800);
  const PoseTrack source({0, 0.1}, {Pose{{1, 0, 0}}, Pose{{0.02, 0, 0}}});
  auto paths = mono.paths_from(source, {}, {}, sound);
  paths[0].push(std::vector<double>(4800, 1.0));
  paths[0].finish();
  EXPECT_LT(paths[0].closest_distance(), 0.03);
  EXPECT_LE(peak(sound), 1 / PathDesc{}.min_distance * 1.1);
}

}  // namespace
}  // namespace thrum::sound
