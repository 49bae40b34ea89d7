"""docs/operations.md has a row for every add_op() of ops/CMakeLists.txt, and says of bf16 what ops/precision.cpp does;
the program `operations` writes it."""

import re

import tree

BUILD, TABLE, PRECISION = "ops/CMakeLists.txt", "docs/operations.md", "ops/precision.cpp"
ADD_OP = re.compile(r"^\s*add_op\((\w+)\)")
RULE = re.compile(r'^\s*\{"(\w+)", (k\w+)\},')
TEXT = re.compile(r'case (k\w+):\s*(?:return|break;\s*\}\s*return) "([^"]+)";')
ROW = re.compile(r"^\| \[(\w+)[^]]*\]\([^)]*\) \| [^|]* \| [^|]* \| ([^|]*) \|")


def check(tree_):
    table = tree_.read(TABLE)
    for number, line in enumerate(tree_.read(BUILD).splitlines(), 1):
        if (match := ADD_OP.match(line)) and f"](../ops/{match[1]}/{match[1]}.h)" not in table:
            yield tree.Violation(BUILD, number, f"{match[1]} is missing in {TABLE}: run build/release/bin/operations")
    if PRECISION not in tree_.files:
        return
    source = tree_.read(PRECISION)
    texts = dict(TEXT.findall(source))
    rules = {match[1]: texts[match[2]] for line in source.splitlines() if (match := RULE.match(line))}
    for number, line in enumerate(table.splitlines(), 1):
        if (match := ROW.match(line)) and match[2] != (rule := rules.get(match[1])):
            yield tree.Violation(TABLE, number, f"{match[1]}: bf16 is '{match[2]}', {PRECISION} says '{rule}'")


if __name__ == "__main__":
    tree.run(check)
