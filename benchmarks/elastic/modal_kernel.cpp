// SPDX-License-Identifier: MIT
// The modal response of one rigid step: 20 modes struck once, the maximum displacement at 41 resting
// contacts.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "benchmarks/harness.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/elastic/surface_response.h"

namespace thrum::bench {
namespace {

constexpr Eigen::Index kModes = 20;
constexpr std::size_t kContacts = 41;
constexpr double kRigidStep = 0.01;  // [s]
constexpr int kCalls = 20000;

// Frequencies like those of a wooden dining table: 20 modes between 12 and 400 Hz.
elastic::ModeList table_modes()
{
  elastic::ModeList modes{VecX(kModes), VecX(kModes)};
  for (Eigen::Index m = 0; m < kModes; ++m) {
    const double x = static_cast<double>(m) / static_cast<double>(kModes - 1);
    modes.omegas[m] = 2 * std::numbers::pi * (12 + 388 * std::pow(x, 1.3));
    modes.decays[m] = (60 + 2e-6 * modes.omegas[m] * modes.omegas[m]) / 2;
  }
  return modes;
}

// One filter sample at a time, then one product with the rows: as in the formula.
VecX sample_by_sample(const elastic::ModeList& modes, double step, const VecX& impulse, const MatX& rows,
                      std::size_t samples)
{
  const auto a1 = VecX(2 * (-modes.decays * step).array().exp() *
                       ((modes.omegas.array().square() - modes.decays.array().square()).sqrt() * step).cos());
  const auto a2 = VecX((-2 * modes.decays * step).array().exp());
  VecX before = VecX::Zero(kModes);
  VecX now = impulse;
  VecX peak = VecX::Zero(rows.rows());
  for (std::size_t k = 0; k < samples; ++k) {
    peak = peak.cwiseMax((rows * now).cwiseAbs());
    const VecX next = a1.cwiseProduct(now) - a2.cwiseProduct(before);
    before = now;
    now = next;
  }
  return peak;
}

THRUM_BENCHMARK(elastic, modal_kernel)
{
  const elastic::ModeList modes = table_modes();
  const double step = elastic::coevoet_step(modes);
  const auto samples = static_cast<std::size_t>(std::ceil(kRigidStep / step));
  MatX dense(static_cast<Eigen::Index>(kContacts), kModes);
  elastic::SurfaceRows rows(static_cast<std::size_t>(kModes));
  for (Eigen::Index i = 0; i < dense.rows(); ++i) {
    for (Eigen::Index m = 0; m < kModes; ++m) dense(i, m) = std::sin(0.7 * static_cast<double>(i + 3 * m));
    rows.add(dense.row(i).transpose());
  }
  const VecX impulse = VecX::Ones(kModes);

  elastic::ModalFilterBank bank(modes, step);
  elastic::PeakDisplacement kernel;
  std::vector<double> peaks(kContacts);
  const double ours = min_cpu_seconds([&] {
                        for (int i = 0; i < kCalls; ++i) {
                          bank.reset();
                          bank.drive(impulse);
                          kernel.run(bank, rows, samples, peaks);
                          do_not_optimize(peaks[0]);
                        }
                      }) /
                      kCalls;
  const double simple = min_cpu_seconds([&] {
                          for (int i = 0; i < kCalls / 10; ++i) {
                            const VecX peak = sample_by_sample(modes, step, impulse, dense, samples);
                            do_not_optimize(peak[0]);
                          }
                        }) /
                        (kCalls / 10);
  report.row({.name = "modal response: 20 modes, 41 contacts, one step of 10 ms",
              .figure = ours * 1e6,
              .unit = "us",
              .target = 3.0,
              .baseline = "sample by sample with Eigen",
              .baseline_value = simple * 1e6});
  report.note(fmt::format("{} samples of {:.3f} ms", samples, step * 1e3));
}

}  // namespace
}  // namespace thrum::bench
