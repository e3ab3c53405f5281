"""Tests that are left out on a host, and when that is a failure instead (CONTRIBUTING.md, "Tests that are left out").

`DBVERSUS_TEST_REQUIRE`: `builds` demands every test that needs a server's build or the engine, anything else all tests.
`DBVERSUS_TEST_WITHOUT`: what this host lacks: a test may be left out all the same whose reason has one of these words; they are
separated by `;`. The engine's tests heed both, in engine/tests/support/skip.rs.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from dbversus.builds.model import Build
from dbversus.builds.store import obtain
from dbversus.builds.target import parse_target
from dbversus.errors import DbversusError
from dbversus.servers.process.engine import engine_binary

NO_BUILD = "no build: "
NOT_MEANT = "not meant for it: "
POSTGRES_AT_HAND = "install PostgreSQL in /usr/lib/postgresql, or name a prefix in DBVERSUS_TEST_POSTGRES"


def no_build(why: object) -> NoReturn:
    """Leaves the test out for want of a build."""
    pytest.skip(f"{NO_BUILD}{why}")


def not_meant_for(what: str) -> NoReturn:
    """Leaves the test out, everywhere: it says nothing of such a build."""
    pytest.skip(f"{NOT_MEANT}{what}")


def build_at_hand(target: str) -> Build:
    """Fetched where it is not installed."""
    try:
        return obtain(parse_target(target))
    except DbversusError as error:
        no_build(f"{target} cannot be had: {error}")


def engine_at_hand() -> Path:
    try:
        return engine_binary()
    except DbversusError as error:
        no_build(error)


def complaint(reason: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Why a test that is left out for this reason fails, and the way out; None: it may be left out."""
    demanded = environment.get("DBVERSUS_TEST_REQUIRE")
    without = (words.strip() for words in environment.get("DBVERSUS_TEST_WITHOUT", "").split(";"))
    is_build = reason.startswith(NO_BUILD)
    if not demanded or reason.startswith(NOT_MEANT) or any(words and words in reason for words in without):
        return None
    if demanded == "builds" and not is_build:
        return None
    way_out = "see to it that the build can be had (docs/builds.md)" if is_build else "provide what is missing"
    return (
        f"left out, though DBVERSUS_TEST_REQUIRE is {demanded}: {reason}\n"
        f"{way_out}, or name words of this reason in DBVERSUS_TEST_WITHOUT"
    )
