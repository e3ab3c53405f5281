"""How the values of flags are written: each kind is read from text, and shown as the text that reads as the same."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbversus.errors import UsageError
from dbversus.experiment.asked.flag import Kind
from dbversus.names import split_names
from dbversus.stats.judgeable import named
from dbversus.units import parse_count, parse_duration, parse_memory, show_memory


def _metrics(text: str, flag: str) -> list[str]:
    try:
        return named([text])
    except ValueError as error:
        raise UsageError(f"{flag}: {error}.") from error


def _margins(items: Iterable[str], flag: str) -> dict[str, float]:
    margins = {}
    for item in items:
        metric, _, share = item.partition("=")
        try:
            margins[metric] = float(share)
        except ValueError:
            raise UsageError(f"{flag} {item}: write METRIC=SHARE, such as cpu=0.05.") from None
    return margins


def _with_commas(items: Iterable[Any]) -> str:
    return ",".join(map(str, items))


@dataclass(frozen=True)
class Form:
    """One kind. `type`: what the parser of the command line makes of the words.

    `read` gives the setting's value of that and of the flag's name; `show` is the text of a value (of each of several).
    """

    type: Any
    read: Callable[[Any, str], Any] = lambda value, flag: value
    show: Callable[[Any], str | list[str]] = str


FORMS: Mapping[Kind, Form] = {
    "on": Form(bool, lambda given, flag: True),
    "off": Form(bool, lambda given, flag: False),
    "text": Form(str | None),
    "texts": Form(list[str] | None, show=list),
    "names": Form(str | None, lambda text, flag: split_names(text), _with_commas),
    "whole": Form(int | None),
    "path": Form(Path | None, lambda path, flag: str(path.absolute())),
    "count": Form(str | None, parse_count),
    "counts": Form(str | None, lambda text, flag: [parse_count(part, flag) for part in text.split(",")], _with_commas),
    "duration": Form(str | None, parse_duration, lambda seconds: f"{seconds:.12g}s"),
    "memory": Form(str | None, parse_memory, show_memory),
    "metrics": Form(str | None, _metrics, _with_commas),
    "margins": Form(
        list[str] | None, _margins, lambda margins: [f"{metric}={share}" for metric, share in margins.items()]
    ),
}
