"""Logs of what the reference method does between phases, `sb.o.myvac*`: kept as they are, without figures of tests."""

import re

from dbversus.importing.lines import Text
from dbversus.importing.model import Sheet, Source

_NAME = re.compile(r"sb\.o\.\w*vac(\.|$)")
_SETTINGS = re.compile(r"\.show\.\d+$")
SETTING, LOG = "setting", "settle log"


def fits(name: str, head: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source, text: Text, sheet: Sheet) -> str:
    kind = SETTING if _SETTINGS.search(source.name) else LOG
    for number, line in text:
        if line.strip():
            sheet.keep(number, line, kind if kind is LOG or "\t" in line else LOG)
    return ""
