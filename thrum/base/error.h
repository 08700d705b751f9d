// SPDX-License-Identifier: MIT
// Three kinds of failure, each reported in its own way:
//
//   our mistake        THRUM_ASSERT stops a debug build; a release build does not check.
//   caller's mistake   Error and InputError are thrown at the public interface and state what was
//                      found and what was expected, so that the user can correct it.
//   solver failure     returned as a value (status, residual, iterations), not thrown.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace thrum::base {

/// The caller requested something that cannot be done. what() is one or more full sentences.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where in an input file something was found. A zero line or column means "not known"; for binary files
/// `offset` is set.
struct SourceLocation {
  std::filesystem::path file;
  std::size_t line = 0;        ///< counted from 1
  std::size_t column = 0;      ///< counted from 1
  std::ptrdiff_t offset = -1;  ///< byte from the start of a binary file, or -1
};

/// A file or an argument is not what it should be. what() reads
/// "plate.obj:12: found face index 99, expected 1 to 8".
class InputError : public Error {
 public:
  InputError(SourceLocation location, std::string found, std::string expected);

  [[nodiscard]] const SourceLocation& location() const { return location_; }
  [[nodiscard]] const std::string& found() const { return found_; }
  [[nodiscard]] const std::string& expected() const { return expected_; }

 private:
  SourceLocation location_;
  std::string found_;
  std::string expected_;
};

/// "file:line:column" as far as they are known, or "file, byte 1234" for a binary file.
[[nodiscard]] std::string to_string(const SourceLocation& location);

/// Reports a failed assertion on standard error and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace thrum::base

namespace thrum {
using base::Error;
using base::InputError;
using base::SourceLocation;
}  // namespace thrum

#ifdef NDEBUG
#define THRUM_ASSERT(condition) static_cast<void>(0)
#else
#define THRUM_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::thrum::base::assertion_failed(#condition, __FILE__, __LINE__))
#endif
