"""The engine's folders import each other in the order that engine/src/lib.rs gives, and its modules in no circle."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "engine" / "src"
# a module or an item, from the crate's root: ("wire", "mysql", "packet")
Name = tuple[str, ...]
Imports = dict[Name, set[Name]]


def read_modules(source: Path) -> dict[Name, str]:
    """The text of every module, without comments and unit tests, and with its `use` trees written out."""
    modules = {}
    for path in source.rglob("*.rs"):
        parts = path.relative_to(source).with_suffix("").parts
        text = re.sub(r"//.*", "", path.read_text().partition("#[cfg(test)]\nmod tests {")[0])
        modules[parts[:-1] if parts[-1] == "mod" else parts] = re.sub(r"\buse [^;]+;", write_out, text)
    return {name: text for name, text in modules.items() if name not in {("lib",), ("main",)}}


def write_out(use: re.Match[str]) -> str:
    """`use a::{b, c::{d, e}};` as `use a::b, a::c::d, a::c::e;`."""
    tree = use[0]
    while innermost := re.search(r"([\w:]*)\{([^{}]*)\}", tree):
        items = [innermost[1] + item.strip() for item in innermost[2].split(",") if item.strip()]
        tree = tree[: innermost.start()] + ", ".join(items) + tree[innermost.end() :]
    return tree


def find_names(module: Name, text: str, modules: dict[Name, str]) -> list[Name]:
    """What the paths in `text` name, where they start at the root, at a relative, or at a child of `module`."""
    children = [name[-1] for name in modules if name[:-1] == module]
    paths = re.findall(rf"(?<![\w:])(?:{'|'.join(['crate', 'super', 'self', *children])})(?:::\w+)+", text)
    return [absolute(module, tuple(path.split("::"))) for path in paths]


def absolute(module: Name, path: Name) -> Name:
    if path[0] == "crate":
        return path[1:]
    if path[0] == "self":
        return module + path[1:]
    while path[0] == "super":
        module, path = module[:-1], path[1:]
    return module + path


def read_imports(source: Path) -> Imports:
    """The modules that each module imports. What a folder re-exports counts as imported from where it is."""
    modules = read_modules(source)
    exports = re.compile(r"\bpub use [^;]+;")
    reexported = {
        module + name[-1:]: name
        for module, text in modules.items()
        for name in find_names(module, " ".join(exports.findall(text)), modules)
    }

    def home(name: Name) -> Name:
        while name and name not in modules:
            name = reexported.get(name, name[:-1])
        return name

    return {
        module: {home(name) for name in find_names(module, exports.sub("", text), modules)} - {module, ()}
        for module, text in modules.items()
    }


def read_order(source: Path) -> dict[str, int]:
    """The place of every folder in the order that lib.rs gives; those beside each other have the same one."""
    order = re.search(r"^//! (.+ → .+)\.$", (source / "lib.rs").read_text(), re.MULTILINE)
    assert order, "lib.rs gives no order"
    return {folder: place for place, layer in enumerate(order[1].split(" → ")) for folder in layer.split(", ")}


def arrows_back(imports: Imports, order: dict[str, int]) -> list[str]:
    return sorted(
        f"{'::'.join(module)} → {'::'.join(name)}"
        for module, names in imports.items()
        for name in names
        if module[0] != name[0] and order[module[0]] >= order[name[0]]
    )


def circle(imports: Imports) -> list[str]:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return ["::".join(name) for name in error.args[1]]
    return []


def test_folders_import_in_the_order_of_lib_rs() -> None:
    imports, order = read_imports(SOURCE), read_order(SOURCE)

    assert {module[0] for module in imports} == set(order)
    assert arrows_back(imports, order) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle(read_imports(SOURCE)) == []


@pytest.fixture
def source(tmp_path: Path) -> Path:
    texts = {
        "lib.rs": "//! Order:\n//! top, beside → low.\npub mod top;\n",
        "top.rs": "use crate::low::{self, Thing, two::{One, Other}};\n",
        "beside.rs": "// use crate::top::Nothing;\nfn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::top::T;\n}\n",
        "low/mod.rs": "mod one;\nmod two;\npub use one::Thing;\n",
        "low/one.rs": "use std::fmt;\nuse super::two::One;\npub struct Thing(One);\n",
        "low/two.rs": "pub struct One;\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_imports_are_read_from_use_trees_and_through_re_exports(source: Path) -> None:
    assert read_imports(source) == {
        ("top",): {("low",), ("low", "one"), ("low", "two")},
        ("beside",): set(),
        ("low",): set(),
        ("low", "one"): {("low", "two")},
        ("low", "two"): set(),
    }
    assert arrows_back(read_imports(source), read_order(source)) == []
    assert circle(read_imports(source)) == []


@pytest.mark.parametrize(
    "line", ["use crate::{top::{A, B}};", "fn f() -> crate::top::A {}", "use super::super::top::A;"]
)
def test_an_arrow_back_is_found(source: Path, line: str) -> None:
    with (source / "low" / "two.rs").open("a") as file:
        file.write(line)

    assert arrows_back(read_imports(source), read_order(source)) == ["low::two → top"]


def test_folders_of_the_same_place_do_not_import_each_other(source: Path) -> None:
    (source / "beside.rs").write_text("use crate::top;\n")

    assert arrows_back(read_imports(source), read_order(source)) == ["beside → top"]


@pytest.mark.parametrize("line", ["use super::one::Thing;", "use crate::low::Thing;", "fn f(_: super::Thing) {}"])
def test_a_circle_is_found(source: Path, line: str) -> None:
    (source / "low" / "two.rs").write_text(line)

    assert set(circle(read_imports(source))) == {"low::one", "low::two"}
