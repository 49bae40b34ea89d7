"""Every implementation file has its test: <folder>/.../x.cpp is tested by tests/<folder>/.../x_test.cpp.

Without a test of their own: variants of which the build or the device picks one (x_cpu.cpp, x_cuda.cu, x_x86.cpp,
x_generic.cpp), which the test of the front end covers, and main programs (x_main.cpp).
"""

import re

import tree

EXEMPT = re.compile(r"_(cpu|cuda|x86|generic|main)$")


def check(tree_):
    tests = {}
    for path in tree_.files:
        if path.startswith("tests/") and path.endswith("_test.cpp"):
            folder, name = path.split("/")[1], path.rsplit("/", 1)[1]
            tests.setdefault(folder, set()).add(name)
    for path in tree_.sources():
        if not path.endswith(tree.IMPLEMENTATIONS):
            continue
        folder, stem = path.split("/")[0], path.rsplit("/", 1)[1].rsplit(".", 1)[0]
        if not EXEMPT.search(stem) and f"{stem}_test.cpp" not in tests.get(folder, set()):
            yield tree.Violation(path, 1, f"has no test; expected {stem}_test.cpp in tests/{folder}/")


if __name__ == "__main__":
    tree.run(check)
