"""Text of servers, files and users, as a cell can hold it."""

import re

MOST_UNITS = 32_767
"""UTF-16 code units that a cell holds."""
_CUT = " … (cut off: {count:,} characters in all; the results folder has them)"
# what no XML file may hold: halves of pairs, and two code points that are no characters
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PICTURES = 0x2400
_DELETE = "\x7f"


def cell_text(text: str) -> str:
    """Control characters as their pictures (␀), lines ended by a line feed, and what a cell has no room for cut off and told."""
    whole = _NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))
    return _fitting(_CONTROL.sub(_picture, whole))


def _picture(found: re.Match[str]) -> str:
    character = found[0]
    return "\N{SYMBOL FOR DELETE}" if character == _DELETE else chr(_PICTURES + ord(character))


def _fitting(text: str) -> str:
    encoded = text.encode("utf-16-le")
    if len(encoded) <= 2 * MOST_UNITS:
        return text
    told = _CUT.format(count=len(text))
    return encoded[: 2 * (MOST_UNITS - len(told))].decode("utf-16-le", "ignore") + told
