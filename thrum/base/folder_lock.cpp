// SPDX-License-Identifier: MIT
#include "thrum/base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "thrum/base/error.h"

namespace thrum::base {

namespace {

constexpr mode_t kLockFileMode = 0666;  ///< before the user's mask

// What the holder wrote into the file: "process 123", or "another process" when it has not written it yet.
std::string holder_of(int descriptor)
{
  std::array<char, 32> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  long process = 0;
  const char* const end = text.data() + (size > 0 ? size : 0);
  if (std::from_chars(text.data(), end, process).ec != std::errc() || process <= 0) return "another process";
  return fmt::format("process {}", process);
}

// Whether the name still belongs to the open file: a holder that ends removes the name.
bool has_name(int descriptor, const std::filesystem::path& file)
{
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) : file_(folder / ".lock")
{
  for (;;) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kLockFileMode);
    if (descriptor_ < 0)
      throw Error(fmt::format("The folder {} cannot be written: {}.", folder.string(), std::strerror(errno)));
    int failure = 0;
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      failure = errno;
      break;
    }
    if (failure == EWOULDBLOCK) {
      const std::string holder = holder_of(descriptor_);
      ::close(descriptor_);
      throw Error(fmt::format(
          "The folder {} is in use: {} is writing into it. Wait until it is done, end it, or give another "
          "folder.",
          folder.string(), holder));
    }
    if (failure != 0 || has_name(descriptor_, file_)) break;
    // The holder before has just ended and removed the name of this file.
    ::close(descriptor_);
  }
  const std::string text = fmt::format("{}\n", ::getpid());
  // The number is for the message only; a full disk is found out when the run writes its files.
  if (::ftruncate(descriptor_, 0) == 0)
    static_cast<void>(::pwrite(descriptor_, text.data(), text.size(), 0) == 0);
}

FolderLock::~FolderLock()
{
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

}  // namespace thrum::base
