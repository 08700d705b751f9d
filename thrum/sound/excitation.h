// SPDX-License-Identifier: MIT
// What makes bodies sound, as plain data: the contacts of every step (or slice of a step) of a simulation,
// and a file of them.
//
//   ExcitationWriter writer("run/contacts");
//   writer.add(step);  ...  writer.flush();
//
//   ExcitationReader reader("run/contacts");
//   while (const std::optional<ExcitationStep> step = reader.next()) ...
//
// The file is "THRUMEXC", a version, then chunks (kind, size, checksum, steps). A chunk is whole or it does
// not count: what a killed run has written can be read up to its last whole chunk. A contact that is the same
// bit for bit as in the step before, as of bodies asleep, takes five bytes; others 86. Numbers are 32-bit
// floats, times 64-bit. Forces on modes take two bytes a mode and substep, and none where they do not change.
// The header ends with the identity of the run, which its recording has too.
// Versions 1, without forces on modes, and 2, without identity, are read as well.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "thrum/base/hash.h"
#include "thrum/base/vec.h"

namespace thrum::sound {

/// One point of contact during one step. The normal points from a to b.
struct ContactSample {
  std::uint32_t a = 0;  ///< number of the body in the recording
  std::uint32_t b = 0;
  std::uint64_t key = 0;                 ///< of this point among those of a and b; the same from step to step
  Vec3 position = Vec3::Zero();          ///< world, at the beginning of the step [m]
  Vec3 normal = Vec3::UnitZ();           ///< unit, world
  double normal_impulse = 0;             ///< on b along the normal, over the step [N s]
  Vec3 friction_impulse = Vec3::Zero();  ///< on b across the normal, world [N s]
  Vec3 slip = Vec3::Zero();              ///< velocity of b against a across the normal, after the step [m/s]
  double approach_speed = 0;             ///< before the step, at least 0 [m/s]
  double impact_delay = 0;               ///< from the beginning of the step until the surfaces meet [s]
  double inverse_mass = 0;               ///< speed that a unit impulse along the normal gives [1/kg]
  double friction = 0;                   ///< Coulomb's coefficient
  bool is_new = false;                   ///< it was not there in the step before
  bool bounced = false;                  ///< an impact with restitution was resolved
};

/// Where the shape of a body was at the beginning of a step.
struct PoseSample {
  std::uint32_t body = 0;
  Pose X_ws;
};

/// Forces on the modes of a body that were part of the simulation, held over each substep of a step. They are
/// stored as those of the first substep, and for modes on which they change the difference to that as a share
/// of its largest, in 16 bits: noise of the rounding is 98 dB below the change.
struct ModalForceSample {
  /// Begins of substeps are whole multiples of this share of the step.
  static constexpr std::uint32_t kTicks = std::uint32_t{1} << 20;

  std::uint32_t body = 0;
  std::vector<float> first;           ///< during the first substep, by mode [kg^1/2 m/s^2]
  std::vector<std::uint32_t> begins;  ///< of the other substeps [ticks], ascending
  std::vector<float> scales;          ///< by mode: what 1 in `changes` stands for; empty without `begins`
  std::vector<std::int16_t> changes;  ///< by substep of `begins`, of the modes whose scale is not 0

  [[nodiscard]] std::size_t mode_count() const { return first.size(); }
  /// During substep k, from 0.
  void forces(std::size_t k, std::span<double> out) const;
  friend bool operator==(const ModalForceSample&, const ModalForceSample&) = default;
};

/// `forces` substep by substep, by mode; substeps in which none changes are joined.
[[nodiscard]] ModalForceSample pack_modal_forces(std::uint32_t body, std::span<const double> durations,
                                                 std::span<const double> forces);

struct ExcitationStep {
  double time = 0;      ///< at its beginning [s]
  double duration = 0;  ///< [s]
  std::vector<ContactSample> contacts;
  std::vector<PoseSample> poses;               ///< of the bodies in contact, ascending
  std::vector<ModalForceSample> modal_forces;  ///< of bodies on which there are any, ascending
};

class ExcitationWriter {
 public:
  /// Begins a new file of the run with this identity, or appends to one, which keeps its own. Throws Error,
  /// with the reason, when it cannot be written.
  explicit ExcitationWriter(const std::filesystem::path& file, bool append = false,
                            const base::Hash128& run = {});
  ~ExcitationWriter();
  ExcitationWriter(const ExcitationWriter&) = delete;
  ExcitationWriter& operator=(const ExcitationWriter&) = delete;

  void add(const ExcitationStep& step);
  /// Hands what was gathered to the system as one chunk. Throws Error when the disk is full.
  void flush();

 private:
  void write(const std::string& bytes);

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::string buffer_;
  std::vector<std::string> last_contacts_;  ///< as written
  std::vector<std::string> contacts_;
  std::vector<ModalForceSample> last_forces_;
};

class ExcitationReader {
 public:
  /// Throws InputError when it is not such a file.
  explicit ExcitationReader(const std::filesystem::path& file);
  ~ExcitationReader();
  ExcitationReader(const ExcitationReader&) = delete;
  ExcitationReader& operator=(const ExcitationReader&) = delete;

  /// The next step, or nothing at the end of the last whole chunk.
  [[nodiscard]] std::optional<ExcitationStep> next();
  /// Of the run; none in files of versions that had none.
  [[nodiscard]] const std::optional<base::Hash128>& run() const { return run_; }
  /// Whether bytes follow the last whole chunk, when next() has come to the end.
  [[nodiscard]] bool is_cut_short() const { return cut_short_; }

 private:
  void read_run();
  bool read_chunk();

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::uint32_t version_ = 0;
  std::optional<base::Hash128> run_;
  std::string chunk_;
  std::size_t at_ = 0;  ///< in the chunk
  bool cut_short_ = false;
  std::vector<ContactSample> last_contacts_;
  std::vector<ModalForceSample> last_forces_;
};

/// Keeps the steps that begin before `time` [s], to go on from there.
void truncate_excitation(const std::filesystem::path& file, double time);

}  // namespace thrum::sound
