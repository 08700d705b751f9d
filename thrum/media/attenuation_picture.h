// SPDX-License-Identifier: MIT
// A plot of the attenuation of an impact with distance, with fitted curves [Coevoet20, Figure 10].
#pragma once

#include <span>
#include <string>

#include "thrum/media/image.h"
#include "thrum/media/plot.h"
#include "thrum/vibration/attenuation_fit.h"

namespace thrum::media {

struct NamedCurve {
  std::string name;
  vibration::AttenuationSettings settings;
};

struct AttenuationPictureDesc {
  std::string title = "Attenuation";
  AxisScale scale = AxisScale::logarithmic;  ///< of both axes
  int width = 960;                           ///< [pixel]
  int height = 640;                          ///< [pixel]
};

[[nodiscard]] Image attenuation_picture(std::span<const vibration::AttenuationSample> samples,
                                        std::span<const NamedCurve> curves,
                                        const AttenuationPictureDesc& desc = {});

/// "exp(-0.048 (r - 0.033)) (r / 0.033)^-0.8" or "0.4 r^-1".
[[nodiscard]] std::string curve_text(const vibration::AttenuationSettings& settings);

}  // namespace thrum::media
