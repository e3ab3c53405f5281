"""What a finished experiment tells: its verdicts."""

from dbversus.campaign.agenda import Found, Outcome
from dbversus.results.records import Failure, of_type
from dbversus.results.stored import Results


def verdicts_of(results: Results) -> Outcome:
    """All findings on the judged metrics, judged anew, and the targets that are out, each by its place."""
    from dbversus.stats.judge import judge  # statistics take seconds to import

    place = {target.label: number for number, target in enumerate(results.targets)}
    names = {target.name: number for number, target in enumerate(results.targets)}
    found = tuple(
        Found(
            one.test,
            place[one.target],
            one.metric,
            one.verdict,
            one.blocks,
            one.ratio,
            one.low,
            one.high,
            one.block_sd,
        )
        for one in judge(results)
        if one.judged
    )
    failures = of_type(results.records, Failure)
    lost = {names[one.target]: one.message for one in failures if one.final and one.target in names}
    return Outcome(results.finished or "", tuple(results.header.spec["targets"]), found, lost)
