// SPDX-License-Identifier: MIT
// An upper limit for the threads of parallel loops, for as long as an object lives.
#pragma once

namespace thrum::base {

/// Loops that this thread starts while the object lives use at most `count` threads; 0 sets no limit.
/// Limits nest: the innermost one holds. Results of loops do not depend on it.
class ThreadLimit {
 public:
  explicit ThreadLimit(int count);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int outer_;
};

}  // namespace thrum::base
