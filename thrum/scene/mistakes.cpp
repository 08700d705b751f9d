// SPDX-License-Identifier: MIT
#include "thrum/scene/mistakes.h"

#include <fmt/format.h>

#include <algorithm>

namespace thrum::scene {

namespace {

constexpr std::size_t kMaxReported = 50;    ///< mistakes written out in one message
constexpr std::size_t kMaxNameLength = 64;  ///< longer words are not compared [letters]
constexpr std::size_t kLettersPerTypo = 3;  ///< a word is meant when at most one letter in three is wrong

std::string lower(std::string_view text)
{
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string message(const std::vector<Mistake>& mistakes)
{
  std::string text;
  for (std::size_t i = 0; i < std::min(mistakes.size(), kMaxReported); ++i) {
    if (i > 0) text += '\n';
    text += to_string(mistakes[i]);
  }
  if (mistakes.size() > kMaxReported) text += fmt::format("\nand {} more.", mistakes.size() - kMaxReported);
  return text;
}

}  // namespace

std::string to_string(const Mistake& mistake)
{
  std::string text =
      base::to_string(SourceLocation{mistake.place.file, mistake.place.line, mistake.place.column});
  std::string where = mistake.place.path;
  if (!mistake.subject.empty()) {
    // "bodies[3].mass" becomes: body "mug": mass
    const std::size_t close = where.find(']');
    const std::string rest = close == std::string::npos ? "" : where.substr(close + 1);
    where = mistake.subject + (rest.empty() ? "" : ": " + rest.substr(rest.front() == '.' ? 1 : 0));
  }
  text += fmt::format(": {} {}", where.empty() ? "the file" : where, mistake.message);
  if (!mistake.nearest.empty()) text += fmt::format(" Did you mean \"{}\"?", mistake.nearest);
  return text;
}

SceneError::SceneError(std::vector<Mistake> mistakes)
    : Error(message(mistakes)), mistakes_(std::move(mistakes))
{
}

// The distance of Damerau and Levenshtein in which no letter is touched twice: three rows of the usual table.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({change, last[j] + 1, now[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

std::string nearest_name(std::string_view word, std::span<const std::string> known)
{
  if (word.size() > kMaxNameLength) return {};
  const std::string wanted = lower(word);
  std::size_t best = wanted.size() / kLettersPerTypo + 2;
  std::string result;
  for (const std::string& name : known) {
    if (name.size() > kMaxNameLength) continue;
    const std::size_t distance = edit_distance(wanted, lower(name));
    if (distance < best && distance < std::max(name.size(), wanted.size())) {
      best = distance;
      result = name;
    }
  }
  return result;
}

}  // namespace thrum::scene
