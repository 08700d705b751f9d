// SPDX-License-Identifier: MIT
// How well the directional radiation of a run's bodies was fitted, as its commands print it.
#pragma once

#include <string>
#include <vector>

#include "thrum/sound/synthesis.h"

namespace thrum::media {

/// Of one radiation map, which bodies of the same mesh and material share.
struct BodyRadiation {
  std::string body;        ///< the first that has it
  std::size_t bodies = 1;  ///< that have it
  std::size_t modes = 0;
  std::size_t scalar_modes = 0;  ///< that could not be fitted and are the same in all directions
  double mean_residual = 0;      ///< over the modes: share of the normal velocity that is missed, at most 1
  double max_residual = 0;
};

class RadiationReport {
 public:
  void add(const sound::SynthesisBody& body);
  [[nodiscard]] const std::vector<BodyRadiation>& entries() const { return entries_; }
  /// One sentence; empty for bodies without directional radiation.
  [[nodiscard]] std::string text() const;
  /// Of the modes that could not be fitted; empty when there are none.
  [[nodiscard]] std::string warning() const;

 private:
  void add(const std::string& name, const sound::SoundModel* model);
  [[nodiscard]] BodyRadiation total() const;

  std::vector<const sound::RadiationMap*> maps_;
  std::vector<BodyRadiation> entries_;
};

}  // namespace thrum::media
