"""Texts are UTF-8, whatever the locale: every place that opens one says so."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
_TEXTS = ("read_text", "write_text")
_NO_TEXT = ("os", "tarfile", "zipfile", "lzma", "bz2")
"""Modules whose `open` gives bytes, or no file."""


def without_encoding(source: str) -> list[int]:
    """Lines of calls that open a file, or start a program, as text in the encoding of the locale."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if _lacks_encoding(call)]


def _lacks_encoding(call: ast.Call) -> bool:
    function, keywords = call.func, {keyword.arg for keyword in call.keywords}
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = getattr(getattr(function, "value", None), "id", "")
    if "encoding" in keywords:
        return False
    if name in _TEXTS:
        return isinstance(function, ast.Attribute) and len(call.args) == _TEXTS.index(name)
    if owner == "subprocess":
        return bool(keywords & {"text", "universal_newlines"})
    if name not in ("open", "fdopen", "NamedTemporaryFile", "TemporaryFile") or (name == "open" and owner in _NO_TEXT):
        return False
    is_method = name == "open" and isinstance(function, ast.Attribute) and owner != "gzip"
    mode = _mode(call, place=0 if is_method or "Temporary" in name else 1)
    if mode is None:
        return name in ("open", "fdopen") and owner != "gzip"
    return "b" not in mode and (owner != "gzip" or "t" in mode)


def _mode(call: ast.Call, place: int) -> str | None:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[place : place + 1]
    return str(ast.literal_eval(given[0])) if given and isinstance(given[0], ast.Constant) else None


@pytest.mark.parametrize(
    "source",
    [
        "path.read_text()",
        "(a / b).write_text(text)",
        "path.open()",
        "path.open('w', newline='')",
        "a.b.open(mode='a')",
        "open(path)",
        "os.fdopen(fd, 'w')",
        "gzip.open(path, 'rt')",
        "subprocess.run(command, text=True)",
        "tempfile.NamedTemporaryFile('w')",
    ],
)
def test_what_depends_on_the_locale_is_found(source: str) -> None:
    assert without_encoding(source) == [1]


@pytest.mark.parametrize(
    "source",
    [
        "path.read_text(encoding='utf-8')",
        "path.write_text(text, 'utf-8')",
        "path.open('rb')",
        "open(path, 'wb')",
        "os.open(path, os.O_RDONLY)",
        "gzip.open(path)",
        "tarfile.open(path)",
        "os.fdopen(fd, 'wb')",
        "tempfile.NamedTemporaryFile()",
        "tempfile.TemporaryFile('w+b')",
        "read_text(path)",
    ],
)
def test_what_does_not_is_left_alone(source: str) -> None:
    assert without_encoding(source) == []


def test_every_text_says_its_encoding() -> None:
    found = {str(path): without_encoding(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}
