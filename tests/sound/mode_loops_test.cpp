// SPDX-License-Identifier: MIT
#include "thrum/sound/mode_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "thrum/base/random.h"
#include "thrum/sound/contact_damping.h"
#include "thrum/sound/modal_bank.h"

namespace thrum::sound {
namespace {

constexpr std::size_t kMaxCount = 21;  ///< whole vectors and every rest

std::vector<double> random_row(base::Random& random, double min, double max)
{
  std::vector<double> row(kMaxCount);
  for (double& x : row) x = random.uniform(min, max);
  return row;
}

TEST(ModeLoops, FactorsAreExponentialsAndPowersAreThoseOfAnInterval)
{
  base::Random random(18);
  constexpr double kStep = 1.0 / 44100;
  const std::vector<double> decays = random_row(random, 0, kMaxSmallDecay / kStep);
  const std::vector<double> re = random_row(random, -1, 1);
  const std::vector<double> im = random_row(random, -1, 1);
  for (std::size_t count = 1; count <= kMaxCount; ++count) {
    std::vector<double> factors(count + 1, -1), once_re(count + 1, -1), once_im(count), all_re(count + 1, -1),
        all_im(count);
    small_decay_factors(decays.data(), kStep, factors.data(), count);
    multiply(factors.data(), {re.data(), im.data()}, {once_re.data(), once_im.data()}, count);
    multiply_by_power(factors.data(), {re.data(), im.data()}, {all_re.data(), all_im.data()}, count);
    for (std::size_t m = 0; m < count; ++m) {
      ASSERT_NEAR(factors[m], std::exp(-decays[m] * kStep), 2e-13);
      ASSERT_EQ(once_re[m], factors[m] * re[m]);
      ASSERT_EQ(once_im[m], factors[m] * im[m]);
      const double power = std::pow(factors[m], double{ModalBank::kInterval});
      ASSERT_NEAR(all_re[m], power * re[m], 1e-14);
      ASSERT_NEAR(all_im[m], power * im[m], 1e-14);
    }
    // Nothing is written behind the row.
    ASSERT_EQ(factors[count], -1);
    ASSERT_EQ(once_re[count], -1);
    ASSERT_EQ(all_re[count], -1);
  }
}

TEST(ModeLoops, SquaresSlopesAndSumsAreThoseOfEachMode)
{
  base::Random random(19);
  const std::vector<double> a = random_row(random, 0, 50);
  const std::vector<double> b = random_row(random, 0, 50);
  const std::vector<double> c = random_row(random, 0, 50);
  const std::vector<double> omegas = random_row(random, 100, 1e5);
  for (std::size_t count = 1; count <= kMaxCount; ++count) {
    std::vector<double> re(count), im(count), slopes(count), sums(count, 7.0);
    inverse_squares(a.data(), b.data(), omegas.data(), {re.data(), im.data()}, count);
    monotone_slopes(a.data(), b.data(), c.data(), 0.01, 0.02, slopes.data(), count);
    add_weighted({a.data(), b.data(), c.data(), omegas.data()}, {0.1, -0.2, 0.3, -0.4}, sums.data(), count);
    for (std::size_t m = 0; m < count; ++m) {
      const std::complex<double> s(-a[m] - b[m], omegas[m]);
      const std::complex<double> found(re[m], im[m]);
      ASSERT_LT(std::abs(found * s * s - 1.0), 1e-14);
      ASSERT_EQ(slopes[m], monotone_slope((b[m] - a[m]) / 0.01, (c[m] - b[m]) / 0.02, 0.01, 0.02));
      ASSERT_EQ(sums[m], 7.0 + (0.1 * a[m] + -0.2 * b[m] + 0.3 * c[m] + -0.4 * omegas[m]));
    }
  }
}

// However many vectors of modes run at once: the sum of the modes, each by itself.
TEST(ModeLoops, AnyNumberOfModesRingsAsTheSumOfSingleOnes)
{
  base::Random random(20);
  std::vector<double> out(ModalBank::kInterval);
  for (Eigen::Index count = 1; count <= 130; count += 3) {
    elastic::ModeList list;
    list.omegas = VecX(count);
    list.decays = VecX(count);
    std::vector<double> gains;
    for (Eigen::Index m = 0; m < count; ++m) {
      list.omegas[m] = random.uniform(200, 1.2e5);
      list.decays[m] = random.uniform(0, 100);
      gains.push_back(random.uniform(-1, 1));
    }
    ModalBank bank(list, 48000);
    bank.strike(0, 0, gains);
    for (int interval = 0; interval < 3; ++interval) {
      std::fill(out.begin(), out.end(), 0.0);
      bank.render(out);
    }
    for (std::size_t n = 0; n < out.size(); ++n) {
      const double t = static_cast<double>(n + 2 * ModalBank::kInterval) / 48000;
      double sum = 0;
      for (Eigen::Index m = 0; m < count; ++m) {
        const double w_d = std::sqrt(list.omegas[m] * list.omegas[m] - list.decays[m] * list.decays[m]);
        const double ratio = list.decays[m] / w_d;
        const double wave = std::cos(w_d * t) - ratio * std::sin(w_d * t);
        sum += gains[static_cast<std::size_t>(m)] * std::exp(-list.decays[m] * t) * wave;
      }
      ASSERT_NEAR(out[n], sum, 1e-10 * static_cast<double>(count)) << count << " modes, sample " << n;
    }
  }
}

}  // namespace
}  // namespace thrum::sound
