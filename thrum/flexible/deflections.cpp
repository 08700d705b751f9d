// SPDX-License-Identifier: MIT
// How far bodies bend, and the surfaces of those that bend too far for contacts on their shapes.
//
// With max |U_m| the largest displacement of the surface by mode m, it is nowhere farther from the shape than
// sum |q_m| max |U_m|, and moves no faster than sum |u_m| max |U_m|: contacts are looked for that much
// farther away. The bounded deformation tree of [Zheng11] bounds each of its boxes in this way; here the
// whole body is. Where the slope that its oscillation reaches, sum |(q_m, u_m / w_m)| max |grad U_m|, exceeds
// `deformed_slope`, the surface itself is moved, x = X + U q. That sum stays while the body swings through
// its middle, so that its contacts do not change their kind there.
//
// A body that is held between two others over several of its own waves, as a ruler between hand and table,
// bends within the place that holds it, however little: the few points of a patch on its shape would let it
// swing between them (the ruler sounded up to 60 % too low). Where bodies that do not give way press it from
// two sides, and the points at which they touch it reach over kHeldWaves of the shortest wave that its modes
// have, 2 pi / max (|grad U| / |U|), it is met on its bent surface too.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/flexible/flexible_body.h"
#include "thrum/mesh/mesh_topology.h"
#include "thrum/mesh/remesh.h"

namespace thrum::flexible {

namespace {

/// Reaches are rounded up to powers of two, of at least this share of the length scale: contacts that are
/// kept from slice to slice are found again when the margin changes.
constexpr double kMinReach = 1e-5;
/// Waves within a place that holds a body, from which on it is met on its bent surface.
constexpr double kHeldWaves = 2;
/// Nothing is held by a smaller part of a wave.
constexpr double kMinHeldWaves = 1;
/// Points with a gap below this share of the length scale touch.
constexpr double kTouching = 1e-3;
/// Two pushes with a cosine below this are from opposite sides.
constexpr double kOpposite = -0.5;
/// From this `deformed_slope` on no body is met on its bent surface.
constexpr double kNeverDeformed = 1;
/// Edges of the surface on which a bent body is met, in shortest waves of its modes.
constexpr double kEdgeWaves = 1.5 / std::numbers::pi;
/// A surface with triangles of more than this share of the wanted edge is taken as it is.
constexpr double kCoarseEnough = 0.7;

double rounded_up(double reach, double least)
{
  if (!(reach > 0)) return 0;
  return std::max(least, std::exp2(std::ceil(std::log2(reach))));
}

double bound(const std::vector<double>& amplitudes, const std::vector<double>& largest)
{
  double sum = 0;
  for (std::size_t m = 0; m < std::min(amplitudes.size(), largest.size()); ++m)
    sum += std::abs(amplitudes[m]) * largest[m];
  return sum;
}

// Of what its oscillation reaches.
double amplitude_bound(const model::ModalState& ring, const elastic::ModeList& modes,
                       const std::vector<double>& largest)
{
  double sum = 0;
  for (std::size_t m = 0; m < std::min(ring.q.size(), largest.size()); ++m)
    sum += std::hypot(ring.q[m], ring.v[m] / modes.omegas[static_cast<Eigen::Index>(m)]) * largest[m];
  return sum;
}

// Edge of the equilateral triangles that would have the same area and number: those of a bar may be long and
// narrow.
double triangle_size(const mesh::TriangleMesh& mesh)
{
  return std::sqrt(4 / std::numbers::sqrt3 * mesh::area(mesh) / static_cast<double>(mesh.triangles.size()));
}

std::vector<Vec3> bent_vertices(const mesh::TriangleMesh& surface, const MatX& shapes,
                                const std::vector<double>& q)
{
  const VecX moved = shapes * Eigen::Map<const VecX>(q.data(), shapes.cols());
  std::vector<Vec3> vertices = surface.vertices;
  for (std::size_t v = 0; v < vertices.size(); ++v)
    vertices[v] += moved.segment<3>(3 * static_cast<Eigen::Index>(v));
  return vertices;
}

}  // namespace

void FlexibleStepper::FlexibleBody::find_bounds()
{
  const model::ModalModel& model = *elastic.modes;
  const auto displacement = [&](Index v, Eigen::Index m) -> Vec3 {
    return model.shapes.col(m).segment<3>(3 * v);
  };
  max_shape.assign(modes.size(), 0);
  max_slope.assign(modes.size(), 0);
  for (Eigen::Index m = 0; m < modes.omegas.size(); ++m) {
    for (Index v = 0; v < model.vertex_count(); ++v)
      max_shape[at(m)] = std::max(max_shape[at(m)], displacement(v, m).norm());
    for (std::size_t t = 0; t < model.surface.triangles.size(); ++t) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Index v = model.surface.triangles[t][k];
        const Index w = model.surface.triangles[t][(k + 1) % 3];
        const double length = (model.surface.vertices[at(v)] - model.surface.vertices[at(w)]).norm();
        if (length > 0)
          max_slope[at(m)] =
              std::max(max_slope[at(m)], (displacement(v, m) - displacement(w, m)).norm() / length);
      }
    }
  }
}

// Every vertex of it that touches is a contact, and the surface of a modal model may be as fine as its
// elements: edges of 3 / k, k the largest wave number of the modes, are about half of the shortest wave. With
// more contacts than modes can follow a body that is held flat would be too stiff: with edges of 2 / k the
// ruler was 3.2 % too low at 10 cm and took 2.3 times as long, with 4 / k it was 3.6 % too high at 13 cm.
void FlexibleStepper::FlexibleBody::make_contact_surface()
{
  const model::ModalModel& model = *elastic.modes;
  const double edge = kEdgeWaves * shortest_wave();
  const bool is_closed = mesh::has_two_triangles_at_every_edge(model.surface);
  if (!is_closed || triangle_size(model.surface) > kCoarseEnough * edge) {
    contact_surface = model.surface;
    contact_shapes = model.shapes.leftCols(modes.omegas.size());
    return;
  }
  contact_surface = mesh::remesh(model.surface, {.edge_length = edge});
  contact_shapes.resize(3 * static_cast<Eigen::Index>(contact_surface.vertices.size()), modes.omegas.size());
  for (std::size_t v = 0; v < contact_surface.vertices.size(); ++v)
    contact_shapes.middleRows(3 * static_cast<Eigen::Index>(v), 3) =
        map->find(contact_surface.vertices[v]).shapes.leftCols(modes.omegas.size());
}

double FlexibleStepper::FlexibleBody::shortest_wave() const
{
  double wave_number = 0;
  for (std::size_t m = 0; m < modes.size(); ++m) {
    if (max_shape[m] > 0) wave_number = std::max(wave_number, max_slope[m] / max_shape[m]);
  }
  return wave_number > 0 ? 2 * std::numbers::pi / wave_number : 0;
}

// By the contacts of the slice before, which are part of the state.
void FlexibleStepper::find_held_bodies(const model::SceneModel& model, const model::SceneState& state)
{
  struct Touch {
    Box3 box;
    Vec3 push = Vec3::Zero();  // on the body
  };
  std::map<model::BodyIndex, std::map<model::BodyIndex, Touch>> places;  // by body, then by what touches it
  const auto add = [&](model::BodyIndex body, model::BodyIndex other, const Vec3& point, const Vec3& push) {
    if (model.bodies[at(other)].motion == model::Motion::dynamic) return;
    Touch& place = places[body][other];
    place.box.extend(point);
    place.push += push;
  };
  for (const model::ContactPatch& patch : state.patches) {
    for (const model::ContactPoint& point : patch.active()) {
      if (!(point.warm_impulse > 0) && point.depth < -kTouching * model.length_scale) continue;
      add(patch.a, patch.b, point.position, -point.warm_impulse * patch.normal);
      add(patch.b, patch.a, point.position, point.warm_impulse * patch.normal);
    }
  }
  for (auto& [id, body] : bodies_by_id_) body->is_held = false;
  for (const auto& [i, around] : places) {
    const auto found = bodies_by_id_.find(state.body_ids[at(i)]);
    if (found == bodies_by_id_.end() || found->second->modes.size() == 0) continue;
    FlexibleBody& body = *found->second;
    const double wave = body.shortest_wave();
    for (auto k = around.begin(); k != around.end(); ++k) {
      for (auto l = std::next(k); l != around.end(); ++l) {
        const Vec3& first = k->second.push;
        const Vec3& second = l->second.push;
        if (!(first.dot(second) < kOpposite * first.norm() * second.norm())) continue;
        const double one = k->second.box.diagonal().norm() / wave;
        const double other = l->second.box.diagonal().norm() / wave;
        if (std::max(one, other) < kHeldWaves || std::min(one, other) < kMinHeldWaves) continue;
        body.is_held = true;
        double& most = report_.held_waves[found->first];
        most = std::max(most, std::min(one, other));
      }
    }
  }
}

bool FlexibleStepper::is_deformed(const rigid::StepFrame& frame, model::BodyIndex i)
{
  const FlexibleBody* body = flexible(frame, i);
  return body != nullptr && body->is_deformed;
}

double FlexibleStepper::max_bend(std::span<const model::ModalState> rings, model::BodyId id) const
{
  for (const model::ModalState& ring : rings) {
    if (ring.body != id) continue;
    const auto found = bodies_by_id_.find(id);
    return found == bodies_by_id_.end() ? 0 : bound(ring.q, found->second->max_shape);
  }
  return 0;
}

void FlexibleStepper::find_deflections(const model::SceneModel& model, const model::SceneState& state,
                                       std::span<const collision::PreparedShape> shapes, double h,
                                       std::vector<collision::Deflection>& deflections)
{
  deflections.clear();
  for (auto& [id, body] : bodies_by_id_) body->is_deformed = false;
  if (settings_.deformed_slope < kNeverDeformed) find_held_bodies(model, state);
  for (const model::ModalState& ring : state.modal_states) {
    const auto found = bodies_by_id_.find(ring.body);
    if (found == bodies_by_id_.end() || found->second->modes.size() == 0) continue;
    const auto place = std::find(state.body_ids.begin(), state.body_ids.end(), ring.body);
    if (place == state.body_ids.end()) continue;
    const std::size_t i = static_cast<std::size_t>(place - state.body_ids.begin());
    if (deflections.empty()) deflections.resize(model.bodies.size());
    FlexibleBody& body = *found->second;
    const double moves = h * bound(ring.v, body.max_shape);
    if (body.is_held || amplitude_bound(ring, body.modes, body.max_slope) > settings_.deformed_slope) {
      if (!body.deformed) {
        body.make_contact_surface();
        body.deformed = std::make_unique<collision::DeformedShape>(body.contact_surface,
                                                                   shapes[at(model.bodies[i].shape)]);
      }
      body.is_deformed = body.deformed->is_closed();
      if (body.is_deformed) {
        body.deformed->deform(bent_vertices(body.contact_surface, body.contact_shapes, ring.q));
        deflections[i].deformed = &body.deformed->prepared();
      }
    }
    const double bent = body.is_deformed ? 0 : bound(ring.q, body.max_shape);
    deflections[i].reach = rounded_up(bent + moves, kMinReach * model.length_scale);
  }
}

}  // namespace thrum::flexible
