"""Two targets, and what is known of a test that changed between them, made up."""

from collections.abc import Mapping
from typing import Any

from dbversus.explain.cause import Explanation, Kind
from dbversus.explain.change import Seen
from dbversus.explain.find import explain
from dbversus.explain.pair import Pair
from dbversus.explain.plan_diff import PlanDifference
from dbversus.explain.settings_diff import differing_settings
from dbversus.results.records import Experiment
from dbversus.results.records.experiment import Rendered, TargetFacts
from dbversus.results.stored import Target
from dbversus.stats.metrics import (
    CPU,
    IO_BYTES,
    THROUGHPUT,
)
from dbversus.stats.model import Finding, Verdict

TEST = "search"
JUDGED = (CPU, THROUGHPUT, IO_BYTES)
SEQ, INDEX = (
    "Seq Scan on items a\n  Filter: (class = ?)",
    "Index Scan using items_class on items a\n  Index Cond: (class = ?)",
)
Pairs = Mapping[str, tuple[float, float]]
SLOWER = {CPU: (100.0, 300.0), THROUGHPUT: (900.0, 300.0)}
FASTER = {name: (mine, base) for name, (base, mine) in SLOWER.items()}


def pair_of(
    base: dict[str, str] | None = None,
    mine: dict[str, str] | None = None,
    *,
    versions: tuple[str, str] = ("17.1", "17.1"),
    dbms: str = "postgres",
    asked: tuple[dict[str, str], dict[str, str]] | None = None,
    configs: tuple[str, str] = ("b", "c"),
    **header: Any,
) -> Pair:
    """Two targets with these settings; `asked`: what their configs say, all of it unless told otherwise."""
    values = base or {}, mine or {}
    rendered = [Rendered("c", settings) for settings in asked or values]
    labels = [f"{dbms}:{versions[0]}", f"{dbms}:{versions[1]}@c"]
    facts = [
        TargetFacts(f"t{n}", labels[n], dbms, versions[n], configs[n], f"sum of {versions[n]}", rendered[n])
        for n in range(2)
    ]
    command = f"dbversus compare {' '.join(labels)} --profile quick --tests 'a,b' --suite /s.toml --out x"
    known = Experiment(schema=2, targets=facts, tests=[TEST], suite="/s.toml", command=command, **header)
    targets = [Target(f"t{n}", labels[n], dbms, versions[n], "c") for n in range(2)]
    return Pair(known, targets[0], targets[1], (0, 1), differing_settings(values, [dbms, dbms]))


def seen_of(pairs: Pairs, *, plans: tuple[str, str] | None = None, **more: Any) -> Seen:
    findings = {name: finding_of(name, pair) for name, pair in pairs.items()}
    differing = [PlanDifference(f"{TEST}/s", plans)] if plans else []
    base, mine = ({name: pair[side] for name, pair in pairs.items()} for side in (0, 1))
    return Seen(TEST, findings, base, mine, plans=differing, **more)


def finding_of(metric: str, pair: tuple[float, float]) -> Finding:
    ratio = max(pair[1], 0.01) / max(pair[0], 0.01)
    better = metric == THROUGHPUT
    verdict = Verdict.EQUIVALENT if ratio == 1 else Verdict.REGRESSION if (ratio > 1) != better else Verdict.IMPROVEMENT
    figures = ratio, ratio * 0.9, ratio * 1.1, 0.95, 4, 0.0, 0.0, 0.05, None, None, None
    return Finding(TEST, "new", metric, verdict, *figures, judged=metric in JUDGED, higher_is_better=better)


def explained(pair: Pair, seen: Seen) -> Explanation:
    found = explain(pair, seen)
    assert found is not None
    return found


def names_of(pair: Pair, seen: Seen) -> list[tuple[Kind, str]]:
    return [(cause.kind, cause.what) for cause in explained(pair, seen).causes]
