"""Folded stacks: a line for each, its functions with semicolons between and its weight. Flame graph tools read them."""

from collections import Counter
from collections.abc import Iterable, Mapping

from dbversus.errors import UsageError
from dbversus.profiling.script import Sample, Stack

Folded = Counter[Stack]


def fold(samples: Iterable[Sample]) -> Folded:
    folded: Folded = Counter()
    for sample in samples:
        folded[sample.stack] += sample.weight
    return folded


def folded_text(folded: Mapping[Stack, int]) -> str:
    """Sorted, so that equal stacks make equal files."""
    return "".join(f"{';'.join(stack)} {weight}\n" for stack, weight in sorted(folded.items()) if stack)


def read_folded(text: str, what: str) -> Folded:
    """Raises UsageError, naming `what`, where a line is none."""
    folded: Folded = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        functions, _, weight = line.rpartition(" ")
        if not functions or not weight.isdecimal():
            raise UsageError(f"{what}, line {number}: expected functions with semicolons between, and a number.")
        folded[tuple(functions.split(";"))] += int(weight)
    return folded
