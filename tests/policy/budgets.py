"""Files and functions stay small enough to read at once."""

import re

import tree

FUNCTION, HEADER, IMPLEMENTATION, TEST = 60, 250, 400, 500
CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
TEMPLATE = re.compile(r"\btemplate\s*<")


def file_budget(path):
    if path.startswith("tests/"):
        return TEST
    return HEADER if path.endswith(tree.HEADERS) else IMPLEMENTATION


def without_templates(head):
    """`head` without template<...> parts, whose `class` would look like a class."""
    while match := TEMPLATE.search(head):
        depth, end = 1, match.end()
        while depth and end < len(head):
            depth += {"<": 1, ">": -1}.get(head[end], 0)
            end += 1
        head = head[:match.start()] + head[end:]
    return head


def without_parentheses(head):
    while (shorter := re.sub(r"\([^()]*\)", "", head)) != head:
        head = shorter
    return head


def opens(head):
    """What the brace after `head` opens: a container (namespace, class), a function, or a value."""
    head = without_templates(head)
    plain = re.sub(r"\boperator\s*[^\s\w]+", "operator", without_parentheses(head))
    if "=" in plain or "(" in plain:
        return "value"
    if CONTAINER.search(plain):
        return "container"
    return "function" if "(" in head else "value"


def functions(code):
    """(first line, last line, name) of every outermost function of C++ text without comments and literals."""
    code = re.sub(r"^[ \t]*#[^\n]*", lambda match: " " * len(match.group()), code, flags=re.MULTILINE)
    stack = []         # what each open brace is
    found = []
    head_start = 0     # where the text that leads up to the next brace begins
    function_start = None
    parentheses = 0
    for position, character in enumerate(code):
        outside = all(kind == "container" for kind in stack)
        if character in "()":
            parentheses += 1 if character == "(" else -1
        elif character == "{":
            head = code[head_start:position]
            kind = "value" if parentheses or not outside else opens(head)
            # Behind a member initialiser `a_{1}` come more of them, and the body.
            if outside and function_start is not None and (not head.strip() or head.lstrip().startswith(",")):
                kind = "function"
            elif kind == "function":
                function_start = head_start + len(head) - len(head.lstrip())
            stack.append(kind)
            if kind == "container":
                head_start, function_start = position + 1, None
        elif character == "}" and stack:
            kind = stack.pop()
            if kind == "function":
                name = re.search(r"(operator\s*[^\s(]+|[\w:~]+)\s*\(", without_templates(code[function_start:position]))
                entry = (tree.line_of(code, function_start), tree.line_of(code, position), name[1] if name else "?")
                if found and found[-1][0] == entry[0]:
                    found.pop()
                found.append(entry)
            if kind != "value":
                head_start = position + 1
        elif character == ";" and outside and not parentheses:
            head_start, function_start = position + 1, None
    return found


def check(tree_):
    for path in tree_.cpp():
        text = tree_.read(path)
        lines = len(text.splitlines())
        if lines > file_budget(path):
            yield tree.Violation(path, lines, f"{lines} lines; a file of this kind has at most {file_budget(path)}")
        for first, last, name in functions(tree.bare_code(text)):
            if last - first + 1 > FUNCTION:
                yield tree.Violation(path, first, f"{name}: {last - first + 1} lines; a function has at most {FUNCTION}")


if __name__ == "__main__":
    tree.run(check)
