"""A suite file together with those that it extends: definitions by name, each with its place, nothing resolved yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dbversus.suites.file import shape
from dbversus.suites.file.generators import Generator
from dbversus.suites.file.source import Place, Source
from dbversus.suites.variables import Variables

Item = TypeVar("Item")


@dataclass(frozen=True)
class Placed(Generic[Item]):
    """A definition and where it stands."""

    value: Item
    place: Place


Named = dict[str, Placed[Item]]


@dataclass(frozen=True)
class Draft:
    """All definitions that a suite can use. A file's own definitions replace those of the same name that it extends."""

    place: Place
    title: str
    description: str
    load: Placed[shape.Load] | None
    data: Named[shape.Data] = field(default_factory=dict)
    tables: Named[shape.Table] = field(default_factory=dict)
    setup: Placed[shape.Setup] | None = None
    aging: Placed[shape.Aging] | None = None
    probes: tuple[str, ...] = ()
    variables: Variables = field(default_factory=dict)
    generators: Named[Generator] = field(default_factory=dict)
    statements: Named[shape.Statement] = field(default_factory=dict)
    snippets: Named[shape.Snippet] = field(default_factory=dict)
    groups: Named[shape.Group] = field(default_factory=dict)
    tests: Named[shape.Test] = field(default_factory=dict)
    selections: Named[list[str]] = field(default_factory=dict)
    phases: tuple[Placed[shape.Phase], ...] = ()


def make_draft(source: Source, file: shape.SuiteFile) -> Draft:
    """The definitions of one file alone."""
    root = Place(source)

    def placed(table: str, items: Mapping[str, Item]) -> Named[Item]:
        return {name: Placed(item, root.at(table, name)) for name, item in items.items()}

    return Draft(
        place=root,
        title=file.title,
        description=file.description,
        load=Placed(file.load, root.at("load")) if file.load else None,
        data=placed("data", file.data),
        tables=placed("tables", file.tables),
        setup=Placed(file.setup, root.at("setup")) if file.setup else None,
        aging=Placed(file.aging, root.at("aging")) if file.aging else None,
        probes=tuple(file.probes),
        variables=file.variables,
        generators=placed("generators", file.generators),
        statements=placed("statements", file.statements),
        snippets=placed("snippets", file.snippets),
        groups=placed("groups", file.groups),
        tests=placed("tests", file.tests),
        selections=placed("selections", file.selections),
        phases=tuple(Placed(phase, root.at("phases", index)) for index, phase in enumerate(file.phases)),
    )


def extend(base: Draft, own: Draft) -> Draft:
    """`own` on top of `base`; selections come along only with the phases of which they speak."""
    return Draft(
        place=own.place,
        title=own.title,
        description=own.description or base.description,
        load=own.load or base.load,
        data=base.data | own.data,
        tables=base.tables | own.tables,
        setup=own.setup or base.setup,
        aging=own.aging or base.aging,
        probes=own.probes or base.probes,
        variables={**base.variables, **own.variables},
        generators=base.generators | own.generators,
        statements=base.statements | own.statements,
        snippets=base.snippets | own.snippets,
        groups=base.groups | own.groups,
        tests=base.tests | own.tests,
        selections=own.selections if own.phases else base.selections | own.selections,
        phases=own.phases or base.phases,
    )
