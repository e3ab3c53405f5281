"""A target and the base, and what tells the two apart: builds, settings, and what their configs ask for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbversus.dbms.known import family_name
from dbversus.explain.settings_diff import SettingDifference
from dbversus.results.records import Experiment
from dbversus.results.records.experiment import Rendered, TargetFacts
from dbversus.results.stored import Target


@dataclass(frozen=True)
class Pair:
    """A target and the base, and what tells the two apart, in all tests. `settings`: those that differ between any targets; None
    where a server of the two did not tell its own.

    `places`: where the base and the target stand in these, and in the plans.
    """

    header: Experiment
    base: Target
    target: Target
    places: tuple[int, int]
    settings: Sequence[SettingDifference] | None = ()

    @property
    def facts(self) -> tuple[TargetFacts, TargetFacts]:
        known = {facts.name: facts for facts in self.header.targets}
        return known[self.base.name], known[self.target.name]

    @property
    def are_the_same(self) -> bool:
        base, mine = self.facts
        injected = self.header.spec.get("inject") is not None
        return base.checksum is not None and base.tells == mine.tells and not injected

    @property
    def same_build(self) -> bool:
        base, mine = self.facts
        return base.checksum is not None and base.binary == mine.binary

    @property
    def differing(self) -> dict[str, tuple[str | None, str | None]]:
        """Setting → its values on the base and on the target, of those that differ between the two."""
        found = {}
        for one in self.settings or ():
            values = tuple(one.values[place] for place in self.places)
            if values[0] != values[1] and not set(self.places) & set(one.others):
                found[one.name] = (values[0], values[1])
        return found

    def is_by_version(self, name: str) -> bool:
        """Whether a setting differs because a config has a value of its own for each build: nobody asks what that changes.

        Where the two have different configs, another target of that build with the base's config tells.
        """
        base, mine = self.facts
        if self.same_build:
            return False
        if base.config == mine.config:
            return True
        return any(one.config == base.config and asks_the_same(one, mine, name) for one in self.of_the_build)

    @property
    def of_the_build(self) -> list[TargetFacts]:
        """Other targets of the target's build."""
        mine = self.facts[1]
        return [one for one in self.header.targets if one.binary == mine.binary and one.name != mine.name]


def asks_the_same(one: TargetFacts, other: TargetFacts, name: str) -> bool:
    """Whether two targets' configs give a setting the same value, or none; False where that is not known."""
    if one.rendered is None or other.rendered is None:
        return False
    both = (by_name(one.rendered), by_name(other.rendered))
    ours, theirs = ({key: asked[key] for key in asked if f"{name}.".startswith(f"{key}.")} for asked in both)
    return ours == theirs


def asked_otherwise(pair: Pair) -> dict[str, tuple[str | None, str | None]]:
    """What the configs of the two ask for otherwise, with the values that came of it: settings, environment, options, `[ddl]`."""
    base, mine = (facts.rendered for facts in pair.facts)
    if base is None or mine is None:
        return {}
    theirs, ours = by_name(base), by_name(mine)
    names = [*ours, *(name for name in theirs if name not in ours)]
    asked = {name: (theirs.get(name), ours.get(name)) for name in names if theirs.get(name) != ours.get(name)}
    came = {name: values for one, own in asked.items() for name, values in _as_they_came(one, own, pair)}
    if pair.differing.keys() - came.keys():
        # what follows from an option that the server shows under another name, or not at all: skip_log_bin
        return {one: own for one, own in asked.items() if not _items_of(one, pair.differing)} | came
    return came


def by_name(rendered: Rendered) -> dict[str, str]:
    """All that a config says, by names as causes have them: `work_mem`, `environment.LD_PRELOAD`, `ddl.index`."""
    parts = {
        "": rendered.settings,
        "environment.": rendered.environment,
        "init.": rendered.init_options,
        "ddl.": rendered.ddl,
    }
    return {f"{prefix}{name}": values[name] for prefix, values in parts.items() for name in sorted(values)}


def have_same_config(pair: Pair, chosen: Mapping[str, tuple[str | None, str | None]]) -> bool:
    """By what came of it; in older results by its name. Those of two DBMSs cannot be compared, so they are never the same."""
    base, mine = pair.facts
    if family_name(base.dbms) != family_name(mine.dbms):
        return False
    return not chosen if base.rendered and mine.rendered else base.config == mine.config


def _items_of(name: str, differing: Iterable[str]) -> list[str]:
    """Of settings that differ, those that are it, or items of its list."""
    return [one for one in differing if one == name or one.startswith(f"{name}.")]


def _as_they_came(
    name: str, asked: tuple[str | None, str | None], pair: Pair
) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """The setting with the server's values; each item of a list. As it was asked for where servers did not tell."""
    if items := _items_of(name, pair.differing):
        yield from ((one, pair.differing[one]) for one in items)
    elif pair.settings is None or name.startswith(("environment.", "init.", "ddl.")):
        yield name, asked
