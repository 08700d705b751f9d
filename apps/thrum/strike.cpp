// SPDX-License-Identifier: MIT
// thrum strike MESH: the sound of a body that is struck, once or along a line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "apps/thrum/sound_report.h"
#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/timing.h"
#include "thrum/elastic/material_library.h"
#include "thrum/elastic/modal_export.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/sound/audio_file.h"
#include "thrum/sound/loudness.h"
#include "thrum/sound/propagation.h"
#include "thrum/sound/strike.h"

namespace thrum::app {

namespace {

constexpr int kStrikesInARow = 5;
constexpr double kMaxOutside = 0.1;  // of the body's size: farther out of its box a point is not meant
constexpr double kMaxOffset = 0.01;  // of the body's size: farther from its surface it is told
constexpr double kMaxSamples = 48000 * 3600.0;  // an hour at 48 kHz: 1.4 GB
constexpr double kYieldSpeed = 10;              // beyond, no material here stays elastic [m/s]

struct StrikeOptions {
  std::string input;
  std::string output = "hit.wav";
  std::string material = "steel";
  bool has_material = false;  // given by the user
  std::string at;
  std::string to;
  std::string direction;
  std::string clamp;
  int count = 0;          // 0: 1, or 5 with --to
  double interval = 0.5;  // [s]
  double speed = 1;       // [m/s]
  double mass = 0.005;    // [kg]
  double radius = 0.01;   // [m]
  double distance = 1;    // [m]
  double duration = 2;    // [s]
  double full_scale = 0;  // [Pa]
  double spacing = 0;     // [m]
  double thickness = 0;   // [m]; 0: solid
  int modes = 60;
  int rate = 48000;  // [Hz]
  bool normalise = false;
  std::string radiation = "scalar";
  SoundPictures pictures;
  bool quiet = false;
};

std::shared_ptr<const model::ModalModel> find_modes(const StrikeOptions& options,
                                                    const model::Material& material,
                                                    const mesh::TriangleMesh& surface)
{
  elastic::ModalAnalysisDesc desc;
  desc.name = std::filesystem::path(options.input).stem().string();
  desc.materials = {material};
  if (!options.clamp.empty()) {
    for (const model::Selection& where : elastic::parse_selections(options.clamp))
      desc.supports.push_back({where, {true, true, true}});
  }
  desc.count = options.modes;
  desc.below = sound::SynthesisSettings{}.max_frequency;
  desc.estimate_errors = false;
  if (!options.quiet) desc.progress = {};
  const elastic::FillDesc fill = {.spacing = options.spacing,
                                  .max_tetrahedra = sound::SynthesisSettings{}.max_tetrahedra,
                                  .thickness = options.thickness};
  elastic::ModalAnalysisResult result = elastic::analyse_surface_modes_cached(surface, fill, desc);
  if (!result.ok()) throw Error(elastic::describe_failure(result));
  return std::make_shared<const model::ModalModel>(std::move(result.model));
}

// The nearest point of the surface is struck, which is only meant when it is near.
Vec3 checked_point(const char* option, const std::string& text, const mesh::TriangleMesh& surface, bool quiet)
{
  const Vec3 point = parse_vec3(option, text);
  const Box3 box = mesh::bounding_box(surface);
  const double size = box.diagonal().norm();
  if (!(box.exteriorDistance(point) <= kMaxOutside * size)) {
    const auto corner = [](const Vec3& p) {
      return fmt::format("{:.4g},{:.4g},{:.4g}", p.x(), p.y(), p.z());
    };
    throw Error(fmt::format(
        "{} {} is {} outside of the body, which lies between {} and {} [m]. Give a point of its surface.",
        option, text, length_text(box.exteriorDistance(point)), corner(box.min()), corner(box.max())));
  }
  const double distance = mesh::Bvh(surface).closest_point(point).distance;
  if (distance > kMaxOffset * size && !quiet) {
    fmt::print(
        stderr, "{}\n",
        warning(fmt::format("warning: {} is {} away from the surface; the closest point of it is struck.",
                            option, length_text(distance))));
  }
  return point;
}

// From where to where; empty: the modes decide.
struct StrikePlaces {
  std::optional<Vec3> at;
  std::optional<Vec3> to;
  std::optional<Vec3> direction;
};

StrikePlaces checked_places(const StrikeOptions& options, const mesh::TriangleMesh& surface)
{
  StrikePlaces places;
  if (!options.at.empty()) places.at = checked_point("--at", options.at, surface, options.quiet);
  if (!options.to.empty()) places.to = checked_point("--to", options.to, surface, options.quiet);
  if (options.direction.empty()) return places;
  // Of any length: squares of very long and very short ones would be inf and 0.
  const Vec3 way = parse_vec3("--direction", options.direction);
  const double largest = way.cwiseAbs().maxCoeff();
  if (!(largest > 0))
    throw Error("--direction " + options.direction + " has no length. Give the way that the striker flies.");
  places.direction = Vec3(way / largest).normalized();
  return places;
}

// Evenly from --at to --to.
std::vector<sound::Strike> strikes_of(const StrikeOptions& options, const StrikePlaces& places,
                                      const model::ModalModel& model)
{
  const Vec3 from =
      places.at ? *places.at : mesh::position(model.surface, elastic::choose_strike_point(model).point);
  const Vec3 to = places.to.value_or(from);
  std::vector<sound::Strike> strikes;
  for (int i = 0; i < options.count; ++i) {
    const double share = options.count > 1 ? static_cast<double>(i) / (options.count - 1) : 0;
    sound::Strike& strike = strikes.emplace_back();
    strike.time = i * options.interval;
    strike.position = from + share * (to - from);
    strike.speed = options.speed;
    strike.direction = places.direction;
  }
  return strikes;
}

// How well the field of each mode fits the motion of the surface.
std::string radiation_text(const sound::RadiationMap& map, const std::string& method, double seconds)
{
  const auto count = static_cast<double>(map.mode_count());
  const double mean = std::accumulate(map.residuals.begin(), map.residuals.end(), 0.0) / count;
  const double worst = *std::max_element(map.residuals.begin(), map.residuals.end());
  const auto scalar = std::count(map.kinds.begin(), map.kinds.end(), sound::ModeRadiationKind::scalar);
  return fmt::format(
      "radiation by {}: residual {:.2g} on average, at most {:.2g}; {} of {} modes taken as the same in "
      "all directions; {}",
      method, mean, worst, scalar, map.mode_count(),
      map.from_cache ? "from the cache" : fmt::format("computed in {:.1f} s", seconds));
}

// The whole sound is kept in memory.
void check_length(const StrikeOptions& options, double duration)
{
  const double limit = kMaxSamples / options.rate;
  if (duration <= limit) return;
  throw Error(
      fmt::format("{} every {:g} s make {} of sound; at {} Hz {} are made at most. Give a smaller --count, "
                  "--interval or --duration.",
                  base::counted(at(options.count), "strike"), options.interval,
                  base::readable_duration(duration), options.rate, base::readable_duration(limit)));
}

// What is computed as if nothing were unusual.
void warn_of_strike(const StrikeOptions& options, const model::ModalModel& model)
{
  if (options.quiet) return;
  const auto tell = [](const std::string& sentence) {
    fmt::print(stderr, "{}\n", warning("warning: " + sentence));
  };
  if (options.speed > kYieldSpeed)
    tell(fmt::format("At {:g} m/s bodies yield or break; the impact is taken as elastic.", options.speed));
  const double radius = mesh::bounding_box(model.surface).diagonal().norm() / 2;
  if (options.distance < radius)
    tell(fmt::format(
        "At {} from its centre the listener is inside the body or close to it, where pressure does "
        "not go as 1/r; it reaches {}.",
        length_text(options.distance), length_text(radius)));
  if (options.distance < sound::PathDesc{}.min_distance)
    tell(fmt::format("Closer than {} pressure does not grow further.",
                     length_text(sound::PathDesc{}.min_distance)));
}

struct StruckBody {
  std::shared_ptr<const model::ModalModel> modes;
  StrikePlaces places;
};

// Places are checked before modes are computed, which takes long.
StruckBody read_body(const StrikeOptions& options, const model::Material& material)
{
  if (extension_of(options.input) != ".npz") {
    const mesh::TriangleMesh surface = mesh_io::read_mesh(options.input);
    const StrikePlaces places = checked_places(options, surface);
    return {find_modes(options, material, surface), places};
  }
  if (!options.clamp.empty() || options.has_material || options.thickness > 0 || options.spacing > 0)
    throw Error(
        "A modal file has its material, its supports, its shape and its tetrahedra: leave out --material, "
        "--clamp, --thickness and --spacing, or give the mesh.");
  const auto modes = std::make_shared<const model::ModalModel>(elastic::read_modal_file(options.input));
  return {modes, checked_places(options, modes->surface)};
}

sound::StrikeDesc strike_desc(const StrikeOptions& options, double duration)
{
  sound::StrikeDesc desc;
  desc.settings.sample_rate = options.rate;
  desc.settings.modes = options.modes;
  if (options.radiation == "multipole") desc.settings.radiation = sound::SoundRadiation::multipole;
  if (options.radiation == "equivalent_sources")
    desc.settings.radiation = sound::SoundRadiation::equivalent_sources;
  desc.striker_mass = options.mass;
  desc.striker_radius = options.radius;
  desc.distance = options.distance;
  desc.duration = duration;
  return desc;
}

// Pressure that is written as 1.
double full_scale_of(const StrikeOptions& options, const sound::AudioBuffer& hit)
{
  if (options.normalise) return 1 / sound::normalising_gain(hit);
  if (options.full_scale > 0) return options.full_scale;
  constexpr double kPeakLevel = 0.89;  // -1 dB
  const double peak = sound::peak(hit);
  return peak > 0 ? peak / kPeakLevel : 1;
}

void print_strike(const StrikeOptions& options, const std::string& material, const VecX& heard,
                  const sound::AudioBuffer& hit)
{
  fmt::print("{}: {:.3g} s, {} of {} with {} from {:.0f} to {:.0f} Hz; peak {:.3g} Pa at {:.3g} m\n",
             bold(options.output), hit.duration(), base::counted(at(options.count), "strike"), material,
             base::counted(at(heard.size()), "mode"), heard[0], heard[heard.size() - 1], sound::peak(hit),
             std::max(options.distance, sound::PathDesc{}.min_distance));
  const auto unheard =
      std::count_if(heard.begin(), heard.end(), [&](double f) { return f >= options.rate / 2.0; });
  if (unheard > 0)
    fmt::print("{}\n", warning(fmt::format(
                           "warning: {} of these modes are above half the sample rate and are not heard; "
                           "--rate 48000 has all.",
                           unheard)));
}

const model::Material& checked_material(const std::string& name)
{
  const elastic::MaterialLibrary& library = elastic::MaterialLibrary::builtin();
  if (const model::Material* material = library.find(name)) return *material;
  throw Error(
      fmt::format("There is no material '{}'. Available: {}. Of another, 'thrum modes' makes a modal file "
                  "(.npz), which is "
                  "struck as a mesh is.",
                  name, fmt::join(library.names(), ", ")));
}

void strike(StrikeOptions options)
{
  check_output(options.output, {".wav", ".flac"});
  check_sound_pictures(options.pictures);
  if (options.count == 0) options.count = options.to.empty() ? 1 : kStrikesInARow;
  const double duration = options.duration + (options.count - 1) * options.interval;
  check_length(options, duration);
  const model::Material& chosen = checked_material(options.material);
  const auto [modes, places] = read_body(options, chosen);
  const model::Material& material = modes->materials.empty() ? chosen : modes->materials.front();
  warn_of_strike(options, *modes);
  const sound::StrikeDesc desc = strike_desc(options, duration);
  const base::Stopwatch watch;
  const auto model =
      std::make_shared<const sound::SoundModel>(modes, modes->surface, material, desc.settings);
  const double model_seconds = watch.seconds();
  if (model->mode_count() == 0)
    throw Error(
        fmt::format("{} has no mode up to {:g} kHz, so it does not ring: it is too small or too stiff.",
                    options.input, desc.settings.max_frequency / 1000));
  const sound::AudioBuffer hit = sound::strike_body(model, strikes_of(options, places, *modes), desc);
  const double full_scale = full_scale_of(options, hit);
  const sound::AudioFileReport report =
      sound::write_audio_file(options.output, hit, {.full_scale = full_scale});
  const VecX heard = modes->frequencies.head(static_cast<Eigen::Index>(model->known_mode_count()));
  write_sound_pictures(options.pictures, hit, options.material, {heard.begin(), heard.end()});
  if (options.quiet) return;
  print_strike(options, modes->materials.empty() ? options.material : material.name, heard, hit);
  if (model->radiation())
    fmt::print("{}\n", radiation_text(*model->radiation(), options.radiation, model_seconds));
  fmt::print("{}\n", loudness_text(hit, full_scale));
  if (report.clips())
    fmt::print("{}\n", warning(fmt::format("warning: {} samples are above full scale; players cut them off.",
                                           report.clipped_samples)));
}

}  // namespace

void add_strike(CLI::App& app)
{
  auto options = std::make_shared<StrikeOptions>();
  CLI::App* command = app.add_subcommand("strike", "Strike a body and write its sound");
  command->add_option("mesh", options->input, "a closed mesh, or a baked modal file (.npz)")->required();
  command->add_option("-o,--output", options->output, ".wav or .flac")->capture_default_str();
  command->add_option("--material", options->material, "a name of the material library")
      ->capture_default_str();
  command->add_option("--at", options->at,
                      "x,y,z: where [m], on the surface or near it; default: one that excites all low modes");
  command->add_option("--to", options->to, "x,y,z: strikes go evenly from --at to here");
  command->add_option("--direction", options->direction,
                      "x,y,z: in which the striker flies; default: into the surface");
  command->add_option("--count", options->count, "number of strikes; default: 1, with --to 5")
      ->check(from_to(1, 10000));
  command->add_option("--interval", options->interval, "between two strikes [s]")
      ->check(from_to(1e-4, 600))
      ->capture_default_str();
  command->add_option("--speed", options->speed, "of the striker [m/s]")
      ->check(from_to(1e-4, 100))
      ->capture_default_str();
  command->add_option("--mass", options->mass, "of the striker, a steel ball [kg]")
      ->check(from_to(1e-9, 1000))
      ->capture_default_str();
  command->add_option("--radius", options->radius, "radius of its surface at the contact [m]")
      ->check(from_to(1e-5, 10))
      ->capture_default_str();
  command->add_option("--clamp", options->clamp,
                      "where the body is held, such as \"z<0.01\"; default: nowhere");
  command->add_option("--modes", options->modes, "number of modes, at most")
      ->check(positive())
      ->capture_default_str();
  command
      ->add_option("--spacing", options->spacing, "of the tetrahedra [m]; default: by the size of the body")
      ->check(positive());
  command
      ->add_option("--thickness", options->thickness,
                   "the surface, open or closed, is a sheet of this thickness, half of it to each side [m]")
      ->check(positive());
  command->add_option("--distance", options->distance, "of the listener [m]")
      ->check(from_to(0.01, 1e4))
      ->capture_default_str();
  command->add_option("--duration", options->duration, "after the last strike [s]")
      ->check(from_to(1e-3, 600))
      ->capture_default_str();
  command->add_option("--rate", options->rate, "samples a second [Hz]")
      ->check(from_to(8000, 384000))
      ->capture_default_str();
  command
      ->add_option("--full-scale", options->full_scale,
                   "pressure that is written as 1.0 [Pa]; default: the peak becomes 0.89")
      ->check(from_to(1e-6, 1e6));
  command
      ->add_flag("--normalise", options->normalise,
                 "choose full scale for a loudness of -18 LUFS, peaks at most -1 dBFS")
      ->excludes("--full-scale");
  command
      ->add_option("--radiation", options->radiation,
                   "of the modes: scalar, or by direction (cached): multipole, equivalent_sources")
      ->check(CLI::IsMember({"scalar", "multipole", "equivalent_sources"}))
      ->capture_default_str();
  add_sound_pictures(*command, options->pictures);
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  command->callback([options, command] {
    if (options->output.empty()) throw CLI::ValidationError("--output", "is empty; give the name of a file");
    options->has_material = command->count("--material") > 0;
    strike(*options);
  });
}

}  // namespace thrum::app
