// SPDX-License-Identifier: MIT
// Holds the BLAS to one thread, so that results do not depend on how many cores are idle.
#pragma once

namespace thrum::numerics {

/// While one of these lives, OpenBLAS has one thread and OpenMP regions run on the caller; the last one to go
/// puts back what was found. A BLAS without these functions is used as it is.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
};

}  // namespace thrum::numerics
