"""Libraries of cases: SQLite in which functions are slow, and what is preloaded into servers."""

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from common import run_process
from layout import COMPILED, LIBRARIES, find_source

from dbversus.errors import RunError
from planted.case import Library

_TURNS = "{{ volatile unsigned turn_; for (turn_ = 0; turn_ < {turns}; turn_++) ; }}"


def compile_all(libraries: Mapping[str, Library], folder: Path) -> None:
    """Each as NAME.so. One that is there is left alone; what another case has compiled of the same source is copied."""
    for name, library in libraries.items():
        path = folder / f"{name}.so"
        if not path.exists():
            code = library.code or slowed_down(find_source().read_text(), library.slow)
            unfinished = path.with_suffix(".part")
            shutil.copyfile(_compiled(code, bool(library.code), folder.parent / "compiled"), unfinished)
            unfinished.rename(path)


def _compiled(code: str, is_own: bool, folder: Path) -> Path:
    """The library of this source, whose name tells nothing of it."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{hashlib.sha256(code.encode()).hexdigest()[:16]}.so"
    if not path.exists():
        source, unfinished = path.with_suffix(".c"), path.with_suffix(".part")
        source.write_text(code)
        flags = ["-O2", "-fPIC"] if is_own else [*COMPILED, "-fno-omit-frame-pointer"]
        run_process(["gcc", "-shared", *flags, str(source), "-o", str(unfinished), *LIBRARIES])
        source.unlink()
        unfinished.rename(path)
    return path


def slowed_down(source: str, slow: Mapping[str, int]) -> str:
    """The C source in which these functions begin with so many turns of a loop. RunError where one is not defined there."""
    for function, turns in slow.items():
        # a definition: its type at the start of a line, arguments that may go over lines, and the brace of its body
        start = re.search(
            rf"^[\w][\w \*]*\b{re.escape(function)}\((?:[^(){{}};]|\([^(){{}};]*\))*\)\s*\{{", source, re.MULTILINE
        )
        if start is None:
            raise RunError(f"SQLite's source defines no function '{function}'.")
        source = source[: start.end()] + _TURNS.format(turns=turns) + source[start.end() :]
    return source
