"""The order in which a post tells its tests: by phase (load, reads before the writes, writes …), then by group of like tests."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from dbversus.report.model import Assessment, TestPart
from dbversus.report.parts.each_test.groups import GROUPS
from dbversus.report.words import without_shared_configs
from dbversus.results.schema import IMPORTED_SUITE, is_load
from dbversus.stats.across import sizes
from dbversus.stats.across.clients import case_of
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import CPU, LOAD_TEST, THROUGHPUT
from dbversus.stats.model import Finding, Verdict

# the first pattern that the name of a test begins with, as the posts of 2021 group their sentences
_FAMILIES = tuple(
    (re.compile(pattern), title)
    for pattern, title in (
        (r"(point-query|random-points|hot-points)\b", "Point queries"),
        (r"points-(not)?covered-pk\b", "Lists of primary keys"),
        (r"points-(not)?covered-si\b", "Lists of secondary keys"),
        (r"range-(not)?covered-pk\b", "Ranges of the primary key"),
        (r"range-(not)?covered-si\b", "Ranges of the secondary key"),
        (r"read-only\b", "Read-only transactions and aggregates"),
        (r"(full-)?scan(\.|$)", "Full scans"),
        (r"update-(inlist|index|nonindex|one|zipf)\b", "Updates"),
        (r"write-only\b", "Write-only transactions"),
        (r"read-write\b", "Read-write transactions"),
        (r"delete(\.|$)", "Deletes"),
        (r"insert(\.|$)", "Inserts"),
    )
)
_STEPS = {
    "l.i0": "Inserts in the order of the primary key",
    "l.x": "Creating the secondary indexes",
    "l.i1": "Inserts with secondary indexes",
    "l.i2": "Inserts with secondary indexes, in small transactions",
}
_QUERY_STEP = re.compile(r"(?P<kind>q[rp]?)\d+(?P<rest>\..*)?")
_QUERIES = {"q": "Queries", "qr": "Range queries", "qp": "Point queries"}
_FOLDER = re.compile(r"x\.(?P<name>.+)\.pk[01]")
_BEFORE = re.compile(r"\.pre(\.|$)")
_OF_LOAD = {"load_rows_per_s": THROUGHPUT, "load_cpu_us_per_row": CPU}


@dataclass(frozen=True)
class Case:
    """A test with one number of clients. `comparisons`: by name of the target; a load that was done once (`loaded_once`) has
    them too, without a verdict.
    """

    name: str
    test: str
    clients: int | None
    group: str
    comparisons: Mapping[str, Comparison]
    is_step: bool = False
    loaded_once: bool = False

    @property
    def is_load(self) -> bool:
        return is_load(self.test)

    def finding(self, target: str, metric: str) -> Finding | None:
        """None where there is no ratio."""
        comparison = self.comparisons.get(target)
        finding = comparison.findings.get(metric) if comparison else None
        return finding if finding and finding.ratio is not None else None


@dataclass(frozen=True)
class Group:
    """Tests that are told in one breath."""

    title: str
    cases: tuple[Case, ...]

    def with_clients(self, clients: int | None) -> "Group":
        return replace(self, cases=tuple(case for case in self.cases if case.clients == clients))


@dataclass(frozen=True)
class Phase:
    title: str
    cases: tuple[Case, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        """In the order of their first tests."""
        by_title: dict[str, list[Case]] = {}
        for case in self.cases:
            by_title.setdefault(_group_title(case), []).append(case)
        return tuple(Group(title, tuple(cases)) for title, cases in by_title.items())

    @property
    def clients(self) -> list[int | None]:
        """Rising; None alone where there is one number of clients."""
        return sorted({case.clients for case in self.cases}, key=lambda count: count or 0)


def names(assessment: Assessment) -> dict[str, str]:
    """Of targets in a post, by label: without configs that all of them have.

    Results of the reference method lie in folders such as `x.my8022.x6d.pk1`, which are their labels.
    """
    labels = [facts.target.label for facts in assessment.targets]
    written = [found["name"] if (found := _FOLDER.fullmatch(label)) else label for label in labels]
    tells_apart = len(set(written)) == len(labels)
    return dict(zip(labels, without_shared_configs(written if tells_apart else labels), strict=True))


def phases(assessment: Assessment) -> tuple[Phase, ...]:
    """All tests in order, the load first."""
    of = names(assessment)
    cases = [_case(test, of) for test in assessment.tests]
    if any(one.test == LOAD_TEST for one in assessment.findings) and not any(case.is_load for case in cases):
        cases.insert(0, _load(assessment, of))
    found = [Phase("Load", tuple(case for case in cases if case.is_load))]
    steps = [step.name for step in assessment.steps.steps if not is_load(step.name)] if assessment.steps else []
    beside = {step.name for step in assessment.steps.steps if _has_inserts(step.cells)} if assessment.steps else set()
    by_name = {case.name: case for case in cases}
    of_steps = [replace(by_name[name], is_step=True) for name in steps if name in by_name]
    found.append(Phase("Load, indexes and inserts", tuple(one for one in of_steps if one.name not in beside)))
    found.append(Phase("Queries while rows are inserted", tuple(one for one in of_steps if one.name in beside)))
    others = [case for case in cases if not case.is_load and case.name not in steps]
    found += _by_name(others) if _is_unordered(assessment) else _by_order(others)
    return tuple(phase for phase in found if phase.cases)


def _has_inserts(cells: Mapping[str, object]) -> bool:
    return any(getattr(cell, "inserts_per_s", None) is not None for cell in cells.values())


def _case(test: TestPart, names: Mapping[str, str]) -> Case:
    name, clients = case_of(test.name) or (test.name, None)
    return Case(test.name, name, clients, test.group, {names[item.target]: item for item in test.comparisons})


def _load(assessment: Assessment, names: Mapping[str, str]) -> Case:
    """Loaded once, so what is judged of other tests is not judged of it."""
    findings: dict[str, dict[str, Finding]] = {}
    for one in assessment.findings:
        if one.test == LOAD_TEST:
            name = _OF_LOAD.get(one.metric, one.metric)
            findings.setdefault(one.target, {})[name] = replace(one, metric=name)
    comparisons = {
        names[target]: Comparison(LOAD_TEST, target, Verdict.NOT_REPLICATED, own) for target, own in findings.items()
    }
    return Case(LOAD_TEST, LOAD_TEST, None, GROUPS[3], comparisons, loaded_once=True)


def _is_unordered(assessment: Assessment) -> bool:
    """Whether nothing tells in which order tests were run: an import of single files meets these by name."""
    names = [test.name for test in assessment.tests]
    return assessment.header.suite == IMPORTED_SUITE and names == sorted(names)


def _by_order(cases: Sequence[Case]) -> Iterator[Phase]:
    """Tests that follow each other and all write, or all read; tests of other kinds by their group."""
    seen: list[str] = []
    has_writes = any(_kind(case.group) == "writes" for case in cases)
    for kind, found in groupby(cases, lambda case: _kind(case.group)):
        yield Phase(_phase_title(kind, seen, has_writes), tuple(found))
        seen.append(kind)


def _by_name(cases: Iterable[Case]) -> Iterator[Phase]:
    """Reads with `.pre` in their names are those before the writes."""
    known = list(cases)
    if before := tuple(case for case in known if _BEFORE.search(case.test)):
        yield Phase("Reads before the writes", before)
    others = [case for case in known if case not in before]
    for kind in dict.fromkeys(sorted((_kind(case.group) for case in others), key=lambda kind: kind != "writes")):
        title = "Reads after the writes" if kind == "reads" and before else kind.capitalize()
        yield Phase(title, tuple(case for case in others if _kind(case.group) == kind))


def _phase_title(kind: str, seen: Sequence[str], has_writes: bool) -> str:
    if kind == "reads" and has_writes:
        return f"Reads {'after' if 'writes' in seen else 'before'} the writes"
    return f"More {kind}" if kind in seen else kind.capitalize()


def _kind(group: str) -> str:
    if group == GROUPS[3]:
        return "writes"
    return "reads" if group in GROUPS[:3] else group


def _group_title(case: Case) -> str:
    """Of tests of an imported server or schema (`small/insert`), with its name in front."""
    sized = sizes.size_of(case.test)
    of, _, name = (sized[0] if sized else case.test).rpartition("/")
    if name == LOAD_TEST:
        title = "Load"
    elif case.is_step:
        title = _step_title(name)
    else:
        title = next((title for pattern, title in _FAMILIES if pattern.match(name)), case.group.capitalize())
    return f"{of}: {title}" if of else title


def _step_title(name: str) -> str:
    """Steps with queries differ in the rate of inserts beside them: `qr100`, `qr500`."""
    if step := _QUERY_STEP.fullmatch(name):
        return f"{_QUERIES[step['kind']]} ({step['kind']}…{step['rest'] or ''})"
    return f"{_STEPS[name]} ({name})" if name in _STEPS else name
