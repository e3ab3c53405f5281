"""Nothing that servers, files and users wrote steers a terminal, wherever it is shown."""

import io
import json
import lzma
import re
import shutil
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner

from dbversus.cli.display import TerminalDisplay
from dbversus.cli.main import app
from dbversus.printable import CleanStream, clean_output, printable
from dbversus.report import terminal
from dbversus.results.write import seal

RUN = Path(__file__).parent / "data/runs/sqlite-demo-steal.jsonl.xz"
SOURCE = Path(terminal.__file__).parents[1]
HOSTILE = "\x1b]0;taken\x07\x1b[2J\x9b31m\u202etxt\u2028"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e]")


def test_what_steers_is_replaced_and_the_rest_stays() -> None:
    assert printable("µs\u00a0é\t1\n2 日本") == "µs\u00a0é\t1\n2 日本"
    assert not STEERS.search(printable(HOSTILE))


def test_a_console_styles_and_its_texts_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", CleanStream(io.StringIO()))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    console = terminal.make_console()
    table = terminal.plain_table(HOSTILE)
    table.add_row(Text(f"x{HOSTILE}", "bold red"))
    terminal.print_table(console, table)
    terminal.say(console, HOSTILE, "bold")
    console.print(HOSTILE)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[1" in shown  # the style
    assert not STEERS.search(re.sub(r"\x1b\[[\d;]*m", "", shown))


def test_no_other_console_is_made() -> None:
    made = [path for path in SOURCE.rglob("*.py") if re.search(r"\bConsole\(", path.read_text(encoding="utf-8"))]
    assert made == []  # terminal.py has a class of its own


def test_a_terminal_that_has_been_closed_is_no_failure() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    CleanStream(Closed()).write("interrupted")
    with pytest.raises(OSError, match="full"):
        stream = Closed()
        stream.write = lambda text: (_ for _ in ()).throw(OSError(28, "full"))  # type: ignore[method-assign]
        CleanStream(stream).write("x")


def test_what_the_locale_lacks_is_a_question_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    with clean_output():
        print("1.3\u00a0µs")
    plain.flush()
    assert plain.buffer.getvalue() == b"1.3??s\n"


def test_brackets_in_what_is_being_done_are_no_markup() -> None:
    with TerminalDisplay() as display:
        display.doing("block 1: [/closing] [bold]x")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A results folder whose labels and tests are hostile."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    header, rest = lzma.decompress(RUN.read_bytes()).decode().split("\n", 1)
    record = json.loads(header)
    for number, target in enumerate(record["targets"]):
        target["label"] = f"{HOSTILE}@everybody-{number}"
    (folder / "journal.jsonl").write_text(f"{json.dumps(record)}\n{rest}", encoding="utf-8")
    seal(folder)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["report", "--format", "html,md,json,csv,post"],
        *(["show", "--format", form, "--table", "findings"] for form in ("table", "md", "csv", "json")),
        ["show", "--table", "efficiency"],
        ["show", "--table", "throughput"],
        ["side-by-side", "other"],
    ],
    ids=" ".join,
)
def test_no_verb_lets_it_through(hostile: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(hostile, hostile / "../other")
    monkeypatch.chdir(hostile / "..")
    done = CliRunner().invoke(app, [words[0], str(hostile), *words[1:]])
    assert done.exit_code == 0, done.output
    assert not STEERS.search(done.output), done.output
    for path in (*hostile.glob("report.*"), *hostile.glob("post.*")):
        if path.suffix in (".html", ".md"):
            text = path.read_text(encoding="utf-8")
            assert not STEERS.search(text), path
            assert path.suffix == ".html" or " @everybody" not in text


def test_errors_do_not_either(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(tmp_path / "\x1b[31mX"), "--table", "findings"])
    assert done.exit_code == 2 and not STEERS.search(done.output), done.output


def test_consoles_are_the_librarys() -> None:
    assert isinstance(terminal.make_console(stderr=True), Console)
