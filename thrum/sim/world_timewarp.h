// SPDX-License-Identifier: MIT
// The groups of the timewarp, see world_timewarp.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/rigid/stepper.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

/// Bodies that advance together, as a scene of their own. Indices in it are positions in `bodies`.
struct World::WarpGroup {
  /// A slice that was solved, for observers.
  struct Slice {
    double begin = 0;  ///< since the start of the step [s]
    double end = 0;
    std::vector<model::BodyIndex> bodies;  ///< in the world
    std::vector<model::BodyState> before;
    std::vector<model::BodyState> after;
    std::vector<model::ContactPatch> patches;  ///< between bodies of the world
    std::vector<model::ModalState> rings;      ///< of the bodies that ring, at its end
    std::vector<flexible::ModalForces> modal_forces;
  };

  struct Saved {
    double time = 0;  ///< since the start of the step [s]
    model::SceneState state;
    std::vector<model::Contact> contacts;
    std::vector<model::ImpulseEvent> impulses;
    std::vector<model::ContactEvent> events;
    int cuts = 0;
    int whole = 0;
    int short_slices = 0;                                         ///< that resolved what was found ahead
    double next_slice = std::numeric_limits<double>::infinity();  ///< max length of the next slice [s]
    double contact_energy = 0;                                    ///< at the end of the last slice [J]
  };

  std::vector<model::BodyIndex> bodies;   ///< in the world, sorted; those that it meets and are fixed as well
  std::vector<model::JointIndex> joints;  ///< likewise
  Saved now;
  std::vector<Saved> saved;    ///< by time
  std::vector<Slice> history;  ///< of this step, if there are observers
  std::vector<Box3> boxes;     ///< of the bodies over the last slice
  bool is_merged = false;      ///< it is part of another group

  // Swapped with the members of the world.
  model::SceneModel model;
  std::vector<Pose> X_ws;
  std::vector<Box3> swept_boxes;
  std::vector<collision::BodyPair> near_pairs;
  std::vector<collision::BodyPair> excluded_pairs;
  std::vector<std::uint8_t> removed;

  [[nodiscard]] model::BodyIndex local(model::BodyIndex body) const
  {
    if (body == model::kNone) return model::kNone;
    const auto found = std::lower_bound(bodies.begin(), bodies.end(), body);
    return found != bodies.end() && *found == body ? static_cast<model::BodyIndex>(found - bodies.begin())
                                                   : model::kNone;
  }
};

/// One step.
class World::Timewarp {
 public:
  Timewarp(World& world, double h) : world_(world), h_(h) {}

  void run();
  /// Calls the observers for each slice of the step that was taken. Does nothing without observers.
  void show_slices();

 private:
  struct Event {
    double time;
    std::size_t group;
    bool operator<(const Event& other) const  // earliest first
    {
      return std::pair(time, group) > std::pair(other.time, other.group);
    }
  };

  /// Nothing changes it, so that it can be in many groups.
  [[nodiscard]] bool is_fixed(model::BodyIndex i) const;
  void make_groups();
  void drop_sleeping_groups();
  void add_fixed_bodies();
  void start_group(WarpGroup& group);
  void distribute_contacts();
  void advance_free_bodies();
  static void reclaim(WarpGroup& group, double virtual_time);
  bool merge_with_those_met(std::size_t g);
  void go_back(WarpGroup& group, double time);
  void merge(std::size_t g, const std::vector<std::size_t>& others,
             const std::vector<model::BodyIndex>& strays);
  void take_over(const WarpGroup& part, WarpGroup& merged);
  void scale_to(double wanted, double last, std::vector<model::ContactPatch>& patches) const;
  static void sort_contacts(model::SceneState& state);
  void write_back();
  void write_back_vibration();
  void write_back_group(WarpGroup& group);
  [[nodiscard]] bool is_observed() const { return !world_.called_observers_.empty(); }
  [[nodiscard]] bool is_in_group(model::BodyIndex a, model::BodyIndex b) const;
  [[nodiscard]] std::vector<const WarpGroup::Slice*> slices_taken() const;
  void show_part(const WarpGroup::Slice& slice, double begin, double end,
                 const std::vector<model::BodyState>& before);
  void show_vibration(const std::vector<const WarpGroup::Slice*>& slices, double begin, double end);

  World& world_;
  double h_;
  std::vector<WarpGroup> groups_;
  WarpGroup free_;                      ///< bodies that meet nothing
  std::vector<std::int32_t> group_of_;  ///< by body; kNone: fixed, free or asleep
  std::priority_queue<Event> queue_;
  std::vector<model::BodyState> start_;         ///< of the step, if there are observers
  std::vector<model::ModalState> start_rings_;  ///< likewise
  double start_time_ = 0;                       ///< of the step [s]
};

}  // namespace thrum::sim
