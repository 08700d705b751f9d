// SPDX-License-Identifier: MIT
#include "thrum/base/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"

namespace thrum::base {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".thrumcache";
constexpr std::string_view kPartialSuffix = ".partial";

/// A temporary file that has not changed for this long belongs to a writer that was killed.
constexpr std::chrono::hours kStaleTempFileAge{1};

/// The header before the data. The checksum covers the key as well, so a file renamed by hand is rejected.
struct Header {
  char magic[8];
  std::uint64_t length;  ///< of the data [byte]
  Hash128 checksum;
};
static_assert(sizeof(Header) == 32);
constexpr char kMagic[8] = {'t', 'h', 'r', 'u', 'm', 'c', '0', '1'};

Hash128 checksum_of(std::string_view kind, const Hash128& key, std::span<const std::byte> data)
{
  return Hasher().add(kind).add(key).bytes(data).finish();
}

bool is_valid_kind(std::string_view kind)
{
  return !kind.empty() && std::all_of(kind.begin(), kind.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t size = 0;
};

/// The entries in the folder, in no particular order; leftovers of killed writers are removed on the way.
/// Another process may remove files at the same time: files that cannot be read are skipped.
std::vector<Entry> list_entries(const fs::path& folder)
{
  std::vector<Entry> entries;
  std::error_code failed;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code gone;
    const std::string name = it->path().filename().string();
    const auto used = fs::last_write_time(it->path(), gone);
    const std::uint64_t size = gone ? 0 : it->file_size(gone);
    if (gone) continue;
    if (name.ends_with(kSuffix)) entries.push_back({it->path(), used, size});
    const bool is_our_temp_file = name.ends_with(kPartialSuffix) && name.find(kSuffix) != std::string::npos;
    if (is_our_temp_file && now - used > kStaleTempFileAge) fs::remove(it->path(), gone);
  }
  return entries;
}

}  // namespace

fs::path default_cache_folder()
{
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (const std::string own = variable("THRUM_CACHE_DIR"); !own.empty()) return own;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return fs::path(xdg) / "thrum";
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "thrum";
  return {};
}

Cache::Cache(CacheDesc desc) : desc_(std::move(desc))
{
  if (desc_.folder.empty()) return;
  std::error_code failed;
  fs::create_directories(desc_.folder, failed);
  if (!fs::is_directory(desc_.folder, failed)) desc_.folder.clear();
}

fs::path Cache::path_of(std::string_view kind, const Hash128& key) const
{
  if (!is_valid_kind(kind))
    throw Error(fmt::format("A cache kind is a word of letters and digits, not \"{}\".", kind));
  return desc_.folder / fmt::format("{}-{}{}", kind, to_hex(key), kSuffix);
}

std::optional<std::vector<std::byte>> Cache::load(std::string_view kind, const Hash128& key) const
{
  const fs::path path = path_of(kind, key);
  if (desc_.folder.empty()) return std::nullopt;
  std::vector<std::byte> file;
  try {
    file = read_file(path);
  } catch (const Error&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }

  Header header{};
  if (file.size() >= sizeof(header)) std::memcpy(&header, file.data(), sizeof(header));
  const bool whole = file.size() >= sizeof(header) &&
                     std::memcmp(header.magic, kMagic, sizeof(kMagic)) == 0 &&
                     header.length == file.size() - sizeof(header);
  if (!whole || header.checksum != checksum_of(kind, key, std::span(file).subspan(sizeof(header)))) {
    std::error_code ignored;
    fs::remove(path, ignored);
    return std::nullopt;
  }
  // Record the time of use; on a read-only disk this does nothing.
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  file.erase(file.begin(), file.begin() + sizeof(header));
  return file;
}

bool Cache::store(std::string_view kind, const Hash128& key, std::span<const std::byte> data) const
{
  const fs::path path = path_of(kind, key);
  if (desc_.folder.empty() || data.size() + sizeof(Header) > desc_.size_limit) return false;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.length = data.size();
  header.checksum = checksum_of(kind, key, data);
  try {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span(&header, 1)));
    file.write(data);
    file.commit();
  } catch (const Error&) {
    return false;
  }
  evict();
  return true;
}

bool Cache::remove(std::string_view kind, const Hash128& key) const
{
  const fs::path path = path_of(kind, key);
  std::error_code ignored;
  return !desc_.folder.empty() && fs::remove(path, ignored);
}

void Cache::evict() const
{
  if (desc_.folder.empty()) return;
  std::vector<Entry> entries = list_entries(desc_.folder);
  std::uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.size;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const Entry& entry : entries) {
    if (total <= desc_.size_limit) return;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    total -= entry.size;
  }
}

void Cache::clear() const
{
  if (desc_.folder.empty()) return;
  for (const Entry& entry : list_entries(desc_.folder)) {
    std::error_code ignored;
    fs::remove(entry.path, ignored);
  }
}

std::uint64_t Cache::size() const
{
  std::uint64_t total = 0;
  if (desc_.folder.empty()) return total;
  for (const Entry& entry : list_entries(desc_.folder)) total += entry.size;
  return total;
}

}  // namespace thrum::base
