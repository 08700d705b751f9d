// SPDX-License-Identifier: MIT
#include "thrum/vibration/attenuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/vibration/pulse.h"

namespace thrum::vibration {

double attenuation(const AttenuationSettings& a, double r)
{
  const double d = std::max(r, a.min_distance);
  if (!a.full) return a.C * std::pow(d, -a.beta);
  return d <= a.r0 ? 1 : std::exp(-a.alpha * (d - a.r0)) * std::pow(d / a.r0, -a.beta);
}

double rayleigh_speed(const model::Material& material)
{
  const double shear = material.young / (2 * (1 + material.poisson));
  return std::sqrt(shear / material.density) * (0.862 + 1.14 * material.poisson) / (1 + material.poisson);
}

GeodesicCache::Cell GeodesicCache::cell_of(const Vec3& p) const
{
  Cell cell;
  for (std::size_t k = 0; k < 3; ++k)
    cell[k] = static_cast<std::int64_t>(std::round(p[static_cast<Eigen::Index>(k)] / grid_));
  return cell;
}

const distance::GeodesicField& GeodesicCache::field_from(const Cell& cell)
{
  const auto [it, fresh] = fields_.try_emplace(cell);
  it->second.used = calls_;
  if (!fresh) return it->second.field;
  ++solves_;
  const Vec3 place(grid_ * static_cast<double>(cell[0]), grid_ * static_cast<double>(cell[1]),
                   grid_ * static_cast<double>(cell[2]));
  it->second.field = geodesics_->distance(map_.find(place).point);
  return it->second.field;
}

// Distance is the same both ways, so a pair needs the field of one of its ends: of the resting contacts,
// which stay, or of the impacts, which are fewer. Fields that are there are used; where fields are missing,
// the side with fewer missing is solved.
MatX GeodesicCache::distances(std::span<const Vec3> from, std::span<const Vec3> to)
{
  if (!geodesics_) {
    geodesics_ = std::make_unique<distance::HeatGeodesics>(map_.model().surface);
    grid_ = kGrid * geodesics_->info().mean_edge;
  }
  ++calls_;
  const auto missing = [&](std::span<const Vec3> places) {
    std::set<Cell> cells;
    for (const Vec3& p : places) {
      if (!fields_.contains(cell_of(p))) cells.insert(cell_of(p));
    }
    return cells.size();
  };
  const bool solve_from = missing(from) <= missing(to);
  MatX out(static_cast<Eigen::Index>(from.size()), static_cast<Eigen::Index>(to.size()));
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    for (Eigen::Index j = 0; j < out.cols(); ++j) {
      const Vec3& a = solve_from ? from[at(i)] : to[at(j)];
      const Vec3& b = solve_from ? to[at(j)] : from[at(i)];
      out(i, j) = geodesics_->evaluate(field_from(cell_of(a)), map_.find(b).point);
    }
  }
  if (fields_.size() > kMaxFields) {
    std::vector<std::uint64_t> ages;
    for (const auto& [cell, field] : fields_) ages.push_back(field.used);
    std::nth_element(ages.begin(), ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2), ages.end());
    const std::uint64_t oldest = ages[ages.size() / 2];
    std::erase_if(fields_,
                  [&](const auto& item) { return item.second.used <= oldest && item.second.used < calls_; });
  }
  return out;
}

AttenuatedResponse::AttenuatedResponse(std::shared_ptr<const model::ModalModel> model,
                                       const ResponseSettings& settings,
                                       const AttenuationSettings& attenuation)
    : model_(std::move(model)),
      settings_(settings),
      attenuation_(attenuation),
      map_(model_),
      geodesics_(map_),
      modes_(elastic::mode_list(*model_))
{
  if (!(attenuation.beta >= 0) || !(attenuation.alpha >= 0) || !(attenuation.C > 0) ||
      !(attenuation.r0 > 0) || !(attenuation.min_distance > 0)) {
    throw Error("Attenuation needs C, r0 and the least distance above 0, and alpha and beta not below.");
  }
  const mesh::TriangleMesh& mesh = model_->surface;
  std::vector<Vec3> normals(mesh.vertices.size(), Vec3::Zero());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 area = (mesh.corner(t, 1) - mesh.corner(t, 0)).cross(mesh.corner(t, 2) - mesh.corner(t, 0));
    for (const Index v : mesh.triangles[t]) normals[at(v)] += area;
  }
  const auto count = static_cast<Eigen::Index>(mesh.vertices.size());
  vertex_squares_.setZero(model_->shapes.cols(), count);
  constexpr double kMinUpCosine = 0.5;
  for (Eigen::Index v = 0; v < count; ++v) {
    Vec3& n = normals[at(v)];
    if (n.norm() > 0) n.normalize();
    vertex_squares_.col(v) = (n.transpose() * model_->shapes.middleRows<3>(3 * v)).cwiseAbs2();
    if (n.z() >= kMinUpCosine) upward_.push_back(static_cast<Index>(v));
  }
  for (Eigen::Index v = 0; v < count && upward_.empty(); ++v) upward_.push_back(static_cast<Index>(v));
  self_speed_ = vertex_squares_.colwise().sum();
  if (attenuation.average) {
    mean_squares_.setZero(vertex_squares_.rows());
    for (const Index v : upward_)
      mean_squares_ += vertex_squares_.col(v) / static_cast<double>(upward_.size());
  }
  wave_speed_ = attenuation.wave_speed;
  if (!(wave_speed_ > 0) && !model_->materials.empty())
    wave_speed_ = rayleigh_speed(model_->materials.front());
  if (!model_->materials.empty()) {
    const model::Material& material = model_->materials.front();
    modulus_ = material.young / (1 - material.poisson * material.poisson);
  }
}

// q^ of eq. 15 by the procedure of eq. 9-11 with the impulse and the point at the same vertex. A mode adds
// f^2 sine(t), so all vertices share the samples of the modes. Four samples in the shortest period, as the
// paper takes them.
const VecX& AttenuatedResponse::self_displacement(double step)
{
  if (step == displacement_step_) return self_displacement_;
  displacement_step_ = step;
  const double T = elastic::coevoet_step(modes_);
  elastic::ModalFilterBank bank(modes_, T);
  bank.drive(VecX::Ones(modes_.omegas.size()));
  const MatX q = bank.run(static_cast<std::size_t>(std::max(1.0, std::floor(step / T))));
  self_displacement_ = (vertex_squares_.transpose() * q).cwiseAbs().rowwise().maxCoeff();
  return self_displacement_;
}

// The value at a place, or for bodies that stand for something larger the mean over the vertices that face
// up, away from where they are held.
double AttenuatedResponse::at_point(const VecX& values, const Vec3& position)
{
  if (attenuation_.average) {
    double sum = 0;
    for (const Index v : upward_) sum += values[v];
    return sum / static_cast<double>(upward_.size());
  }
  const mesh::SurfacePoint& point = map_.find(position).point;
  const Triangle& corners = model_->surface.triangles[at(point.triangle)];
  return point.barycentric.dot(Vec3(values[corners[0]], values[corners[1]], values[corners[2]]));
}

VecX AttenuatedResponse::squared_shapes_at(const Vec3& position)
{
  if (attenuation_.average) return mean_squares_;
  const mesh::SurfacePoint& point = map_.find(position).point;
  const Triangle& corners = model_->surface.triangles[at(point.triangle)];
  VecX squares = VecX::Zero(vertex_squares_.rows());
  for (std::size_t c = 0; c < 3; ++c)
    squares += point.barycentric[static_cast<Eigen::Index>(c)] * vertex_squares_.col(corners[c]);
  return squares;
}

VecX AttenuatedResponse::contact_pulse_weights(const ResponseInput& input, const SurfaceContact& contact,
                                               double speed) const
{
  const double other = input.bodies[at(contact.body)].modulus;
  return pulse_weights(modes_, contact_duration(inverse_effective_mass(input.bodies, contact, contact),
                                                modulus_, other, settings_.contact_radius, speed));
}

// [Coevoet20, eq. 15-16]: dv_p = s(r) dx_c / h, several impacts added. The rules that know of velocities take
// the speed of the struck point instead of dx / h, by modes that the pulse reaches, and those that know of
// masses let the body and the surface below it trade momentum.
std::vector<TargetSpeed> AttenuatedResponse::target_speeds(const ResponseInput& input,
                                                           const std::vector<std::size_t>& struck,
                                                           const std::vector<std::size_t>& resting,
                                                           MatX& distances)
{
  std::vector<Vec3> from;
  std::vector<Vec3> to;
  for (const std::size_t i : struck) from.push_back(input.contacts[i].position);
  for (const std::size_t i : resting) to.push_back(input.contacts[i].position);
  if (attenuation_.distance == WaveDistance::geodesic) {
    distances = geodesics_.distances(from, to);
  } else {
    distances.resize(static_cast<Eigen::Index>(from.size()), static_cast<Eigen::Index>(to.size()));
    for (Eigen::Index i = 0; i < distances.rows(); ++i)
      for (Eigen::Index j = 0; j < distances.cols(); ++j) distances(i, j) = (from[at(i)] - to[at(j)]).norm();
  }
  const bool displacement = settings_.rule == KickRule::peak_displacement;
  const bool trade = !displacement && settings_.rule != KickRule::peak_velocity;
  // What each mode, or for displacements all of them together, does at the struck places.
  MatX sources(displacement ? 1 : modes_.omegas.size(), static_cast<Eigen::Index>(struck.size()));
  for (std::size_t i = 0; i < struck.size(); ++i) {
    const SurfaceContact& contact = input.contacts[struck[i]];
    auto source = sources.col(static_cast<Eigen::Index>(i));
    if (displacement) {
      source[0] = at_point(self_displacement(input.step), from[i]) / input.step * contact.impulse;
      continue;
    }
    const VecX weights = contact_pulse_weights(input, contact, contact.approach_speed);
    const VecX squares = squared_shapes_at(from[i]);
    source = contact.impulse * weights.cwiseProduct(squares);
    if (!trade || contact.transmitted) continue;
    // The struck surface yields: j = (1 + e) v / (1/m + 1/m_s), of which the rigid solver knew the first mass
    // alone.
    const double inverse_mass = inverse_effective_mass(input.bodies, contact, contact);
    source *= inverse_mass / (inverse_mass + weights.cwiseAbs2().dot(squares));
  }
  const VecX together = sources.colwise().sum();
  std::vector<TargetSpeed> wanted;
  VecX arriving(sources.rows());
  for (std::size_t j = 0; j < resting.size(); ++j) {
    VecX factors(sources.cols());
    for (Eigen::Index i = 0; i < factors.size(); ++i) {
      const double r = distances(i, static_cast<Eigen::Index>(j));
      factors[i] = std::isfinite(r) ? attenuation(attenuation_, r) : 0;
    }
    double speed = together.dot(factors);
    const SurfaceContact& contact = input.contacts[resting[j]];
    if (trade) {
      // A body that rests takes part in what is slower than its own contact.
      const VecX weights = contact_pulse_weights(input, contact, kRattleSpeed);
      arriving.noalias() = sources * factors;
      const double inverse_mass = inverse_effective_mass(input.bodies, contact, contact);
      const double surface = weights.cwiseAbs2().dot(squared_shapes_at(to[j]));
      if (inverse_mass > 0)
        speed = (1 + contact.restitution) * inverse_mass / (inverse_mass + surface) * weights.dot(arriving);
    }
    if (speed >= settings_.min_kick) wanted.push_back({resting[j], speed});
  }
  return wanted;
}

ResponseResult AttenuatedResponse::respond(const ResponseInput& input)
{
  map_.evict_unused();
  ResponseResult result;
  std::set<std::int32_t> strikers;
  std::vector<std::size_t> struck;
  std::vector<std::size_t> resting;
  for (std::size_t i = 0; i < input.contacts.size(); ++i) {
    const SurfaceContact& contact = input.contacts[i];
    if (!contact.struck || contact.impulse < settings_.min_impulse ||
        contact.approach_speed < settings_.min_speed)
      continue;
    strikers.insert(contact.body);
    struck.push_back(i);
    result.energy.lost += contact.loss;
  }
  if (struck.empty()) return result;
  std::size_t off = 0;
  const auto is_off = [&](std::size_t i) {
    const bool there = map_.find(input.contacts[i].position).distance > settings_.max_offset * map_.size();
    off += there ? 1 : 0;
    return there;
  };
  std::erase_if(struck, is_off);
  for (std::size_t i = 0; i < input.contacts.size(); ++i) {
    const SurfaceContact& contact = input.contacts[i];
    if (!strikers.contains(contact.body) && contact.gap <= settings_.max_gap && !is_off(i))
      resting.push_back(i);
  }
  if (off > 0) {
    result.warnings.push_back(
        fmt::format("{} contacts lie off the surface of the model '{}'; they were left out. Is it made "
                    "from the body's mesh?",
                    off, model_->name));
  }
  result.impacts = static_cast<int>(struck.size());
  MatX distances;
  const std::vector<TargetSpeed> wanted = target_speeds(input, struck, resting, distances);
  const double budget = settings_.limit_energy ? result.energy.lost : std::numeric_limits<double>::infinity();
  DistributedKicks shared = distribute_kicks(input, wanted, budget, settings_.form);
  result.energy.received = result.energy.given = shared.given;
  result.energy.kick_scale = shared.scale;
  result.unsolved += shared.unsolved;
  result.kicks = std::move(shared.kicks);
  if (attenuation_.arrival_delay && wave_speed_ > 0) {
    for (Kick& kick : result.kicks) {
      const auto j = std::find(resting.begin(), resting.end(), kick.contact) - resting.begin();
      kick.delay = distances.col(j).minCoeff() / wave_speed_;
    }
  }
  if (settings_.form == KickForm::impulse) result.body_impulses = body_impulses_of(input, result.kicks);
  return result;
}

}  // namespace thrum::vibration
