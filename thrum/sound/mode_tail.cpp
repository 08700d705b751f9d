// SPDX-License-Identifier: MIT
#include "thrum/sound/mode_tail.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/base/random.h"
#include "thrum/elastic/damping.h"

namespace thrum::sound {

namespace {

constexpr double kMinGrowth = 0.5;  ///< of rods, as the square root of the frequency
constexpr double kMaxGrowth = 3;    ///< of solids
constexpr std::uint64_t kSeed = 1995;
const double kArcRms = std::sqrt(1.0 / 30.0);  ///< root mean square of u (1 - |u|) for u in [-1, 1]
const double kThirdOctave = std::cbrt(2.0);

// The square root of a covariance.
Mat3 root_of(const Mat3& covariance)
{
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(covariance);
  const Vec3 roots = solver.eigenvalues().cwiseMax(0).cwiseSqrt();
  return solver.eigenvectors() * roots.asDiagonal() * solver.eigenvectors().transpose();
}

}  // namespace

ModeTail::ModeTail(const model::ModalModel& model, Index count, const std::vector<ModeRadiation>& radiation,
                   const model::Damping& damping, double max_frequency)
    : known_(count)
{
  if (count < kMinModes || model.surface.triangles.empty()) return;
  const double highest = model.frequencies[count - 1];
  while (first_upper_ < count && model.frequencies[first_upper_] <= highest / 2) ++first_upper_;
  if (first_upper_ == 0 || !(highest > 0) || !(max_frequency > highest)) return;
  const auto n = static_cast<double>(count);
  const double growth = std::clamp(std::log2(n / static_cast<double>(first_upper_)), kMinGrowth, kMaxGrowth);
  for (double from = highest; from < max_frequency; from *= kThirdOctave)
    add_modes(from, std::min(max_frequency, from * kThirdOctave), highest, growth);
  const double surface = mesh::area(model.surface);
  draw_waves(surface);

  ModeRadiation mean;
  mean.shares = {0, 0, 0};
  const double share = 1 / static_cast<double>(count - first_upper_);
  for (Index m = first_upper_; m < count; ++m) {
    mean.area += share * radiation[at(m)].area;
    for (std::size_t order = 0; order < 3; ++order)
      mean.shares[order] += share * radiation[at(m)].shares[order];
  }
  const double radius = std::sqrt(surface / (4 * std::numbers::pi));
  for (std::size_t i = 0; i < size(); ++i) {
    decays_.push_back(elastic::decay_of_mode(damping, static_cast<Index>(numbers_[i]), omegas_[i]));
    double efficiency = 0;
    for (int order = 0; order < 3; ++order) {
      efficiency += mean.shares[static_cast<std::size_t>(order)] *
                    sphere_radiation_efficiency(order, omegas_[i] / kSoundSpeed * radius);
    }
    const double amplitude =
        kAirDensity * kSoundSpeed * std::sqrt(efficiency * mean.area / (4 * std::numbers::pi));
    amplitudes_.push_back(std::min(amplitude, max_radiation_amplitude(decays_[i])));
  }
}

// Of a band, evenly in (1).
void ModeTail::add_modes(double from, double to, double lowest, double growth)
{
  const auto n = static_cast<double>(known_);
  const double begin = n * std::pow(from / lowest, growth);
  const double end = n * std::pow(to / lowest, growth);
  const double count = std::max(1.0, std::round(std::min(end - begin, kPerThirdOctave)));
  const double step = (end - begin) / count;
  base::Random random(kSeed, omegas_.size());
  for (double i = 0; i < count; ++i) {
    const double number = begin + step * (i + random.uniform());
    numbers_.push_back(number);
    omegas_.push_back(2 * std::numbers::pi * lowest * std::pow(number / n, 1 / growth));
    counts_.push_back(step);
  }
}

void ModeTail::draw_waves(double surface)
{
  const auto count = static_cast<Eigen::Index>(size());
  base::Random random(kSeed, size() + 1);
  for (Waves& waves : waves_) {
    for (Eigen::ArrayXf* values : {&waves.x, &waves.y, &waves.z, &waves.phase}) values->resize(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const double k = std::sqrt(8 * std::numbers::pi * numbers_[at(i)] / surface);
      const Vec3 wave = k / (2 * std::numbers::pi) * random.direction();
      waves.x[i] = static_cast<float>(wave.x());
      waves.y[i] = static_cast<float>(wave.y());
      waves.z[i] = static_cast<float>(wave.z());
      waves.phase[i] = static_cast<float>(random.uniform());
    }
  }
  weights_ = Eigen::Map<const Eigen::ArrayXd>(counts_.data(), count).sqrt() / kArcRms;
}

void ModeTail::add_shapes(const Vec3& position, Shapes& shapes) const
{
  const auto count = static_cast<Eigen::Index>(size());
  if (count == 0) return;
  const auto upper = shapes.middleCols(first_upper_, known_ - first_upper_);
  const Mat3 root = root_of(upper * upper.transpose() / static_cast<double>(upper.cols()));
  const Eigen::Vector3f p = position.cast<float>();
  Shapes waves(3, count);
  for (int i = 0; i < 3; ++i) {
    const Waves& w = waves_[static_cast<std::size_t>(i)];
    Eigen::ArrayXf u = w.x * p.x() + w.y * p.y() + w.z * p.z() + w.phase;
    u = 2 * (u - u.floor()) - 1;
    u *= 1 - u.abs();
    waves.row(i) = (u.cast<double>() * weights_).matrix().transpose();
  }
  shapes.rightCols(count) = root * waves;
}

}  // namespace thrum::sound
