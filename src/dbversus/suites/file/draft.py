"""A suite file together with those that it extends: definitions by name, each with its place, nothing resolved yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from dbversus.errors import UsageError
from dbversus.names import did_you_mean
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
    roles: Named[shape.Role] = field(default_factory=dict)
    tests: Named[shape.Test] = field(default_factory=dict)
    variants: Named[shape.SuiteVariant] = field(default_factory=dict)
    selections: Named[list[str]] = field(default_factory=dict)
    phases: tuple[Placed[shape.Phase], ...] = ()


_IN_VARIANTS = ("generators", "tables", "statements", "snippets", "groups", "roles", "tests")
"""Definitions that a variant may replace."""
_OF_PHASES = ("data", "settle")
"""What a variant may say of all phases of the suite."""


def _placed(root: Place, table: str, items: Mapping[str, Item]) -> Named[Item]:
    return {name: Placed(item, root.at(table, name)) for name, item in items.items()}


def _definitions(root: Place, given: shape.Definitions) -> dict[str, Any]:
    """Those that a file and a variant both may have, by kind."""
    return {kind: _placed(root, kind, getattr(given, kind)) for kind in _IN_VARIANTS}


def _phases(root: Place, given: shape.Definitions) -> tuple[Placed[shape.Phase], ...]:
    return tuple(Placed(phase, root.at("phases", index)) for index, phase in enumerate(given.phases))


def make_draft(source: Source, file: shape.SuiteFile) -> Draft:
    """The definitions of one file alone."""
    root = Place(source)
    return Draft(
        place=root,
        title=file.title,
        description=file.description,
        load=Placed(file.load, root.at("load")) if file.load else None,
        data=_placed(root, "data", file.data),
        setup=Placed(file.setup, root.at("setup")) if file.setup else None,
        aging=Placed(file.aging, root.at("aging")) if file.aging else None,
        probes=tuple(file.probes),
        variables=file.variables,
        variants=_placed(root, "variants", file.variants),
        selections=_placed(root, "selections", file.selections),
        phases=_phases(root, file),
        **_definitions(root, file),
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
        roles=base.roles | own.roles,
        tests=base.tests | own.tests,
        variants=base.variants | own.variants,
        selections=own.selections if own.phases else base.selections | own.selections,
        phases=own.phases or base.phases,
    )


def with_variants(draft: Draft, names: Sequence[str]) -> Draft:
    """The draft with these of its variants, in the order of `names`.

    Raises UsageError for one that it does not have, and for two that define the same thing: the order would then decide.
    """
    for number, name in enumerate(names):
        if name in names[:number]:
            raise UsageError(f"variant '{name}' is named twice; once is accepted.")
        if name not in draft.variants:
            known = ", ".join(draft.variants) or "none, as the suite has no variants"
            raise UsageError(f"Unknown variant '{name}'.{did_you_mean(name, draft.variants)} Accepted: {known}.")
    made, owners = draft, dict[str, str]()
    for name in names:
        placed = draft.variants[name]
        for what in _defined(placed):
            if (other := owners.setdefault(what, name)) != name:
                raise placed.place.mistake(
                    f"variants {other} and {name} both define {what}; an experiment with each of them is accepted."
                )
        made = _with_variant(made, placed)
    asked = {key: given for name in names for key, given in _of_phases(draft.variants[name]).items()}
    suited = tuple(replace(one, value=one.value.model_copy(update=asked)) for one in draft.phases)
    return replace(made, phases=(*suited, *made.phases[len(suited) :]))


def _defined(variant: Placed[shape.SuiteVariant]) -> list[str]:
    named = [f"{kind}.{name}" for kind in (*_IN_VARIANTS, "variables") for name in getattr(variant.value, kind)]
    return [*named, *_of_phases(variant)]


def _of_phases(variant: Placed[shape.SuiteVariant]) -> dict[str, Any]:
    """What it says of all phases of the suite."""
    found = {key: getattr(variant.value, key) for key in _OF_PHASES}
    return {key: given for key, given in found.items() if given is not None}


def _with_variant(draft: Draft, variant: Placed[shape.SuiteVariant]) -> Draft:
    own = _definitions(variant.place, variant.value)
    return replace(
        draft,
        variables={**draft.variables, **variant.value.variables},
        phases=(*draft.phases, *_phases(variant.place, variant.value)),
        **{kind: getattr(draft, kind) | own[kind] for kind in _IN_VARIANTS},
    )
