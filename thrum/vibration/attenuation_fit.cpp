// SPDX-License-Identifier: MIT
#include "thrum/vibration/attenuation_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/random.h"
#include "thrum/vibration/attenuation.h"

namespace thrum::vibration {

namespace {

/// Cosine of 60 degrees.
constexpr double kMinFacingCosine = 0.5;
/// A place is held when an impact moves it less than this share of the median of all places.
constexpr double kHeldRatio = 1e-3;
/// r0 is looked for between this share of the nearest distance and the farthest distance.
constexpr double kMinR0 = 1e-3;
constexpr int kCoarseSteps = 96;  ///< of the search for r0
constexpr int kGoldenSteps = 64;  ///< each shortens the interval to 0.618 of it
constexpr double kGolden = 0.6180339887498949;

/// Places at random over the surface, every part of it alike.
std::vector<elastic::SurfaceProbe> random_probes(const model::ModalModel& model,
                                                 const std::optional<Vec3>& facing, int count,
                                                 base::Random& random)
{
  std::vector<double> sums;
  std::vector<Index> triangles;
  double total = 0;
  for (std::size_t t = 0; t < model.surface.triangles.size(); ++t) {
    const Vec3 area = mesh::area_vector(model.surface, t);
    if (facing && !(area.dot(*facing) >= kMinFacingCosine * area.norm() * facing->norm())) continue;
    if (!(area.norm() > 0)) continue;
    total += area.norm();
    sums.push_back(total);
    triangles.push_back(static_cast<Index>(t));
  }
  if (triangles.empty()) throw Error("No part of the surface faces the wanted way.");
  std::vector<elastic::SurfaceProbe> places;
  for (int i = 0; i < count; ++i) {
    const auto at = std::lower_bound(sums.begin(), sums.end(), random.uniform() * total) - sums.begin();
    const Index t = triangles[std::min(static_cast<std::size_t>(at), triangles.size() - 1)];
    // Two numbers fold the unit square onto the triangle.
    double u = random.uniform(), v = random.uniform();
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    places.push_back({{t, Vec3(1 - u - v, u, v)},
                      mesh::area_vector(model.surface, static_cast<std::size_t>(t)).normalized()});
  }
  return places;
}

double mean_edge(const mesh::TriangleMesh& mesh)
{
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) sum += (mesh.corner(t, k) - mesh.corner(t, (k + 1) % 3)).norm();
  }
  return mesh.triangles.empty() ? 0 : sum / (3 * static_cast<double>(mesh.triangles.size()));
}

double median(std::vector<double> values)
{
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// ln s over r, with weights that are all one.
struct LogSamples {
  std::vector<double> r;
  std::vector<double> ln_s;
};

struct Absorption {
  double alpha = 0, beta = 0;
  double error = 0;  ///< sum of squares
};

// [Coevoet20, eq. 14] for a given r0 is linear: ln s = -alpha (r - r0) - beta ln(r / r0) for r > r0, and ln s
// = 0 nearer. Least squares for two unknowns that are not negative: inside, on one of the edges, or at the
// corner, whichever is best and allowed.
Absorption fit_for_r0(const LogSamples& samples, double r0)
{
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0, yy = 0;
  for (std::size_t i = 0; i < samples.r.size(); ++i) {
    const double y = -samples.ln_s[i];
    yy += y * y;
    if (samples.r[i] <= r0) continue;
    const double a = samples.r[i] - r0;
    const double b = std::log(samples.r[i] / r0);
    aa += a * a;
    ab += a * b;
    bb += b * b;
    ay += a * y;
    by += b * y;
  }
  Absorption best{0, 0, yy};
  const auto consider = [&](double alpha, double beta) {
    if (!(alpha >= 0) || !(beta >= 0)) return;
    const double error =
        yy - 2 * (alpha * ay + beta * by) + alpha * alpha * aa + 2 * alpha * beta * ab + beta * beta * bb;
    if (error < best.error) best = {alpha, beta, error};
  };
  if (aa > 0) consider(ay / aa, 0);
  if (bb > 0) consider(0, by / bb);
  const double determinant = aa * bb - ab * ab;
  if (determinant > 0) consider((ay * bb - by * ab) / determinant, (by * aa - ay * ab) / determinant);
  return best;
}

// The error as a function of ln r0 has a kink wherever r0 passes a sample, so a coarse walk finds the valley
// and golden sections its bottom.
AttenuationCurve fit_full(const LogSamples& samples, double nearest, double farthest)
{
  const double low = std::log(kMinR0 * nearest);
  const double high = std::log(farthest);
  int at = 0;
  double least = INFINITY;
  for (int k = 0; k <= kCoarseSteps; ++k) {
    const double error = fit_for_r0(samples, std::exp(low + (high - low) * k / kCoarseSteps)).error;
    if (error < least) {
      least = error;
      at = k;
    }
  }
  double a = low + (high - low) * std::max(0, at - 1) / kCoarseSteps;
  double b = low + (high - low) * std::min(kCoarseSteps, at + 1) / kCoarseSteps;
  const auto error = [&](double x) {
    return fit_for_r0(samples, std::exp(x)).error;
  };
  double x1 = b - kGolden * (b - a), x2 = a + kGolden * (b - a);
  double e1 = error(x1), e2 = error(x2);
  for (int k = 0; k < kGoldenSteps; ++k) {
    if (e1 <= e2) {
      b = std::exchange(x2, x1);
      e2 = e1;
      x1 = b - kGolden * (b - a);
      e1 = error(x1);
    } else {
      a = std::exchange(x1, x2);
      e1 = e2;
      x2 = a + kGolden * (b - a);
      e2 = error(x2);
    }
  }
  const double r0 = std::exp((a + b) / 2);
  const Absorption best = fit_for_r0(samples, r0);
  AttenuationCurve curve;
  curve.settings.full = true;
  curve.settings.alpha = best.alpha;
  curve.settings.beta = best.beta;
  curve.settings.r0 = r0;
  curve.settings.min_distance = r0;
  return curve;
}

// ln s = ln C - beta ln r: a straight line, level at the steepest that may rise. Nearer than where it reaches
// 1, and nearer than anything that was seen, it is not followed.
AttenuationCurve fit_simple(const LogSamples& samples, double nearest, double farthest)
{
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(samples.r.size());
  for (std::size_t i = 0; i < samples.r.size(); ++i) {
    mean_x += std::log(samples.r[i]) / n;
    mean_y += samples.ln_s[i] / n;
  }
  for (std::size_t i = 0; i < samples.r.size(); ++i) {
    const double x = std::log(samples.r[i]) - mean_x;
    xx += x * x;
    xy += x * (samples.ln_s[i] - mean_y);
  }
  AttenuationCurve curve;
  curve.settings.beta = std::max(0.0, -xy / xx);
  const double ln_C = mean_y + curve.settings.beta * mean_x;
  curve.settings.C = std::exp(ln_C);
  const double ln_one = curve.settings.beta > 0 ? ln_C / curve.settings.beta : -INFINITY;
  curve.settings.min_distance = std::clamp(std::exp(std::min(ln_one, std::log(farthest))), nearest, farthest);
  return curve;
}

double spread(const AttenuationSettings& settings, const LogSamples& samples)
{
  double sum = 0;
  for (std::size_t i = 0; i < samples.r.size(); ++i)
    sum += std::pow(samples.ln_s[i] - std::log(attenuation(settings, samples.r[i])), 2);
  return std::exp(std::sqrt(sum / static_cast<double>(samples.r.size())));
}

}  // namespace

AttenuationSampleDesc sample_desc(const ResponseSettings& settings, const AttenuationSettings& attenuation,
                                  double step)
{
  AttenuationSampleDesc desc;
  const bool displacement = settings.rule == KickRule::peak_displacement;
  desc.measure = displacement ? AttenuationMeasure::displacement : AttenuationMeasure::speed;
  desc.window = displacement ? step : settings.window > 0 ? settings.window : kDefaultWindow;
  desc.distance = attenuation.distance;
  desc.average = attenuation.average;
  return desc;
}

AttenuationSamples sample_attenuation(const model::ModalModel& model, const AttenuationSampleDesc& desc)
{
  if (model.mode_count() == 0 || model.surface.triangles.empty() ||
      model.shapes.rows() != 3 * model.vertex_count())
    throw Error("Attenuation can be measured only on a model with modes and a surface of its own.");
  if (desc.impact_count < 1 || desc.probe_count < 1 || !(desc.window > 0))
    throw Error("Attenuation is measured with at least one impact, one place and a window above 0.");
  base::Random random(desc.seed);
  const std::vector<elastic::SurfaceProbe> struck =
      random_probes(model, desc.facing, desc.impact_count, random);
  const std::vector<elastic::SurfaceProbe> felt = random_probes(model, desc.facing, desc.probe_count, random);
  const auto rows_of = [&](const std::vector<elastic::SurfaceProbe>& places) {
    MatX rows(static_cast<Eigen::Index>(places.size()), model.shapes.cols());
    for (std::size_t i = 0; i < places.size(); ++i)
      rows.row(static_cast<Eigen::Index>(i)) = elastic::surface_row(model, places[i]).transpose();
    return rows;
  };
  const MatX struck_rows = rows_of(struck);
  const MatX felt_rows = rows_of(felt);

  // Places that are held say nothing: an impact there moves nothing, and there nothing arrives.
  std::vector<double> inverse_masses;
  for (const MatX* rows : {&struck_rows, &felt_rows}) {
    for (Eigen::Index i = 0; i < rows->rows(); ++i) inverse_masses.push_back(rows->row(i).squaredNorm());
  }
  const double min_inverse_mass = kHeldRatio * median(inverse_masses);
  AttenuationSamples result;
  result.held = static_cast<int>(std::count_if(
      inverse_masses.begin(), inverse_masses.end(),
      [&](double inverse_effective_mass) { return inverse_effective_mass <= min_inverse_mass; }));

  const elastic::ModeList modes = elastic::mode_list(model);
  std::optional<distance::HeatGeodesics> geodesics;
  if (desc.distance == WaveDistance::geodesic) geodesics.emplace(model.surface);
  const double min_distance = desc.min_distance > 0 ? desc.min_distance : mean_edge(model.surface);
  std::vector<double> own;  ///< of the struck place, one for each sample
  double sum_own = 0;
  int impacts = 0;
  PeakSearch search;
  for (std::size_t i = 0; i < struck.size(); ++i) {
    const auto mode_impulse = struck_rows.row(static_cast<Eigen::Index>(i));
    if (!(mode_impulse.squaredNorm() > min_inverse_mass)) continue;
    // Everywhere at once: the last column is the struck place itself.
    MatX columns(felt_rows.cols(), felt_rows.rows() + 1);
    columns << felt_rows.transpose(), mode_impulse.transpose();
    search.sample(modes, {VecX::Zero(mode_impulse.size()), mode_impulse.transpose()}, desc.window);
    const std::vector<Peak> peaks = desc.measure == AttenuationMeasure::speed
                                        ? search.max_speed(columns)
                                        : search.max_displacement(columns);
    sum_own += peaks.back().value;
    ++impacts;
    distance::GeodesicField field;
    if (geodesics) field = geodesics->distance(struck[i].point);
    for (std::size_t j = 0; j < felt.size(); ++j) {
      if (!(felt_rows.row(static_cast<Eigen::Index>(j)).squaredNorm() > min_inverse_mass)) continue;
      AttenuationSample sample;
      sample.struck = mesh::position(model.surface, struck[i].point);
      sample.receiver = mesh::position(model.surface, felt[j].point);
      sample.distance =
          geodesics ? geodesics->evaluate(field, felt[j].point) : (sample.struck - sample.receiver).norm();
      if (!std::isfinite(sample.distance) || sample.distance < min_distance) continue;
      sample.ratio = peaks[j].value;
      own.push_back(peaks.back().value);
      result.samples.push_back(sample);
    }
  }
  for (std::size_t k = 0; k < result.samples.size(); ++k)
    result.samples[k].ratio /= desc.average ? sum_own / impacts : own[k];
  return result;
}

AttenuationFit fit_attenuation(std::span<const AttenuationSample> samples)
{
  LogSamples logs;
  for (const AttenuationSample& sample : samples) {
    if (!(sample.distance > 0) || !(sample.ratio > 0) || !std::isfinite(sample.distance) ||
        !std::isfinite(sample.ratio))
      continue;
    logs.r.push_back(sample.distance);
    logs.ln_s.push_back(std::log(sample.ratio));
  }
  if (logs.r.size() < kMinSamples)
    throw Error(fmt::format("Attenuation cannot be fitted to {} samples; {} are needed.", logs.r.size(),
                            kMinSamples));
  const auto [nearest, farthest] = std::minmax_element(logs.r.begin(), logs.r.end());
  if (!(*farthest > *nearest))
    throw Error("Attenuation cannot be fitted to samples that are all equally far.");
  AttenuationFit fit;
  fit.count = logs.r.size();
  fit.full = fit_full(logs, *nearest, *farthest);
  fit.simple = fit_simple(logs, *nearest, *farthest);
  fit.full.spread = spread(fit.full.settings, logs);
  fit.simple.spread = spread(fit.simple.settings, logs);
  return fit;
}

AttenuationSettings with_fit(AttenuationSettings settings, const AttenuationFit& fit)
{
  const AttenuationSettings& curve = settings.full ? fit.full.settings : fit.simple.settings;
  if (settings.full) {
    settings.alpha = curve.alpha;
    settings.r0 = curve.r0;
  } else {
    settings.C = curve.C;
  }
  settings.beta = curve.beta;
  settings.min_distance = curve.min_distance;
  return settings;
}

}  // namespace thrum::vibration
