// SPDX-License-Identifier: MIT
// Keeps a second process out of a folder that one process writes into.
//
//   const FolderLock lock("runs/dinner");   // throws Error while another process has the folder
//
// The system releases the lock when the process ends, also when it is killed, so a lock is never left behind:
// a file ".lock" that a killed process leaves means nothing.
#pragma once

#include <filesystem>

namespace thrum::base {

class FolderLock {
 public:
  /// Throws Error, with the id of the process that holds the folder and what to do, when there is one, and
  /// with the reason when the folder cannot be written. A file system that has no locks is used without one.
  explicit FolderLock(const std::filesystem::path& folder);
  /// Removes the file ".lock".
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace thrum::base
