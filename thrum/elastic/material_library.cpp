// SPDX-License-Identifier: MIT
#include "thrum/elastic/material_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/elastic/material_data.h"
#include "thrum/elastic/material_limits.h"

namespace thrum::elastic {

namespace {

using Json = nlohmann::json;

bool same_name(std::string_view a, std::string_view b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

// The position in the file, for messages.
struct Reading {
  std::filesystem::path file;
  std::string what;  // "material 'steel'"

  [[noreturn]] void reject(const std::string& found, const std::string& expected) const
  {
    throw InputError({.file = file}, fmt::format("{}: {}", what, found), expected);
  }
};

void reject_unknown_keys(const Json& object, std::initializer_list<std::string_view> known,
                         const Reading& reading)
{
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      reading.reject(fmt::format("unknown key \"{}\"", key),
                     fmt::format("one of {}", fmt::join(known, ", ")));
}

double number(const Json& object, const char* key, const Reading& reading)
{
  const auto it = object.find(key);
  if (it == object.end()) reading.reject(fmt::format("no \"{}\"", key), "a number");
  if (!it->is_number()) reading.reject(fmt::format("\"{}\" is {}", key, it->dump()), "a number");
  return it->get<double>();
}

double number_or(const Json& object, const char* key, double otherwise, const Reading& reading)
{
  return object.contains(key) ? number(object, key, reading) : otherwise;
}

model::Damping read_damping(const Json& json, const Reading& reading)
{
  if (!json.is_object()) reading.reject("\"damping\" is " + json.dump(), "an object");
  reject_unknown_keys(json, {"alpha", "beta", "loss_factor", "decays"}, reading);
  model::Damping damping;
  damping.alpha = number_or(json, "alpha", 0, reading);
  damping.beta = number_or(json, "beta", 0, reading);
  if (json.contains("loss_factor")) {
    if (json.size() > 1) reading.reject("\"loss_factor\" together with other damping", "one kind of damping");
    damping.kind = model::DampingKind::loss_factor;
    damping.loss_factor = number(json, "loss_factor", reading);
  }
  if (json.contains("decays")) {
    damping.kind = model::DampingKind::table;
    const Json& decays = json["decays"];
    const bool numbers = decays.is_array() && std::all_of(decays.begin(), decays.end(),
                                                          [](const Json& d) { return d.is_number(); });
    if (!numbers) reading.reject("\"decays\" is " + decays.dump(), "a list of numbers, one per mode");
    damping.decays = decays.get<std::vector<double>>();
  }
  return damping;
}

model::Material read_material(const Json& json, Reading& reading)
{
  if (!json.is_object()) reading.reject("a material is " + json.dump(), "an object");
  if (!json.contains("name") || !json["name"].is_string()) reading.reject("no \"name\"", "a string");
  model::Material material;
  material.name = json["name"].get<std::string>();
  reading.what = fmt::format("material '{}'", material.name);
  reject_unknown_keys(json,
                      {"name", "density", "young", "poisson", "damping", "contact_damping", "roughness",
                       "roughness_exponent", "aliases", "source"},
                      reading);
  material.density = number(json, "density", reading);
  material.young = number(json, "young", reading);
  material.poisson = number(json, "poisson", reading);
  if (json.contains("damping")) material.damping = read_damping(json["damping"], reading);
  material.contact_damping = number_or(json, "contact_damping", 0, reading);
  return material;
}

model::Roughness read_roughness(const Json& json, const Reading& reading)
{
  const model::Roughness usual;
  return {number_or(json, "roughness", usual.height, reading),
          number_or(json, "roughness_exponent", usual.exponent, reading)};
}

std::vector<std::string> read_aliases(const Json& json, const Reading& reading)
{
  if (!json.contains("aliases")) return {};
  const Json& aliases = json["aliases"];
  const bool texts = aliases.is_array() &&
                     std::all_of(aliases.begin(), aliases.end(), [](const Json& a) { return a.is_string(); });
  if (!texts) reading.reject("\"aliases\" is " + aliases.dump(), "a list of names");
  return aliases.get<std::vector<std::string>>();
}

std::size_t line_of_byte(std::string_view text, std::size_t byte)
{
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

void require(bool valid, std::string_view context, const std::string& sentence)
{
  if (!valid) throw Error(fmt::format("{}: {}", context, sentence));
}

}  // namespace

const MaterialLibrary& MaterialLibrary::builtin()
{
  static const MaterialLibrary library = [] {
    MaterialLibrary made;
    made.parse(builtin_materials(), "data/materials.json");
    return made;
  }();
  return library;
}

void MaterialLibrary::read(const std::filesystem::path& file)
{
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError({.file = file}, "a file that cannot be read", "a JSON file of materials");
  std::ostringstream text;
  text << in.rdbuf();
  parse(text.str(), file);
}

void MaterialLibrary::parse(std::string_view text, const std::filesystem::path& file)
{
  Json json;
  try {
    json = Json::parse(text, nullptr, true, true);
  } catch (const Json::parse_error& error) {
    throw InputError({.file = file, .line = line_of_byte(text, error.byte)}, error.what(), "JSON");
  }
  Reading reading{file, "the file"};
  if (!json.is_object()) reading.reject("a JSON " + std::string(json.type_name()), "an object");
  reject_unknown_keys(json, {"version", "materials"}, reading);
  if (number(json, "version", reading) != 1) reading.reject("version " + json["version"].dump(), "version 1");
  if (!json.contains("materials") || !json["materials"].is_array())
    reading.reject("no \"materials\"", "a list");
  for (const Json& entry : json["materials"]) {
    reading.what = "the list of materials";
    const model::Material material = read_material(entry, reading);
    try {
      add(material, read_aliases(entry, reading), read_roughness(entry, reading));
    } catch (const InputError&) {
      throw;
    } catch (const Error& error) {
      throw InputError({.file = file}, error.what(), "a physical material");
    }
  }
}

void MaterialLibrary::add(const model::Material& material, std::vector<std::string> aliases,
                          const model::Roughness& roughness)
{
  if (material.name.empty()) throw Error("A material of a library needs a name.");
  const std::string context = fmt::format("Material '{}'", material.name);
  check_material(material, context);
  require(material.density >= kMinDensity && material.density <= kMaxDensity, context,
          fmt::format("the density is {} kg/m^3; it must be from {:g} to {:g} (water has 1000, steel 7850).",
                      material.density, kMinDensity, kMaxDensity));
  require(material.young >= kMinYoung && material.young <= kMaxYoung, context,
          fmt::format("Young's modulus is {} Pa; it must be from {:g} to {:g} (wood 1e10, steel 2e11).",
                      material.young, kMinYoung, kMaxYoung));
  std::erase_if(entries_, [&](const Entry& e) { return same_name(e.material.name, material.name); });
  require(
      roughness.height >= 0 && roughness.height <= kMaxRoughness, context,
      fmt::format("the roughness is {} m; it must be from 0 to {:g} (ground steel 7e-7, planed wood 5e-6).",
                  roughness.height, kMaxRoughness));
  require(roughness.exponent >= 0 && roughness.exponent <= 1, context,
          fmt::format("the roughness_exponent is {}; it must be from 0 to 1.", roughness.exponent));
  entries_.push_back({material, std::move(aliases), roughness});
}

const model::Material& MaterialLibrary::get(std::string_view name) const
{
  return get_entry(name).material;
}

const model::Roughness& MaterialLibrary::roughness_of(std::string_view name) const
{
  return get_entry(name).roughness;
}

const MaterialLibrary::Entry& MaterialLibrary::get_entry(std::string_view name) const
{
  if (const Entry* entry = find_entry(name)) return *entry;
  throw Error(fmt::format(
      "There is no material '{}'. Available: {}. Or set density, Young's modulus and Poisson's ratio.", name,
      fmt::join(names(), ", ")));
}

const model::Material* MaterialLibrary::find(std::string_view name) const
{
  const Entry* entry = find_entry(name);
  return entry != nullptr ? &entry->material : nullptr;
}

const MaterialLibrary::Entry* MaterialLibrary::find_entry(std::string_view name) const
{
  for (const Entry& entry : entries_)
    if (same_name(entry.material.name, name)) return &entry;
  for (const Entry& entry : entries_)
    for (const std::string& alias : entry.aliases)
      if (same_name(alias, name)) return &entry;
  return nullptr;
}

std::vector<std::string> MaterialLibrary::names() const
{
  std::vector<std::string> all;
  for (const Entry& entry : entries_) all.push_back(entry.material.name);
  return all;
}

void check_material(const model::Material& material, std::string_view context)
{
  const auto positive = [](double x) {
    return std::isfinite(x) && x > 0;
  };
  const auto not_negative = [](double x) {
    return std::isfinite(x) && x >= 0;
  };
  require(positive(material.density), context,
          fmt::format("the density is {} kg/m^3; it must be positive (water has 1000, steel 7850).",
                      material.density));
  require(positive(material.young), context,
          fmt::format("Young's modulus is {} Pa; it must be positive (wood has about 1e10, steel 2e11).",
                      material.young));
  require(std::isfinite(material.poisson) && material.poisson > -1 && material.poisson < 0.5, context,
          fmt::format("Poisson's ratio is {}; it must lie between -1 and 0.5, because at 0.5 a solid is "
                      "incompressible, which these elements cannot represent. Use 0.49 for rubber.",
                      material.poisson));
  const model::Damping& d = material.damping;
  require(not_negative(d.alpha) && not_negative(d.beta) && not_negative(d.loss_factor) &&
              std::all_of(d.decays.begin(), d.decays.end(), not_negative),
          context, "damping must not be negative: the amplitude would grow without limit.");
  require(not_negative(material.contact_damping), context, "contact_damping must not be negative.");
}

}  // namespace thrum::elastic
