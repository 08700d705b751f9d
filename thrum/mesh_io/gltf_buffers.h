// SPDX-License-Identifier: MIT
// The JSON tree of a glTF file, its buffers and its accessors, with every index, length and type checked.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thrum::mesh_io {

/// A run of vectors inside a buffer. Every element lies within the buffer.
struct Accessor {
  const char* data = nullptr;
  std::size_t count = 0;
  std::size_t stride = 0;  ///< from element to element [bytes]
  int component_type = 0;  ///< as in the glTF specification, 5120 to 5126
  bool normalized = false;
  bool floating = false;

  /// A component of an element as a double; normalised integers become fractions.
  [[nodiscard]] double value(std::size_t element, std::size_t component) const;
};

class GltfBuffers {
 public:
  /// Reads a .glb or a .gltf. Keeps a view of `bytes` and a reference to `name`.
  GltfBuffers(std::string_view bytes, const std::filesystem::path& name, const std::filesystem::path& folder);

  [[nodiscard]] const nlohmann::json& root() const { return root_; }
  /// The file and its external buffers together [bytes].
  [[nodiscard]] std::size_t total_bytes() const { return total_bytes_; }

  /// The array `key` of the file or of `object`; an empty one when it does not exist. Throws when it is not
  /// an array.
  [[nodiscard]] const nlohmann::json& list(const char* key) const { return list_in(root_, key); }
  [[nodiscard]] const nlohmann::json& list_in(const nlohmann::json& object, const char* key) const;
  /// The index `key` of `object`, below `size`; `otherwise` when it does not exist.
  [[nodiscard]] std::optional<std::size_t> index(const nlohmann::json& object, const char* key,
                                                 std::size_t size,
                                                 std::optional<std::size_t> otherwise = std::nullopt) const;
  [[nodiscard]] std::size_t checked_index(const nlohmann::json& value, const char* what,
                                          std::size_t size) const;
  [[nodiscard]] std::string text(const nlohmann::json& object, const char* key) const;
  template <std::size_t N>
  [[nodiscard]] std::array<double, N> numbers(const nlohmann::json& object, const char* key,
                                              std::array<double, N> otherwise) const
  {
    const nlohmann::json& values = list_in(object, key);
    if (values.empty()) return otherwise;
    if (values.size() != N) fail_at_key(key, values.size(), N);
    for (std::size_t i = 0; i < N; ++i) {
      if (!values[i].is_number()) fail_at_key(key, i, N);
      otherwise[i] = values[i].get<double>();
    }
    return otherwise;
  }
  /// Accessor `number`, whose elements have `components` components.
  [[nodiscard]] Accessor accessor(std::size_t number, std::size_t components) const;

  [[noreturn]] void fail(std::string found, std::string expected) const;

 private:
  [[noreturn]] void fail_at_key(const char* key, std::size_t found, std::size_t expected) const;
  [[nodiscard]] std::string_view split_glb(std::string_view bytes);
  void load_buffers(const std::filesystem::path& folder);
  [[nodiscard]] std::string load_uri(const std::string& uri, const std::filesystem::path& folder) const;
  [[nodiscard]] std::uint64_t size_in(const nlohmann::json& object, const char* key,
                                      std::uint64_t otherwise) const;

  nlohmann::json root_;
  const std::filesystem::path* name_;
  std::string_view binary_chunk_;
  bool has_binary_chunk_ = false;
  std::vector<std::string> owned_;  // contents of external and embedded buffers, one per buffer
  std::vector<std::string_view> buffers_;
  std::size_t total_bytes_ = 0;
};

/// A .glb file from its JSON text and its binary part.
[[nodiscard]] std::string glb_from_chunks(std::string json, std::string binary);

}  // namespace thrum::mesh_io
