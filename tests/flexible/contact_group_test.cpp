// SPDX-License-Identifier: MIT
#include "thrum/flexible/contact_group.h"

#include <gtest/gtest.h>

#include <complex>

namespace thrum::flexible {
namespace {

TEST(ContactGroup, FreeMotionIsExact)
{
  elastic::ModeList modes;
  modes.omegas = (VecX(3) << 100, 1000, 2e4).finished();
  modes.decays = (VecX(3) << 3, 2000, 50).finished();
  const std::vector<double> q{1e-3, 2e-3, -1e-4};
  const std::vector<double> u{0.1, 0, 2};
  for (const double h : {1e-7, 1e-4, 3e-2}) {
    FlexibleSettings settings;
    settings.adapt_modes = false;
    ContactGroup one;
    const auto body = one.add_body({.modes = &modes, .q = q, .u = u});
    one.advance(h, settings);
    for (int m = 0; m < 3; ++m) {
      const double w = modes.omegas[m];
      const std::complex<double> root =
          std::sqrt(std::complex<double>(modes.decays[m] * modes.decays[m] - w * w));
      const std::complex<double> s1 = -modes.decays[m] + root;
      const std::complex<double> s2 = -modes.decays[m] - root;
      const std::size_t i = static_cast<std::size_t>(m);
      const std::complex<double> c1 = (u[i] - s2 * q[i]) / (s1 - s2);
      const double expected = (c1 * std::exp(s1 * h) + (q[i] - c1) * std::exp(s2 * h)).real();
      EXPECT_NEAR(one.q(body)[i], expected, 1e-12 * (std::abs(q[i]) + std::abs(u[i]) / w)) << h << " " << m;
    }
  }
}

}  // namespace
}  // namespace thrum::flexible
