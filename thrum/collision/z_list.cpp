// SPDX-License-Identifier: MIT
#include "thrum/collision/z_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::collision {

namespace {

/// Added to the margin as a share of the size, so that rounding of a pose loses no pair that just touches.
constexpr double kRounding = 1e-12;
/// Side of a pixel as a share of the mean width of the faces drawn. Measured by `script/bench impact`.
constexpr double kPixelShare = 0.5;

Box3 bounds_of(const ZListBody& body)
{
  if (!body.bounds.isEmpty()) return body.bounds;
  return mesh::bounding_box(*body.mesh);
}

Box3 transformed(const Box3& box, const Mat3& R, const Vec3& t)
{
  const Vec3 centre = R * box.center() + t;
  const Vec3 half = 0.5 * (R.cwiseAbs() * box.sizes());
  return {centre - half, centre + half};
}

// Bounds of the body, or of what it sweeps, in the axes R of the buffer.
Box3 placed_bounds(const ZListBody& body, const Mat3& R)
{
  const Box3 bounds = bounds_of(body);
  const auto placed = [&](const Pose& X) {
    return transformed(bounds, R * X.rotation.toRotationMatrix(), R * X.position);
  };
  if (body.motion == nullptr) return placed(body.X_w);
  const SplitMotion& motion = *body.motion;
  Box3 box = placed(motion.start);
  box.extend(placed(motion.translated(1)));
  box.extend(placed(motion.end()));
  // Points on arcs leave their chords by at most r (1 - cos(angle / 2)).
  double radius = 0;
  const Vec3 centre_b = motion.end().point_to_local(motion.centre);
  for (int k = 0; k < 8; ++k) {
    const auto corner = static_cast<Box3::CornerType>(k);
    radius = std::max(radius, (bounds.corner(corner) - centre_b).norm());
  }
  const double bulge = radius * (1 - std::cos(0.5 * motion.angle));
  return {box.min().array() - bulge, box.max().array() + bulge};
}

// Axes with d as the depth.
Mat3 axes_along(const Vec3& d)
{
  Eigen::Index least = 0;
  d.cwiseAbs().minCoeff(&least);
  const Vec3 u = Vec3(Vec3::Unit(least)).cross(d).normalized();
  Mat3 R;
  R << u.transpose(), d.cross(u).transpose(), d.transpose();
  return R;
}

// World axes in cyclic order with axis k as the depth.
Mat3 axes_with_depth(Eigen::Index k)
{
  Mat3 R;
  R << Vec3::Unit((k + 1) % 3).transpose(), Vec3::Unit((k + 2) % 3).transpose(), Vec3::Unit(k).transpose();
  return R;
}

std::uint8_t outcode(const Vec3& low, const Vec3& high, const Box3& region)
{
  unsigned code = 0;
  for (int k = 0; k < 3; ++k) {
    code |= static_cast<unsigned>(high[k] < region.min()[k]) << k;
    code |= static_cast<unsigned>(low[k] > region.max()[k]) << (k + 3);
  }
  return static_cast<std::uint8_t>(code);
}

// Calls work(face) for the faces of the body of which no side of the region has all corners beyond it.
template <class Work>
void for_each_face_inside(const ZListBody& body, const std::vector<std::uint8_t>& outcodes, Work&& work)
{
  const std::vector<Triangle>& triangles = body.mesh->triangles;
  const auto visit = [&](Index f) {
    const Triangle& t = triangles[at(f)];
    if ((outcodes[at(t[0])] & outcodes[at(t[1])] & outcodes[at(t[2])]) == 0) work(f);
  };
  if (!body.faces.empty()) {
    for (const Index f : body.faces) visit(f);
  } else {
    for (Index f = 0; f < count_of(triangles); ++f) visit(f);
  }
}

void check(const ZListBody& a, const ZListBody& b, const ZListDesc& desc)
{
  if (a.mesh == nullptr || b.mesh == nullptr) throw Error("z-list: both bodies need a mesh.");
  if (!(desc.pixel >= 0) || !std::isfinite(desc.pixel))
    throw Error(
        fmt::format("z-list: the pixel size is {} m; it is positive, or 0 for the default.", desc.pixel));
  if (!(desc.margin >= 0) || !std::isfinite(desc.margin))
    throw Error(fmt::format("z-list: the margin is {} m; it is 0 or positive.", desc.margin));
  if (desc.max_resolution < 1 || desc.max_resolution > 16384)
    throw Error(fmt::format("z-list: max_resolution is {}; it is from 1 to 16384.", desc.max_resolution));
  if (desc.direction && !(desc.direction->norm() > 0 && desc.direction->allFinite()))
    throw Error("z-list: the direction has no length; give a vector other than 0.");
}

}  // namespace

const ZListResult& ZListBuffer::find(const ZListBody& a, const ZListBody& b, const ZListDesc& desc)
{
  check(a, b, desc);
  stamps_.clear();
  pairs_.clear();
  result_.pairs.clear();
  result_.faces_a.clear();
  result_.faces_b.clear();
  result_.drawn = result_.entries = result_.pixel_count = 0;
  result_.pixel = desc.pixel;
  double reach = 0;
  if (a.mesh->triangles.empty() || b.mesh->triangles.empty() || !load_overlap(a, b, desc, reach))
    return result_;
  choose_pixels(desc);
  draw(false, a.motion != nullptr, reach, desc.sampling);
  draw(true, b.motion != nullptr, 0, desc.sampling);
  gather_lists();
  for (std::size_t p = 0; p + 1 < begin_.size(); ++p) {
    const std::size_t size = begin_[p + 1] - begin_[p];
    if (size > 1) pass_over(std::span(lists_).subspan(begin_[p], size), desc.list_inside);
  }
  store_result();
  return result_;
}

// The quick test of [Forgue91, fig. 4] and the clipping to the box of the moving body: false when the boxes
// are apart. What is left in drawn_a_ and drawn_b_ reaches into region_.
bool ZListBuffer::load_overlap(const ZListBody& a, const ZListBody& b, const ZListDesc& desc, double& reach)
{
  R_ = desc.direction ? axes_along(desc.direction->normalized()) : Mat3(Mat3::Identity());
  Box3 box_a = placed_bounds(a, R_);
  Box3 box_b = placed_bounds(b, R_);
  const double size = std::max({box_a.min().cwiseAbs().maxCoeff(), box_a.max().cwiseAbs().maxCoeff(),
                                box_b.min().cwiseAbs().maxCoeff(), box_b.max().cwiseAbs().maxCoeff()});
  reach = desc.margin + kRounding * size;
  box_a.min().array() -= reach;
  box_a.max().array() += reach;
  region_ = box_a.intersection(box_b);
  if (region_.isEmpty()) return false;
  if (!desc.direction) {
    Eigen::Index least = 0;
    region_.sizes().minCoeff(&least);
    R_ = axes_with_depth(least);
    region_ = transformed(region_, R_, Vec3::Zero());
    region_.min().array() -= kRounding * size;
    region_.max().array() += kRounding * size;
  }
  // What lies inside may be at any depth within the box of the moving body.
  if (desc.list_inside) {
    const Box3 depths = transformed(box_a, desc.direction ? Mat3(Mat3::Identity()) : R_, Vec3::Zero());
    region_.min()[2] = depths.min()[2];
    region_.max()[2] = depths.max()[2];
  }
  const auto clip_to = [&](const std::vector<Drawn>& drawn) {
    Box3 box;
    for (const Drawn& face : drawn) box.extend(face.box);
    if (desc.list_inside && !drawn.empty()) {
      box.min()[2] = region_.min()[2];
      box.max()[2] = region_.max()[2];
    }
    region_ = region_.intersection(box);
    return !drawn.empty() && !region_.isEmpty();
  };
  load(a, region_, reach, drawn_a_);
  if (!clip_to(drawn_a_)) return false;
  load(b, region_, 0, drawn_b_);
  if (!clip_to(drawn_b_)) return false;
  std::erase_if(drawn_a_, [&](const Drawn& face) { return !face.box.intersects(region_); });
  result_.drawn = drawn_a_.size() + drawn_b_.size();
  return !drawn_a_.empty();
}

void ZListBuffer::load(const ZListBody& body, const Box3& region, double reach, std::vector<Drawn>& drawn)
{
  drawn.clear();
  if (body.motion != nullptr) return load_swept(body, region, reach, drawn);
  const Mat3 R = R_ * body.X_w.rotation.toRotationMatrix();
  const Vec3 t = R_ * body.X_w.position;
  // Vertices are compared in axes of the body with the box of the region there, so that those of a large body
  // at rest are read but not moved.
  const std::vector<Vec3>& vertices = body.mesh->vertices;
  Box3 near = transformed(region, R.transpose(), -(R.transpose() * t));
  const double grow = reach + kRounding * (near.min().cwiseAbs() + near.max().cwiseAbs()).maxCoeff();
  near.min().array() -= grow;
  near.max().array() += grow;
  outcodes_.resize(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) outcodes_[v] = outcode(vertices[v], vertices[v], near);
  for_each_face_inside(body, outcodes_, [&](Index f) {
    Drawn face;
    face.face = f;
    for (std::size_t k = 0; k < 3; ++k) {
      face.corner[k] = R * vertices[at(body.mesh->triangles[at(f)][k])] + t;
      face.box.extend(face.corner[k]);
    }
    face.box.min().array() -= reach;
    face.box.max().array() += reach;
    if (face.box.intersects(region)) drawn.push_back(face);
  });
}

// Each vertex covers the box of its segment and arc; a face at any time lies within the box of its three.
void ZListBuffer::load_swept(const ZListBody& body, const Box3& region, double reach,
                             std::vector<Drawn>& drawn)
{
  const SplitMotion& motion = *body.motion;
  const std::array<Pose, 3> poses{motion.start, motion.translated(1), motion.end()};
  std::array<Mat3, 3> R;
  std::array<Vec3, 3> t;
  for (std::size_t i = 0; i < 3; ++i) {
    R[i] = R_ * poses[i].rotation.toRotationMatrix();
    t[i] = R_ * poses[i].position;
  }
  const Vec3 centre_b = poses[2].point_to_local(motion.centre);
  const double bulge = 1 - std::cos(0.5 * motion.angle);
  const std::vector<Vec3>& vertices = body.mesh->vertices;
  swept_.resize(vertices.size());
  outcodes_.resize(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    Box3 box;
    for (std::size_t i = 0; i < 3; ++i) box.extend(R[i] * vertices[v] + t[i]);
    const double grow = reach + bulge * (vertices[v] - centre_b).norm();
    box.min().array() -= grow;
    box.max().array() += grow;
    swept_[v] = box;
    outcodes_[v] = outcode(box.min(), box.max(), region);
  }
  for_each_face_inside(body, outcodes_, [&](Index f) {
    Drawn face;
    face.face = f;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t v = at(body.mesh->triangles[at(f)][k]);
      face.corner[k] = R[2] * vertices[v] + t[2];
      face.box.extend(swept_[v]);
    }
    if (face.box.intersects(region)) drawn.push_back(face);
  });
}

void ZListBuffer::choose_pixels(const ZListDesc& desc)
{
  const Vec3 size = region_.sizes();
  const double side = std::max(size[0], size[1]);
  pixel_ = desc.pixel;
  if (!(pixel_ > 0)) {
    double sum = 0;
    for (const std::vector<Drawn>* drawn : {&drawn_a_, &drawn_b_}) {
      for (const Drawn& face : *drawn) sum += face.box.sizes()[0] + face.box.sizes()[1];
    }
    pixel_ = kPixelShare * 0.5 * sum / static_cast<double>(drawn_a_.size() + drawn_b_.size());
  }
  pixel_ = std::max(pixel_, side / desc.max_resolution);
  if (!(pixel_ > 0)) pixel_ = 1;  // the region is a line along the depth: one pixel
  columns_ = std::min(desc.max_resolution, static_cast<int>(size[0] / pixel_) + 1);
  rows_ = std::min(desc.max_resolution, static_cast<int>(size[1] / pixel_) + 1);
  result_.pixel = pixel_;
  result_.pixel_count = at(columns_) * at(rows_);
  touched_.assign(result_.pixel_count, 0);
}

// Counting sort of the entries by pixel.
void ZListBuffer::gather_lists()
{
  begin_.assign(result_.pixel_count + 1, 0);
  for (const Stamp& stamp : stamps_) ++begin_[stamp.pixel + 1];
  for (std::size_t p = 0; p < result_.pixel_count; ++p) begin_[p + 1] += begin_[p];
  lists_.resize(stamps_.size());
  for (std::size_t i = stamps_.size(); i-- > 0;) lists_[--begin_[stamps_[i].pixel + 1]] = stamps_[i].entry;
  // Each begin_[p + 1] went down to the beginning of list p.
  std::rotate(begin_.begin(), begin_.begin() + 1, begin_.end());
  begin_.back() = static_cast<std::uint32_t>(stamps_.size());
  result_.entries = stamps_.size();
}

// The one pass of the paper over a list, with `list_inside` once upwards and once downwards.
void ZListBuffer::pass_over(std::span<Entry> list, bool list_inside)
{
  const auto of_b = [](const Entry& e) {
    return e.of_b;
  };
  if (std::none_of(list.begin(), list.end(), of_b) || std::all_of(list.begin(), list.end(), of_b)) return;
  std::sort(list.begin(), list.end(), [](const Entry& x, const Entry& y) {
    if (x.low != y.low) return x.low < y.low;
    return x.of_b != y.of_b ? y.of_b : x.face < y.face;
  });
  const auto add_pair = [&](const Entry& x, const Entry& y) {
    const Entry& a = x.of_b ? y : x;
    const Entry& b = x.of_b ? x : y;
    const std::uint64_t key = (static_cast<std::uint64_t>(a.face) << 32U) |
                              static_cast<std::uint64_t>(static_cast<std::uint32_t>(b.face));
    if (pairs_.empty() || pairs_.back() != key) pairs_.push_back(key);
  };
  // Each entry is compared with those of the other body behind it only: faces of one body overlap in depth
  // far more often.
  for (std::vector<std::uint32_t>& of_body : of_body_) of_body.clear();
  for (std::size_t i = 0; i < list.size(); ++i)
    of_body_[list[i].of_b ? 1 : 0].push_back(static_cast<std::uint32_t>(i));
  std::array<std::size_t, 2> passed{0, 0};
  for (const Entry& e : list) {
    ++passed[e.of_b ? 1 : 0];
    const std::size_t other = e.of_b ? 0 : 1;
    for (std::size_t k = passed[other]; k < of_body_[other].size(); ++k) {
      const Entry& behind = list[of_body_[other][k]];
      if (behind.low > e.high) break;
      add_pair(e, behind);
    }
  }
  if (!list_inside) return;
  // Inside: the face of the other body before this one is an entry, or the one after it an exit.
  std::array<int, 2> facing{0, 0};
  for (Entry& e : list) {
    e.listed = e.listed || facing[e.of_b ? 0 : 1] < 0;
    if (e.facing != 0) facing[e.of_b ? 1 : 0] = e.facing;
  }
  facing = {0, 0};
  for (std::size_t i = list.size(); i-- > 0;) {
    Entry& e = list[i];
    e.listed = e.listed || facing[e.of_b ? 0 : 1] > 0;
    if (e.facing != 0) facing[e.of_b ? 1 : 0] = e.facing;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].listed) (list[i].of_b ? result_.faces_b : result_.faces_a).push_back(list[i].face);
    // An entry followed by an exit of the other body bounds a part of both.
    if (i > 0 && list[i].of_b != list[i - 1].of_b && list[i - 1].facing < 0 && list[i].facing > 0)
      add_pair(list[i], list[i - 1]);
  }
}

void ZListBuffer::store_result()
{
  const auto sort_unique = [](auto& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  };
  sort_unique(pairs_);
  for (const std::uint64_t key : pairs_) {
    const auto a = static_cast<Index>(key >> 32U);
    const auto b = static_cast<Index>(key & 0xffffffffU);
    result_.pairs.push_back({a, b});
    result_.faces_a.push_back(a);
    result_.faces_b.push_back(b);
  }
  sort_unique(result_.faces_a);
  sort_unique(result_.faces_b);
}

}  // namespace thrum::collision
