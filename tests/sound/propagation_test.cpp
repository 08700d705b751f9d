// SPDX-License-Identifier: MIT
#include "thrum/sound/propagation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/sound/air_filter.h"
#include "thrum/sound/fir_row.h"

namespace thrum::sound {
namespace {

using Signal = std::function<double(double)>;

constexpr double kTwoPi = 2 * std::numbers::pi;

std::vector<double> samples_of(const Signal& signal, int rate, std::size_t count, double start = 0)
{
  std::vector<double> samples(count);
  for (std::size_t i = 0; i < count; ++i) samples[i] = signal(start + static_cast<double>(i) / rate);
  return samples;
}

std::vector<double> received(const SoundPath& path, const std::vector<double>& source, int rate,
                             std::size_t block = 1000, double start = 0)
{
  Propagator propagator(path, rate, start);
  std::vector<double> pressure;
  for (std::size_t i = 0; i < source.size(); i += block) {
    propagator.push(std::span(source).subspan(i, std::min(block, source.size() - i)));
    propagator.pull(pressure);
  }
  propagator.finish(pressure, source.size());
  pressure.resize(source.size());  // what is still under way when the source ends may be known already
  return pressure;
}

PoseTrack straight_line(const Vec3& from, const Vec3& velocity, double duration, double step = 0.01)
{
  std::vector<double> times;
  std::vector<Pose> poses;
  for (double t = 0; t < duration + step; t += step) {
    times.push_back(t);
    poses.push_back({from + t * velocity});
  }
  return {times, poses};
}

// Who flies away from a distance d at M times the speed of sound from t = 0 is heard as it was at
// (t - d / c) / (1 + M), at any M.
TEST(SoundPath, FlyingAwayFasterThanSoundHasItsClosedForm)
{
  const double c = Air{}.sound_speed();
  for (const double mach : {0.5, 0.95, 3.0, 58.0, 1e5}) {
    const PoseTrack still({Vec3(0, -2, 0)});
    const PoseTrack away = straight_line(Vec3::Zero(), {0, mach * c, 0}, 3);
    const SoundPath path(away, still);
    for (const double t : {0.5, 1.0, 2.5}) {
      const double emission = (t - 2 / c) / (1 + mach);
      const PathMoment heard = path.at_reception(t);
      EXPECT_NEAR(heard.emission, emission, 1e-9) << mach;
      EXPECT_NEAR(heard.distance, c * (t - emission), 1e-6 * heard.distance) << mach;
      EXPECT_NEAR(path.at_emission(heard.emission).reception, t, 1e-6) << mach;
    }
  }
}

// Time and memory are those of the sound that is made, at any speed, also one that overflows.
TEST(Propagation, WhoFliesAwayAtAnySpeedIsHeardInBoundedTime)
{
  const int rate = 8000;
  for (const double speed : {2e4, 1e9, 1e160, 1e300}) {
    const PoseTrack still({Vec3(0, -2, 0)});
    const PoseTrack away = straight_line(Vec3::Zero(), {0, speed, 0}, 1);
    const std::vector<double> source(static_cast<std::size_t>(rate), 1.0);
    Propagator propagator(SoundPath(away, still), rate);
    std::vector<double> pressure;
    for (std::size_t i = 0; i < source.size(); i += 1000) {
      propagator.push(std::span(source).subspan(i, 1000));
      propagator.pull(pressure);
      ASSERT_LT(pressure.size(), 9U << 16) << speed;
    }
    propagator.finish(pressure, source.size());
    for (const double p : pressure) ASSERT_TRUE(std::isfinite(p)) << speed;
  }
}

// ISO 9613-2, table 2: attenuation [dB/km] at the exact midband frequencies of octaves from 63 Hz on.
TEST(Air, AbsorptionIsThatOfTheStandardsTable)
{
  const struct {
    double celsius, humidity;
    std::array<double, 8> table;
  } rows[] = {{10, 70, {0.1, 0.4, 1.0, 1.9, 3.7, 9.7, 32.8, 117}},
              {20, 70, {0.1, 0.3, 1.1, 2.8, 5.0, 9.0, 22.9, 76.6}},
              {30, 70, {0.1, 0.3, 1.0, 3.1, 7.4, 12.7, 23.1, 59.3}},
              {15, 20, {0.3, 0.6, 1.2, 2.7, 8.2, 28.2, 88.8, 202}},
              {15, 50, {0.1, 0.5, 1.2, 2.2, 4.2, 10.8, 36.2, 129}},
              {15, 80, {0.1, 0.3, 1.1, 2.4, 4.1, 8.3, 23.7, 82.8}}};
  for (const auto& row : rows) {
    const Air air{.temperature = 273.15 + row.celsius, .humidity = row.humidity};
    for (int octave = 0; octave < 8; ++octave) {
      const double frequency = 1000 * std::pow(10, 0.3 * (octave - 4));
      const double expected = row.table[static_cast<std::size_t>(octave)];
      EXPECT_NEAR(1000 * air.absorption(frequency), expected, 0.05 + 0.005 * expected)
          << row.celsius << " C, " << row.humidity << " %, " << frequency << " Hz";
    }
  }
  EXPECT_NEAR(Air{}.sound_speed(), 343.2, 1e-9);
  EXPECT_NEAR(Air{}.density(), 1.204, 1e-3);
  EXPECT_THROW(check_air({.temperature = 20}), Error);
}

TEST(AirFilter, HasTheAbsorptionOfTheAirAndNoDelay)
{
  const Air air;
  for (const int rate : {44100, 48000, 96000, 192000}) {
    AirFilter filter(air, rate);
    std::vector<double> taps(filter.half_length() + 1);
    for (const double distance : {0.5, 5.0, 50.0, 150.0}) {
      filter.taps(distance, taps);
      for (const double frequency : {0.0, 100.0, 1000.0, 4000.0, 10000.0, 16000.0}) {
        double gain = taps[0];
        for (std::size_t k = 1; k < taps.size(); ++k) {
          gain += 2 * taps[k] * std::cos(kTwoPi * frequency / rate * static_cast<double>(k));
        }
        const double decibel = 20 * std::log10(gain);
        const double expected = -air.absorption(frequency) * distance;
        EXPECT_NEAR(decibel, expected, 0.05 + 0.002 * distance + 0.02 * std::abs(expected))
            << rate << " Hz, " << distance << " m, " << frequency << " Hz";
      }
    }
  }
}

TEST(PoseTrack, KeepsStraightMotionAndTurnsEvenly)
{
  const PoseTrack line = straight_line({1, 2, 3}, {4, -5, 6}, 1, 0.037);
  for (const double t : {0.0, 0.0123, 0.5, 0.777}) {
    EXPECT_LE((line.position(t) - (Vec3(1, 2, 3) + t * Vec3(4, -5, 6))).norm(), 1e-12);
  }
  EXPECT_EQ(line.position(-1), Vec3(1, 2, 3));
  EXPECT_EQ(line.position(99), line.position(100));
  const Quat quarter(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitZ()));
  const PoseTrack turn({0, 1}, {Pose{}, Pose{Vec3::Zero(), quarter}});
  EXPECT_NEAR(turn.rotation(0.3).angularDistance(Quat::Identity()), 0.3 * std::numbers::pi / 2, 1e-12);
  EXPECT_THROW(PoseTrack({0, 0}, {Pose{}, Pose{}}), Error);
  EXPECT_THROW(PoseTrack({}, {}), Error);
}

TEST(PoseTrack, LookingAtATargetPutsItAhead)
{
  const Pose pose = look_at({1, 2, 3}, {4, 6, 3});
  EXPECT_LE((pose.point_to_local({4, 6, 3}) - Vec3(5, 0, 0)).norm(), 1e-12);
  EXPECT_GT(pose.direction(Vec3::UnitZ()).z(), 0.999);
  EXPECT_THROW(static_cast<void>(look_at({0, 0, 0}, {0, 0, 1})), Error);
}

TEST(Propagator, PressureFallsWithDistanceAndArrivesInTime)
{
  const PoseTrack source;
  for (const int rate : {44100, 48000, 192000}) {
    for (const double distance : {0.2, 0.3456, 1.0, 7.77, 40.0}) {
      // A pulse of 0.3 ms, emitted between two samples; closed form of (1) and (2).
      const Signal pulse = [](double t) {
        return std::exp(-std::pow((t - 0.0100037) / 0.3e-3, 2));
      };
      const PoseTrack receiver(Pose{{0, distance, 0}});
      const SoundPath path(source, receiver, {.absorption = false});
      const double travel = distance / Air{}.sound_speed();
      const auto pressure =
          received(path, samples_of(pulse, rate, static_cast<std::size_t>(0.15 * rate)), rate);
      double worst = 0;
      double moment = 0;
      double sum = 0;
      for (std::size_t i = 0; i < pressure.size(); ++i) {
        const double t = static_cast<double>(i) / rate;
        worst = std::max(worst, std::abs(pressure[i] * distance - pulse(t - travel)));
        moment += pressure[i] * t;
        sum += pressure[i];
      }
      EXPECT_LE(worst, 2e-4) << rate << " Hz, " << distance << " m";
      EXPECT_NEAR((moment / sum - travel - 0.0100037) * rate, 0, 1e-3);  // in samples
    }
  }
}

// A source that passes the receiver on a straight line at distance b: (1) is a quadratic in emission time.
double emission_time(double t, double x0, double v, double b, double c)
{
  const double A = c * c - v * v;
  const double B = c * c * t + x0 * v;
  return (B - std::sqrt(B * B - A * (c * c * t * t - x0 * x0 - b * b))) / A;
}

TEST(Propagator, MovingSourceFollowsTheClosedForm)
{
  const double c = Air{}.sound_speed();
  const double frequency = 3000;
  for (const int rate : {44100, 48000, 96000}) {
    for (const double v : {-100.0, -10.0, -1.0, 1.0, 10.0, 100.0}) {
      const double x0 = -0.2 * v;
      const double b = 2;
      const PoseTrack source = straight_line({x0, b, 0}, {v, 0, 0}, 0.5);
      const PoseTrack receiver;
      const SoundPath path(source, receiver, {.absorption = false});
      const Signal tone = [&](double t) {
        return std::sin(kTwoPi * frequency * t);
      };
      const auto count = static_cast<std::size_t>(0.4 * rate);
      const auto pressure = received(path, samples_of(tone, rate, count), rate);
      double worst = 0;
      for (std::size_t i = count / 5; i < count; ++i) {
        const double t = static_cast<double>(i) / rate;
        const double te = emission_time(t, x0, v, b, c);
        worst = std::max(worst, std::abs(pressure[i] * c * (t - te) - tone(te)));
      }
      EXPECT_LE(worst, 1e-3) << rate << " Hz, " << v << " m/s";
    }
  }
}

/// Frequency [Hz] of a tone by the phase that it gains against exp(i w t) over the samples.
double measured_frequency(std::span<const double> samples, int rate, double near)
{
  const auto phase_of = [&](std::size_t begin, std::size_t count) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double window =
          0.5 - 0.5 * std::cos(kTwoPi * static_cast<double>(i) / static_cast<double>(count));
      const double angle = kTwoPi * near * static_cast<double>(begin + i) / rate;
      sum += window * samples[begin + i] * std::polar(1.0, -angle);
    }
    return std::arg(sum);
  };
  const std::size_t half = samples.size() / 2;
  const double turn = std::remainder(phase_of(half, half) - phase_of(0, half), kTwoPi);
  return near + turn / (kTwoPi * static_cast<double>(half) / rate);
}

TEST(Propagator, DopplerShiftIsTheClosedForm)
{
  const double c = Air{}.sound_speed();
  const double frequency = 2000;
  for (const int rate : {44100, 48000, 96000, 192000}) {
    for (const double v : {-60.0, -20.0, -5.0, 5.0, 20.0, 60.0}) {
      const PoseTrack still;
      const PoseTrack ahead(Pose{{100, 0, 0}});
      const auto count = static_cast<std::size_t>(0.6 * rate);
      const auto source = samples_of([&](double t) { return std::sin(kTwoPi * frequency * t); }, rate, count);
      const auto shifted = [&](const PoseTrack& from, const PoseTrack& to, double expected) {
        const SoundPath path(from, to, {.absorption = false});
        const auto pressure = received(path, source, rate);
        const auto settled = std::span(pressure).subspan(static_cast<std::size_t>(0.4 * rate));
        EXPECT_NEAR(measured_frequency(settled, rate, expected), expected, 1e-5 * expected)
            << rate << " Hz, " << v << " m/s";
      };
      shifted(straight_line({0, 0, 0}, {v, 0, 0}, 0.7), ahead, frequency / (1 - v / c));
      shifted(still, straight_line({100, 0, 0}, {-v, 0, 0}, 0.7), frequency * (1 + v / c));
    }
  }
}

// Samples of a body at rest share their weights; where it starts and stops, the sound goes on without a
// step, and silence before, between and after is exact.
TEST(Propagator, ABodyThatRestsMovesAndRestsFollowsTheClosedForm)
{
  const double c = Air{}.sound_speed();
  const auto distance = [](double t) {
    return 1 + 0.5 * (1 - std::cos(std::numbers::pi * std::clamp((t - 0.2) / 0.2, 0.0, 1.0))) / 2;
  };
  std::vector<double> times;
  std::vector<Pose> poses;
  for (int i = 0; i <= 600; ++i) {
    times.push_back(0.001 * i);
    poses.push_back({{distance(times.back()), 0, 0}});
  }
  const PoseTrack source(times, poses);
  const PoseTrack receiver;
  const SoundPath path(source, receiver, {.absorption = false});
  const Signal tone = [](double t) {
    return t < 0.05 || (t > 0.15 && t < 0.16) || t > 0.5 ? 0 : std::sin(kTwoPi * 1000 * t);
  };
  for (const int rate : {48000, 384000}) {
    const auto samples = samples_of(tone, rate, static_cast<std::size_t>(0.6 * rate));
    const auto pressure = received(path, samples, rate);
    double worst = 0;
    for (std::size_t i = 0; i < pressure.size(); ++i) {
      const double t = static_cast<double>(i) / rate;
      double emission = t;
      for (int k = 0; k < 50; ++k) emission = t - distance(emission) / c;
      if (emission < 0.048 || emission > 0.502) {
        EXPECT_EQ(pressure[i], 0) << t;
      }
      // Where the tone begins and ends it has a kink, which no sampled signal has.
      bool kink = false;
      for (const double edge : {0.05, 0.15, 0.16, 0.5}) kink |= std::abs(emission - edge) < 2e-3;
      if (!kink) worst = std::max(worst, std::abs(pressure[i] * distance(emission) - tone(emission)));
    }
    EXPECT_LE(worst, 2e-3) << rate;
    EXPECT_EQ(received(path, samples, rate, 77), pressure);
  }
}

TEST(FilterRow, IsTheSumInOrderWhereverTheRowIsCut)
{
  std::vector<double> samples, weights;
  for (int i = 0; i < 300; ++i) samples.push_back(std::sin(1.7 * i * i));
  for (int k = 0; k < 67; ++k) weights.push_back(std::cos(0.3 * k * k));
  std::vector<double> whole(samples.size() - weights.size() + 1);
  filter_row(samples.data(), weights, whole);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    double sum = 0;
    for (std::size_t first = 0; first < 8; ++first)
      for (std::size_t k = first; k < weights.size(); k += 8) sum += weights[k] * samples[n + k];
    EXPECT_EQ(whole[n], sum) << n;
  }
  for (const std::size_t cut : {1u, 7u, 16u, 33u}) {
    std::vector<double> pieces(whole.size());
    for (std::size_t n = 0; n < whole.size(); n += cut)
      filter_row(samples.data() + n, weights, std::span(pieces).subspan(n, std::min(cut, whole.size() - n)));
    EXPECT_EQ(pieces, whole) << cut;
  }
}

TEST(Propagator, ResultDoesNotDependOnTheBlocks)
{
  const PoseTrack source = straight_line({-3, 1, 0.5}, {9, 2, -1}, 1);
  const PoseTrack receiver = straight_line({0, -1, 1}, {-2, 1, 0}, 1);
  const SoundPath path({source, {0.1, 0, 0}}, {receiver, {0, 0.1, 0}});
  const auto samples = samples_of([](double t) { return std::sin(7000 * t * (1 + t)); }, 48000, 30000);
  const auto whole = received(path, samples, 48000, samples.size());
  ASSERT_EQ(whole.size(), samples.size());
  for (const std::size_t block : {1u, 63u, 4096u, 20000u})
    EXPECT_EQ(received(path, samples, 48000, block), whole) << block;
}

// A path that never changes is one filter. The same path as one that could change, which delays and absorbs
// one after the other, gives the same sound, at any rate and distance; with silence before, between and
// after; and for blocks of any length.
TEST(Propagator, APathThatNeverChangesIsHeardAsOneThatCould)
{
  for (const int rate : {44100, 48000, 96000, 192000}) {
    for (const double distance : {0.3, 2.0, 7.3, 40.0}) {
      for (const bool absorption : {false, true}) {
        const PoseTrack fixed(Pose{{distance, 0, 0}});
        const PoseTrack could_move({0, 10}, {Pose{{distance, 0, 0}}, Pose{{distance, 0, 0}}});
        const PoseTrack receiver(Pose{{0, 0, 0}});
        const PathDesc desc{.absorption = absorption};
        // Up to 0.8 of half the rate; silent up to 30 ms or not at all, from 40 to 50 ms and from 80 ms on.
        const double begin = absorption ? 0.03 : 0;
        const auto samples = samples_of(
            [&](double t) {
              const double angle = std::numbers::pi * rate * (0.1 + 4 * t) * t;
              return t < begin || t > 0.08 || (t > 0.04 && t < 0.05) ? 0.0 : std::cos(angle) * (1 + t);
            },
            rate, static_cast<std::size_t>(rate) / 4);
        const SoundPath path(fixed, receiver, desc);
        const auto one = received(path, samples, rate);
        const auto two = received(SoundPath(could_move, receiver, desc), samples, rate);
        ASSERT_EQ(one.size(), two.size());
        double worst = 0;
        for (std::size_t i = 0; i < one.size(); ++i) worst = std::max(worst, std::abs(one[i] - two[i]));
        EXPECT_LT(worst * distance, 4e-6) << rate << " Hz, " << distance << " m, " << absorption;
        for (const std::size_t block : {1u, 63u, 4096u}) EXPECT_EQ(received(path, samples, rate, block), one);
      }
    }
  }
}

TEST(Propagator, RigidGroundIsAMirror)
{
  const PoseTrack source(Pose{{0, 0, 1.5}});
  const PoseTrack receiver(Pose{{3, 0, 0.5}});
  const PathDesc mirror{.absorption = false, .reflected = true, .ground = {.height = -0.5, .reflection = 1}};
  const SoundPath path(source, receiver, mirror);
  const PathMoment moment = path.at_emission(0);
  EXPECT_NEAR(moment.distance, std::hypot(3.0, 3.0), 1e-12);  // image at z = -2.5
  EXPECT_LE((moment.departure - Vec3(1, 0, -1).normalized()).norm(), 1e-12);
  EXPECT_LE((moment.arrival - Vec3(-1, 0, -1).normalized()).norm(), 1e-12);

  // What has sunk into the ground counts as lying on it, and is not mirrored to above it.
  const PoseTrack sunk(Pose{{0, 0, -0.8}});
  const SoundPath from_sunk(sunk, receiver, mirror);
  EXPECT_NEAR(from_sunk.at_emission(0).distance, std::hypot(3.0, 1.0), 1e-12);
  EXPECT_NEAR(SoundPath(source, sunk, mirror).at_emission(0).distance, 2, 1e-12);

  // A receiver on the ground: both arrive together, so the pressure is doubled.
  const PoseTrack on_ground(Pose{{3, 0, -0.5}});
  const auto samples = samples_of([](double t) { return std::sin(6000 * t); }, 48000, 2000);
  const auto direct = received(SoundPath(source, on_ground, {.absorption = false}), samples, 48000);
  const auto reflected = received(SoundPath(source, on_ground, mirror), samples, 48000);
  EXPECT_GT(direct[1500] * direct[1500] + direct[1506] * direct[1506], 1e-3);
  for (std::size_t i = 0; i < direct.size(); ++i) EXPECT_NEAR(direct[i], reflected[i], 1e-9);
}

TEST(Propagator, PressureStaysFiniteAtTheSource)
{
  const PoseTrack here;
  const SoundPath path(here, here, {.absorption = false, .min_distance = 0.25});
  const auto pressure = received(path, std::vector<double>(200, 1.0), 48000);
  EXPECT_NEAR(pressure[100], 4, 1e-9);
}

}  // namespace
}  // namespace thrum::sound
