// SPDX-License-Identifier: MIT
// Figures 7 and 8 of [Forgue91]: time per frame against the number of polygons, and the other scenes. A frame
// is one motion of the head onto the ground: candidates, Boyse's tests on them, and the static check.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <vector>

#include "benchmarks/harness.h"
#include "benchmarks/impact/scenes.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/plot.h"
#include "thrum/rigid/impact_loop.h"

namespace thrum::bench {

namespace {

using collision::BoyseImpact;
using collision::SplitMotion;
using rigid::ImpactCandidates;
using rigid::ImpactLoop;

/// All pairs without a box test are measured up to so many; then they take minutes.
constexpr std::size_t kMaxPlainPairs = 20'000'000;
/// The paper's frame with 1875 + 3032 polygons on an IRIS 4D/25 [ms].
constexpr double kPaperFrame = 240;

struct Frame {
  rigid::ImpactObject head;
  rigid::ImpactObject ground;
  SplitMotion motion;  ///< of the head, in axes of the ground
};

// The head comes down by 8 cm and turns a little, and meets the ground on the way.
Frame make_frame(const mesh::TriangleMesh& head, const mesh::TriangleMesh& ground)
{
  Frame frame{rigid::make_impact_object(head, 1000), rigid::make_impact_object(ground, 0), {}};
  const Quat before(Eigen::AngleAxisd(0.4, Vec3(1, 0.3, 0.2).normalized()));
  const Quat after = Quat(Eigen::AngleAxisd(0.05, Vec3(0.2, 1, 0).normalized())) * before;
  const auto pose = [&](double z, const Quat& turn) {
    return frame.ground.X_wb.inverse() * Pose{{0.15, 0.1, z}, turn};
  };
  // The height of the first touch, from far above.
  ImpactLoop probe(frame.head, frame.ground, {});
  const SplitMotion drop = collision::screw_motion(pose(3, before), pose(0, before));
  const BoyseImpact touch = collision::find_first_impact(*frame.head.surface, *frame.ground.surface, drop,
                                                         probe.find_candidates(drop));
  if (!touch.found) throw Error("impact benchmark: the head missed the ground.");
  const double z = 3 * (1 - touch.share);
  frame.motion = collision::screw_motion(pose(z + 0.04, before), pose(z - 0.04, after));
  return frame;
}

// Every pair of faces; with `boxes` those whose boxes stay apart over the motion are left out first.
BoyseImpact all_pairs(const Frame& frame, bool boxes, double& pairs_left)
{
  const collision::BoyseSurface& a = *frame.head.surface;
  const collision::BoyseSurface& b = *frame.ground.surface;
  std::vector<Box3> of_b;
  for (Index j = 0; j < count_of(b.mesh().triangles); ++j) {
    Box3 box;
    for (const Vec3& p : b.corners(j)) box.extend(p);
    of_b.push_back(box);
  }
  const std::array<Pose, 3> poses{frame.motion.start, frame.motion.translated(1), frame.motion.end()};
  std::vector<mesh::TrianglePair> pairs;
  for (Index i = 0; i < count_of(a.mesh().triangles); ++i) {
    Box3 box;
    double bulge = 0;
    for (const Vec3& p : a.corners(i)) {
      for (const Pose& X : poses) box.extend(X.point(p));
      bulge = std::max(bulge, (poses[2].point(p) - frame.motion.centre).norm());
    }
    bulge *= 1 - std::cos(0.5 * frame.motion.angle);
    box.min().array() -= bulge;
    box.max().array() += bulge;
    for (std::size_t j = 0; j < of_b.size(); ++j) {
      if (!boxes || box.intersects(of_b[j])) pairs.push_back({i, static_cast<Index>(j)});
    }
  }
  pairs_left = static_cast<double>(pairs.size());
  return collision::find_first_impact(a, b, frame.motion, pairs);
}

struct FrameTimes {
  double zlist = 0;      ///< [s]
  double hierarchy = 0;  ///< [s]
  double boxes = 0;      ///< all pairs of boxes, then Boyse [s]
  double plain = 0;      ///< Boyse on all pairs; 0: not measured [s]
  double zlist_pairs = 0;
  double hierarchy_pairs = 0;
};

FrameTimes time_frame(const Frame& frame)
{
  FrameTimes times;
  const auto by_candidates = [&](ImpactCandidates candidates, double& seconds, double& pairs) {
    ImpactLoop loop(frame.head, frame.ground, {.candidates = candidates});
    BoyseImpact impact;
    seconds = min_cpu_seconds([&] {
      impact = collision::find_first_impact(*frame.head.surface, *frame.ground.surface, frame.motion,
                                            loop.find_candidates(frame.motion));
    });
    pairs = static_cast<double>(loop.find_candidates(frame.motion).size());
    return impact;
  };
  const BoyseImpact one = by_candidates(ImpactCandidates::zlist, times.zlist, times.zlist_pairs);
  const BoyseImpact two = by_candidates(ImpactCandidates::hierarchy, times.hierarchy, times.hierarchy_pairs);
  BoyseImpact three;
  double left = 0;
  times.boxes = min_cpu_seconds([&] { three = all_pairs(frame, true, left); }, 1);
  const std::size_t count =
      frame.head.surface->mesh().triangles.size() * frame.ground.surface->mesh().triangles.size();
  BoyseImpact four = three;
  if (count <= kMaxPlainPairs)
    times.plain = min_cpu_seconds([&] { four = all_pairs(frame, false, left); }, 1);
  for (const BoyseImpact* other : std::array<const BoyseImpact*, 3>{&two, &three, &four}) {
    if (!one.found || other->found != one.found || other->in_rotation != one.in_rotation ||
        std::abs(other->share - one.share) > 1e-9)
      throw Error("impact benchmark: the methods find different impacts.");
  }
  return times;
}

// Mean time of a frame while the body falls, bounces and comes to rest.
double loop_seconds(const mesh::TriangleMesh& mover, const mesh::TriangleMesh& ground, double height,
                    int& impacts)
{
  ImpactLoop loop(rigid::make_impact_object(mover, 1000), rigid::make_impact_object(ground, 0),
                  {.restitution = 0.4, .friction = 0.4});
  loop.mover().X_wb.position = Vec3(0.15, 0.1, height);
  loop.mover().spin = Vec3(1, 0.5, 0.3);
  constexpr int kFrames = 90;
  return cpu_seconds_once([&] {
           for (int i = 0; i < kFrames; ++i) impacts += loop.step(1.0 / 60).impacts;
         }) /
         kFrames;
}

}  // namespace

THRUM_BENCHMARK(impact, figure_7)
{
  media::PlotSeries zlist{.name = "z-list, then Boyse", .line_width = 3};
  media::PlotSeries hierarchy{.name = "hierarchy, then Boyse", .line_width = 3};
  media::PlotSeries boxes{.name = "all pairs of boxes, then Boyse", .line_width = 3};
  media::PlotSeries plain{.name = "Boyse on all pairs", .line_width = 3};
  std::ofstream table(output_file("impact_figure7.csv"));
  table << "polygons,zlist [ms],hierarchy [ms],boxes [ms],plain [ms],zlist pairs,hierarchy pairs\n";
  for (const int total : {1000, 3000, 4900, 10000, 30000, 100000, 300000, 1000000}) {
    // The paper's head, or one with two fifths of the polygons.
    const int around = static_cast<int>(std::lround(std::sqrt(0.19 * total)));
    const mesh::TriangleMesh head = total < 4900 ? head_mesh(around, around + 1) : head_mesh(39, 25);
    const auto rest = static_cast<double>(total) - static_cast<double>(head.triangles.size());
    const mesh::TriangleMesh ground = hills_mesh(static_cast<int>(std::lround(std::sqrt(0.5 * rest))));
    const FrameTimes t = time_frame(make_frame(head, ground));
    const auto count = static_cast<double>(head.triangles.size() + ground.triangles.size());
    const auto add = [&](media::PlotSeries& series, double seconds) {
      if (!(seconds > 0)) return;
      series.x.push_back(count);
      series.y.push_back(1000 * seconds);
    };
    add(zlist, t.zlist);
    add(hierarchy, t.hierarchy);
    add(boxes, t.boxes);
    add(plain, t.plain);
    Row row{.name = fmt::format("frame with {} polygons, z-list", count),
            .figure = 1000 * t.zlist,
            .unit = "ms",
            .baseline = t.plain > 0 ? "Boyse on all pairs" : "all pairs of boxes, then Boyse",
            .baseline_value = 1000 * (t.plain > 0 ? t.plain : t.boxes)};
    if (total == 4900) {
      report.row({.name = "4,900 polygons against the paper's frame",
                  .figure = 1000 * t.zlist,
                  .unit = "ms",
                  .baseline = "paper, IRIS 4D/25 of 1991",
                  .baseline_value = kPaperFrame,
                  .target_ratio = 100});
    }
    report.row(row);
    report.note(fmt::format("hierarchy {:.3f} ms, all pairs of boxes {:.2f} ms; {} and {} pairs for Boyse",
                            1000 * t.hierarchy, 1000 * t.boxes, t.zlist_pairs, t.hierarchy_pairs));
    table << fmt::format("{},{:.5f},{:.5f},{:.4f},{:.4f},{},{}\n", count, 1000 * t.zlist, 1000 * t.hierarchy,
                         1000 * t.boxes, 1000 * t.plain, t.zlist_pairs, t.hierarchy_pairs);
  }
  media::PlotSeries paper{.name = "paper, IRIS 4D/25", .x = {4907}, .y = {kPaperFrame}, .dot_radius = 7};
  const std::vector<media::PlotSeries> series{zlist, hierarchy, boxes, plain, paper};
  media::PlotDesc desc;
  desc.title = "Time of a frame with an impact";
  desc.x = {"polygons", media::AxisScale::logarithmic, {}};
  desc.y = {"time [ms]", media::AxisScale::logarithmic, {}};
  media::write_png(output_file("impact_figure7.png"), media::draw_plot(series, desc));
  report.note("plot: " + output_file("impact_figure7.png").string());
}

THRUM_BENCHMARK(impact, figure_8)
{
  struct Scene {
    const char* name;
    mesh::TriangleMesh mover;
    mesh::TriangleMesh ground;
    double height;
    double paper;  ///< [ms]
  };
  const std::vector<Scene> scenes{
      {"head on hills", head_mesh(39, 25), hills_mesh(39), 1.2, kPaperFrame},
      {"ring in the Mandelbrot field", ring_mesh(24, 12), mandelbrot_mesh(63), 1.2, 820},
      {"head in the Mandelbrot field", head_mesh(37, 25), mandelbrot_mesh(63), 1.4, 660},
      {"ring on hills", ring_mesh(15, 15), hills_mesh(14), 1.0, 350},
      {"head on coarse hills", head_mesh(22, 20), hills_mesh(16), 1.2, 530},
  };
  media::PlotSeries here{.name = "here", .dot_radius = 7};
  media::PlotSeries paper{.name = "paper, IRIS 4D/25, drawing included", .dot_radius = 7};
  for (const Scene& scene : scenes) {
    int impacts = 0;
    const double seconds = loop_seconds(scene.mover, scene.ground, scene.height, impacts);
    report.row({.name = fmt::format("{}, {} + {} polygons, mean of 90 frames", scene.name,
                                    scene.mover.triangles.size(), scene.ground.triangles.size()),
                .figure = 1000 * seconds,
                .unit = "ms",
                .baseline = "paper, drawing included",
                .baseline_value = scene.paper,
                .target_ratio = 100});
    report.note(fmt::format("{} impacts in 1.5 s", impacts));
    const auto polygons = static_cast<double>(scene.mover.triangles.size() + scene.ground.triangles.size());
    here.x.push_back(polygons);
    here.y.push_back(1000 * seconds);
    paper.x.push_back(polygons);
    paper.y.push_back(scene.paper);
  }
  media::PlotDesc desc;
  desc.title = "Mean time of a frame of whole simulations";
  desc.x = {"polygons", media::AxisScale::logarithmic, {}};
  desc.y = {"time [ms]", media::AxisScale::logarithmic, {}};
  media::write_png(output_file("impact_figure8.png"), media::draw_plot(std::vector{here, paper}, desc));
  report.note("plot: " + output_file("impact_figure8.png").string());
}

}  // namespace thrum::bench
