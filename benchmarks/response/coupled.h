// SPDX-License-Identifier: MIT
// The references of the accuracy benchmarks: modes and rigid bodies joined by one-sided Hertz contacts, in
// explicit steps of a few microseconds.
//
// What they share with the methods that they judge: the modes (frequencies, decays and shapes of the modal
// model), the material constants E and nu, and the radius of curvature of a contact, which is an input of
// both. Nothing of thrum/vibration is used: the closest point, the contact modulus, the contact law
// F = K d^(3/2) + damping, the friction and the motion of the modes are written here.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <vector>

#include "benchmarks/response/bodies.h"
#include "benchmarks/response/direct_response.h"

namespace thrum::bench {

/// Hertz: 1 / E* = (1 - nu_1^2) / E_1 + (1 - nu_2^2) / E_2 [Pa].
inline double hertz_modulus(const model::Material& a, const model::Material& b)
{
  return 1 / ((1 - a.poisson * a.poisson) / a.young + (1 - b.poisson * b.poisson) / b.young);
}

/// Force per depth^(3/2) of a sphere of that radius on a plane, 4/3 E* sqrt(R) [N/m^1.5].
inline double hertz_stiffness(double modulus, double radius)
{
  return 4.0 / 3 * modulus * std::sqrt(radius);
}

/// Speed after over speed before an impact with the force d^(3/2) + a d^(1/4) d' that never pulls, in units
/// of the spring and the mass. This form of damping gives the same ratio at every speed [Tsuji92].
inline double hertz_restitution(double a)
{
  constexpr double kStep = 1e-3;
  double d = 0;
  double v = 1;
  while (d >= 0) {
    const double force = d > 0 ? d * std::sqrt(d) + a * std::sqrt(std::sqrt(d)) * v : 0;
    if (force <= 0 && v < 0) break;
    v -= kStep * std::max(0.0, force);
    d += kStep * v;
  }
  return -v;
}

/// The a that gives a restitution. The closed form of [Tsuji92], -sqrt(5) ln e / sqrt(ln^2 e + pi^2), lets
/// the contact pull when it opens: where it may not, 0.28 comes of 0.15.
inline double hertz_damping(double restitution)
{
  static std::map<double, double> known;
  const auto [it, fresh] = known.try_emplace(restitution, 0);
  if (fresh) {
    double low = 0;
    double high = 20;
    for (int i = 0; i < 40; ++i)
      (hertz_restitution((low + high) / 2) > restitution ? low : high) = (low + high) / 2;
    it->second = (low + high) / 2;
  }
  return it->second;
}

/// Free modes in steps of one length. With the pole p = -d + i w_d a mode moves as
/// q(t) = Re(e^(p t)) q + Im(e^(p t)) / w_d (q' + d q), whatever the damping, as w_d may be imaginary.
class ExactModes {
 public:
  ExactModes() = default;
  ExactModes(const model::ModalModel& model, double step)
      : q(VecX::Zero(model.frequencies.size())),
        v(q),
        qq_(q.size()),
        qv_(q.size()),
        vq_(q.size()),
        vv_(q.size())
  {
    for (Eigen::Index m = 0; m < q.size(); ++m) {
      const double w = 2 * std::numbers::pi * model.frequencies[m];
      const double d = model.decays[m];
      const std::complex<double> wd = std::sqrt(std::complex<double>(w * w - d * d));
      const double e = std::exp(-d * step);
      const double c = e * std::cos(wd * step).real();
      const double s = e * (std::sin(wd * step) / wd).real();
      qq_[m] = c + d * s;
      qv_[m] = s;
      vq_[m] = -w * w * s;
      vv_[m] = c - d * s;
    }
  }

  void advance()
  {
    const VecX next = qq_.cwiseProduct(q) + qv_.cwiseProduct(v);
    v = vq_.cwiseProduct(q) + vv_.cwiseProduct(v);
    q = next;
  }

  VecX q, v;

 private:
  VecX qq_, qv_, vq_, vv_;
};

/// Displacement of the surface point closest to `position` by each mode: x, y and z as rows.
inline Eigen::Matrix<double, 3, Eigen::Dynamic> shapes_at(const model::ModalModel& model,
                                                          const Vec3& position)
{
  const mesh::SurfacePoint at = DirectSurface(model.surface).closest(position);
  const Triangle& corners = model.surface.triangles[static_cast<std::size_t>(at.triangle)];
  Eigen::Matrix<double, 3, Eigen::Dynamic> shapes =
      Eigen::Matrix<double, 3, Eigen::Dynamic>::Zero(3, model.shapes.cols());
  for (std::size_t c = 0; c < 3; ++c)
    shapes += at.barycentric[static_cast<Eigen::Index>(c)] *
              model.shapes.middleRows<3>(3 * Eigen::Index{corners[c]});
  return shapes;
}

struct CoupledDesc {
  double step = 2e-6;     ///< [s]
  double window = 0.02;   ///< [s]
  double modulus = 1e10;  ///< E* [Pa]
  double radius = 0.01;   ///< [m]
};

/// Speeds with which the resting bodies leave: the largest sqrt(v^2 + 2 g z) while apart from the surface
/// [m/s]. `rows` has one row a touch; all touches have one body each and act at its centre line.
inline std::vector<double> coupled_speeds(const model::ModalModel& model, const MatX& rows,
                                          const ContactScene& scene, const CoupledDesc& desc)
{
  const std::size_t n = scene.contacts.size();
  const double K = hertz_stiffness(desc.modulus, desc.radius);
  ExactModes modes(model, desc.step);
  VecX z(n), u(n), best = VecX::Zero(static_cast<Eigen::Index>(n));
  std::vector<double> mass(n), alpha(n), load(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const vibration::SurfaceContact& contact = scene.contacts[i];
    mass[i] = 1 / scene.bodies[static_cast<std::size_t>(contact.body)].inverse_mass;
    load[i] = contact.struck ? 0 : 9.81 * mass[i];
    z[k] = contact.struck ? 0 : -std::pow(load[i] / K, 2.0 / 3);
    u[k] = contact.struck ? -contact.approach_speed : 0;
    alpha[i] = hertz_damping(contact.restitution);
  }
  const MatX columns = rows.transpose();
  VecX force(n);
  const auto steps = static_cast<int>(std::lround(desc.window / desc.step));
  for (int s = 0; s < steps; ++s) {
    modes.advance();
    const VecX surface = rows * modes.q;
    const VecX speed = rows * modes.v;
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      const double d = surface[k] - z[k];
      force[k] = 0;
      if (d > 0) {
        const double rate = speed[k] - u[k];
        force[k] =
            std::max(0.0, K * d * std::sqrt(d) + alpha[i] * std::sqrt(mass[i] * K * std::sqrt(d)) * rate);
      } else {
        const double energy = u[k] * u[k] + 2 * 9.81 * z[k];
        if (!scene.contacts[i].struck && u[k] > 0) best[k] = std::max(best[k], energy);
      }
      u[k] += desc.step * (force[k] / mass[i] - 9.81);
      z[k] += desc.step * u[k];
      modes.v -= (desc.step * (force[k] - load[i])) * columns.col(k);
    }
  }
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = std::sqrt(std::max(0.0, best[static_cast<Eigen::Index>(i)]));
  return out;
}

}  // namespace thrum::bench
