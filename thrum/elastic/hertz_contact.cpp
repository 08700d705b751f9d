// SPDX-License-Identifier: MIT
#include "thrum/elastic/hertz_contact.h"

#include <cmath>

namespace thrum::elastic {

double contact_modulus(double a, double b)
{
  if (!(a > 0)) return b > 0 ? b / 2 : 0;
  if (!(b > 0)) return a / 2;
  return a * b / (a + b);
}

// The factor is 2 integral dx / sqrt(1 - x^(5/2)) (15/16)^(2/5) over [0, 1].
double hertz_duration(double m, double modulus, double radius, double speed)
{
  constexpr double kFactor = 2.8683;
  return kFactor * std::pow(m * m / (modulus * modulus * radius * speed), 0.2);
}

}  // namespace thrum::elastic
