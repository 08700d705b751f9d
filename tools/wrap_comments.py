#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wraps comments of C++ files that are longer than the limit, at blanks; clang-format does not (ReflowComments is off).

A paragraph of // or /// lines is filled again from its first line that is too long; the lines before keep their breaks.
List items keep their marker and their hanging indent, and a ///< comment goes on in a ///< line below. Left alone are
lines that may be a drawing, a table, a formula or an example: those indented deeper than the text and those with several
blanks in a row; what is too long after that is printed. Rulers (// ----) are cut.

usage: wrap_comments.py [--columns 110] FILE ...        then run clang-format -i on the same files
"""
import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_architecture import raw_string_lines  # noqa: E402

COMMENT = re.compile(r"^( *)(///?)(?!/|<)( ?)(.*)$")
RULER = re.compile(r"^( *//[ ]?)([-=*/])\2{20,}$")
LIST_ITEM = re.compile(r"^([-*+]|\d+[.)]) +")
TRAILING = re.compile(r"^(.*\S +|\s+)(///<) (.*)$")
KEEP = re.compile(r"\S {2,}\S|[┌-╿]|^(clang-format|NOLINT|SPDX)|^[|+_/\\]")


def fill(words, first_prefix, prefix, columns):
    """Wraps to the maximum number of columns. No line starts with a word that would make it a list item."""
    lines = []
    line = [words[0]]
    start = first_prefix
    for word in words[1:]:
        if len(start) + sum(map(len, line)) + len(line) + len(word) <= columns:
            line.append(word)
            continue
        carried = [word]
        while len(line) > 1 and LIST_ITEM.match(carried[0] + " "):
            carried.insert(0, line.pop())
        lines.append(start + " ".join(line))
        start, line = prefix, carried
    return [*lines, start + " ".join(line)]


def text_indent(text, previous):
    """The column at which the text of a comment line has to start to belong to the paragraph of `previous`: a pair
    (indent, hanging indent), or None for a line that stands for itself."""
    stripped = text.lstrip(" ")
    indent = len(text) - len(stripped)
    if not stripped or KEEP.search(stripped):
        return None
    item = LIST_ITEM.match(stripped)
    if item and indent <= 4:
        return indent, indent + item.end()
    if indent == 0 or (previous and indent == previous[1]):
        return indent, indent
    return None


def wrap_block(block, prefix, columns):
    """One comment: `block` holds the text of its lines without the prefix "  /// "."""
    result = []
    paragraph = []
    indents = None

    def flush():
        long = next((k for k, text in enumerate(paragraph) if len(prefix) + len(text) > columns), None)
        if long is None:
            result.extend((prefix + text).rstrip() for text in paragraph)
        else:
            result.extend(prefix + text for text in paragraph[:long])
            words = " ".join(text.strip() for text in paragraph[long:]).split(" ")
            hang = prefix + " " * indents[1]
            result.extend(fill(words, prefix + " " * indents[0] if long == 0 else hang, hang, columns))
        paragraph.clear()

    for text in block:
        found = text_indent(text, indents)
        is_item = found and LIST_ITEM.match(text.lstrip(" "))
        if paragraph and (found is None or is_item or found[0] != indents[1]):
            flush()
        if found is None:
            result.append((prefix + text).rstrip())
            # After a blank line or a drawing the text starts anew; a list item may go on.
            indents = None
            continue
        if not paragraph:
            indents = found
        paragraph.append(text)
    if paragraph:
        flush()
    return result


def wrap_trailing(line, columns):
    match = TRAILING.match(line)
    column = len(match[1])
    prefix = " " * column + "///< "
    if columns - len(prefix) < 30:
        return [line]
    return fill(match[3].split(" "), match[1] + "///< ", prefix, columns)


def wrapped(text, columns):
    lines = text.split("\n")
    raw = raw_string_lines(text)
    result = []
    at = 0
    while at < len(lines):
        if at not in raw and RULER.match(lines[at]):
            lines[at] = lines[at][:columns]
        match = COMMENT.match(lines[at])
        if at in raw or not match:
            long = len(lines[at]) > columns and at not in raw and TRAILING.match(lines[at])
            result += wrap_trailing(lines[at], columns) if long else [lines[at]]
            at += 1
            continue
        lead = match[1] + match[2]
        end = at
        block = []
        while end < len(lines) and end not in raw and (m := COMMENT.match(lines[end])) and m[1] + m[2] == lead:
            if m[4] and not m[3]:
                break
            block.append(m[4])
            end += 1
        if end == at:
            result.append(lines[at])
            at += 1
            continue
        result += wrap_block(block, lead + " ", columns)
        at = end
    return "\n".join(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=110)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    for file in arguments.files:
        text = file.read_text()
        if all(len(line) <= arguments.columns for line in text.split("\n")):
            continue
        changed = wrapped(text, arguments.columns)
        if changed != text:
            file.write_text(changed)
        for number, line in enumerate(changed.split("\n"), 1):
            if len(line) > arguments.columns:
                print(f"{file}:{number}: {len(line)} columns: {line.strip()}")


if __name__ == "__main__":
    main()
