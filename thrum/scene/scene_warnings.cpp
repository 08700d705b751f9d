// SPDX-License-Identifier: MIT
#include "thrum/scene/scene_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numbers>
#include <set>

#include "thrum/base/counted.h"
#include "thrum/base/index.h"
#include "thrum/collision/narrow_phase.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/scene/instances.h"
#include "thrum/scene/unused_settings.h"

namespace thrum::scene {

namespace {

/// Bodies that start with more overlap than this share of the smaller one's least extent are pushed apart for
/// all to see.
constexpr double kDeepOverlapFraction = 0.1;
/// A moving body so many times longer or shorter than `length_scale` was hardly thought of when that was
/// chosen.
constexpr double kMaxScaleRatio = 50;
/// Modes that end below this share of the frequency that was asked for are worth a sentence.
constexpr double kModesReach = 0.8;
/// Of the size of a body: farther outside of it an impulse is warned of.
constexpr double kMaxOutside = 0.01;
/// Of one kind of warning so many are written out.
constexpr std::size_t kMaxWarningsPerKind = 5;

class Inspector {
 public:
  Inspector(const SceneDesc& scene, const BuiltScene& built) : scene_(scene), built_(built)
  {
    for (const BodyEntry& entry : scene.bodies) {
      entries_.insert(entries_.end(), static_cast<std::size_t>(instance_count(entry)), &entry);
    }
    // Before the run the world has the bodies that are there from the beginning, in the order of the scene.
    for (std::size_t b = 0; b < built.ids.size(); ++b) {
      if (built.ids[b].valid()) present_.push_back(b);
    }
  }

  std::vector<std::string> run()
  {
    if (std::none_of(entries_.begin(), entries_.end(),
                     [](const BodyEntry* entry) { return entry->desc.motion != model::Motion::fixed; }))
      warnings_.emplace_back("Nothing in this scene moves.");
    check_stepper();
    for (std::string& sentence : unused_settings(scene_)) warnings_.push_back(std::move(sentence));
    check_times();
    check_impulse_places();
    check_scatters();
    check_meshes();
    check_sizes();
    check_overlaps();
    check_flexible_modes();
    return std::move(warnings_);
  }

  std::vector<std::string> modal_warnings()
  {
    std::set<const model::ModalModel*> seen;
    for (std::size_t b = 0; b < built_.ids.size() && built_.responder; ++b) {
      const auto late = built_.late_bodies.find(b);
      const model::ModalModel* modal = late != built_.late_bodies.end()
                                           ? late->second.modes.get()
                                           : built_.responder->model_of(built_.ids[b]);
      if (modal == nullptr || !seen.insert(modal).second) continue;
      for (const std::string& sentence : modal->warnings)
        warn(entries_[b]->rings->place, b, fmt::format("rings, but: {}", sentence));
    }
    return std::move(warnings_);
  }

 private:
  using Bodies = std::vector<model::BodyProperties>;
  [[nodiscard]] const Bodies& bodies() const { return built_.world.model().bodies; }
  [[nodiscard]] const collision::PreparedShape& shape_of(std::size_t b) const
  {
    return built_.world.shapes()[at(bodies()[b].shape)];
  }
  // Also of a body that appears later; `number` is that in the scene.
  [[nodiscard]] model::ShapeIndex shape_index(std::size_t number) const
  {
    const auto late = built_.late_bodies.find(number);
    return late != built_.late_bodies.end() ? built_.world.index_of(late->second.desc.shape)
                                            : built_.world.desc_of(built_.ids[number]).shape;
  }

  void check_stepper()
  {
    const sim::World& world = built_.world;
    const bool is_flexible = world.desc().stepper == sim::StepperKind::flexible;
    if (world.desc().time_of_impact != sim::TimeOfImpactMethod::timewarp ||
        (world.can_warp() && !is_flexible))
      return;
    const bool has_impulse_joints =
        world.desc().stepper == sim::StepperKind::impulse && !world.model().joints.empty();
    warnings_.push_back(fmt::format(
        "stepper.time_of_impact is \"timewarp\", but steps will be taken by \"conservative\": {}, so that "
        "no group of bodies can be at a time of its own. The motion is the same, at the cost of "
        "\"conservative\".",
        is_flexible          ? "a recording shows all bodies of the flexible stepper at one time"
        : has_impulse_joints ? "joints of the impulse stepper depend on where slices end"
                             : "bodies that ring act at once on all that touches them"));
  }

  void warn(const ValueLocation& place, std::size_t b, const std::string& sentence)
  {
    warnings_.push_back(fmt::format("{}: {} '{}' {}",
                                    base::to_string(SourceLocation{place.file, place.line, place.column}),
                                    place.path, built_.visuals[b].name, sentence));
  }

  // What the modes of a body leave out of the contacts of the flexible stepper.
  void check_flexible_modes()
  {
    if (scene_.world.stepper != sim::StepperKind::flexible) return;
    const double highest = scene_.world.flexible.max_frequency;
    std::set<const model::ModalModel*> seen;
    for (std::size_t b = 0; b < built_.ids.size(); ++b) {
      const auto late = built_.late_bodies.find(b);
      const std::shared_ptr<const model::ModalModel> modal =
          late != built_.late_bodies.end() ? late->second.modes : built_.world.modes_of(built_.ids[b]);
      if (!modal || modal->mode_count() == 0 || !seen.insert(modal.get()).second) continue;
      const ValueLocation& place = entries_[b]->rings->place;
      const double first = modal->frequencies[0];
      const double last = modal->frequencies[modal->mode_count() - 1];
      if (first > highest) {
        warn(place, b,
             fmt::format(
                 "has no modes up to stepper.flexible.max_frequency ({:g} Hz), the lowest is at {:.0f} "
                 "Hz: it is rigid. Raise max_frequency, or leave \"rings\" out.",
                 highest, first));
      } else if (highest != flexible::FlexibleSettings{}.max_frequency && last < kModesReach * highest) {
        warn(
            place, b,
            fmt::format("has {} modes, of which the last is at {:.0f} Hz: none takes part in contact between "
                        "that and stepper.flexible.max_frequency ({:g} Hz). Raise rings.modes, or lower "
                        "max_frequency.",
                        modal->mode_count(), last, highest));
      }
      Index over_damped = 0;
      for (Index m = 0; m < modal->mode_count(); ++m)
        over_damped += modal->decays[m] >= 2 * std::numbers::pi * modal->frequencies[m] ? 1 : 0;
      if (over_damped > 0) {
        warn(
            place, b,
            fmt::format("has {} modes that are over-damped: they creep back without ringing. Check alpha and "
                        "beta of its material.",
                        over_damped));
      }
    }
  }

  void check_times()
  {
    if (scene_.step > scene_.duration)
      warnings_.push_back(
          fmt::format("The step of {:g} s is longer than the duration of {:g} s: the run has "
                      "one step, which goes beyond its end.",
                      scene_.step, scene_.duration));
    const auto warn_late = [&](const ValueLocation& place, double time) {
      if (time < scene_.duration) return;
      warnings_.push_back(fmt::format("{}: {} begins at {:g} s, but the run ends at {:g} s: it never acts.",
                                      base::to_string(SourceLocation{place.file, place.line, place.column}),
                                      place.path, time, scene_.duration));
    };
    for (const ImpulseEntry& impulse : scene_.impulses) warn_late(impulse.place, impulse.time);
    for (const ForceEntry& force : scene_.forces) {
      if (!force.times.empty()) warn_late(force.place, force.times.front());
    }
    std::set<const BodyEntry*> seen;
    for (std::size_t b = 0; b < entries_.size(); ++b) {
      if (entries_[b]->appears_at < scene_.duration || !seen.insert(entries_[b]).second) continue;
      warn(entries_[b]->place, b,
           fmt::format("appears at {:g} s, but the run ends at {:g} s: it is never seen.",
                       entries_[b]->appears_at, scene_.duration));
    }
  }

  // An impulse acts where it is said, on a lever as long as it takes; modes are struck at the nearest point.
  void check_impulse_places()
  {
    for (const ImpulseEntry& impulse : scene_.impulses) {
      if (!impulse.position) continue;
      for (std::size_t b = 0; b < built_.visuals.size(); ++b) {
        if (built_.visuals[b].name != impulse.body.name || built_.meshes[b]->vertices.empty()) continue;
        const Box3 box = mesh::bounding_box(*built_.meshes[b]);
        const double outside = box.exteriorDistance(*impulse.position);
        if (!(outside > kMaxOutside * box.diagonal().norm())) continue;
        const auto text = [](const Vec3& p) {
          return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", p.x(), p.y(), p.z());
        };
        warn(impulse.place, b,
             fmt::format(
                 "is struck {:.3g} m outside of it: its shape lies between {} and {}. The impulse turns "
                 "it on that lever, and its sound is that of the nearest point of its surface. Give a "
                 "position on the surface, in the axes of the shape.",
                 outside, text(box.min()), text(box.max())));
      }
    }
  }

  void check_scatters()
  {
    std::size_t first = 0;  // body of the entry
    for (std::size_t e = 0; e < scene_.bodies.size(); ++e) {
      const BodyEntry& entry = scene_.bodies[e];
      const int crowded = crowded_instances(entry, scene_.seed, e);
      if (crowded > 0) {
        warn(entry.place, first,
             fmt::format(
                 "is scattered with {} of {} positions nearer to another than min_spacing, since no free "
                 "place was found for them: make the box larger, or min_spacing smaller.",
                 crowded, instance_count(entry)));
      }
      first += static_cast<std::size_t>(instance_count(entry));
    }
  }

  // Meshes, each once for each entry of the scene; whether they have holes matters for bodies that move.
  void check_meshes()
  {
    std::set<std::pair<const BodyEntry*, model::ShapeIndex>> seen;
    for (std::size_t b = 0; b < built_.ids.size(); ++b) {
      const model::ShapeIndex shape = shape_index(b);
      if (!seen.emplace(entries_[b], shape).second) continue;
      check_triangle_count(b, at(built_.world.model().shapes, shape));
      if (entries_[b]->desc.motion != model::Motion::fixed)
        check_mesh(b, at(built_.world.model().shapes, shape));
    }
  }

  void check_triangle_count(std::size_t b, const model::Shape& shape)
  {
    if (const auto* compound = std::get_if<model::Compound>(&shape.geometry)) {
      for (const auto& part : compound->parts) check_triangle_count(b, *part.shape);
    }
    const auto* mesh = std::get_if<model::Mesh>(&shape.geometry);
    if (mesh == nullptr || mesh->distance ||
        mesh->triangles->triangles.size() <= collision::kMaxFieldTriangles)
      return;
    warn(entries_[b]->place, b,
         fmt::format(
             "has a mesh of {} triangles. Above {} no distance field is made: contacts take its triangles "
             "one by one, as those of an open surface, which is slower and less exact. Give "
             "it a coarser mesh, or \"convex\": true where its hull will do.",
             mesh->triangles->triangles.size(), collision::kMaxFieldTriangles));
  }

  void check_mesh(std::size_t b, const model::Shape& shape)
  {
    if (const auto* compound = std::get_if<model::Compound>(&shape.geometry)) {
      for (const auto& part : compound->parts) check_mesh(b, *part.shape);
    }
    const auto* mesh = std::get_if<model::Mesh>(&shape.geometry);
    if (mesh == nullptr) return;
    const mesh::MeshReport report = mesh::report_mesh(*mesh->triangles, {.self_intersections = false});
    const ValueLocation& place = entries_[b]->place;
    if (!report.watertight) warn(place, b, describe_open_mesh(report));
    if (!report.scale_warning.empty())
      warn(place, b, fmt::format("has an unlikely size. {} In a scene: \"scale\".", report.scale_warning));
  }

  static std::string describe_open_mesh(const mesh::MeshReport& report)
  {
    const mesh::MeshFinding& worst = report.open_edges.found()           ? report.open_edges
                                     : report.non_manifold_edges.found() ? report.non_manifold_edges
                                                                         : report.inconsistent_edges;
    std::string where;
    if (!worst.places.empty()) {
      const Vec3& p = worst.places.front();
      where = fmt::format(", one at ({:.3g}, {:.3g}, {:.3g})", p.x(), p.y(), p.z());
    }
    if (report.closed) {
      return fmt::format(
          "moves, and parts of its closed surface touch along {} of four triangles or more{}: which "
          "triangles belong together there is not known. 'thrum mesh repair' separates the parts.",
          base::counted(worst.count, "edge"), where);
    }
    return fmt::format(
        "moves and is not watertight ({}{}): without a definite inside its mass and its contacts "
        "are guesses. "
        "'thrum mesh info' shows where it is open, 'thrum mesh repair' repairs what can be repaired, and "
        "\"convex\": true "
        "takes its hull instead.",
        base::counted(worst.count, "bad edge"), where);
  }

  // Tolerances of contact and the speed at which bodies fall asleep go with `length_scale`.
  void check_sizes()
  {
    std::set<const BodyEntry*> seen;
    for (std::size_t b = 0; b < built_.ids.size(); ++b) {
      const collision::PreparedShape& shape = at(built_.world.shapes(), shape_index(b));
      if (entries_[b]->desc.motion == model::Motion::fixed || shape.unbounded) continue;
      const double length = shape.bounds.sizes().maxCoeff();
      const double ratio = length / scene_.world.length_scale;
      if (ratio < kMaxScaleRatio && ratio > 1 / kMaxScaleRatio) continue;
      if (!seen.insert(entries_[b]).second) continue;
      warn(
          entries_[b]->place, b,
          fmt::format("is {:.3g} m long while \"length_scale\", the size of a typical body, is {:.3g} m: one "
                      "of the two "
                      "should be changed.",
                      length, scene_.world.length_scale));
    }
  }

  // Pairs that overlap before the first step, as contact sees them.
  void check_overlaps()
  {
    std::vector<model::ContactPatch> patches;
    collision::NarrowPhaseScratch scratch;
    const std::vector<Pose> X_ws = shape_poses();
    const std::vector<collision::BodyPair> pairs = near_pairs(X_ws);
    const std::vector<collision::BodyPair> jointed = jointed_pairs();
    collision::find_contacts({built_.world.model(), built_.world.state(), built_.world.shapes(), X_ws, pairs,
                              jointed, collision::default_pair_table()},
                             {.step = scene_.step}, scratch, patches);
    std::map<collision::BodyPair, double> depths;  // [m]
    const auto is_sensor = [&](model::BodyIndex i) {
      return bodies()[at(i)].sensor;
    };
    for (const model::ContactPatch& patch : patches) {
      if (is_sensor(patch.a) || is_sensor(patch.b)) continue;
      double& deepest = depths[{std::min(patch.a, patch.b), std::max(patch.a, patch.b)}];
      for (const model::ContactPoint& point : patch.active()) deepest = std::max(deepest, point.depth);
    }
    std::size_t reported = 0;
    std::size_t more = 0;
    for (const auto& [pair, depth] : depths) {
      const std::size_t a = at(pair.a);
      const std::size_t b = at(pair.b);
      if (depth < kDeepOverlapFraction * min_extent(a, b)) continue;
      if (reported == kMaxWarningsPerKind) {
        ++more;
        continue;
      }
      ++reported;
      warn(entries_[present_[b]]->place, present_[b],
           fmt::format(
               "starts {:.3g} m deep inside '{}', and they are pushed apart at once: leave a little room.",
               depth, built_.visuals[present_[a]].name));
    }
    if (more > 0) warnings_.push_back(fmt::format("{} more pairs of bodies start inside each other.", more));
  }

  [[nodiscard]] double min_extent(std::size_t a, std::size_t b) const
  {
    if (shape_of(a).unbounded) return shape_of(b).min_extent;
    if (shape_of(b).unbounded) return shape_of(a).min_extent;
    return std::min(shape_of(a).min_extent, shape_of(b).min_extent);
  }

  [[nodiscard]] std::vector<Pose> shape_poses() const
  {
    std::vector<Pose> poses;
    for (std::size_t b = 0; b < bodies().size(); ++b)
      poses.push_back(built_.world.shape_pose(built_.world.id_of(static_cast<model::BodyIndex>(b))));
    return poses;
  }

  [[nodiscard]] std::vector<collision::BodyPair> near_pairs(const std::vector<Pose>& X_ws) const
  {
    collision::BroadPhase boxes;
    for (std::size_t b = 0; b < bodies().size(); ++b) {
      const auto id = static_cast<model::BodyIndex>(b);
      boxes.add(id, bodies()[b].motion == model::Motion::fixed, shape_of(b).unbounded);
      boxes.update(id, collision::world_bounds(shape_of(b), X_ws[b], 0));
    }
    const auto found = boxes.find_pairs();
    return {found.begin(), found.end()};
  }

  [[nodiscard]] std::vector<collision::BodyPair> jointed_pairs() const
  {
    std::vector<collision::BodyPair> pairs;
    for (const model::Joint& joint : built_.world.model().joints) {
      if (joint.b != model::kNone && !joint.collide_connected)
        pairs.push_back({std::min(joint.a, joint.b), std::max(joint.a, joint.b)});
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  const SceneDesc& scene_;
  const BuiltScene& built_;
  std::vector<const BodyEntry*> entries_;  ///< by number
  std::vector<std::size_t> present_;       ///< number of each body of the world
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> find_scene_warnings(const SceneDesc& scene, const BuiltScene& built)
{
  return Inspector(scene, built).run();
}

std::vector<std::string> modal_warnings(const SceneDesc& scene, const BuiltScene& built)
{
  return Inspector(scene, built).modal_warnings();
}

}  // namespace thrum::scene
