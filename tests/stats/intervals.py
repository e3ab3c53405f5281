"""Whether a verdict says what the interval does that is shown with it."""

from dbversus.stats.model import CHANGES, Finding, Verdict

ROUNDING = 1e-12


def contradiction(finding: Finding) -> str:
    """What the interval has against the verdict (without a steady state: that of all the work); empty where it bears it out."""
    verdict, low, high = finding.counted, finding.low, finding.high
    if low is None or high is None:
        return "no interval" if verdict is Verdict.SMALL_CHANGE else ""
    room = (1 + finding.margin) * (1 + ROUNDING)
    inside, differs = 1 / room <= low and high <= room, not low <= 1 <= high
    if verdict in (Verdict.EQUIVALENT, Verdict.SMALL_CHANGE) and not inside:
        return "leaves the margin"
    if verdict in (*CHANGES, Verdict.SMALL_CHANGE) and not differs:
        return "includes no change"
    if verdict in CHANGES and inside:
        return "inside the margin"
    if verdict in CHANGES and finding.is_worse != ((low > 1) != finding.higher_is_better):
        return "the other direction"
    return ""


def contradictions(findings: list[Finding]) -> list[tuple[Finding, str]]:
    """Findings whose intervals speak against them, and what they say."""
    return [(finding, said) for finding in findings if (said := contradiction(finding))]
