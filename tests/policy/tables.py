"""Tables of docs/architecture.md that are rules: the text that people read is what the machine checks."""

import re
from fnmatch import fnmatchcase

ARCHITECTURE = "docs/architecture.md"


def rows(tree, first_heading):
    """The rows below the header whose first cell is `first_heading`, each a list of cells."""
    found = []
    inside = False
    for line in tree.read(ARCHITECTURE).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells[0] == first_heading:
            inside = True
        elif inside and not re.fullmatch(r"[-: ]+", cells[0]):
            found.append(cells)
    assert found, f"{ARCHITECTURE} has no table that starts with '{first_heading}'"
    return found


def quoted(cell):
    """The names in `backquotes` of a cell."""
    return re.findall(r"`([^`]+)`", cell)


def layers(tree):
    """Folder -> the folders that it may include, from the table | folder | holds | may include |."""
    return {quoted(row[0])[0].rstrip("/"): {name.rstrip("/") for name in quoted(row[2])}
            for row in rows(tree, "folder")}


def libraries(tree):
    """(header patterns, path patterns) from the table | headers | included only in | ...; a folder means all below."""
    return [(quoted(row[0]), [path + "*" if path.endswith("/") else path for path in quoted(row[1])])
            for row in rows(tree, "headers")]


def matches(name, patterns):
    return any(fnmatchcase(name, pattern) for pattern in patterns)
