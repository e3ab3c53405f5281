"""README's moving picture is in step with its recording, shows the last screen where nothing moves, and stays small."""

from pathlib import Path
from xml.etree import ElementTree

import pyte
import pytest
from moving_picture import HELD_S, PICTURE, PLAYED_S, RECORDING, picture
from recording import Event, Recording, record

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = {RECORDING: 60_000, PICTURE: 250_000}


def of(*events: Event) -> Recording:
    return Recording("say <this> & that", 40, 5, events)


def texts(svg: str, when: str) -> list[str]:
    """What stands in groups of a class: `late` stays to the end, `past` does not."""
    groups = ElementTree.fromstring(svg).iter(f"{SVG}g")
    return [text.text or "" for group in groups if when in group.get("class", "").split() for text in group]


def test_the_picture_is_drawn_from_the_recording() -> None:
    assert picture(Recording.read(RECORDING)) == PICTURE.read_text()


@pytest.mark.parametrize("path", MOST_BYTES, ids=lambda path: path.name)
def test_recording_and_picture_are_small(path: Path) -> None:
    assert path.stat().st_size <= MOST_BYTES[path]


def test_where_nothing_moves_the_last_screen_is_seen() -> None:
    recording = Recording.read(RECORDING)
    screen = pyte.Screen(recording.columns, recording.lines)
    pyte.Stream(screen).feed("".join(event.text for event in recording.events))
    root = ElementTree.fromstring(PICTURE.read_text())
    for group in root.findall(f"{SVG}g"):
        for row in group.findall(f"{SVG}g[@class]"):
            if "past" in row.attrib["class"]:
                group.remove(row)

    words = [word for text in root.findall(f"{SVG}g//{SVG}text") for word in (text.text or "").split()]
    assert words == " ".join(screen.display).split()
    assert {"$", "verdict", "▼", "▲", "report:"} <= set(words)


def test_rows_are_drawn_once_for_as_long_as_they_stand() -> None:
    svg = picture(of(Event(0, "$ go\r\n"), Event(2, "\033[31mhalf"), Event(4, "\r\033[2K\033[1;2mdone  now")))

    assert texts(svg, "past") == ["half"]
    assert texts(svg, "late") == ["done", "now"]
    assert [svg.count(f">{text}</text>") for text in ("$ go", "half", "done")] == [1, 1, 1]
    middle, end = (f"{100 * share * PLAYED_S / (PLAYED_S + HELD_S):.2f}%" for share in (0.5, 1))
    assert f"{{{middle}{{visibility:visible}}{end}{{visibility:hidden}}}}" in svg
    assert f"{{0%{{visibility:hidden}}{end}{{visibility:visible}}}}" in svg


def test_without_animation_only_the_last_screen_is_visible() -> None:
    svg = picture(of(Event(0, "first"), Event(1, "\rlast ")))

    always, _, moving = svg.partition("@media (prefers-reduced-motion:no-preference){")
    assert ".past{visibility:hidden}" in always
    assert "animation" not in always
    assert ".past,.late{animation:" in moving


def test_the_command_names_the_picture() -> None:
    root = ElementTree.fromstring(picture(of(Event(0, "x"), Event(PLAYED_S * 5, "y"))))

    assert root.get("aria-labelledby") == "title"
    assert root.findtext(f"{SVG}title") == "say <this> & that, a recorded run, played 5 times as fast"


def test_a_run_in_a_terminal_is_recorded_as_it_was_printed(tmp_path: Path) -> None:
    recorded = record(["sh", "-c", r"test -t 1 && stty size && sleep 0.3 && printf 'ä\033[1mb'"], 100, 7)

    assert [event.text for event in recorded.events[1:]] == ["7 100\r\n", "ä\033[1mb"]
    recorded.write(tmp_path / "run.cast.xz")
    again = Recording.read(tmp_path / "run.cast.xz")
    assert (again.command, again.columns, again.lines) == (recorded.command, 100, 7)
    assert [event.text for event in again.events] == [event.text for event in recorded.events]


def test_a_long_command_goes_on_in_the_next_line() -> None:
    recorded = record(["echo", "one-two", "three"], 20, 7)

    assert [event.text for event in recorded.events] == ["$ echo one-two \\\r\n    three\r\n", "one-two three\r\n"]


def test_a_run_that_fails_is_no_picture() -> None:
    with pytest.raises(SystemExit, match=r"ended with status 3:\n.*gone"):
        record(["sh", "-c", "echo gone; exit 3"], 60, 7)
