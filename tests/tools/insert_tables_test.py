# SPDX-License-Identifier: MIT
"""Tables of a page are replaced, all else stays; the pages about the response have the tables that its program writes."""
import pathlib
import re
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
import insert_tables  # noqa: E402


class InsertTables(unittest.TestCase):
    def test_replaces_what_is_between_the_marks_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "a.md").write_text("| new |\n")
            page = "x\n<!-- table: a -->\n| old |\n<!-- end of table -->\ny | z |\n"
            wanted = "x\n<!-- table: a -->\n| new |\n<!-- end of table -->\ny | z |\n"
            self.assertEqual(insert_tables.insert(page, folder), wanted)
            self.assertEqual(insert_tables.insert(wanted, folder), wanted)
            with self.assertRaises(FileNotFoundError):
                insert_tables.insert(page.replace("table: a", "table: b"), folder)

    def test_the_pages_name_tables_that_the_benchmark_writes(self):
        page = "".join((REPOSITORY / name).read_text() for name in ("docs/response_scenes.md", "docs/tuning.md"))
        source = (REPOSITORY / "benchmarks/response/outcomes.cpp").read_text()
        names = re.findall(r"<!-- table: (\w+) -->\n\|", page)
        self.assertEqual(sorted(names), sorted(re.findall(r'kTables / "(\w+)\.md"', source)))


if __name__ == "__main__":
    unittest.main()
