# SPDX-License-Identifier: MIT
"""The check for tests without an expectation finds these, and only these."""
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("check_assertions", ROOT / "tools" / "check_assertions.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


class CheckAssertions(unittest.TestCase):
    def silent(self, **texts):
        return tool.silent_tests(texts)[0]

    def test_one_that_discards_its_result(self):
        text = "TEST(A, Reads)\n{\n  (void)read(\"EXPECT_EQ(1, 1)\");  // EXPECT_TRUE(x)\n}\n"
        self.assertEqual(self.silent(a=text), ["a: A, Reads"])

    def test_expectations_of_its_own(self):
        for call in ("EXPECT_EQ(f(), 1);", "ASSERT_TRUE(f());", "RC_ASSERT(f());", "FAIL();"):
            self.assertEqual(self.silent(a="TEST_P(A, B)\n{\n  " + call + "\n}\n"), [])

    def test_expectations_of_a_function_in_another_file(self):
        helper = "template <class T>\nvoid check(std::vector<T> all = {})\n{\n  EXPECT_TRUE(all.empty());\n}\n"
        between = "inline void check_all()\n{\n  check<int>();\n}\n"
        self.assertEqual(self.silent(a="TEST(A, B)\n{\n  check_all();\n}\n", b=between, c=helper), [])
        self.assertEqual(self.silent(a="TEST(A, B)\n{\n  check_all();\n}\n", b=between), ["a: A, B"])

    def test_braces_in_texts(self):
        text = 'TEST(A, B)\n{\n  f(R"({)");\n}\n\nTEST(A, C)\n{\n  EXPECT_TRUE(f("}"));\n}\n'
        self.assertEqual(self.silent(a=text), ["a: A, B"])

    def test_all_are_counted(self):
        text = "TEST(A, B)\n{\n}\nRC_GTEST_PROP(A, C, ())\n{\n}\nTEST_F(A, D)\n{\n}\n"
        self.assertEqual(tool.silent_tests({"a": text})[1], 3)


if __name__ == "__main__":
    unittest.main()
