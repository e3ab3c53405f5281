"""The protocol over any source of block values: look, retire what is settled, go on. For simulation and calibration."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from dbversus.stats.model import Finding

Judge = Callable[[Mapping[str, int]], list[Finding]]
"""Findings from the first so many blocks of each test."""

Settled = Callable[[list[Finding]], set[str]]
"""Tests that need no more blocks."""


@dataclass(frozen=True)
class Looked:
    """Findings of the last look that was taken, blocks that each test took part in, and the tests still open then."""

    findings: list[Finding]
    blocks: dict[str, int]
    open_tests: set[str]


def take_looks(
    judge: Judge, tests: Iterable[str], looks: tuple[int, ...], settled: Settled, watched: Collection[str] | None = None
) -> Looked:
    """One suite through its looks, as an experiment goes; a settled test takes part in no more blocks.

    It ends with the last look, or once all `watched` tests (None: all) are settled: what others do later cannot change them.
    """
    blocks = dict.fromkeys(tests, 0)
    open_tests, findings = set(blocks), list[Finding]()
    for look in looks:
        blocks.update({test: look for test in blocks if test in open_tests})
        findings = judge(blocks)
        open_tests -= settled(findings)
        if not (open_tests if watched is None else open_tests.intersection(watched)):
            break
    return Looked(findings, blocks, open_tests)
