// SPDX-License-Identifier: MIT
#include "thrum/media/sound_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/bitmap_font.h"
#include "thrum/media/picture.h"

namespace thrum::media {

namespace {

const Colour kInk(0.15f, 0.15f, 0.18f);
const Colour kGrid(0.85f, 0.85f, 0.87f);
const Colour kWave(0.0f, 0.33f, 0.6f);
const Colour kLine(1.0f, 1.0f, 1.0f);
constexpr double kMinPressure = 1e-12;  ///< of the axis of a silent sound [Pa]
constexpr int kScale = 2;               ///< of the font
constexpr int kGap = 8;                 ///< between things [pixel]
constexpr int kLeft = 90;               ///< space for the numbers of the vertical axis [pixel]
constexpr int kBottom = 60;
constexpr int kTop = 36;
constexpr int kLegend = 150;  ///< width of the colour bar with its numbers [pixel]
constexpr int kDotPeriod = 7;
constexpr int kDot = 3;

struct Frame {
  int left = 0;
  int right = 0;
  int top = 0;
  int bottom = 0;
};

void fill(Image& image, int x0, int x1, int y0, int y1, const Colour& colour, float opacity = 1)
{
  for (int y = y0; y <= y1; ++y) {
    for (int x = x0; x <= x1; ++x) blend(image, x, y, colour, opacity);
  }
}

void draw_border(Image& image, const Frame& frame)
{
  fill(image, frame.left, frame.right, frame.top, frame.top, kInk);
  fill(image, frame.left, frame.right, frame.bottom, frame.bottom, kInk);
  fill(image, frame.left, frame.left, frame.top, frame.bottom, kInk);
  fill(image, frame.right, frame.right, frame.top, frame.bottom, kInk);
}

/// Numbers and ticks below the frame.
void draw_time_axis(Image& image, const Frame& frame, double duration)
{
  for (const PlotTick& tick : plot_ticks({0, duration}, AxisScale::linear)) {
    const int x =
        frame.left + static_cast<int>(std::lround(tick.value / duration * (frame.right - frame.left)));
    if (x < frame.left || x > frame.right) continue;
    fill(image, x, x, frame.bottom, frame.bottom + 4, kInk);
    draw_text(image, x - text_width(tick.text, kScale) / 2, frame.bottom + kGap, tick.text, kInk, kScale);
  }
  const std::string label = "time [s]";
  draw_text(image, (frame.left + frame.right - text_width(label, kScale)) / 2,
            frame.bottom + 2 * kGap + text_height(kScale), label, kInk, kScale);
}

void draw_title(Image& image, const std::string& title)
{
  draw_text(image, (image.width - text_width(title, kScale)) / 2, kGap, title, kInk, kScale);
}

/// Between pixel rows and frequencies.
class FrequencyAxis {
 public:
  FrequencyAxis(const Frame& frame, double low, double high, AxisScale scale)
      : frame_(frame), low_(map(low, scale)), high_(map(high, scale)), scale_(scale)
  {
  }
  [[nodiscard]] double frequency_at(double y) const
  {
    const double u = low_ + (frame_.bottom - y) / (frame_.bottom - frame_.top) * (high_ - low_);
    return scale_ == AxisScale::logarithmic ? std::pow(10, u) : u;
  }
  [[nodiscard]] int row_of(double frequency) const
  {
    const double u = (map(frequency, scale_) - low_) / (high_ - low_);
    return frame_.bottom - static_cast<int>(std::lround(u * (frame_.bottom - frame_.top)));
  }

 private:
  static double map(double frequency, AxisScale scale)
  {
    return scale == AxisScale::logarithmic ? std::log10(frequency) : frequency;
  }
  Frame frame_;
  double low_;
  double high_;
  AxisScale scale_;
};

/// The level between two frequencies at a column: the loudest line in between, or a mean of those on both
/// sides.
double level_between(const sound::Spectrogram& s, double low, double high, Eigen::Index column)
{
  const auto last = s.levels.rows() - 1;
  const auto first = static_cast<Eigen::Index>(std::ceil(low / s.frequency_step));
  const auto end = static_cast<Eigen::Index>(std::floor(high / s.frequency_step));
  if (first <= end && first <= last) {
    return s.levels.col(column).segment(first, std::min(end, last) - first + 1).maxCoeff();
  }
  const double place = std::clamp(0.5 * (low + high) / s.frequency_step, 0.0, static_cast<double>(last));
  const auto below = std::min(static_cast<Eigen::Index>(place), last - 1);
  const double part = place - static_cast<double>(below);
  return (1 - part) * s.levels(below, column) + part * s.levels(below + 1, column);
}

// The loudest of many frequencies, at their loudest moment.
std::vector<double> loudest(const sound::Spectrogram& s, std::vector<double> lines, std::size_t count)
{
  if (lines.size() <= count) return lines;
  const auto level = [&](double line) {
    const auto row = static_cast<Eigen::Index>(std::lround(line / s.frequency_step));
    return row < s.levels.rows() ? s.levels.row(row).maxCoeff() : -std::numeric_limits<double>::infinity();
  };
  std::vector<std::pair<double, double>> ranked;
  for (const double line : lines) ranked.emplace_back(-level(line), line);
  std::sort(ranked.begin(), ranked.end());
  lines.clear();
  for (std::size_t i = 0; i < count; ++i) lines.push_back(ranked[i].second);
  return lines;
}

}  // namespace

Image spectrogram_picture(const sound::Spectrogram& spectrogram, const SpectrogramPictureDesc& desc)
{
  const double half_rate = static_cast<double>(spectrogram.levels.rows() - 1) * spectrogram.frequency_step;
  const double top_frequency = std::min(desc.max_frequency, half_rate);
  if (!(desc.min_frequency > 0 && desc.min_frequency < top_frequency && desc.range > 0)) {
    throw Error(fmt::format("A spectrogram from {} to {} Hz over {} dB is empty.", desc.min_frequency,
                            top_frequency, desc.range));
  }
  Image image(desc.width, desc.height);
  const Frame frame{kLeft, desc.width - kLegend, kTop, desc.height - kBottom};
  if (frame.right - frame.left < 50 || frame.bottom - frame.top < 50) {
    throw Error(fmt::format("A spectrogram of {} x {} pixels is too small.", desc.width, desc.height));
  }
  const double top = desc.top_level.value_or(spectrogram.levels.maxCoeff());
  const ValueRange range{top - desc.range, top};
  const FrequencyAxis axis(frame, desc.min_frequency, top_frequency, desc.scale);
  for (int y = frame.top; y <= frame.bottom; ++y) {
    const double low = axis.frequency_at(y + 0.5);
    const double high = axis.frequency_at(y - 0.5);
    for (int x = frame.left; x <= frame.right; ++x) {
      const double u = static_cast<double>(x - frame.left) / (frame.right - frame.left + 1);
      const auto column = static_cast<Eigen::Index>(u * static_cast<double>(spectrogram.levels.cols()));
      const double level = level_between(spectrogram, low, high, column);
      image.at(x, y) = to_pixel(colour_of(ColourMap::sequential, range.fraction(level)));
    }
  }
  for (const double line : loudest(spectrogram, desc.lines, desc.max_lines)) {
    if (!(line >= desc.min_frequency && line <= top_frequency)) continue;
    const int y = axis.row_of(line);
    for (int x = frame.left; x <= frame.right; ++x) {
      if (x % kDotPeriod < kDot) blend(image, x, y, kLine, 0.45f);
    }
  }
  draw_border(image, frame);
  draw_time_axis(image, frame, spectrogram.duration);
  int last_text = image.height;
  for (const PlotTick& tick : plot_ticks({desc.min_frequency, top_frequency}, desc.scale)) {
    const int y = axis.row_of(tick.value);
    if (y < frame.top || y > frame.bottom) continue;
    fill(image, frame.left - (tick.text.empty() ? 3 : 6), frame.left, y, y, kInk);
    if (tick.text.empty() || last_text - y < text_height(kScale) + 2) continue;
    draw_text(image, frame.left - kGap - text_width(tick.text, kScale), y - text_height(kScale) / 2,
              tick.text, kInk, kScale);
    last_text = y;
  }
  draw_text(image, kGap, kGap, "[Hz]", kInk, kScale);
  draw_title(image, desc.title);
  draw_legend(image, ColourMap::sequential, range, "level [dB]");
  return image;
}

Image waveform_picture(const sound::AudioBuffer& sound, const WaveformPictureDesc& desc)
{
  if (sound.frame_count() == 0) throw Error("A sound without samples has no waveform.");
  const int channels = static_cast<int>(sound.channels.size());
  Image image(desc.width, kTop + channels * desc.height + kBottom);
  const double largest = std::max(sound::peak(sound), kMinPressure);
  const Frame whole{kLeft, desc.width - 4 * kGap, kTop, kTop + channels * desc.height};
  const int columns = whole.right - whole.left + 1;
  for (int c = 0; c < channels; ++c) {
    const Frame frame{whole.left, whole.right, kTop + c * desc.height, kTop + (c + 1) * desc.height};
    const double middle = 0.5 * (frame.top + frame.bottom);
    const double unit = (0.5 * desc.height - 6) / largest;
    fill(image, frame.left, frame.right, static_cast<int>(middle), static_cast<int>(middle), kGrid);
    const std::vector<double>& samples = sound.channels[at(c)];
    for (int x = 0; x < columns; ++x) {
      const auto begin = samples.size() * at(x) / at(columns);
      const auto end = std::max(begin + 1, samples.size() * at(x + 1) / at(columns));
      const auto [low, high] =
          std::minmax_element(samples.begin() + static_cast<std::ptrdiff_t>(begin),
                              samples.begin() + static_cast<std::ptrdiff_t>(std::min(end, samples.size())));
      fill(image, frame.left + x, frame.left + x, static_cast<int>(std::lround(middle - unit * *high)),
           static_cast<int>(std::lround(middle - unit * *low)), kWave);
    }
    draw_border(image, frame);
    const auto label = [&](double value, double y) {
      const std::string text = fmt::format("{:.2g}", value);
      draw_text(image, frame.left - kGap - text_width(text, kScale),
                static_cast<int>(y) - text_height(kScale) / 2, text, kInk, kScale);
    };
    label(largest, middle - unit * largest + text_height(kScale) / 2.0);
    label(0, middle);
    label(-largest, middle + unit * largest - text_height(kScale) / 2.0);
    if (at(c) < desc.channel_names.size()) {
      draw_text(image, frame.left + kGap, frame.top + kGap, desc.channel_names[at(c)], kInk, kScale);
    }
  }
  draw_time_axis(image, whole, sound.duration());
  draw_text(image, kGap, kGap, "[Pa]", kInk, kScale);
  draw_title(image, desc.title);
  return image;
}

}  // namespace thrum::media
