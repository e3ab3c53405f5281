"""The process of a worker: `python -m dbversus.experiment.crew.member DIR` measures cells of the experiment in a results folder.

It takes the host, fetches and loads what it needs, and then measures what it is asked for until its standard input ends.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from dbversus.errors import DbversusError
from dbversus.experiment.cell.block import run_cell
from dbversus.experiment.crew.remote import hello
from dbversus.experiment.folder import read_folder
from dbversus.experiment.plan.agenda import Cell
from dbversus.experiment.plan.progress import Progress, fold, read_progress
from dbversus.experiment.rig.ready import closing, make_ready
from dbversus.experiment.rig.rig import Rig
from dbversus.experiment.rig.stage import set_stage
from dbversus.host.facts import machine_id
from dbversus.results.records import AnyRecord, decode, encode


class _Teller:
    """Says what it does on standard error; standard output is for records."""

    def say(self, text: str) -> None:
        print(f"dbversus: {text}", file=sys.stderr)

    def expect(self, seconds: float) -> None: ...
    def doing(self, text: str) -> None: ...


def tell(kind: str, **fields: Any) -> None:
    print(json.dumps({"kind": kind, **fields}, default=str), flush=True)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("dbversus: a worker is started with one argument, the results folder of its experiment.")
    try:
        tell("hello", **hello())
        _serve(Path(sys.argv[1]))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to be flushed at the end
        sys.exit("dbversus: the coordinator is gone, and with it the cell that was under way.")
    except DbversusError as error:
        tell("failed", words=str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _serve(directory: Path) -> None:
    display = _Teller()
    with set_stage(read_folder(directory), display, wait=True) as stage:
        host = machine_id() or "unknown"
        rig = stage.rig(lambda record: _take(rig, host, record), directory, Progress(), display)
        with closing(rig):
            make_ready(rig)
            for line in sys.stdin:
                _perform(rig, json.loads(line))


def _take(rig: Rig, host: str, record: AnyRecord) -> None:
    tell("record", record=encode(msgspec.structs.replace(record, host=host)).decode())
    fold(rig.progress, record)


def _perform(rig: Rig, order: dict[str, Any]) -> None:
    rig.heed(read_progress(decode(text.encode()) for text in order["known"]))
    run_cell(rig, Cell(order["block"], tuple(order["cases"])))
    tell("finished", block=order["block"])


if __name__ == "__main__":
    main()
