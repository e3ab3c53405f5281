"""Plans on two targets, and settings that bring the old ones back: explain --plans (campaign/replanning)."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dbversus.cli.choices import Choices, as_words
from dbversus.cli.options import Run
from dbversus.cli.outcome import FAIL_ON_MET
from dbversus.cli.tables import print_json
from dbversus.errors import UsageError
from dbversus.names import did_you_mean, split_names

if TYPE_CHECKING:
    from dbversus.campaign.replanning.plans import Plans, Replanned
    from dbversus.experiment.asked.spec import ExperimentSpec

CONDITIONS = ("shape", "index", "estimates", "refused")


def replan(
    targets: tuple[str, str],
    chosen: Choices,
    *,
    fail_on: str | None,
    verbose: bool,
    json: bool,
    run: Run,
) -> int:
    """Compares plans without measuring; returns the exit status."""
    from dbversus.campaign.replanning import plans as replanning
    from dbversus.cli.consent import with_consent
    from dbversus.cli.display import make_display
    from dbversus.experiment.asked.spec import make_spec
    from dbversus.suites.profiles import profile_defaults

    conditions = _conditions(fail_on)
    if "time_budget_s" in chosen:
        raise UsageError("--time-budget is for what is measured; --plans measures nothing.")
    given = chosen | {"targets": list(targets)}
    spec, _ = with_consent(
        lambda: make_spec(profile_defaults(given) | given), None, trust=run.trust, dry_run=run.dry_run
    )
    replanning.check_plans(spec)
    if run.dry_run:
        _print_dry(spec)
        return 0
    with make_display(run.quiet) as display:
        plans = replanning.replan(spec, display, wait=run.wait)
    if json:
        print_json(_as_object(plans, spec, chosen))
    else:
        _print(plans, spec, chosen, verbose=verbose)
    return _status(plans, conditions)


def _conditions(text: str | None) -> list[str]:
    found = split_names(text or "")
    for name in found:
        if name not in CONDITIONS:
            raise UsageError(
                f"--fail-on {name} is unknown for --plans.{did_you_mean(name, CONDITIONS)} Accepted: {', '.join(CONDITIONS)}."
            )
    return found


def _status(plans: "Plans", conditions: Sequence[str]) -> int:
    status = 0
    sys.stdout.flush()
    for condition in conditions:
        if met := [one.statement for one in plans.found if _kind(one) == condition]:
            print(f"dbversus: --fail-on {condition}: {', '.join(met)}.", file=sys.stderr)
            status = FAIL_ON_MET
    return status


def _kind(one: "Replanned") -> str:
    return one.change.kind.value if one.change else "refused"


def _print_dry(spec: "ExperimentSpec") -> None:
    from dbversus.builds.store import resolve
    from dbversus.builds.target import parse_target
    from dbversus.units import count_of

    for text in spec.targets:
        print(f"{text}: {resolve(parse_target(text)).version}")
    suite = spec.read_suite()
    statements = sum(len(test.statements) for test in suite.reported_tests)
    print(
        f"{count_of(statements, 'statement')} of {suite.name} with {spec.table_size:,} rows per table; nothing is measured"
    )


def _print(plans: "Plans", spec: "ExperimentSpec", chosen: Choices, *, verbose: bool) -> None:
    from dbversus.campaign.replanning.plans import told

    print(f"{plans.labels[1]} against {plans.labels[0]}: {told(plans)}\n")
    for one in plans.found:
        print(f"{one.statement}: {_words(one)}")
        for line in _of_cause(plans, one, spec, chosen):
            print(f"  {line}")
        if verbose and one.change and one.change.kind.value != "same":
            for label, plan in zip(plans.labels, one.plans, strict=True):
                print(f"  {label}:")
                print("\n".join(f"    {line}" for line in plan.splitlines()))
    for why in dict.fromkeys(plans.left_out.values()):
        tests = [test for test, words in plans.left_out.items() if words == why]
        print(f"\nnot explained, {why}: {', '.join(tests)}")


def _words(one: "Replanned") -> str:
    return one.change.words if one.change else f"no plan to compare: {one.refused}"


def _of_cause(plans: "Plans", one: "Replanned", spec: "ExperimentSpec", chosen: Choices) -> Iterator[str]:
    """What brings the old plan back, and the command that measures what it costs then."""
    from dbversus.campaign.replanning.plans import brought_back

    yield from brought_back(plans, one)
    if one.differs and one.restoring:
        yield f"what it costs then: {command(plans, one, spec, chosen)}"


def command(plans: "Plans", one: "Replanned", spec: "ExperimentSpec", chosen: Choices) -> str:
    """Measures the two targets and the newer one with the old plan, in that test."""
    from dbversus.campaign.replanning.plans import trial_targets

    targets = trial_targets(spec.targets, plans.newer, one.restoring[0])
    return shlex.join(["dbversus", "compare", *targets, *as_words(chosen | {"tests": one.test})])


def _as_object(plans: "Plans", spec: "ExperimentSpec", chosen: Choices) -> dict[str, Any]:
    return {
        "targets": plans.labels,
        "tried_on": plans.labels[plans.newer],
        "statements": [_row(plans, one, spec, chosen) for one in plans.found],
        "left_out": plans.left_out,
    }


def _row(plans: "Plans", one: "Replanned", spec: "ExperimentSpec", chosen: Choices) -> dict[str, Any]:
    change = one.change
    estimate = change.estimate if change else None
    return {
        "statement": one.statement,
        "kind": _kind(one),
        "words": _words(one),
        "new": change.difference.new if change else (),
        "gone": change.difference.gone if change else (),
        "rows": [estimate.base, estimate.mine] if estimate else None,
        "settings_tried": one.tried,
        "brought_back_by": [
            {"settings": found.items, "new_in": found.trials[0].new_in or None, "source": found.trials[0].known.source}
            for found in one.restoring
        ],
        "command": command(plans, one, spec, chosen) if one.restoring else None,
        "plans": one.plans,
    }
