// SPDX-License-Identifier: MIT
#include "benchmarks/impact/scenes.h"

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

namespace thrum::bench {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kHalfSide = 2;  // of a height field [m]

mesh::TriangleMesh height_field(int cells, const std::function<double(double, double)>& height)
{
  mesh::TriangleMesh mesh;
  for (int j = 0; j <= cells; ++j) {
    for (int i = 0; i <= cells; ++i) {
      const double x = kHalfSide * (2.0 * i / cells - 1);
      const double y = kHalfSide * (2.0 * j / cells - 1);
      mesh.vertices.emplace_back(x, y, height(x, y));
    }
  }
  for (Index j = 0; j < cells; ++j) {
    for (Index i = 0; i < cells; ++i) {
      const Index v = j * (cells + 1) + i;
      mesh.triangles.push_back({v, v + 1, v + cells + 2});
      mesh.triangles.push_back({v, v + cells + 2, v + cells + 1});
    }
  }
  return mesh;
}

}  // namespace

mesh::TriangleMesh head_mesh(int around, int rings)
{
  mesh::TriangleMesh mesh;
  const auto place = [](double u, double v) {
    const Vec3 d(std::sin(v) * std::cos(u), std::sin(v) * std::sin(u), std::cos(v));
    const double nose = 0.12 * std::exp(-30 * (d - Vec3(1, 0, 0)).squaredNorm());
    const double chin = 0.1 * std::exp(-12 * (d - Vec3(0.6, 0, -0.8)).squaredNorm());
    const double r = 0.5 + nose + chin;
    return Vec3(0.9 * r * d.x(), 0.75 * r * d.y(), 1.1 * r * d.z());
  };
  mesh.vertices.push_back(place(0, 0));
  for (int j = 1; j < rings; ++j) {
    for (int i = 0; i < around; ++i) mesh.vertices.push_back(place(2 * kPi * i / around, kPi * j / rings));
  }
  mesh.vertices.push_back(place(0, kPi));
  const auto at_ring = [&](int j, int i) {
    return static_cast<Index>(1 + (j - 1) * around + i % around);
  };
  const auto last = static_cast<Index>(mesh.vertices.size() - 1);
  for (int i = 0; i < around; ++i) {
    mesh.triangles.push_back({0, at_ring(1, i), at_ring(1, i + 1)});
    for (int j = 1; j + 1 < rings; ++j) {
      mesh.triangles.push_back({at_ring(j, i), at_ring(j + 1, i), at_ring(j + 1, i + 1)});
      mesh.triangles.push_back({at_ring(j, i), at_ring(j + 1, i + 1), at_ring(j, i + 1)});
    }
    mesh.triangles.push_back({at_ring(rings - 1, i), last, at_ring(rings - 1, i + 1)});
  }
  return mesh;
}

mesh::TriangleMesh ring_mesh(int around, int tube)
{
  mesh::TriangleMesh mesh;
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < tube; ++j) {
      const double u = 2 * kPi * i / around;
      const double v = 2 * kPi * j / tube;
      const double r = 0.4 + 0.15 * std::cos(v);
      mesh.vertices.emplace_back(r * std::cos(u), r * std::sin(u), 0.15 * std::sin(v));
    }
  }
  const auto corner = [&](int i, int j) {
    return static_cast<Index>((i % around) * tube + j % tube);
  };
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < tube; ++j) {
      mesh.triangles.push_back({corner(i, j), corner(i + 1, j), corner(i + 1, j + 1)});
      mesh.triangles.push_back({corner(i, j), corner(i + 1, j + 1), corner(i, j + 1)});
    }
  }
  return mesh;
}

mesh::TriangleMesh hills_mesh(int cells)
{
  return height_field(cells, [](double x, double y) {
    return 0.12 * std::sin(2.3 * x + 0.4) * std::cos(1.9 * y) + 0.05 * std::sin(5.1 * x) * std::sin(4.3 * y);
  });
}

mesh::TriangleMesh mandelbrot_mesh(int cells)
{
  return height_field(cells, [](double x, double y) {
    constexpr int kMaxRounds = 24;
    const std::complex<double> c(0.75 * x - 0.5, 0.75 * y);
    std::complex<double> z = 0;
    int rounds = 0;
    while (rounds < kMaxRounds && std::norm(z) < 4) {
      z = z * z + c;
      ++rounds;
    }
    return 0.5 - 0.5 * rounds / kMaxRounds;  // a basin with steep sides
  });
}

}  // namespace thrum::bench
