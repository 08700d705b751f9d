// SPDX-License-Identifier: MIT
// Meshes against meshes, convex shapes, planes and height fields: corners and edges of each against the
// distance to the other, gathered into patches. docs/methods/nonconvex_contact.md has the whole story.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/collision/element_contacts.h"
#include "thrum/collision/impact_contacts.h"
#include "thrum/collision/notch_contacts.h"
#include "thrum/collision/pair_table.h"
#include "thrum/collision/patch_builder.h"
#include "thrum/collision/round_pairs.h"
#include "thrum/collision/shape_distance.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {

namespace {

/// Contact normals that differ by less belong to one patch (cosine of about 11 degrees).
constexpr double kSameNormal = 0.98;
/// Points nearer than this share of the thickness are one.
constexpr double kSamePoint = 0.03;
/// Edges that meet at a smaller angle have no normal in common (sine of about 6 degrees).
constexpr double kCrossing = 0.1;
/// How far from its own lowest point an edge may cross another, in depths and in shares of the thickness.
constexpr double kCrossingDepths = 4.0;
constexpr double kCrossingShare = 0.1;
/// Contacts within so many of their depths are in one overlap.
constexpr double kSameOverlap = 4.0;

/// A surface that rises by more than this over the way to another contact is no part of one convex body (sine
/// of about 17 degrees; contacts are lowest points to 11 degrees).
constexpr double kCornerSlope = 0.3;

/// A cylinder that stands on its end touches with the corners of its rim: up to this sine of its tilt.
constexpr double kUpright = 0.01;
/// How far round the side of a cylinder a contact may move, as a share of the radius.
constexpr double kSideShare = 0.5;

/// Cosine of the angle between the outward normal of a surface and the way to the other body at which the
/// surface faces away from it.
constexpr double kFacesAway = -0.3;

/// Sine of the angle by which neighbours of a corner within a face are off its plane at most.
constexpr double kFlatCorner = 0.26;
/// Cosine of the angle between the outward normal of a face and the way to the other body up to which the
/// face is what meets it.
constexpr double kFacesOther = 0.5;
/// How far from the other body its normal is taken, as a share of the thickness.
constexpr double kNormalStep = 1e-3;

/// One side of a pair as the gathering sees it.
struct Side {
  const SurfaceElements* elements = nullptr;          ///< none for a plane
  double thickness = 0;                               ///< [m]
  const std::vector<Vec3>* vertex_normals = nullptr;  ///< of a surface that bends
};

struct MeshPairContacts {
  Side a;
  Side b;
  Pose X_ab;
  double margin = 0;
  double thickness = 0;  ///< of the thinner one [m]
  std::vector<MeshContact>& contacts;
  std::vector<ElementContact>& found;
  CornerCache& corners;
  double clearance = std::numeric_limits<double>::infinity();  ///< of what was searched and not found [m]
  /// Edges of the faces that a z-list left; none: those of the hierarchy of balls.
  const std::vector<Index>* edges_a = nullptr;
  const std::vector<Index>* edges_b = nullptr;
  std::vector<MeshContact> beyond_notches = {};  ///< second contacts of corners
};

enum class From { a, b };

// The far face of a thin body that bends lies within the margin, but the near one is met before it. Of rigid
// bodies such points do not matter: the outermost points of a patch are kept.
bool faces_away(const Side& side, const ElementContact& contact, const Vec3& to_other)
{
  if (side.vertex_normals == nullptr) return false;
  const std::vector<Vec3>& normals = *side.vertex_normals;
  if (contact.edge < 0) return normals[at(contact.vertex)].dot(to_other) < kFacesAway;
  const std::array<Index, 2>& ends = side.elements->edges()[at(contact.edge)].ends;
  return (normals[at(ends[0])] + normals[at(ends[1])]).dot(to_other) < 2 * kFacesAway;
}

// Outward normal of a surface that bends, where it has one: at an edge or corner within a face. None: zero.
Vec3 flat_normal(const Side& side, const ElementContact& contact)
{
  const std::span<const Vec3> vertices = side.elements->vertices();
  if (contact.edge < 0) {
    const Vec3& normal = (*side.vertex_normals)[at(contact.vertex)];
    for (const Index v : side.elements->neighbours(contact.vertex)) {
      const Vec3 away = vertices[at(v)] - vertices[at(contact.vertex)];
      if (std::abs(normal.dot(away)) > kFlatCorner * away.norm()) return Vec3::Zero();
    }
    return normal;
  }
  const SurfaceEdge& edge = side.elements->edges()[at(contact.edge)];
  if (edge.crease || edge.opposite_vertices[0] < 0 || edge.opposite_vertices[1] < 0) return Vec3::Zero();
  const Vec3& p = vertices[at(edge.ends[0])];
  const Vec3 along = vertices[at(edge.ends[1])] - p;
  const Vec3 one = along.cross(vertices[at(edge.opposite_vertices[0])] - p).normalized();
  const Vec3 two = along.cross(vertices[at(edge.opposite_vertices[1])] - p).normalized();
  const Vec3 normal = (one - two).normalized();
  const auto& normals = *side.vertex_normals;
  return normal.dot(normals[at(edge.ends[0])] + normals[at(edge.ends[1])]) < 0 ? Vec3(-normal) : normal;
}

// Where a face or an edge of a surface that bends lies over an edge or corner of the other body, the normal
// is the one of those that the other has there, from one of its faces to the next, that is nearest to the
// normal of the bent face, or across its edge. Of the way to the nearest point of an edge, known to
// kSlopeTolerance, part is along the edge: a ruler that was drawn over the edge of a table seemed to come
// down on it by a fifth of its way. Returns false where the face does not face the other body: an edge of the
// face meets it.
template <class Distance>
bool turn_to_face(const Side& side, const Quat& to_side, const Distance& to_other, double thickness,
                  ElementContact& e)
{
  if (side.vertex_normals == nullptr) return true;
  Vec3 inward = to_side.conjugate() * -flat_normal(side, e);
  if (inward.isZero()) {
    if (e.edge < 0) return true;
    const auto& ends = side.elements->edges()[at(e.edge)].ends;
    const auto vertices = side.elements->vertices();
    const Vec3 along = to_side.conjugate() * (vertices[at(ends[1])] - vertices[at(ends[0])]).normalized();
    inward = (e.normal - e.normal.dot(along) * along).normalized();
  }
  if (!(inward.dot(e.normal) > kFacesOther)) return false;
  const double reach = std::abs(e.distance) + kNormalStep * thickness;
  const DistanceProbe here = to_other.exact(e.point, 2 * reach);
  const Vec3 nearest = e.point - here.value * here.gradient;
  const Vec3 normal = to_other.exact(nearest + reach * inward, 2 * reach).gradient;
  if (!(normal.norm() > kFacesOther)) return true;
  e.normal = normal.normalized();
  e.distance = here.value * here.gradient.dot(e.normal);
  return true;
}

// Elements of one side against the distance to the other, which is in the axes of the other.
template <From kFrom, class Distance>
void gather(MeshPairContacts& g, const Distance& to_other)
{
  constexpr bool kFromA = kFrom == From::a;
  const Side& side = kFromA ? g.a : g.b;
  if (side.elements == nullptr) return;
  g.found.clear();
  const ElementSearchDesc desc{g.margin, 0.5 * g.thickness, 0};
  const Pose X_to_other = kFromA ? g.X_ab.inverse() : g.X_ab;
  ElementSearch<Distance> search(*side.elements, X_to_other, to_other, desc, g.corners, g.found);
  if (const std::vector<Index>* edges = kFromA ? g.edges_a : g.edges_b) {
    search.run(*edges);
    g.clearance = 0;
  } else {
    search.run();
    g.clearance = std::min(g.clearance, search.clearance());
  }
  const Quat to_side = X_to_other.rotation.conjugate();
  const auto add = [&](const ElementContact& e, std::vector<MeshContact>& to) {
    MeshContact c;
    // Contacts are in the axes of a.
    const Vec3 point = kFromA ? g.X_ab.point(e.point) : e.point;
    const Vec3 out_of_other = kFromA ? g.X_ab.direction(e.normal) : e.normal;
    (kFromA ? c.on_a : c.on_b) = point;
    (kFromA ? c.on_b : c.on_a) = point - e.distance * out_of_other;
    c.normal = kFromA ? Vec3(-out_of_other) : out_of_other;
    c.depth = -e.distance;
    (kFromA ? c.feature_a : c.feature_b) = e.feature();
    (kFromA ? c.edge_a : c.edge_b) = e.edge;
    c.valid = e.lowest;
    c.is_strict = e.is_strict;
    to.push_back(c);
  };
  for (ElementContact& e : g.found) {
    if (faces_away(side, e, to_side * -e.normal)) continue;
    if (!turn_to_face(side, to_side, to_other, g.thickness, e)) continue;
    if constexpr (std::is_same_v<Distance, FieldDistance>) {
      if (e.lowest && e.edge < 0 && !to_other.is_round()) {
        std::array<ElementContact, 2> others;
        const NotchDesc notch{g.margin, desc.depth};
        const std::size_t count = split_in_notch(*side.elements, to_side, to_other, notch, e, others);
        for (std::size_t i = 0; i < count; ++i) add(others[i], g.beyond_notches);
      }
    }
    add(e, g.contacts);
  }
}

void sort_by_depth(std::vector<MeshContact>& contacts)
{
  std::sort(contacts.begin(), contacts.end(), [](const MeshContact& x, const MeshContact& y) {
    if (x.depth != y.depth) return x.depth > y.depth;
    return x.feature_a != y.feature_a ? x.feature_a < y.feature_a : x.feature_b < y.feature_b;
  });
}

struct EdgeInA {
  Vec3 p;  ///< one end
  Vec3 d;  ///< to the other
  std::array<Vec3, 2> opposite_vertices;
  std::size_t sides = 0;
};

EdgeInA edge_in_a(const SurfaceElements& elements, Index e, const Pose& X)
{
  const SurfaceEdge& edge = elements.edges()[at(e)];
  const auto place = [&](Index v) {
    return X.point(elements.vertices()[at(v)]);
  };
  EdgeInA result;
  result.p = place(edge.ends[0]);
  result.d = place(edge.ends[1]) - result.p;
  for (const Index v : edge.opposite_vertices) {
    if (v >= 0) result.opposite_vertices[result.sides++] = place(v);
  }
  return result;
}

// Whether the faces beside the edge all lie below the plane through it with normal n.
bool supports(const EdgeInA& edge, const Vec3& n, double level)
{
  for (std::size_t k = 0; k < edge.sides; ++k) {
    const Vec3 away = edge.opposite_vertices[k] - edge.p;
    if (n.dot(away) > level * away.norm()) return false;
  }
  return true;
}

// Two edges that cross push each other along their common normal n = d_a x d_b. The field cannot know it:
// once they overlap, the nearest face of the other is the face of one side or the other of its edge. The
// normal counts when each body lies on its own side of the plane that n puts between the edges.
bool cross_edges(const MeshPairContacts& g, const MeshContact& p, const MeshContact& q, MeshContact& crossing)
{
  const EdgeInA a = edge_in_a(*g.a.elements, p.edge_a, Pose{});
  const EdgeInA b = edge_in_a(*g.b.elements, q.edge_b, g.X_ab);
  Vec3 n = a.d.cross(b.d);
  const double size = n.norm();
  if (size < kCrossing * a.d.norm() * b.d.norm()) return false;
  n /= n.dot(p.normal + q.normal) < 0 ? -size : size;
  if (!supports(a, n, kSlopeTolerance) || !supports(b, -n, kSlopeTolerance)) return false;
  crossing.is_strict = supports(a, n, kStrictSlopeTolerance) && supports(b, -n, kStrictSlopeTolerance);
  // Nearest points of the two lines.
  const Vec3 r = b.p - a.p;
  const double aa = a.d.squaredNorm();
  const double bb = b.d.squaredNorm();
  const double ab = a.d.dot(b.d);
  const double det = aa * bb - ab * ab;
  const double s = (a.d.dot(r) * bb - b.d.dot(r) * ab) / det;
  const double t = (a.d.dot(r) * ab - b.d.dot(r) * aa) / det;
  if (s < 0 || s > 1 || t < 0 || t > 1) return false;
  crossing.on_a = a.p + s * a.d;
  crossing.on_b = b.p + t * b.d;
  crossing.depth = n.dot(crossing.on_a - crossing.on_b);
  const double near =
      kCrossingDepths * std::max({std::abs(p.depth), std::abs(q.depth)}) + kCrossingShare * g.thickness;
  if ((crossing.on_a - p.on_a).norm() > near || (crossing.on_b - q.on_b).norm() > near) return false;
  if (crossing.depth < -g.margin || crossing.depth > near) return false;
  crossing.normal = n;
  crossing.feature_a = p.feature_a;
  crossing.feature_b = q.feature_b;
  crossing.edge_a = p.edge_a;
  crossing.edge_b = q.edge_b;
  return true;
}

void pair_edges(MeshPairContacts& g)
{
  const auto is_crease = [](const Side& side, Index e) {
    return e >= 0 && side.elements->edges()[at(e)].crease;
  };
  const std::size_t count = g.contacts.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_crease(g.a, g.contacts[i].edge_a)) continue;
    for (std::size_t j = 0; j < count; ++j) {
      if (!is_crease(g.b, g.contacts[j].edge_b)) continue;
      MeshContact crossing;
      if (!cross_edges(g, g.contacts[i], g.contacts[j], crossing)) continue;
      g.contacts[i].dropped = g.contacts[j].dropped = true;
      g.contacts.push_back(crossing);
    }
  }
}

// Whether one of the surfaces rises in front of its plane at c where the other contact is, as a wall does
// beside a floor. There both contacts hold the body: with the shallow one of the floor alone a tetrahedron
// that slid over the floor of a vessel left through its wall.
bool is_across_a_corner(const MeshContact& c, const MeshContact& other)
{
  const Vec3 along_a = other.on_a - c.on_a;
  const Vec3 along_b = other.on_b - c.on_b;
  return c.normal.dot(along_a) > kCornerSlope * along_a.norm() ||
         -c.normal.dot(along_b) > kCornerSlope * along_b.norm();
}

// Of the ways out of one overlap the shortest counts: contacts that lie no further apart than they are deep
// and push in different directions are ways out of the same overlap. For convex bodies each pair of features
// that satisfies (1) is a face of the difference set, and the nearest face is the answer.
void keep_shortest_separations(MeshPairContacts& g)
{
  for (MeshContact& c : g.contacts) {
    if (c.depth <= 0) continue;
    const double near = kSameOverlap * c.depth;
    c.dropped = std::any_of(g.contacts.begin(), g.contacts.end(), [&](const MeshContact& other) {
      return other.is_strict && other.depth < c.depth && other.normal.dot(c.normal) < kSameNormal &&
             (other.on_a - c.on_a).squaredNorm() < near * near && !is_across_a_corner(c, other);
    });
  }
  std::erase_if(g.contacts, [](const MeshContact& c) { return c.dropped; });
}

// What is left of the contacts found from either side.
void filter_contacts(MeshPairContacts& g)
{
  const bool both_sharp = g.a.elements != nullptr && g.b.elements != nullptr &&
                          g.a.elements->has_sharp_edges() && g.b.elements->has_sharp_edges();
  if (both_sharp) pair_edges(g);
  std::erase_if(g.contacts, [&](const MeshContact& c) { return c.dropped || c.depth < -g.margin; });
  // Points that satisfy (1) speak for the others; where there are none the deepest counts.
  const auto valid =
      std::partition(g.contacts.begin(), g.contacts.end(), [](const MeshContact& c) { return c.valid; });
  if (valid == g.contacts.begin()) {
    const auto deepest = std::max_element(g.contacts.begin(), g.contacts.end(),
                                          [](const auto& c, const auto& d) { return c.depth < d.depth; });
    if (deepest != g.contacts.end()) g.contacts = {*deepest};
  } else {
    g.contacts.erase(valid, g.contacts.end());
  }
  if (both_sharp) keep_shortest_separations(g);
  // Both faces of a notch hold the corner: neither is a shorter way out.
  g.contacts.insert(g.contacts.end(), g.beyond_notches.begin(), g.beyond_notches.end());
}

const TriangleSurface& surface_of(const PreparedShape& shape)
{
  return static_cast<const TriangleSurface&>(*shape.accelerator);
}

// A body that bends touches where it can, not at the outermost points of a flat face alone.
bool bends(const PreparedShape& shape)
{
  return shape.kind == model::ShapeKind::mesh && surface_of(shape).deformable;
}

void append_contacts(const PairInput& pair, MeshPairContacts& g, std::vector<model::ContactPatch>& patches)
{
  sort_by_depth(g.contacts);
  std::vector<DirectedPoint>& points = pair.scratch->directed_points;
  points.clear();
  for (const MeshContact& c : g.contacts)
    points.push_back({c.normal, {0.5 * (c.on_a + c.on_b), c.depth, c.feature_a, c.feature_b}});
  if (bends(*pair.a) || bends(*pair.b)) return append_every_point(pair, pair.X_wa, points, patches);
  append_patches_by_normal(pair, pair.X_wa, kSameNormal, kSamePoint * g.thickness, points, patches);
}

MeshPairContacts begin(const PairInput& pair, const Side& a, const Side& b)
{
  MeshScratch& scratch = pair.scratch->mesh;
  scratch.contacts.clear();
  scratch.found.clear();
  return {.a = a,
          .b = b,
          .X_ab = pair.X_wa.inverse() * pair.X_wb,
          .margin = pair.margin,
          .thickness = std::min(a.thickness, b.thickness),
          .contacts = scratch.contacts,
          .found = scratch.found,
          .corners = scratch.corners};
}

Side side_of(const PreparedShape& shape)
{
  if (shape.kind == model::ShapeKind::plane)
    return {nullptr, std::numeric_limits<double>::infinity(), nullptr};
  if (shape.kind == model::ShapeKind::mesh || shape.kind == model::ShapeKind::height_field) {
    const TriangleSurface& surface = surface_of(shape);
    // An open surface has no thickness that could limit how deep the other may be.
    const bool is_closed = surface.field || surface.deformable;
    return {&surface.elements, is_closed ? surface.thickness : std::numeric_limits<double>::infinity(),
            surface.deformable ? &surface.distance.normals().vertex : nullptr};
  }
  return {&static_cast<const ConvexElements&>(*shape.accelerator).elements, shape.min_extent, nullptr};
}

// Calls `work` with the distance to a mesh or height field.
template <class Work>
void with_distance(const TriangleSurface& surface, Work&& work)
{
  if (surface.field) {
    work(FieldDistance(surface));
  } else if (surface.deformable) {
    work(DeformedDistance(surface));
  } else {
    work(SurfaceDistance(surface));
  }
}

void finish(const PairInput& pair, MeshPairContacts& g, std::vector<model::ContactPatch>& patches,
            const ZListResult* meeting = nullptr)
{
  if (g.contacts.empty()) {
    pair.scratch->clearance = g.clearance;
    return;
  }
  filter_contacts(g);
  if (meeting != nullptr) use_touching_features(pair, meeting->pairs, g.contacts);
  append_contacts(pair, g, patches);
}

// The faces of two meshes that interfere, by rasterisation; null when there are none. Their edges go into the
// scratch. The hierarchies of triangles clip the faces to the box of the other body, unless that is open:
// what is behind an open mesh may be anywhere.
const ZListResult* find_interfering_faces(const PairInput& pair, const TriangleSurface& a,
                                          const TriangleSurface& b, double margin)
{
  MeshScratch& scratch = pair.scratch->mesh;
  const auto clip = [&](const TriangleSurface& of, const Pose& X, const TriangleSurface& other,
                        const Pose& X_other, std::vector<Index>& faces) {
    faces.clear();
    if (!other.field) return true;
    const Pose X_to = X.inverse() * X_other;
    const Vec3 half = 0.5 * (X_to.rotation.toRotationMatrix().cwiseAbs() * other.bvh.bounds().sizes());
    const Vec3 grown = half.array() + margin;
    const Vec3 centre = X_to.point(other.bvh.bounds().center());
    of.bvh.triangles_in_box(Box3(centre - grown, centre + grown), faces);
    return !faces.empty();
  };
  if (!clip(a, pair.X_wa, b, pair.X_wb, scratch.edges_a) ||
      !clip(b, pair.X_wb, a, pair.X_wa, scratch.edges_b))
    return nullptr;
  const std::vector<Index>& faces_a = scratch.edges_a;
  const std::vector<Index>& faces_b = scratch.edges_b;
  const auto drawn = [](const TriangleSurface& surface, const Pose& X_w, const std::vector<Index>& faces) {
    return ZListBody{.mesh = &surface.bvh.mesh(), .X_w = X_w, .faces = faces, .bounds = surface.bvh.bounds()};
  };
  const ZListResult& found =
      scratch.z_list.find(drawn(a, pair.X_wa, faces_a), drawn(b, pair.X_wb, faces_b), {.margin = margin});
  const auto edges_of = [](const TriangleSurface& of, const std::vector<Index>& faces,
                           std::vector<Index>& edges) {
    edges.clear();
    for (const Index f : faces) {
      for (const Index e : of.edges_of_faces[at(f)]) {
        if (e >= 0) edges.push_back(e);
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  };
  edges_of(a, found.faces_a, scratch.edges_a);
  edges_of(b, found.faces_b, scratch.edges_b);
  return found.faces_a.empty() && found.faces_b.empty() ? nullptr : &found;
}

template <Interference kInterference, bool kMeeting = false>
void collide_meshes(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  MeshPairContacts g = begin(pair, side_of(*pair.a), side_of(*pair.b));
  if (!std::isfinite(g.thickness)) g.thickness = std::min(pair.a->min_extent, pair.b->min_extent);
  const TriangleSurface& a = surface_of(*pair.a);
  const TriangleSurface& b = surface_of(*pair.b);
  const ZListResult* faces = nullptr;
  if constexpr (kInterference == Interference::zlist) {
    // Round meshes reach beyond their flat faces.
    const double excess = a.round && b.round ? a.round->excess() + b.round->excess() : 0.0;
    faces = find_interfering_faces(pair, a, b, g.margin + excess);
    if (faces == nullptr) return;
    g.edges_a = &pair.scratch->mesh.edges_a;
    g.edges_b = &pair.scratch->mesh.edges_b;
  }
  if (a.round && b.round) return collide_round_surfaces(pair, *a.round, *b.round, g.thickness, patches);
  // The distance to an open surface is known near it only.
  if (!a.field || !b.field) g.clearance = 0;
  with_distance(b, [&](const auto& distance) { gather<From::a>(g, distance); });
  with_distance(a, [&](const auto& distance) { gather<From::b>(g, distance); });
  finish(pair, g, patches, kMeeting ? faces : nullptr);
}

void collide_mesh_with_plane(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  MeshPairContacts g = begin(pair, side_of(*pair.a), side_of(*pair.b));
  if (!std::isfinite(g.thickness)) g.thickness = pair.a->min_extent;
  gather<From::a>(g, PlaneDistance{});
  finish(pair, g, patches);
}

// The corners of a cylinder are those of a prism, which would roll as one. A contact moves round the side to
// where the cylinder reaches farthest along its normal.
template <class Distance>
void move_to_round_side(const model::Cylinder& cylinder, const Distance& distance, MeshPairContacts& g)
{
  const Pose X_ba = g.X_ab.inverse();
  for (MeshContact& c : g.contacts) {
    const double across = c.normal.head<2>().norm();
    if (across < kUpright) continue;
    const Vec3 side(cylinder.radius / across * c.normal.x(), cylinder.radius / across * c.normal.y(),
                    c.on_a.z());
    if ((side - c.on_a).norm() > kSideShare * cylinder.radius) continue;
    const DistanceProbe probe = distance.exact(X_ba.point(side), g.margin);
    const double length = probe.gradient.norm();
    if (!(length > 0)) continue;
    c.normal = g.X_ab.direction(-probe.gradient / length);
    c.depth = -probe.value;
    c.on_a = side;
    c.on_b = side + probe.value * c.normal;
  }
}

template <class Distance, class Geometry>
void collide_convex_with_mesh(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  // a is convex. Against an open mesh only the front faces push.
  const TriangleSurface& surface = surface_of(*pair.b);
  if (!surface.field && !surface.deformable) return collide_with_triangles(pair, patches);
  MeshPairContacts g = begin(pair, side_of(*pair.a), side_of(*pair.b));
  with_distance(surface, [&](const auto& to_mesh) {
    gather<From::a>(g, to_mesh);
    if constexpr (std::is_same_v<Geometry, model::Cylinder>)
      move_to_round_side(pair.a->as<Geometry>(), to_mesh, g);
  });
  gather<From::b>(g, Distance(pair.a->as<Geometry>()));
  finish(pair, g, patches);
}

}  // namespace

void register_mesh_pairs(PairTable& table, Interference interference)
{
  using model::ShapeKind;
  const PairFunction collide = interference == Interference::zlist ? collide_meshes<Interference::zlist>
                                                                   : collide_meshes<Interference::hierarchy>;
  table.set(ShapeKind::mesh, ShapeKind::mesh, collide);
  table.set(ShapeKind::mesh, ShapeKind::height_field, collide);
  table.set(ShapeKind::mesh, ShapeKind::plane, collide_mesh_with_plane);
  table.set(ShapeKind::box, ShapeKind::mesh, collide_convex_with_mesh<BoxDistance, model::Box>);
  table.set(ShapeKind::cylinder, ShapeKind::mesh,
            collide_convex_with_mesh<CylinderDistance, model::Cylinder>);
  table.set(ShapeKind::hull, ShapeKind::mesh, collide_convex_with_mesh<HullDistance, model::ConvexHull>);
}

void register_meeting_meshes(PairTable& table)
{
  using model::ShapeKind;
  table.set(ShapeKind::mesh, ShapeKind::mesh, collide_meshes<Interference::zlist, true>);
  table.set(ShapeKind::mesh, ShapeKind::height_field, collide_meshes<Interference::zlist, true>);
}

}  // namespace thrum::collision
