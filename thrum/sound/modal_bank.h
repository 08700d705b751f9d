// SPDX-License-Identifier: MIT
// All modes of a body as complex one-pole filters at the audio rate.
//
// A mode q'' + 2 d q' + w^2 q = f with the pole s = -d + i w_d, w_d^2 = w^2 - d^2, is one complex equation,
//
//     z = q' - conj(s) q,      z' = s z + f,      q = Im z / w_d,      q' = Re z - (d / w_d) Im z.       (1)
//
// Contact damping that changes in time adds c(t) >= 0 to the decay, s = -(d + c) + i w_d: |z| falls as
// exp(-integral (d + c)) whatever c does, so no change of damping adds energy. w_d is kept, which is wrong in
// second order of c / w (3 % where c has its limit of w / 4).
//
//   ModalBank bank(modes, 48000);
//   bank.set_output({weights of the modes});
//   bank.strike(time, duration, gains);     // a force pulse: half a sine, integrated exactly
//   bank.render(out);                       // kInterval samples: out[n] += Re sum_m weight_m z_m
//
// Time goes in intervals of kInterval samples, counted from 0. Damping, weights and loads are set for an
// interval; pulses begin and end anywhere. An interval without forces costs two multiplications a mode and
// sample: inside it, Re(weight z) follows the two-term recurrence of the pole, started from z, which itself
// is moved over the whole interval at once.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/elastic/modal_filter.h"

namespace thrum::sound {

class ModalBank {
 public:
  using Complex = std::complex<double>;
  static constexpr std::size_t kInterval = 64;  ///< samples

  /// A mode's own decay is limited to 0.9 omega. Throws Error for a rate or a mode that is not finite and
  /// positive.
  ModalBank(const elastic::ModeList& modes, int sample_rate);

  /// Decay added to each mode from the next interval on [1/s], at least 0. An empty list: none.
  void set_extra_decays(std::span<const double> decays);
  /// What is heard of z of each mode; velocity_weight() gives q'. Where they differ
  /// from the last ones, the output changes over from the old to the new over the next interval.
  void set_output(std::span<const Complex> weights);
  /// g such that Re(g z) = q' of the mode.
  [[nodiscard]] Complex velocity_weight(std::size_t mode) const;

  /// A force pulse on the modes: gains[m] [kg^1/2 m/s] is the impulse that mode m gets in all, spread over
  /// half a sine from `time` to `time + duration` [s]. A pulse that began in the past acts with what is left
  /// of it, one without duration at once.
  void strike(double time, double duration, std::span<const double> gains);
  /// Rate at which a slow load on each mode changes during the next interval [kg^1/2 m/s^3]. The mode follows
  /// the load without delay, and only its oscillation about the loaded position is in z: with
  /// z = u - f / s, u' = s u + f' / s.
  void set_load_rates(std::span<const double> rates);
  /// Adds a force for the next interval, one value a sample, held over the sample: force[n] gains[m].
  void add_force(std::span<const double> force, std::span<const double> gains);

  /// Adds the next kInterval samples to `out`.
  void render(std::span<double> out);
  /// Moves on by an interval of silence; every mode is at rest after it. Pulses stay as they are.
  void skip();
  [[nodiscard]] bool has_pulses() const { return !pulses_.empty(); }  ///< under way or to come
  /// Whether every mode is below `amplitude` [kg^1/2 m/s].
  [[nodiscard]] bool is_quiet(double amplitude) const;

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] double time() const;                    ///< at which the next interval begins [s]
  [[nodiscard]] double interval() const;                ///< its length [s]
  [[nodiscard]] Complex state(std::size_t mode) const;  ///< z at time() [kg^1/2 m/s]
  [[nodiscard]] double energy() const;                  ///< sum |z|^2 / 2 [J]

 private:
  struct Pulse {
    double time = 0;
    double duration = 0;
    std::vector<double> gains;
  };

  void update_poles();
  void gather_inputs();
  void add_pulse(const Pulse& pulse);
  void add_pulse_part(const Pulse& pulse, std::size_t n, double from, double to);
  void update_squares();
  void end_faint_modes();
  void render_free(std::span<double> out);
  void render_driven(std::span<double> out);
  [[nodiscard]] Complex pole(std::size_t m) const { return {-decay_[m] - extra_[m], omega_d_[m]}; }

  std::size_t count_;
  std::size_t padded_;  ///< to whole groups of lanes; the modes beyond count_ are at rest
  double step_;         ///< between samples [s]
  std::uint64_t interval_ = 0;

  // One entry a mode.
  std::vector<double> decay_, omega_d_, extra_;
  std::vector<double> re_, im_;            ///< z
  std::vector<double> pole_re_, pole_im_;  ///< exp(s T)
  std::vector<double> free_re_, free_im_;  ///< exp(s T) without extra decay
  std::vector<double> jump_re_, jump_im_;  ///< its power kInterval
  std::vector<double> free_jump_re_, free_jump_im_;
  std::vector<double> weight_re_, weight_im_;  ///< at the end of the interval
  std::vector<double> old_re_, old_im_;        ///< at its beginning
  bool weights_changed_ = false;
  bool has_extra_ = false;

  std::vector<Pulse> pulses_;  ///< in the order in which they were given
  std::vector<double> load_rates_;
  std::vector<double> square_re_, square_im_;  ///< 1 / s^2
  bool squares_known_ = false;
  std::vector<double> factor_;                 ///< exp(-extra T)
  std::vector<double> change_re_, change_im_;  ///< of the weights, where they change
  bool has_load_ = false;
  std::vector<double> force_;  ///< kInterval x padded_
  bool has_force_ = false;
  bool has_input_ = false;
  std::vector<double> in_re_, in_im_;       ///< kInterval x padded_: what each sample adds to z
  std::vector<double> lanes_, ramp_lanes_;  ///< output by sample and lane
};

}  // namespace thrum::sound
