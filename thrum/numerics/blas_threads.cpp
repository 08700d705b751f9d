// SPDX-License-Identifier: MIT
#include "thrum/numerics/blas_threads.h"

#ifdef THRUM_HAS_CHOLMOD
#include <dlfcn.h>

#include <mutex>
#endif

namespace thrum::numerics {

#ifdef THRUM_HAS_CHOLMOD

namespace {

// Getter and setter of a library that may or may not be loaded, and the value from before we changed it.
struct ThreadSetting {
  ThreadSetting(const char* get_name, const char* set_name)
      : get(reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, get_name))),
        set(reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, set_name)))
  {
  }
  void save_and_set(int value)
  {
    if (get == nullptr || set == nullptr) return;
    found = get();
    set(value);
  }
  void release() const
  {
    if (get != nullptr && set != nullptr) set(found);
  }

  int (*get)();
  void (*set)(int);
  int found = 1;
};

struct Settings {
  std::mutex mutex;
  int guard_count = 0;
  ThreadSetting blas{"openblas_get_num_threads", "openblas_set_num_threads"};
  ThreadSetting omp{"omp_get_max_active_levels", "omp_set_max_active_levels"};
};

Settings& settings()
{
  static Settings all;
  return all;
}

}  // namespace

OneBlasThread::OneBlasThread()
{
  Settings& all = settings();
  const std::lock_guard lock(all.mutex);
  if (all.guard_count++ > 0) return;
  all.blas.save_and_set(1);
  all.omp.save_and_set(0);
}

OneBlasThread::~OneBlasThread()
{
  Settings& all = settings();
  const std::lock_guard lock(all.mutex);
  if (--all.guard_count > 0) return;
  all.blas.release();
  all.omp.release();
}

#else

OneBlasThread::OneBlasThread() = default;
OneBlasThread::~OneBlasThread() = default;

#endif

}  // namespace thrum::numerics
