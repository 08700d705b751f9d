# SPDX-License-Identifier: MIT
"""Wrapping changes where the lines of a comment end, and nothing else."""
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("wrap_comments", ROOT / "tools" / "wrap_comments.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


class WrapComments(unittest.TestCase):
    def check(self, before, after, columns=20):
        self.assertEqual(tool.wrapped(before, columns), after)
        self.assertEqual(tool.wrapped(after, columns), after)

    def test_paragraph_from_the_first_long_line_on(self):
        self.check("// short\n// one two three four five\n// six\n//\n// next", "// short\n// one two three\n// four five six\n//\n// next")

    def test_indent_and_documentation(self):
        self.check("  /// one two three four\nint a;", "  /// one two three\n  /// four\nint a;")

    def test_list_items_keep_their_indent(self):
        self.check("//  - one two three four\n//    five\n//  - six", "//  - one two three\n//    four five\n//  - six")

    def test_no_line_becomes_a_list_item(self):
        self.check("// one two three - four", "// one two\n// three - four", 17)

    def test_trailing_comment(self):
        self.check("int number;  ///< one two three four five six seven eight",
                   "int number;  ///< one two three four five six\n             ///< seven eight", 48)

    def test_drawings_formulas_and_strings_stay(self):
        for text in ("//   x = one + two + three + four", "// one     two three four five", "// |one two three four five|",
                     'R"(\n// one two three four five)"', "int one = two + three + four;"):
            self.check(text, text)

    def test_rulers_are_cut(self):
        self.check("// " + "-" * 30, "// " + "-" * 17)


if __name__ == "__main__":
    unittest.main()
