// SPDX-License-Identifier: MIT
#include "tests/fuzz/zip_checksums.h"

#include <cstdint>
#include <span>
#include <string_view>

#include "thrum/base/npz.h"

namespace thrum::fuzz {

namespace {

// Of the zip format: sizes of the fixed parts, and the offsets of their fields.
constexpr std::string_view kCentralMagic{"PK\x01\x02", 4};
constexpr std::size_t kCentralSize = 46, kCentralCrc = 16, kCentralDataSize = 20, kCentralOffset = 42;
constexpr std::size_t kLocalSize = 30, kLocalCrc = 14, kLocalNameSize = 26, kLocalExtraSize = 28;

std::size_t number(std::string_view bytes, std::size_t at, std::size_t width)
{
  std::size_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

void put_u32(std::string& bytes, std::size_t at, std::uint32_t value)
{
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

std::string fix_zip_checksums(std::string bytes)
{
  for (std::size_t at = bytes.find(kCentralMagic);
       at != std::string::npos && at + kCentralSize <= bytes.size(); at = bytes.find(kCentralMagic, at + 1)) {
    const std::size_t local = number(bytes, at + kCentralOffset, 4);
    if (local + kLocalSize > bytes.size()) continue;
    const std::size_t data = local + kLocalSize + number(bytes, local + kLocalNameSize, 2) +
                             number(bytes, local + kLocalExtraSize, 2);
    const std::size_t size = number(bytes, at + kCentralDataSize, 4);
    if (data > bytes.size() || size > bytes.size() - data) continue;
    const std::uint32_t checksum = base::crc32(std::as_bytes(std::span(bytes)).subspan(data, size));
    put_u32(bytes, local + kLocalCrc, checksum);
    put_u32(bytes, at + kCentralCrc, checksum);
  }
  return bytes;
}

}  // namespace thrum::fuzz
