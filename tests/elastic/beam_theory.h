// SPDX-License-Identifier: MIT
// Frequencies of Timoshenko beams, for comparison with solid elements.
//
// With deflection w, rotation of the cross-section p, shear force V and bending moment M, harmonic motion
// obeys
//
//     w' = p + V/(k G A),   p' = M/(E I),   V' = -rho A omega^2 w,   M' = -V - rho I omega^2 p,          (1)
//
// a linear system y' = S y. With T = exp(S L), a beam with free ends has its frequencies where the part of T
// that maps (w, p) to (V, M) is singular, a cantilever where the part that maps (V, M) to (V, M) is.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>

#include "thrum/model/material.h"

namespace thrum::elastic::testing {

enum class BeamEnds { free_free, cantilever };

struct Beam {
  model::Material material;
  double length = 0;
  double width = 0;      ///< across the bending
  double thickness = 0;  ///< in the direction of bending
};

/// Euler and Bernoulli: the roots of the frequency equation.
inline double euler_frequency(const Beam& beam, BeamEnds ends, int mode)
{
  constexpr double kFree[] = {4.730040744862704, 7.853204624095838, 10.995607838001671};
  constexpr double kCantilever[] = {1.875104068711961, 4.694091132974174, 7.854757438237613};
  const double root = ends == BeamEnds::free_free ? kFree[mode] : kCantilever[mode];
  const double radius = beam.thickness / std::sqrt(12.0);
  return root * root * radius / (2 * std::numbers::pi * beam.length * beam.length) *
         std::sqrt(beam.material.young / beam.material.density);
}

inline double timoshenko_determinant(const Beam& beam, BeamEnds ends, double frequency)
{
  const double E = beam.material.young;
  const double nu = beam.material.poisson;
  const double rho = beam.material.density;
  const double A = beam.width * beam.thickness;
  const double I = A * beam.thickness * beam.thickness / 12;
  const double k = 10 * (1 + nu) / (12 + 11 * nu);  // Cowper, rectangle
  const double G = E / (2 * (1 + nu));
  const double w2 = std::pow(2 * std::numbers::pi * frequency, 2);
  // Scaled so that all entries have similar magnitude: lengths in L, moments in E I / L, forces in E I / L^2.
  const double L = beam.length;
  Eigen::Matrix4d S = Eigen::Matrix4d::Zero();
  S(0, 1) = 1;
  S(0, 2) = E * I / (k * G * A * L * L);
  S(1, 3) = 1;
  S(2, 0) = -rho * A * w2 * std::pow(L, 4) / (E * I);
  S(3, 2) = -1;
  S(3, 1) = -rho * w2 * L * L / E;
  const Eigen::Matrix4d T = S.exp();
  return ends == BeamEnds::free_free ? T.block<2, 2>(2, 0).determinant() : T.block<2, 2>(2, 2).determinant();
}

/// The root of (1) closest below the Euler frequency: shear and rotary inertia only lower it.
inline double timoshenko_frequency(const Beam& beam, BeamEnds ends, int mode)
{
  double high = euler_frequency(beam, ends, mode);
  const double sign = timoshenko_determinant(beam, ends, high);
  double low = high;
  while (timoshenko_determinant(beam, ends, low) * sign > 0) low *= 0.99;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (timoshenko_determinant(beam, ends, middle) * sign > 0 ? high : low) = middle;
  }
  return low;
}

}  // namespace thrum::elastic::testing
