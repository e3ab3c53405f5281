"""dbversus under way, as a process of its own: started, watched, waited for."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from dbversus.host import processes

from .clock import PROGRAM, JumpingClock

DBVERSUS = ("-c", "from dbversus.cli.main import main; main()")
_ROW_START = b'{"type":"row",'


def _heed_interrupts() -> None:
    """A shell starts what runs in its background with SIGINT ignored, which children inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class RowCount:
    """Counts the rows of a journal that grows. A last line that was cut off is not counted, and may go away again."""

    def __init__(self, journal: Path):
        self._journal = journal
        self._read_bytes = 0
        self._rows = 0

    def look(self) -> int:
        try:
            with self._journal.open("rb") as file:
                file.seek(self._read_bytes)
                new = file.read()
        except FileNotFoundError:
            return self._rows
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        self._rows += sum(line.startswith(_ROW_START) for line in whole.splitlines())
        return self._rows


def _environment(home: Path) -> dict[str, str]:
    """With a lock in its home: a soak may go on beside other work."""
    own = {"DBVERSUS_HOME": str(home), "DBVERSUS_HOST_LOCK": str(home / "host.lock"), "COLUMNS": "160"}
    return os.environ | own


class Controller:
    """One `dbversus` command, with a `clock` of its own if one is given. What it says goes to the end of `log`."""

    def __init__(self, words: list[str], home: Path, log: Path, clock: JumpingClock | None = None):
        self.home = home
        self._log = log
        self._said_before = log.stat().st_size if log.exists() else 0
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, *(("-P", str(PROGRAM)) if clock else DBVERSUS), *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=_environment(home) | (clock.environment if clock else {}),
                cwd=home.parent,
                preexec_fn=_heed_interrupts,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def said(self) -> str:
        with self._log.open("rb") as file:
            file.seek(self._said_before)
            return file.read().decode(errors="replace")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def is_stopped(self) -> bool:
        stat = processes.read_stat(self.pid)
        return stat is not None and stat.state == "T"

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self, limit_s: float) -> int | None:
        """Its exit status (negative: the signal that killed it); None when it had to be killed after the limit."""
        try:
            return self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return None

    def end(self) -> None:
        """For a soak that is itself interrupted."""
        if self.is_running():
            self.send(signal.SIGCONT)
            self.send(signal.SIGTERM)
            self.wait(30)

    def engines(self) -> list[int]:
        """The engine (not the guard, which is the same program)."""
        found = [(pid, processes.command_line(pid)) for pid in self._children()]
        return [pid for pid, line in found if line and line[0].endswith("dbversus-engine") and "guard" not in line]

    def servers(self) -> dict[str, int]:
        """Target name → root process, of the servers that are up."""
        found = {}
        for pid in self._children():
            place = Path(working_directory(pid))
            if place.name == "data" and place.parent.parent == self.home / "work" / str(self.pid):
                found[place.parent.name] = pid
        return found

    def _children(self) -> list[int]:
        every = ((pid, processes.read_stat(pid)) for pid in processes.all_pids())
        return [pid for pid, stat in every if stat and stat.parent == self.pid and stat.state not in "ZX"]


def backends(root: int) -> list[int]:
    """The processes of a PostgreSQL server that serve connections through its socket."""
    return [pid for pid in processes.descendants(root) if "[local]" in " ".join(processes.command_line(pid))]


def working_directory(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115 (a text, no Path)
    except OSError:
        return ""
