"""charts/: the charts of a post by themselves, to be published: SVG and PNG, on light and on dark paper."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

from dbversus.errors import RunError
from dbversus.files import write_text, write_whole
from dbversus.report.charts.standing import DARK, LIGHT
from dbversus.report.formats.post.pictures import OURS, pictures
from dbversus.report.model import Assessment

ZOOM = 2.0
"""Pixels of a PNG file per unit, for screens of today."""
_THEMES = {"": LIGHT, "-dark": DARK}
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text font-family="sans-serif" y="16">{}</text></svg>'


def write(assessment: Assessment, path: Path) -> None:
    """Files of an earlier report in the folder go. RunError where no PNG file can have words; the SVG files are there then."""
    path.mkdir(exist_ok=True)
    drawings = {
        f"{picture.file.removesuffix('.svg')}{suffix}": picture.chart.draw(theme)
        for picture in pictures(assessment)
        for suffix, theme in _THEMES.items()
    }
    with_letters = bool(drawings) and _has_letters()
    for name, svg in drawings.items():
        write_text(path / f"{name}.svg", svg)
        if with_letters:
            write_whole(path / f"{name}.png", png(svg))
    for old in path.iterdir():
        if OURS.fullmatch(old.with_suffix(".svg").name) and old.stem not in drawings:
            old.unlink()
    if drawings and not with_letters:
        raise RunError(
            f"{path} has the charts as SVG alone: this host has no fonts to write PNG files with; install one, such as the "
            "package fonts-dejavu-core."
        )


def png(svg: str) -> bytes:
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=svg, zoom=ZOOM, sans_serif_family=_sans_serif()))


@cache
def _sans_serif() -> str:
    """What this host takes for one."""
    if found := shutil.which("fc-match"):
        asked = [found, "--format", "%{family[0]}", "sans-serif"]
        done = subprocess.run(asked, capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode == 0 and done.stdout:
            return done.stdout
    return "DejaVu Sans"


@cache
def _has_letters() -> bool:
    return png(_LETTER.format("a")) != png(_LETTER.format(""))
