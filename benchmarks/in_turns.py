"""Clients that have turns on one connection: dbversus's engine, and sysbench with in_turns.lua."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from common import Json, engine_slots, number_after, say

from dbversus.errors import RunError
from dbversus.experiment.rig.engine import Engine

IN_TURNS = Path(__file__).with_suffix(".lua")
PILOT_SEED = 1


class Turns(Protocol):
    """A client that is connected. `statements`: of all turns, known when the client has left."""

    statements: int

    def run(self) -> int | None:
        """One turn; server CPU (ns) by the client's own account, if it has one."""


class Client(Protocol):
    def connected(self, ops: int, turns: int, seed: int) -> AbstractContextManager[Turns]:
        """Connects for so many turns of `ops` operations each, with values drawn from `seed`."""


@dataclass
class EngineTurns:
    engine: Engine
    slot: Json
    seed: int
    row: int = 0
    statements: int = 0
    ops_per_s: float = 0

    def run(self) -> int | None:
        asked = {"seed": self.seed, "first_row": self.row, "settle": {"ops": 0}, "slot": self.slot}
        slot = engine_slots(list(self.engine.stream("rows", orders=[["t0"]], **asked)))[0]
        if slot["errors"]:
            say(f"errors {slot['errors']}")
        self.row += 1
        self.statements += slot["statements"]
        self.ops_per_s = slot["ops"] / slot["elapsed_ns"] * 1e9
        found: int | None = slot["server_cpu_ns"]
        return found


@dataclass(frozen=True)
class EngineClient:
    target: Json
    test: Json
    cpu: int

    def connected(self, ops: int, turns: int, seed: int) -> AbstractContextManager[EngineTurns]:
        return self._turns({"ops": ops}, seed)

    def ops_per_s(self) -> float:
        with self._turns({"ms": 300, "min_ops": 1}, PILOT_SEED) as turns:
            turns.run()
        return turns.ops_per_s

    @contextmanager
    def _turns(self, slot: Json, seed: int) -> Iterator[EngineTurns]:
        with Engine((self.cpu,)) as engine:
            engine.call(self.target["cmd"], **{name: value for name, value in self.target.items() if name != "cmd"})
            engine.call("open", targets=["t0"], test=self.test, clients=1, mode="prepared", cpus=[self.cpu], tables=1)
            yield EngineTurns(engine, slot, seed)
            engine.call("close")


@dataclass
class SysbenchTurns:
    process: subprocess.Popen[str]
    ops: int
    statements: int = 0

    def run(self) -> int | None:
        assert self.process.stdin and self.process.stdout
        with suppress(BrokenPipeError):  # its last words say more
            self.process.stdin.write(f"{self.ops}\n")
            self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            if line == "turn done\n":
                return None
            said.append(line.strip())
        raise RunError(f"sysbench left before its last turn: {' '.join(said)}")


@dataclass(frozen=True)
class SysbenchClient:
    """`command`: how sysbench runs `script`; it is given in_turns.lua in its place. `text_transactions`: see there."""

    command: Sequence[str]
    cpu: int
    text_transactions: bool = False

    @contextmanager
    def connected(self, ops: int, turns: int, seed: int) -> Iterator[SysbenchTurns]:
        program, script, *options = self.command
        asked = [program, str(IN_TURNS), *options, f"--events={ops * turns}", "--time=0", f"--rand-seed={seed}", "run"]
        with subprocess.Popen(
            asked,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "SCRIPT": script, **({"TEXT_TRANSACTIONS": "1"} if self.text_transactions else {})},
            preexec_fn=lambda: os.sched_setaffinity(0, [self.cpu]),
        ) as process:
            try:
                found = SysbenchTurns(process, ops)
                yield found
                assert process.stdin and process.stdout
                process.stdin.close()
                output = process.stdout.read()
            finally:
                process.kill()
        if errors := number_after(output, "ignored errors:"):
            say(f"{script}: {errors} errors")
        found.statements = number_after(output, "queries:")
