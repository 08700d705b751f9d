// SPDX-License-Identifier: MIT
// The baked modal file: a ModalModel as a NumPy .npz, so that other programs can read it with one line.
//
//   array              shape                 what
//   format_version     ()                    1
//   frequencies        (modes)               undamped [Hz]
//   decays             (modes)               amplitude falls as exp(-decay t) [1/s]
//   shapes             (modes, vertices, 3)  mass-normalised displacement [kg^-1/2]
//   frequency_errors   (modes)               estimated relative error; absent when not estimated
//   vertices           (vertices, 3)         surface [m]
//   triangles          (triangles, 3)        indices into vertices, counter-clockwise from outside
//   surface_nodes      (vertices)            vertex of the tetrahedral mesh of each; absent when not known
//   mass, centre_of_mass, inertia            (), (3), (3, 3) [kg], [m], [kg m^2] about the centre
//   materials          (regions, 9)          density, young, poisson, damping kind, alpha, beta, loss factor,
//                                            contact damping, entries of the decay table
//   material_names     (regions)
//   decay_tables       (all entries)         the tables one after the other [1/s]; absent when there is none
//   supports           (supports)            where, in the syntax of supports.h; absent for a free body
//   support_axes       (supports, 3)         1 where the axis is held
//   name, element      text
//   counts             (3)                   nodes, elements, rigid modes left out
//   warnings           (any)                 absent when there are none
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "thrum/model/modal_model.h"

namespace thrum::elastic {

inline constexpr int kModalFileVersion = 1;

/// Written under a temporary name and renamed. Throws Error when that fails.
void write_modal_file(const std::filesystem::path& file, const model::ModalModel& model);

/// Throws InputError or Error when the file is not a valid modal file: arrays missing or of the wrong shape,
/// numbers not finite, frequencies not ascending and positive, triangles with vertices out of range, a newer
/// version.
[[nodiscard]] model::ModalModel read_modal_file(const std::filesystem::path& file);
[[nodiscard]] model::ModalModel parse_modal_file(std::span<const std::byte> bytes,
                                                 const std::filesystem::path& name);

}  // namespace thrum::elastic
