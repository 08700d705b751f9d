// SPDX-License-Identifier: MIT
#include "thrum/rigid/patch_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/index.h"

// Built for a processor with fused multiplication and addition, Eigen uses it, and the compiler has the wide
// registers anyway.
#if defined(__x86_64__) && !defined(__FMA__)
#define THRUM_AVX2_KERNELS 1
#include <immintrin.h>
#endif

namespace thrum::rigid {

namespace {

/// Half of the rounding of a row: a slide of less than this share of the reach of a patch does not change
/// it.
constexpr RowReal kLostShare = 3e-8F;

using Two = Eigen::Matrix<RowReal, 2, 1>;

/// Newton's method for the multiplier of the friction disc gains two digits and more in each step.
constexpr int kDiscNewtonSteps = 6;
constexpr RowReal kDiscAccuracy = 1e-4F;
constexpr RowReal kMultiplierRatio = 1e5F;
/// Friction below this is none [N s]: its square would underflow, and the multiplier become infinite.
constexpr RowReal kNegligibleFriction = 1e-15F;

namespace portable {

#include "thrum/rigid/patch_lanes_portable.inc"
// In this order.
#include "thrum/rigid/patch_kernels.inc"

}  // namespace portable

#ifdef THRUM_AVX2_KERNELS

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace avx2 {

#include "thrum/rigid/patch_lanes_avx2.inc"
// In this order.
#include "thrum/rigid/patch_kernels.inc"

}  // namespace avx2

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif

}  // namespace

const PatchKernels& portable_patch_kernels()
{
  return portable::kKernels;
}

const PatchKernels* avx2_patch_kernels()
{
#ifdef THRUM_AVX2_KERNELS
  if (__builtin_cpu_supports("avx2")) return &avx2::kKernels;
#endif
  return nullptr;
}

const PatchKernels& patch_kernels()
{
  static const PatchKernels* const kernels = avx2_patch_kernels();
  return kernels != nullptr ? *kernels : portable_patch_kernels();
}

}  // namespace thrum::rigid
