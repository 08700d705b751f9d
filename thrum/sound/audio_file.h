// SPDX-License-Identifier: MIT
// Sound files: WAV with 32-bit floats, and FLAC with 24-bit integers.
//
//   const AudioFileReport report = write_audio_file("sound.wav", sound);
//   if (report.clips()) ...                      // players cut what is above full scale
//   const AudioBuffer read = read_audio_file("sound.wav");
//
// A file holds sound pressure divided by `full_scale`. WAV keeps what is louder than that, but a player cuts
// it off; FLAC cannot keep it, so it is limited when it is written. The report counts such samples.
//
// WAV is written and read by code of our own, so that the same sound gives the same bytes and no library is
// needed. FLAC, and reading other kinds of files, take libsndfile, which is optional at build time.
#pragma once

#include <cstddef>
#include <filesystem>

#include "thrum/sound/audio.h"

namespace thrum::sound {

struct AudioFileDesc {
  double full_scale = 1;  ///< pressure that is written as 1.0, the loudest sample that players keep [Pa]
};

/// How loud the samples are, in units of full scale.
struct AudioFileReport {
  double peak = 0;                  ///< largest |sample| / full scale
  std::size_t clipped_samples = 0;  ///< how many are above full scale

  [[nodiscard]] bool clips() const { return clipped_samples > 0; }
};

/// What write_audio_file() reports, without writing.
[[nodiscard]] AudioFileReport check_clipping(const AudioBuffer& sound, double full_scale = 1);

/// Whether this build can write FLAC.
[[nodiscard]] bool has_flac();

/// Writes the file under a temporary name and renames it; the ending of the name, .wav or .flac, decides the
/// format. Throws Error for another ending, channels of unequal length, samples that are not finite, more
/// than 8 channels or no sample in FLAC, and whatever the disk refuses.
AudioFileReport write_audio_file(const std::filesystem::path& path, const AudioBuffer& sound,
                                 const AudioFileDesc& desc = {});

/// Reads a whole file: WAV with 32-bit floats always, every format of libsndfile where it was built in.
/// Samples are multiplied by `full_scale`. Throws Error, with the reason, for a file that is missing, damaged
/// or cut short.
[[nodiscard]] AudioBuffer read_audio_file(const std::filesystem::path& path, const AudioFileDesc& desc = {});

}  // namespace thrum::sound
