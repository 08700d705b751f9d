// SPDX-License-Identifier: MIT
#include "thrum/sound/radiation_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/sound/equivalent_sources.h"
#include "thrum/sound/scalar_radiation.h"
#include "thrum/sound/surface_sources.h"

namespace thrum::sound {

namespace {

/// Must change whenever the result or its layout changes.
constexpr std::string_view kVersion = "thrum radiation 2";

constexpr Index kMinPoints = 1000;  ///< so that low orders are integrated well
/// Radiation efficiency that no fit may exceed. Multipoles about the hole of a ring fit 62 % of a velocity
/// with a field that is 70 dB too loud.
constexpr double kMaxEfficiency = 4;
constexpr int kCompactOrder = 8;  ///< of the multipoles that are tried before equivalent sources
/// A source is shallow below this depth, in distances between sources; a body is thin with more than this
/// share.
constexpr double kShallow = 0.5;
constexpr double kShallowShare = 0.3;
constexpr int kPatchesPerSource = 3;   ///< patches of a surface for each source inside
constexpr int kInnerSources = 40;      ///< beside those on the surface of a thick body
constexpr double kPoorResidual = 0.2;  ///< of sources inside; above, those on the surface are tried too
constexpr Index kCandidates = 12000;   ///< below which sources are placed
constexpr Index kCheckPoints = 1000;   ///< at which the residual is taken

void check_desc(const model::ModalModel& model, const RadiationDesc& desc)
{
  check_air(desc.air);
  const auto require = [](bool good, const std::string& why) {
    if (!good) throw Error("Cannot compute the radiation of the modes: " + why);
  };
  require(desc.max_order >= 1 && desc.max_order <= 60,
          fmt::format("the maximum order is {}; it must be 1 to 60.", desc.max_order));
  require(desc.max_sources >= 8 && desc.max_sources <= 4000,
          fmt::format("the number of sources is {}; it must be 8 to 4000.", desc.max_sources));
  require(desc.points_per_unknown >= 2,
          fmt::format("there are {} points per unknown; 2 are needed.", desc.points_per_unknown));
  require(desc.tolerance >= 0, "the tolerance is negative.");
  require(!model.surface.triangles.empty(), "the model has no surface.");
  require(model.shapes.rows() == 3 * Eigen::Index{model.vertex_count()} &&
              model.shapes.cols() == model.mode_count(),
          "the shapes do not belong to the surface.");
}

using FitMode = std::function<ModeFarField(Index mode)>;

/// Whether many sources lie so shallow, in thin walls, that the field between them is one of spikes.
bool are_shallow(const SourceSet& sources, const distance::MeshDistance& inside, double spacing)
{
  const auto shallow = std::count_if(sources.begin(), sources.end(), [&](const EquivalentSource& source) {
    return -inside.signed_distance(source.position).distance < kShallow * spacing;
  });
  return static_cast<double>(shallow) > kShallowShare * static_cast<double>(sources.size());
}

/// One centre where that is good enough, else two sets of sources inside, the second four times as large;
/// for a body of thin walls, sources on its surface, and likewise for modes that those inside fit poorly.
FitMode source_fitter(const model::ModalModel& model, const RadiationDesc& desc, const Vec3& centre,
                      double radius)
{
  struct Shared {
    std::vector<SourceSet> sets;
    std::vector<SurfacePoints> fitted;
    SurfacePoints compact;
    SurfacePoints check;
    std::optional<SurfaceSources> surface;
    bool thin = false;
  };
  auto all = std::make_shared<Shared>();
  const distance::MeshDistance inside(model.surface);
  const SurfacePoints candidates = sample_surface(model, kCandidates, PointPlace::centroid);
  for (const int part : {4, 1}) {
    const int count = std::min(std::max(4, desc.max_sources / part), candidates.size() / 4);
    SourceSet sources = place_sources(candidates, inside, count);
    if (sources.empty()) continue;
    all->thin = are_shallow(sources, inside, std::sqrt(mesh::area(model.surface) / count));
    const Index points = std::max(kMinPoints, 2 * count * desc.points_per_unknown);
    all->sets.push_back(std::move(sources));
    all->fitted.push_back(sample_surface(model, points, PointPlace::centroid));
  }
  if (all->sets.empty()) {
    throw Error(
        "Cannot place sound sources inside the body: its surface has no inside. Close it, or use the "
        "radiation \"multipole\" or \"scalar\".");
  }
  all->compact = sample_surface(model, kMinPoints, PointPlace::centroid);
  all->check = sample_surface(model, kCheckPoints, PointPlace::beside);
  all->surface.emplace(model, kPatchesPerSource * desc.max_sources,
                       all->thin ? SourceSet{} : place_sources(candidates, inside, kInnerSources));
  const SourceFit fit{centre, radius, desc.max_order, desc.tolerance, desc.air};
  const MultipoleFit compact{centre, radius, std::min(desc.max_order, kCompactOrder), desc.air};
  return [all, fit, compact, &model](Index mode) {
    const double omega = model.omega(mode);
    ModeFarField one = fit_multipoles(all->compact, all->check, mode, omega, compact);
    if (one.residual < fit.tolerance) return one;
    const auto on_surface = [&] {
      return all->surface->fit(mode, omega, fit.centre, fit.radius, fit.max_order, fit.air);
    };
    ModeFarField many =
        all->thin ? on_surface() : fit_sources(all->sets, all->fitted, all->check, mode, omega, fit);
    if (!all->thin && many.residual > kPoorResidual) {
      ModeFarField third = on_surface();
      if (third.residual < many.residual) many = std::move(third);
    }
    return one.residual < many.residual ? one : many;
  };
}

FitMode multipole_fitter(const model::ModalModel& model, const RadiationDesc& desc, const Vec3& centre,
                         double radius)
{
  const double top = model.mode_count() > 0 ? model.omega(model.mode_count() - 1) : 0;
  const MultipoleFit fit{centre, radius, desc.max_order, desc.air};
  const int order =
      std::min(desc.max_order, static_cast<int>(std::ceil(top / desc.air.sound_speed() * radius)) + 4);
  const Index points = std::max(kMinPoints, desc.points_per_unknown * harmonic_count(order));
  auto fitted = std::make_shared<SurfacePoints>(sample_surface(model, points, PointPlace::centroid));
  auto check = std::make_shared<SurfacePoints>(sample_surface(model, kCheckPoints, PointPlace::beside));
  return [fitted, check, fit, &model](Index mode) {
    return fit_multipoles(*fitted, *check, mode, model.omega(mode), fit);
  };
}

/// The scalar formula as a far field, where the fit is not to be trusted.
void use_scalar(ModeFarField& field, double amplitude)
{
  field.kind = ModeRadiationKind::scalar;
  field.order = 0;
  field.coefficients = Eigen::VectorXcd::Constant(1, amplitude * std::sqrt(4 * std::numbers::pi));
}

template <class T>
void put(std::vector<std::byte>& bytes, std::span<const T> values)
{
  const auto raw = std::as_bytes(values);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

template <class T>
bool take(std::span<const std::byte>& bytes, std::span<T> values)
{
  if (bytes.size() < values.size_bytes()) return false;
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size_bytes());
  bytes = bytes.subspan(values.size_bytes());
  return true;
}

/// Number of modes, centre, orders, unknowns, kinds, residuals, coefficients.
std::vector<std::byte> pack(const RadiationMap& map)
{
  std::vector<std::byte> bytes;
  const std::int64_t count = std::ssize(map.orders);
  put<std::int64_t>(bytes, {&count, 1});
  put<double>(bytes, {map.centre.data(), 3});
  put<int>(bytes, map.orders);
  put<int>(bytes, map.unknowns);
  put<ModeRadiationKind>(bytes, map.kinds);
  put<double>(bytes, map.residuals);
  for (const auto& mode : map.coefficients) put<std::complex<float>>(bytes, mode);
  return bytes;
}

std::optional<RadiationMap> unpack(std::span<const std::byte> bytes)
{
  RadiationMap map;
  std::int64_t count = 0;
  if (!take<std::int64_t>(bytes, {&count, 1}) || count < 0) return std::nullopt;
  if (static_cast<std::uint64_t>(count) > bytes.size()) return std::nullopt;
  map.orders.resize(at(count));
  map.unknowns.resize(at(count));
  map.kinds.resize(at(count));
  map.residuals.resize(at(count));
  map.coefficients.resize(at(count));
  if (!take<double>(bytes, {map.centre.data(), 3}) || !take<int>(bytes, map.orders) ||
      !take<int>(bytes, map.unknowns) || !take<ModeRadiationKind>(bytes, map.kinds) ||
      !take<double>(bytes, map.residuals)) {
    return std::nullopt;
  }
  for (std::size_t m = 0; m < map.orders.size(); ++m) {
    if (map.orders[m] < 0 || map.orders[m] > 1000) return std::nullopt;
    map.coefficients[m].resize(at(harmonic_count(map.orders[m])));
    if (!take<std::complex<float>>(bytes, map.coefficients[m])) return std::nullopt;
  }
  if (!bytes.empty()) return std::nullopt;
  return map;
}

base::Hash128 key_of(const model::ModalModel& model, const RadiationDesc& desc)
{
  base::Hasher hasher;
  hasher.add(kVersion).add(model.surface.vertices).add(model.surface.triangles).add(model.centre_of_mass);
  hasher.add(
      std::span<const double>(model.frequencies.data(), static_cast<std::size_t>(model.frequencies.size())));
  hasher.add(std::span<const double>(model.shapes.data(), static_cast<std::size_t>(model.shapes.size())));
  hasher.add(desc.method).add(desc.air.temperature).add(desc.air.pressure).add(desc.max_order);
  hasher.add(desc.max_sources).add(desc.tolerance).add(desc.max_residual).add(desc.points_per_unknown);
  return hasher.finish();
}

}  // namespace

void RadiationMap::amplitudes(const Vec3& direction, std::span<std::complex<double>> out) const
{
  const int order = orders.empty() ? 0 : *std::max_element(orders.begin(), orders.end());
  std::vector<double> Y(at(harmonic_count(order)));
  harmonics(order, direction, Y);
  for (std::size_t m = 0; m < orders.size(); ++m) {
    double re = 0;
    double im = 0;
    for (std::size_t i = 0; i < coefficients[m].size(); ++i) {
      re += Y[i] * static_cast<double>(coefficients[m][i].real());
      im += Y[i] * static_cast<double>(coefficients[m][i].imag());
    }
    out[m] = {re, im};
  }
}

double RadiationMap::mean_amplitude(std::size_t mode) const
{
  double sum = 0;
  for (const std::complex<float>& c : coefficients[mode]) sum += std::norm(std::complex<double>(c));
  return std::sqrt(sum / (4 * std::numbers::pi));
}

RadiationMap bake_radiation(const model::ModalModel& model, const RadiationDesc& desc)
{
  check_desc(model, desc);
  RadiationMap map;
  map.centre = model.centre_of_mass;
  double radius = 0;
  for (const Vec3& vertex : model.surface.vertices) radius = std::max(radius, (vertex - map.centre).norm());
  const FitMode fit_mode = desc.method == RadiationMethod::multipole
                               ? multipole_fitter(model, desc, map.centre, radius)
                               : source_fitter(model, desc, map.centre, radius);
  const std::vector<ModeRadiation> scalar = scalar_radiation(model);
  const double impedance = desc.air.density() * desc.air.sound_speed();
  const std::size_t count = at(model.mode_count());
  map.orders.resize(count);
  map.unknowns.resize(count);
  map.kinds.resize(count);
  map.residuals.resize(count);
  map.coefficients.resize(count);
  base::parallel_for(
      count,
      [&](std::size_t m) {
        ModeFarField field = fit_mode(static_cast<Index>(m));
        const double most = impedance * std::sqrt(kMaxEfficiency * scalar[m].area / (4 * std::numbers::pi));
        const bool plausible = field.coefficients.norm() <= most * std::sqrt(4 * std::numbers::pi);
        if (!(field.residual <= desc.max_residual) || !plausible) use_scalar(field, scalar[m].amplitude);
        map.kinds[m] = field.kind;
        map.orders[m] = field.order;
        map.unknowns[m] = field.unknowns;
        map.residuals[m] = std::min(field.residual, 1.0);
        for (const Complex& c : field.coefficients) map.coefficients[m].push_back(std::complex<float>(c));
      },
      1);
  return map;
}

RadiationMap bake_radiation_cached(const model::ModalModel& model, const RadiationDesc& desc,
                                   const base::Cache& cache)
{
  constexpr std::string_view kKind = "radiation";
  const base::Hash128 key = key_of(model, desc);
  if (const auto bytes = cache.load(kKind, key)) {
    if (auto stored = unpack(*bytes); stored && std::ssize(stored->orders) == model.mode_count()) {
      stored->from_cache = true;
      return *std::move(stored);
    }
  }
  RadiationMap map = bake_radiation(model, desc);
  cache.store(kKind, key, pack(map));
  return map;
}

}  // namespace thrum::sound
