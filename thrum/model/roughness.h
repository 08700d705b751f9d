// SPDX-License-Identifier: MIT
// How rough the surface of a body is, which is heard where it slides or rolls.
#pragma once

namespace thrum::model {

/// The height of a surface against its mean, over wavelengths from 0.125 to 8 mm: a self-affine profile,
/// whose octaves have a root mean square that falls with the wavelength to the power `exponent`, so that its
/// power spectrum falls with the wave number k as k^-(2 exponent + 1).
struct Roughness {
  double height = 7e-7;   ///< root mean square of the whole; the default as of ground steel [m]
  double exponent = 0.5;  ///< of Hurst, 0 to 1

  friend bool operator==(const Roughness&, const Roughness&) = default;
};

}  // namespace thrum::model
