"""The repository as the rules see it: which files there are, and C++ text without comments and literals."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE_FOLDERS = ("runtime", "proto", "ops", "comm", "data", "models", "optim", "parallel", "train", "launcher")
HEADERS = (".h", ".cuh")
IMPLEMENTATIONS = (".cpp", ".cu")
SKIPPED_FOLDERS = {".git", "build", "runs", "__pycache__"}


@dataclass(frozen=True, order=True)
class Violation:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


class Tree:
    """The files below a root, by their path from there."""

    def __init__(self, root):
        self.root = Path(root)
        self.files = sorted(self._walk())

    def _walk(self):
        for folder, subfolders, names in os.walk(self.root):
            subfolders[:] = [name for name in subfolders if name not in SKIPPED_FOLDERS and not name.startswith("build")]
            for name in names:
                yield str((Path(folder) / name).relative_to(self.root))

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def cpp(self, folders=None):
        """C++ and CUDA files, below the given top folders or anywhere."""
        return [path for path in self.files
                if path.endswith(HEADERS + IMPLEMENTATIONS) and (folders is None or path.split("/")[0] in folders)]

    def sources(self):
        """C++ and CUDA files of the project itself: not its tests, benchmarks or examples."""
        return self.cpp(SOURCE_FOLDERS)


_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
    """, re.VERBOSE | re.DOTALL)


def bare_code(text):
    """C++ text with comments, strings and characters blanked out; lines and columns stay where they were."""
    return _COMMENT_OR_LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def run(check):
    """The main program of a rule: `check` maps a Tree to Violations. Usage: RULE.py ROOT."""
    violations = sorted(check(Tree(sys.argv[1])))
    for violation in violations:
        print(violation)
    sys.exit(1 if violations else 0)
