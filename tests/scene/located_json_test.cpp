// SPDX-License-Identifier: MIT
#include "thrum/scene/located_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace thrum::scene {
namespace {

std::string message(const std::string& text)
{
  try {
    (void)parse_json(text, "a.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LocatedJson, KnowsWhereEachValueStands)
{
  const JsonValue root =
      parse_json("{\n  // a comment\n  \"size\": [1, 2.5e-1,\n    -3],\n  \"on\": true,\n}\n", "a.json");
  const JsonValue* size = root.find("size");
  ASSERT_NE(size, nullptr);
  EXPECT_EQ(size->line(), 3u);
  EXPECT_EQ(size->column(), 11u);
  ASSERT_EQ(size->array()->size(), 3u);
  EXPECT_EQ(*(*size->array())[1].number(), 0.25);
  EXPECT_EQ((*size->array())[2].line(), 4u);
  EXPECT_EQ((*size->array())[2].column(), 5u);
  EXPECT_TRUE(*root.find("on")->boolean());
  EXPECT_EQ(root.find("off"), nullptr);
  EXPECT_EQ((*root.object())[0].column, 3u);
}

TEST(LocatedJson, ReadsEscapesAndUnicode)
{
  const JsonValue root = parse_json(R"(["a\"\\\n\u00e9\ud83c\udfb5"])", "a.json");
  EXPECT_EQ(*(*root.array())[0].string(), "a\"\\\n\xC3\xA9\xF0\x9F\x8E\xB5");
}

TEST(LocatedJson, ReportsErrorsWithTheirLocation)
{
  EXPECT_EQ(message("{\"a\": 1,\n \"a\": 2}"),
            "a.json:2:2: found the key \"a\" again, expected each key once; it stands on line 1 already");
  EXPECT_EQ(message("[1 2]"), "a.json:1:4: found '2', expected ',' or ']'");
  EXPECT_EQ(message("{\"a\" 1}"), "a.json:1:6: found '1', expected ':' after the key \"a\"");
  EXPECT_EQ(message("[1, /* never"), "a.json:1:5: found a comment without an end, expected \"*/\" after it");
  EXPECT_EQ(message("\"abc\n\""),
            "a.json:1:1: found text without a closing quote, expected '\"' on the same line");
  EXPECT_EQ(message("[1e999]"),
            "a.json:1:2: found the number 1e999, expected a number that a double can hold");
  EXPECT_EQ(message("{} {}"), "a.json:1:4: found '{', expected nothing after the end of the value");
  EXPECT_NE(message(""), "no error");
  EXPECT_NE(message("\"\\ud800\""), "no error");
  EXPECT_NE(message("[01]"), "no error");
}

TEST(LocatedJson, LimitsTheDepth)
{
  const std::string deep(100000, '[');
  EXPECT_NE(message(deep).find("at most 128 levels"), std::string::npos);
}

// Another reader of JSON with comments accepts and rejects the same texts. It rejects texts that are not
// UTF-8, which are kept as they are here; so it gets a letter in place of such a byte.
TEST(LocatedJson, AgreesWithAnotherReaderOnDamagedTexts)
{
  const std::string text = R"({"a": [1, -2.5e3, "x\u00e9"], /* c */ "b": {"c": null, "d": false}} // end)";
  const auto expect_agreement = [](const std::string& damaged, const std::string& seen_by_other) {
    const bool other = !nlohmann::json::parse(seen_by_other, nullptr, false, true).is_discarded();
    EXPECT_EQ(message(damaged) == "no error", other) << damaged << "\n" << message(damaged);
    return other;
  };
  int accepted = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    expect_agreement(text.substr(0, n), text.substr(0, n));
    for (const char c : {'\x01', '"', '{', '\\', '9', '\xff', '/', '*'}) {
      std::string damaged = text;
      damaged[n] = c;
      std::string seen_by_other = damaged;
      if (c == '\xff') seen_by_other[n] = 'z';
      accepted += expect_agreement(damaged, seen_by_other) ? 1 : 0;
    }
  }
  // Damage in strings, numbers and comments leaves JSON.
  EXPECT_GT(accepted, 20);
}

}  // namespace
}  // namespace thrum::scene
