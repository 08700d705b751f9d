// SPDX-License-Identifier: MIT
// Materials by name. The built-in ones come from data/materials.json, which also documents the file format.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/model/material.h"
#include "thrum/model/roughness.h"

namespace thrum::elastic {

class MaterialLibrary {
 public:
  /// The materials of data/materials.json, compiled in.
  [[nodiscard]] static const MaterialLibrary& builtin();

  /// Adds the materials of a file or of a text; a name that is already known is replaced. Throws InputError
  /// for invalid content, and for a material that check_material() rejects.
  void read(const std::filesystem::path& file);
  void parse(std::string_view text, const std::filesystem::path& file);
  void add(const model::Material& material, std::vector<std::string> aliases = {},
           const model::Roughness& roughness = {});

  /// By name or alias, ignoring case; throws Error that lists the known ones.
  [[nodiscard]] const model::Material& get(std::string_view name) const;
  /// The same, or nullptr.
  [[nodiscard]] const model::Material* find(std::string_view name) const;
  /// Of its surface; throws as get() does.
  [[nodiscard]] const model::Roughness& roughness_of(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct Entry {
    model::Material material;
    std::vector<std::string> aliases;
    model::Roughness roughness;
  };
  [[nodiscard]] const Entry* find_entry(std::string_view name) const;
  [[nodiscard]] const Entry& get_entry(std::string_view name) const;

  std::vector<Entry> entries_;
};

/// Throws Error, with what to do, for a density or a modulus that is not positive, a Poisson's ratio outside
/// (-1, 0.5), or damping that would add energy. `context` names the material in the message.
void check_material(const model::Material& material, std::string_view context);

}  // namespace thrum::elastic
