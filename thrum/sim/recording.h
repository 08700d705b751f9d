// SPDX-License-Identifier: MIT
// What a run did, in a file that only grows: "THRUMREC", a version, then chunks.
//
//   +------+------+----------+------------+
//   | kind | size | checksum | payload ...|
//   +------+------+----------+------------+
//
// A chunk is whole or it does not count: a reader stops at the first one that is cut short or does not fit
// its checksum, so a kill at any moment loses at most the chunk that was being written.
//
// The first chunk describes the scene (bodies, meshes, colours), so that motion and pictures can be made from
// the recording alone. Each later one holds frames: time, energies, a hash of the state, the poses that
// changed since the frame before, contacts, events and responses; or what changed about the scene between two
// frames: bodies that appear or are removed, their meshes, links. Bodies are numbered in the order in which
// they appear and no number is used twice, so that whatever names a number names one body for good, also when
// the world gives the slot of its id to another. Contacts are 16 bits a number: positions in
// the box of the frame's contacts, impulses as a share of its largest. Positions are 32-bit floats, rotations
// 16 bits a component (2e-5 rad). The last chunk holds the hash of the final state; a recording without it
// was cut short.
//
// Bodies that vibrate visibly are bent. In a frame their vertices are displaced, in the axes of the shape, by
//
//     u(v) = sum_k amplitude_k d_k(v),      max_v |d_k(v)| = 1,
//
// with the displacements d_k of a mode, which are written once and shared by bodies of the same modes, and
// its amplitudes [m], which each frame holds.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thrum/base/hash.h"
#include "thrum/mesh/triangle_mesh.h"
#include "thrum/model/body.h"
#include "thrum/model/contact.h"
#include "thrum/model/ids.h"
#include "thrum/model/response.h"

namespace thrum::sim {

enum class RecordedChange : std::uint8_t;

inline constexpr std::uint64_t kNoFrame = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::size_t kMaxBendModes = 16;  ///< of a body

struct RecordedBody {
  std::string name;
  std::int32_t mesh = 0;  ///< index into RecordingHeader::meshes
  std::array<float, 3> colour = {0.8f, 0.8f, 0.8f};
  model::Motion motion = model::Motion::dynamic;
  double mass = 0;                                              ///< [kg]
  model::BodyId id = {};                                        ///< in the world that was recorded
  std::uint64_t first_frame = 0;                                ///< that shows it
  std::uint64_t end_frame = kNoFrame;                           ///< the first that does not show it any more
  double appears_at = 0;                                        ///< 0: it is there from the beginning [s]
  double removed_at = std::numeric_limits<double>::infinity();  ///< [s]
  /// In which it bends, at most kMaxBendModes: indices into RecordingHeader::modes, all of one mesh.
  std::vector<std::int32_t> modes = {};

  [[nodiscard]] bool is_in_frame(std::uint64_t frame) const
  {
    return first_frame <= frame && frame < end_frame;
  }
};

/// A string or a spring, to be drawn.
struct RecordedLink {
  std::int32_t a = -1;
  std::int32_t b = -1;                       ///< -1: the world
  std::array<float, 3> point_a = {0, 0, 0};  ///< in shape axes of a [m]
  std::array<float, 3> point_b = {0, 0, 0};  ///< in shape axes of b, or in the world [m]
  std::uint64_t first_frame = 0;             ///< that shows it
  std::uint64_t end_frame = kNoFrame;        ///< the first that does not show it any more

  [[nodiscard]] bool is_in_frame(std::uint64_t frame) const
  {
    return first_frame <= frame && frame < end_frame;
  }
};

/// A shape in which bodies bend.
struct RecordedMode {
  std::int32_t mesh = 0;    ///< index into RecordingHeader::meshes
  std::int32_t number = 0;  ///< of the mode in the modal model of the bodies, from 0
  /// x, y, z of each vertex of the mesh, in shape axes; the longest displacement has the length 1.
  std::vector<float> displacements;
};

/// What is shown. A writer is given what is there at the beginning; a reader returns all that was ever there.
struct RecordingHeader {
  std::vector<std::pair<std::string, std::string>> notes;  ///< scene, version, settings ...
  std::vector<RecordedBody> bodies;                        ///< by number
  std::vector<mesh::TriangleMesh> meshes;                  ///< in shape axes; vertices rounded to float [m]
  std::vector<RecordedLink> links;
  std::vector<RecordedMode> modes;
  bool has_bending = false;  ///< frames hold how bodies are bent: version 6 of the file

  /// The number of the mesh that shows a body: that of its modes where it has any, which is fine enough to be
  /// bent.
  [[nodiscard]] std::int32_t shown_mesh(const RecordedBody& body) const;
  /// The first note of that name, or an empty text.
  [[nodiscard]] std::string note(std::string_view name) const;
};

/// Pose of a body's shape as it is stored.
struct RecordedPose {
  std::array<float, 3> position = {0, 0, 0};                ///< [m]
  std::array<std::int16_t, 4> rotation = {32767, 0, 0, 0};  ///< (w, x, y, z) times 32767

  [[nodiscard]] static RecordedPose of(const Pose& X_ws);
  [[nodiscard]] Pose pose() const;
  friend bool operator==(const RecordedPose&, const RecordedPose&) = default;
};

struct RecordedContact {
  std::int32_t a = -1;
  std::int32_t b = -1;
  std::array<float, 3> position = {0, 0, 0};  ///< world [m]
  std::array<float, 3> impulse = {0, 0, 0};   ///< on b, friction included, over the step [N s]
  std::uint32_t is_new = 0;
};

/// How a body is bent.
struct RecordedBend {
  std::int32_t body = -1;
  /// Largest displacement by each of the body's modes, in their order; those beyond the last are 0 [m].
  std::vector<float> amplitudes;
};

struct RecordedFrame {
  double time = 0;              ///< [s]
  double kinetic_energy = 0;    ///< [J]
  double potential_energy = 0;  ///< [J]
  // Of the flexible stepper; 0 for the others.
  double vibration_energy = 0;  ///< of the modes [J]
  double contact_energy = 0;    ///< stored where bodies touch [J]
  std::uint64_t state_hash = 0;
  /// By the number of the body. A body that is not in this frame has the pose of the nearest frame that it is
  /// in.
  std::vector<RecordedPose> poses;
  bool has_contacts = true;  ///< false: those of this frame were left out
  std::vector<RecordedContact> contacts;
  // Since the frame before. The slot of an id is the number of the body in the header, not its slot in the
  // world.
  std::vector<model::ContactEvent> events;
  std::vector<model::ResponseEvent> responses;
  std::vector<RecordedBend> bends;  ///< of the bodies that are bent, by ascending number

  [[nodiscard]] double total_energy() const
  {
    return kinetic_energy + potential_energy + vibration_energy + contact_energy;
  }
  /// Null for a body that is straight.
  [[nodiscard]] const RecordedBend* bend_of(std::size_t body) const;
};

/// The mesh that shows a body, bent as in the frame.
[[nodiscard]] mesh::TriangleMesh bent_mesh(const RecordingHeader& header, std::size_t body,
                                           const RecordedFrame& frame);

struct Recording {
  RecordingHeader header;
  std::vector<RecordedFrame> frames;
  bool complete = false;         ///< it has its last chunk
  base::Hash128 final_hash;      ///< when complete
  std::uint64_t lost_bytes = 0;  ///< after the last whole chunk
};

/// Appends to a recording. Frames are gathered and written as a chunk by flush(). WorldRecorder
/// (world_recorder.h) fills one from a world.
class RecordingWriter {
 public:
  /// Begins a new file, in place of any that is there. Throws Error, with the reason, when it cannot be
  /// written.
  RecordingWriter(const std::filesystem::path& file, const RecordingHeader& header);
  /// Goes on after `length` bytes, of which `before` was read; what lies beyond is dropped.
  RecordingWriter(const std::filesystem::path& file, std::uint64_t length, const Recording& before);
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// `frame` has a pose for each body so far, in the order of their numbers.
  void add(const RecordedFrame& frame);
  // What changes before the next frame. Each returns the number of what was added; times in [s].
  std::int32_t add_mesh(const mesh::TriangleMesh& mesh);
  std::int32_t add_body(const RecordedBody& body, double time);  ///< its frames and times are filled in
  std::int32_t add_link(const RecordedLink& link);
  /// Modes need RecordingHeader::has_bending.
  std::int32_t add_mode(const RecordedMode& mode);
  void add_mode_of_body(std::int32_t body, std::int32_t mode);  ///< the body bends in it from now on
  void remove_body(std::int32_t number, double time);
  void remove_link(std::int32_t number);
  /// Hands what was gathered to the system. Throws Error, with the reason, when the disk is full.
  void flush();
  /// flush(), then waits until all of it is on the disk: a power cut later loses nothing of it.
  void sync();
  /// The last chunk.
  void finish(const base::Hash128& final_hash);

  [[nodiscard]] std::uint64_t length() const { return length_; }  ///< bytes flushed
  [[nodiscard]] std::size_t buffered_bytes() const { return chunks_.size() + buffer_.size(); }
  [[nodiscard]] bool has_bending() const { return has_bending_; }

 private:
  void list_known(const RecordingHeader& header);
  void check_bends(const RecordedFrame& frame) const;
  void begin_change(RecordedChange kind);
  void close_changes();
  void close_frames();
  void write(std::string_view bytes);

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::uint64_t length_ = 0;
  std::string chunks_;   ///< whole ones that are not written yet
  std::string buffer_;   ///< frames
  std::string changes_;  ///< since the last frame
  std::uint64_t frames_ = 0;
  bool has_bending_ = false;
  std::size_t links_ = 0;
  std::vector<std::size_t> mesh_sizes_;                ///< vertices of each mesh
  std::vector<std::int32_t> mode_meshes_;              ///< mesh of each mode
  std::vector<std::vector<std::int32_t>> body_modes_;  ///< by body
  std::vector<RecordedPose> last_poses_;               ///< by body
};

/// Throws InputError when not even the description of the scene is whole.
[[nodiscard]] Recording read_recording(const std::filesystem::path& file);
[[nodiscard]] Recording parse_recording(std::string_view bytes, const std::filesystem::path& name);
/// Whether the file ends with its last chunk, without reading the rest; false when there is no file.
[[nodiscard]] bool is_complete_recording(const std::filesystem::path& file);

}  // namespace thrum::sim
