// SPDX-License-Identifier: MIT
#include "apps/thrum/sound_report.h"

#include <fmt/format.h>

#include "thrum/base/error.h"
#include "thrum/base/same_file.h"
#include "thrum/media/sound_picture.h"
#include "thrum/sound/loudness.h"

namespace thrum::app {

void add_sound_pictures(CLI::App& command, SoundPictures& pictures)
{
  command.add_option("--spectrogram", pictures.spectrogram,
                     "write a picture of level over time and frequency (.png)");
  command.add_option("--waveform", pictures.waveform, "write a picture of the pressure over time (.png)");
}

void check_sound_pictures(const SoundPictures& pictures)
{
  check_output(pictures.spectrogram, {".png"});
  check_output(pictures.waveform, {".png"});
  if (pictures.spectrogram.empty() || pictures.waveform.empty()) return;
  if (base::is_same_file(pictures.spectrogram, pictures.waveform))
    throw Error(fmt::format("--spectrogram and --waveform are both {}; give each a file of its own.",
                            pictures.waveform));
}

void write_sound_pictures(const SoundPictures& pictures, const sound::AudioBuffer& sound,
                          const std::string& title, const std::vector<double>& lines)
{
  if (!pictures.spectrogram.empty())
    media::write_png(pictures.spectrogram, media::spectrogram_picture(sound::make_spectrogram(sound),
                                                                      {.title = title, .lines = lines}));
  if (!pictures.waveform.empty())
    media::write_png(pictures.waveform, media::waveform_picture(sound, {.title = title}));
}

std::string loudness_text(const sound::AudioBuffer& sound, double full_scale)
{
  const sound::LoudnessReport report = sound::measure_loudness(sound, {.full_scale = full_scale});
  return fmt::format("loudness {:.1f} LUFS, peak {:.1f} dBFS", report.integrated, report.peak);
}

}  // namespace thrum::app
