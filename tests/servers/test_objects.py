"""Sources of figures of objects: which are asked, and what becomes of their answers."""

from collections.abc import Sequence
from typing import Any

import pytest

from dbversus.dbms.known import find_dbms
from dbversus.errors import RunError
from dbversus.servers import objects
from dbversus.servers.objects import ObjectFigure, Source, object_figures, sources

PAGES = Source("pages", "SELECT pages", ("read_pages", "hit_pages"))


class Asked:
    """Answers by statement; what it has no answer to is refused."""

    def __init__(self, **answers: Sequence[Sequence[Any]]):
        self.answers = answers
        self.statements: list[str] = []

    def __call__(self, statement: str) -> Sequence[Sequence[Any]]:
        name = statement.removeprefix("SELECT ")
        self.statements.append(name)
        if name not in self.answers:
            raise RunError(f"no table {name}")
        return self.answers[name]


def figures(monkeypatch: pytest.MonkeyPatch, asked: Asked, *of: Source, version: str = "10.5") -> objects.ObjectFigures:
    monkeypatch.setattr(objects, "sources", lambda family: {"rise": of})
    return object_figures("any", "rise", "mariadb", version, asked)


@pytest.mark.parametrize("family", ["postgres", "mysql", "sqlite"])
def test_every_family_has_well_formed_sources(family: str) -> None:
    found = sources(family)
    assert {"rise", "end"} <= found.keys() <= {"rise", "end", "first", "phase"}
    for moment, of_moment in found.items():
        names = [source.name for source in of_moment]
        assert len(set(names)) == len(names), (family, moment)
        for source in of_moment:
            assert source.figures and "SELECT" in source.sql
            for dbms, bounds in source.versions.items():
                assert str(find_dbms(dbms).family) == family and len(bounds) == 2, source.name


def test_a_row_is_kind_object_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    found = figures(monkeypatch, Asked(pages=[("index", "t.k", 5, 0), ("table", "t", None, "7")]), PAGES)
    assert found.values == {
        ObjectFigure("index", "t.k", "read_pages"): 5.0,
        ObjectFigure("table", "t", "hit_pages"): 7.0,
    }
    assert not found.lacking


def test_objects_of_one_name_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    found = figures(monkeypatch, Asked(pages=[("table", "t", 5, 1), ("table", "t", 2, 1)]), PAGES)
    assert found.values[ObjectFigure("table", "t", "read_pages")] == 7.0


def test_the_first_source_of_a_figure_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    second = Source("estimates", "SELECT estimates", ("read_pages", "rows"))
    asked = Asked(pages=[("table", "t", 5, 1)], estimates=[("table", "t", 99, 3)])
    found = figures(monkeypatch, asked, PAGES, second)
    assert found.values[ObjectFigure("table", "t", "read_pages")] == 5.0
    assert found.values[ObjectFigure("table", "t", "rows")] == 3.0


@pytest.mark.parametrize(
    ("versions", "is_asked"),
    [
        ({}, True),
        ({"mariadb": ["10.5", ""]}, True),
        ({"mariadb": ["", "10.5"]}, True),
        ({"mariadb": ["10.6", ""]}, False),
        ({"mariadb": ["", "10.4"]}, False),
        ({"mysql": ["", ""]}, False),
    ],
)
def test_a_source_is_asked_of_the_versions_that_it_is_for(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, Any], is_asked: bool
) -> None:
    asked = Asked(pages=[("table", "t", 5, 1)])
    found = figures(monkeypatch, asked, Source("pages", "SELECT pages", PAGES.figures, versions))
    assert (asked.statements == ["pages"]) == is_asked == bool(found.values)
    assert not found.lacking


@pytest.mark.parametrize("answer", [[("0",)], [(0,)], [(None,)], [(False,)], []])
def test_what_is_off_is_not_asked_and_said(monkeypatch: pytest.MonkeyPatch, answer: list[Any]) -> None:
    source = Source("pages", "SELECT pages", PAGES.figures, only_if="SELECT switch", lacking="it is off")
    asked = Asked(switch=answer, pages=[("table", "t", 5, 1)])
    found = figures(monkeypatch, asked, source)
    assert asked.statements == ["switch"] and found.lacking == {"pages": "it is off"}
    # a switch that this server does not know is off, too
    assert figures(monkeypatch, Asked(), source).lacking == {"pages": "it is off"}
    silent = Source("pages", "SELECT pages", PAGES.figures, only_if="SELECT switch")
    assert not figures(monkeypatch, Asked(switch=answer), silent).lacking


def test_a_source_that_is_refused_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Source("rows", "SELECT rows", ("read_rows",))
    found = figures(monkeypatch, Asked(rows=[("table", "t", 3)]), PAGES, other)
    assert found.lacking == {"pages": "no table pages"}
    assert found.values == {ObjectFigure("table", "t", "read_rows"): 3.0}
