"""Cuts a script into statements, each a range of its bytes, with the data that goes to a COPY."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dbversus.dbms.model import Family
from dbversus.errors import UsageError
from dbversus.suites.scripts.dialect import DIALECTS, Dialect
from dbversus.suites.scripts.text import Text

_SHOWN_BYTES = 200
_COUNTED_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement: its file and line, from 1, its bytes from `begin` to `end`, and those of the data that goes to it.

    `instead`: what is run in its place.
    """

    path: Path
    line: int
    begin: int
    end: int
    data: tuple[int, int] | None = None
    instead: bytes | None = None

    def engine_piece(self) -> dict[str, list[int]]:
        """As the engine's `script` command has it: offsets and lengths."""
        piece = {"sql": [self.begin, self.end - self.begin]}
        return piece if self.data is None else piece | {"data": [self.data[0], self.data[1] - self.data[0]]}


def cut(text: Text, family: Family, path: Path) -> Iterator[Piece]:
    """The statements of `text`, which stands in `path`, and the commands of clients that have a meaning for the load.

    Raises UsageError with file and line for what cannot be taken.
    """
    return _Cutter(text, DIALECTS[family], path).pieces()


def shown(text: bytes) -> str:
    """A statement on one line, shortened."""
    words = " ".join(text[: 4 * _SHOWN_BYTES].decode(errors="replace").split())
    return words if len(words) <= _SHOWN_BYTES else f"{words[:_SHOWN_BYTES]} …"


class _Cutter:
    """Goes through a text once, from begin to end."""

    def __init__(self, text: Text, dialect: Dialect, path: Path):
        self.text = text
        self.dialect = dialect
        self.path = path
        self.delimiter = b";"
        self._line, self._counted = 1, 0

    def pieces(self) -> Iterator[Piece]:
        position = 0
        while (position := self._skipped(position)) < len(self.text):
            if self.dialect.quit.match(self.text, position):
                return
            begin, line = position, self._line_at(position)
            if (after := self._heeded(position)) is not None:
                position = after
                continue
            if found := self.dialect.command.match(self.text, position):
                position = found.end()
                yield Piece(self.path, line, *self._client_line(begin, position))
                continue
            end, position = self._end(begin)
            data = None
            if self.dialect.copy and self.dialect.copy.match(self.text, begin, end):
                begin_of_data, end_of_data, position = self._data(position)
                data = (begin_of_data, end_of_data)
            if end > begin:  # else a delimiter alone
                yield Piece(self.path, line, begin, end, data)

    def _skipped(self, position: int) -> int:
        found = self.dialect.blank.match(self.text, position)
        return found.end() if found else position

    def _heeded(self, position: int) -> int | None:
        """Where a line for the client ends that changes the delimiter, or only prints or sets modes; None when none is here."""
        if self.dialect.delimiter and (found := self.dialect.delimiter.match(self.text, position)):
            self.delimiter = found[1]
            return found.end()
        found = self.dialect.harmless.match(self.text, position)
        return found.end() if found else None

    def _client_line(self, begin: int, end: int) -> tuple[int, int]:
        """The range of a command that has a meaning for the load."""
        if not self.dialect.meant.match(self.text, begin, end):
            raise self._no_command(begin)
        return begin, begin + len(self.text[begin:end].rstrip(b"; \t\r\n"))

    def _no_command(self, position: int) -> UsageError:
        line = self.text[position : position + _SHOWN_BYTES].split(b"\n")[0]
        why = next((words for pattern, words in self.dialect.ways_out.items() if pattern.match(line)), "")
        return self._mistake(
            position,
            f"'{shown(line)}' is a command of {self.dialect.clients}; statements of SQL are accepted{why and ': '}{why}.",
        )

    def _end(self, begin: int) -> tuple[int, int]:
        """Where the statement that begins here ends, and where what follows begins."""
        depth, position = 0, begin
        tokens = self.dialect.tokens(self.delimiter)
        while found := tokens.match(self.text, position):
            position = found.end()
            match found.lastgroup:
                case "opened":
                    raise self._mistake(
                        found.start("opened"), f"what {shown(found['opened'])} opens here is not closed."
                    )
                case "command":
                    at = found.start("command")
                    if sent := self.dialect.sends.match(self.text, at):
                        return begin + len(self.text[begin:at].rstrip()), sent.end()
                    raise self._no_command(at)
                case "deeper":
                    depth += 1
                case "higher":
                    depth -= 1
                case "end" if depth <= 0 and self.dialect.is_whole(self.text[begin : (end := found.start("end"))]):
                    return end, position
        end = begin + len(self.text[begin:].rstrip())
        if depth > 0:
            raise self._mistake(begin, f"this statement does not end: {shown(self.text[begin:end])}")
        return end, len(self.text)

    def _data(self, after: int) -> tuple[int, int, int]:
        """Begin and end of a COPY's data, which begins on the next line and ends before a line `\\.`, and what follows that."""
        begin = end = self.text.find(b"\n", after) + 1
        while begin:
            mark = self.text.find(b"\\.", end)
            if mark < 0:
                break
            last = self.text.find(b"\n", mark)
            last = len(self.text) if last < 0 else last
            if self.text[mark - 1 : mark] == b"\n" and self.text[mark + 2 : last].strip() == b"":
                return begin, mark, last
            end = mark + 2
        raise self._mistake(after, "the data of this COPY does not end with a line \\.")

    def _line_at(self, position: int) -> int:
        """For positions that grow."""
        while self._counted < position:
            upto = min(position, self._counted + _COUNTED_BYTES)
            self._line += self.text[self._counted : upto].count(b"\n")
            self._counted = upto
        return self._line

    def _mistake(self, position: int, sentence: str) -> UsageError:
        return UsageError(f"{self.path}:{self._line_at(position)}: {sentence}")
