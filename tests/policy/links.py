"""The documentation speaks of files that are there: targets of links, and `paths` with a folder (`x/y` may mean x/y.h)."""

import posixpath
import re

import tree

LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([a-z.]+/[\w./-]*\w)`")
ELSEWHERE = ("build/", "runs/", "checkpoints/")  # what a build or a run makes


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def problem(tree_, path, target):
    """What is wrong with a link from the page `path`, or None."""
    name, _, anchor = target.partition("#")
    page = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
    if not (tree_.root / page).exists():
        return f"{target} does not exist"
    if anchor and anchor not in anchors(tree_.read(page)):
        return f"{target}: no such heading"
    return None


def check(tree_):
    for path in tree_.files:
        if not path.endswith(".md"):
            continue
        for number, line in enumerate(tree_.read(path).splitlines(), 1):
            for target in LINK.findall(line):
                wrong = None if "://" in target else problem(tree_, path, target)
                if wrong:
                    yield tree.Violation(path, number, wrong)
            for name in QUOTED.findall(line):
                there = any((tree_.root / (name + suffix)).exists() for suffix in ("", ".h"))
                if not there and not name.startswith(ELSEWHERE):
                    yield tree.Violation(path, number, f"`{name}` does not exist")


if __name__ == "__main__":
    tree.run(check)
