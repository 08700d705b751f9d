// SPDX-License-Identifier: MIT
// Mistakes in a scene file, collected so that all of them are reported at once.
//
//   scenes/tower.json:7:5: body "mug": mass is -0.5; it must be a number above 0 [kg]. Leave it out to use
//   the density.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/base/error.h"

namespace thrum::scene {

/// Where in which file a value stands, and under which keys.
struct ValueLocation {
  std::filesystem::path file;
  std::size_t line = 0;    ///< counted from 1
  std::size_t column = 0;  ///< counted from 1
  std::string path;        ///< "bodies[0].shape.radius"
};

struct Mistake {
  ValueLocation place;
  std::string message;       ///< what is wrong and what to do, after the path: "is -1; it must be ..."
  std::string nearest = {};  ///< the known name that is most like what was found, or empty
  bool unknown_key = false;  ///< a key that the object at its place does not have
  std::string subject = {};  ///< the named thing that holds the value: body "mug"
};

/// One line: "file:line:column: path message", in which the subject replaces the first step of the path.
[[nodiscard]] std::string to_string(const Mistake& mistake);

/// A scene file is not usable. what() has one line for each mistake.
class SceneError : public Error {
 public:
  explicit SceneError(std::vector<Mistake> mistakes);
  [[nodiscard]] const std::vector<Mistake>& mistakes() const { return mistakes_; }

 private:
  std::vector<Mistake> mistakes_;
};

/// Number of letters to change, insert, drop or swap with their neighbour to turn one word into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word nearest to `word`, upper and lower case alike; empty when none is near enough to be meant.
[[nodiscard]] std::string nearest_name(std::string_view word, std::span<const std::string> known);

}  // namespace thrum::scene
