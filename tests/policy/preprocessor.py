"""No conditional compilation: variants are files, which the build picks. Headers begin with #pragma once.

One exception: the lines of ops/elementwise/scalar_math.h that define HOST_DEVICE.
"""

import re

import tree

CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")
SCALAR_MATH = "ops/elementwise/scalar_math.h"
HOST_DEVICE = re.compile(r"(ifdef __CUDACC__|if defined\(__CUDACC__\)) else endif")


def check(tree_):
    for path in tree_.cpp():
        code = tree.bare_code(tree_.read(path)).splitlines()
        found = [(number, f"{match[1]} {match[2].strip()}".strip())
                 for number, line in enumerate(code, 1) if (match := CONDITIONAL.match(line))]
        if not (path == SCALAR_MATH and HOST_DEVICE.fullmatch(" ".join(text for _, text in found))):
            for number, text in found:
                yield tree.Violation(path, number, f"#{text}: make it two files, or `if constexpr`")
        if path.endswith(tree.HEADERS):
            first = next((line.strip() for line in code if line.strip()), "")
            if first != "#pragma once":
                yield tree.Violation(path, 1, "a header begins with #pragma once")


if __name__ == "__main__":
    tree.run(check)
