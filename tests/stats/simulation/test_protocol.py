"""Looks over any source of values: who takes part in how many blocks."""

from collections.abc import Mapping

from dbversus.stats.model import Finding, Verdict
from dbversus.stats.simulation.protocol import take_looks


def finding(test: str, verdict: Verdict) -> Finding:
    return Finding(test, "b", "m", verdict, None, None, None, 0.95, 0, None, None, 0.03, None, None, None)


class Settling:
    """Each test is settled after so many blocks."""

    def __init__(self, after: Mapping[str, int]) -> None:
        self.after = after
        self.asked: list[dict[str, int]] = []

    def judge(self, blocks: Mapping[str, int]) -> list[Finding]:
        self.asked.append(dict(blocks))
        return [
            finding(test, Verdict.EQUIVALENT if count >= self.after[test] else Verdict.UNDECIDED)
            for test, count in blocks.items()
        ]

    @staticmethod
    def settled(findings: list[Finding]) -> set[str]:
        return {one.test for one in findings if one.verdict is Verdict.EQUIVALENT}


def test_settled_tests_take_part_in_no_more_blocks() -> None:
    source = Settling({"a": 4, "b": 6, "c": 99})
    looked = take_looks(source.judge, "abc", (4, 6, 8), source.settled)
    assert source.asked == [{"a": 4, "b": 4, "c": 4}, {"a": 4, "b": 6, "c": 6}, {"a": 4, "b": 6, "c": 8}]
    assert looked.blocks == {"a": 4, "b": 6, "c": 8}
    assert looked.open_tests == {"c"}


def test_it_ends_when_all_or_all_watched_are_settled() -> None:
    source = Settling({"a": 4, "b": 6, "c": 8})
    assert take_looks(source.judge, "ab", (4, 6, 8), source.settled).blocks == {"a": 4, "b": 6}
    assert take_looks(source.judge, "abc", (4, 6, 8), source.settled, {"a"}).blocks == {"a": 4, "b": 4, "c": 4}
