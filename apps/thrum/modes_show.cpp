// SPDX-License-Identifier: MIT
// thrum modes show FILE.npz: a page or a picture of the mode shapes.
// thrum modes export FILE.npz: the modes for other programs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/thrum/modes_commands.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/modal_export.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/elastic/modal_rescale.h"
#include "thrum/media/image.h"
#include "thrum/media/modes_picture.h"
#include "thrum/media/pages.h"
#include "thrum/mesh/bvh.h"

namespace thrum::app {

namespace {

struct ShowOptions {
  std::string input;
  std::string output;
  int modes = 4;
};

void show(const ShowOptions& options)
{
  check_output(options.output, {".html", ".png"});
  const model::ModalModel model = elastic::read_modal_file(options.input);
  const std::filesystem::path output = options.output.empty()
                                           ? std::filesystem::path(options.input).replace_extension(".html")
                                           : std::filesystem::path(options.output);
  if (extension_of(output.string()) == ".png") {
    media::write_png(output, media::modes_picture(model, {.modes = options.modes}));
    fmt::print("{}: the first {} modes; x, y, z displacement as red, green, blue\n", bold(output.string()),
               std::min<Index>(options.modes, model.mode_count()));
  } else {
    base::write_file(output, media::modes_page(model));
    fmt::print("{}: open it in a browser\n", bold(output.string()));
  }
}

struct ExportOptions {
  std::string input;
  std::string output;
  std::string format;
  std::string strike;
  double size = 1;
  double sample_rate = 48000;  // [Hz]
};

constexpr double kMaxOffsetFraction = 0.01;  // of the body's size

elastic::SurfaceProbe strike_point(const model::ModalModel& model, const std::string& text)
{
  if (text.empty()) return elastic::choose_strike_point(model);
  const mesh::Bvh bvh(model.surface);
  const mesh::ClosestPoint closest = bvh.closest_point(parse_vec3("--strike", text));
  if (closest.distance > kMaxOffsetFraction * mesh::bounding_box(model.surface).diagonal().norm()) {
    fmt::print(stderr,
               "note: --strike is {} away from the surface; the closest point of the surface is struck.\n",
               length_text(closest.distance));
  }
  return {{closest.triangle, closest.barycentric},
          mesh::area_vector(model.surface, at(closest.triangle)).normalized()};
}

// By the extension unless --format says otherwise.
std::string chosen_format(const ExportOptions& options)
{
  if (!options.format.empty()) return options.format;
  const std::string ending = std::filesystem::path(options.output).extension().string();
  if (ending == ".modes") return "stanford";
  if (ending == ".dsp" || ending == ".lib") return "faust";
  if (ending == ".scd" || ending == ".sc") return "supercollider";
  if (ending == ".pd") return "pd";
  if (ending == ".txt") return "puredata";
  if (ending == ".csv") return "csv";
  throw Error(fmt::format(
      "{}: the format is not clear from the extension; give --format stanford, faust, supercollider, "
      "pd, puredata or csv.",
      options.output));
}

void export_modes(const ExportOptions& options)
{
  const std::string format = chosen_format(options);
  check_output(options.output, {});
  model::ModalModel model = elastic::read_modal_file(options.input);
  if (model.mode_count() == 0) throw Error(fmt::format("{} has no modes to write.", options.input));
  if (options.size != 1) model = elastic::rescaled(model, {.size = options.size});
  const elastic::SurfaceProbe strike = strike_point(model, options.strike);
  std::string text;
  if (format == "stanford") text = elastic::stanford_modes(model);
  if (format == "csv") text = elastic::csv_table(model, strike);
  const double limit = std::min(elastic::kMaxExportFrequency, options.sample_rate / 2);
  const elastic::ToneList list = elastic::tones(model, strike, limit);
  const bool all = format == "stanford" || format == "csv";
  if (!all && list.frequencies.size() == 0)
    throw Error(
        fmt::format("None of the {} modes of {} lies below {:.6g} Hz and rings, so there is nothing to play. "
                    "The lowest is at {:.6g} Hz.",
                    model.mode_count(), options.input, limit, model.frequencies.minCoeff()));
  if (format == "faust") text = elastic::faust_program(list);
  if (format == "supercollider") text = elastic::supercollider_program(list);
  if (format == "pd") text = elastic::pure_data_patch(list);
  if (format == "puredata") text = elastic::pure_data_list(list);
  base::write_file(options.output, text);
  fmt::print("{}: {} ({})\n", bold(options.output),
             base::counted(at(all ? model.mode_count() : count_of(list.frequencies)), "mode"), format);
  if (!all && list.left_out > 0)
    fmt::print("{} above {:.6g} Hz left out: {}.\n", base::counted(at(list.left_out), "mode"), limit,
               limit < elastic::kMaxExportFrequency ? "half the sample rate" : "they cannot be heard");
}

}  // namespace

void add_modes_show(CLI::App& modes)
{
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = modes.add_subcommand("show", "Write a page or a picture of the mode shapes");
  command->add_option("modal_file", options->input, "a baked modal file: .npz")->required();
  command->add_option("-o,--output", options->output, ".html: an animated page with sound; .png: a picture");
  command->add_option("--modes", options->modes, "number of modes in a picture")
      ->check(positive())
      ->capture_default_str();
  command->footer("Without -o, the page is written next to the modal file.");
  command->callback([options] { show(*options); });
}

void add_modes_export(CLI::App& modes)
{
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = modes.add_subcommand("export", "Write the modes for other programs");
  command->add_option("modal_file", options->input, "a baked modal file: .npz")->required();
  command
      ->add_option("-o,--output", options->output,
                   ".modes .dsp (Faust) .scd (SuperCollider) .pd (Pure Data patch) .txt (list for it) .csv")
      ->required();
  command
      ->add_option("--format", options->format,
                   "stanford, faust, supercollider, pd, puredata or csv; default: by the extension")
      ->check(CLI::IsMember({"stanford", "faust", "supercollider", "pd", "puredata", "csv"}));
  command
      ->add_option(
          "--sample-rate", options->sample_rate,
          "of the program that plays them [Hz]: modes above half of it, or above 20 kHz, are left out")
      ->check(positive())
      ->capture_default_str();
  command->add_option(
      "--strike", options->strike,
      "x,y,z: the point of a strike normal to the surface [m]; default: a point that excites all low modes");
  command->add_option("--scale", options->size, "scale the body by this factor")->check(positive());
  command->footer("");
  command->callback([options] { export_modes(*options); });
}

}  // namespace thrum::app
