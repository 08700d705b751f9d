// SPDX-License-Identifier: MIT
#include "thrum/scene/unused_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace thrum::scene {

namespace {

using rigid::SimultaneousImpacts;
using sim::StepperKind;
using sim::TimeOfImpactMethod;
using vibration::KickRule;
using vibration::ResponseMethod;

struct StepperName {
  StepperKind kind;
  const char* name;
};
constexpr std::array<StepperName, 4> kSteppers = {{{StepperKind::constraint, "constraint"},
                                                   {StepperKind::impulse, "impulse"},
                                                   {StepperKind::penalty, "penalty"},
                                                   {StepperKind::flexible, "flexible"}}};

const char* name_of(StepperKind kind)
{
  return std::find_if(kSteppers.begin(), kSteppers.end(), [&](const auto& s) { return s.kind == kind; })
      ->name;
}

bool is_at_or_below(std::string_view path, std::string_view top)
{
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '.');
}

class Finder {
 public:
  explicit Finder(const SceneDesc& scene) : scene_(scene) {}

  std::vector<std::string> run()
  {
    check_steppers();
    check_stepper_keys();
    check_constraint();
    check_impulse();
    check_flexible();
    check_sleep();
    check_response();
    check_sound();
    check_outputs();
    for (const BodyEntry& body : scene_.bodies) {
      if (body.rings) check_rings(body);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] static bool by_command_line(const ValueLocation& place) { return place.line == 0; }

  [[nodiscard]] const ValueLocation* find(std::string_view path) const
  {
    const auto found = std::find_if(scene_.given_settings.begin(), scene_.given_settings.end(),
                                    [&](const ValueLocation& given) { return given.path == path; });
    return found == scene_.given_settings.end() ? nullptr : &*found;
  }

  // `path` and what is below it has no effect. What the file gives is not reported where it `is_explained`.
  void report_unless(bool is_explained, const std::string& path, const std::string& why)
  {
    for (const ValueLocation& given : scene_.given_settings) {
      if (!is_at_or_below(given.path, path)) continue;
      if (by_command_line(given)) {
        if (!is_object(given)) found_.push_back(fmt::format("--set {} is not used: {}", given.path, why));
      } else if (!is_explained) {
        is_explained = true;  // once for an object
        found_.push_back(fmt::format("{}: {} is not used: {}",
                                     base::to_string(SourceLocation{given.file, given.line, given.column}),
                                     given.path, why));
      }
    }
  }
  // Because of the value of the key `cause`: one from the command line explains why.
  void report(const std::string& path, std::string_view cause, const std::string& why)
  {
    const ValueLocation* choice = find(cause);
    report_unless(choice != nullptr && by_command_line(*choice), path, why);
  }
  [[nodiscard]] bool is_object(const ValueLocation& place) const
  {
    return std::any_of(scene_.given_settings.begin(), scene_.given_settings.end(),
                       [&](const ValueLocation& other) {
                         return other.path != place.path && is_at_or_below(other.path, place.path);
                       });
  }
  void report_each(const std::string& object, std::initializer_list<const char*> keys, std::string_view cause,
                   const std::string& why)
  {
    for (const char* key : keys) report(object + "." + key, cause, why);
  }

  [[nodiscard]] StepperKind stepper() const { return scene_.world.stepper; }

  // Settings of the chosen one beside them show that the scene is made for both.
  void check_steppers()
  {
    const ValueLocation* kind = find("stepper.kind");
    const ValueLocation* own = find(std::string("stepper.") + name_of(stepper()));
    const bool is_explained =
        (kind != nullptr && by_command_line(*kind)) || (own != nullptr && !by_command_line(*own));
    for (const StepperName& other : kSteppers) {
      if (other.kind == stepper()) continue;
      report_unless(is_explained, std::string("stepper.") + other.name,
                    fmt::format("stepper.kind is {}. Choose \"kind\": \"{}\", or remove it.",
                                name_of(stepper()), other.name));
    }
  }

  void check_stepper_keys()
  {
    const sim::WorldDesc& world = scene_.world;
    if (stepper() != StepperKind::constraint && stepper() != StepperKind::impulse)
      report("stepper.impacts", "stepper.kind",
             fmt::format("only the constraint and the impulse stepper have it, and stepper.kind is {}.",
                         name_of(stepper())));
    else if (world.impacts.simultaneous == SimultaneousImpacts::by_stepper)
      report("stepper.impacts.max_points", "stepper.impacts.simultaneous",
             "stepper.impacts.simultaneous is by_stepper.");
    if (world.time_of_impact == TimeOfImpactMethod::none)
      report("stepper.max_impact_slices", "stepper.time_of_impact", "stepper.time_of_impact is none.");
    if (world.time_of_impact == TimeOfImpactMethod::none ||
        world.time_of_impact == TimeOfImpactMethod::continuous)
      report("stepper.impact_tolerance", "stepper.time_of_impact",
             "stepper.time_of_impact is none of bisection, conservative and timewarp.");
    if (stepper() == StepperKind::penalty && world.penalty.stiffness)
      report("stepper.penalty.contact_time", "stepper.penalty.stiffness",
             "stepper.penalty.stiffness is given.");
    if (stepper() == StepperKind::penalty && world.penalty.damping_ratio)
      report("stepper.penalty.max_damping_ratio", "stepper.penalty.damping_ratio",
             "stepper.penalty.damping_ratio is given.");
  }

  void check_constraint()
  {
    if (stepper() != StepperKind::constraint) return;
    const rigid::ConstraintSettings& settings = scene_.world.constraint;
    const bool is_direct = settings.solver == rigid::RowSolver::direct;
    if (!is_direct)
      report("stepper.constraint.max_direct_rows", "stepper.constraint.solver",
             "stepper.constraint.solver is gauss_seidel.");
    if (is_direct)
      report("stepper.constraint.shock_iterations", "stepper.constraint.solver",
             "stepper.constraint.solver is direct.");
    else if (settings.order == rigid::SweepOrder::unsorted)
      report("stepper.constraint.shock_iterations", "stepper.constraint.order",
             "stepper.constraint.order is unsorted.");
  }

  void check_impulse()
  {
    if (stepper() != StepperKind::impulse) return;
    const rigid::ImpulseSettings& settings = scene_.world.impulse;
    if (!settings.contact_graph)
      report_each("stepper.impulse",
                  {"levels", "shock_propagation", "shock_sweeps", "shock_level_iterations",
                   "shock_pair_iterations", "hold_resting_only"},
                  "stepper.impulse.contact_graph", "stepper.impulse.contact_graph is false.");
    else if (!settings.shock_propagation)
      report_each("stepper.impulse",
                  {"shock_sweeps", "shock_level_iterations", "shock_pair_iterations", "hold_resting_only"},
                  "stepper.impulse.shock_propagation", "stepper.impulse.shock_propagation is false.");
    if (!settings.push_out)
      report_each("stepper.impulse", {"push_out_share", "push_out_speed"}, "stepper.impulse.push_out",
                  "stepper.impulse.push_out is false.");
  }

  void check_flexible()
  {
    if (stepper() != StepperKind::flexible) return;
    const flexible::FlexibleSettings& settings = scene_.world.flexible;
    if (settings.friction != flexible::FrictionSolver::staggered)
      report("stepper.flexible.friction_directions", "stepper.flexible.friction",
             "stepper.flexible.friction is coupled.");
    if (!settings.adapt_modes)
      report_each("stepper.flexible", {"excitation", "quiet_energy"}, "stepper.flexible.adapt_modes",
                  "stepper.flexible.adapt_modes is false.");
  }

  void check_sleep()
  {
    if (stepper() == StepperKind::flexible && scene_.world.sleep.enabled)
      return report("sleep", "stepper.kind", "bodies do not sleep with the flexible stepper.");
    if (!scene_.world.sleep.enabled)
      report_each("sleep", {"speed", "angular_speed", "time"}, "sleep.enabled", "sleep.enabled is false.");
  }

  [[nodiscard]] ResponseMethod method_of(const RingsEntry& rings) const
  {
    return rings.method.value_or(scene_.response.body.method);
  }
  template <class Test>
  [[nodiscard]] bool any_rings(Test&& test) const
  {
    return std::any_of(scene_.bodies.begin(), scene_.bodies.end(), [&](const BodyEntry& body) {
      return body.rings && method_of(*body.rings) != ResponseMethod::none && test(method_of(*body.rings));
    });
  }

  void check_response()
  {
    const vibration::ResponseSettings& settings = scene_.response.body.settings;
    if (stepper() == StepperKind::flexible)
      return report("response", "stepper.kind",
                    "with the flexible stepper vibration acts in the contacts themselves.");
    if (scene_.response.body.method == ResponseMethod::none) {
      for (const ValueLocation& given : scene_.given_settings) {
        if (is_at_or_below(given.path, "response") && given.path != "response" &&
            given.path != "response.method")
          report(given.path, "response.method", "response.method is none.");
      }
      return;
    }
    if (!any_rings([](ResponseMethod) { return true; }))
      return report("response", "response.method", "no body of the scene rings. Give one \"rings\": {}.");
    const char* const preset = find("response.preset") != nullptr ? "response.preset" : "response.rule";
    const bool has_micro =
        settings.rule == KickRule::automatic || settings.rule == KickRule::micro_collisions;
    if (!has_micro)
      report_each(
          "response",
          {"micro_step", "micro_sweeps", "micro_steps_per_impact", "micro_tail_modes", "micro_friction"},
          preset, "response.rule is neither micro_collisions nor automatic.");
    if (settings.rule != KickRule::automatic)
      report("response.time_budget", preset, "response.rule is not automatic.");
    const bool has_waves = any_rings([](ResponseMethod method) { return method != ResponseMethod::modal; });
    if (!has_waves && (settings.rule == KickRule::exchange || settings.rule == KickRule::micro_collisions))
      report("response.form", preset, "response.rule is neither peak_displacement nor peak_velocity.");
    if (!any_rings([](ResponseMethod method) { return method == ResponseMethod::blended; }))
      report_each("response", {"max_modal_size", "min_wave_size"}, "response.method",
                  "no body has the method blended.");
  }

  void check_sound()
  {
    if (!scene_.sound) {
      // "sound": false is a choice; without the key it was forgotten.
      if (find("sound") == nullptr)
        report("listener", "sound",
               "the scene has no sound. Add \"sound\": true, or false to say that it is silent.");
      return;
    }
    using sound::ListenerKind;
    const auto report_other = [&](const char* key, ListenerKind kind, const char* name) {
      if (scene_.listener.kind != kind)
        report(std::string("listener.") + key, "listener.kind",
               fmt::format("listener.kind is not {}.", name));
    };
    report_other("spacing", ListenerKind::stereo, "stereo");
    report_other("hrtf", ListenerKind::binaural, "binaural");
    report_other("microphones", ListenerKind::microphones, "microphones");
    if (!scene_.listener.path.empty())
      report("listener.position", "listener.path", "listener.path says where it is.");
    if (scene_.sound->normalise) report("sound.full_scale", "sound.normalise", "sound.normalise chooses it.");
    if (!scene_.sound->synthesis.roughness) return;
    if (*scene_.sound->synthesis.roughness == 0)
      report_each("sound", {"rolling", "seed"}, "sound.roughness", "sound.roughness is 0.");
    for (const MaterialEntry& entry : scene_.materials)
      if (entry.roughness || entry.roughness_exponent) report_roughness(entry.place, entry.place.path);
    for (std::size_t i = 0; i < scene_.material_pairs.size(); ++i) {
      const MaterialPair& pair = scene_.material_pairs[i];
      if (pair.roughness || pair.roughness_exponent)
        report_roughness(pair.a.place, fmt::format("material_pairs[{}]", i));
    }
  }
  void report_roughness(const ValueLocation& place, const std::string& object)
  {
    found_.push_back(fmt::format(
        "{}: {}.roughness is not used: sound.roughness is that of all materials. Remove that to hear "
        "those of the materials.",
        base::to_string(SourceLocation{place.file, place.line, place.column}), object));
  }

  void check_outputs()
  {
    if (!scene_.outputs.poster)
      report_each("outputs", {"poster_time", "poster_width", "poster_height"}, "outputs.poster",
                  "outputs.poster is false.");
  }

  // Settings of a body, by the file that holds it.
  void check_rings(const BodyEntry& body)
  {
    const RingsEntry& rings = *body.rings;
    if (!rings.file.path.empty())
      report_of(body, {"modes", "clamp", "supports", "spacing", "thickness", "fill", "quality", "grid"},
                "the modes are read from rings.file.");
    else if (rings.grid)
      report_of(body, {"fill", "quality"}, "rings.grid is given.");
    else if (rings.spacing > 0)
      report_of(body, {"quality"}, "rings.spacing is given.");
    if (stepper() == StepperKind::flexible || method_of(rings) == ResponseMethod::none) return;
    if (method_of(rings) == ResponseMethod::modal)
      return report_of(body, {"attenuation"}, "its method is modal.");
    const vibration::AttenuationSettings& waves = rings.attenuation.settings;
    const bool full = waves.full;
    report_of(body, full ? Keys{"attenuation.C"} : Keys{"attenuation.alpha", "attenuation.r0"},
              full ? "rings.attenuation.full is true." : "rings.attenuation.full is false.");
    if (rings.attenuation.fit)
      report_of(
          body,
          full ? Keys{"attenuation.alpha", "attenuation.beta", "attenuation.r0", "attenuation.min_distance"}
               : Keys{"attenuation.C", "attenuation.beta", "attenuation.min_distance"},
          "rings.attenuation.fit finds it.");
    if (!waves.arrival_delay)
      report_of(body, {"attenuation.wave_speed"}, "rings.attenuation.arrival_delay is false.");
  }

  using Keys = std::vector<const char*>;
  void report_of(const BodyEntry& body, const Keys& keys, const std::string& why)
  {
    for (const char* key : keys) {
      const std::string path = fmt::format("{}.rings.{}", body.place.path, key);
      const auto given = std::find_if(
          scene_.given_settings.begin(), scene_.given_settings.end(),
          [&](const ValueLocation& place) { return place.path == path && place.file == body.place.file; });
      if (given == scene_.given_settings.end()) continue;
      const std::string where =
          by_command_line(*given)
              ? std::string("--set")
              : base::to_string(SourceLocation{given->file, given->line, given->column}) + ":";
      found_.push_back(fmt::format("{} body \"{}\": rings.{} is not used: {}", where, body.name, key, why));
    }
  }

  const SceneDesc& scene_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> unused_settings(const SceneDesc& scene)
{
  return Finder(scene).run();
}

}  // namespace thrum::scene
