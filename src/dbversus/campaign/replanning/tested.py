"""What the experiment of `trial_spec` says: whether the old plan, brought back by a setting, also brings back the old cost."""

from math import log

from dbversus.campaign.agenda import Found, Outcome
from dbversus.campaign.replanning.plans import Replanned
from dbversus.explain.cause import Cause, Kind
from dbversus.stats.model import DIFFERS, Verdict

CHANGED, RESTORED = 1, 2
"""Places of its targets: the newer one as it is, and with the old plan; the older one is the base."""


def cause_of_trial(one: Replanned, outcome: Outcome, target: str) -> Cause | None:
    """Of the metric that changed most; None where nothing did, or where a target was lost. `target`: the newer one's label."""
    own = [found for found in outcome.found if found.test == one.test and found.ratio]
    restored = {found.metric: found for found in own if found.target == RESTORED}
    changed = [
        found for found in own if found.target == CHANGED and found.verdict in DIFFERS and found.metric in restored
    ]
    if not changed or not one.restoring:
        return None
    change = max(changed, key=lambda found: abs(log(found.ratio or 1.0)))
    after = restored[change.metric]
    assert change.ratio and after.ratio
    settings = " with ".join(one.restoring[0].items)
    return Cause(
        Kind.PLAN,
        one.test,
        target,
        one.statement,
        mine=settings,
        ratio=change.ratio,
        share=1 - log(after.ratio) / log(change.ratio) if after.verdict in (Verdict.EQUIVALENT, *DIFFERS) else None,
        tested=True,
        means=_words(settings, change, after),
        source=one.restoring[0].trials[0].known.source,
        facts={"metric": change.metric},
    )


def _words(settings: str, change: Found, after: Found) -> str:
    """`with enable_memoize=off the plan and the cost are the old ones: 1.010 [0.980, 1.040]`"""
    interval = f" [{after.low:.3f}, {after.high:.3f}]" if after.low and after.high else ""
    cost = f"{after.ratio:.3f}{interval}"
    if after.verdict in DIFFERS:
        return f"with {settings} the plan is the old one, and the cost {cost} in place of {change.ratio:.3f}"
    if after.verdict is Verdict.EQUIVALENT:
        return f"with {settings} the plan and the cost are the old ones: {cost}"
    return f"with {settings} the plan is the old one; whether the cost is, was not decided: {cost}"
