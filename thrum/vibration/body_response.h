// SPDX-License-Identifier: MIT
// The response of one body by its modes, by attenuated waves, or by a blend of the two that follows its size.
#pragma once

#include <cstdint>
#include <memory>

#include "thrum/model/modal_model.h"
#include "thrum/vibration/response_settings.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

class AttenuatedResponse;  // thrum/vibration/attenuation.h
class ModalResponse;       // thrum/vibration/modal_response.h

enum class ResponseMethod : std::uint8_t {
  none,        ///< it does not answer impacts
  modal,       ///< by its modes
  attenuated,  ///< by waves that grow weaker with distance
  blended      ///< by both, in proportion to its size
};

struct BodyResponseDesc {
  ResponseMethod method = ResponseMethod::modal;
  ResponseSettings settings;
  AttenuationSettings attenuation;
  /// Blend: bodies up to the first size ring, from the second on they carry waves [m].
  double max_modal_size = 3;
  double min_wave_size = 30;
};

class BodyResponse {
 public:
  BodyResponse(std::shared_ptr<const model::ModalModel> model, const BodyResponseDesc& desc);
  ~BodyResponse();
  BodyResponse(BodyResponse&&) noexcept;
  BodyResponse& operator=(BodyResponse&&) noexcept;

  [[nodiscard]] ResponseResult respond(const ResponseInput& input, ModeState& state);
  [[nodiscard]] ModeState at_rest() const { return ModeState::at_rest(model_->frequencies.size()); }
  /// Share of the waves, 0 to 1, by the logarithm of the body's size between the two of the description.
  [[nodiscard]] double wave_fraction() const { return wave_fraction_; }
  [[nodiscard]] const model::ModalModel& model() const { return *model_; }
  [[nodiscard]] const BodyResponseDesc& desc() const { return desc_; }

 private:
  std::shared_ptr<const model::ModalModel> model_;
  BodyResponseDesc desc_;
  std::unique_ptr<ModalResponse> modal_;
  std::unique_ptr<AttenuatedResponse> waves_;
  double wave_fraction_ = 0;
};

}  // namespace thrum::vibration
