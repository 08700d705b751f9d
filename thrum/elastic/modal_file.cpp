// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/npz.h"
#include "thrum/elastic/material_library.h"
#include "thrum/elastic/supports.h"

namespace thrum::elastic {

namespace {

using base::kAnySize;
using base::NpzFile;
using base::NpzWriter;

constexpr std::size_t kMaterialColumns = 9;

std::span<const double> as_span(const VecX& values)
{
  return {values.data(), at(values.size())};
}

void write_materials(NpzWriter& out, const model::ModalModel& model)
{
  std::vector<double> rows;
  std::vector<double> tables;
  std::vector<std::string> names;
  for (const model::Material& m : model.materials) {
    const model::Damping& d = m.damping;
    rows.insert(rows.end(), {m.density, m.young, m.poisson, static_cast<double>(d.kind), d.alpha, d.beta,
                             d.loss_factor, m.contact_damping, static_cast<double>(d.decays.size())});
    tables.insert(tables.end(), d.decays.begin(), d.decays.end());
    names.push_back(m.name);
  }
  out.add("materials", rows, {model.materials.size(), kMaterialColumns});
  out.add_texts("material_names", names);
  if (!tables.empty()) out.add("decay_tables", tables);
}

void write_supports(NpzWriter& out, const model::ModalModel& model)
{
  if (model.supports.empty()) return;
  std::vector<std::string> places;
  std::vector<std::uint8_t> axes;
  for (const model::Support& support : model.supports) {
    places.push_back(to_text(support.where));
    for (const bool held : support.fixed) axes.push_back(held ? 1 : 0);
  }
  out.add_texts("supports", places);
  out.add("support_axes", axes, {model.supports.size(), 3});
}

// Reads arrays by name and rejects invalid values, naming the file and the array.
class Reader {
 public:
  Reader(const NpzFile& file, const std::filesystem::path& name) : file_(file), name_(name) {}

  [[nodiscard]] VecX numbers(const char* array, std::size_t count = kAnySize) const
  {
    const auto values = file_.at(array).as<double>({count});
    VecX result = Eigen::Map<const VecX>(values.data(), static_cast<Eigen::Index>(values.size()));
    require(result.allFinite(), array, "a number that is not finite", "finite numbers");
    return result;
  }

  [[nodiscard]] double number(const char* array) const
  {
    const double value = file_.at(array).as<double>({}).front();
    require(std::isfinite(value), array, "a number that is not finite", "a finite number");
    return value;
  }

  void require(bool holds, const char* array, const std::string& found, const std::string& expected) const
  {
    if (holds) return;
    throw InputError({name_}, fmt::format("{} in the array '{}'", found, array), expected);
  }

  [[nodiscard]] const NpzFile& file() const { return file_; }
  [[nodiscard]] bool has(const char* array) const { return file_.contains(array); }

 private:
  const NpzFile& file_;
  const std::filesystem::path& name_;
};

void read_modes(const Reader& in, model::ModalModel& model)
{
  model.frequencies = in.numbers("frequencies");
  const auto modes = at(model.frequencies.size());
  model.decays = in.numbers("decays", modes);
  in.require((model.frequencies.array() > 0).all(), "frequencies", "a value that is not positive",
             "positive frequencies");
  in.require(std::is_sorted(model.frequencies.begin(), model.frequencies.end()), "frequencies",
             "a descending order", "ascending order");
  in.require((model.decays.array() >= 0).all(), "decays", "a negative value", "values of 0 or more");
  if (in.has("frequency_errors")) model.frequency_errors = in.numbers("frequency_errors", modes);

  const std::size_t vertices = model.surface.vertices.size();
  const auto shapes = in.file().at("shapes").as<double>({modes, vertices, 3});
  model.shapes = Eigen::Map<const MatX>(shapes.data(), static_cast<Eigen::Index>(3 * vertices),
                                        static_cast<Eigen::Index>(modes));
  in.require(model.shapes.allFinite(), "shapes", "a number that is not finite", "finite numbers");
}

void read_surface(const Reader& in, model::ModalModel& model)
{
  const auto vertices = in.file().at("vertices").as<double>({kAnySize, 3});
  for (std::size_t i = 0; i + 2 < vertices.size(); i += 3) {
    model.surface.vertices.emplace_back(vertices[i], vertices[i + 1], vertices[i + 2]);
  }
  const auto triangles = in.file().at("triangles").as<std::int32_t>({kAnySize, 3});
  for (std::size_t i = 0; i + 2 < triangles.size(); i += 3) {
    model.surface.triangles.push_back({triangles[i], triangles[i + 1], triangles[i + 2]});
  }
  mesh::check_indices(model.surface);
  if (in.has("surface_nodes")) {
    const auto nodes = in.file().at("surface_nodes").as<std::int32_t>({model.surface.vertices.size()});
    in.require(std::all_of(nodes.begin(), nodes.end(), [](std::int32_t n) { return n >= 0; }),
               "surface_nodes", "a number below 0", "vertices of the tetrahedral mesh");
    model.surface_nodes.assign(nodes.begin(), nodes.end());
  }
}

void read_materials(const Reader& in, model::ModalModel& model)
{
  const base::NpyArray& table = in.file().at("materials");
  const auto rows = table.as<double>({kAnySize, kMaterialColumns});
  in.require(std::all_of(rows.begin(), rows.end(), [](double x) { return std::isfinite(x); }), "materials",
             "a number that is not finite", "finite numbers");
  const std::vector<std::string>& names = in.file().at("material_names").texts;
  in.require(names.size() * kMaterialColumns == rows.size(), "material_names",
             fmt::format("{} names", names.size()), "one for each row of 'materials'");
  const VecX tables = in.has("decay_tables") ? in.numbers("decay_tables") : VecX();
  Eigen::Index next = 0;
  for (std::size_t r = 0; r < names.size(); ++r) {
    const double* row = rows.data() + r * kMaterialColumns;
    in.require(row[3] == 0 || row[3] == 1 || row[3] == 2, "materials", "an unknown kind of damping",
               "0, 1 or 2");
    const auto entries = static_cast<Eigen::Index>(std::clamp(row[8], 0.0, 1e9));
    in.require(next + entries <= tables.size(), "decay_tables", "too few entries",
               "the number of entries in 'materials'");
    model::Material m;
    m.name = names[r];
    m.density = row[0];
    m.young = row[1];
    m.poisson = row[2];
    m.damping = {static_cast<model::DampingKind>(static_cast<int>(row[3])), row[4], row[5], row[6], {}};
    m.damping.decays.assign(tables.data() + next, tables.data() + next + entries);
    m.contact_damping = row[7];
    next += entries;
    check_material(m, m.name);
    model.materials.push_back(std::move(m));
  }
}

void read_supports(const Reader& in, model::ModalModel& model)
{
  if (!in.has("supports")) return;
  const std::vector<std::string>& places = in.file().at("supports").texts;
  const auto axes = in.file().at("support_axes").as<std::uint8_t>({places.size(), 3});
  for (std::size_t s = 0; s < places.size(); ++s) {
    model::Support support;
    support.where = parse_selection(places[s]);
    for (std::size_t a = 0; a < 3; ++a) support.fixed[a] = axes[3 * s + a] != 0;
    model.supports.push_back(std::move(support));
  }
}

void read_rigid_body(const Reader& in, model::ModalModel& model)
{
  model.mass = in.number("mass");
  model.centre_of_mass = in.numbers("centre_of_mass", 3);
  const auto inertia = in.file().at("inertia").as<double>({3, 3});
  model.inertia = Eigen::Map<const Mat3>(inertia.data());
  in.require(model.inertia.allFinite() && model.mass > 0, "inertia", "no mass or a number that is not finite",
             "the mass properties of a body");
  const auto counts = in.file().at("counts").as<std::int64_t>({3});
  in.require(std::all_of(counts.begin(), counts.end(),
                         [](std::int64_t n) { return n >= 0 && std::in_range<Index>(n); }),
             "counts", "an invalid number", "the numbers of nodes, elements and rigid modes");
  model.node_count = static_cast<Index>(counts[0]);
  model.element_count = static_cast<Index>(counts[1]);
  model.rigid_mode_count = static_cast<Index>(counts[2]);
}

}  // namespace

void write_modal_file(const std::filesystem::path& file, const model::ModalModel& model)
{
  if (model.surface.vertices.empty() || model.surface.triangles.empty()) {
    throw Error("The modal model has no surface, so there is nothing to write.");
  }
  NpzWriter out(file);
  const auto modes = at(model.mode_count());
  const std::size_t vertices = model.surface.vertices.size();
  out.add("format_version", std::int64_t{kModalFileVersion});
  out.add_text("name", model.name);
  out.add_text("element", model.element);
  out.add("frequencies", as_span(model.frequencies));
  out.add("decays", as_span(model.decays));
  // A column of the matrix holds x, y, z of one vertex after the other: row-major (modes, vertices, 3)
  // without conversion.
  out.add("shapes", std::span<const double>(model.shapes.data(), at(model.shapes.size())),
          {modes, vertices, 3});
  if (model.frequency_errors.size() > 0) out.add("frequency_errors", as_span(model.frequency_errors));
  out.add("vertices", std::span<const double>(model.surface.vertices.data()->data(), 3 * vertices),
          {vertices, 3});
  out.add("triangles",
          std::span<const std::int32_t>(model.surface.triangles.data()->data(),
                                        3 * model.surface.triangles.size()),
          {model.surface.triangles.size(), 3});
  if (!model.surface_nodes.empty()) out.add("surface_nodes", model.surface_nodes);
  out.add("mass", model.mass);
  out.add("centre_of_mass", std::span<const double>(model.centre_of_mass.data(), 3));
  out.add("inertia", std::span<const double>(model.inertia.data(), 9), {3, 3});
  const std::vector<std::int64_t> counts = {model.node_count, model.element_count, model.rigid_mode_count};
  out.add("counts", counts);
  write_materials(out, model);
  write_supports(out, model);
  if (!model.warnings.empty()) out.add_texts("warnings", model.warnings);
  out.commit();
}

model::ModalModel parse_modal_file(std::span<const std::byte> bytes, const std::filesystem::path& name)
{
  const NpzFile file = base::parse_npz(bytes, name);
  const Reader in(file, name);
  if (!file.contains("format_version")) {
    throw InputError({name}, "no array 'format_version'", "a modal file written by thrum modes");
  }
  const std::int64_t version = file.at("format_version").as<std::int64_t>({}).front();
  in.require(version == kModalFileVersion, "format_version", fmt::format("version {}", version),
             fmt::format("version {}; use a newer thrum for newer files", kModalFileVersion));
  model::ModalModel model;
  model.name = file.at("name").text();
  model.element = file.at("element").text();
  read_surface(in, model);
  read_modes(in, model);
  read_rigid_body(in, model);
  read_materials(in, model);
  read_supports(in, model);
  if (file.contains("warnings")) model.warnings = file.at("warnings").texts;
  return model;
}

model::ModalModel read_modal_file(const std::filesystem::path& file)
{
  return parse_modal_file(base::read_file(file), file);
}

}  // namespace thrum::elastic
