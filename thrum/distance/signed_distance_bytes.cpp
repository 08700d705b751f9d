// SPDX-License-Identifier: MIT
// A sparse field as bytes and back. Layout, in the byte order of the machine (the cache is not moved between
// machines):
//
//   8 bytes "THRUMSDF", uint32 version, uint32 byte-order mark, double origin[3], double spacing, int32
//   cells[3], int32 fine blocks, then the arrays table, low, high, corners, samples without gaps.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/distance/signed_distance_field.h"

namespace thrum::distance {

namespace {

constexpr std::array<char, 8> kMagic = {'T', 'H', 'R', 'U', 'M', 'S', 'D', 'F'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t byte_order = kByteOrder;
  std::array<double, 3> origin = {};
  double spacing = 0;
  std::array<std::int32_t, 3> cells = {};
  std::int32_t fine_blocks = 0;
};
static_assert(sizeof(Header) == 64, "written as in memory: no padding");

template <class T>
void append(std::vector<std::byte>& bytes, const std::vector<T>& values)
{
  const std::size_t end = bytes.size();
  bytes.resize(end + values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data() + end, values.data(), values.size() * sizeof(T));
}

// Takes `count` values from the front; the caller has compared the total length first.
template <class T>
std::vector<T> take(std::span<const std::byte>& bytes, std::size_t count)
{
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes = bytes.subspan(count * sizeof(T));
  return values;
}

void require(bool condition, const char* what)
{
  if (!condition) throw Error(fmt::format("The bytes are not a stored distance field: {}.", what));
}

bool all_finite(const std::vector<float>& values)
{
  for (const float v : values) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::byte> SignedDistanceField::to_bytes() const
{
  Header header;
  for (int d = 0; d < 3; ++d) header.origin[at(d)] = frame_.origin[d];
  header.spacing = frame_.spacing;
  header.cells = frame_.cells;
  header.fine_blocks = static_cast<std::int32_t>(fine_block_count());
  std::vector<std::byte> bytes(sizeof(Header));
  std::memcpy(bytes.data(), &header, sizeof(Header));
  append(bytes, table_);
  append(bytes, low_);
  append(bytes, high_);
  append(bytes, corners_);
  append(bytes, samples_);
  return bytes;
}

SignedDistanceField SignedDistanceField::from_bytes(std::span<const std::byte> bytes)
{
  Header header;
  require(bytes.size() >= sizeof(Header), "fewer than the size of the header");
  std::memcpy(&header, bytes.data(), sizeof(Header));
  require(header.magic == kMagic, "they do not begin with THRUMSDF");
  require(header.version == kVersion && header.byte_order == kByteOrder, "unsupported version or byte order");
  GridFrame frame;
  frame.origin = Vec3(header.origin[0], header.origin[1], header.origin[2]);
  frame.spacing = header.spacing;
  frame.cells = header.cells;
  require(frame.origin.allFinite() && std::isfinite(frame.spacing) && frame.spacing > 0,
          "the frame is not finite");

  // Every count is compared with the length before anything is allocated.
  double blocks = 1, corners = 1;
  for (const int n : frame.cells) {
    require(n > 0 && n % kBlockCells == 0, "the grid size is not a multiple of the block size");
    const int along = n / kBlockCells;
    blocks *= along;
    corners *= along + 1;
  }
  require(header.fine_blocks >= 0 && header.fine_blocks <= blocks, "it has more fine blocks than blocks");
  const double expected =
      static_cast<double>(sizeof(Header)) +
      4 * (3 * blocks + corners + static_cast<double>(header.fine_blocks) * kBlockSamples);
  require(static_cast<double>(bytes.size()) == expected, "the length does not match the header");

  SignedDistanceField field;
  field.set_frame(frame);
  bytes = bytes.subspan(sizeof(Header));
  const auto block_count = static_cast<std::size_t>(blocks);
  field.table_ = take<std::int32_t>(bytes, block_count);
  field.low_ = take<float>(bytes, block_count);
  field.high_ = take<float>(bytes, block_count);
  field.corners_ = take<float>(bytes, static_cast<std::size_t>(corners));
  field.samples_ = take<float>(bytes, at(header.fine_blocks) * kBlockSamples);
  for (const std::int32_t slot : field.table_) {
    require(slot == kFar || (slot >= 0 && slot < header.fine_blocks),
            "the block table has an index out of range");
  }
  require(all_finite(field.low_) && all_finite(field.high_) && all_finite(field.corners_) &&
              all_finite(field.samples_),
          "a sample is not finite");
  return field;
}

}  // namespace thrum::distance
