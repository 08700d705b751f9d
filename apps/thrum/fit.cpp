// SPDX-License-Identifier: MIT
// thrum fit MODES.npz or SCENE: how an impact decays with distance, from the body's own modes.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/media/attenuation_picture.h"
#include "thrum/scene/build_world.h"

namespace thrum::app {

namespace {

struct FitOptions {
  std::string input;
  std::string body;
  std::vector<std::string> settings;
  std::string picture;
  std::string csv;
  std::string facing;
  double window = 0;  // [s]
  int impacts = vibration::AttenuationSampleDesc{}.impact_count;
  int receivers = vibration::AttenuationSampleDesc{}.probe_count;
  std::uint64_t seed = vibration::AttenuationSampleDesc{}.seed;
  bool displacement = false;
  bool euclidean = false;
  bool average = false;
  bool linear = false;
  bool json = false;
};

/// The body to measure, and the settings of the impacts.
struct FitInput {
  std::string name;
  model::ModalModel model;
  vibration::AttenuationSampleDesc sampling;
};

// The ringing body of a scene, measured with the settings of its response.
FitInput from_scene(const FitOptions& options)
{
  scene::SceneDesc desc = scene::read_scene(options.input, {.settings = options.settings});
  // Bodies that appear later ring in the same way.
  for (scene::BodyEntry& body : desc.bodies) body.appears_at = body.appears_every = 0;
  const scene::BuiltScene built = scene::build_world(desc, {});
  std::vector<std::string> ringing;
  FitInput input;
  for (std::size_t b = 0; b < built.visuals.size(); ++b) {
    const model::BodyId id = built.ids[b];
    const vibration::BodyResponse* response = built.responder ? built.responder->response_of(id) : nullptr;
    if (response == nullptr) continue;
    ringing.push_back(built.visuals[b].name);
    if (!options.body.empty() && options.body != ringing.back()) continue;
    if (!input.name.empty()) continue;
    input = {ringing.back(), response->model(),
             vibration::sample_desc(response->desc().settings, response->desc().attenuation, desc.step)};
    const Vec3 up = built.world.shape_pose(id).direction_to_local(-desc.world.gravity);
    if (up.norm() > 0) input.sampling.facing = up;
  }
  if (ringing.empty())
    throw Error(fmt::format("{}: no body rings; add the key \"rings\" to one.", options.input));
  if (input.name.empty() || (options.body.empty() && ringing.size() > 1)) {
    throw Error(fmt::format(
        "{}: {}; --body takes one of: {}.", options.input,
        options.body.empty() ? "several bodies ring" : fmt::format("no body '{}' rings", options.body),
        fmt::join(ringing, ", ")));
  }
  return input;
}

FitInput read_input(const FitOptions& options)
{
  const std::filesystem::path path(options.input);
  FitInput input = path.extension() == ".json"
                       ? from_scene(options)
                       : FitInput{path.stem().string(), elastic::read_modal_file(path), {}};
  vibration::AttenuationSampleDesc& sampling = input.sampling;
  if (options.displacement) sampling.measure = vibration::AttenuationMeasure::displacement;
  if (options.euclidean) sampling.distance = vibration::WaveDistance::euclidean;
  if (options.average) sampling.average = true;
  if (options.window > 0) sampling.window = options.window;
  if (!options.facing.empty()) sampling.facing = parse_vec3("--facing", options.facing);
  sampling.impact_count = options.impacts;
  sampling.probe_count = options.receivers;
  sampling.seed = options.seed;
  return input;
}

nlohmann::ordered_json scene_values(const vibration::AttenuationSettings& s)
{
  const auto round = [](double value) {
    return std::stod(fmt::format("{:.4g}", value));
  };
  if (!s.full) return {{"C", round(s.C)}, {"beta", round(s.beta)}, {"min_distance", round(s.min_distance)}};
  return {{"full", true},
          {"alpha", round(s.alpha)},
          {"beta", round(s.beta)},
          {"r0", round(s.r0)},
          {"min_distance", round(s.min_distance)}};
}

void print_fit(const FitOptions& options, const FitInput& input, const vibration::AttenuationSamples& samples,
               const vibration::AttenuationFit& fit)
{
  if (options.json) {
    const nlohmann::ordered_json out = {{"body", input.name},
                                        {"modes", input.model.mode_count()},
                                        {"samples", fit.count},
                                        {"full", scene_values(fit.full.settings)},
                                        {"full_spread", fit.full.spread},
                                        {"simple", scene_values(fit.simple.settings)},
                                        {"simple_spread", fit.simple.spread}};
    fmt::print("{}\n", out.dump());
    return;
  }
  fmt::print("{}: {} up to {:.4g} Hz, {} samples over {:.3g} ms\n", bold(input.name),
             base::counted(at(input.model.mode_count()), "mode"), input.model.frequencies.maxCoeff(),
             fit.count, 1000 * input.sampling.window);
  if (samples.held > 0) fmt::print("  {} points hardly move and were skipped\n", samples.held);
  const auto line = [](const char* name, const vibration::AttenuationCurve& curve) {
    fmt::print("  {:<7} s = {}, within a factor of {:.2f}\n", name, media::curve_text(curve.settings),
               curve.spread);
    fmt::print("          \"attenuation\": {}\n", scene_values(curve.settings).dump());
  };
  line("simple", fit.simple);
  line("eq. 14", fit.full);
}

void run(const FitOptions& options)
{
  check_output(options.picture, {".png"});
  check_output(options.csv, {".csv"});
  const FitInput input = read_input(options);
  const vibration::AttenuationSamples samples = vibration::sample_attenuation(input.model, input.sampling);
  const vibration::AttenuationFit fit = vibration::fit_attenuation(samples.samples);
  print_fit(options, input, samples, fit);
  if (!options.picture.empty()) {
    const std::vector<media::NamedCurve> curves = {
        {fmt::format("s = {}", media::curve_text(fit.simple.settings)), fit.simple.settings},
        {fmt::format("s = {}", media::curve_text(fit.full.settings)), fit.full.settings}};
    media::write_png(
        options.picture,
        media::attenuation_picture(
            samples.samples, curves,
            {.title = fmt::format("Attenuation of {}, {}", input.name,
                                  base::counted(at(input.model.mode_count()), "mode")),
             .scale = options.linear ? media::AxisScale::linear : media::AxisScale::logarithmic}));
    if (!options.json) fmt::print("{}: samples and curves\n", bold(options.picture));
  }
  if (!options.csv.empty()) {
    std::string text = "distance,ratio,source_x,source_y,source_z,receiver_x,receiver_y,receiver_z\n";
    for (const vibration::AttenuationSample& s : samples.samples) {
      text += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g}\n", s.distance, s.ratio, fmt::join(s.struck, ","),
                          fmt::join(s.receiver, ","));
    }
    base::write_file(options.csv, text);
    if (!options.json)
      fmt::print("{}: {}\n", bold(options.csv), base::counted(samples.samples.size(), "sample"));
  }
}

}  // namespace

void add_fit(CLI::App& app)
{
  auto options = std::make_shared<FitOptions>();
  CLI::App* command =
      app.add_subcommand("fit", "Find how an impact decays with distance in a body, from its modes");
  command->add_option("input", options->input, "a baked modal file (.npz) or a scene (.json)")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("-o,--output", options->picture, "a picture of samples and curves: .png");
  command->add_option("--csv", options->csv, "the samples as a table");
  command->add_option("--body", options->body, "the body to use when several bodies of a scene ring");
  command->add_option("--set", options->settings, "change a value of the scene: path=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--impacts", options->impacts, "number of points that are struck")
      ->check(positive())
      ->capture_default_str();
  command->add_option("--receivers", options->receivers, "points at which each impact is measured")
      ->check(positive())
      ->capture_default_str();
  command->add_option("--seed", options->seed, "random seed for the choice of points")->capture_default_str();
  command
      ->add_option("--window", options->window,
                   "time measured after each impact [s]; default: that of the scene, or 0.02")
      ->check(positive());
  command->add_option(
      "--facing", options->facing,
      "use only parts of the surface that face this direction: 0,0,1; default: up in a scene, else any");
  command->add_flag("--displacement", options->displacement, "compare displacements, not speeds");
  command->add_flag("--euclidean", options->euclidean,
                    "use straight-line distances, not distances along the surface");
  command->add_flag("--average", options->average, "divide by the mean motion of all struck points");
  command->add_flag("--linear", options->linear, "linear axes in the picture");
  command->add_flag("--json", options->json, "print the result as JSON");
  command->footer("Example: thrum fit scenes/scaffold.json -o fit.png");
  command->callback([options] { run(*options); });
}

}  // namespace thrum::app
