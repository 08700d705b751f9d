// SPDX-License-Identifier: MIT
#include "thrum/sound/audio_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "thrum/base/atomic_file.h"
#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/sound/flac_file.h"

namespace thrum::sound {

namespace {

constexpr std::uint16_t kFloatFormat = 3;            ///< WAVE_FORMAT_IEEE_FLOAT
constexpr std::uint16_t kExtensibleFormat = 0xFFFE;  ///< WAVE_FORMAT_EXTENSIBLE, for more than two channels
constexpr std::uint64_t kMaxWavBytes = 0xFFFFFFFFu;  ///< sizes in the file have 32 bits
/// What follows the two bytes of the format in the identifier of a WAVE_FORMAT_EXTENSIBLE sub-format.
constexpr std::string_view kSubFormatTail("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71", 14);

void check_sound(const std::filesystem::path& path, const AudioBuffer& sound, double full_scale)
{
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("Cannot write {}: {}", path.string(), why));
  };
  if (sound.sample_rate <= 0) fail(fmt::format("the sample rate is {} Hz.", sound.sample_rate));
  if (sound.channels.empty()) fail("the sound has no channel.");
  if (!(full_scale > 0) || !std::isfinite(full_scale)) {
    fail(fmt::format("full scale is {} Pa; it must be positive.", full_scale));
  }
  for (std::size_t c = 0; c < sound.channels.size(); ++c) {
    const auto& channel = sound.channels[c];
    if (channel.size() != sound.frame_count()) {
      fail(fmt::format("channel {} has {} samples and channel 0 has {}.", c, channel.size(),
                       sound.frame_count()));
    }
    const auto bad = std::find_if(channel.begin(), channel.end(), [](double s) { return !std::isfinite(s); });
    if (bad != channel.end()) {
      fail(fmt::format("sample {} of channel {} is not a finite number.", bad - channel.begin(), c));
    }
    const auto loud = std::find_if(channel.begin(), channel.end(), [&](double s) {
      return std::abs(s) / full_scale > double{std::numeric_limits<float>::max()};
    });
    if (loud != channel.end()) {
      fail(fmt::format(
          "sample {} of channel {} is {:.3g} Pa, which no file holds at a full scale of {:.3g} Pa.",
          loud - channel.begin(), c, *loud, full_scale));
    }
  }
}

std::string wav_header(const AudioBuffer& sound, std::uint32_t data_bytes)
{
  const auto channels = static_cast<std::uint16_t>(sound.channels.size());
  const bool extensible = channels > 2;
  std::string format;
  base::append_bytes(format, extensible ? kExtensibleFormat : kFloatFormat);
  base::append_bytes(format, channels);
  base::append_bytes(format, static_cast<std::uint32_t>(sound.sample_rate));
  base::append_bytes(format, static_cast<std::uint32_t>(sound.sample_rate) * channels * 4u);
  base::append_bytes(format, static_cast<std::uint16_t>(channels * 4));
  base::append_bytes(format, std::uint16_t{32});
  base::append_bytes(format, static_cast<std::uint16_t>(extensible ? 22 : 0));
  if (extensible) {
    base::append_bytes(format, std::uint16_t{32});
    base::append_bytes(format, std::uint32_t{0});  // no loudspeaker is named
    base::append_bytes(format, kFloatFormat);
    format += kSubFormatTail;
  }
  std::string header = "RIFF";
  base::append_bytes(header, static_cast<std::uint32_t>(4 + 8 + format.size() + 12 + 8 + data_bytes));
  header += "WAVEfmt ";
  base::append_bytes(header, static_cast<std::uint32_t>(format.size()));
  header += format;
  header += "fact";
  base::append_bytes(header, std::uint32_t{4});
  base::append_bytes(header, static_cast<std::uint32_t>(sound.frame_count()));
  header += "data";
  base::append_bytes(header, data_bytes);
  return header;
}

void write_wav(const std::filesystem::path& path, const AudioBuffer& sound, double full_scale)
{
  const std::uint64_t data_bytes = std::uint64_t{4} * sound.channels.size() * sound.frame_count();
  if (sound.channels.size() > 0xFFFF / 4 || data_bytes > kMaxWavBytes - 128) {
    throw Error(
        fmt::format("Cannot write {}: {} channels of {} samples are more than the 4 GiB of a WAV "
                    "file. Write a shorter part, fewer channels, or FLAC.",
                    path.string(), sound.channels.size(), sound.frame_count()));
  }
  base::AtomicFile file(path);
  file.write(wav_header(sound, static_cast<std::uint32_t>(data_bytes)));
  std::vector<float> frame(sound.channels.size());
  for (std::size_t i = 0; i < sound.frame_count(); ++i) {
    for (std::size_t c = 0; c < frame.size(); ++c) {
      frame[c] = static_cast<float>(sound.channels[c][i] / full_scale);
    }
    file.write(std::as_bytes(std::span(frame)));
  }
  file.commit();
}

struct WavFormat {
  std::uint16_t tag = 0;
  std::uint16_t channels = 0;
  std::uint32_t sample_rate = 0;
  std::uint16_t bits = 0;

  [[nodiscard]] bool is_float() const { return tag == kFloatFormat && bits == 32; }
};

WavFormat read_wav_format(base::ByteReader chunk)
{
  WavFormat format;
  format.tag = chunk.read<std::uint16_t>("format tag");
  format.channels = chunk.read<std::uint16_t>("number of channels");
  format.sample_rate = chunk.read<std::uint32_t>("sample rate");
  static_cast<void>(chunk.take(6, "bytes of rate and alignment"));
  format.bits = chunk.read<std::uint16_t>("bits per sample");
  if (format.tag == kExtensibleFormat) {
    static_cast<void>(chunk.take(8, "bytes of the extension"));
    format.tag = chunk.read<std::uint16_t>("sub-format");
  }
  return format;
}

/// False when the file is no WAV file of 32-bit floats. Throws InputError when it is one but damaged.
bool read_wav(const std::filesystem::path& path, std::string_view bytes, AudioBuffer& sound)
{
  if (bytes.substr(0, 4) != "RIFF" || bytes.size() < 12 || bytes.substr(8, 4) != "WAVE") return false;
  base::ByteReader reader(bytes, path);
  reader.set_advice("The file is damaged or was cut short.");
  reader.seek(12);
  WavFormat format;
  for (;;) {
    const std::string_view name = reader.take(4, "characters of a chunk name");
    const auto size = reader.read<std::uint32_t>("chunk size");
    if (name == "fmt ") {
      format = read_wav_format(base::ByteReader(reader.take(size, "bytes of the format"), path));
      if (!format.is_float()) return false;
    } else if (name == "data") {
      if (format.channels == 0 || format.sample_rate == 0 || format.sample_rate > 0x7FFFFFFFu) {
        reader.fail("samples without a valid format before them", "a chunk \"fmt \"");
      }
      const std::size_t frames = size / (4u * format.channels);
      reader.require(frames * format.channels, 4, "samples");
      sound = make_silence(static_cast<int>(format.sample_rate), format.channels, frames);
      for (std::size_t i = 0; i < frames; ++i) {
        for (auto& channel : sound.channels) channel[i] = reader.read<float>("sample");
      }
      return true;
    } else {
      static_cast<void>(reader.take(size + (size & 1u), "bytes of a chunk"));
    }
  }
}

}  // namespace

AudioFileReport check_clipping(const AudioBuffer& sound, double full_scale)
{
  AudioFileReport report;
  for (const auto& channel : sound.channels) {
    for (const double sample : channel) {
      const double level = std::abs(sample) / full_scale;
      report.peak = std::max(report.peak, level);
      if (level > 1) ++report.clipped_samples;
    }
  }
  return report;
}

AudioFileReport write_audio_file(const std::filesystem::path& path, const AudioBuffer& sound,
                                 const AudioFileDesc& desc)
{
  const std::string ending = path.extension().string();
  if (ending != ".wav" && ending != ".flac") {
    throw Error(
        fmt::format("Cannot write {}: the name of a sound file ends in .wav or .flac.", path.string()));
  }
  check_sound(path, sound, desc.full_scale);
  if (ending == ".wav") {
    write_wav(path, sound, desc.full_scale);
  } else {
    write_flac(path, sound, desc.full_scale);
  }
  return check_clipping(sound, desc.full_scale);
}

AudioBuffer read_audio_file(const std::filesystem::path& path, const AudioFileDesc& desc)
{
  const std::string bytes = base::read_text_file(path);
  AudioBuffer sound;
  if (!read_wav(path, bytes, sound)) sound = read_by_library(path, bytes);
  for (auto& channel : sound.channels) {
    for (double& sample : channel) sample *= desc.full_scale;
  }
  return sound;
}

}  // namespace thrum::sound
