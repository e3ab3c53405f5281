#!/usr/bin/env python
"""Gathers the pages of the documentation's site (`make docs`): `tools/docs_site.py FOLDER` makes the folder anew.

`docs/` as it is, README.md as the first page, a page per verb from its `--help`, and other Markdown files that these link to,
in `repository/`. Links are those of the repository, as GitHub shows it; here they are made to lead to pages of the site.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path, PurePosixPath
from typing import Any

import typer
from typer.main import get_command

from dbversus.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
SHOWN = {".md", ".svg", ".png", ".csv", ".tsv", ".parquet"}
_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_MENTION = re.compile(r"(?<![\w/\[])docs/[\w/-]+\.md\b")


def main(into: Path) -> None:
    shutil.rmtree(into, ignore_errors=True)
    todo = ["README.md", *sorted(_shown_of_docs())]
    done: set[str] = set()
    while todo:
        source = todo.pop()
        if source not in done:
            done.add(source)
            todo += _copied(source, into)
    for name, text in verb_pages().items():
        _written(into / name, text)


def _shown_of_docs() -> Iterator[str]:
    for path in (ROOT / "docs").rglob("*"):
        if path.is_file() and path.suffix in SHOWN:
            yield path.relative_to(ROOT).as_posix()


def _copied(source: str, into: Path) -> list[str]:
    """Puts a file of the repository where it is on the site, and gives the pages outside of `docs/` that it links to."""
    target = into / place(source)
    if not source.endswith(".md"):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, target)
        return []
    text, others = page(source, (ROOT / source).read_text())
    _written(target, text)
    return others


def _written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def place(source: str) -> str:
    """Where a file of the repository is on the site."""
    if source == "README.md":
        return "index.md"
    return source.removeprefix("docs/") if source.startswith("docs/") else f"repository/{source}"


def page(source: str, text: str) -> tuple[str, list[str]]:
    """A page with its links as on the site, and the files outside of `docs/` that it links to."""
    others: list[str] = []
    # blocks of code are left alone; code within a line stays, since the words of a link may be some
    blocks = _BLOCK.findall(text)
    prose = _LINK.sub(lambda found: _linked(source, found, others), _BLOCK.sub("\0", text))
    prose = _named_pages_linked(source, prose)
    for block in blocks:
        prose = prose.replace("\0", block, 1)
    return prose, others


def _linked(source: str, found: re.Match[str], others: list[str]) -> str:
    """A link of a page as on the site; what the site does not have, such as a source file, is named without one."""
    words, link = found.groups()
    name, _, heading = link.partition("#")
    if re.match(r"[a-z]+:", link) or not name:
        return found[0]
    path = (ROOT / source).parent.joinpath(name).resolve().relative_to(ROOT).as_posix()
    if Path(path).suffix not in SHOWN:
        return words
    if not path.startswith("docs/"):
        others.append(path)
    return f"[{words}]({_from(source, path)}{'#' if heading else ''}{heading})"


def _named_pages_linked(source: str, prose: str) -> str:
    """What docstrings and `--help` name as `docs/host.md` is a link, outside of code."""
    parts = re.split(r"(`[^`\n]*`)", prose)
    return "".join(
        part if part.startswith("`") else _MENTION.sub(lambda found: f"[{found[0]}]({_from(source, found[0])})", part)
        for part in parts
    )


def _from(source: str, path: str) -> str:
    """The link to a file of the repository, from the page that another one makes."""
    return PurePosixPath(relpath(place(path), Path(place(source)).parent)).as_posix()


def verb_pages() -> dict[str, str]:
    """By name in the site: a page per verb, and a list of them all."""
    root: Any = get_command(app)
    top = typer.Context(root, info_name="dbversus")
    pages = {f"verbs/{name}.md": _verb_page(command, top, name) for name, command in root.commands.items()}
    return {"verbs/index.md": _list_of_verbs(root), **pages}


def _list_of_verbs(root: Any) -> str:
    lines = ["# Verbs", "", "What `--help` says, a page for each verb.", "", "| verb | what it does |", "| --- | --- |"]
    lines += [f"| [`{name}`]({name}.md) | {_summary(command)} |" for name, command in root.commands.items()]
    return "\n".join(lines) + "\n"


def _verb_page(command: Any, parent: typer.Context, name: str, level: str = "#") -> str:
    context = typer.Context(command, info_name=name, parent=parent)
    usage = f"{context.command_path} {' '.join(command.collect_usage_pieces(context))}"
    lines = [f"{level} {context.command_path}", "", "```", usage, "```", "", _mentions(command.help or ""), ""]
    lines += _parameters(command, context)
    for inner, verb in getattr(command, "commands", {}).items():
        lines += [_verb_page(verb, context, inner, f"{level}#")]
    return "\n".join(lines) + "\n"


def _parameters(command: Any, context: typer.Context) -> Iterator[str]:
    """A table of arguments and options; none where there is only `--help`."""
    rows = [row for each in command.get_params(context) if "--help" not in each.opts and (row := _row(each, context))]
    if rows:
        yield from ("| argument or option | what |", "| --- | --- |", *rows, "")


def _row(parameter: Any, context: typer.Context) -> str:
    if getattr(parameter, "hidden", False):
        return ""
    value = parameter.make_metavar(context)
    if parameter.param_type_name == "argument":
        name = f"`{value}`"
    else:
        names = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
        name = names if value == "<boolean>" else f"{names} `{value}`"
    what = " ".join((parameter.help or "").split()).replace("|", "\\|")
    return f"| {name} | {_mentions(what)}{' Required.' if parameter.required else ''} |"


def _summary(command: Any) -> str:
    return _mentions((command.help or "").split("\n\n")[0].replace("\n", " "))


def _mentions(text: str) -> str:
    return _named_pages_linked("docs/verbs/any.md", text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tools/docs_site.py FOLDER")
    main(Path(sys.argv[1]))
