// SPDX-License-Identifier: MIT
// Reads the text of a mesh file word by word and counts lines, so that errors name the line.
//
// Numbers: a decimal with at most 2^53 as its digits and a power of ten of at most 22 is one exact
// multiplication or division of doubles (Clinger 1990), which covers nearly every number in a mesh file and
// takes a third of the time of the general conversion; other numbers are converted by the standard library.
// Both round correctly, so the result is the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::mesh_io {

class TextScanner {
 public:
  /// Keeps a view of `text` and a reference to `file`; both must outlive the scanner.
  TextScanner(std::string_view text, const std::filesystem::path& file)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()), file_(file)
  {
  }

  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] std::size_t remaining() const { return at(end_ - at_); }
  [[nodiscard]] std::size_t position() const { return at(at_ - begin_); }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// The character under the cursor; only when not at_end().
  [[nodiscard]] char peek() const { return *at_; }

  /// Skips spaces, tabs and carriage returns; stays on the line.
  void skip_blanks()
  {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  /// Skips blanks, line ends and comments that begin with `comment` (0: there are none).
  void skip_space(char comment = 0);
  /// True at the end of the line or of the file, after blanks.
  [[nodiscard]] bool at_line_end()
  {
    skip_blanks();
    return at_ == end_ || *at_ == '\n';
  }
  void next_line()
  {
    while (at_ != end_ && *at_ != '\n') ++at_;
    if (at_ != end_) {
      ++at_;
      ++line_;
    }
  }
  /// The rest of the line without surrounding blanks; the cursor moves to the next line.
  std::string_view rest_of_line();
  /// The next word on this line, or an empty view at its end.
  std::string_view word();
  /// The next word, on this line or a later one.
  std::string_view next_word()
  {
    skip_space();
    return word();
  }
  bool take(char c)
  {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void advance(std::size_t bytes) { at_ += bytes; }

  /// A finite number on this line; throws InputError otherwise. `what` names it in the message.
  double number(const char* what);
  /// An integer on this line; throws InputError when there is none or it does not fit.
  std::int64_t integer(const char* what);
  /// As above after skipping line ends.
  double next_number(const char* what)
  {
    skip_space();
    return number(what);
  }
  std::int64_t next_integer(const char* what)
  {
    skip_space();
    return integer(what);
  }
  /// A count of items of at least `min_bytes` each that fit the rest of the text; throws InputError
  /// otherwise.
  std::size_t next_count(const char* what, std::size_t min_bytes);

  [[noreturn]] void fail(std::string found, std::string expected) const;
  /// Fails with the word under the cursor (or the end of line or file) as what was found.
  [[noreturn]] void fail_here(std::string expected) const;

 private:
  const char* begin_;
  const char* at_;
  const char* end_;
  const std::filesystem::path& file_;
  std::size_t line_ = 1;
};

/// Reads the longest decimal number at the start of [at, end): returns where it ends, or `at` when there is
/// none or it is too big for a double. Rejects "nan" and "inf", which are not valid in a mesh.
const char* parse_decimal(const char* at, const char* end, double& value);

}  // namespace thrum::mesh_io
