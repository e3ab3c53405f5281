"""Whether experiments can stand side by side at all, and in what they differ besides their hosts."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from dbversus.errors import UsageError
from dbversus.names import did_you_mean
from dbversus.report.side_by_side.facts import table_sizes
from dbversus.report.words import listing
from dbversus.results.other_base import with_labels
from dbversus.results.records import Experiment, Rendered
from dbversus.results.stored import Results
from dbversus.stats.values.imported import is_imported
from dbversus.units import show_count, show_memory

_IN_CHECKSUM = ("table_size", "table_sizes", "tables", "clients", "tests")
"""What the checksum of a suite holds besides its statements, and the DBMSs."""

_ENDING = "what seems to depend on the experiment may depend on that."

_NOTED: tuple[tuple[str, Callable[[Experiment], Any]], ...] = (
    ("number of clients", lambda header: header.clients),
    ("table size", lambda header: [show_count(size) for size in table_sizes(header)]),
    ("number of tables", lambda header: header.tables),
    ("profile", lambda header: header.profile),
    ("mode", lambda header: header.mode),
    ("order", lambda header: header.order),
    ("caches", lambda header: header.cache),
    ("memory of each server", lambda header: header.memory and show_memory(header.memory)),
    ("numbers of blocks looked at", lambda header: header.looks),
)


def check_alike(experiments: Sequence[Results]) -> None:
    """Raises UsageError with one sentence when their ratios are not of the same thing."""
    if len(experiments) < 2:
        only = f": {experiments[0].directory} alone has nothing beside it" if experiments else ""
        raise UsageError(f"Name two results directories or more{only}.")
    first, *others = experiments
    seen = {first.directory.resolve()}
    for other in others:
        if other.directory.resolve() in seen:
            raise UsageError(f"{other.directory} is named twice; name different results directories.")
        seen.add(other.directory.resolve())
        _check_pair(first, other)


def _check_pair(first: Results, other: Results) -> None:
    ours, theirs = first.base.label, other.base.label
    if ours != theirs:
        raise UsageError(
            f"{first.directory} has the base {ours} and {other.directory} the base {theirs}; name experiments whose first "
            f"target is the same. If it is, under another label: --rename '{theirs}={ours}'."
        )
    one, two = (PurePath(each.header.suite).name for each in (first, other))
    # an import does not tell its suite; tests of one name are taken for the same
    if one and two and one != two and not (is_imported(first) or is_imported(other)):
        raise UsageError(
            f"{first.directory} is of the suite {one} and {other.directory} of {two}; name experiments of one suite."
        )
    if _other_statements(first, other):
        raise UsageError(
            f"The tests of the suite {one or 'of both'} do something else in {first.directory} than in {other.directory}, for "
            "the same names; name experiments of one version of the suite."
        )
    if not cases_of(first) & cases_of(other):
        raise UsageError(
            f"{first.directory} and {other.directory} have no test of the same target in common: the first has {_has(first)}, "
            f"the other {_has(other)}. --rename OLD=NEW gives a target the label that it has in the other."
        )


def _other_statements(first: Results, other: Results) -> bool:
    """By the checksums, where nothing else that is in them differs; else by the suite's own files, where it has some."""
    ours, theirs = first.header, other.header
    dbms = [{target.dbms for target in each.targets} for each in (first, other)]
    if dbms[0] == dbms[1] and all(getattr(ours, name) == getattr(theirs, name) for name in _IN_CHECKSUM):
        return bool(ours.suite_checksum and theirs.suite_checksum and ours.suite_checksum != theirs.suite_checksum)
    files = [
        {one.file: one.sha256 for one in header.files if one.file.startswith("suite/")} for header in (ours, theirs)
    ]
    return any(files[0][name] != files[1][name] for name in files[0].keys() & files[1].keys())


def renamed(experiments: Sequence[Results], renames: Sequence[str]) -> list[Results]:
    """With other labels of targets, each as `OLD=NEW`, in all experiments that have OLD. Raises UsageError for an unknown one."""
    known = list(dict.fromkeys(target.label for each in experiments for target in each.targets))
    labels = dict(_old_and_new(text, known) for text in renames)
    return [with_labels(each, labels) for each in experiments]


def _old_and_new(text: str, known: Sequence[str]) -> tuple[str, str]:
    """A label may have an equals sign of its own."""
    places = [place for place, letter in enumerate(text) if letter == "="]
    found = next((place for place in places if text[:place] in known and text[place + 1 :]), None)
    if found is not None:
        return text[:found], text[found + 1 :]
    if not places:
        raise UsageError(f"--rename {text}: write OLD=NEW, such as --rename pg17-run2=pg17.")
    old = text[: places[0]]
    raise UsageError(
        f"--rename {text}: no experiment has the target {old}; accepted: {', '.join(known)}.{did_you_mean(old, known)}"
    )


def cases_of(results: Results) -> set[tuple[str, str]]:
    """Tests and candidate targets of an experiment; a load that was done once is no test."""
    return {(test, target.label) for target in results.targets[1:] for test in tests_of(results)}


def tests_of(results: Results) -> list[str]:
    return list(results.repeated_tests)


def _has(results: Results) -> str:
    tests = listing(tests_of(results)) if tests_of(results) else "no test"
    targets = [target.label for target in results.targets[1:]]
    return f"{tests} of {listing(targets) if targets else 'no target but the base'}"


def differences(experiments: Sequence[Results], names: Sequence[str]) -> list[str]:
    """Sentences on what else differs: it is in the ratios of ratios, too."""
    return [
        *_of_settings(experiments, names),
        *_of_builds(experiments, names),
        *_of_configs(experiments),
        *_of_statements(experiments),
        *_of_imports(experiments, names),
    ]


def _of_settings(experiments: Sequence[Results], names: Sequence[str]) -> Iterator[str]:
    for what, value in _NOTED:
        values = [_told(value(each.header)) for each in experiments]
        if len(set(values)) > 1:
            told = [f"{one} in {name}" for one, name in zip(values, names, strict=True)]
            yield f"The experiments differ in {what} ({listing(told, most=len(told))}): {_ENDING}"
    if any(_margins(each.header) != _margins(experiments[0].header) for each in experiments):
        yield "The experiments differ in margins: an interaction is judged by the wider one of its two experiments."


def _margins(header: Experiment) -> Any:
    return header.margins, header.test_margins


def _told(value: Any) -> str:
    told = [str(one) for one in value] if isinstance(value, list) else [] if value is None else [str(value)]
    return listing(told, most=len(told)) if told else "none said"


def _of_builds(experiments: Sequence[Results], names: Sequence[str]) -> Iterator[str]:
    for label in dict.fromkeys(target.label for each in experiments for target in each.targets):
        found = {
            name: (one.version or "an unknown version", one.checksum)
            for name, each in zip(names, experiments, strict=True)
            for one in each.header.targets
            if one.label == label
        }
        if len(set(found.values())) < 2:
            continue
        versions = {version for version, _ in found.values()}
        told = [f"{version} in {name}" for name, (version, _) in found.items()]
        which = listing(told, most=len(told)) if len(versions) > 1 else f"other binaries of version {versions.pop()}"
        yield f"{label} is not the same build in all experiments ({which}): {_ENDING}"


def _of_configs(experiments: Sequence[Results]) -> Iterator[str]:
    """Sizes in configs follow the memory and the CPUs of a host."""
    for label in dict.fromkeys(target.label for target in experiments[0].targets):
        made = [_settings(one.rendered) for each in experiments for one in each.header.targets if one.label == label]
        known = [settings for settings in made if settings is not None]
        names = sorted({name for settings in known for name in settings})
        other = [name for name in names if len({settings.get(name) for settings in known}) > 1]
        if other:
            yield f"{label} does not have the same settings in all experiments ({listing(other)}): {_ENDING}"


def _settings(config: Rendered | None) -> dict[str, str] | None:
    """None: older results do not tell."""
    return None if config is None else config.settings | config.environment | config.init_options | config.ddl


def _of_statements(experiments: Sequence[Results]) -> Iterator[str]:
    """Other sizes make another checksum, so that it no longer tells whether statements are the same."""
    versions = list(dict.fromkeys(each.header.dbversus for each in experiments))
    checksums = {each.header.suite_checksum for each in experiments if each.header.suite_checksum}
    if len(checksums) > 1 and len(versions) > 1:
        yield (
            f"The experiments are of dbversus {listing(versions, most=len(versions))}, and their sizes, clients or lists of "
            "tests differ: that a test of the same name has the same statements is not checked."
        )


def _of_imports(experiments: Sequence[Results], names: Sequence[str]) -> Iterator[str]:
    if found := [name for name, each in zip(names, experiments, strict=True) if is_imported(each)]:
        yield (
            f"{listing(found, most=len(found))} {'is an import' if len(found) == 1 else 'are imports'}: ratios of runs without "
            "blocks have no interval, so whether they differ from those of others is not judged."
        )
