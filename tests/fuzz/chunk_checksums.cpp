// SPDX-License-Identifier: MIT
#include "tests/fuzz/chunk_checksums.h"

#include <cstdint>
#include <cstring>
#include <span>

#include "thrum/base/npz.h"
#include "thrum/sim/recording_format.h"

namespace thrum::fuzz {

std::string fix_chunk_checksums(std::string bytes)
{
  std::size_t at = sim::kRecordingMagic.size() + sizeof(sim::kRecordingVersion);
  while (at + sim::kChunkHeaderSize <= bytes.size()) {
    std::uint32_t kind = 0;
    std::uint32_t size = 0;
    std::memcpy(&kind, bytes.data() + at, sizeof(kind));
    std::memcpy(&size, bytes.data() + at + 4, sizeof(size));
    const std::size_t start = at + sim::kChunkHeaderSize;
    if (size > bytes.size() - start) break;
    const std::uint32_t checksum = base::crc32(std::as_bytes(std::span(bytes)).subspan(start, size), kind);
    std::memcpy(bytes.data() + at + 8, &checksum, sizeof(checksum));
    at = start + size;
  }
  return bytes;
}

std::string fix_checkpoint_checksum(std::string bytes)
{
  constexpr std::size_t kPlace = 12;  // after eight letters and the version
  constexpr std::size_t kPayload = kPlace + sizeof(std::uint32_t);
  if (bytes.size() < kPayload) return bytes;
  const std::uint32_t checksum = base::crc32(std::as_bytes(std::span(bytes)).subspan(kPayload));
  std::memcpy(bytes.data() + kPlace, &checksum, sizeof(checksum));
  return bytes;
}

}  // namespace thrum::fuzz
