"""docs/operations.md has a row for every add_op() of ops/CMakeLists.txt; the program `operations` writes it."""

import re

import tree

BUILD, TABLE = "ops/CMakeLists.txt", "docs/operations.md"
ADD_OP = re.compile(r"^\s*add_op\((\w+)\)")


def check(tree_):
    table = tree_.read(TABLE)
    for number, line in enumerate(tree_.read(BUILD).splitlines(), 1):
        if (match := ADD_OP.match(line)) and f"](../ops/{match[1]}/{match[1]}.h)" not in table:
            yield tree.Violation(BUILD, number, f"{match[1]} is missing in {TABLE}: run build/release/bin/operations")


if __name__ == "__main__":
    tree.run(check)
