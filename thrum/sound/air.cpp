// SPDX-License-Identifier: MIT
#include "thrum/sound/air.h"

#include <fmt/format.h>

#include <cmath>

#include "thrum/base/error.h"

namespace thrum::sound {

namespace {

constexpr double kGasConstant = 287.05;           ///< of dry air [J/(kg K)]
constexpr double kReferencePressure = 101325;     ///< p_r of ISO 9613-1 [Pa]
constexpr double kReferenceTemperature = 293.15;  ///< T_0 [K]
constexpr double kTriplePoint = 273.16;           ///< T_01 of water [K]
constexpr double kReferenceSpeed = 343.2;         ///< of sound at T_0 [m/s]

}  // namespace

double Air::density() const
{
  return pressure / (kGasConstant * temperature);
}

double Air::sound_speed() const
{
  return kReferenceSpeed * std::sqrt(temperature / kReferenceTemperature);
}

// Symbols of ISO 9613-1: p and T are relative to their references, h is the molar concentration of water
// vapour [%], f_rO and f_rN the relaxation frequencies of oxygen and nitrogen [Hz].
double Air::absorption(double f) const
{
  const double p = pressure / kReferencePressure;
  const double T = temperature / kReferenceTemperature;
  const double saturation = std::pow(10, -6.8346 * std::pow(kTriplePoint / temperature, 1.261) + 4.6151);
  const double h = humidity * saturation / p;
  const double f_rO = p * (24 + 4.04e4 * h * (0.02 + h) / (0.391 + h));
  const double f_rN = p / std::sqrt(T) * (9 + 280 * h * std::exp(-4.170 * (std::pow(T, -1.0 / 3) - 1)));
  const double oxygen = 0.01275 * std::exp(-2239.1 / temperature) / (f_rO + f * f / f_rO);
  const double nitrogen = 0.1068 * std::exp(-3352.0 / temperature) / (f_rN + f * f / f_rN);
  return 8.686 * f * f * (1.84e-11 / p * std::sqrt(T) + std::pow(T, -2.5) * (oxygen + nitrogen));
}

void check_air(const Air& air)
{
  const auto check = [](const char* name, double value, double low, double high, const char* unit) {
    if (value >= low && value <= high) return;
    throw Error(fmt::format("The {} of the air is {} {}; it must be {} to {} {}.", name, value, unit, low,
                            high, unit));
  };
  check("temperature", air.temperature, 200, 330, "K");
  check("pressure", air.pressure, 10000, 200000, "Pa");
  check("humidity", air.humidity, 0, 100, "%");
}

}  // namespace thrum::sound
