#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the C++ tests that can only fail by crashing: those whose body has no expectation, neither itself nor in a
function of the tests that it calls.

usage: check_assertions.py [FOLDER]     default: tests; exits with 1 when there is such a test
"""
import pathlib
import re
import sys

EXPECTS = re.compile(r"\b(EXPECT_\w+|ASSERT_\w+|RC_ASSERT\w*|RC_FAIL|FAIL|ADD_FAILURE|GTEST_FAIL)\b")
TEST = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)$")
# What looks like a function: a name, parameters, and a body; lambdas belong to the function they stand in.
FUNCTION = re.compile(r"^[ ]{0,2}(?:[\w:<>,&*~\[\]]+[ \n]+)*?([A-Za-z_]\w*)\s*\("
                      r"((?:[^(){};]|\([^(){};]*\)|\{[^(){};]*\})*)\)[^(){};]*\{", re.MULTILINE)
NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "return", "main"}
LITERALS = re.compile(r'R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/',
                      re.DOTALL)


def functions(text):
    """(name, parameters, body) of every function at the left margin or in a class."""
    text = LITERALS.sub(lambda match: "" if match[0][0] == "/" else '""', text)
    for match in FUNCTION.finditer(text):
        if match[1] in NOT_FUNCTIONS:
            continue
        depth, at = 1, match.end()
        while at < len(text) and depth > 0:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match[1], " ".join(match[2].split()), text[match.end():at]


def silent_tests(texts):
    """`texts`: file name -> C++. Names of the tests without an expectation, and the number of all tests."""
    found = [(name, *function) for name, text in texts.items() for function in functions(text)]
    helpers = set()
    while True:
        calls = re.compile(r"\b(" + "|".join(sorted(helpers) or ["-"]) + r")\s*(<[^;{}()]*>)?\(")
        more = {name for _, name, _, body in found
                if not TEST.match(name) and (EXPECTS.search(body) or calls.search(body))}
        if more <= helpers:
            break
        helpers |= more
    tests = [(file, parameters, body) for file, name, parameters, body in found if TEST.match(name)]
    silent = [f"{file}: {parameters}" for file, parameters, body in tests
              if not EXPECTS.search(body) and not calls.search(body)]
    return silent, len(tests)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests")
    files = sorted(p for p in root.rglob("*") if p.suffix in (".cpp", ".h"))
    silent, count = silent_tests({str(p): p.read_text() for p in files})
    for line in silent:
        print(f"{line}: has no expectation")
    print(f"{len(silent)} of {count} tests have no expectation")
    return 1 if silent or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
