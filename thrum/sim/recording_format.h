// SPDX-License-Identifier: MIT
// Numbers that the writer and the reader of recordings share; see recording.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace thrum::sim {

inline constexpr std::string_view kRecordingMagic = "THRUMREC";
inline constexpr std::uint32_t kRecordingVersion = 4;  ///< of a run in which nothing can bend
/// Adds the modes in which bodies bend, and at the end of each frame their amplitudes and what modes and
/// contacts store.
inline constexpr std::uint32_t kBendingVersion = 6;
inline constexpr std::uint32_t kHeaderChunk = 0x4e454353;   ///< "SCEN"
inline constexpr std::uint32_t kFramesChunk = 0x4d415246;   ///< "FRAM"
inline constexpr std::uint32_t kChangesChunk = 0x474e4843;  ///< "CHNG"
inline constexpr std::uint32_t kEndChunk = 0x52444e45;      ///< "ENDR"
inline constexpr std::size_t kChunkHeaderSize = 12;         ///< kind, size, checksum [bytes]
inline constexpr double kRotationScale = 32767;             ///< of a quaternion's component
inline constexpr float kPositionSteps = 65535;              ///< of a contact's position in its box
inline constexpr float kImpulseSteps = 32767;             ///< of an impulse against the largest of its frame
inline constexpr std::uint32_t kNewContact = 0x80000000;  ///< in the number of its first body
inline constexpr std::uint32_t kContactsOmitted = 0xffffffff;  ///< instead of their number
inline constexpr float kMaxModeDisplacement = 1.001f;          ///< 1, and rounding
inline constexpr std::size_t kMaxBufferedBytes = 8 << 20;      ///< frames are written out beyond this [bytes]

/// What an entry of a chunk of changes says.
enum class RecordedChange : std::uint8_t {
  mesh_added,
  body_added,
  link_added,
  body_removed,
  link_removed,
  // Since kBendingVersion.
  mode_added,
  mode_of_body_added
};

}  // namespace thrum::sim
