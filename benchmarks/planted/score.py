"""Answers beside the key: the only code that reads it."""

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from planted.answer import Answer, Cause, Test

MOST_FUNCTIONS = 4
KEY = Path(__file__).parent / "key.toml"


class Score(StrEnum):
    """Of an answer, the worst of its tests counting. What is best comes first."""

    RIGHT = "right"
    PART = "a part of it"
    DONT_KNOW = "don't know"
    OTHER = "another lead first"
    SURE_AND_WRONG = "sure and wrong"
    UNCHANGED = "nothing changed"


class Truth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why the targets of a case differ. `settings`: sets of names, each of which is all of the cause; `functions` and
    `operators`: names, or patterns of a plan, any of which tells it. None of them: there is no cause."""

    kind: str
    about: str
    settings: list[list[str]] = []
    functions: list[str] = []
    operators: list[str] = []

    @property
    def is_nothing(self) -> bool:
        return not (self.settings or self.functions or self.operators)


def read_key() -> dict[str, Truth]:
    return msgspec.toml.decode(KEY.read_bytes(), type=dict[str, Truth])


def score(truth: Truth, answer: Answer) -> Score:
    """A cause that changed no test tells nothing of whether it would have been named."""
    found = [_of_test(truth, test) for test in answer.changed]
    if not found:
        return Score.RIGHT if truth.is_nothing else Score.UNCHANGED
    return max(found, key=list(Score).index)


def _of_test(truth: Truth, test: Test) -> Score:
    first = next((cause for cause in test.causes if not cause.weak), None)
    if truth.is_nothing:
        # a change that is there, and of which no cause is named, blames nothing
        return Score.RIGHT if first is None else Score.SURE_AND_WRONG if first.sure else Score.OTHER
    if first is None:
        return Score.DONT_KNOW
    if _is_right(truth, first, test.causes):
        return Score.RIGHT
    if any(first.names > frozenset(wanted) for wanted in truth.settings):
        return Score.DONT_KNOW  # it is among them; which it is, is not said
    if first.kind == "setting" and any(first.names < frozenset(wanted) for wanted in truth.settings):
        return Score.PART
    return Score.SURE_AND_WRONG if first.sure else Score.OTHER


def _is_right(truth: Truth, first: Cause, causes: Sequence[Cause]) -> bool:
    if first.kind == "setting":
        return any(_names(frozenset(wanted), first, causes) for wanted in truth.settings)
    if first.kind == "function":
        # functions that moved together are one cause: with many of them it tells nothing
        return len(first.names) <= MOST_FUNCTIONS and bool(first.names & frozenset(truth.functions))
    return first.kind == "plan" and any(re.search(pattern, first.detail) for pattern in truth.operators)


def _names(wanted: frozenset[str], first: Cause, causes: Sequence[Cause]) -> bool:
    """Whether all of them are named and nothing else: in one cause, or each in one of its own that is sure."""
    sure = [cause.names for cause in causes if cause.sure and cause.kind == "setting" and cause.names <= wanted]
    return first.names <= wanted and first.names.union(*sure) == wanted
