// SPDX-License-Identifier: MIT
#include "thrum/sound/audio_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

#include "tests/base/scratch_folder.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/sound/flac_file.h"

namespace thrum::sound {
namespace {

AudioBuffer waves(int sample_rate, std::size_t channels, std::size_t frames)
{
  AudioBuffer sound = make_silence(sample_rate, channels, frames);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i < frames; ++i) {
      sound.channels[c][i] = 0.9 * std::sin(0.1 * static_cast<double>((c + 1) * i) + static_cast<double>(c));
    }
  }
  return sound;
}

std::string message_of(const std::function<void()>& action)
{
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

double largest_difference(const AudioBuffer& a, const AudioBuffer& b)
{
  EXPECT_EQ(a.sample_rate, b.sample_rate);
  EXPECT_EQ(a.channels.size(), b.channels.size());
  EXPECT_EQ(a.frame_count(), b.frame_count());
  if (a.channels.size() != b.channels.size() || a.frame_count() != b.frame_count()) return 1e300;
  double largest = 0;
  for (std::size_t c = 0; c < a.channels.size(); ++c) {
    for (std::size_t i = 0; i < a.frame_count(); ++i) {
      largest = std::max(largest, std::abs(a.channels[c][i] - b.channels[c][i]));
    }
  }
  return largest;
}

TEST(AudioFile, ReadsBackWhatItWroteForAnyRateAndNumberOfChannels)
{
  const base::ScratchFolder folder;
  for (const int rate : {44100, 48000, 96000, 192000}) {
    for (const std::size_t channels : {1u, 2u, 4u, 7u}) {
      for (const std::size_t frames : {0u, 1u, 5001u}) {
        const AudioBuffer sound = waves(rate, channels, frames);
        static_cast<void>(write_audio_file(folder / "a.wav", sound));
        EXPECT_LE(largest_difference(sound, read_audio_file(folder / "a.wav")), 6e-8);
        if (!has_flac() || frames == 0) continue;
        static_cast<void>(write_audio_file(folder / "a.flac", sound));
        EXPECT_LE(largest_difference(sound, read_audio_file(folder / "a.flac")), std::ldexp(1, -23));
      }
    }
  }
  EXPECT_EQ(folder.file_count(), has_flac() ? 2u : 1u);  // no temporary file is left
}

TEST(AudioFile, WavIsReadByAnIndependentReader)
{
  if (!has_flac()) GTEST_SKIP() << "built without libsndfile";
  const base::ScratchFolder folder;
  for (const std::size_t channels : {1u, 2u, 4u}) {
    const AudioBuffer sound = waves(48000, channels, 777);
    static_cast<void>(write_audio_file(folder / "a.wav", sound));
    const std::string bytes = base::read_text_file(folder / "a.wav");
    EXPECT_LE(largest_difference(sound, read_by_library("a.wav", bytes)), 6e-8);
  }
}

TEST(AudioFile, FullScaleIsTheUnitOfTheFile)
{
  const base::ScratchFolder folder;
  const AudioBuffer sound{48000, {{0.0, 10.0, -20.0}}};
  static_cast<void>(write_audio_file(folder / "a.wav", sound, {.full_scale = 20}));
  EXPECT_LE(largest_difference({48000, {{0, 0.5, -1}}}, read_audio_file(folder / "a.wav")), 0.0);
  EXPECT_LE(largest_difference(sound, read_audio_file(folder / "a.wav", {.full_scale = 20})), 0.0);
}

TEST(AudioFile, ReportsClippingAndKeepsItInWavOnly)
{
  const base::ScratchFolder folder;
  const AudioBuffer sound{48000, {{0.5, 1.0, -1.5}, {0.0, 3.0, 0.1}}};
  const AudioFileReport report = write_audio_file(folder / "a.wav", sound);
  EXPECT_TRUE(report.clips());
  EXPECT_EQ(report.clipped_samples, 2u);
  EXPECT_DOUBLE_EQ(report.peak, 3);
  EXPECT_DOUBLE_EQ(read_audio_file(folder / "a.wav").channels[1][1], 3);
  EXPECT_FALSE(check_clipping(sound, 3).clips());
  if (!has_flac()) return;
  EXPECT_EQ(write_audio_file(folder / "a.flac", sound).clipped_samples, 2u);
  EXPECT_NEAR(read_audio_file(folder / "a.flac").channels[0][2], -1, 1e-6);
  EXPECT_NEAR(read_audio_file(folder / "a.flac").channels[1][1], 1, 1e-6);
}

TEST(AudioFile, RejectsWhatCannotBeWritten)
{
  const base::ScratchFolder folder;
  const auto message = [&](const std::string& name, const AudioBuffer& sound, double full_scale = 1) {
    return message_of([&] { static_cast<void>(write_audio_file(folder / name, sound, {full_scale})); });
  };
  const AudioBuffer good = waves(48000, 1, 10);
  AudioBuffer infinite = good;
  infinite.channels[0][7] = std::numeric_limits<double>::infinity();
  EXPECT_NE(message("a.mp3", good).find(".wav or .flac"), std::string::npos);
  EXPECT_NE(message("a.wav", infinite).find("sample 7 of channel 0 is not a finite number"),
            std::string::npos);
  EXPECT_NE(message("a.wav", {48000, {{0, 1e39}}}).find("sample 1 of channel 0 is 1e+39 Pa"),
            std::string::npos);
  EXPECT_NE(message("a.wav", good, 1e-39).find("which no file holds"), std::string::npos);
  EXPECT_NE(message("a.wav", {48000, {{0, 1}, {0}}}).find("channel 1 has 1 samples"), std::string::npos);
  EXPECT_NE(message("a.wav", {48000, {}}).find("no channel"), std::string::npos);
  EXPECT_NE(message("a.wav", {0, {{0}}}).find("sample rate is 0 Hz"), std::string::npos);
  EXPECT_NE(message("a.wav", good, 0).find("full scale"), std::string::npos);
  EXPECT_NE(message("no/such/folder/a.wav", good).find("No such file"), std::string::npos);
  EXPECT_NE(message("a.flac", waves(48000, 9, 1)), "no error");
  EXPECT_NE(message("a.flac", waves(48000, 1, 0)), "no error");
  EXPECT_EQ(folder.file_count(), 0u);
}

TEST(AudioFile, EveryCutFileIsAnError)
{
  const base::ScratchFolder folder;
  static_cast<void>(write_audio_file(folder / "a.wav", waves(48000, 3, 40)));
  const std::string whole = base::read_text_file(folder / "a.wav");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(folder / "cut.wav", std::ios::binary) << std::string_view(whole).substr(0, size);
    EXPECT_THROW(static_cast<void>(read_audio_file(folder / "cut.wav")), Error) << size << " bytes";
  }
  EXPECT_THROW(static_cast<void>(read_audio_file(folder / "missing.wav")), Error);
  base::write_file(folder / "text.wav", std::string_view("This is no sound."));
  EXPECT_THROW(static_cast<void>(read_audio_file(folder / "text.wav")), Error);
}

TEST(AudioFile, SameSoundGivesTheSameBytes)
{
  const base::ScratchFolder folder;
  static_cast<void>(write_audio_file(folder / "a.wav", waves(48000, 2, 100)));
  static_cast<void>(write_audio_file(folder / "b.wav", waves(48000, 2, 100)));
  EXPECT_EQ(base::read_text_file(folder / "a.wav"), base::read_text_file(folder / "b.wav"));
}

}  // namespace
}  // namespace thrum::sound
