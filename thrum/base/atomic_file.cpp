// SPDX-License-Identifier: MIT
#include "thrum/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "thrum/base/error.h"

namespace thrum::base {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 16;  ///< small writes are gathered up to this [byte]
constexpr mode_t kFileMode = 0666;                         ///< before the user's mask

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int code)
{
  throw Error(fmt::format("Cannot {} {}: {}.", action, path.string(), std::strerror(code)));
}

/// A name that no other thread or process uses: the process id, and a number within the process.
std::filesystem::path make_temp_path(const std::filesystem::path& path)
{
  static std::atomic<std::uint64_t> counter{0};
  std::filesystem::path temp = path;
  temp += fmt::format(".{}.{}.partial", ::getpid(), counter.fetch_add(1));
  return temp;
}

/// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor()
  {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// Reads into any container of bytes. The size from the file's entry is only a first guess: pipes and files
/// that grow while they are read are read to their end.
template <class Container>
Container read_whole(const std::filesystem::path& path, std::size_t max_size)
{
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail("read", path, errno);
  struct stat entry {};
  if (::fstat(file.number(), &entry) != 0) fail("read", path, errno);
  if (S_ISDIR(entry.st_mode)) throw Error(fmt::format("Cannot read {}: it is a folder.", path.string()));
  const auto too_large = [&] {
    return Error(fmt::format("Cannot read {}: it is larger than {} bytes.", path.string(), max_size));
  };
  const auto expected = static_cast<std::size_t>(std::max<off_t>(entry.st_size, 0));
  if (expected > max_size) throw too_large();

  Container data;
  data.resize(expected + 1);  // one more, so that the end of the file is reached without growing
  std::size_t filled = 0;
  for (;;) {
    if (filled == data.size()) data.resize(2 * data.size());
    const ssize_t got = ::read(file.number(), data.data() + filled, data.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    if (filled > max_size) throw too_large();
  }
  data.resize(filled);
  return data;
}

}  // namespace

void sync_file(int descriptor, const std::filesystem::path& path)
{
  // What is no file on a disk, such as a pipe, cannot be synced and need not be.
  if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) fail("write", path, errno);
}

void sync_folder_of(const std::filesystem::path& path)
{
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), temp_path_(make_temp_path(path_))
{
  if (std::error_code ignored; std::filesystem::is_directory(path_, ignored)) {
    throw Error(fmt::format("Cannot write {}: it is a folder.", path_.string()));
  }
  descriptor_ = ::open(temp_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode);
  if (descriptor_ < 0) fail("write", path_, errno);
  buffer_.reserve(kBufferSize);
}

AtomicFile::~AtomicFile()
{
  discard();
}

void AtomicFile::discard() noexcept
{
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
  ::unlink(temp_path_.c_str());
}

void AtomicFile::write_through(std::span<const std::byte> data)
{
  while (!data.empty()) {
    const ssize_t put = ::write(descriptor_, data.data(), data.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int code = errno;
      discard();
      fail("write", path_, code);
    }
    data = data.subspan(static_cast<std::size_t>(put));
  }
}

void AtomicFile::flush_buffer()
{
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write(std::span<const std::byte> data)
{
  if (descriptor_ < 0) throw Error(fmt::format("Cannot write {}: it is already closed.", path_.string()));
  size_ += data.size();
  if (buffer_.size() + data.size() > kBufferSize) flush_buffer();
  if (data.size() > kBufferSize) {
    write_through(data);
  } else {
    buffer_.insert(buffer_.end(), data.begin(), data.end());
  }
}

void AtomicFile::write(std::string_view text)
{
  write(std::as_bytes(std::span(text)));
}

void AtomicFile::commit()
{
  if (descriptor_ < 0) throw Error(fmt::format("Cannot write {}: it is already closed.", path_.string()));
  flush_buffer();
  // Data first, then the name: a name that points to unwritten blocks would be a damaged file after a power
  // cut.
  try {
    sync_file(descriptor_, path_);
  } catch (...) {
    discard();
    throw;
  }
  const bool closed = ::close(descriptor_) == 0;
  descriptor_ = -1;
  if (!closed || ::rename(temp_path_.c_str(), path_.c_str()) != 0) {
    const int code = errno;
    ::unlink(temp_path_.c_str());
    fail("write", path_, code);
  }
  sync_folder_of(path_);
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> data)
{
  AtomicFile file(path);
  file.write(data);
  file.commit();
}

void write_file(const std::filesystem::path& path, std::string_view text)
{
  write_file(path, std::as_bytes(std::span(text)));
}

std::vector<std::byte> read_file(const std::filesystem::path& path, std::size_t max_size)
{
  return read_whole<std::vector<std::byte>>(path, max_size);
}

std::string read_text_file(const std::filesystem::path& path, std::size_t max_size)
{
  return read_whole<std::string>(path, max_size);
}

}  // namespace thrum::base
