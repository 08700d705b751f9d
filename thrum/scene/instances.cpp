// SPDX-License-Identifier: MIT
#include "thrum/scene/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/random.h"

namespace thrum::scene {

namespace {

constexpr int kMaxPlacementTries = 200;  ///< draws for one position before it is taken as it comes

/// Streams of random numbers for stretching; those for places come before.
constexpr std::uint64_t kScaleStreams = std::uint64_t{1} << 32;

double radians(double degrees)
{
  return degrees * std::numbers::pi / 180;
}

double count_of(const GridRepeat& r)
{
  return static_cast<double>(r.count[0]) * r.count[1] * r.count[2];
}
double count_of(const StackRepeat& r)
{
  return r.count;
}
double count_of(const WallRepeat& r)
{
  return static_cast<double>(r.columns) * r.rows;
}
double count_of(const PyramidRepeat& r)
{
  return 0.5 * r.rows * (r.rows + 1.0);
}
double count_of(const AlongRepeat& r)
{
  return r.count;
}
double count_of(const ScatterRepeat& r)
{
  return r.count;
}

// Each gives the poses of the repeated bodies against the first.
std::vector<Pose> offsets(const GridRepeat& r, base::Random& random)
{
  std::vector<Pose> poses;
  const Vec3 middle = r.centred ? Vec3(0.5 * (r.count[0] - 1), 0.5 * (r.count[1] - 1), 0) : Vec3(0, 0, 0);
  for (int z = 0; z < r.count[2]; ++z) {
    for (int y = 0; y < r.count[1]; ++y) {
      for (int x = 0; x < r.count[0]; ++x) {
        poses.push_back({(Vec3(x, y, z) - middle).cwiseProduct(r.spacing), Quat::Identity()});
        if (r.random_rotation) poses.back().rotation = random.rotation();
      }
    }
  }
  return poses;
}

std::vector<Pose> offsets(const StackRepeat& r, base::Random&)
{
  std::vector<Pose> poses;
  for (int i = 0; i < r.count; ++i) {
    poses.push_back({{0, 0, i * r.spacing}, Quat(Eigen::AngleAxisd(i * radians(r.twist), Vec3::UnitZ()))});
  }
  return poses;
}

std::vector<Pose> offsets(const WallRepeat& r, base::Random&)
{
  std::vector<Pose> poses;
  for (int row = 0; row < r.rows; ++row) {
    const double shift = (row % 2 == 1 ? r.stagger : 0.0) - 0.5 * (r.columns - 1) - 0.5 * r.stagger;
    for (int column = 0; column < r.columns; ++column) {
      poses.push_back({{(column + shift) * r.spacing[0], 0, row * r.spacing[1]}, Quat::Identity()});
    }
  }
  return poses;
}

std::vector<Pose> offsets(const PyramidRepeat& r, base::Random&)
{
  std::vector<Pose> poses;
  for (int row = 0; row < r.rows; ++row) {
    const int across = r.rows - row;
    for (int i = 0; i < across; ++i) {
      poses.push_back({{(i - 0.5 * (across - 1)) * r.spacing[0], 0, row * r.spacing[1]}, Quat::Identity()});
    }
  }
  return poses;
}

std::vector<Pose> offsets(const AlongRepeat& r, base::Random&)
{
  std::vector<double> arc_length = {0};  // length of the path up to each corner
  for (std::size_t i = 1; i < r.points.size(); ++i) {
    arc_length.push_back(arc_length.back() + (r.points[i] - r.points[i - 1]).norm());
  }
  std::vector<Pose> poses;
  for (int i = 0; i < r.count; ++i) {
    if (r.points.size() < 2 || !(arc_length.back() > 0)) {
      poses.push_back({r.points.empty() ? Vec3(Vec3::Zero()) : r.points[0], Quat::Identity()});
      continue;
    }
    const double s = r.count > 1 ? arc_length.back() * i / (r.count - 1) : 0;
    std::size_t segment = 1;
    while (segment + 1 < arc_length.size() && arc_length[segment] < s) ++segment;
    const double length = arc_length[segment] - arc_length[segment - 1];
    const Vec3 along = r.points[segment] - r.points[segment - 1];
    const double share = length > 0 ? (s - arc_length[segment - 1]) / length : 0;
    Pose pose{r.points[segment - 1] + share * along, Quat::Identity()};
    if (r.follow_path) pose.rotation = Quat::FromTwoVectors(Vec3::UnitX(), along);
    if (r.twist != 0) {
      pose.rotation = Quat(Eigen::AngleAxisd(i * radians(r.twist), along.normalized())) * pose.rotation;
    }
    poses.push_back(pose);
  }
  return poses;
}

// Positions that are nearer to another than min_spacing are counted in `crowded`.
std::vector<Pose> offsets(const ScatterRepeat& r, base::Random& scene_random, int& crowded)
{
  base::Random own(r.seed.value_or(0));
  base::Random& random = r.seed ? own : scene_random;
  const Box3 box(-0.5 * r.size, 0.5 * r.size);
  std::vector<Pose> poses;
  for (int i = 0; i < r.count; ++i) {
    Pose pose;
    bool clear = false;
    for (int attempt = 0; attempt < kMaxPlacementTries && !clear; ++attempt) {
      pose.position = random.point(box);
      clear = r.min_spacing == 0 || std::none_of(poses.begin(), poses.end(), [&](const Pose& other) {
                return (other.position - pose.position).norm() < r.min_spacing;
              });
    }
    if (!clear) ++crowded;
    if (r.random_rotation) pose.rotation = random.rotation();
    poses.push_back(pose);
  }
  return poses;
}

std::vector<Pose> place_instances(const BodyEntry& body, std::uint64_t seed, std::uint64_t stream,
                                  int& crowded)
{
  base::Random random(seed, stream);
  std::vector<Pose> poses = {{body.position, body.rotation}};
  for (const RepeatDesc& repeat : body.repeat) {
    std::vector<Pose> more;
    const std::vector<Pose> moves = std::visit(
        [&](const auto& r) {
          if constexpr (std::is_same_v<std::decay_t<decltype(r)>, ScatterRepeat>)
            return offsets(r, random, crowded);
          else
            return offsets(r, random);
        },
        repeat.data);
    for (const Pose& move : moves) {
      for (const Pose& pose : poses) {
        more.push_back({pose.position + move.position, move.rotation * pose.rotation});
      }
    }
    poses = std::move(more);
  }
  for (Pose& pose : poses) pose = body.X_wf * pose;
  return poses;
}

}  // namespace

double instance_count(const BodyEntry& body)
{
  double count = 1;
  for (const RepeatDesc& repeat : body.repeat) {
    count *= std::visit([](const auto& r) { return count_of(r); }, repeat.data);
  }
  return count;
}

std::vector<std::string> instance_names(const BodyEntry& body)
{
  if (body.repeat.empty()) return {body.name};
  std::vector<std::string> names;
  const auto count = static_cast<std::size_t>(instance_count(body));
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}/{}", body.name, i));
  return names;
}

Presence instance_presence(const BodyEntry& body, std::size_t number)
{
  const double delay = static_cast<double>(number) * body.appears_every;
  Presence presence;
  presence.from = body.appears_at + delay;
  if (body.removed_at) presence.until = *body.removed_at + delay;
  return presence;
}

// Positions add up in the axes of the file; rotations are applied to the body where it stands.
std::vector<Pose> instance_poses(const BodyEntry& body, std::uint64_t seed, std::uint64_t stream)
{
  int crowded = 0;
  return place_instances(body, seed, stream, crowded);
}

int crowded_instances(const BodyEntry& body, std::uint64_t seed, std::uint64_t stream)
{
  int crowded = 0;
  place_instances(body, seed, stream, crowded);
  return crowded;
}

std::vector<Vec3> instance_scales(const BodyEntry& body, std::uint64_t seed, std::uint64_t stream)
{
  std::vector<Vec3> factors;
  if (!body.scale_range) return factors;
  base::Random random(seed, kScaleStreams + stream);
  const auto count = static_cast<std::size_t>(instance_count(body));
  for (std::size_t i = 0; i < count; ++i) {
    Vec3& f = factors.emplace_back();
    for (double& along : f) along = random.uniform((*body.scale_range)[0], (*body.scale_range)[1]);
  }
  return factors;
}

}  // namespace thrum::scene
