// SPDX-License-Identifier: MIT
#include "thrum/sound/modal_force_bytes.h"

#include <algorithm>
#include <cmath>

namespace thrum::sound {

namespace {

using base::append_bytes;
using base::ByteReader;

constexpr double kChangeSteps = 32767;  ///< of a change against the largest of its mode
/// A change by less than this share of the force is its rounding to 32 bits.
constexpr double kFloatRounding = 1.0 / (1 << 24);
constexpr std::uint8_t kSameForces = 0;
constexpr std::uint8_t kNewForces = 1;

std::size_t changing_modes(const ModalForceSample& forces)
{
  return static_cast<std::size_t>(
      std::count_if(forces.scales.begin(), forces.scales.end(), [](float scale) { return scale != 0; }));
}

std::vector<ModalForceSample>::const_iterator find_body(const std::vector<ModalForceSample>& all,
                                                        std::uint32_t body)
{
  return std::find_if(all.begin(), all.end(), [&](const ModalForceSample& f) { return f.body == body; });
}

}  // namespace

void ModalForceSample::forces(std::size_t k, std::span<double> out) const
{
  std::copy(first.begin(), first.end(), out.begin());
  if (k == 0) return;
  std::size_t next = (k - 1) * changing_modes(*this);
  for (std::size_t m = 0; m < scales.size(); ++m) {
    if (scales[m] != 0) out[m] += static_cast<double>(scales[m]) * changes[next++];
  }
}

ModalForceSample pack_modal_forces(std::uint32_t body, std::span<const double> durations,
                                   std::span<const double> forces)
{
  ModalForceSample packed;
  packed.body = body;
  if (durations.empty()) return packed;
  const std::size_t modes = forces.size() / durations.size();
  for (std::size_t m = 0; m < modes; ++m) packed.first.push_back(static_cast<float>(forces[m]));
  double total = 0;
  for (const double duration : durations) total += duration;
  std::vector<std::size_t> kept;
  double begin = 0;
  for (std::size_t k = 1; k < durations.size(); ++k) {
    begin += durations[k - 1];
    const auto now = forces.subspan(k * modes, modes);
    if (std::equal(now.begin(), now.end(), forces.subspan((k - 1) * modes, modes).begin())) continue;
    kept.push_back(k);
    packed.begins.push_back(
        static_cast<std::uint32_t>(std::lround(begin / total * ModalForceSample::kTicks)));
  }
  if (kept.empty()) return packed;
  for (std::size_t m = 0; m < modes; ++m) {
    double largest = 0;
    for (const std::size_t k : kept)
      largest = std::max(largest, std::abs(forces[k * modes + m] - packed.first[m]));
    const bool changes = largest > kFloatRounding * std::abs(packed.first[m]);
    packed.scales.push_back(changes ? static_cast<float>(largest / kChangeSteps) : 0);
  }
  for (const std::size_t k : kept) {
    for (std::size_t m = 0; m < modes; ++m) {
      if (packed.scales[m] == 0) continue;
      const double steps = std::round((forces[k * modes + m] - packed.first[m]) / packed.scales[m]);
      packed.changes.push_back(static_cast<std::int16_t>(std::clamp(steps, -kChangeSteps, kChangeSteps)));
    }
  }
  return packed;
}

void append_modal_forces(std::string& out, const std::vector<ModalForceSample>& forces,
                         std::vector<ModalForceSample>& last)
{
  append_bytes(out, static_cast<std::uint32_t>(forces.size()));
  for (const ModalForceSample& now : forces) {
    append_bytes(out, now.body);
    const auto before = find_body(last, now.body);
    if (before != last.end() && *before == now) {
      append_bytes(out, kSameForces);
      continue;
    }
    append_bytes(out, kNewForces);
    append_bytes(out, static_cast<std::uint32_t>(now.first.size()));
    append_bytes(out, static_cast<std::uint32_t>(now.begins.size()));
    for (const float force : now.first) append_bytes(out, force);
    for (const std::uint32_t begin : now.begins) append_bytes(out, begin);
    for (const float scale : now.scales) append_bytes(out, scale);
    for (const std::int16_t change : now.changes) append_bytes(out, change);
  }
  last = forces;
}

std::vector<ModalForceSample> read_modal_forces(ByteReader& in, std::vector<ModalForceSample>& last)
{
  const auto count = in.read<std::uint32_t>("number of bodies with modes");
  in.require(count, sizeof(std::uint32_t) + 1, "bodies with modes");
  std::vector<ModalForceSample> all(count);
  for (ModalForceSample& now : all) {
    now.body = in.read<std::uint32_t>("number of a body");
    if (in.read<std::uint8_t>("kind of forces") == kSameForces) {
      const auto before = find_body(last, now.body);
      if (before == last.end())
        in.fail(fmt::format("body {}", now.body), "one with forces in the step before");
      now = *before;
      continue;
    }
    const auto modes = in.read<std::uint32_t>("number of modes");
    const auto begins = in.read<std::uint32_t>("number of substeps");
    in.require(modes, sizeof(float), "forces");
    now.first.resize(modes);
    for (float& force : now.first) force = in.read<float>("force");
    in.require(begins, sizeof(std::uint32_t), "substeps");
    now.begins.resize(begins);
    for (std::uint32_t& begin : now.begins) begin = in.read<std::uint32_t>("begin of a substep");
    if (begins == 0) continue;
    in.require(modes, sizeof(float), "scales");
    now.scales.resize(modes);
    for (float& scale : now.scales) scale = in.read<float>("scale");
    const std::size_t changing = changing_modes(now);
    in.require(changing * begins, sizeof(std::int16_t), "changes of forces");
    now.changes.resize(changing * begins);
    for (std::int16_t& change : now.changes) change = in.read<std::int16_t>("change of a force");
  }
  last = all;
  return all;
}

}  // namespace thrum::sound
