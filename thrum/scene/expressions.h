// SPDX-License-Identifier: MIT
// Expressions in scene files. A text that begins with "=" stands for its value:
//
//   "parameters": {"count": 5, "edge": 0.2},
//   "position": [0, 0, "=count * edge / 2"]
//
// Known are numbers, names of parameters, + - * / and parentheses. A name alone may also stand for a text, a
// boolean or a list.
#pragma once

#include <vector>

#include "thrum/scene/located_json.h"
#include "thrum/scene/value_codecs.h"

namespace thrum::scene {

/// Names and their values, as an object of a file.
using Parameters = std::vector<JsonMember>;

/// The value with every expression in it replaced. What is wrong is reported to `context`, with its place.
[[nodiscard]] JsonValue evaluate(const JsonValue& value, const Parameters& parameters, ReadContext& context);

}  // namespace thrum::scene
