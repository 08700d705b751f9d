// SPDX-License-Identifier: MIT
// The baseline of Tables 1 and 3: the formulas of [Coevoet20] as a careful person writes them down after
// reading the paper, with Eigen and double precision as there.
//
//   - the closest triangle of a contact by a loop over all triangles (the paper calls its own search naive),
//     once for each contact and impact; its corners and weights serve the impulse (eq. 9) and the way back
//     (eq. 13);
//   - filter coefficients once for each mode, when the model is loaded;
//   - the displacement of each mode at a vertex along the normal once for each corner and impact, side by
//     side in memory; per sample one step of all filters, one product with these rows, and the maximum (eq.
//     10 and 11);
//   - geodesic distances by the heat method with a factorisation that is kept, one field for each resting
//     contact, kept as well (section 4.4).
//
// Nothing here is shared with thrum/vibration. The heat method is that of thrum/distance.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <numbers>
#include <vector>

#include "thrum/distance/heat_geodesics.h"
#include "thrum/model/modal_model.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::bench {

/// Barycentric weights of the point of triangle (a, b, c) closest to p, by the regions of Ericson, "Real-Time
/// Collision Detection" (2005), section 5.1.5.
inline Vec3 closest_weights(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c)
{
  const Vec3 ab = b - a;
  const Vec3 ac = c - a;
  const Vec3 ap = p - a;
  const double d1 = ab.dot(ap);
  const double d2 = ac.dot(ap);
  if (d1 <= 0 && d2 <= 0) return {1, 0, 0};
  const Vec3 bp = p - b;
  const double d3 = ab.dot(bp);
  const double d4 = ac.dot(bp);
  if (d3 >= 0 && d4 <= d3) return {0, 1, 0};
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return {1 - d1 / (d1 - d3), d1 / (d1 - d3), 0};
  const Vec3 cp = p - c;
  const double d5 = ab.dot(cp);
  const double d6 = ac.dot(cp);
  if (d6 >= 0 && d5 <= d6) return {0, 0, 1};
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return {1 - d2 / (d2 - d6), 0, d2 / (d2 - d6)};
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 >= d3 && d5 >= d6) {
    const double w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return {0, 1 - w, w};
  }
  const double sum = va + vb + vc;
  return {va / sum, vb / sum, vc / sum};
}

class DirectSurface {
 public:
  explicit DirectSurface(const mesh::TriangleMesh& mesh) : mesh_(mesh) {}

  [[nodiscard]] mesh::SurfacePoint closest(const Vec3& p) const
  {
    mesh::SurfacePoint best{-1, Vec3::Zero()};
    double best_distance2 = 1e300;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      const Vec3& a = mesh_.corner(t, 0);
      const Vec3& b = mesh_.corner(t, 1);
      const Vec3& c = mesh_.corner(t, 2);
      const Vec3 weights = closest_weights(p, a, b, c);
      const double distance2 = (weights[0] * a + weights[1] * b + weights[2] * c - p).squaredNorm();
      if (distance2 >= best_distance2) continue;
      best_distance2 = distance2;
      best = {static_cast<Index>(t), weights};
    }
    return best;
  }

 private:
  const mesh::TriangleMesh& mesh_;
};

/// [Coevoet20, sections 4.2 and 4.3].
class DirectModalResponse {
 public:
  explicit DirectModalResponse(const model::ModalModel& model)
      : model_(model), surface_(model.surface), shapes_(model.shapes)
  {
    const Eigen::ArrayXd w = 2 * std::numbers::pi * model.frequencies.array();
    T_ = std::numbers::pi / (2 * w.maxCoeff());
    const Eigen::ArrayXd xi = model.decays.array() / w;
    const Eigen::ArrayXd wd = w * (1 - xi.square()).sqrt();
    const Eigen::ArrayXd e = (-model.decays.array() * T_).exp();
    const Eigen::ArrayXd g = xi.asin();
    a1_ = 2 * e * (wd * T_).cos();
    a2_ = e.square();
    a_r_ = 2 * (e * (wd * T_ + g).cos() - e.square() * (2 * wd * T_ + g).cos()) / (3 * w * wd);
  }

  /// dv of eq. 13 for each resting contact in turn; the struck ones have 0 [m/s].
  [[nodiscard]] const std::vector<double>& respond(const vibration::ResponseInput& input)
  {
    const std::size_t n = input.contacts.size();
    const Eigen::Index modes = a1_.size();
    speeds_.assign(n, 0);
    weights_.resize(n);
    rows_.resize(modes, static_cast<Eigen::Index>(3 * n));
    VecX r = VecX::Zero(modes);
    Eigen::Index corner_count = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const vibration::SurfaceContact& contact = input.contacts[i];
      const mesh::SurfacePoint at = surface_.closest(contact.position);
      weights_[i] = at.barycentric;
      const Triangle& triangle = model_.surface.triangles[static_cast<std::size_t>(at.triangle)];
      for (std::size_t c = 0; c < 3; ++c) {
        const auto along =
            (contact.normal.transpose() * shapes_.middleRows<3>(3 * Eigen::Index{triangle[c]})).transpose();
        if (contact.struck)
          r -= (at.barycentric[static_cast<Eigen::Index>(c)] * contact.impulse) * along;
        else
          rows_.col(corner_count++) = along;
      }
    }
    const auto rows = rows_.leftCols(corner_count).transpose();
    VecX peaks = VecX::Zero(corner_count);
    VecX displacement(corner_count);
    VecX q = a_r_.matrix().cwiseProduct(r) / T_;
    VecX before = VecX::Zero(modes);
    VecX next(modes);
    const int samples = static_cast<int>(std::max(1.0, std::floor(input.step / T_)));
    for (int k = 1;; ++k) {
      displacement.noalias() = rows * q;
      peaks = peaks.cwiseMax(displacement.cwiseAbs());
      if (k == samples) break;
      next = a1_.matrix().cwiseProduct(q) - a2_.matrix().cwiseProduct(before);
      before.swap(q);
      q.swap(next);
    }
    Eigen::Index corner = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (input.contacts[i].struck) continue;
      speeds_[i] = weights_[i].dot(peaks.segment<3>(corner)) / input.step;
      corner += 3;
    }
    return speeds_;
  }

 private:
  const model::ModalModel& model_;
  DirectSurface surface_;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> shapes_;  ///< a vertex in one place
  double T_ = 0;
  Eigen::ArrayXd a1_, a2_, a_r_;
  MatX rows_;  ///< modes x corners of the resting contacts
  std::vector<Vec3> weights_;
  std::vector<double> speeds_;
};

/// [Coevoet20, section 4.4] with s = C r^-beta: one geodesic field for each resting contact, kept under its
/// place.
class DirectWaveResponse {
 public:
  struct Desc {
    double C = 1;
    double beta = 1;
    double min_distance = 0.25;  ///< [m]
    bool average = false;        ///< the mean of the motion of all vertices that face up
  };

  DirectWaveResponse(const model::ModalModel& model, const Desc& desc)
      : desc_(desc),
        model_(model),
        surface_(model.surface),
        geodesics_(std::make_shared<const distance::HeatGeodesics>(model.surface)),
        place_size_(geodesics_->info().mean_edge / 2)
  {
  }

  /// q^ of eq. 15 [m/(N s)], given by the caller, as it is not what is measured.
  void set_self_displacement(const VecX& values, double mean)
  {
    self_displacement_ = values;
    mean_ = mean;
  }
  void forget_fields() { fields_.clear(); }

  [[nodiscard]] const std::vector<double>& respond(const vibration::ResponseInput& input)
  {
    const std::size_t n = input.contacts.size();
    speeds_.assign(n, 0);
    points_.resize(n);
    for (std::size_t i = 0; i < n; ++i) points_[i] = surface_.closest(input.contacts[i].position);
    for (std::size_t p = 0; p < n; ++p) {
      if (input.contacts[p].struck) continue;
      const distance::GeodesicField& field = field_of(input.contacts[p].position, points_[p]);
      for (std::size_t c = 0; c < n; ++c) {
        if (!input.contacts[c].struck) continue;
        const double r = std::max(geodesics_->evaluate(field, points_[c]), desc_.min_distance);
        speeds_[p] += desc_.C * std::pow(r, -desc_.beta) * displacement(points_[c]) *
                      input.contacts[c].impulse / input.step;  // eq. 15 and 16
      }
    }
    return speeds_;
  }

 private:
  [[nodiscard]] double displacement(const mesh::SurfacePoint& at) const
  {
    if (desc_.average) return mean_;
    const Triangle& t = model_.surface.triangles[static_cast<std::size_t>(at.triangle)];
    return at.barycentric.dot(
        Vec3(self_displacement_[t[0]], self_displacement_[t[1]], self_displacement_[t[2]]));
  }

  [[nodiscard]] const distance::GeodesicField& field_of(const Vec3& position, const mesh::SurfacePoint& at)
  {
    std::array<long, 3> place{};
    for (std::size_t k = 0; k < 3; ++k)
      place[k] = std::lround(position[static_cast<Eigen::Index>(k)] / place_size_);
    const auto [it, fresh] = fields_.try_emplace(place);
    if (fresh) it->second = geodesics_->distance(at);
    return it->second;
  }

  Desc desc_;
  const model::ModalModel& model_;
  DirectSurface surface_;
  std::shared_ptr<const distance::HeatGeodesics> geodesics_;
  double place_size_;  ///< [m]
  VecX self_displacement_;
  double mean_ = 0;
  std::map<std::array<long, 3>, distance::GeodesicField> fields_;
  std::vector<mesh::SurfacePoint> points_;
  std::vector<double> speeds_;
};

}  // namespace thrum::bench
