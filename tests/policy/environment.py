"""Environment variables are read in launcher/environment.cpp and nowhere else, so that a run depends on its config."""

import re

import tree

READER = "launcher/environment.cpp"
READS = re.compile(r"\b(getenv|secure_getenv|environ)\b")


def check(tree_):
    for path in tree_.cpp():
        if path == READER:
            continue
        for number, line in enumerate(tree.bare_code(tree_.read(path)).splitlines(), 1):
            if match := READS.search(line):
                yield tree.Violation(path, number, f"{match[1]} is used outside {READER}")


if __name__ == "__main__":
    tree.run(check)
