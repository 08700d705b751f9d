// SPDX-License-Identifier: MIT
// Modes for other programs: lists of (frequency, gain, ring time) for Faust, SuperCollider and Pure Data, a
// CSV table, and the `.modes` layout of the Stanford wave-solver data.
#pragma once

#include <filesystem>
#include <string>

#include "thrum/base/vec.h"
#include "thrum/elastic/surface_response.h"
#include "thrum/model/modal_model.h"

namespace thrum::elastic {

/// The sound of each mode when the body is struck at one point.
struct ToneList {
  std::string name;
  VecX frequencies;    ///< damped, as heard [Hz]
  VecX gains;          ///< loudness, the loudest is 1; negative where the mode starts the other way
  VecX t60;            ///< time to fall by 60 dB [s]
  Index left_out = 0;  ///< modes above the limit of tones()
};

/// Frequencies above this are not heard [Hz].
inline constexpr double kMaxExportFrequency = 20e3;

/// How strongly each mode radiates: the square root of the integral of (shape . normal)^2 over the surface [m
/// kg^(-1/2)].
[[nodiscard]] VecX surface_motion(const model::ModalModel& model);

/// A point that excites every low mode: the surface vertex that maximises the smallest excitation of these
/// modes, each relative to its own maximum, along the vertex normal.
[[nodiscard]] SurfaceProbe choose_strike_point(const model::ModalModel& model);

/// Gains of a unit impulse at `strike` along its direction. Over-damped modes, which do not ring, are left
/// out, and so are those above `max_frequency` [Hz].
[[nodiscard]] ToneList tones(const model::ModalModel& model, const SurfaceProbe& strike,
                             double max_frequency = kMaxExportFrequency);

/// A complete Faust program: a button strikes the body.
[[nodiscard]] std::string faust_program(const ToneList& list);
/// A complete SuperCollider SynthDef on Klank.
[[nodiscard]] std::string supercollider_program(const ToneList& list);
/// A complete Pure Data patch of plain objects (osc~, exp~, vline~): a bang strikes the body.
[[nodiscard]] std::string pure_data_patch(const ToneList& list);
/// Lines "frequency gain t60;" as the [text] and [coll] objects of Pure Data read them.
[[nodiscard]] std::string pure_data_list(const ToneList& list);
/// Table with a heading: mode, frequency_hz, decay_per_s, damping_ratio, t60_s, gain.
[[nodiscard]] std::string csv_table(const model::ModalModel& model, const SurfaceProbe& strike);

/// Bytes of a `.modes` file: int32 degrees of freedom, int32 modes, float64 eigenvalues, float64 shapes mode
/// by mode, all of a body of unit density. Throws Error when the body has regions of different density, which
/// the layout cannot represent.
[[nodiscard]] std::string stanford_modes(const model::ModalModel& model);

}  // namespace thrum::elastic
