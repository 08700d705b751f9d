// SPDX-License-Identifier: MIT
#include "thrum/collision/narrow_phase.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "thrum/base/index.h"
#include "thrum/base/team.h"
#include "thrum/collision/contact_matching.h"
#include "thrum/collision/convex.h"
#include "thrum/collision/impact_contacts.h"
#include "thrum/collision/kept_contacts.h"
#include "thrum/collision/pair_scratch.h"
#include "thrum/collision/predicted_contacts.h"
#include "thrum/collision/touch_contacts.h"

namespace thrum::collision {

namespace {

/// Pairs handed to a thread at a time: 2 us of work where contacts are kept, 0.2 ms where those of meshes are
/// found.
constexpr std::size_t kPairsPerChunk = 64;
/// Contacts of flat faces at rest are looked for in a margin that is larger by this share, so that they are
/// kept when a body gains a little speed; they are found again when less than the second share would do.
constexpr double kSpareMargin = 0.05;
constexpr double kWastedMargin = 0.5;
/// Bodies rest when their speeds make less than this share of the margin.
constexpr double kRestingShare = 0.1;
/// No pair is kept while it moves by more than this share of the smaller body's least extent.
constexpr double kMaxKeptShare = 0.01;
/// In slices of a step contacts are kept over moves and turns that are larger by these factors: the step was
/// cut for fast bodies, and those beside them, which lie in a heap, need no more care than in a whole step,
/// where contacts serve for moves of a sixth of the least extent. At rest, where steps are not cut, such
/// moves would come back as steps of the depths of some micrometres.
constexpr double kSliceMoveFactor = 20;
constexpr double kSliceTurnFactor = 50;
/// Round meshes bulge beyond the corners that their radius holds by less than this share of it.
constexpr double kRadiusGrowth = 1.05;
/// A slice is shorter than the step by more than rounding.
constexpr double kSliceRounding = 1e-9;

/// Pairs with a mesh that move against each other by more than this share of the smaller one's least extent
/// in a step are also looked at where they will be. What would be deeper there than the second share counts:
/// with less, a wheel of 48 facets was slowed by those to come. Points within the third share of others are
/// the same.
constexpr double kPredictedMove = 0.05;
constexpr double kPredictedDepth = 0.02;
constexpr double kSamePredicted = 0.3;
/// Bodies that move by more than this share of the thinner one's width in a slice are searched for impacts.
constexpr double kPassingMove = 0.5;

// How far a point of the body can get in a step [m].
double reach(const model::BodyState& body, double radius, double step)
{
  if (!std::isfinite(radius)) return 0;
  return step * (body.velocity.norm() + body.angular_velocity.norm() * radius);
}

bool is_awake(const NarrowPhaseInput& input, model::BodyIndex id)
{
  const std::size_t i = at(id);
  return input.model.bodies[i].motion != model::Motion::fixed && !input.state.bodies[i].asleep;
}

const PreparedShape& shape_of(const NarrowPhaseInput& input, model::BodyIndex id)
{
  if (!input.deflections.empty() && input.deflections[at(id)].deformed != nullptr)
    return *input.deflections[at(id)].deformed;
  return input.shapes[at(input.model.bodies[at(id)].shape)];
}

bool bends(const NarrowPhaseInput& input, model::BodyIndex id)
{
  return !input.deflections.empty() && input.deflections[at(id)].deformed != nullptr;
}

double min_extent(const NarrowPhaseInput& input, const BodyPair& pair)
{
  // What has no back side limits nothing: a flat open mesh has no extent across.
  const auto extent_of = [](const PreparedShape& shape) {
    return std::isfinite(shape.width) ? shape.min_extent : std::numeric_limits<double>::infinity();
  };
  return std::min(extent_of(shape_of(input, pair.a)), extent_of(shape_of(input, pair.b)));
}

// Lends a PairScratch to each chunk while it is worked on, so that there are no more of them than threads.
class ScratchPool {
 public:
  explicit ScratchPool(std::vector<std::unique_ptr<PairScratch>>& owned) : owned_(owned)
  {
    for (const auto& scratch : owned_) free_.push_back(scratch.get());
  }
  [[nodiscard]] PairScratch& take()
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return *owned_.emplace_back(std::make_unique<PairScratch>());
    PairScratch& scratch = *free_.back();
    free_.pop_back();
    return scratch;
  }
  void put_back(PairScratch& scratch)
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(&scratch);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<PairScratch>>& owned_;
  std::vector<PairScratch*> free_;
};

/// A pair that may touch, and where its contacts are.
struct PairContacts {
  BodyPair pair;
  std::size_t old_begin = 0;  ///< of its patches in the state
  std::size_t old_end = 0;
  std::int32_t old_reference = model::kNone;  ///< in the state
  bool is_found = false;                      ///< otherwise the old ones go on, in their places
  std::size_t begin = 0;                      ///< of its patches in the chunk, if they were found
  std::size_t end = 0;
  std::int32_t reference = model::kNone;  ///< in the chunk, if they were found and may be kept

  [[nodiscard]] std::size_t count() const { return is_found ? end - begin : old_end - old_begin; }
  [[nodiscard]] bool has_reference() const { return (is_found ? reference : old_reference) != model::kNone; }
};

/// What was found for a chunk of pairs.
struct ChunkContacts {
  std::vector<PairContacts> pairs;
  std::vector<model::ContactPatch> patches;
  std::vector<model::ContactPatch> sensor_patches;
  std::vector<model::PairReference> references;
  MatchScratch match;
  std::uint64_t left_out = 0;  ///< points

  void clear()
  {
    pairs.clear();
    patches.clear();
    sensor_patches.clear();
    references.clear();
  }
};

}  // namespace

struct NarrowPhaseScratch::Memory {
  std::vector<std::unique_ptr<PairScratch>> pairs;  ///< by thread
  std::vector<ChunkContacts> chunks;
  std::vector<double> reach;  ///< by body: how far it can get in the step [m]
  std::vector<model::ContactPatch> patches;
  std::vector<model::PairReference> references;
  double step = 0;  ///< see begin_step() [s]
};

void NarrowPhaseScratch::begin_step(double step)
{
  memory_->step = step;
}

NarrowPhaseScratch::NarrowPhaseScratch() : memory_(std::make_unique<Memory>()) {}
NarrowPhaseScratch::~NarrowPhaseScratch() = default;
NarrowPhaseScratch::NarrowPhaseScratch(NarrowPhaseScratch&&) noexcept = default;
NarrowPhaseScratch& NarrowPhaseScratch::operator=(NarrowPhaseScratch&&) noexcept = default;

bool should_collide(const model::SceneModel& model, const BodyPair& pair)
{
  const model::BodyProperties& a = model.bodies[at(pair.a)];
  const model::BodyProperties& b = model.bodies[at(pair.b)];
  const bool any_dynamic = a.motion == model::Motion::dynamic || b.motion == model::Motion::dynamic;
  // What vibrates while it is moved, such as a ruler in a hand, touches what stands still.
  const bool any_yields =
      (a.vibrates || b.vibrates) && (a.motion != b.motion || a.motion == model::Motion::kinematic);
  if (!any_dynamic && !any_yields) return false;
  if (a.sensor && b.sensor) return false;
  return (a.collision_group & b.collides_with) != 0 && (b.collision_group & a.collides_with) != 0;
}

namespace {

bool may_touch(const NarrowPhaseInput& input, const BodyPair& pair)
{
  return should_collide(input.model, pair) &&
         !std::binary_search(input.excluded_pairs.begin(), input.excluded_pairs.end(), pair);
}

void find_reaches(const NarrowPhaseInput& input, double step, std::vector<double>& reaches)
{
  reaches.resize(input.model.bodies.size());
  for (std::size_t i = 0; i < reaches.size(); ++i) {
    const model::ShapeIndex shape = input.model.bodies[i].shape;
    reaches[i] = reach(input.state.bodies[i], input.shapes[at(shape)].radius, step);
  }
}

// Of a pair that needs more than its speeds say [m]; 0 for the others.
double wide_margin(const NarrowPhaseInput& input, const BodyPair& pair)
{
  const auto found = std::lower_bound(input.wide_pairs.begin(), input.wide_pairs.end(), pair,
                                      [](const WidePair& wide, const BodyPair& p) { return wide.pair < p; });
  return found != input.wide_pairs.end() && found->pair == pair ? found->margin : 0.0;
}

// How much nearer two bodies can get in a step [m].
double approach_of(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, const BodyPair& pair,
                   const std::vector<double>& reaches)
{
  const double gravity_scale = std::max(std::abs(input.model.bodies[at(pair.a)].gravity_scale),
                                        std::abs(input.model.bodies[at(pair.b)].gravity_scale));
  return reaches[at(pair.a)] + reaches[at(pair.b)] +
         desc.step * desc.step * gravity_scale * input.model.gravity.norm();
}

double margin_of(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, const BodyPair& pair,
                 const std::vector<double>& reaches)
{
  const double extent = min_extent(input, pair);
  const double wanted = std::max(approach_of(input, desc, pair, reaches), wide_margin(input, pair));
  const double margin = std::clamp(wanted, desc.margin * extent, desc.max_margin * extent);
  if (input.deflections.empty()) return margin;
  return margin + input.deflections[at(pair.a)].reach + input.deflections[at(pair.b)].reach;
}

PairInput pair_input(const NarrowPhaseInput& input, const BodyPair& pair, double margin, PairScratch& scratch)
{
  PairInput shapes;
  shapes.a = &shape_of(input, pair.a);
  shapes.b = &shape_of(input, pair.b);
  shapes.X_wa = input.X_ws[at(pair.a)];
  shapes.X_wb = input.X_ws[at(pair.b)];
  shapes.margin = margin;
  shapes.table = &input.table;
  shapes.scratch = &scratch;
  return shapes;
}

// Where the shape of a body will be after the step.
Pose predicted_pose(const NarrowPhaseInput& input, model::BodyIndex id, bool is_ball, double step)
{
  const std::size_t i = at(id);
  const model::BodyProperties& desc = input.model.bodies[i];
  if (!is_awake(input, id)) return input.X_ws[i];
  const model::BodyState& body = input.state.bodies[i];
  Pose X_wb = body.X_wb;
  X_wb.position += step * body.velocity;
  if (desc.motion == model::Motion::dynamic)
    X_wb.position += (0.5 * step * step * desc.gravity_scale) * input.model.gravity;
  const double turn = step * body.angular_velocity.norm();
  // The surface of a ball stays where it is when the ball turns.
  if (turn > 0 && !is_ball)
    X_wb.rotation = Quat(Eigen::AngleAxisd(turn, body.angular_velocity.normalized())) * X_wb.rotation;
  return X_wb * desc.X_bs;
}

void add_contacts_ahead(const NarrowPhaseInput& input, const PairInput& pair, const BodyPair& bodies,
                        double step, std::size_t begin, std::vector<model::ContactPatch>& patches)
{
  const auto is_mesh = [](const PreparedShape& shape) {
    return shape.kind == model::ShapeKind::mesh;
  };
  if (!is_mesh(*pair.a) && !is_mesh(*pair.b)) return;
  const double extent = min_extent(input, bodies);
  if (!std::isfinite(extent)) return;
  const model::BodyState& a = input.state.bodies[at(bodies.a)];
  const model::BodyState& b = input.state.bodies[at(bodies.b)];
  const auto radius = [](const PreparedShape& shape) {
    return std::isfinite(shape.radius) ? shape.radius : 0.0;
  };
  const double motion =
      step * ((b.velocity - a.velocity).norm() + a.angular_velocity.norm() * radius(*pair.a) +
              b.angular_velocity.norm() * radius(*pair.b));
  if (!(motion > kPredictedMove * extent)) return;
  // Meshes that are still apart and may pass are left to the search for their impact, with its normals.
  const bool are_surfaces = pair.a->kind != model::ShapeKind::plane &&
                            pair.b->kind != model::ShapeKind::plane && !is_convex(pair.a->kind) &&
                            !is_convex(pair.b->kind);
  const bool may_pass = motion > kPassingMove * std::min(pair.a->width, pair.b->width);
  if (has_boyse_impacts(input.table) && are_surfaces && may_pass && patches.size() == begin) return;
  const auto is_ball = [](const PreparedShape& shape) {
    return shape.kind == model::ShapeKind::sphere;
  };
  const auto is_fixed = [&](model::BodyIndex id) {
    return input.model.bodies[at(id)].motion == model::Motion::fixed;
  };
  const PredictedContactsDesc desc{predicted_pose(input, bodies.a, is_ball(*pair.a), step),
                                   predicted_pose(input, bodies.b, is_ball(*pair.b), step),
                                   kPredictedDepth * extent,
                                   kSamePredicted * extent,
                                   is_ball(*pair.a) && is_fixed(bodies.b),
                                   is_ball(*pair.b) && is_fixed(bodies.a)};
  if (!pair.a->unbounded && !pair.b->unbounded &&
      !world_bounds(*pair.a, desc.X_wa, 0).intersects(world_bounds(*pair.b, desc.X_wb, 0)))
    return;
  const std::size_t before = patches.size();
  add_predicted_contacts(pair, desc, begin, patches);
  for (std::size_t i = before; i < patches.size(); ++i) {
    patches[i].a = bodies.a;
    patches[i].b = bodies.b;
  }
}

// Up to which gap contacts begin [m]; 0: ahead of the touch.
double touch_margin(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, const BodyPair& pair)
{
  return input.waits_for_touch ? desc.margin * min_extent(input, pair) : 0.0;
}

void collide_pair(const NarrowPhaseInput& input, const BodyPair& pair, double margin, PairScratch& scratch,
                  std::vector<model::ContactPatch>& patches, bool meets = false, double touch = 0)
{
  PairInput shapes = pair_input(input, pair, margin, scratch);
  if (meets) shapes.table = &table_of_impacts(input.table);
  const std::size_t before = patches.size();
  if (touch > 0) {
    find_touch_contacts(shapes, touch, patches);
  } else {
    shapes.table->collide(shapes, patches);
  }
  for (std::size_t i = before; i < patches.size(); ++i) {
    patches[i].a = pair.a;
    patches[i].b = pair.b;
  }
}

template <class T>
BodyPair bodies_of(const T& pair)
{
  return {pair.a, pair.b};
}

template <class T>
std::size_t first_of(const std::vector<T>& sorted, const BodyPair& pair)
{
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), pair,
                                      [](const T& x, const BodyPair& p) { return bodies_of(x) < p; });
  return static_cast<std::size_t>(first - sorted.begin());
}

/// Contacts of a chunk of pairs, kept or found. Pairs do not depend on each other.
class ChunkUpdate {
 public:
  ChunkUpdate(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, double match_distance,
              const std::vector<double>& reaches, model::SceneState& state, PairScratch& scratch,
              ChunkContacts& chunk)
      : input_(input),
        desc_(desc),
        match_distance_(match_distance),
        max_move_(desc.kept_move * input.model.length_scale),
        reaches_(reaches),
        state_(state),
        scratch_(scratch),
        chunk_(chunk)
  {
  }

  void run(std::size_t begin, std::size_t end)
  {
    if (begin == end) return;
    patch_ = first_of(state_.patches, input_.pairs[begin]);
    reference_ = first_of(state_.references, input_.pairs[begin]);
    for (std::size_t k = begin; k < end; ++k) {
      const BodyPair& pair = input_.pairs[k];
      if (!may_touch(input_, pair)) continue;
      if (input_.model.bodies[at(pair.a)].sensor || input_.model.bodies[at(pair.b)].sensor) {
        const double margin = margin_of(input_, desc_, pair, reaches_);
        collide_pair(input_, pair, margin, scratch_, chunk_.sensor_patches);
      } else {
        update(pair);
      }
    }
  }

 private:
  // Patches and references of the state are ordered as the pairs are.
  PairContacts old_contacts(const BodyPair& pair)
  {
    PairContacts contacts;
    contacts.pair = pair;
    while (patch_ < state_.patches.size() && bodies_of(state_.patches[patch_]) < pair) ++patch_;
    contacts.old_begin = patch_;
    while (patch_ < state_.patches.size() && bodies_of(state_.patches[patch_]) == pair) ++patch_;
    contacts.old_end = patch_;
    while (reference_ < state_.references.size() && bodies_of(state_.references[reference_]) < pair)
      ++reference_;
    if (reference_ < state_.references.size() && bodies_of(state_.references[reference_]) == pair)
      contacts.old_reference = static_cast<std::int32_t>(reference_);
    return contacts;
  }

  void update(const BodyPair& pair)
  {
    PairContacts contacts = old_contacts(pair);
    const std::span<model::ContactPatch> old =
        std::span(state_.patches).subspan(contacts.old_begin, contacts.old_end - contacts.old_begin);
    if (!is_awake(input_, pair.a) && !is_awake(input_, pair.b)) {
      // A pair of sleeping bodies has not moved.
      for (model::ContactPatch& patch : old) {
        for (model::ContactPoint& point : patch.active())
          point.is_new = !(point.normal_impulse > 0 || point.warm_impulse > 0);
      }
    } else {
      const double margin = margin_of(input_, desc_, pair, reaches_);
      if (!keep(contacts, margin, old)) find(contacts, margin, old);
    }
    chunk_.pairs.push_back(contacts);
  }

  bool keep(const PairContacts& contacts, double margin, std::span<model::ContactPatch> old) const
  {
    if (contacts.old_reference == model::kNone || !(max_move_ > 0)) return false;
    if (bends(input_, contacts.pair.a) || bends(input_, contacts.pair.b)) return false;
    const model::PairReference& reference = state_.references[at(contacts.old_reference)];
    if (old.size() != reference.patch_count) return false;
    const PairMotion motion = motion_since(reference, state_.bodies[at(contacts.pair.a)].X_wb,
                                           state_.bodies[at(contacts.pair.b)].X_wb);
    if (old.empty() && are_still_apart(contacts.pair, reference.margin, motion, margin)) return true;
    if (margin > reference.margin || margin < kWastedMargin * reference.margin) return false;
    const double share = kMaxKeptShare * min_extent(input_, contacts.pair);
    if (!is_within(motion, {std::min(max_move_, share), desc_.kept_turn})) return false;
    for (model::ContactPatch& patch : old) move_patch(reference, motion, patch);
    return true;
  }

  // Whether two bodies that were `clearance` apart cannot have come within the margin, nor touch at the end
  // of the step, wherever they have moved.
  bool are_still_apart(const BodyPair& pair, double clearance, const PairMotion& motion, double margin) const
  {
    const auto radius = [&](model::BodyIndex i) {
      return input_.model.bodies[at(i)].X_bs.position.norm() + kRadiusGrowth * shape_of(input_, i).radius;
    };
    const auto swing = [&](const Vec3& turn, model::BodyIndex i) {
      return turn.isZero(0) ? 0.0 : turn.norm() * radius(i);
    };
    const double moved =
        (motion.move_b - motion.move_a).norm() + swing(motion.turn_a, pair.a) + swing(motion.turn_b, pair.b);
    return moved + std::max(margin, approach_of(input_, desc_, pair, reaches_)) <= clearance;
  }

  void find(PairContacts& contacts, double margin, std::span<const model::ContactPatch> old)
  {
    const BodyPair& pair = contacts.pair;
    const PreparedShape& a = shape_of(input_, pair.a);
    const PreparedShape& b = shape_of(input_, pair.b);
    const bool deforms = bends(input_, pair.a) || bends(input_, pair.b);
    const bool may_keep = max_move_ > 0 && !deforms;
    // What moves is found as far as it needs: points beyond that changed how impacts are shared.
    const bool rests = reaches_[at(pair.a)] + reaches_[at(pair.b)] <= kRestingShare * margin;
    const bool is_flat = !a.curved && !b.curved;
    const double searched = may_keep && is_flat && rests ? (1 + kSpareMargin) * margin : margin;
    contacts.is_found = true;
    contacts.begin = chunk_.patches.size();
    // Bodies that had no contact and move meet now, if they touch.
    const bool meets = old.empty() && !rests && !deforms;
    scratch_.clearance = 0;
    const double touch = touch_margin(input_, desc_, pair);
    if (!(touch > 0) || !old.empty()) collide_pair(input_, pair, searched, scratch_, chunk_.patches, meets);
    if (touch > 0 && !has_deeper_than(-touch, contacts.begin)) {
      chunk_.patches.resize(contacts.begin);
      collide_pair(input_, pair, searched, scratch_, chunk_.patches, meets, touch);
    }
    // That of the parts of a compound is not that of the whole.
    const double clearance = a.parts.empty() && b.parts.empty() ? scratch_.clearance : 0.0;
    const bool meets_nothing =
        chunk_.patches.size() == contacts.begin && clearance > approach_of(input_, desc_, pair, reaches_);
    if (!deforms && !meets_nothing && !input_.waits_for_touch)
      add_contacts_ahead(input_, pair_input(input_, pair, searched, scratch_), pair, desc_.step,
                         contacts.begin, chunk_.patches);
    contacts.end = chunk_.patches.size();
    const std::span<model::ContactPatch> found =
        std::span(chunk_.patches).subspan(contacts.begin, contacts.end - contacts.begin);
    match_pair(old, match_distance_, chunk_.match, found);
    for (model::ContactPatch& patch : found) {
      for (model::ContactPoint& point : patch.active()) {
        point.reference_position = point.position;
        point.reference_depth = point.depth;
      }
    }
    // Normals of an impact are for this slice only.
    const bool has_impact_normals = meets && &table_of_impacts(input_.table) != &input_.table;
    if (!may_keep || has_impact_normals || !is_keepable(a, b, found)) return;
    contacts.reference = static_cast<std::int32_t>(chunk_.references.size());
    const double free_of_points = found.empty() ? std::max(searched, clearance) : searched;
    chunk_.references.push_back({pair.a, pair.b, state_.bodies[at(pair.a)].X_wb,
                                 state_.bodies[at(pair.b)].X_wb, free_of_points,
                                 static_cast<std::uint32_t>(found.size())});
  }

  // Whether any point of the patches from `begin` on is [m].
  [[nodiscard]] bool has_deeper_than(double depth, std::size_t begin) const
  {
    return std::any_of(chunk_.patches.begin() + static_cast<std::ptrdiff_t>(begin), chunk_.patches.end(),
                       [&](const model::ContactPatch& patch) {
                         const auto points = patch.active();
                         return std::any_of(points.begin(), points.end(),
                                            [&](const auto& point) { return point.depth >= depth; });
                       });
  }

  const NarrowPhaseInput& input_;
  const NarrowPhaseDesc& desc_;
  double match_distance_;
  double max_move_;
  const std::vector<double>& reaches_;
  model::SceneState& state_;
  PairScratch& scratch_;
  ChunkContacts& chunk_;
  std::size_t patch_ = 0;      ///< next in the state
  std::size_t reference_ = 0;  ///< next in the state
};

// Joins what the chunks found with what is kept, in the places of the old where each pair has as many.
void join_patches(std::span<const ChunkContacts> chunks, model::SceneState& state,
                  std::vector<model::ContactPatch>& spare, ContactUpdate& update)
{
  std::size_t count = 0;
  bool same_places = true;
  bool any_found = false;
  for (const ChunkContacts& chunk : chunks) {
    for (const PairContacts& pair : chunk.pairs) {
      same_places = same_places && pair.old_begin == count && pair.count() == pair.old_end - pair.old_begin;
      count += pair.count();
      any_found = any_found || (pair.is_found && pair.count() > 0);
    }
  }
  same_places = same_places && count == state.patches.size();
  update.is_same = same_places && !any_found;
  std::vector<std::int32_t>& kept_from = update.kept_from;
  kept_from.clear();
  spare.clear();
  for (const ChunkContacts& chunk : chunks) {
    for (const PairContacts& pair : chunk.pairs) {
      for (std::size_t k = 0; k < pair.count(); ++k) {
        const std::size_t old = pair.old_begin + k;
        kept_from.push_back(pair.is_found ? model::kNone : static_cast<std::int32_t>(old));
        if (!same_places) {
          spare.push_back(pair.is_found ? chunk.patches[pair.begin + k] : state.patches[old]);
        } else if (pair.is_found) {
          state.patches[old] = chunk.patches[pair.begin + k];
        }
      }
    }
  }
  if (!same_places) state.patches.swap(spare);
}

void join_references(std::span<const ChunkContacts> chunks, model::SceneState& state,
                     std::vector<model::PairReference>& spare)
{
  std::size_t count = 0;
  bool same_places = true;
  for (const ChunkContacts& chunk : chunks) {
    for (const PairContacts& pair : chunk.pairs) {
      const bool had_one = pair.old_reference != model::kNone;
      same_places = same_places && pair.has_reference() == had_one;
      count += had_one ? 1 : 0;
    }
  }
  same_places = same_places && count == state.references.size();
  spare.clear();
  for (const ChunkContacts& chunk : chunks) {
    for (const PairContacts& pair : chunk.pairs) {
      if (!pair.has_reference()) continue;
      const model::PairReference& now =
          pair.is_found ? chunk.references[at(pair.reference)] : state.references[at(pair.old_reference)];
      if (!same_places) {
        spare.push_back(now);
      } else if (pair.is_found) {
        state.references[at(pair.old_reference)] = now;
      }
    }
  }
  if (!same_places) state.references.swap(spare);
}

}  // namespace

void update_contacts(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, double match_distance,
                     NarrowPhaseScratch& scratch, model::SceneState& state, ContactUpdate& update)
{
  // Chunks keep their own lists, which are joined in order: the result is the same for any number of threads.
  NarrowPhaseScratch::Memory& memory = scratch.memory();
  NarrowPhaseDesc limits = desc;
  if (desc.step < (1 - kSliceRounding) * memory.step) {
    limits.kept_move *= kSliceMoveFactor;
    limits.kept_turn *= kSliceTurnFactor;
  }
  find_reaches(input, desc.step, memory.reach);
  ScratchPool pool(memory.pairs);
  const base::Chunks cut = base::Chunks::of(input.pairs.size(), kPairsPerChunk);
  if (memory.chunks.size() < cut.size()) memory.chunks.resize(cut.size());
  const std::span<ChunkContacts> chunks = std::span(memory.chunks).first(cut.size());
  for (ChunkContacts& chunk : chunks) chunk.clear();
  base::team_for_chunks(
      input.pairs.size(),
      [&](std::size_t begin, std::size_t end) {
        PairScratch& mine = pool.take();
        ChunkContacts& chunk = chunks[begin / cut.grain];
        const std::uint64_t before = mine.left_out;
        ChunkUpdate(input, limits, match_distance, memory.reach, state, mine, chunk).run(begin, end);
        chunk.left_out = mine.left_out - before;
        pool.put_back(mine);
      },
      kPairsPerChunk);
  join_patches(chunks, state, memory.patches, update);
  join_references(chunks, state, memory.references);
  update.sensor_patches.clear();
  update.left_out = 0;
  for (const ChunkContacts& chunk : chunks) {
    update.left_out += chunk.left_out;
    update.sensor_patches.insert(update.sensor_patches.end(), chunk.sensor_patches.begin(),
                                 chunk.sensor_patches.end());
  }
}

void find_contacts(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, NarrowPhaseScratch& scratch,
                   std::vector<model::ContactPatch>& patches)
{
  NarrowPhaseScratch::Memory& memory = scratch.memory();
  find_reaches(input, desc.step, memory.reach);
  ScratchPool pool(memory.pairs);
  PairScratch& mine = pool.take();
  for (const BodyPair& pair : input.pairs) {
    if (!may_touch(input, pair)) continue;
    collide_pair(input, pair, margin_of(input, desc, pair, memory.reach), mine, patches);
  }
}

void scale_warm_impulses(std::span<model::ContactPatch> patches, double factor)
{
  for (model::ContactPatch& patch : patches) {
    patch.warm_friction *= factor;
    patch.warm_rolling *= factor;
    patch.warm_twist *= factor;
    for (model::ContactPoint& point : patch.active()) point.warm_impulse *= factor;
  }
}

}  // namespace thrum::collision
