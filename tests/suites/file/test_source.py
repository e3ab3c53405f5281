import tomllib
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites.file.source import MOST_CHARACTERS, Place, Source, read_source

TEXT = '''\
# a comment
title = "x"
description = """
[tests.fake]
key = 1
"""

[tests.one]
first = 1
list = [
  "a",
  # b is next
  "b",
  { sql = "SELECT ]", n = 2 },
]
inline = { deep = { er = 1 } }

[[phases]]
name = "p"

[[phases]]
name = "q"
'''


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ((), 1),
        (("title",), 2),
        (("description",), 3),
        (("tests",), 8),
        (("tests", "one"), 8),
        (("tests", "one", "first"), 9),
        (("tests", "one", "list"), 10),
        (("tests", "one", "list", 0), 11),
        (("tests", "one", "list", 1), 13),
        (("tests", "one", "list", 2, "n"), 14),
        (("tests", "one", "inline", "deep", "er"), 16),
        (("phases", 0), 18),
        (("phases", 1, "name"), 22),
        (("tests", "one", "no such key"), 8),
        (("tests", "generator", "one"), 8),
    ],
)
def test_lines_of_keys(keys: tuple[str | int, ...], line: int) -> None:
    source = Source("file.toml", TEXT, tomllib.loads(TEXT))
    assert source.line_of(keys) == line


def test_every_line_of_a_real_file_is_found() -> None:
    text = "\n".join(f"[t{n}]\nx = {n}\ny = [\n  1,\n  2,\n]" for n in range(40))
    source = Source("file.toml", text, tomllib.loads(text))
    assert [source.line_of((f"t{n}", "x")) for n in range(40)] == [6 * n + 2 for n in range(40)]
    assert [source.line_of((f"t{n}", "y", 1)) for n in range(40)] == [6 * n + 5 for n in range(40)]


def test_a_place_reads_as_file_and_line() -> None:
    place = Place(Source("file.toml", TEXT, tomllib.loads(TEXT))).at("tests", "one")
    assert str(place.at("first")) == "file.toml:9"
    assert place.has("first")
    assert not place.has("second")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\nb = \n", ":2: this is not TOML: invalid value (column 5)."),
        ("a = 1\na = 2\n", ":2: this is not TOML: cannot overwrite a value (column 6)."),
        ("a = [1,\n", ":1: this is not TOML: invalid value (at the end of the file)."),
    ],
)
def test_syntax_errors_have_a_line(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_source(path)
    assert str(error.value) == f"{path}{expected}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_source(tmp_path / "absent.toml")
    (tmp_path / "latin1.toml").write_bytes(b'title = "\xfc"')
    with pytest.raises(UsageError, match="not UTF-8"):
        read_source(tmp_path / "latin1.toml")


def test_what_is_far_too_long_for_a_suite_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text("#" * (MOST_CHARACTERS + 1))
    with pytest.raises(UsageError, match=r"long\.toml has more than 4,000,000 characters"):
        read_source(path)
