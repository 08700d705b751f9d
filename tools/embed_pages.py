#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed_pages.py OUT.cpp [FOLDER]: writes the HTML files of a folder as C++ string literals with a lookup by name.

Without a folder the table is empty: a build without pages.
"""
import pathlib
import sys

# The standard guarantees 65536 characters in a string literal; longer texts are concatenated from several.
CHUNK_SIZE = 16000
DELIMITER = "thrum_page"


def pieces(text):
    data = text.encode()
    start = 0
    while start < len(data):
        end = min(start + CHUNK_SIZE, len(data))
        # Not in the middle of a character.
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end].decode()
        start = end


def main(out, folder=None):
    pages = sorted(pathlib.Path(folder).glob("*.html")) if folder else []
    lines = ["// Generated from web/; changes are lost.", '#include "thrum/media/pages.h"', "",
             "namespace thrum::media {", "", "std::string_view page_template(std::string_view name)", "{"]
    for page in pages:
        lines.append(f'  if (name == "{page.stem}") {{')
        lines.append("    static constexpr char text[] =")
        lines += [f'        R"{DELIMITER}({piece}){DELIMITER}"' for piece in pieces(page.read_text())]
        lines[-1] += ";"
        lines += ["    return std::string_view(text, sizeof(text) - 1);", "  }"]
    lines += ["  static_cast<void>(name);", "  return {};", "}", "", "}  // namespace thrum::media", ""]
    path = pathlib.Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
