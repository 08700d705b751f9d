#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prepares the public headers for doxygen: script/docs calls it.

The headers are written for readers of the source: an opening comment in //, drawings and examples by indentation, and
formulas with < and \\ as they are. The copies made here say the same in doxygen's language, line by line, so that its
warnings have the line numbers of the originals:

- the opening comment becomes the description of the file
- an indented paragraph of a comment becomes a verbatim block
- characters that doxygen would take for commands or HTML are escaped

Which headers are public, and the purpose of each folder, is read from thrum/<folder>/README.md; the order of the folders
from thrum/CMakeLists.txt.

usage: api_reference_input.py OUTPUT_FOLDER [--root TREE]
"""
import argparse
import pathlib
import re

HEADER_LINE = re.compile(r"^- `([a-z0-9_]+\.h)`: (.+)$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
DOC_LINE = re.compile(r"^(\s*)///(?!<)(.*)$")
TRAILING = re.compile(r"^(.*?///<)(.*)$")
TYPE = re.compile(r"^(?:class|struct) (\w+)\b[^;]*$")
SPECIAL = re.compile(r"[\\@<>&#]")


def escaped(text):
    """Outside of `code`, characters that start a command or a tag are escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a code span that goes on in another line
        return SPECIAL.sub(lambda m: "\\" + m[0], text)
    return "`".join(part if k % 2 else SPECIAL.sub(lambda m: "\\" + m[0], part) for k, part in enumerate(parts))


def is_list_item(line):
    return re.match(r"\s*([-*]|\d+\.) ", line)


def verbatim_lines(lines):
    """Which lines are a drawing, a formula or an example: from a line deeper than the text to the end of its paragraph,
    and blank lines between two such paragraphs."""
    deep = False
    after_list = False
    marks = []
    for line in lines:
        if not line.strip():
            deep = after_list = False
        elif is_list_item(line):
            after_list = True
        elif line.startswith("  ") and not after_list:
            deep = True
        marks.append(deep)
    for k in range(1, len(lines) - 1):
        if not lines[k].strip() and marks[k - 1] and marks[k + 1]:
            marks[k] = True
    return marks


def doc_block(lines):
    """The lines of one comment, without their slashes, in doxygen's language; as many lines as before."""
    marks = verbatim_lines(lines)
    result = [line if mark else escaped(line) for line, mark in zip(lines, marks)]
    for k, mark in enumerate(marks):
        if mark and (k == 0 or not marks[k - 1]):
            if k > 0 and not lines[k - 1].strip():
                result[k - 1] += " \\verbatim"
            else:
                result[k] = " \\verbatim" + result[k]
        if mark and (k + 1 == len(marks) or not marks[k + 1]):
            if k + 1 < len(marks) and not lines[k + 1].strip():
                result[k + 1] += " \\endverbatim"
            else:
                result[k] += " \\endverbatim"
    return result


def as_comment(lines, indent=""):
    """One /** */ comment; doxygen keeps the slashes of /// in verbatim blocks."""
    lines = [line.replace("*/", "* /").replace("/*", "/ *") for line in lines]
    return [f"{indent}/**{lines[0]}", *lines[1:-1], f"{lines[-1]} */"] if len(lines) > 1 else [f"{indent}/**{lines[0]} */"]


def converted(text, name, summary):
    """A header with its comments for doxygen; as many lines as before. `summary` is its line in the README."""
    lines = text.split("\n")
    opening = 1
    while opening < len(lines) and lines[opening].startswith("//"):
        opening += 1
    lines[:opening] = as_comment([" \\file", *doc_block([line.removeprefix("//") for line in lines[1:opening]])])
    main_type = "".join(word.capitalize() for word in name.removesuffix(".h").split("_"))
    offer = summary.rpartition("`: ")[2]
    at = opening
    while at < len(lines):
        end = at
        while end < len(lines) and DOC_LINE.match(lines[end]):
            end += 1
        if end > at:
            block = doc_block([DOC_LINE.match(line)[2] for line in lines[at:end]])
            lines[at:end] = as_comment(block, DOC_LINE.match(lines[at])[1])
            at = end
            if at < len(lines) and TYPE.match(lines[at]):
                at += 1
            continue
        if match := TRAILING.match(lines[at]):
            lines[at] = match[1] + escaped(match[2])
        elif (match := TYPE.match(lines[at])) and match[1] == main_type:
            # The opening comment describes the type that the header is named for.
            lines[at] = f"/** {escaped(offer[:1].upper() + offer[1:])}. The description of the file says more. */ " + lines[at]
        at += 1
    return "\n".join(lines)


def folder_order(root):
    return re.findall(r"^add_subdirectory\((\w+)\)", (root / "thrum" / "CMakeLists.txt").read_text(), re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    pages = ["/** \\mainpage thrum", "", "Rigid bodies that ring: the public headers, folder by folder.", ""]
    namespaces = ["/** \\namespace thrum", "Every folder has a namespace of its own; the vocabulary types are here too. */"]
    files = []
    for folder in folder_order(arguments.root):
        source = arguments.root / "thrum" / folder
        readme = (source / "README.md").read_text().split("\n## Shared headers\n")[0]
        purpose = escaped(LINK.sub(r"\1", readme.split("\n\n")[1]))
        pages += [f"\\section {folder} {folder}", purpose, ""]
        namespaces += [f"/** \\namespace thrum::{folder}", f"{purpose} */"]
        (arguments.output / "thrum" / folder).mkdir(parents=True, exist_ok=True)
        for name, summary in HEADER_LINE.findall(readme):
            pages.append(f"- thrum/{folder}/{name}: {escaped(summary)}")
            files += [f"/** \\file thrum/{folder}/{name}", f"\\brief {escaped(summary)} */"]
            (arguments.output / "thrum" / folder / name).write_text(converted((source / name).read_text(), name, summary))
        pages.append("")
    (arguments.output / "main_page.dox").write_text("\n".join([*pages, "*/", *namespaces, *files, ""]))


if __name__ == "__main__":
    main()
