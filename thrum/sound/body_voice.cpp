// SPDX-License-Identifier: MIT
#include "thrum/sound/body_voice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "thrum/sound/contact_damping.h"
#include "thrum/sound/mode_loops.h"
#include "thrum/sound/roughness.h"
#include "thrum/sound/scalar_radiation.h"

namespace thrum::sound {

namespace {

constexpr double kInaudible = 1e-9;           ///< amplitude of a body that counts as silent [Pa m]
constexpr double kSameDirection = 0.01;       ///< chord between directions that sound alike
constexpr std::uint64_t kDecayIntervals = 2;  ///< with one contact damping: 2.7 ms at 48 kHz
constexpr double kSamePlace = 1e-5;           ///< a contact that moved by less keeps its shapes [m]
constexpr double kRoughnessLimit = 16e3;      ///< of the noise of rough contacts, the same at every rate [Hz]

// The click of a body that is accelerated, as one more mode. A rigid sphere of radius a with acceleration A
// radiates, in the direction at the angle theta to it, in the far field,
//
//     r p = rho a c cos(theta) q',      q'' + 2 (c/a) q' + 2 (c/a)^2 q = A,
//
// for its transfer function is rho a^3 s A / (c (2 + 2 s a/c + (s a/c)^2)). At low frequencies that is
// rho a^3 / (2 c) times the jerk.
elastic::ModeList with_click(const SoundModel& model, bool clicks)
{
  elastic::ModeList list = model.modes();
  if (!clicks) return list;
  const Eigen::Index count = list.omegas.size();
  list.omegas.conservativeResize(count + 1);
  list.decays.conservativeResize(count + 1);
  list.omegas[count] = std::sqrt(2.0) * kSoundSpeed / model.radius();
  list.decays[count] = kSoundSpeed / model.radius();
  return list;
}

}  // namespace

BodyVoice::BodyVoice(std::shared_ptr<const SoundModel> model, double mass, const SynthesisSettings& settings,
                     VoiceKind kind)
    : model_(std::move(model)),
      mass_(mass),
      settings_(settings),
      modes_(model_->mode_count()),
      clicks_(settings.acceleration_noise && mass > 0 && model_->radius() > 0),
      bank_(with_click(*model_, clicks_), settings.sample_rate),
      zeros_(bank_.size(), 0.0)
{
  weights_.resize(bank_.size());
  double loudest = 0;
  for (std::size_t m = 0; m < bank_.size(); ++m) {
    const double amplitude =
        m < modes_ ? model_->amplitudes()[m] : kAirDensity * model_->radius() * kSoundSpeed;
    weights_[m] = amplitude * bank_.velocity_weight(m);
    loudest = std::max(loudest, amplitude);
  }
  bank_.set_output(weights_);
  if (kind == VoiceKind::simulated) {
    driven_.emplace(model_->modes(), settings.sample_rate);
    weights_before_ = weights_;
  }
  quiet_amplitude_ = loudest > 0 ? kInaudible / loudest : std::numeric_limits<double>::infinity();
}

// The weights follow the direction of the listener; the bank changes over from the old to the new in an
// interval.
void BodyVoice::set_direction(double begin)
{
  while (directions_.size() > 1 && directions_[1].time <= begin) directions_.pop_front();
  if (directions_.empty() || (directions_.front().listener - radiated_).norm() < kSameDirection) return;
  radiated_ = directions_.front().listener;
  std::vector<ModalBank::Complex> amplitudes(model_->known_mode_count());
  model_->radiation()->amplitudes(radiated_, amplitudes);
  for (std::size_t m = 0; m < amplitudes.size(); ++m) {
    const bool heard = model_->amplitudes()[m] > 0;
    weights_[m] = heard ? amplitudes[m] * bank_.velocity_weight(m) : 0;
  }
  bank_.set_output(weights_);
}

const PointShapes& BodyVoice::shapes_at(std::uint64_t key, const Vec3& position)
{
  Place& place = places_[key];
  place.used = true;
  if (place.shapes.cols() == 0 || (place.position - position).norm() > kSamePlace) {
    place.position = position;
    place.shapes = model_->shapes_at(position);
  }
  return place.shapes;
}

std::vector<double> BodyVoice::gains_of(const PointShapes& shapes, const Vec3& impulse,
                                        const Vec3& listener) const
{
  std::vector<double> gains(bank_.size(), 0.0);
  for (std::size_t m = 0; m < modes_; ++m) gains[m] = shapes.col(static_cast<Eigen::Index>(m)).dot(impulse);
  if (clicks_) gains[modes_] = impulse.dot(listener) / mass_;
  return gains;
}

void BodyVoice::add_impact(const BodyContact& contact, const PointShapes& shapes, const Vec3& listener)
{
  bank_.strike(contact.impact_time, contact.duration, gains_of(shapes, contact.impulse, listener));
}

void BodyVoice::strike(double time, double duration, const Vec3& position, const Vec3& impulse,
                       const Vec3& listener)
{
  bank_.strike(time, duration, gains_of(model_->shapes_at(position), impulse, listener));
  if (model_->radiation()) directions_.push_back({time, listener});
}

void BodyVoice::add_step(double time, double duration, std::span<const BodyContact> contacts,
                         const Vec3& listener)
{
  if (model_->radiation()) directions_.push_back({time, listener});
  for (auto& [key, place] : places_) place.used = false;
  std::vector<ContactForce>& forces = forces_;
  forces.clear();
  for (const BodyContact& contact : contacts) {
    const PointShapes& shapes = shapes_at(contact.key, contact.position);
    if (!contact.impulse.isZero(0)) add_impact(contact, shapes, listener);
    forces.push_back({contact.key, contact.position, contact.normal, contact.load, contact.friction_load,
                      contact.friction});
  }
  redistribution_.redistribute(forces);
  std::vector<double> loads(bank_.size(), 0.0);
  std::vector<double>& damping = damping_;
  damping.assign(modes_, 0.0);
  const double gamma = settings_.contact_damping_scale * model_->contact_damping();
  for (const ContactForce& force : forces) {
    const PointShapes& shapes = places_.at(force.key).shapes;
    const Vec3 total = force.normal_force * force.normal + force.friction;
    Eigen::Map<Eigen::RowVectorXd>(loads.data(), shapes.cols()) +=
        total.x() * shapes.row(0) + total.y() * shapes.row(1) + total.z() * shapes.row(2);
    add_contact_damping(shapes, force.normal, force.normal_force, force.coefficient, gamma, damping);
  }
  std::vector<double> decays(bank_.size(), 0.0);
  for (std::size_t m = 0; m < modes_; ++m)
    decays[m] =
        contact_decay(damping[m] / model_->counts()[m], model_->modes().omegas[static_cast<Eigen::Index>(m)]);

  // Values that do not change share one list, so that nothing is computed for them.
  const auto shared = [&](std::vector<double>& values, const Values& before) -> Values {
    if (std::all_of(values.begin(), values.end(), [](double x) { return x == 0; })) return nullptr;
    if (before && *before == values) return before;
    return std::make_shared<const std::vector<double>>(std::move(values));
  };
  const Control* last = controls_.empty() ? nullptr : &controls_.back();
  Control control{time + duration / 2,
                  shared(loads, last ? last->loads : nullptr),
                  shared(decays, last ? last->decays : nullptr),
                  {}};
  // Before its first step the body is as in it.
  longest_step_ = std::max(longest_step_, duration);
  // An impact may lie before its step by the length of it.
  ready_until_ =
      last ? last->time - 2 * longest_step_ - static_cast<double>(kDecayIntervals) * bank_.interval() : 0;
  controls_.push_back(std::move(control));
  add_slides(time, duration, contacts);
  std::erase_if(places_, [](const auto& entry) { return !entry.second.used; });
}

// The level of a rough contact runs from that of the step before to that of this one; a contact that has gone
// fades over a step.
void BodyVoice::add_slides(double time, double duration, std::span<const BodyContact> contacts)
{
  for (auto& [key, noise] : noises_) noise.used = false;
  for (const BodyContact& contact : contacts) {
    const auto before = noises_.find(contact.key);
    const double level = before != noises_.end() ? before->second.level : 0;
    if (level == 0 && contact.noise_force == 0) continue;
    Noise& noise = noises_[contact.key];
    noise = {contact.noise_force, contact.distance + contact.speed * duration,
             contact.octaves,     gains_of(places_.at(contact.key).shapes, contact.normal, Vec3::Zero()),
             contact.seed,        true};
    slides_.push_back({time, time + duration, contact.seed, contact.distance, contact.speed, level,
                       contact.noise_force, contact.octaves, noise.gains});
  }
  for (auto& [key, noise] : noises_) {
    if (noise.used || noise.level == 0) continue;
    slides_.push_back({time, time + duration, noise.seed, noise.distance, 0, noise.level, 0, noise.octaves,
                       std::move(noise.gains)});
  }
  std::erase_if(noises_, [](const auto& entry) { return !entry.second.used; });
}

void BodyVoice::add_forces(double time, double duration, const ModalForceSample* forces)
{
  if (!driven_) return;
  if (forces == nullptr) {
    driven_->set_forces(time, duration, {});
    return;
  }
  scratch_.assign(forces->mode_count(), 0.0);
  const auto begin = [&](std::size_t k) {
    if (k == 0) return 0.0;
    return k <= forces->begins.size() ? forces->begins[k - 1] / double{ModalForceSample::kTicks} : 1.0;
  };
  for (std::size_t k = 0; k <= forces->begins.size(); ++k) {
    forces->forces(k, scratch_);
    driven_->set_forces(time + begin(k) * duration, (begin(k + 1) - begin(k)) * duration, scratch_);
  }
}

void BodyVoice::finish()
{
  ready_until_ = std::numeric_limits<double>::infinity();
}

bool BodyVoice::render(std::span<double> amplitude)
{
  const double begin = bank_.time();
  bool is_heard = render_bank(amplitude);
  if (driven_) {
    is_heard |= driven_->render(begin, weights_before_, weights_, amplitude);
    weights_before_ = weights_;
  }
  return is_heard;
}

bool BodyVoice::render_bank(std::span<double> amplitude)
{
  const double begin = bank_.time();
  const double end = begin + bank_.interval();
  // Two points before the interval are kept for the slopes.
  while (controls_.size() > 3 && controls_[2].time <= begin) controls_.pop_front();
  while (!slides_.empty() && slides_.front().end <= begin) slides_.pop_front();
  if (!bank_.has_pulses() && slides_.empty() && bank_.is_quiet(quiet_amplitude_)) {
    const bool loads_change = std::any_of(controls_.begin(), controls_.end(), [&](const Control& c) {
      return c.loads != controls_.front().loads;
    });
    if (!loads_change) {
      bank_.skip();
      decays_known_ = false;
      return false;
    }
  }
  set_loads(begin, end);
  // Decays are the mean over a few intervals.
  const auto number = static_cast<std::uint64_t>(std::llround(begin / bank_.interval()));
  const std::uint64_t left = kDecayIntervals - number % kDecayIntervals;
  if (left == kDecayIntervals || !decays_known_)
    set_decays(begin, begin + static_cast<double>(left) * bank_.interval());
  decays_known_ = true;
  add_noise(begin);
  set_direction(begin);
  bank_.render(amplitude);
  return true;
}

namespace {

// The segment that holds a time: index of its first point, or the ends.
template <class Controls>
std::size_t segment_at(const Controls& controls, double time)
{
  std::size_t i = 0;
  while (i + 1 < controls.size() && controls[i + 1].time <= time) ++i;
  return i;
}

}  // namespace

const double* BodyVoice::values_of(const Values& values) const
{
  return values ? values->data() : zeros_.data();
}

// Of the monotone curve of decays at a control, computed when its neighbours are known.
const std::vector<double>& BodyVoice::slopes_at(std::size_t i)
{
  std::vector<double>& slopes = controls_[i].slopes;
  if (!slopes.empty()) return slopes;
  const bool is_last = i + 1 == controls_.size();
  std::vector<double> found(bank_.size(), 0.0);
  const auto length_after = [&](std::size_t k) {
    return controls_[k + 1].time - controls_[k].time;
  };
  if (i == 0 || is_last) {
    const std::size_t k = is_last ? i - 1 : i;
    const double* const from = values_of(controls_[k].decays);
    const double* const to = values_of(controls_[k + 1].decays);
    const double length = length_after(k);
    for (std::size_t m = 0; m < modes_; ++m) found[m] = (to[m] - from[m]) / length;
  } else {
    const double* const before = values_of(controls_[i - 1].decays);
    const double* const here = values_of(controls_[i].decays);
    const double* const after = values_of(controls_[i + 1].decays);
    const double left = length_after(i - 1);
    const double right = length_after(i);
    monotone_slopes(before, here, after, left, right, found.data(), modes_);
  }
  if (is_last) return last_slopes_ = std::move(found);
  return slopes = std::move(found);
}

void BodyVoice::set_loads(double begin, double end)
{
  if (controls_.empty()) return;
  const auto weights_at = [&](double time) {
    const std::size_t i = segment_at(controls_, time);
    if (time <= controls_[i].time || i + 1 == controls_.size()) return std::pair(i, 0.0);
    return std::pair(i, (time - controls_[i].time) / (controls_[i + 1].time - controls_[i].time));
  };
  const auto [i, u] = weights_at(begin);
  const auto [j, v] = weights_at(end);
  const auto next = [&](std::size_t k) {
    return std::min(k + 1, controls_.size() - 1);
  };
  bool changes = false;
  for (std::size_t k = i; k < next(j); ++k) changes |= controls_[k].loads != controls_[k + 1].loads;
  if (!changes) return;
  scratch_.assign(bank_.size(), 0.0);
  const FourRows rows = {values_of(controls_[j].loads), values_of(controls_[next(j)].loads),
                         values_of(controls_[i].loads), values_of(controls_[next(i)].loads)};
  const double rate = 1 / (end - begin);
  add_weighted(rows, {rate * (1 - v), rate * v, -rate * (1 - u), -rate * u}, scratch_.data(), modes_);
  bank_.set_load_rates(scratch_);
}

// The mean over the interval by Simpson's rule, exact for a cubic.
void BodyVoice::set_decays(double begin, double end)
{
  if (controls_.empty()) return;
  const std::size_t first = segment_at(controls_, begin);
  const std::size_t last = std::min(segment_at(controls_, end) + 1, controls_.size() - 1);
  bool changes = false;
  for (std::size_t k = first; k < last; ++k) changes |= controls_[k].decays != controls_[k + 1].decays;
  if (!changes) {
    if (controls_[first].decays) {
      bank_.set_extra_decays(*controls_[first].decays);
    } else {
      bank_.set_extra_decays({});
    }
    return;
  }
  scratch_.assign(bank_.size(), 0.0);
  const std::array<double, 3> times = {begin, (begin + end) / 2, end};
  constexpr std::array<double, 3> kSimpson = {1.0 / 6, 4.0 / 6, 1.0 / 6};
  // The cubic is linear in its four values, so that the times of one segment share their coefficients.
  for (std::size_t s = 0; s < 3;) {
    const std::size_t i = segment_at(controls_, times[s]);
    const bool is_end = i + 1 == controls_.size();
    const double h = is_end ? 1 : controls_[i + 1].time - controls_[i].time;
    std::array<double, 4> c = {};
    for (; s < 3 && segment_at(controls_, times[s]) == i; ++s) {
      const double since = is_end ? 0 : std::max(0.0, times[s] - controls_[i].time);
      const std::array<double, 4> now = cubic_coefficients(h, since);
      for (std::size_t k = 0; k < 4; ++k) c[k] += kSimpson[s] * now[k];
    }
    const double* y0 = values_of(controls_[i].decays);
    if (c[1] == 0 && c[2] == 0 && c[3] == 0) {
      for (std::size_t m = 0; m < modes_; ++m) scratch_[m] += c[0] * y0[m];
      continue;
    }
    const double* y1 = values_of(controls_[i + 1].decays);
    const double* s0 = slopes_at(i).data();
    const double* s1 = slopes_at(i + 1).data();
    add_weighted({y0, y1, s0, s1}, c, scratch_.data(), modes_);
  }
  for (double& decay : scratch_) decay = std::max(0.0, decay);
  bank_.set_extra_decays(scratch_);
}

void BodyVoice::add_noise(double begin)
{
  std::array<double, ModalBank::kInterval> force;
  const double step = 1.0 / settings_.sample_rate;
  const double end = begin + bank_.interval();
  for (const Slide& slide : slides_) {
    if (slide.begin >= end || slide.end <= begin) continue;
    for (std::size_t n = 0; n < force.size(); ++n) {
      const double t = begin + static_cast<double>(n) * step;
      force[n] = 0;
      if (t < slide.begin || t >= slide.end) continue;
      const double since = t - slide.begin;
      const double share = since / (slide.end - slide.begin);
      const double level = slide.level_before + share * (slide.level_after - slide.level_before);
      force[n] = level * roughness_profile(slide.seed, slide.octaves, slide.distance + slide.speed * since,
                                           slide.speed, kRoughnessLimit);
    }
    bank_.add_force(force, slide.gains);
  }
}

}  // namespace thrum::sound
