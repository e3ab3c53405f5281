"""The user's settings on both versions of an upgrade: what each takes, as it stands after the `@` of a target."""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from dbversus.builds.model import Build, TargetSpec
from dbversus.builds.store import obtained
from dbversus.campaign.screening.factors import item_text, without_base
from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError
from dbversus.servers.config.file import Item, read_config
from dbversus.servers.config.for_builds import limit
from dbversus.servers.config.foreign import CONVERTIBLE, convert
from dbversus.servers.config.load import ConfigPlace, available_configs, chosen_items
from dbversus.servers.create import refused_of

_LEFT_OUT = re.compile(r"# left out: (.*)")
_OF_SOME = re.compile(r"(\S+)(?: = .*?)?\s+# (\S+:\S+: .*)")


@dataclass(frozen=True)
class Carried:
    """`older`, `newer`: items of a target. `kept`: settings that both or one take; `left_out`: what not both do, and why."""

    older: tuple[str, ...]
    newer: tuple[str, ...]
    kept: int = 0
    left_out: tuple[str, ...] = ()


def carry(config: str | None, older: TargetSpec, newer: TargetSpec, config_dir: ConfigPlace = None) -> Carried:
    """`config`: a my.cnf or postgresql.conf, or a config by name; None: each version has its own defaults.

    Fetches both builds where a file is read, to ask them which lines they take. Raises UsageError for what cannot be read.
    """
    defaults = (without_base(newer.dbms),)
    if config is None:
        return Carried(defaults, defaults)
    if "/" not in config and config in available_configs(newer.dbms, config_dir):
        for spec in (older, newer):
            chosen_items(spec.dbms, spec.selector, [config], config_dir)
        return Carried((config,), (config,))
    if newer.dbms not in CONVERTIBLE:
        raise UsageError(
            f"--config {config}: {find_dbms(newer.dbms).title} has no config files; name a config of dbversus."
        )
    return _of_file(Path(config), (older, newer), defaults)


def _of_file(path: Path, specs: tuple[TargetSpec, TargetSpec], defaults: tuple[str, ...]) -> Carried:
    with ExitStack() as stack:
        builds = [stack.enter_context(obtained(spec)) for spec in specs]
        dbms = builds[1].dbms
        made = convert(path, dbms, lambda name, settings: limit(name, settings, builds, refused_of))
        file = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dbversus-"))) / "theirs.conf"
        file.write_text(made.text, encoding="utf-8")
        items = read_config(file, flags=find_dbms(dbms).settings.flags).items
        rests = list(_rests(items, builds[1]))
    older, newer = (
        (*defaults, *(item_text(dbms, item) for item in items if item.applies(build.version))) for build in builds
    )
    newer = (*newer, *(item_text(dbms, rest) for rest, _ in rests))
    return Carried(older, newer, made.kept, (*_left_out(made.text), *(words for _, words in rests)))


def _rests(
    items: Sequence[Item], newer: Build, refused: Callable[[Build, str], Sequence[object]] = refused_of
) -> Iterator[tuple[Item, str]]:
    """Lists that the newer version refuses for some of their words: without these, and what was done."""
    for item in items:
        words = [word.strip() for word in item.value.split(",")]
        if item.applies(newer.version) or len(words) < 2:
            continue
        taken = [word for word in words if not refused(newer, f"{item.name} = '{word}'\n")]
        if taken:
            gone = ", ".join(word for word in words if word not in taken)
            rest = replace(item, value=",".join(taken), since="", until="")
            yield (
                rest,
                f"{item.name}: on {newer.dbms}:{newer.version} set it to {rest.value}, without {gone}, as is done here",
            )


def _left_out(text: str) -> Iterator[str]:
    """The comments of a converted file: `datadir (line 12): every server gets a place of its own`."""
    for line in text.splitlines():
        if match := _LEFT_OUT.fullmatch(line):
            yield match[1]
        elif match := _OF_SOME.fullmatch(line):
            yield f"{match[1]}: {match[2]}"
