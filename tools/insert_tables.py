#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts tables made by a program into a Markdown page.

usage: insert_tables.py PAGE FOLDER

Each part of PAGE between <!-- table: NAME --> and <!-- end of table --> becomes FOLDER/NAME.md, as script/bench
outcomes writes it to build/outcomes.
"""
import pathlib
import re
import sys


def insert(page: str, folder: pathlib.Path) -> str:
    def table(match: re.Match) -> str:
        return match.group(1) + (folder / (match.group(2) + ".md")).read_text() + match.group(3)

    return re.sub(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", table, page, flags=re.DOTALL)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page = pathlib.Path(sys.argv[1])
    page.write_text(insert(page.read_text(), pathlib.Path(sys.argv[2])))


if __name__ == "__main__":
    main()
