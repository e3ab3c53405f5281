"""For which versions each line of a foreign config holds, as real servers say it (`dbversus configs from --for`)."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbversus.builds.model import Build
from dbversus.dbms.settings import setting_key
from dbversus.dbms.versions import in_range, version_key
from dbversus.errors import UsageError
from dbversus.servers.config.foreign import Setting
from dbversus.servers.config.option_lists import ranges, renamed
from dbversus.servers.config.refused import Refused

Ask = Callable[[Build, str], Sequence[Refused]]
"""What a build refuses of a config file, all at once."""


@dataclass
class _Line:
    """A line, the builds that it is for, and why others refuse it. `is_new_name`: it repeats a setting under its newer name."""

    setting: Setting
    builds: list[Build]
    is_new_name: bool = False
    refused: dict[str, str] = field(default_factory=dict)


def limit(dbms: str, settings: Sequence[Setting], builds: Sequence[Build], ask: Ask) -> list[Setting]:
    """Each line with the versions, of these builds, that take it; one that none takes is left out.

    A setting that newer versions call otherwise is written with both names. Raises UsageError with the server's words where a
    build refuses all lines together, and none in particular.
    """
    builds = sorted(builds, key=lambda build: version_key(build.version))
    lines = [_Line(one, [] if one.why else [build for build in builds if _is_for(one, build)]) for one in settings]
    for build in builds:
        while refused := _ask(dbms, lines, build, ask):
            for one in refused:
                _take_out(dbms, lines, build, one)
    under_new_names = {line.setting.place for line in lines if line.is_new_name}
    return [
        setting
        for line in lines
        if line.builds or line.is_new_name or line.setting.place not in under_new_names
        for setting in _written(dbms, line, builds)
    ]


def _ask(dbms: str, lines: Sequence[_Line], build: Build, ask: Ask) -> Sequence[Refused]:
    effective = {setting_key(dbms, line.setting.name): line for line in lines if build in line.builds}
    return ask(build, "".join(f"{line.setting.text(dbms)}\n" for line in effective.values()))


def _take_out(dbms: str, lines: list[_Line], build: Build, refused: Refused) -> None:
    """The line of a setting that was refused, the last one of that name, is no longer for this build; its newer name is."""
    key = setting_key(dbms, refused.name)
    found = [line for line in lines if build in line.builds and setting_key(dbms, line.setting.name) == key]
    if not refused.name or not found:
        raise UsageError(f"{build.name} refuses these settings together: {refused.words}.")
    line = found[-1]
    line.builds.remove(build)
    line.refused[build.name] = refused.words
    new = renamed(dbms, line.setting.name)
    if new and not new.how:
        _under_new_name(lines, line, build, new.new)


def _under_new_name(lines: list[_Line], line: _Line, build: Build, name: str) -> None:
    after = lines.index(line) + 1
    if after == len(lines) or not lines[after].is_new_name:
        remark = f"{line.setting.name} ({line.setting.place})"
        lines.insert(after, _Line(replace(line.setting, name=name, remark=remark), [], is_new_name=True))
    lines[after].builds.append(build)


def _written(dbms: str, line: _Line, builds: Sequence[Build]) -> Iterator[Setting]:
    """A line once for each stretch of versions that takes it."""
    setting = line.setting
    if setting.why or (not line.refused and line.builds == [build for build in builds if _is_for(setting, build)]):
        yield setting
        return
    why = "; ".join(f"{', '.join(names)}: {words}" for words, names in _by_words(line.refused).items())
    if not line.builds:
        yield replace(setting, why=why)
        return
    remark = "; ".join(filter(None, (setting.remark, why)))
    for versions in ranges(dbms, {build.version: build in line.builds for build in builds}):
        yield replace(setting, versions=versions, remark=remark)


def _by_words(refused: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    found = defaultdict[str, list[str]](list)
    for name, words in refused.items():
        found[words].append(name)
    return found


def _is_for(setting: Setting, build: Build) -> bool:
    words = setting.versions.split()
    bounds = dict(zip(words[::2], words[1::2], strict=True))
    return in_range(build.version, bounds.get("since", ""), bounds.get("until", ""))
