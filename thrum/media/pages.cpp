// SPDX-License-Identifier: MIT
#include "thrum/media/pages.h"

#include "thrum/base/error.h"

namespace thrum::media {

namespace {

// Inside a script element only "</script" and "<!--" are special; JSON may write '<' as an escape.
void append_inside_script(std::string& out, std::string_view json)
{
  for (std::size_t at = json.find('<'); at != std::string_view::npos; at = json.find('<')) {
    out += json.substr(0, at);
    out += "\\u003c";
    json.remove_prefix(at + 1);
  }
  out += json;
}

}  // namespace

std::string fill_page(std::string_view name, std::string_view json)
{
  const std::string_view page = page_template(name);
  if (page.empty()) {
    throw Error(
        "This thrum was built without pages: run script/bootstrap, which installs Node.js and the packages "
        "of web/, and build again. Pictures (.png) work without them.");
  }
  constexpr std::string_view kMark = "/*DATA*/";
  const std::size_t at = page.find(kMark);
  THRUM_ASSERT(at != std::string_view::npos);
  std::string text;
  text.reserve(page.size() + json.size());
  text += page.substr(0, at);
  append_inside_script(text, json);
  text += page.substr(at + kMark.size());
  return text;
}

}  // namespace thrum::media
