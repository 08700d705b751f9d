// SPDX-License-Identifier: MIT
#include "thrum/sound/flac_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/sound/audio_file.h"

#ifdef THRUM_HAS_SNDFILE
#include <sndfile.h>
#endif

namespace thrum::sound {

#ifdef THRUM_HAS_SNDFILE

namespace {

/// A file in memory, behind libsndfile's table of functions: files are read at once and written atomically.
struct MemoryFile {
  std::vector<char> bytes;
  sf_count_t position = 0;

  static MemoryFile& of(void* user) { return *static_cast<MemoryFile*>(user); }
  static sf_count_t length(void* user) { return static_cast<sf_count_t>(of(user).bytes.size()); }
  static sf_count_t tell(void* user) { return of(user).position; }
  static sf_count_t seek(sf_count_t offset, int from, void* user)
  {
    MemoryFile& file = of(user);
    const sf_count_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? file.position : length(user);
    file.position = std::max<sf_count_t>(0, base + offset);
    return file.position;
  }
  static sf_count_t read(void* to, sf_count_t count, void* user)
  {
    MemoryFile& file = of(user);
    const sf_count_t available = std::clamp<sf_count_t>(length(user) - file.position, 0, count);
    if (available > 0)
      std::memcpy(to, file.bytes.data() + file.position, static_cast<std::size_t>(available));
    file.position += available;
    return available;
  }
  static sf_count_t write(const void* from, sf_count_t count, void* user)
  {
    MemoryFile& file = of(user);
    const auto end = static_cast<std::size_t>(file.position + count);
    if (end > file.bytes.size()) file.bytes.resize(end);
    std::memcpy(file.bytes.data() + file.position, from, static_cast<std::size_t>(count));
    file.position += count;
    return count;
  }
};

SF_VIRTUAL_IO memory_functions()
{
  return {MemoryFile::length, MemoryFile::seek, MemoryFile::read, MemoryFile::write, MemoryFile::tell};
}

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using SoundFile = std::unique_ptr<SNDFILE, Close>;

constexpr std::size_t kMaxFlacChannels = 8;
constexpr sf_count_t kBlockFrames = 4096;

}  // namespace

bool has_flac()
{
  return true;
}

void write_flac(const std::filesystem::path& path, const AudioBuffer& sound, double full_scale)
{
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("Cannot write {}: {}", path.string(), why));
  };
  const std::size_t channels = sound.channels.size();
  if (channels > kMaxFlacChannels) {
    fail(fmt::format("FLAC holds up to {} channels and the sound has {}. Write WAV.", kMaxFlacChannels,
                     channels));
  }
  if (sound.frame_count() == 0) fail("the sound is empty, which FLAC cannot hold. Write WAV.");
  SF_INFO info{};
  info.samplerate = sound.sample_rate;
  info.channels = static_cast<int>(channels);
  info.format = SF_FORMAT_FLAC | SF_FORMAT_PCM_24;
  if (sf_format_check(&info) == 0) fail(fmt::format("FLAC has no sample rate of {} Hz.", sound.sample_rate));

  MemoryFile memory;
  SF_VIRTUAL_IO functions = memory_functions();
  SoundFile file(sf_open_virtual(&functions, SFM_WRITE, &info, &memory));
  if (!file) fail(fmt::format("libsndfile reports: {}.", sf_strerror(nullptr)));
  sf_command(file.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
  std::vector<double> block;
  for (std::size_t begin = 0; begin < sound.frame_count(); begin += kBlockFrames) {
    const std::size_t end = std::min(sound.frame_count(), begin + kBlockFrames);
    block.clear();
    for (std::size_t i = begin; i < end; ++i) {
      for (const auto& channel : sound.channels) block.push_back(channel[i] / full_scale);
    }
    const auto count = static_cast<sf_count_t>(end - begin);
    if (sf_writef_double(file.get(), block.data(), count) != count) {
      fail(fmt::format("libsndfile reports: {}.", sf_strerror(file.get())));
    }
  }
  file.reset();  // writes the number of samples into the header
  base::write_file(path, std::as_bytes(std::span(memory.bytes)));
}

AudioBuffer read_by_library(const std::filesystem::path& path, std::string_view bytes)
{
  MemoryFile memory{{bytes.begin(), bytes.end()}};
  SF_VIRTUAL_IO functions = memory_functions();
  SF_INFO info{};
  const SoundFile file(sf_open_virtual(&functions, SFM_READ, &info, &memory));
  if (!file) {
    throw Error(fmt::format("Cannot read {}: it is no sound file that libsndfile knows ({}).", path.string(),
                            sf_strerror(nullptr)));
  }
  AudioBuffer sound = make_silence(info.samplerate, static_cast<std::size_t>(info.channels), 0);
  std::vector<double> block(static_cast<std::size_t>(kBlockFrames * info.channels));
  for (;;) {
    const sf_count_t count = sf_readf_double(file.get(), block.data(), kBlockFrames);
    if (count <= 0) break;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count * info.channels); ++i) {
      sound.channels[i % sound.channels.size()].push_back(block[i]);
    }
  }
  const auto expected = static_cast<std::size_t>(info.frames);
  if (sound.frame_count() != expected) {
    throw Error(fmt::format("Cannot read {}: {} of {} samples are there. The file was cut short.",
                            path.string(), sound.frame_count(), expected));
  }
  return sound;
}

#else

bool has_flac()
{
  return false;
}

void write_flac(const std::filesystem::path& path, const AudioBuffer&, double)
{
  throw Error(
      fmt::format("Cannot write {}: thrum was built without libsndfile, which FLAC needs. Write .wav, "
                  "or install libsndfile1-dev and build again.",
                  path.string()));
}

AudioBuffer read_by_library(const std::filesystem::path& path, std::string_view)
{
  throw Error(
      fmt::format("Cannot read {}: it is not a WAV file of 32-bit floats, and thrum was built without "
                  "libsndfile, which other formats need.",
                  path.string()));
}

#endif

}  // namespace thrum::sound
