// SPDX-License-Identifier: MIT
#include "thrum/sound/sound_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>

#include "thrum/base/index.h"
#include "thrum/elastic/hertz_contact.h"
#include "thrum/sound/mode_tail.h"
#include "thrum/sound/scalar_radiation.h"

namespace thrum::sound {

namespace {

constexpr double kNearPole = 1e-6;     ///< 1 - x^2 below which the limit is taken instead of 0 / 0
constexpr double kSharpAngle = 0.6;    ///< between two triangles; more is an edge [rad]
constexpr double kEdgeShare = 0.01;    ///< of the size: how near to an edge the edge is struck
constexpr double kMinCurvature = 1;    ///< flat faces touch as if their radius were a metre [1/m]
constexpr double kMaxCurvature = 2e3;  ///< [1/m]

}  // namespace

SoundModel::SoundModel(std::shared_ptr<const model::ModalModel> modes, const mesh::TriangleMesh& surface,
                       const model::Material& material, const SynthesisSettings& settings)
    : model_(std::move(modes)), contact_damping_(material.contact_damping)
{
  if (material.young > 0) modulus_ = material.young / (1 - material.poisson * material.poisson);
  if (model_) {
    Index count = 0;
    while (count < model_->mode_count() && count < settings.modes &&
           model_->frequencies[count] <= settings.max_frequency)
      ++count;
    const std::vector<ModeRadiation> radiation = scalar_radiation(*model_);
    modes_ = elastic::mode_list(*model_);
    modes_.omegas.conservativeResize(count);
    modes_.decays.conservativeResize(count);
    // Modes below are moved, as others are, but not heard; likewise those above half the sample rate, which
    // would fold back to other pitches.
    for (Index m = 0; m < count; ++m) {
      const bool heard = model_->frequencies[m] >= settings.min_frequency &&
                         model_->frequencies[m] < 0.5 * settings.sample_rate;
      const double amplitude =
          std::min(radiation[at(m)].amplitude, max_radiation_amplitude(modes_.decays[m]));
      amplitudes_.push_back(heard ? amplitude : 0);
      if (heard) ++heard_modes_;
    }
    known_modes_ = static_cast<std::size_t>(count);
    if (settings.radiation != SoundRadiation::scalar && count > 0) find_radiation(settings.radiation);
    counts_.assign(known_modes_, 1.0);
    if (settings.diffuse_modes && count == settings.modes) add_tail(radiation, material, settings);
    if (!model_->surface.triangles.empty()) modal_surface_ = std::make_unique<mesh::Bvh>(model_->surface);
  }
  if (surface.triangles.empty()) return;
  const double volume = mesh::signed_volume(surface);
  if (volume > 0) radius_ = std::cbrt(3 * volume / (4 * std::numbers::pi));
  find_curvatures(surface);
  surface_ = std::make_unique<mesh::Bvh>(surface);
}

// Where the number of modes is what ends them.
void SoundModel::add_tail(const std::vector<ModeRadiation>& radiation, const model::Material& material,
                          const SynthesisSettings& settings)
{
  const double highest = std::min(settings.max_frequency, 0.5 * settings.sample_rate);
  auto tail = std::make_shared<ModeTail>(*model_, static_cast<Index>(known_modes_), radiation,
                                         material.damping, highest);
  if (tail->size() == 0) return;
  const auto known = static_cast<Eigen::Index>(known_modes_);
  const auto count = static_cast<Eigen::Index>(tail->size());
  modes_.omegas.conservativeResize(known + count);
  modes_.decays.conservativeResize(known + count);
  modes_.omegas.tail(count) = VecX::Map(tail->omegas().data(), count);
  modes_.decays.tail(count) = VecX::Map(tail->decays().data(), count);
  for (std::size_t i = 0; i < tail->size(); ++i) {
    const bool heard = tail->omegas()[i] >= 2 * std::numbers::pi * settings.min_frequency;
    amplitudes_.push_back(heard ? tail->amplitudes()[i] : 0);
    counts_.push_back(tail->counts()[i]);
  }
  tail_ = std::move(tail);
}

// Of the modes that are used; the others would cost as much.
void SoundModel::find_radiation(SoundRadiation kind)
{
  const auto count = static_cast<Eigen::Index>(known_modes_);
  model::ModalModel used = *model_;
  used.frequencies.conservativeResize(count);
  used.decays.conservativeResize(count);
  used.shapes.conservativeResize(Eigen::NoChange, count);
  RadiationDesc desc;
  desc.method =
      kind == SoundRadiation::multipole ? RadiationMethod::multipole : RadiationMethod::equivalent_sources;
  auto map = std::make_shared<RadiationMap>(bake_radiation_cached(used, desc, base::Cache()));
  for (std::size_t m = 0; m < map->mode_count(); ++m) {
    const double limit =
        amplitudes_[m] > 0 ? max_radiation_amplitude(modes_.decays[static_cast<Eigen::Index>(m)]) : 0;
    const double mean = map->mean_amplitude(m);
    if (!(mean > limit)) continue;
    for (std::complex<float>& c : map->coefficients[m]) c *= static_cast<float>(limit / mean);
  }
  radiation_ = std::move(map);
}

// The angle between two triangles over the distance of their centres.
void SoundModel::find_curvatures(const mesh::TriangleMesh& surface)
{
  const std::size_t count = surface.triangles.size();
  curvatures_.assign(count, 0.0);
  sharp_.assign(count, {false, false, false});
  edge_distance_ = kEdgeShare * mesh::bounding_box(surface).diagonal().norm();
  std::vector<Vec3> normals(count), centres(count, Vec3::Zero());
  std::map<std::pair<Index, Index>, std::pair<std::size_t, int>> half_edges;
  for (std::size_t t = 0; t < count; ++t) {
    normals[t] = mesh::area_vector(surface, t).normalized();
    for (int k = 0; k < 3; ++k) {
      centres[t] += surface.corner(t, k) / 3;
      half_edges[{surface.triangles[t][at(k)], surface.triangles[t][at((k + 1) % 3)]}] = {t, k};
    }
  }
  for (const auto& [edge, place] : half_edges) {
    const auto other = half_edges.find({edge.second, edge.first});
    if (other == half_edges.end()) continue;
    const auto [t, k] = place;
    const std::size_t u = other->second.first;
    const double angle = std::acos(std::clamp(normals[t].dot(normals[u]), -1.0, 1.0));
    if (angle > kSharpAngle) {
      sharp_[t][at(k)] = true;
      continue;
    }
    const double distance = (centres[t] - centres[u]).norm();
    if (distance > 0) curvatures_[t] = std::max(curvatures_[t], angle / distance);
  }
}

PointShapes SoundModel::shapes_at(const Vec3& position) const
{
  const auto count = static_cast<Eigen::Index>(known_modes_);
  PointShapes shapes = PointShapes::Zero(3, static_cast<Eigen::Index>(mode_count()));
  if (count == 0 || !modal_surface_) return shapes;
  const mesh::ClosestPoint closest = modal_surface_->closest_point(position);
  const Triangle& triangle = model_->surface.triangles[at(closest.triangle)];
  for (int k = 0; k < 3; ++k) {
    shapes.leftCols(count) +=
        closest.barycentric[k] * model_->shapes.block(3 * Eigen::Index{triangle[at(k)]}, 0, 3, count);
  }
  if (tail_) tail_->add_shapes(closest.point, shapes);
  return shapes;
}

double SoundModel::curvature_at(const Vec3& position) const
{
  if (!surface_) return 0;
  const mesh::ClosestPoint closest = surface_->closest_point(position);
  const std::size_t t = at(closest.triangle);
  const mesh::TriangleMesh& mesh = surface_->mesh();
  for (int k = 0; k < 3; ++k) {
    if (!sharp_[t][at(k)]) continue;
    const Vec3 from = mesh.corner(t, k);
    const Vec3 along = mesh.corner(t, (k + 1) % 3) - from;
    const double share = std::clamp((closest.point - from).dot(along) / along.squaredNorm(), 0.0, 1.0);
    if ((from + share * along - closest.point).norm() < edge_distance_) return 1 / kEdgeRadius;
  }
  return curvatures_[t];
}

// cos(pi x / 2) / (1 - x^2), x = w D / pi.
double half_sine_spectrum(double omega, double duration)
{
  const double x = omega * duration / std::numbers::pi;
  const double rest = 1 - x * x;
  if (std::abs(rest) < kNearPole) return std::numbers::pi / 4;
  return std::cos(std::numbers::pi * x / 2) / rest;
}

void add_modal_impulse(const SoundModel& model, const Vec3& position, const Vec3& impulse, double duration,
                       double middle, std::vector<std::complex<double>>& modes)
{
  const PointShapes shapes = model.shapes_at(position);
  modes.resize(model.mode_count());
  for (Eigen::Index m = 0; m < shapes.cols(); ++m) {
    const double omega = model.modes().omegas[m];
    const double reached = impulse.dot(shapes.col(m)) * half_sine_spectrum(omega, duration);
    modes[at(m)] += std::polar(1.0, -omega * middle) * reached;
  }
}

double modal_inverse_mass(const SoundModel& model, const Vec3& position, const Vec3& direction,
                          double duration)
{
  std::vector<std::complex<double>> modes;
  add_modal_impulse(model, position, direction, duration, 0, modes);
  return std::transform_reduce(modes.begin(), modes.end(), 0.0, std::plus<>(),
                               [](const std::complex<double>& z) { return std::norm(z); });
}

double impact_duration(const SoundModel& a, const Vec3& position_a, const SoundModel& b,
                       const Vec3& position_b, double inverse_mass, double speed)
{
  const double modulus = elastic::contact_modulus(a.modulus(), b.modulus());
  if (!(modulus > 0) || !(inverse_mass > 0) || !(speed > 0)) return 0;
  const double curvature =
      std::clamp(a.curvature_at(position_a) + b.curvature_at(position_b), kMinCurvature, kMaxCurvature);
  return elastic::hertz_duration(1 / inverse_mass, modulus, 1 / curvature, speed);
}

}  // namespace thrum::sound
