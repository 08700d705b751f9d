// SPDX-License-Identifier: MIT
// thrum modes MESH: the modes of a body, as a table and as a baked file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "apps/thrum/modes_commands.h"
#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/damping.h"
#include "thrum/elastic/material_library.h"
#include "thrum/elastic/material_limits.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/mesh/self_intersections.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/mesh_io/tetrahedral_mesh_io.h"

namespace thrum::app {

namespace {

struct ModesOptions {
  std::string input;
  std::string output;
  std::string material;
  std::vector<std::string> region_materials;  // NAME=MATERIAL
  std::string materials_file;
  // Each replaces one value of the material.
  std::optional<double> density;  // [kg/m^3]
  std::optional<double> young;    // [Pa]
  std::optional<double> poisson;
  std::optional<double> alpha;  // [1/s]
  std::optional<double> beta;   // [s]
  std::optional<double> loss;
  int modes = 0;     // 0: all below `below`, or kDefaultModes
  double below = 0;  // [Hz]
  std::vector<std::string> clamps;
  std::vector<std::string> supports;
  double spacing = 0;  // [m]
  double scale = 1;
  double thickness = 0;  // [m]; 0: solid
  std::string quality = "normal";
  std::string fill = "auto";
  std::string element = "tet10";
  bool no_cache = false;
  bool quiet = false;
};

constexpr int kDefaultModes = 20;
constexpr double kDefaultPoisson = 0.3;  // where neither a material nor --poisson sets it

bool holds_tetrahedra(const std::string& path)
{
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".msh" || ending == ".node" || ending == ".ele";
}

elastic::MaterialLibrary known_materials(const ModesOptions& options)
{
  elastic::MaterialLibrary library = elastic::MaterialLibrary::builtin();
  if (!options.materials_file.empty()) library.read(options.materials_file);
  return library;
}

void replace_damping(const ModesOptions& options, model::Damping& damping)
{
  if (options.loss && (options.alpha || options.beta)) {
    throw CLI::ValidationError(options.alpha ? "--alpha" : "--beta",
                               "Rayleigh damping and --loss-factor exclude each other; use one of them");
  }
  if (options.loss) damping = {model::DampingKind::loss_factor, 0, 0, *options.loss, {}};
  if (!options.alpha && !options.beta) return;
  if (damping.kind != model::DampingKind::rayleigh) {
    fmt::print(stderr, "note: Rayleigh damping replaces the damping of the material.\n");
    damping = {};
  }
  damping.alpha = options.alpha.value_or(damping.alpha);
  damping.beta = options.beta.value_or(damping.beta);
}

// The material of all regions that are not named by --region.
model::Material main_material(const ModesOptions& options, const elastic::MaterialLibrary& library)
{
  model::Material material;
  material.poisson = kDefaultPoisson;
  if (!options.material.empty()) material = library.get(options.material);
  if (options.material.empty() && !(options.density && options.young)) {
    throw Error(fmt::format("The material is missing: give --material (one of: {}) or --density and --young.",
                            fmt::join(library.names(), ", ")));
  }
  material.density = options.density.value_or(material.density);
  material.young = options.young.value_or(material.young);
  material.poisson = options.poisson.value_or(material.poisson);
  replace_damping(options, material.damping);
  return material;
}

// The material of each region by --region NAME=MATERIAL; regions are counted from 0 where the mesh has no
// names.
using RegionMaterials = std::map<std::string, model::Material>;

RegionMaterials region_materials(const ModesOptions& options, const elastic::MaterialLibrary& library)
{
  RegionMaterials materials;
  for (const std::string& text : options.region_materials) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw Error(fmt::format("--region {}: expected NAME=MATERIAL, for example --region legs=steel.", text));
    materials[text.substr(0, equals)] = library.get(text.substr(equals + 1));
  }
  return materials;
}

std::size_t region_count(const mesh::TetrahedralMesh& mesh)
{
  if (mesh.regions.empty()) return 1;
  return static_cast<std::size_t>(*std::max_element(mesh.regions.begin(), mesh.regions.end())) + 1;
}

std::vector<model::Material> materials_of(std::vector<std::string> names, std::size_t count,
                                          const model::Material& rest, RegionMaterials by_name)
{
  if (by_name.empty()) return {rest};
  for (std::size_t region = names.size(); region < count; ++region) names.push_back(fmt::to_string(region));
  std::vector<model::Material> materials;
  for (const std::string& name : names) {
    const auto found = by_name.extract(name);
    materials.push_back(found.empty() ? rest : found.mapped());
  }
  if (!by_name.empty()) {
    throw Error(fmt::format("--region {}: the mesh has no such region: {}.", by_name.begin()->first,
                            names.size() == 1 ? fmt::format("its only region is '{}'", names.front())
                                              : fmt::format("its regions are {}", fmt::join(names, ", "))));
  }
  return materials;
}

elastic::ModalAnalysisResult analyse_tetrahedra(const ModesOptions& options, elastic::ModalAnalysisDesc desc,
                                                const model::Material& material,
                                                const RegionMaterials& by_region)
{
  mesh_io::TetrahedralMeshFile file = mesh_io::read_tetrahedral_mesh_file(options.input);
  for (Vec3& v : file.mesh.vertices) v *= options.scale;
  for (const std::string& note : file.notes) fmt::print(stderr, "{}: {}\n", options.input, note);
  const mesh::TetrahedralMesh& mesh = file.mesh;
  desc.materials = materials_of(mesh.region_names, region_count(mesh), material, by_region);
  return options.no_cache ? elastic::analyse_modes(mesh, desc) : elastic::analyse_modes_cached(mesh, desc);
}

// An open surface can ring as a sheet, or as a solid once it is closed, and parts that cross once they are
// united: the error names the commands.
void require_fillable(const ModesOptions& options, const mesh::TriangleMesh& surface)
{
  if (options.thickness > 0) return;
  const mesh::MeshReport report = mesh::report_mesh(surface, {.self_intersections = false});
  const std::string stem = std::filesystem::path(options.input).stem().string();
  if (report.open_edges.found()) {
    const std::string fixed = stem + "_closed.obj";
    const std::string unite = report.components > 1 ? " --unite" : "";
    throw Error(fmt::format(
        "The surface of {0} is not closed ({1} open edges), so it has no inside. As a sheet of metal or "
        "glass "
        "of 1 mm: {2}. As a solid: thrum mesh repair {0} --fill-holes{3} -o {4}, then thrum modes {4}.",
        options.input, report.open_edges.count,
        unite.empty()
            ? fmt::format("thrum modes {} --thickness 0.001", options.input)
            : fmt::format("thrum mesh repair {0} --solidify 0.001 --unite -o {1}, then thrum modes {1}",
                          options.input, fixed),
        unite, fixed));
  }
  if (options.fill != "auto" || report.components < 2 || mesh::self_intersections(surface, 1).empty()) return;
  const std::string fixed = stem + "_united.obj";
  throw Error(fmt::format(
      "{0} has parts that cross each other. Make one surface of them: thrum mesh repair {0} --unite "
      "-o {1}, then thrum modes {1}.",
      options.input, fixed));
}

elastic::ModalAnalysisResult analyse_surface(const ModesOptions& options, elastic::ModalAnalysisDesc desc,
                                             const model::Material& material,
                                             const RegionMaterials& by_region)
{
  mesh::TriangleMesh surface = mesh_io::read_mesh(options.input);
  if (options.scale != 1) mesh::scale(surface, Vec3::Constant(options.scale));
  require_fillable(options, surface);
  elastic::FillDesc fill = {.spacing = options.spacing};
  fill.thickness = options.thickness;
  if (options.fill == "cut") fill.method = elastic::FillMethod::cut_cells;
  if (options.fill == "delaunay") fill.method = elastic::FillMethod::delaunay;
  if (options.fill == "stuffing") fill.method = elastic::FillMethod::stuffing;
  if (options.fill == "netgen") fill.method = elastic::FillMethod::netgen;
  if (options.quality == "draft") fill.quality = elastic::Quality::draft;
  if (options.quality == "fine") fill.quality = elastic::Quality::fine;
  desc.materials = materials_of({}, 1, material, by_region);
  return options.no_cache ? elastic::analyse_surface_modes(surface, fill, desc)
                          : elastic::analyse_surface_modes_cached(surface, fill, desc);
}

// The main axes of a mode's motion: "z", or "x+z" when the second has more than a fifth of it.
std::string dominant_direction(const model::ModalModel& model, Index mode)
{
  std::array<double, 3> motion{};
  for (Index v = 0; v < model.vertex_count(); ++v) {
    for (Index a = 0; a < 3; ++a) {
      motion[at(a)] += std::pow(model.shapes(3 * v + a, mode), 2);
    }
  }
  std::array<std::size_t, 3> order = {0, 1, 2};
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return motion[a] > motion[b]; });
  const double total = motion[0] + motion[1] + motion[2];
  std::string text;
  for (const std::size_t axis : order) {
    if (!text.empty() && motion[axis] < 0.2 * total) break;
    text += fmt::format("{}{}", text.empty() ? "" : "+", "xyz"[axis]);
  }
  return text;
}

constexpr int kDigits = 5;  // of the lowest frequency

void print_table(const elastic::ModalAnalysisResult& result)
{
  const model::ModalModel& model = result.model;
  // As many decimals for all as the lowest needs, so that the decimal points are aligned.
  const double lowest = model.mode_count() > 0 ? model.frequencies.minCoeff() : 0;
  const int decimals =
      lowest > 0 ? std::clamp(kDigits - 1 - static_cast<int>(std::floor(std::log10(lowest))), 0, kDigits) : 0;
  fmt::print("{}\n", bold(fmt::format("{:>4} {:>12} {:>9} {:>9}  {:<9} {:>10}", "mode", "Hz", "damping",
                                      "T60", "direction", "mesh error")));
  for (Index m = 0; m < model.mode_count(); ++m) {
    const double t60 = elastic::reverberation_time(model.decays[m]);
    const bool estimated = model.frequency_errors.size() > 0;
    fmt::print("{:>4} {:>12.{}f} {:>7.3g} % {:>7.3g} s  {:<9} {:>10}\n", m + 1, model.frequencies[m],
               decimals, 100 * model.decays[m] / model.omega(m), t60, dominant_direction(model, m),
               estimated ? fmt::format("{:.2g} %", 100 * model.frequency_errors[m]) : "-");
  }
}

void run(const ModesOptions& options)
{
  check_output(options.output, {".npz"});
  base::StopSource stop;
  stop.stop_on_interrupt();
  // Check the materials before the slow part.
  const elastic::MaterialLibrary library = known_materials(options);
  const model::Material material = main_material(options, library);
  const RegionMaterials by_region = region_materials(options, library);

  elastic::ModalAnalysisDesc desc;
  desc.name = std::filesystem::path(options.input).stem().string();
  for (const std::string& text : options.clamps)
    desc.supports.push_back({elastic::parse_selection(text), {true, true, true}});
  for (const std::string& text : options.supports) {
    desc.supports.push_back({elastic::parse_selection(text), {false, false, true}});
  }
  desc.count = options.modes > 0 || options.below > 0 ? options.modes : kDefaultModes;
  if (options.below > 0) desc.below = options.below;
  desc.element = options.element == "tet4" ? elastic::ElementKind::tet4 : elastic::ElementKind::tet10;
  desc.progress = {.style = options.quiet ? base::ProgressStyle::quiet : base::ProgressStyle::automatic,
                   .stop = stop.token()};
  const elastic::ModalAnalysisResult result = holds_tetrahedra(options.input)
                                                  ? analyse_tetrahedra(options, desc, material, by_region)
                                                  : analyse_surface(options, desc, material, by_region);
  if (!result.ok()) throw Error(elastic::describe_failure(result));
  if (result.model.mode_count() == 0)
    throw Error(fmt::format(
        "{} has no mode below --max-frequency {:g} Hz. Raise it, or leave it out for the {} lowest "
        "modes.",
        options.input, options.below, kDefaultModes));

  fmt::print("{}: {} nodes, {} elements ({}), {:.4g} kg, {}{}\n", bold(options.input),
             result.model.node_count, result.model.element_count, result.model.element, result.model.mass,
             result.model.supports.empty() ? "free" : elastic::to_text(result.model.supports.front()),
             result.from_cache ? " (from the cache)" : "");
  print_table(result);
  for (const std::string& sentence : result.model.warnings) fmt::print("{}\n", warning(sentence));
  for (const std::string& sentence : result.hints) fmt::print("{}\n", sentence);
  if (!options.output.empty()) {
    elastic::write_modal_file(options.output, result.model);
    fmt::print("{}: {} at {} surface vertices\n", bold(options.output),
               base::counted(at(result.model.mode_count()), "mode"), result.model.vertex_count());
  }
}

void add_material_options(CLI::App& command, ModesOptions& options)
{
  command.add_option(
      "--material", options.material,
      "by name, for example wood, steel, glass, ceramic; the options below replace single values");
  command.add_option("--region", options.region_materials,
                     "the material of a named region of a tetrahedral mesh, NAME=MATERIAL; may be repeated");
  command.add_option("--materials", options.materials_file, "a file with further materials")
      ->check(CLI::ExistingFile);
  command.add_option("--density", options.density, "[kg/m^3]")
      ->check(from_to(elastic::kMinDensity, elastic::kMaxDensity));
  command.add_option("--young", options.young, "Young's modulus [Pa]")
      ->check(from_to(elastic::kMinYoung, elastic::kMaxYoung));
  command.add_option("--poisson", options.poisson, "Poisson's ratio; 0.3 without a material")
      ->check(from_to(-0.99, 0.499));
  command.add_option("--alpha", options.alpha, "Rayleigh damping proportional to the mass [1/s]")
      ->check(not_negative());
  command.add_option("--beta", options.beta, "Rayleigh damping proportional to the stiffness [s]")
      ->check(not_negative());
  command
      .add_option("--loss-factor", options.loss,
                  "instead of Rayleigh damping: the same relative loss per cycle in every mode")
      ->check(not_negative());
}

}  // namespace

void add_modes_commands(CLI::App& app)
{
  auto options = std::make_shared<ModesOptions>();
  CLI::App* modes =
      app.add_subcommand("modes", "Compute the vibration modes of a body from a mesh and a material");
  modes->require_subcommand(0, 1);
  modes->add_option(
      "mesh", options->input,
      "a surface (.obj .stl .ply .glb), closed or with --thickness, or tetrahedra (.msh .node .ele)");
  modes->add_option("-o,--output", options->output, "the baked modal file to write: .npz");
  add_material_options(*modes, *options);
  modes->add_option("--modes", options->modes, "number of modes; default: 20, or all below --max-frequency")
      ->check(positive());
  modes->add_option("--max-frequency", options->below, "only modes below this frequency [Hz]")
      ->check(positive());
  modes->add_option("--clamp", options->clamps,
                    "fix a part of the body: 'z<0.01', 'box(0,0,0, 1,1,0.1)', 'region feet'");
  modes->add_option("--support", options->supports, "fix a part in z only");
  modes->add_option("--spacing", options->spacing, "spacing of the lattice that fills a surface [m]")
      ->check(positive());
  modes
      ->add_option(
          "--scale", options->scale,
          "multiply all lengths of the mesh first: 0.001 for a mesh in millimetres, 0.0254 for inches")
      ->check(positive());
  modes
      ->add_option("--thickness", options->thickness,
                   "the surface, open or closed, is a sheet of this thickness, half of it to each side [m]")
      ->check(positive());
  modes
      ->add_option("--quality", options->quality,
                   "draft, normal or fine: error of the frequencies of 5, 1 or 0.2 %; not with --spacing")
      ->check(CLI::IsMember({"draft", "normal", "fine"}))
      ->capture_default_str();
  modes
      ->add_option(
          "--fill", options->fill,
          "delaunay: tetrahedra that keep the surface; cut: the surface as it is in cells of a lattice; "
          "stuffing: fitted tetrahedra, which cut off sharp edges; netgen: fitted tetrahedra by that "
          "program, if "
          "it is installed; auto: free bodies of revolution as round ones, bodies along three axes in a "
          "grid, "
          "thin walls in wedges, others by delaunay, or remeshed or cut where they have too many triangles")
      ->check(CLI::IsMember({"auto", "delaunay", "cut", "stuffing", "netgen"}))
      ->capture_default_str();
  modes->add_option("--element", options->element, "tet10 or tet4")
      ->check(CLI::IsMember({"tet10", "tet4"}))
      ->capture_default_str();
  modes->add_flag("--no-cache", options->no_cache, "compute again even if the result is cached");
  modes->add_flag("--quiet", options->quiet, "do not show progress");
  modes->footer("Example: thrum modes table.obj --material wood --modes 20 --clamp 'z<0.01' -o table.npz");
  add_modes_show(*modes);
  add_modes_export(*modes);
  modes->callback([modes, options] {
    if (!modes->get_subcommands().empty()) return;
    if (options->input.empty()) throw CLI::RequiredError("thrum modes: a mesh, 'show' or 'export'");
    run(*options);
  });
}

}  // namespace thrum::app
