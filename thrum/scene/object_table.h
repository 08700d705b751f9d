// SPDX-License-Identifier: MIT
// Tables that say what an object of a scene file holds. One table serves the reader, the JSON Schema and the
// reference page, so that the three cannot part.
//
//   const ObjectTable<model::Sphere>& sphere_table()
//   {
//     static const ObjectTable<model::Sphere> table =
//         ObjectTable<model::Sphere>("sphere", "A ball.")
//             .field({.key = "radius", .unit = "m", .bounds = above(0)}, &model::Sphere::radius);
//     return table;
//   }
//
// Defaults are those of the struct. Tables refer to each other by functions, so that they may be recursive.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/scene/located_json.h"
#include "thrum/scene/member_path.h"
#include "thrum/scene/mistakes.h"
#include "thrum/scene/value_codecs.h"

namespace thrum::scene {

class TableBase;
using TableFunction = std::function<const TableBase&()>;

/// One key as the schema and the reference page describe it.
struct FieldInfo {
  ValueRule rule;
  nlohmann::ordered_json schema;             ///< of the value; empty when `table` says it
  std::string type_text;                     ///< "number", "list of 3 numbers"
  std::string default_text;                  ///< empty: none is shown
  std::vector<TableFunction> tables;         ///< objects that may stand here
  bool list = false;                         ///< of those objects
  bool or_name = false;                      ///< a name (a text) may stand here instead
  std::vector<MemberBinding> bindings = {};  ///< members that the key reads into
  bool or_flag = false;                      ///< true or false may stand here instead
};

/// A word that stands for the values of several keys.
template <class T>
struct Preset {
  std::string word;
  std::function<void(T&)> apply;
  std::vector<std::string> keys;         ///< that it sets; none of them may stand beside it
  std::vector<std::string> values = {};  ///< of these keys, as defaults are shown; filled in by the table
};

/// What all tables have: a name, a sentence, and either keys or kinds.
class TableBase {
 public:
  TableBase(std::string name, std::string doc) : name_(std::move(name)), doc_(std::move(doc)) {}
  virtual ~TableBase() = default;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& doc() const { return doc_; }
  [[nodiscard]] const std::vector<FieldInfo>& fields() const { return fields_; }
  /// Empty, or: the objects among which the key "kind" chooses.
  [[nodiscard]] const std::vector<TableFunction>& kinds() const { return kinds_; }
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::vector<std::string> kind_names() const;

 protected:
  /// Reports unknown keys and missing ones; false when the value is not an object at all.
  [[nodiscard]] bool check_keys(const JsonValue& value, ReadContext& context, bool kind_is_known) const;
  /// The index of the kind that the value asks for; reports what is wrong otherwise.
  [[nodiscard]] std::optional<std::size_t> choose_kind(const JsonValue& value, ReadContext& context) const;

  std::string name_;
  std::string doc_;
  std::vector<FieldInfo> fields_;
  std::vector<TableFunction> kinds_;
  std::vector<std::pair<std::string, std::string>>
      aliases_;  ///< of kinds, each with the name that is documented
};

/// The keys of an object that is read into a T.
template <class T>
class ObjectTable : public TableBase {
 public:
  using TableBase::TableBase;
  using Read = std::function<void(const JsonValue&, T&, ReadContext&)>;

  /// A number, a text, a boolean, a vector ...: whatever value_codecs.h knows.
  template <class Member>
  ObjectTable&& field(ValueRule rule, MemberPath<T, Member> member) &&
  {
    const auto show = [rule, member](const T& from) {
      return show_value(member.get(const_cast<T&>(from)), rule);
    };
    FieldInfo info{
        rule,  schema_of<Member>(rule), type_of<Member>(rule), rule.required ? "" : show(T{}), {}, false,
        false, member.bindings};
    return std::move(*this).add(
        std::move(info),
        [rule, member](const JsonValue& v, T& out, ReadContext& c) {
          read_value(v, member.get(out), rule, c);
        },
        show);
  }
  template <class Member>
  ObjectTable&& field(ValueRule rule, Member T::*member) &&
  {
    return std::move(*this).field(std::move(rule), path(member));
  }

  /// One of several words. Member is the enum, or an optional of it.
  template <class Member, class Enum>
  ObjectTable&& choice(ValueRule rule, MemberPath<T, Member> member,
                       std::vector<std::pair<std::string, Enum>> words) &&
  {
    for (const auto& word : words) rule.choices.push_back(word.first);
    const auto show = [words, member](const T& from) -> std::string {
      for (const auto& word : words) {
        if (member.get(const_cast<T&>(from)) == word.second) return word.first;
      }
      return "";
    };
    FieldInfo info{rule,
                   schema_of<std::string>(rule),
                   "one of the words",
                   rule.required ? "" : show(T{}),
                   {},
                   false,
                   false,
                   member.bindings};
    return std::move(*this).add(
        std::move(info),
        [rule, member, words](const JsonValue& v, T& out, ReadContext& c) {
          std::string text;
          if (!read_value(v, text, rule, c)) return;
          for (const auto& word : words) {
            if (word.first == text) member.get(out) = word.second;
          }
        },
        show);
  }
  template <class Enum>
  ObjectTable&& choice(ValueRule rule, Enum T::*member, std::vector<std::pair<std::string, Enum>> words) &&
  {
    return std::move(*this).choice(std::move(rule), path(member), std::move(words));
  }

  /// An object with a table of its own. Member is the read type, or an optional of it.
  template <class Member, class Table>
  ObjectTable&& object(ValueRule rule, MemberPath<T, Member> member, const Table& (*table)()) &&
  {
    FieldInfo info = object_info(std::move(rule), table);
    info.type_text = "object";
    info.bindings = member.bindings;
    return std::move(*this).add(std::move(info), [member, table](const JsonValue& v, T& out, ReadContext& c) {
      Member& target = member.get(out);
      if constexpr (requires {
                      target.emplace();
                      target.has_value();
                    }) {
        target.emplace();
        table().read(v, *target, c);
      } else {
        table().read(v, target, c);
      }
    });
  }
  template <class Member, class Table>
  ObjectTable&& object(ValueRule rule, Member T::*member, const Table& (*table)()) &&
  {
    return std::move(*this).object(std::move(rule), path(member), table);
  }

  /// An object, true for one of defaults, or false for none. Member is an optional.
  template <class Member, class Table>
  ObjectTable&& flag_or_object(ValueRule rule, Member T::*member, const Table& (*table)()) &&
  {
    FieldInfo info = object_info(std::move(rule), table);
    info.or_flag = true;
    info.type_text = "true, false, or an object";
    info.bindings = {binding_of(member)};
    return std::move(*this).add(std::move(info), [member, table](const JsonValue& v, T& out, ReadContext& c) {
      if (v.boolean() != nullptr) {
        (out.*member).reset();
        if (*v.boolean()) (out.*member).emplace();
      } else if (v.object() != nullptr) {
        (out.*member).emplace();
        table().read(v, *(out.*member), c);
      } else {
        c.fail(v, "true, false or an object in braces");
      }
    });
  }

  /// A list of objects.
  template <class Element, class Table>
  ObjectTable&& list(ValueRule rule, std::vector<Element> T::*member, const Table& (*table)()) &&
  {
    FieldInfo info = object_info(std::move(rule), table);
    info.list = true;
    info.type_text = "list of objects";
    info.bindings = {binding_of(member)};
    return std::move(*this).add(std::move(info), [member, table](const JsonValue& v, T& out, ReadContext& c) {
      if (v.array() == nullptr) return c.fail(v, "a list of objects");
      for (std::size_t i = 0; i < v.array()->size(); ++i) {
        const auto scope = c.enter(i);
        // A list that an included file has begun is continued.
        Element element;
        table().read((*v.array())[i], element, c);
        (out.*member).push_back(std::move(element));
      }
    });
  }

  /// A name of something listed elsewhere, or the thing itself.
  template <class Member, class Table>
  ObjectTable&& named_or_object(ValueRule rule, Member T::*member, const Table& (*table)()) &&
  {
    FieldInfo info = object_info(rule, table);
    info.or_name = true;
    info.type_text = "a name, or an object";
    info.bindings = {binding_of(member)};
    return std::move(*this).add(std::move(info), [member, table](const JsonValue& v, T& out, ReadContext& c) {
      (out.*member).place = c.place(v);
      if (v.string() != nullptr) {
        (out.*member).name = *v.string();
      } else if (v.object() != nullptr) {
        (out.*member).object.emplace();
        table().read(v, *(out.*member).object, c);
      } else {
        c.fail(v, "a name in quotes or an object in braces");
      }
    });
  }

  /// Words that set several keys at once. Comes after the keys that they set; what each sets is added to the
  /// doc.
  ObjectTable&& presets(ValueRule rule, std::vector<Preset<T>> presets) &&
  {
    for (Preset<T>& preset : presets) {
      T applied{};
      preset.apply(applied);
      rule.choices.push_back(preset.word);
      rule.doc += "; " + preset.word + " sets";
      for (const std::string& key : preset.keys) {
        preset.values.push_back(shown(key, applied));
        rule.doc += (key == preset.keys.front() ? " " : ", ") + key + " = " + preset.values.back();
      }
    }
    FieldInfo info{rule, schema_of<std::string>(rule), "one of the words", "", {}, false, false, {}};
    presets_ = presets;
    preset_key_ = rule.key;
    return std::move(*this).add(std::move(info), [rule](const JsonValue& v, T&, ReadContext& c) {
      std::string word;
      read_value(v, word, rule, c);
    });
  }
  /// The keys that each word of presets() sets.
  [[nodiscard]] const std::vector<Preset<T>>& preset_list() const { return presets_; }
  /// What `value` has for a key, as defaults are shown.
  [[nodiscard]] std::string shown(const std::string& key, const T& value) const
  {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if (fields_[f].rule.key == key && shows_[f]) return shows_[f](value);
    }
    throw Error("The table " + name_ + " has no value for the key " + key + ".");
  }

  void read(const JsonValue& value, T& out, ReadContext& context, bool kind_is_known = false) const
  {
    if constexpr (requires { out.place = context.place(value); }) out.place = context.place(value);
    if (!check_keys(value, context, kind_is_known)) return;
    for (const JsonMember& member : *value.object()) {
      for (std::size_t f = 0; f < fields_.size(); ++f) {
        if (fields_[f].rule.key != member.key) continue;
        const auto scope = context.enter(member.key);
        reads_[f](member.value, out, context);
      }
    }
    apply_preset(value, out, context);
  }

 private:
  template <class Table>
  static FieldInfo object_info(ValueRule rule, const Table& (*table)())
  {
    FieldInfo info;
    info.rule = std::move(rule);
    info.tables.emplace_back([table]() -> const TableBase& { return table(); });
    return info;
  }

  using Show = std::function<std::string(const T&)>;

  ObjectTable&& add(FieldInfo info, Read read, Show show = {}) &&
  {
    fields_.push_back(std::move(info));
    reads_.push_back(std::move(read));
    shows_.push_back(std::move(show));
    return std::move(*this);
  }

  // A key beside a preset that sets it would be lost in silence. A preset from the command line (--set, line
  // 0) replaces what the file says, as every --set does.
  void apply_preset(const JsonValue& value, T& out, ReadContext& context) const
  {
    const JsonValue* word = preset_key_.empty() ? nullptr : value.find(preset_key_);
    if (word == nullptr || word->string() == nullptr) return;
    for (const Preset<T>& preset : presets_) {
      if (preset.word != *word->string()) continue;
      for (const JsonMember& member : *value.object()) {
        const auto key = std::find(preset.keys.begin(), preset.keys.end(), member.key);
        if (key == preset.keys.end() || (word->line() == 0 && member.value.line() > 0)) continue;
        const auto scope = context.enter(member.key);
        context.fail_overridden(member, preset_key_, *word, preset.values[at(key - preset.keys.begin())]);
      }
      preset.apply(out);
    }
  }

  std::vector<Read> reads_;
  std::vector<Show> shows_;
  std::vector<Preset<T>> presets_;
  std::string preset_key_;
};

/// Objects whose key "kind" chooses among several tables, read into a struct with a std::variant `data`.
template <class Holder>
class KindTable : public TableBase {
 public:
  using TableBase::TableBase;

  template <class T>
  KindTable&& kind(const ObjectTable<T>& (*table)()) &&
  {
    kinds_.emplace_back([table]() -> const TableBase& { return table(); });
    reads_.push_back([table](const JsonValue& v, Holder& out, ReadContext& c) {
      T value{};
      table().read(v, value, c, true);
      out.data = std::move(value);
    });
    return std::move(*this);
  }

  /// Another spelling of a kind, understood and not documented.
  KindTable&& alias(std::string other, std::string name) &&
  {
    aliases_.emplace_back(std::move(other), std::move(name));
    return std::move(*this);
  }

  void read(const JsonValue& value, Holder& out, ReadContext& context) const
  {
    const std::optional<std::size_t> chosen = choose_kind(value, context);
    if (chosen) reads_[*chosen](value, out, context);
  }

 private:
  std::vector<std::function<void(const JsonValue&, Holder&, ReadContext&)>> reads_;
};

}  // namespace thrum::scene
