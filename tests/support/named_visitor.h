// SPDX-License-Identifier: MIT
// A visitor of the numbers of a state (model/visit_state.h) that knows the name of each, such as
// "bodies[2].velocity[0]".
#pragma once

#include <string>
#include <vector>

#include "thrum/model/visit_state.h"

namespace thrum::support {

struct NamedVisitor : model::NumberVisitor {
  std::vector<std::string> path;  ///< names of what is being visited, from the outside in

  void enter(const char* field) { path.push_back(path.empty() ? field : path.back() + "." + field); }
  void enter(std::size_t index) { path.push_back(path.back() + "[" + std::to_string(index) + "]"); }
  void leave() { path.pop_back(); }
};

}  // namespace thrum::support
