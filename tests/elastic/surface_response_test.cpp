// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_response.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "thrum/base/error.h"

namespace thrum::elastic {
namespace {

// Two triangles over a square with three artificial modes.
model::ModalModel small_model()
{
  model::ModalModel model;
  model.surface.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  model.surface.triangles = {{0, 1, 2}, {0, 2, 3}};
  model.frequencies = (VecX(3) << 110, 270, 410).finished();
  model.decays = (VecX(3) << 3, 8, 20).finished();
  model.shapes.resize(12, 3);
  for (Eigen::Index r = 0; r < 12; ++r) {
    for (Eigen::Index c = 0; c < 3; ++c)
      model.shapes(r, c) = std::sin(1.7 * static_cast<double>(r + 5 * c + 1));
  }
  return model;
}

TEST(SurfaceRow, IsTheShapeItselfAtAVertexAlongAnAxis)
{
  const model::ModalModel model = small_model();
  const VecX row = surface_row(model, {{1, {0, 0, 1}}, Vec3::UnitY()});
  EXPECT_TRUE(row.isApprox(model.shapes.row(3 * 3 + 1).transpose()));
}

TEST(SurfaceRow, IsLinearInsideATriangle)
{
  const model::ModalModel model = small_model();
  const auto at = [&](double a, double b, double c) {
    return surface_row(model, {{0, {a, b, c}}, Vec3::UnitZ()});
  };
  EXPECT_TRUE(at(0.2, 0.5, 0.3).isApprox(0.2 * at(1, 0, 0) + 0.5 * at(0, 1, 0) + 0.3 * at(0, 0, 1)));
}

TEST(SurfaceRow, RejectsATriangleOfAnotherMesh)
{
  EXPECT_THROW((void)surface_row(small_model(), {{7, {1, 0, 0}}, Vec3::UnitZ()}), Error);
}

RC_GTEST_PROP(PeakDisplacement, EqualsTheSampleBySampleSearch, ())
{
  const model::ModalModel model = small_model();
  const auto samples = static_cast<std::size_t>(*rc::gen::inRange(1, 70));
  std::vector<SurfaceProbe> points;
  for (int i = 0; i < 5; ++i) {
    const double a = *rc::gen::inRange(0, 100) / 100.0;
    points.push_back({{i % 2, {a, 1 - a, 0}}, Vec3(a, 1, 0.5 - a).normalized()});
  }
  const ModeList modes = mode_list(model);
  ModalFilterBank bank(modes, coevoet_step(modes));
  ModalFilterBank slow = bank;
  const VecX impulse = (VecX(3) << 1, -0.5, 0.25).finished();
  bank.drive(impulse);
  slow.drive(impulse);
  std::vector<double> peaks(points.size());
  PeakDisplacement().run(bank, SurfaceRows(model, points), samples, peaks);
  const MatX q = slow.run(samples);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double exact = (surface_row(model, points[i]).transpose() * q).cwiseAbs().maxCoeff();
    RC_ASSERT(std::abs(peaks[i] - exact) < 1e-5 * q.cwiseAbs().maxCoeff());
  }
  RC_ASSERT(bank.amplitudes().isApprox(slow.amplitudes()));
}

// From rest before each run, with any number of samples and rows, in any order.
RC_GTEST_PROP(RestartedPeakDisplacement, EqualsTheSampleBySampleSearch, ())
{
  const model::ModalModel model = small_model();
  const ModeList modes = mode_list(model);
  const double T = coevoet_step(modes);
  RestartedPeakDisplacement kernel(modes, T, FilterInput::dyrt,
                                   static_cast<std::size_t>(*rc::gen::inRange(0, 20)));
  for (int run = 0; run < 4; ++run) {
    const auto samples = static_cast<std::size_t>(*rc::gen::inRange(1, 70));
    const int count = *rc::gen::inRange(0, 10);
    std::vector<SurfaceProbe> points;
    for (int i = 0; i < count; ++i) {
      const double a = *rc::gen::inRange(0, 100) / 100.0;
      points.push_back({{i % 2, {a, 1 - a, 0}}, Vec3(a, 1, 0.5 - a).normalized()});
    }
    const VecX drive = (VecX(3) << 1, 0.1 * run - 0.5, 0.25).finished();
    ModalFilterBank bank(modes, T, FilterInput::dyrt);
    bank.drive(drive);
    const MatX q = bank.run(samples);
    std::vector<double> peaks(points.size());
    kernel.run(drive, SurfaceRows(model, points), samples, peaks);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double exact = (surface_row(model, points[i]).transpose() * q).cwiseAbs().maxCoeff();
      RC_ASSERT(std::abs(peaks[i] - exact) < 1e-5 * q.cwiseAbs().maxCoeff());
    }
  }
}

}  // namespace
}  // namespace thrum::elastic
