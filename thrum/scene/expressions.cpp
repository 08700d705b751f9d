// SPDX-License-Identifier: MIT
#include "thrum/scene/expressions.h"
#include "thrum/base/index.h"

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
      fail(fmt::format("has '{}' where + - * / or the end of the expression must be.", text_[at_]));
    if (mistake.empty() && !std::isfinite(result))
      fail("is not a finite number. Is something divided by zero?");
    return mistake.empty() ? std::optional(result) : std::nullopt;
  }

  std::string mistake;  ///< what is wrong, after the expression itself
  std::string nearest;

 private:
  void fail(std::string message)
  {
    if (!mistake.empty()) return;
    mistake = std::move(message);
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
      fail(fmt::format("has more than {} levels of parentheses and signs. Use a parameter for a part of it.",
                       kMaxExpressionDepth));
    if (!mistake.empty()) return 0;
    if (next('-')) return -factor(depth + 1);
    if (next('(')) {
      const double inner = sum(depth + 1);
      if (!next(')')) fail("has a '(' without its ')'.");
      return inner;
    }
    space();
    if (at_ < text_.size() && is_letter(text_[at_])) return name();
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc() || at_ >= text_.size() || !(is_digit(text_[at_]) || text_[at_] == '.')) {
      fail(fmt::format("{} where a number, a parameter or '(' must be.",
                       at_ < text_.size() ? fmt::format("has '{}'", text_[at_]) : "ends"));
      return 0;
    }
    at_ = at(end - text_.data());
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
      fail(fmt::format(
          "uses \"{}\", which is not a parameter of this file; {}.", word,
          known.empty() ? "it has none" : fmt::format("its parameters are {}", fmt::join(known, ", "))));
    } else {
      fail(fmt::format("uses \"{}\", which is {}; only numbers can be computed with.", word,
                       value->describe()));
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
  context.fail(context.place(value), fmt::format("is \"{}\", which {}", *value.string(), expression.mistake),
               expression.nearest);
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
