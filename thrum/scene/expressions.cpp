// SPDX-License-Identifier: MIT
#include "thrum/scene/expressions.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace thrum::scene {

namespace {

constexpr int kMaxExpressionDepth = 64;  ///< nested parentheses and signs

const JsonValue* find(const Parameters& parameters, std::string_view name)
{
  for (const JsonMember& member : parameters) {
    if (member.key == name) return &member.value;
  }
  return nullptr;
}

std::vector<std::string> names_of(const Parameters& parameters)
{
  std::vector<std::string> names;
  for (const JsonMember& member : parameters) names.push_back(member.key);
  return names;
}

bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

// sum = product {(+|-) product}; product = factor {(*|/) factor}; factor = number | name | -factor | (sum).
class Expression {
 public:
  Expression(std::string_view text, const Parameters& parameters) : text_(text), parameters_(parameters) {}

  /// Nothing when `mistake` says what is wrong.
  std::optional<double> value()
  {
    const double result = sum(0);
    space();
    if (mistake.empty() && at_ < text_.size())
      fail(fmt::format("'{}' in an expression", text_[at_]), "+ - * / or its end");
    if (mistake.empty() && !std::isfinite(result))
      fail("an expression that is not a finite number", "a finite number");
    return mistake.empty() ? std::optional(result) : std::nullopt;
  }

  std::string mistake;  ///< what was found
  std::string expected;
  std::string nearest;

 private:
  void fail(std::string found, std::string wanted)
  {
    if (!mistake.empty()) return;
    mistake = std::move(found);
    expected = std::move(wanted);
    at_ = text_.size();
  }

  void space()
  {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool next(char c)
  {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  double sum(int depth)
  {
    double result = product(depth);
    while (mistake.empty()) {
      if (next('+')) {
        result += product(depth);
      } else if (next('-')) {
        result -= product(depth);
      } else {
        break;
      }
    }
    return result;
  }

  double product(int depth)
  {
    double result = factor(depth);
    while (mistake.empty()) {
      if (next('*')) {
        result *= factor(depth);
      } else if (next('/')) {
        result /= factor(depth);
      } else {
        break;
      }
    }
    return result;
  }

  double factor(int depth)
  {
    if (depth > kMaxExpressionDepth)
      fail("a deeply nested expression", fmt::format("at most {} levels", kMaxExpressionDepth));
    if (!mistake.empty()) return 0;
    if (next('-')) return -factor(depth + 1);
    if (next('(')) {
      const double inner = sum(depth + 1);
      if (!next(')')) fail("an open parenthesis", "')'");
      return inner;
    }
    space();
    if (at_ < text_.size() && is_letter(text_[at_])) return name();
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc() || at_ >= text_.size() || !(is_digit(text_[at_]) || text_[at_] == '.')) {
      fail(at_ < text_.size() ? fmt::format("'{}' in an expression", text_[at_]) : "an unfinished expression",
           "a number, a parameter or '('");
      return 0;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return number;
  }

  double name()
  {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string word(text_.substr(start, at_ - start));
    const JsonValue* value = find(parameters_, word);
    if (value != nullptr && value->number() != nullptr) return *value->number();
    if (value == nullptr) {
      const std::vector<std::string> known = names_of(parameters_);
      nearest = nearest_name(word, known);
      fail(fmt::format("the unknown parameter \"{}\"", word),
           known.empty() ? "no parameters, as the file lists none"
                         : fmt::format("one of {}", fmt::join(known, ", ")));
    } else {
      fail(fmt::format("{} for \"{}\"", value->describe(), word), "a number in an expression");
    }
    return 0;
  }

  std::string_view text_;
  const Parameters& parameters_;
  std::size_t at_ = 0;
};

JsonValue evaluate_text(const JsonValue& value, const Parameters& parameters, ReadContext& context)
{
  std::string_view text = std::string_view(*value.string()).substr(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  // A name alone stands for whatever it names.
  if (const JsonValue* whole = find(parameters, text))
    return JsonValue(whole->data(), value.line(), value.column());
  Expression expression(text, parameters);
  const std::optional<double> result = expression.value();
  if (result) return JsonValue(*result, value.line(), value.column());
  context.fail(context.place(value), expression.mistake, expression.expected, expression.nearest);
  return value;
}

}  // namespace

JsonValue evaluate(const JsonValue& value, const Parameters& parameters, ReadContext& context)
{
  if (value.string() != nullptr && value.string()->starts_with('='))
    return evaluate_text(value, parameters, context);
  if (const JsonArray* list = value.array()) {
    JsonArray result;
    result.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto scope = context.enter(i);
      result.push_back(evaluate((*list)[i], parameters, context));
    }
    return JsonValue(std::move(result), value.line(), value.column());
  }
  if (const JsonObject* object = value.object()) {
    JsonObject result;
    result.reserve(object->size());
    for (const JsonMember& member : *object) {
      const auto scope = context.enter(member.key);
      result.push_back({member.key, member.line, member.column, evaluate(member.value, parameters, context)});
    }
    return JsonValue(std::move(result), value.line(), value.column());
  }
  return value;
}

}  // namespace thrum::scene
