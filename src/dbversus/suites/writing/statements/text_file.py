"""A file of text as somebody has it: plain or gzipped, in the encoding that it has."""

import codecs
import contextlib
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, TextIO, cast

from dbversus.errors import UsageError
from dbversus.packed import Allowance, counted
from dbversus.suites.scripts.text import why_no_text
from dbversus.suites.writing.place import Line

ENCODINGS = "utf-8, utf-16, latin-1, cp1252 and others that Python knows"
_GZIP = b"\x1f\x8b"
_HEAD_BYTES = 4096
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_UNDECODED = re.compile("[\udc80-\udcff]")


@contextlib.contextmanager
def opened(path: str, encoding: str, accepted: str) -> Iterator[TextIO]:
    """`encoding` "": UTF-8, or what a byte order mark says; bytes that are none become surrogates then.

    Raises UsageError for what cannot be read; `accepted` says what can.
    """
    try:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(Path(path).open("rb"))
            if file.peek(2)[:2] == _GZIP:
                packed = stack.enter_context(gzip.GzipFile(fileobj=cast(IO[bytes], file)))
                file = counted(cast(BinaryIO, packed), Allowance(Path(path)))
            head = file.peek(_HEAD_BYTES)[:_HEAD_BYTES]
            if words := why_no_text(head):
                raise UsageError(f"{path} {words.replace('a dump', 'no text but a dump')}; {accepted}.")
            yield io.TextIOWrapper(
                file, encoding or _encoding(path, head, accepted), "strict" if encoding else "surrogateescape"
            )
    except UnicodeError:
        raise UsageError(f"{path} is not {encoding or 'UTF-16'} text; --encoding may be {ENCODINGS}.") from None
    except LookupError:
        raise UsageError(f"--encoding is '{encoding}'; accepted are {ENCODINGS}.") from None
    except (OSError, EOFError, zlib.error) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} cannot be read: {words}; {accepted}.") from None


def _encoding(path: str, head: bytes, accepted: str) -> str:
    if found := next((name for mark, name in _BOMS.items() if head.startswith(mark)), ""):
        return found
    if head[1::2].count(0) > len(head) / 4 or head[::2].count(0) > len(head) / 4:
        order = "le" if head[1::2].count(0) > head[::2].count(0) else "be"
        raise UsageError(f"{path} seems to be UTF-16 text; --encoding utf-16-{order} reads it.")
    if len(_NO_TEXT.findall(head)) > len(head) / 10:
        raise UsageError(f"{path} is no text; {accepted}.")
    return "utf-8"


def decoded(path: str, text: str) -> str:
    """The text; UsageError where a line is not in its encoding."""
    if wrong := _UNDECODED.search(text):
        line = Line(path, text.count("\n", 0, wrong.start()) + 1)
        raise line.mistake(f"this is not UTF-8; --encoding says what it is, such as latin-1 or cp1252 ({ENCODINGS}).")
    return text
