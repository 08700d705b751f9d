// SPDX-License-Identifier: MIT
// A ring, a glockenspiel and a xylophone bar, a tuning fork and a bell, with the partials that theory gives
// them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "thrum/elastic/material_library.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/shapes.h"

namespace {

using thrum::Vec3;

const thrum::model::Material& steel()
{
  static const thrum::model::Material material = thrum::elastic::MaterialLibrary::builtin().get("steel");
  return material;
}

thrum::VecX frequencies(const thrum::mesh::TriangleMesh& mesh, int count, double thickness = 0,
                        const char* clamp = nullptr)
{
  thrum::elastic::ModalAnalysisDesc desc = {.materials = {steel()}, .count = count};
  if (clamp != nullptr) desc.supports = {{thrum::elastic::parse_selection(clamp)}};
  return thrum::elastic::analyse_surface_modes(mesh, {.thickness = thickness}, desc).model.frequencies;
}

bool report(const std::string& what, double found, double expected, double tolerance)
{
  const double difference = found / expected - 1;
  fmt::print("{:<52} {:>9.4g}   theory {:>9.4g}   {:+.2f} %\n", what, found, expected, 100 * difference);
  return std::abs(difference) < tolerance;
}

thrum::mesh::TriangleMesh block(const Vec3& size, const Vec3& centre)
{
  thrum::mesh::TriangleMesh mesh = thrum::shapes::generate(thrum::shapes::BoxDesc{.size = size});
  for (Vec3& v : mesh.vertices) v += centre;
  return mesh;
}

// A bar of wood with an arch cut out below, and its frequencies as a beam [Timoshenko]:
// w' = p + V/(k G A), p' = M/(E I), V' = -rho A omega^2 w, M' = -V - rho I omega^2 p, V = M = 0 at both
// ends.
struct XylophoneBar {
  thrum::model::Material material = thrum::elastic::MaterialLibrary::builtin().get("wood");
  double length = 0.35;     // [m]
  double width = 0.04;      // [m]
  double thickness = 0.02;  // at the ends [m]
  double arch = 0.22;       // its length [m]
  double middle = 0.02;     // thickness there [m]

  [[nodiscard]] double thickness_at(double x) const
  {
    const double share = std::min(1.0, std::abs(2 * x / arch));
    return middle + (thickness - middle) * share * share;
  }

  // Of V and M at the far end for w = 1 and for p = 1 at the near one; zero at a frequency of the bar.
  [[nodiscard]] double determinant(double frequency) const
  {
    const double w2 = std::pow(2 * std::numbers::pi * frequency, 2);
    const double nu = material.poisson;
    const double shear = 10 * (1 + nu) / (12 + 11 * nu) * material.young / (2 * (1 + nu));  // k G [Cowper]
    using State = Eigen::Matrix<double, 4, 2>;
    const auto slope = [&](double x, const State& y) {
      const double h = thickness_at(x);
      const double area = width * h;
      const double second = area * h * h / 12;
      State d;
      d.row(0) = y.row(1) + y.row(2) / (shear * area);
      d.row(1) = y.row(3) / (material.young * second);
      d.row(2) = -material.density * area * w2 * y.row(0);
      d.row(3) = -y.row(2) - material.density * second * w2 * y.row(1);
      return d;
    };
    State y = State::Zero();
    y(0, 0) = y(1, 1) = 1;
    constexpr int kSteps = 200;
    const double step = length / kSteps;
    for (int k = 0; k < kSteps; ++k) {  // Runge and Kutta
      const double x = k * step - length / 2;
      const State a = slope(x, y);
      const State b = slope(x + step / 2, State(y + step / 2 * a));
      const State c = slope(x + step / 2, State(y + step / 2 * b));
      const State d = slope(x + step, State(y + step * c));
      y += step / 6 * (a + 2 * b + 2 * c + d);
    }
    return y(2, 0) * y(3, 1) - y(2, 1) * y(3, 0);
  }

  [[nodiscard]] std::array<double, 2> partials() const
  {
    std::array<double, 2> found{};
    double low = 20;
    for (double& f : found) {
      double high = low * 1.02;
      while (determinant(low) * determinant(high) > 0) {
        low = high;
        high *= 1.02;
      }
      for (int k = 0; k < 40; ++k) {
        f = 0.5 * (low + high);
        (determinant(low) * determinant(f) > 0 ? low : high) = f;
      }
      low = high * 1.001;
    }
    return found;
  }

  [[nodiscard]] thrum::mesh::TriangleMesh mesh() const
  {
    std::vector<thrum::Vec2> outline = {{length / 2, 0}, {-length / 2, 0}, {-length / 2, -thickness}};
    constexpr int kPieces = 32;
    for (int k = 0; k <= kPieces; ++k) {
      const double x = arch * (k - kPieces / 2) / kPieces;
      outline.emplace_back(x, -thickness_at(x));
    }
    outline.emplace_back(length / 2, -thickness);
    return thrum::shapes::generate(
        thrum::shapes::ExtrusionDesc{.outline = outline, .holes = {}, .height = width});
  }
};

// The lowest mode of an extruded bar that bends within the plane of its outline, symmetric or not.
double bending_frequency(const thrum::model::ModalModel& model, bool symmetric)
{
  for (Eigen::Index m = 0; m < model.frequencies.size(); ++m) {
    double sum = 0;
    double all = 0;
    for (std::size_t v = 0; v < model.surface.vertices.size(); ++v) {
      const thrum::Vec3 u = model.shapes.col(m).segment<3>(3 * static_cast<Eigen::Index>(v));
      const double x = model.surface.vertices[v].x();
      if (std::abs(x) < 0.15) continue;  // the ends
      sum += (symmetric || x > 0 ? 1 : -1) * u.y();
      all += u.norm();
    }
    if (std::abs(sum) > 0.5 * all) return model.frequencies[m];
  }
  return 0;
}

// A fork with prongs of a length and a thickness, 10 mm apart, on a yoke and a stem.
thrum::mesh::TriangleMesh tuning_fork(double prong, double thickness)
{
  const double z = 0.005 + thickness / 2;
  return thrum::shapes::boolean_union(
      std::vector{block(Vec3(prong, 0.008, thickness), Vec3(prong / 2, 0, z)),
                  block(Vec3(prong, 0.008, thickness), Vec3(prong / 2, 0, -z)),
                  block(Vec3(0.02, 0.008, 2 * z + thickness), Vec3(-0.01, 0, 0)),
                  block(Vec3(0.05, 0.008, 0.006), Vec3(-0.04, 0, 0))});
}

// The highest mode below that of a prong which is held.
double tone_of(const thrum::mesh::TriangleMesh& fork, double held)
{
  double tone = 0;
  for (const double f : frequencies(fork, 6))
    if (f < held) tone = std::max(tone, f);
  return tone;
}

}  // namespace

int main()
{
  const double sound = std::sqrt(steel().young / steel().density) / (2 * std::numbers::pi);
  bool good = true;

  // Ring of radius R and wire radius r [Love]: n (n^2 - 1)/sqrt(n^2 + 1) r/(2 R^2) c, in its plane.
  const auto ring = frequencies(
      thrum::shapes::generate(thrum::shapes::TorusDesc{
          .major_radius = 0.1, .minor_radius = 0.004, .major_segments = 160, .minor_segments = 40}),
      4);
  good &= report("ring, two nodal diameters, in its plane [Hz]", ring[2],
                 6 / std::sqrt(5.0) * 0.004 / (2 * 0.01) * sound, 0.01);

  // Bar with free ends [Euler]: 22.373, 61.673, 120.90 x h/(L^2 sqrt(12)) c.
  const auto bar = frequencies(block(Vec3(0.2, 0.025, 0.005), Vec3::Zero()), 4);
  good &= report("glockenspiel bar, first partial [Hz]", bar[0],
                 22.373 * 0.005 / (0.04 * std::sqrt(12.0)) * sound, 0.01);
  good &= report("glockenspiel bar, second over first", bar[1] / bar[0], 2.7565, 0.01);

  // A xylophone bar sounds its twelfth: its arch is so deep that the second partial is three times the first.
  XylophoneBar xylophone;
  double thin = 0.004;
  double thick = xylophone.thickness;
  while (thick - thin > 1e-6) {
    xylophone.middle = 0.5 * (thin + thick);
    const auto f = xylophone.partials();
    (f[1] > 3 * f[0] ? thin : thick) = xylophone.middle;
  }
  const auto wood = xylophone.partials();
  const auto arched = thrum::elastic::analyse_surface_modes(xylophone.mesh(), {},
                                                            {.materials = {xylophone.material}, .count = 10})
                          .model;
  const double first = bending_frequency(arched, true);
  good &= report("xylophone bar with an arch, first partial [Hz]", first, wood[0], 0.01);
  good &= report("xylophone bar, second over first", bending_frequency(arched, false) / first, 3, 0.01);

  // Each prong of a fork that is held at its yoke is a bar with one end held: 3.516 x h/(L^2 sqrt(12)) c.
  const double prong = 0.1;
  const double h = 0.005;
  const auto fork = tuning_fork(prong, h);
  const double held = frequencies(fork, 6, 0, "x<0")[0];
  good &= report("tuning fork, held at its yoke [Hz]", held,
                 3.516 * h / (prong * prong * std::sqrt(12.0)) * sound, 0.01);
  // The yoke of a free one gives way, as if prongs were longer by a share of their thickness, whatever their
  // length: 0.61 thicknesses, which lowers this one by 5.8 %. Found with prongs half as long, and half as
  // thick.
  const auto half_length = tuning_fork(prong / 2, h);
  const double half_held = frequencies(half_length, 6, 0, "x<0")[0];
  const double longer = prong / 2 * (std::sqrt(half_held / tone_of(half_length, half_held)) - 1);
  good &= report("tuning fork, its tone [Hz]", tone_of(fork, held), held / std::pow(1 + longer / prong, 2),
                 0.005);
  const auto thin_fork = tuning_fork(prong / 2, h / 2);
  const double thin_held = frequencies(thin_fork, 6, 0, "x<0")[0];
  const double thin_longer = prong / 2 * (std::sqrt(thin_held / tone_of(thin_fork, thin_held)) - 1);
  good &= report("tuning fork, prong longer by thicknesses, half as thick", thin_longer / (h / 2), longer / h,
                 0.03);

  // A hemisphere, open below, bends without stretching where it is very thin: 1 : 2.8102 [Rayleigh, section
  // 235]. Of one of revolution the ratio is 2.711, 2.731, 2.760 and 2.779 with t/R = 1/50, 1/71, 1/143 and
  // 1/286; this one has 40 sides and t/R = 1/71.
  thrum::mesh::TriangleMesh bell;
  constexpr int kAround = 40;
  constexpr int kDown = 10;
  for (int j = 1; j <= kDown; ++j)
    for (int i = 0; i < kAround; ++i) {
      const double a = 2 * std::numbers::pi * i / kAround;
      const double b = 0.5 * std::numbers::pi * j / kDown;
      bell.vertices.emplace_back(0.05 * std::sin(b) * std::cos(a), 0.05 * std::sin(b) * std::sin(a),
                                 0.05 * std::cos(b));
    }
  const auto top = static_cast<thrum::Index>(bell.vertices.size());
  bell.vertices.emplace_back(0, 0, 0.05);
  for (int i = 0; i < kAround; ++i) {
    const int next = (i + 1) % kAround;
    bell.triangles.push_back({top, i, next});
    for (int j = 1; j < kDown; ++j) {
      const int up = (j - 1) * kAround;
      bell.triangles.push_back({up + i, up + kAround + i, up + kAround + next});
      bell.triangles.push_back({up + i, up + kAround + next, up + next});
    }
  }
  const auto shell = frequencies(bell, 4, 0.0007);
  good &= report("bell (hemisphere), third over second partial", shell[2] / shell[0], 2.8102, 0.05);
  return good ? 0 : 1;
}
