// SPDX-License-Identifier: MIT
#include "thrum/sound/radiation_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/base/scratch_folder.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/base/random.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sound/equivalent_sources.h"
#include "thrum/sound/scalar_radiation.h"
#include "thrum/sound/surface_sources.h"

namespace thrum::sound {
namespace {

constexpr double kPi = std::numbers::pi;
const Air kAir;

using Velocity = std::function<Vec3(const Vec3& point)>;

/// A body of one surface whose modes, at given frequencies [Hz], move its vertices as given.
model::ModalModel vibrating(const mesh::TriangleMesh& surface, const std::vector<double>& frequencies,
                            const std::vector<Velocity>& velocities)
{
  model::ModalModel model;
  model.surface = surface;
  model.frequencies =
      Eigen::Map<const VecX>(frequencies.data(), static_cast<Eigen::Index>(frequencies.size()));
  model.shapes.resize(3 * Eigen::Index{model.vertex_count()}, model.mode_count());
  for (Index v = 0; v < model.vertex_count(); ++v) {
    for (Index m = 0; m < model.mode_count(); ++m) {
      model.shapes.col(m).segment<3>(3 * Eigen::Index{v}) = at(velocities, m)(at(surface.vertices, v));
    }
  }
  return model;
}

double frequency_of(double ka, double radius)
{
  return ka * kAir.sound_speed() / (2 * kPi * radius);
}

std::vector<Vec3> some_directions()
{
  return sphere_rule(4).directions;
}

/// r p of a sphere whose surface moves with Y of order n, far away, relative to Y: -i rho c i^(n+1)/(k
/// h_n'(ka)).
Complex sphere_amplitude(int n, double ka, double radius)
{
  std::vector<Complex> h(at(n + 1));
  std::vector<Complex> slopes(at(n + 1));
  outgoing_waves(n, ka, h, slopes);
  return Complex(0, -1) * kAir.density() * kAir.sound_speed() * std::pow(Complex(0, 1), n + 1) * radius /
         (ka * slopes[at(n)]) * std::polar(1.0, 0.0);
}

/// The far field by equivalent sources alone; bake_radiation() prefers one centre where that is good enough.
RadiationMap by_sources_alone(const model::ModalModel& model, int count)
{
  const std::vector<SurfacePoints> fitted{sample_surface(model, 100000, PointPlace::centroid)};
  const std::vector<SourceSet> sets{place_sources(fitted[0], distance::MeshDistance(model.surface), count)};
  const SurfacePoints check = sample_surface(model, 100000, PointPlace::beside);
  RadiationMap map;
  for (Index m = 0; m < model.mode_count(); ++m) {
    const SourceFit fit{Vec3::Zero(), bounding_box(model.surface).max().norm(), 24, 0, kAir};
    const ModeFarField field = fit_sources(sets, fitted, check, m, model.omega(m), fit);
    map.orders.push_back(field.order);
    map.residuals.push_back(field.residual);
    map.coefficients.emplace_back();
    for (const Complex& c : field.coefficients) map.coefficients.back().emplace_back(c);
  }
  return map;
}

class RadiationOfSpheres : public testing::TestWithParam<RadiationMethod> {};

// Pulsating, oscillating and quadrupole spheres: closed forms over frequency, in every direction.
TEST_P(RadiationOfSpheres, AreTheClosedForms)
{
  const double radius = 0.07;
  const mesh::TriangleMesh sphere =
      shapes::generate(shapes::SphereDesc{.radius = radius, .edge_length = radius / 8});
  const std::vector<double> kas{0.05, 0.2, 0.7, 1.5, 3.0, 5.0};
  const std::vector<std::pair<int, Velocity>> motions{
      {0,
       [](const Vec3& x) {
         return x.normalized();
       }},
      {1,
       [](const Vec3&) {
         return Vec3(0, 0, 1);
       }},
      {2, [](const Vec3& x) {
         return Vec3(x.normalized() * (3 * std::pow(x.normalized().z(), 2) - 1));
       }}};
  std::vector<double> frequencies;
  std::vector<Velocity> velocities;
  for (const double ka : kas) {
    for (const auto& motion : motions) {
      frequencies.push_back(frequency_of(ka, radius));
      velocities.push_back(motion.second);
    }
  }
  const model::ModalModel model = vibrating(sphere, frequencies, velocities);
  const RadiationMap map = GetParam() == RadiationMethod::multipole
                               ? bake_radiation(model, {.method = RadiationMethod::multipole})
                               : by_sources_alone(model, 120);
  std::vector<std::complex<double>> amplitudes(map.mode_count());
  for (const Vec3& d : some_directions()) {
    map.amplitudes(d, amplitudes);
    for (std::size_t m = 0; m < amplitudes.size(); ++m) {
      const int n = motions[m % 3].first;
      const double pattern = n == 0 ? 1 : n == 1 ? d.z() : 3 * d.z() * d.z() - 1;
      if (std::abs(pattern) < 0.3) continue;  // near a zero of the pattern
      const double ka = kas[m / 3];
      if (n == 2 && ka < 0.2) continue;  // 70 dB below a pulsation of the same velocity
      const Complex expected = sphere_amplitude(n, ka, radius) * pattern;
      EXPECT_NEAR(20 * std::log10(std::abs(amplitudes[m] / expected)), 0, 0.5)
          << "order " << n << ", ka " << ka;
      EXPECT_NEAR(std::arg(amplitudes[m] / expected), 0, 0.1) << "order " << n << ", ka " << ka;
    }
  }
  // Between the centroids the normals of the facets differ from those of the sphere by up to 0.06.
  for (const double residual : map.residuals) EXPECT_LE(residual, 0.07);
}

INSTANTIATE_TEST_SUITE_P(BothMethods, RadiationOfSpheres,
                         testing::Values(RadiationMethod::multipole, RadiationMethod::equivalent_sources));

TEST(RadiationMap, PulsatingSphereIsTheTextbookFormula)
{
  const double radius = 0.1;
  for (const double ka : {0.05, 1.0, 5.0}) {
    // rho c U a (i k a / (1 + i k a)) exp(i k a)
    const Complex textbook =
        kAir.density() * kAir.sound_speed() * radius * Complex(0, ka) / Complex(1, ka) * std::polar(1.0, ka);
    EXPECT_LE(std::abs(sphere_amplitude(0, ka, radius) - textbook), 1e-9 * std::abs(textbook));
  }
}

/// A box that moves as if a monopole and a dipole inside it made the field: known at every point.
struct Manufactured {
  mesh::TriangleMesh surface =
      shapes::generate(shapes::BoxDesc{.size = {0.2, 0.14, 0.1}, .edge_length = 0.016});
  SourceSet sources{{{0.03, 0.02, -0.01}, Vec3(1, 2, -1).normalized()},
                    {{-0.05, -0.01, 0.01}, Vec3(0, 1, 1).normalized()}};
  Eigen::VectorXcd amplitudes{{1.0, 0.0, 0.0, 0.04}};
};

SurfacePoints points_of(const model::ModalModel& model, PointPlace place = PointPlace::centroid)
{
  return sample_surface(model, 100000, place);
}

// The velocity of the surface is given as real and imaginary part, since a mode has a real one.
double far_error(int count, double frequency, double* residual = nullptr)
{
  const Manufactured known;
  const model::ModalModel model = vibrating(known.surface, {frequency}, {[](const Vec3&) {
                                              return Vec3(0, 0, 0);
                                            }});
  const double k = 2 * kPi * frequency / kAir.sound_speed();
  const SurfacePoints fitted = points_of(model);
  const SurfacePoints check = points_of(model, PointPlace::beside);
  const Eigen::VectorXcd velocity = source_fields(fitted, known.sources, k, kAir) * known.amplitudes;
  const Eigen::VectorXcd wanted = source_fields(check, known.sources, k, kAir) * known.amplitudes;
  const auto sources = place_sources(fitted, distance::MeshDistance(known.surface), count);
  const FieldMatrix fields = source_fields(fitted, sources, k, kAir);
  const Eigen::VectorXcd x =
      fit_fields(fields, velocity.real()) + Complex(0, 1) * fit_fields(fields, velocity.imag());
  if (residual) *residual = (source_fields(check, sources, k, kAir) * x - wanted).norm() / wanted.norm();
  double error = 0;
  double size = 0;
  const std::vector<Vec3> directions = some_directions();
  const auto expected = far_amplitudes(known.sources, known.amplitudes, Vec3::Zero(), k, directions);
  const auto found = far_amplitudes(sources, x, Vec3::Zero(), k, directions);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    error += std::norm(found[i] - expected[i]);
    size += std::norm(expected[i]);
  }
  return std::sqrt(error / size);
}

TEST(EquivalentSources, FindTheFieldOfSourcesInsideABox)
{
  for (const double frequency : {100.0, 1000.0, 3000.0, 6000.0}) {
    double residual = 0;
    EXPECT_LE(far_error(150, frequency, &residual), 0.03) << frequency << " Hz";
    EXPECT_LE(residual, 0.05) << frequency << " Hz";
  }
}

TEST(EquivalentSources, ResidualShrinksAsSourcesGrow)
{
  for (const double frequency : {500.0, 4000.0}) {
    double before = 10;
    for (const int count : {10, 30, 90, 200}) {
      double residual = 0;
      static_cast<void>(far_error(count, frequency, &residual));
      EXPECT_LT(residual, before) << count << " sources, " << frequency << " Hz";
      before = residual;
    }
    EXPECT_LE(before, 0.02);
  }
}

TEST(EquivalentSources, LieInsideAndApartFromTheSurface)
{
  const mesh::TriangleMesh plate =
      shapes::generate(shapes::BoxDesc{.size = {0.3, 0.2, 0.004}, .edge_length = 0.01});
  const model::ModalModel model = vibrating(plate, {}, {});
  const distance::MeshDistance inside(plate);
  const auto sources = place_sources(points_of(model), inside, 100);
  EXPECT_GE(sources.size(), 80u);
  for (const EquivalentSource& source : sources) {
    EXPECT_LE(inside.signed_distance(source.position).distance, -0.0005);
  }
}

// Turning the body turns its far field.
TEST(RadiationMap, TurnsWithTheBody)
{
  const Quat turn(Eigen::AngleAxisd(1.1, Vec3(0.3, -1, 0.7).normalized()));
  const Velocity bend = [](const Vec3& x) {
    return Vec3(20 * x.y() * x.z(), std::sin(30 * x.x()), x.x() * 15);
  };
  mesh::TriangleMesh box = Manufactured{}.surface;
  base::Random random(5);  // no two points are equally far from a third, whose choice rounding would decide
  for (Vec3& vertex : box.vertices) {
    for (double& x : vertex) x += random.uniform(-1e-4, 1e-4);
  }
  mesh::TriangleMesh turned = box;
  mesh::transform(turned, {Vec3::Zero(), turn});
  for (const RadiationMethod method : {RadiationMethod::multipole, RadiationMethod::equivalent_sources}) {
    const RadiationDesc desc{.method = method, .max_residual = 2, .max_order = 10, .max_sources = 40};
    const RadiationMap a = bake_radiation(vibrating(box, {1500}, {bend}), desc);
    const RadiationMap b = bake_radiation(vibrating(turned, {1500}, {[&](const Vec3& x) {
                                                      return Vec3(turn * bend(turn.conjugate() * x));
                                                    }}),
                                          desc);
    EXPECT_NEAR(a.residuals[0], b.residuals[0], 1e-3 * a.residuals[0]);
    for (const Vec3& d : some_directions()) {
      std::complex<double> of_a;
      std::complex<double> of_b;
      a.amplitudes(d, {&of_a, 1});
      b.amplitudes(turn * d, {&of_b, 1});
      EXPECT_LE(std::abs(of_a - of_b), 1e-3 * a.mean_amplitude(0));
    }
  }
}

// What cannot be fitted is reported and has the level of the scalar formula.
TEST(RadiationMap, ModesThatCannotBeFittedAreScalar)
{
  const mesh::TriangleMesh plate =
      shapes::generate(shapes::BoxDesc{.size = {0.3, 0.2, 0.004}, .edge_length = 0.01});
  const Velocity bend = [](const Vec3& x) {
    return Vec3(0, 0, std::cos(200 * x.x()) * std::cos(180 * x.y()));
  };
  const model::ModalModel model = vibrating(plate, {4000}, {bend});
  const RadiationMap map = bake_radiation(model, {.max_residual = 0.1, .max_sources = 20});
  EXPECT_EQ(map.kinds[0], ModeRadiationKind::scalar);
  EXPECT_GT(map.residuals[0], 0.1);
  const double amplitude = scalar_radiation(model)[0].amplitude;
  EXPECT_NEAR(map.mean_amplitude(0), amplitude, 1e-6 * amplitude);
  std::complex<double> value;
  map.amplitudes(Vec3::UnitZ(), {&value, 1});
  EXPECT_NEAR(std::abs(value), amplitude, 1e-6 * amplitude);
}

// Multipoles about the hole of a ring can fit the surface well with a field that is far too loud. No surface
// radiates much more than rho c S v^2, so that such a fit is not believed.
TEST(RadiationMap, AFitThatRadiatesMoreThanASurfaceCanIsScalar)
{
  const mesh::TriangleMesh ring =
      shapes::generate(shapes::TorusDesc{.major_radius = 0.1, .minor_radius = 0.01, .edge_length = 0.006});
  std::vector<double> frequencies;
  std::vector<Velocity> velocities;
  for (const int waves : {0, 3}) {
    for (const double frequency : {1000.0, 3000.0, 6000.0, 10000.0}) {
      frequencies.push_back(frequency);
      velocities.push_back(
          [waves](const Vec3& x) { return Vec3(0, 0, std::cos(waves * std::atan2(x.y(), x.x()))); });
    }
  }
  const model::ModalModel model = vibrating(ring, frequencies, velocities);
  const RadiationMap map = bake_radiation(model, {.method = RadiationMethod::multipole});
  const std::vector<ModeRadiation> scalar = scalar_radiation(model);
  const double impedance = kAir.density() * kAir.sound_speed();
  std::size_t rejected = 0;
  for (std::size_t m = 0; m < map.mode_count(); ++m) {
    const double power = std::pow(map.mean_amplitude(m) / impedance, 2) * 4 * kPi / scalar[m].area;
    EXPECT_LE(power, 4.01) << frequencies[m] << " Hz";
    if (map.kinds[m] == ModeRadiationKind::scalar && map.residuals[m] <= 0.5) ++rejected;
  }
  EXPECT_GT(rejected, 0U);
}

// A thin disc of radius a that moves along its axis at low frequency is a dipole with the added mass 8/3
// rho a^3 of Lamb: r p = w k (8/3 rho a^3 + rho V) cos(theta) / (4 pi).
TEST(SurfaceSources, ThinDiscIsTheDipoleOfItsAddedMass)
{
  const double a = 0.1;
  const double h = 0.003;
  const mesh::TriangleMesh disc =
      shapes::generate(shapes::CylinderDesc{.radius = a, .height = h, .edge_length = 0.007});
  const Velocity up = [](const Vec3&) {
    return Vec3(0, 0, 1);
  };
  for (const double ka : {0.05, 0.2}) {
    const double omega = ka / a * kAir.sound_speed();
    const model::ModalModel model = vibrating(disc, {omega / (2 * kPi)}, {up});
    const ModeFarField field = SurfaceSources(model, 500).fit(0, omega, Vec3::Zero(), a, 6, kAir);
    const double mass = kAir.density() * (8.0 / 3 * a * a * a + kPi * a * a * h);
    const double expected = omega * ka / a * mass / (4 * kPi);
    const double dipole = std::abs(field.coefficients[2]) * std::sqrt(3 / (4 * kPi));  // cos(theta)
    EXPECT_NEAR(20 * std::log10(dipole / expected), 0, 0.5) << "ka " << ka;
    // Nothing else radiates.
    EXPECT_LE(std::abs(field.coefficients[0]), 0.05 * std::abs(field.coefficients[2]));
    EXPECT_LE(std::abs(field.coefficients[1]), 0.02 * std::abs(field.coefficients[2]));
  }
}

// Away from the standing waves inside, k a = pi, 4.49 ...
TEST(SurfaceSources, SpheresAreTheClosedForms)
{
  const double radius = 0.07;
  const mesh::TriangleMesh sphere =
      shapes::generate(shapes::SphereDesc{.radius = radius, .edge_length = radius / 8});
  const std::vector<Velocity> velocities{[](const Vec3& x) { return x.normalized(); },
                                         [](const Vec3&) {
                                           return Vec3(0, 0, 1);
                                         }};
  const model::ModalModel model = vibrating(sphere, {1, 1}, velocities);
  const SurfaceSources sources(model, 400);
  for (const double ka : {0.05, 0.5, 1.5, 2.5, 3.8}) {
    for (Index n = 0; n < 2; ++n) {
      const ModeFarField field =
          sources.fit(n, ka / radius * kAir.sound_speed(), Vec3::Zero(), radius, 8, kAir);
      const Complex found = n == 0 ? field.coefficients[0] / std::sqrt(4 * kPi)
                                   : field.coefficients[2] * std::sqrt(3 / (4 * kPi));
      const Complex expected = sphere_amplitude(n, ka, radius);
      EXPECT_NEAR(20 * std::log10(std::abs(found / expected)), 0, 0.5) << "order " << n << ", ka " << ka;
      EXPECT_NEAR(std::arg(found / expected), 0, 0.1) << "order " << n << ", ka " << ka;
    }
  }
}

TEST(RadiationMap, CutOffHarmonicsKeepThePower)
{
  const Velocity bend = [](const Vec3& x) {
    return Vec3(0, 0, std::cos(60 * x.x()));
  };
  const model::ModalModel model = vibrating(Manufactured{}.surface, {9000}, {bend});
  const RadiationMap fine = bake_radiation(model, {.max_residual = 2, .max_order = 40, .max_sources = 100});
  const RadiationMap coarse = bake_radiation(model, {.max_residual = 2, .max_order = 12, .max_sources = 100});
  ASSERT_GT(fine.orders[0], 12);
  EXPECT_NEAR(coarse.mean_amplitude(0), fine.mean_amplitude(0), 0.01 * fine.mean_amplitude(0));
}

TEST(RadiationMap, DoesNotDependOnThreadsAndComesBackFromTheCache)
{
  const base::ScratchFolder folder;
  const base::Cache cache({.folder = folder.path()});
  const Velocity bend = [](const Vec3& x) {
    return Vec3(30 * x.z(), 30 * x.x(), 30 * x.y());
  };
  const model::ModalModel model = vibrating(Manufactured{}.surface, {300, 2000, 5000}, {bend, bend, bend});
  const RadiationDesc desc{.max_sources = 30};
  base::set_thread_count(1);
  const RadiationMap first = bake_radiation_cached(model, desc, cache);
  base::set_thread_count(2);
  const RadiationMap again = bake_radiation(model, desc);
  base::set_thread_count(0);
  const RadiationMap stored = bake_radiation_cached(model, desc, cache);
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(stored.from_cache);
  EXPECT_EQ(first.coefficients, again.coefficients);
  EXPECT_EQ(first.coefficients, stored.coefficients);
  EXPECT_EQ(first.residuals, stored.residuals);
  EXPECT_EQ(first.centre, stored.centre);
  model::ModalModel other = model;
  other.shapes(5, 1) += 1e-9;
  EXPECT_FALSE(bake_radiation_cached(other, desc, cache).from_cache);
}

TEST(RadiationMap, RejectsWhatHasNoInside)
{
  const mesh::TriangleMesh one{{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)}, {{0, 1, 2}}};
  const Velocity up = [](const Vec3&) {
    return Vec3(0, 0, 1);
  };
  EXPECT_THROW(static_cast<void>(bake_radiation(vibrating(one, {100}, {up}))), Error);
  EXPECT_THROW(static_cast<void>(bake_radiation(vibrating({}, {100}, {up}))), Error);
  EXPECT_THROW(
      static_cast<void>(bake_radiation(vibrating(Manufactured{}.surface, {100}, {up}), {.max_order = 0})),
      Error);
}

}  // namespace
}  // namespace thrum::sound
