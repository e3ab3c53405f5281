#!/usr/bin/env python
"""The house in figures: names per folder, circles of folders, sizes of functions. `tools/house.py [SOURCE]`, of any checkout."""

import ast
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def main() -> None:
    source = Path(sys.argv[1] if len(sys.argv) > 1 else "src/dbversus")
    modules = {_name(source, path): ast.parse(path.read_text()) for path in sorted(source.rglob("*.py"))}
    names = {folder: len(list(_rooms(folder))) for folder in [source, *source.rglob("*/")] if list(folder.glob("*.py"))}
    print(
        f"folders {len(names)}, names per folder: median {statistics.median(names.values()):g}, most {max(names.values())}"
    )
    for folder, count in sorted(names.items(), key=lambda item: -item[1])[:3]:
        print(f"  {count} in {folder.relative_to(source.parent)}")
    arrows = _arrows(modules)
    print(f"modules {len(modules)}, arrows between them {sum(map(len, arrows.values()))}")
    for depth in (1, 2):
        folders = _of_folders(arrows, depth)
        print(f"arrows between folders of depth {depth}: {sum(map(len, folders.values()))}; circle: {_circle(folders)}")
    sizes = sorted(
        (node.end_lineno or node.lineno) - node.lineno + 1 for tree in modules.values() for node in _functions(tree)
    )
    print(
        f"functions {len(sizes)}, lines: median {sizes[len(sizes) // 2]}, p90 {sizes[len(sizes) * 9 // 10]}, most {sizes[-1]}"
    )


def _rooms(folder: Path) -> Iterator[Path]:
    """What a newcomer meets: modules and sub-folders; not data files."""
    for path in folder.iterdir():
        if path.name != "__pycache__" and not path.name.startswith("__") and (path.is_dir() or path.suffix == ".py"):
            yield path


def _name(source: Path, path: Path) -> str:
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _arrows(modules: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in modules}
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                targets = {f"{node.module}.{alias.name}" for alias in node.names} & modules.keys() or {node.module}
                found[name] |= targets & modules.keys()
    return found


def _of_folders(arrows: Mapping[str, set[str]], depth: int) -> dict[str, set[str]]:
    """Folders so deep below the package; what lies above has itself."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, targets in arrows.items():
        here = ".".join(name.split(".")[1 : depth + 1])
        found[here] |= {
            there for one in targets if (there := ".".join(one.split(".")[1 : depth + 1])) != here and there
        }
    return found


def _circle(graph: Mapping[str, set[str]]) -> str:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " → ".join(error.args[1])
    return "none"


if __name__ == "__main__":
    main()
