// SPDX-License-Identifier: MIT
#include "thrum/media/radiation_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "thrum/base/counted.h"

namespace thrum::media {

namespace {

constexpr std::size_t kNamed = 4;  ///< bodies that a warning names

}  // namespace

void RadiationReport::add(const sound::SynthesisBody& body)
{
  if (body.sounds) add(body.name, body.model.get());
  add(body.name, body.simulated.get());
}

void RadiationReport::add(const std::string& name, const sound::SoundModel* model)
{
  const sound::RadiationMap* map = model != nullptr ? model->radiation() : nullptr;
  if (map == nullptr || map->mode_count() == 0) return;
  const auto known = std::find(maps_.begin(), maps_.end(), map);
  if (known != maps_.end()) {
    ++entries_[static_cast<std::size_t>(known - maps_.begin())].bodies;
    return;
  }
  maps_.push_back(map);
  BodyRadiation& entry = entries_.emplace_back();
  entry.body = name;
  entry.modes = map->mode_count();
  entry.scalar_modes = static_cast<std::size_t>(
      std::count(map->kinds.begin(), map->kinds.end(), sound::ModeRadiationKind::scalar));
  entry.mean_residual = std::accumulate(map->residuals.begin(), map->residuals.end(), 0.0) /
                        static_cast<double>(map->mode_count());
  entry.max_residual = *std::max_element(map->residuals.begin(), map->residuals.end());
}

BodyRadiation RadiationReport::total() const
{
  BodyRadiation sum;
  sum.bodies = 0;
  for (const BodyRadiation& entry : entries_) {
    sum.bodies += entry.bodies;
    sum.modes += entry.modes;
    sum.scalar_modes += entry.scalar_modes;
    sum.mean_residual += entry.mean_residual * static_cast<double>(entry.modes);
    sum.max_residual = std::max(sum.max_residual, entry.max_residual);
  }
  sum.mean_residual /= static_cast<double>(std::max<std::size_t>(sum.modes, 1));
  return sum;
}

std::string RadiationReport::text() const
{
  if (entries_.empty()) return {};
  const BodyRadiation sum = total();
  return fmt::format(
      "radiation by direction: residual {:.2g} on average, at most {:.2g}; {} of {} modes taken as the same "
      "in "
      "all directions",
      sum.mean_residual, sum.max_residual, sum.scalar_modes, sum.modes);
}

std::string RadiationReport::warning() const
{
  std::vector<BodyRadiation> poor;
  for (const BodyRadiation& entry : entries_)
    if (entry.scalar_modes > 0) poor.push_back(entry);
  if (poor.empty()) return {};
  std::stable_sort(poor.begin(), poor.end(), [](const BodyRadiation& a, const BodyRadiation& b) {
    return a.scalar_modes > b.scalar_modes;
  });
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(poor.size(), kNamed); ++i) {
    named.push_back(fmt::format("{} of {} of \"{}\"{} (residual {:.2g} on average, at most {:.2g})",
                                poor[i].scalar_modes, poor[i].modes, poor[i].body,
                                poor[i].bodies > 1 ? fmt::format(" and {} like it", poor[i].bodies - 1) : "",
                                poor[i].mean_residual, poor[i].max_residual));
  }
  if (poor.size() > kNamed)
    named.push_back(
        fmt::format("some of {}", base::counted(poor.size() - kNamed, "other body", "other bodies")));
  const BodyRadiation sum = total();
  return fmt::format(
      "The radiation of {} of {} modes could not be fitted, so they are taken as the same in all directions: "
      "{}.",
      sum.scalar_modes, sum.modes, fmt::join(named, ", "));
}

}  // namespace thrum::media
