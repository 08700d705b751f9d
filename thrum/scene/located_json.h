// SPDX-License-Identifier: MIT
// JSON with comments in which every value knows where it stands, so that a mistake found late, in the meaning
// of a scene, can still be reported with its line and column.
//
// Beyond JSON: // and /* */ comments, and a comma after the last element. Everything else is as strict as the
// standard: duplicate keys are an error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "thrum/base/error.h"

namespace thrum::scene {

class JsonValue;

struct JsonMember;
using JsonArray = std::vector<JsonValue>;
using JsonObject = std::vector<JsonMember>;  ///< in the order of the file

class JsonValue {
 public:
  using Data = std::variant<std::nullptr_t, bool, double, std::string, JsonArray, JsonObject>;

  JsonValue();
  JsonValue(Data data, std::size_t line, std::size_t column);
  ~JsonValue();
  JsonValue(const JsonValue&);
  JsonValue(JsonValue&&) noexcept;
  JsonValue& operator=(const JsonValue&);
  JsonValue& operator=(JsonValue&&) noexcept;

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(data_); }
  [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&data_); }
  [[nodiscard]] const double* number() const { return std::get_if<double>(&data_); }
  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&data_); }
  [[nodiscard]] const JsonArray* array() const { return std::get_if<JsonArray>(&data_); }
  [[nodiscard]] const JsonObject* object() const { return std::get_if<JsonObject>(&data_); }

  /// The member of that key, or null; also null when this is not an object.
  [[nodiscard]] const JsonValue* find(std::string_view key) const;

  /// The present value in words, as a message would say it: "3", "\"boxx\"", "a list of 2
  /// values".
  [[nodiscard]] std::string describe() const;

  [[nodiscard]] const Data& data() const { return data_; }
  [[nodiscard]] std::size_t line() const { return line_; }      ///< counted from 1
  [[nodiscard]] std::size_t column() const { return column_; }  ///< counted from 1, in bytes

 private:
  Data data_;  // null
  std::size_t line_ = 0;
  std::size_t column_ = 0;
};

struct JsonMember {
  std::string key;
  std::size_t line = 0;  ///< of the key
  std::size_t column = 0;
  JsonValue value;
};

/// Throws InputError with the line and column of the first mistake. Depth is limited to kMaxNesting, so
/// that no input exhausts the stack.
[[nodiscard]] JsonValue parse_json(std::string_view text, const std::filesystem::path& name);

inline constexpr int kMaxNesting = 128;

}  // namespace thrum::scene
