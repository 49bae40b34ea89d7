"""Who may include whom: folders of the project, by the first table of docs/architecture.md; libraries, by the second."""

import re

import tables
import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
LINKED = re.compile(r"\blockstep_(\w+)")
GENERATED = re.compile(r"build_config\.h|proto/\w+\.pb\.h")
STANDARD = re.compile(r"[a-z_]+|(?:sys|arpa|netinet|netdb|asm|linux)/[a-z_]+\.h|c?[a-z0-9_]+(?:intrin|math|int)\.h")
# Headers of C, POSIX and the compiler; C++'s own have no suffix.
SYSTEM = {"cpuid.h", "dirent.h", "fcntl.h", "fnmatch.h", "glob.h", "limits.h", "omp.h", "poll.h", "pthread.h", "sched.h",
          "signal.h", "spawn.h", "termios.h", "unistd.h", "x86intrin.h"}


def check_folder(tree_, layers, path, line, target):
    folder, other = path.split("/")[0], target.split("/")[0]
    if not GENERATED.fullmatch(target) and target not in tree_.files:
        yield tree.Violation(path, line, f'"{target}" is no file of the project: write it from the root, libraries in <>')
    elif other in layers and other != folder and other not in layers[folder]:
        allowed = ", ".join(sorted(layers[folder])) or "no other folder"
        yield tree.Violation(path, line, f"{folder}/ must not include {other}/ (it may include {allowed})")


def check_library(libraries, path, line, target):
    if STANDARD.fullmatch(target) or target in SYSTEM:
        return
    places = [paths for headers, paths in libraries if tables.matches(target, headers)]
    if not places:
        yield tree.Violation(path, line, f"<{target}> is in no row of the library table of {tables.ARCHITECTURE}")
    elif not any(tables.matches(path, paths) for paths in places):
        yield tree.Violation(path, line, f"<{target}> may be included only in {', '.join(sum(places, []))}")


def check_links(tree_, layers):
    for folder, allowed in layers.items():
        path = f"{folder}/CMakeLists.txt"
        if path not in tree_.files:
            continue
        for number, text in enumerate(tree_.read(path).splitlines(), 1):
            for other in LINKED.findall(text.split("#")[0]):
                if other in layers and other != folder and other not in allowed:
                    yield tree.Violation(path, number, f"{folder}/ must not link {other}/")


def check(tree_):
    layers, libraries = tables.layers(tree_), tables.libraries(tree_)
    for path in tree_.sources():
        if path.split("/")[0] not in layers:
            yield tree.Violation(path, 1, f"its folder is not in the layer table of {tables.ARCHITECTURE}")
            continue
        for number, text in enumerate(tree_.read(path).splitlines(), 1):
            include = INCLUDE.match(text)
            if include and include[1]:
                yield from check_folder(tree_, layers, path, number, include[1])
            elif include:
                yield from check_library(libraries, path, number, include[2])
    yield from check_links(tree_, layers)


if __name__ == "__main__":
    tree.run(check)
