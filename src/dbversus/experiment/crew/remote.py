"""A worker that is a process of its own: orders go to its standard input, records come from its standard output, in JSON."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import dbversus
from dbversus.errors import UsageError
from dbversus.experiment.crew.worker import Order, Take, WorkerLost
from dbversus.results.records import AnyRecord, decode
from dbversus.results.schema import SCHEMA_VERSION

MEMBER = "dbversus.experiment.crew.member"
"""The module that a worker's process runs."""

_STOP_S = 30


def hello() -> dict[str, Any]:
    """How a worker introduces itself: records of another version are not to be mixed with ours."""
    return {"dbversus": dbversus.__version__, "schema": SCHEMA_VERSION}


class ProcessWorker:
    """`environment`: what it has besides ours, such as a host lock of its own.

    Raises UsageError for a worker of another version.
    """

    def __init__(
        self,
        name: str,
        directory: Path,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] = (sys.executable, "-m", MEMBER),
    ):
        self.name = name
        self._process = subprocess.Popen(
            [*command, str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # Ctrl-C is for us, who then end it
        )
        self._greet()

    @property
    def pid(self) -> int:
        return self._process.pid

    def perform(self, order: Order, take: Take) -> None:
        self._send(order)
        records: list[AnyRecord] = []
        while (line := self._read(order))["kind"] != "finished":
            if line["kind"] == "failed":
                raise WorkerLost(f"{self.name} gave up: {line['words']}")
            if line["kind"] == "record":
                records.append(self._decoded(line["record"]))
        if line["block"] != order.cell.block:
            self.close()
            raise WorkerLost(
                f"{self.name} answered for block {line['block'] + 1}, which it was not asked for or had answered before; "
                "what it said is not counted."
            )
        for record in records:
            take(record)

    def close(self) -> None:
        """It ends with its standard input; killed if it does not."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """As Ctrl-C would."""
        self._process.send_signal(signal.SIGINT)
        self.close()

    def _greet(self) -> None:
        said = self._read(None)
        found = {name: said.get(name) for name in hello()}
        if found != hello():
            self.close()
            raise UsageError(
                f"{self.name} is dbversus {found['dbversus']} with results of schema {found['schema']}, and this is "
                f"{dbversus.__version__} with schema {SCHEMA_VERSION}; install the same version everywhere."
            )

    def _send(self, order: Order) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(order.to_json(), default=str) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise self._gone() from error

    def _read(self, order: Order | None) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise self._gone()
        try:
            said = json.loads(line)
            said["kind"]
        except (ValueError, TypeError, KeyError) as error:
            self.close()
            raise WorkerLost(f"{self.name} said what no worker says: {line.strip()[:100]!r}.") from error
        return dict(said)

    def _decoded(self, text: str) -> AnyRecord:
        try:
            return decode(text.encode())
        except (msgspec.DecodeError, UnicodeError) as error:
            self.close()
            raise WorkerLost(f"{self.name} said what is no record: {error}.") from error

    def _gone(self) -> WorkerLost:
        self._process.wait()
        status = self._process.returncode
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return WorkerLost(f"{self.name} (process {self.pid}) {how}.")
