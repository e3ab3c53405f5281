"""The journal of a campaign, whole, cut and damaged."""

from pathlib import Path

import pytest

from dbversus.campaign.agenda import Outcome
from dbversus.campaign.journal import (
    CAMPAIGN_SCHEMA,
    AnyLine,
    Asked,
    CampaignJournal,
    Course,
    Decided,
    Ended,
    Measured,
    Order,
    read_campaign,
)
from dbversus.errors import RunError, UsageError
from dbversus.results.schema import CAMPAIGN

from .screening.worlds import World, play, screening

AGENDA = screening(2)
OUTCOMES, _ = play(AGENDA, World({"s0": 0.1}))
LINES: list[AnyLine] = [
    Decided(experiments=[Order("ends", "why", 5.0, {"suite": "sysbench"})], then="more", then_s=7.0),
    Measured(name="ends", outcome=OUTCOMES["ends"]),
    Decided(experiments=[Order("confirm", "why", 6.0, {})]),
    Measured(name="confirm", outcome=OUTCOMES["confirm"]),
    Ended(reason="confirmed"),
]


def asked() -> Asked:
    return Asked(schema=CAMPAIGN_SCHEMA, dbversus="0.1.0", host="here", command="dbversus x", agenda=AGENDA)


def write(folder: Path) -> bytes:
    with CampaignJournal(folder, asked()) as journal:
        for line in LINES:
            journal.append(line)
    return (folder / CAMPAIGN).read_bytes()


def known(course: Course) -> tuple[list[str], dict[str, Outcome], str | None]:
    return list(course.orders), course.outcomes, course.ended


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(tmp_path)
    course = read_campaign(tmp_path)
    assert known(course) == (["ends", "confirm"], OUTCOMES, "confirmed")
    assert course.asked.agenda == AGENDA and not course.notes and not course.open
    assert course.asked.at_unix_ns > 0


def test_cut_at_any_byte_it_says_what_its_whole_lines_do(tmp_path: Path) -> None:
    whole = write(tmp_path)
    first = whole.index(b"\n") + 1
    for length in range(len(whole)):
        (tmp_path / CAMPAIGN).write_bytes(whole[:length])
        if length < first:
            with pytest.raises(UsageError, match="nothing was asked yet"):
                read_campaign(tmp_path)
            continue
        lines = whole[:length].count(b"\n") - 1
        course, expected = read_campaign(tmp_path), Course(tmp_path, asked())
        for line in LINES[:lines]:
            expected.fold(line)
        assert known(course) == known(expected) and course.notes == []
        assert course.good_bytes == whole[:length].rfind(b"\n") + 1


def test_a_line_that_was_cut_off_is_set_aside_and_told(tmp_path: Path) -> None:
    whole = write(tmp_path)
    (tmp_path / CAMPAIGN).write_bytes(whole[:-5])
    with CampaignJournal(tmp_path) as journal:
        (note,) = journal.course.notes
        assert "cut off" in note and "campaign.jsonl.torn" in note
        journal.append(LINES[-1])
    assert known(read_campaign(tmp_path))[2] == "confirmed"
    assert (tmp_path / f"{CAMPAIGN}.torn").read_bytes().startswith(b'{"type":"ended"')


@pytest.mark.parametrize("number", range(1, 5))
@pytest.mark.parametrize("damage", [b"\0" * 40 + b"\n", b'{"type":"measured","na\n', b'{"type":"no such type"}\n'])
def test_a_damaged_line_in_the_middle_is_told_and_passed_over(tmp_path: Path, number: int, damage: bytes) -> None:
    lines = write(tmp_path).splitlines(keepends=True)
    lines[number] = damage
    (tmp_path / CAMPAIGN).write_bytes(b"".join(lines))
    course = read_campaign(tmp_path)
    (note,) = course.notes
    assert f"line {number + 1}: damaged" in note
    assert course.ended == "confirmed" and course.good_bytes == sum(map(len, lines))


def test_without_its_first_line_nothing_is_known(tmp_path: Path) -> None:
    lines = write(tmp_path).splitlines(keepends=True)
    (tmp_path / CAMPAIGN).write_bytes(b"".join(lines[1:]))
    with pytest.raises(UsageError, match="line 1: damaged"):
        read_campaign(tmp_path)
    with pytest.raises(UsageError, match="line 1: damaged"):
        CampaignJournal(tmp_path)


def test_a_newer_schema_is_refused_by_its_number(tmp_path: Path) -> None:
    whole = write(tmp_path).replace(b'"schema":1', b'"schema":2').replace(b'"kind":"settings"', b'"kind":"unheard"')
    (tmp_path / CAMPAIGN).write_bytes(whole)
    with pytest.raises(UsageError, match="has schema 2; this dbversus reads up to 1"):
        read_campaign(tmp_path)


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", "", "a/b", ".."])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    whole = write(tmp_path).replace(b'"name":"confirm"', b'"name":"%s"' % name.encode())
    (tmp_path / CAMPAIGN).write_bytes(whole)
    course = read_campaign(tmp_path)
    assert list(course.orders) == ["ends"] and "line 4: damaged" in course.notes[0]


def test_a_folder_without_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no campaign.jsonl; expected the folder of a campaign"):
        read_campaign(tmp_path)


def test_only_one_writer(tmp_path: Path) -> None:
    write(tmp_path)
    with CampaignJournal(tmp_path), pytest.raises(RunError, match="another dbversus"):
        CampaignJournal(tmp_path)
