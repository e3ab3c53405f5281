"""post.md and what lies beside it: sentences, charts, lists and links, each made of what was measured."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import json as json_report
from dbversus.report.formats.post import write as post
from dbversus.report.model import Assessment
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Verdict
from tests.importing.conftest import REFERENCE, Import, imported, write

from ....posts.test_scoring import AS_PUBLISHED, POST
from ...many import with_targets
from ...pairs import write_pairs
from ...synthetic import FAILED_TEST, HOSTILE, LABELS, write_results

__all__ = ["imported", "write"]


@pytest.fixture(scope="module")
def written(assessment: Assessment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("post") / "post.md"
    post.write(assessment, path)
    return path


def fenced(text: str) -> list[str]:
    return re.findall(r"```\n(.*?)\n```", text, re.DOTALL)


def headings(text: str) -> list[str]:
    return re.findall(r"^## (.*)", text, re.MULTILINE)


def test_every_test_has_its_ratio_in_a_column_of_each_target(assessment: Assessment, written: Path) -> None:
    text = written.read_text()
    lists = re.findall(r"^Throughput:\n\n```\ncol-1.*?\n(.*?)\n```", text, re.DOTALL | re.MULTILINE)
    lines = {line.split()[-1]: line.split()[:-1] for block in lists for line in block.splitlines()}
    assert set(lines) == {"load", *(test.name for test in assessment.tests)}
    findings = {(item.test, item.target): item for item in assessment.findings if item.metric == THROUGHPUT}
    for test in (test.name for test in assessment.tests):
        assert len(lines[test]) == len(assessment.candidates)
        for cell, target in zip(lines[test], LABELS[1:], strict=True):
            if re.fullmatch(r"[0-9.]+[?]?", cell):
                assert cell.rstrip("?") == f"{findings[test, target].ratio:.2f}"
    assert lines[FAILED_TEST][1] in ("–", "!")


def test_what_is_not_decided_has_a_mark(assessment: Assessment, written: Path) -> None:
    undecided = {
        item.test
        for item in assessment.findings
        if item.metric == THROUGHPUT and item.verdict in (Verdict.UNDECIDED, Verdict.UNSTABLE) and item.ratio
    }
    marked = {line.split()[-1] for block in fenced(written.read_text()) for line in block.splitlines() if "? " in line}
    undecided.discard("load")
    assert undecided and undecided <= marked and "load" not in marked


def test_sections_are_those_of_the_posts_in_their_order(written: Path) -> None:
    titles = headings(written.read_text())
    assert titles[:5] == ["In short", "What was compared, and how", "Load", "Reads before the writes", "Writes"]
    assert titles.index("Summaries") < titles.index("Caveats")


def test_throughput_comes_before_cpu_and_cpu_before_the_rest(written: Path) -> None:
    text = written.read_text()
    (reads,) = re.findall(r"^## Reads before the writes\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    lists = re.findall(r"^(\w.*):\n\n```", reads, re.MULTILINE)
    assert lists[:2] == ["Throughput", "Server CPU per operation"]
    assert any(title.startswith("Context switches") for title in lists[2:])


def test_pictures_are_whole_and_named_in_the_text(written: Path, assessment: Assessment) -> None:
    named = re.findall(r"!\[.*?\]\((post/[^)]*)\)", written.read_text())
    assert named[0] == "post/1-by-group-of-tests-throughput.svg"
    assert any(name.endswith("-reads-before-the-writes-cpu-per-operation.svg") for name in named)
    texts: set[str | None] = set()
    for name in named:
        root = ElementTree.parse(written.parent / name).getroot()
        texts |= {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {test.name for test in assessment.tests} | set(LABELS[1:]) <= texts


def test_summaries_of_the_reference_are_linked_and_there(written: Path) -> None:
    links = re.findall(r"(?<!!)\[([^]]*)\]\((post/[^)]*)\)", written.read_text())
    assert {"queries/s", "relative to the base", "hardware per operation", "README"} <= {text for text, _ in links}
    assert all((written.parent / path).is_file() for _, path in links)


def test_pictures_of_an_earlier_post_go_and_other_files_stay(assessment: Assessment, tmp_path: Path) -> None:
    (tmp_path / "post").mkdir()
    for name in ("9-more-writes-throughput.svg", "mine.svg", "9-notes.txt"):
        (tmp_path / "post" / name).write_text("")
    post.write(assessment, tmp_path / "post.md")
    left = {path.name for path in (tmp_path / "post").iterdir()}
    assert "9-more-writes-throughput.svg" not in left and {"mine.svg", "9-notes.txt"} <= left


def test_nothing_is_written_through_a_link(assessment: Assessment, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "results/post").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="link"):
        post.write(assessment, tmp_path / "results/post.md")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_text_of_others_stays_text(written: Path) -> None:
    outside = re.sub(r"```.*?```", "", written.read_text(), flags=re.DOTALL)
    assert HOSTILE not in outside and "<b>" not in outside
    assert "FATAL:" in outside


@pytest.mark.parametrize("name", ["<b>x</b>", "a](http://example.org)", "**a**|b", "../../up", "`code`\n# head"])
def test_nor_does_a_name_or_group_become_markup(assessment: Assessment, name: str, tmp_path: Path) -> None:
    first, *others = assessment.tests
    hostile = tuple(replace(item, test=name) for item in first.comparisons)
    tests = (replace(first, name=name, group=name, comparisons=hostile), *others)
    post.write(replace(assessment, tests=tests), tmp_path / "post.md")
    outside = re.sub(r"```+.*?```+", "", (tmp_path / "post.md").read_text(), flags=re.DOTALL)
    assert not re.search(r"<b>|(?<!\\)\]\(http|(?<!\\)\*\*a\*\*|(?<!\\)`code|\n# head", outside)
    made = [path.name for path in (tmp_path / "post").iterdir()]
    assert all(re.fullmatch(r"[a-z0-9-]+(\.svg)?", one) for one in made)


def test_the_command_repeats_it(assessment: Assessment, written: Path) -> None:
    assert fenced(written.read_text())[-1] == assessment.command


def test_claims_of_a_post_stand_beside_what_was_found(tmp_path: Path) -> None:
    results = open_results(write_pairs(tmp_path / "results", AS_PUBLISHED, spec={"posts": [POST]}))
    text = post.render(build_assessment(results))
    assert f"## Claims of {POST}" in text
    line = next(line for line in text.splitlines() if line.startswith("| 12 |"))
    assert "not shown (2 of 10 figures found)" in line and "n = 4, against 1.400: found" in line
    assert "## Two generations: " in text


def test_claims_are_in_the_data_too(tmp_path: Path) -> None:
    results = open_results(write_pairs(tmp_path / "results", AS_PUBLISHED, spec={"posts": [POST]}))
    (found,) = json.loads(json_report.render(build_assessment(results)))["posts"]
    claims = {claim["name"]: claim["status"] for claim in found["claims"]}
    assert (found["name"], claims[f"{POST}/12"], len(claims)) == (POST, "not shown", 20)


def test_one_target_alone_has_its_figures_and_no_ratios(tmp_path: Path) -> None:
    alone = build_assessment(open_results(write_results(tmp_path / "results", targets=1)))
    post.write(alone, tmp_path / "post.md")
    text = (tmp_path / "post.md").read_text()
    assert f"{LABELS[0]} was measured alone" in text and "![" not in text
    assert headings(text)[:3] == ["In short", "What was compared, and how", "Figures"]
    assert all(f"| {test.name} |" in text for test in alone.tests)


def test_of_two_targets_all_ratios_are_in_one_list(assessment: Assessment) -> None:
    text = post.render(with_targets(assessment, 2))
    heads = [block.splitlines()[0].split() for block in fenced(text) if "cpu/o" in block]
    assert heads and all(head[:2] == ["qps", "cpu/o"] for head in heads)


def test_forty_targets_have_a_line_each(assessment: Assessment, tmp_path: Path) -> None:
    many = with_targets(assessment, 40)
    post.write(many, tmp_path / "post.md")
    text = (tmp_path / "post.md").read_text()
    assert text.startswith("# 39 targets against postgres:9.0\n")
    assert text.count("\n- **") == len({line for line in text.splitlines() if line.startswith("- **")}) < 20
    assert "<details><summary>Verdicts and intervals of each target</summary>" in text
    table = text[text.index("## In short") : text.index("## What was compared")]
    assert all(f"| {facts.target.label} |" in table for facts in many.candidates)


def test_where_nothing_could_be_judged_that_is_said_first(tmp_path: Path) -> None:
    some = build_assessment(open_results(write_results(tmp_path / "results", targets=2, blocks=1)))
    text = post.render(some)
    short = text[text.index("## In short") : text.index("## What was compared")]
    assert f"- {LABELS[1]}: nothing could be judged" in short
    assert ": of 12 tests, 11 are undecided and 1 gave other answers." in short
    assert "## Gold and silver" not in text


def test_an_interrupted_experiment_says_so(results_dir: Path, tmp_path: Path) -> None:
    lines = (results_dir / JOURNAL).read_bytes().splitlines(keepends=True)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / JOURNAL).write_bytes(b"".join(lines[: len(lines) // 2]))
    text = post.render(build_assessment(open_results(tmp_path / "results")))
    assert "This experiment has not ended" in text and "## Reads before the writes" in text


def test_one_of_which_no_block_ended_has_no_ratios(results_dir: Path, tmp_path: Path) -> None:
    lines = (results_dir / JOURNAL).read_bytes().splitlines(keepends=True)
    ended = next(number for number, line in enumerate(lines) if b'"type":"row"' in line.replace(b" ", b""))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / JOURNAL).write_bytes(b"".join(lines[:ended]))
    text = post.render(build_assessment(open_results(tmp_path / "results")))
    assert f"- {LABELS[1]}: " in text and "were not measured" in text


def test_steps_alone_are_told(imported: Import, tmp_path: Path) -> None:
    post.write(build_assessment(imported(REFERENCE / "insert-2021")), tmp_path / "post.md")
    text = (tmp_path / "post.md").read_text()
    assert headings(text)[2:4] == ["Load, indexes and inserts", "Queries while rows are inserted"]
    assert (
        "- my8022.cx6d: throughput 0.61 of my5649.cx6d; CPU per operation 1.46; context switches per operation 1.67; "
        "bytes written per inserted row 1.14." in text
    )
    assert "(post/reference/insert/mrg.some)" in text


def test_several_numbers_of_clients_are_told_apart(imported: Import) -> None:
    text = post.render(build_assessment(imported(REFERENCE / "sysbench-2020")))
    assert "Figures are those with 1 client." in text and "With 3 clients: throughput " in text


def test_an_experiment_without_a_suite_is_no_import(assessment: Assessment) -> None:
    header = msgspec.structs.replace(assessment.header, suite="")
    assert "imported" not in post.render(replace(assessment, header=header)).split("## Load")[0]


def test_lists_are_in_columns_whatever_is_in_them(imported: Import) -> None:
    text = post.render(build_assessment(imported(REFERENCE / "published")))
    for block in (block for block in fenced(text) if "insert" in block.splitlines()[0]):
        head, *lines = block.splitlines()
        starts = [match.start() for match in re.finditer(r"\S+", head)]
        for line in lines:
            assert all(line[start] != " " and line[start - 1] == " " for start in starts[1:])


def test_the_host_is_told_without_its_name(assessment: Assessment) -> None:
    host = {
        "cpu": {"model": "Some CPU", "cores": 2},
        "memory": {"total_bytes": 8_000_000_000},
        "kernel": "6.1.0",
        "name": "db7",
    }
    text = post.render(replace(assessment, host=host))
    assert "Host: Some CPU, 2 cores; 8.0 GB of memory; kernel 6.1.0." in text and "db7" not in text
    assert "Host:" not in post.render(replace(assessment, host={}))


def test_known_bugs_of_imported_builds_are_caveats(imported: Import, write: Callable[[str, str], Path]) -> None:
    lines = "sb.r.qps.hot-points.range100.pk1\n100\t90\tx.my8021.a.pk1\n49\t50\tx.my8022.a.pk1\n"
    text = post.render(build_assessment(imported(write("o.qps.abs.in", lines))))
    assert "| base | x.my8021.a.pk1 | 8.0.21 |" in text
    (bug,) = [line for line in text.splitlines() if "bug 102037" in line]
    assert "x.my8022.a.pk1" in bug and "x.my8021" not in bug and bug.count("hot-points") == 1
