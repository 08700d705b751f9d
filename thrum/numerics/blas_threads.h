// SPDX-License-Identifier: MIT
// Limits the BLAS to one thread, so that results do not depend on how many cores are idle.
#pragma once

namespace thrum::numerics {

/// While one of these exists, OpenBLAS has one thread and OpenMP regions run on the calling thread; the last
/// one to be destroyed restores the previous values. A BLAS without these functions is left unchanged.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
};

}  // namespace thrum::numerics
