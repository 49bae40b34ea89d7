"""No reminders left in the text, and no word of the machine that it was written on."""

import posixpath
import re

import tree

TEXT = (".cpp", ".h", ".cu", ".cuh", ".in", ".proto", ".py", ".sh", ".md", ".txt", ".cmake", ".json", ".textproto", ".yml")
REMINDER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
PRIVATE = re.compile(r"(?<![\w.}~)-])/(?:home|root|work|workspace|mnt|data|scratch|Users)/[\w.-]+")
UPWARDS = re.compile(r"(?<![\w/.])(?:\.\./)+[\w./-]*[\w-]")


def is_text(path):
    return path.endswith(TEXT) or "." not in path.rsplit("/", 1)[-1] or path.startswith((".ci/", "scripts/"))


def check(tree_):
    for path in tree_.files:
        if not is_text(path):
            continue
        for number, line in enumerate(tree_.read(path).splitlines(), 1):
            if match := REMINDER.search(line):
                yield tree.Violation(path, number, f"{match[0]}: do it, or file an issue")
            if match := PRIVATE.search(line):
                yield tree.Violation(path, number, f"{match[0]} is a path of one machine")
            for target in UPWARDS.findall(line):
                inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
                if inside.startswith("..") or not (tree_.root / inside).exists():
                    yield tree.Violation(path, number, f"{target} is not in this repository")


if __name__ == "__main__":
    tree.run(check)
