"""Targets as users write them: `postgres:17.2@fpw_off,work_mem=64MB`, `before=/opt/pg17@x`, `sqlite:bundled`, `null`."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path

from dbversus.builds.model import TargetSpec
from dbversus.builds.packages.inspect import detect_dbms
from dbversus.dbms.known import find_dbms, is_known
from dbversus.dbms.versions import is_version
from dbversus.errors import UsageError
from dbversus.home import expanded
from dbversus.private import HOME, whole, with_short_paths

_NAME = r"[A-Za-z0-9][\w.+-]*"
_SELECTOR = re.compile(rf"{_NAME}(/{_NAME})?")
_SETTING = re.compile(r"[A-Za-z_][\w.-]*=.*", re.DOTALL)
_CONFIG_NAME = re.compile(r"[\w./+-]+")
# A storage engine's version is that of its server, which may be named: `mariadb-10.11`.
_SERVER_OF_ENGINE = re.compile(r"(?:^|(?<=/))mariadb-(?=\d)")
_FORMS = (
    "postgres:17, mysql:8.0, myrocks:mariadb-10.11, postgres:npm/17.10, mariadb:/path/to/install, sqlite:bundled, null;"
    " then @config,setting=value; before it name=, as in before=postgres:16"
)
# what stands before the first = is a name where it is no build, which has one of these, and no path
_NAMED = re.compile(r"(?P<name>[^=:/@]*)=(?P<target>.*)", re.DOTALL)
_GIVEN_NAME = re.compile(r"[^\W_][\w .+#()-]*")
MOST_OF_NAME = 40


def parse_target(text: str) -> TargetSpec:
    """Take a target apart; looks at the file system only for paths. UsageError says what would be accepted."""
    given, rest = split_name(text)
    build, configs = _split_configs(rest)
    if not build:
        raise UsageError(f"target {text!r} names no build; write for example {_FORMS}")
    if _is_path(build):
        path = _absolute(build)
        return TargetSpec(text, detect_dbms(path).name, str(path), configs, given)
    name, colon, selector = build.partition(":")
    if not colon and Path(build).exists() and not is_known(name):
        raise UsageError(f"target {text!r}: {build!r} is a path here; write it with ./ before it: ./{rest}")
    dbms = find_dbms(name)
    if not dbms.has_versions:
        if colon:
            raise UsageError(f"target {text!r}: {dbms.name} has no versions; write {dbms.name}")
        return TargetSpec(text, dbms.name, "", configs, given)
    return TargetSpec(text, dbms.name, _selector(text, dbms.name, selector), configs, given)


def split_name(text: str) -> tuple[str, str]:
    """The name that a target is given, else empty, and the target without it. UsageError for a name that is none."""
    match = _NAMED.fullmatch(text.strip())
    if match is None or match["name"].startswith((".", "~", HOME)):
        return "", text.strip()
    name = match["name"].strip()
    if not _GIVEN_NAME.fullmatch(name) or len(name) > MOST_OF_NAME:
        raise UsageError(
            f"target {_cut(text)!r}: {_cut(name)!r} is no name for a target; accepted are 1 to {MOST_OF_NAME} letters, digits, "
            "blanks and . _ + - # ( ), the first a letter or a digit, as in before=postgres:16"
        )
    return name, match["target"].strip()


def suggested_name(text: str) -> str:
    """The text as a name for a target: without what a name may not hold, and no longer than it may be."""
    return re.sub(r"[^\w .+#()-]+", "-", text).strip("-. +#()")[:MOST_OF_NAME] or "target"


def with_name(name: str, target: str) -> str:
    """The opposite of `split_name`."""
    return f"{name}={target}" if name else target


def _cut(text: str) -> str:
    return text if len(text) <= 2 * MOST_OF_NAME else f"{text[: 2 * MOST_OF_NAME]}…"


def absolute_target(text: str) -> str:
    """The target as written, but with the whole path of a build that is named by a path."""
    given, text = split_name(text)
    build, _ = _split_configs(text)
    name, colon, selector = _halves(build)
    whole_path = f"{name}{colon}{_absolute(selector)}{text[len(build) :]}" if _is_path(selector) else text
    return with_name(given, whole_path)


def build_path(text: str) -> Path | None:
    """The path that a target names its build by, whether it exists or not; None for any other target."""
    _, _, selector = _halves(_split_configs(split_name(text)[1])[0])
    return _absolute(selector) if _is_path(selector) else None


def _halves(build: str) -> tuple[str, str, str]:
    return ("", "", build) if _is_path(build) else build.partition(":")


def labels(specs: Sequence[TargetSpec]) -> list[str]:
    """Names to show, one per target and all different: `postgres:17@fpw_off`; the second of the same gets `#2`.

    A given name is one. That of a build which a matrix crosses with configs has those after it: `before@fpw_off`.
    UsageError where two targets have the same name.
    """
    named = Counter(spec.name for spec in specs)
    seen: Counter[str] = Counter()
    result = []
    for spec in specs:
        label = _label(spec, alone=named[spec.name] == 1)
        seen[label] += 1
        if seen[label] > 1 and spec.name:
            raise UsageError(
                f"two targets are called {label!r}, the second is {spec.text}; give each a name of its own"
            )
        result.append(label if seen[label] == 1 else f"{label}#{seen[label]}")
    return result


def same_targets(told_apart: Iterable[tuple[str, Hashable]]) -> dict[str, str]:
    """Label → a sentence, of every target that has nothing that tells it from an earlier one; given labels and what tells.

    It may be meant. Usually it is a build that was not replaced: a comparison of a server with itself, which finds nothing.
    """
    first: dict[Hashable, str] = {}
    said = {}
    for label, tells in told_apart:
        earlier = first.setdefault(tells, label)
        if earlier != label:
            said[label] = (
                f"{label} is the same binary with the same config as {earlier}: what differs is chance. If another "
                "was meant, it was not installed."
            )
    return said


def _label(spec: TargetSpec, *, alone: bool) -> str:
    if spec.name:
        return spec.name if alone or not spec.configs else f"{spec.name}@{','.join(spec.configs)}"
    return spelling(spec)


def spelling(spec: TargetSpec) -> str:
    """The target as it is called where it has no name of its own: `postgres:17@fpw_off`."""
    build = f"{spec.dbms}:{with_short_paths(spec.selector)}" if spec.selector else spec.dbms
    return f"{build}@{','.join(spec.configs)}" if spec.configs else build


def _selector(text: str, dbms: str, selector: str) -> str:
    if _is_path(selector):
        return str(_absolute(selector))
    known = find_dbms(dbms)
    if selector in known.always_here:
        return selector
    if known.plugin:
        selector = _SERVER_OF_ENGINE.sub("", selector)
    accepted = "a version (17, 17.2), provider/version (npm/17.10), the name of an added build or a path"
    if known.always_here:
        accepted = f"{', '.join(known.always_here)}, {accepted}"
    if not selector:
        raise UsageError(f"target {text!r} names no version of {dbms}; accepted: {accepted}")
    if not _SELECTOR.fullmatch(selector):
        raise UsageError(f"target {text!r}: {selector!r} is no build of {dbms}; accepted: {accepted}")
    if selector[0].isdigit() and "/" not in selector and not is_version(selector):
        raise UsageError(
            f"target {text!r}: {selector!r} is not a version of {dbms} (17, 17.2, 19rc1); accepted: {accepted}"
        )
    return selector


def _is_path(build: str) -> bool:
    return build.startswith(("/", "./", "../", "~", HOME))


def _absolute(path: str) -> Path:
    return expanded(whole(path))


def _split_configs(text: str) -> tuple[str, tuple[str, ...]]:
    build, at, configs = text.partition("@")
    # A path may contain an @ itself: what exists on disk is the build.
    while at and "/" in build and not _absolute_exists(build) and "@" in configs:
        more, at, configs = configs.partition("@")
        build = f"{build}@{more}"
    if not at:
        return build, ()
    return build, tuple(_checked_config(text, item) for item in _split_items(text, configs))


def _absolute_exists(build: str) -> bool:
    return _absolute(build if _is_path(build) else build.partition(":")[2]).exists()


def _split_items(text: str, configs: str) -> Iterator[str]:
    """Items between commas; quotes protect commas and fall away, a doubled quote inside quotes is one quote."""
    item, quote, position = "", "", 0
    while position < len(configs):
        char = configs[position]
        position += 1
        if quote and char == quote and configs[position : position + 1] == quote:
            item += char
            position += 1
        elif quote:
            quote, item = ("", item) if char == quote else (quote, item + char)
        elif char in "'\"":
            quote = char
        elif char == ",":
            yield item
            item = ""
        else:
            item += char
    if quote:
        raise UsageError(f"target {text!r}: the quote {quote} after @ is not closed")
    yield item


def _checked_config(text: str, item: str) -> str:
    item = item.strip()
    if _SETTING.fullmatch(item) or _CONFIG_NAME.fullmatch(item):
        return item
    raise UsageError(f"target {text!r}: {item!r} after @ is neither the name of a config nor setting=value")
