"""Which settings a server refuses, all of them at once, and what to do with each."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dbversus.builds.model import Build
from dbversus.dbms.settings import plain_name
from dbversus.errors import UsageError
from dbversus.servers.config.option_lists import renamed, where_known


@dataclass(frozen=True)
class Refused:
    """`words`: the server's own. `name`: as the config has it; empty where no single setting is the reason.

    `hint`: what may have been meant, ` (did you mean 'x'?)`.
    """

    name: str
    words: str
    hint: str = ""


class SettingsRefusedError(UsageError):
    """A server does not take some of the settings of a config."""

    def __init__(self, build: Build, refused: Sequence[Refused], places: Mapping[str, str]):
        self.refused = refused
        said = [_advice(build, one, places) for one in refused]
        if len(said) == 1:
            message = f"{build.name} does not accept its settings: {said[0]}."
        else:
            message = f"{build.name} does not accept {len(said)} of its settings:\n  " + ";\n  ".join(said) + "."
        super().__init__(message)


_UNKNOWN = re.compile(r"unknown (?:variable|option)|unrecognized configuration parameter")

Ask = Callable[[Mapping[str, str]], Refused | None]
"""Has a server read some of the settings: its first complaint, with the name where the words do not hold it."""


def all_refused(asked: Mapping[str, str], ask: Ask) -> list[Refused]:
    """What a server refuses is taken out, and it is asked again, until it accepts the rest.

    Ends early with a complaint that has to do with no setting of `asked`.
    """
    left, found = dict(asked), list[Refused]()
    while complaint := ask(left):
        name = complaint.name or meant(complaint.words, left) or _searched(left, ask)
        found.append(replace(complaint, name=name))
        if not name:
            break
        del left[name]
    written = list(asked)
    return sorted(found, key=lambda one: written.index(one.name) if one.name else len(written))


def meant(words: str, left: Mapping[str, str]) -> str:
    """The setting that a complaint names, or whose value it quotes."""
    at = {}
    for name in left:
        spelled = re.escape(name).replace("_", "[-_]").replace(r"\-", "[-_]")
        if match := re.search(rf"(?<![\w-]){spelled}(?![\w-])", words, re.IGNORECASE):
            at[name] = match.start()
    if at:
        return min(at, key=lambda name: at[name])
    return next(
        (name for name, value in left.items() if len(value) > 1 and re.search(rf"['\"]{re.escape(value)}['\"]", words)),
        "",
    )


def _searched(left: Mapping[str, str], ask: Ask) -> str:
    """The setting without which those before it are accepted, by halves; empty where the server complains without any."""
    names = list(left)
    accepted, refused = 0, len(names)
    if ask({}):
        return ""
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        if ask({name: left[name] for name in names[:middle]}):
            refused = middle
        else:
            accepted = middle
    return names[refused - 1]


def _advice(build: Build, one: Refused, places: Mapping[str, str]) -> str:
    """The complaint with its place, and what works."""
    if not one.name:
        return one.words + one.hint
    place = places.get(plain_name(build.dbms, one.name), "")
    said = f"{place}: {one.words}" if place else one.words
    ways = []
    if new := renamed(build.dbms, one.name):
        ways.append(f"write {new.new}{f' ({new.how})' if new.how else ''}")
    if _UNKNOWN.search(one.words):
        ways += [f"put it under [{versions}]" for versions in where_known(build.dbms, one.name)]
    elif not new:
        ways.append("choose another value")
    return (
        f"{said}; {', '.join(ways)} or leave it out" if ways else f"{said}{one.hint}; correct its name or leave it out"
    )
