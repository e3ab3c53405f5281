import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.report.charts.standing import DARK, LIGHT
from dbversus.report.formats import charts
from dbversus.report.model import Assessment

from ..many import with_targets


def files(folder: Path, suffix: str) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix == suffix)


def test_each_chart_is_there_light_and_dark_as_svg_and_png(assessment: Assessment, tmp_path: Path) -> None:
    folder = tmp_path / "charts"
    charts.write(assessment, folder)
    drawings, pictures = files(folder, ".svg"), files(folder, ".png")
    assert [Path(name).stem for name in drawings] == [Path(name).stem for name in pictures]
    assert any("throughput" in name for name in drawings) and any("cpu" in name for name in drawings)
    light = [name for name in drawings if not name.endswith("-dark.svg")]
    assert len(light) * 2 == len(drawings) > 0
    for name in light:
        text, dark = (folder / name).read_text(), (folder / name.replace(".svg", "-dark.svg")).read_text()
        assert LIGHT.paper in text and DARK.paper in dark
        assert "is better" in text and text.count('class="value"') == dark.count('class="value"') > 0
        ET.fromstring(text)
    for name in pictures:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_charts_of_an_earlier_report_go_and_files_of_others_stay(assessment: Assessment, tmp_path: Path) -> None:
    (tmp_path / "99-gone.svg").write_text("old")
    (tmp_path / "99-gone-dark.png").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    charts.write(assessment, tmp_path)
    assert not list(tmp_path.glob("99-*")) and (tmp_path / "notes.txt").exists()


@pytest.mark.parametrize("count", [1, 40])
def test_of_one_target_there_is_none_and_of_forty_there_are_some(
    assessment: Assessment, tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "png", lambda svg: svg.encode())  # forty targets are large pictures
    many = replace(assessment, targets=assessment.targets[:1]) if count == 1 else with_targets(assessment, count)
    charts.write(many, tmp_path / "charts")
    assert bool(files(tmp_path / "charts", ".svg")) is (count > 1)


def test_without_fonts_the_svg_files_are_there_and_it_is_said(
    assessment: Assessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "_has_letters", lambda: False)
    with pytest.raises(RunError, match="no fonts to write PNG files with"):
        charts.write(assessment, tmp_path)
    assert files(tmp_path, ".svg") and not files(tmp_path, ".png")
