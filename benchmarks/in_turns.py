"""Clients that have turns on one connection: dbversus's engine, sysbench with in_turns.lua, pgbench with a script that waits."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from common import Json, engine_slots, number_after, say

from dbversus.errors import RunError
from dbversus.experiment.rig.engine import Engine

IN_TURNS = Path(__file__).with_suffix(".lua")
PILOT_SEED = 1
TURN_DONE = "turn done\n"


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
class ProcessTurns:
    """A program that does a turn for each line it is given, and says when it has."""

    name: str
    process: subprocess.Popen[str]
    ops: int
    statements: int = 0

    def run(self) -> int | None:
        assert self.process.stdin
        with suppress(BrokenPipeError):  # its last words say more
            self.process.stdin.write(f"{self.ops}\n")
            self.process.stdin.flush()
        self.wait()
        return None

    def wait(self) -> None:
        """Until it says that it waits for the next turn."""
        assert self.process.stdout
        said = []
        for line in self.process.stdout:
            if line == TURN_DONE:
                return
            said.append(line.strip())
        raise RunError(f"{self.name} left before its last turn: {' '.join(said)}")

    def leave(self) -> str:
        """No more turns; what it says at its end."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        return self.process.stdout.read()


@contextmanager
def program_in_turns(command: Sequence[str], cpu: int, ops: int, env: Json | None = None) -> Iterator[ProcessTurns]:
    """Starts a program that has turns, on one CPU; it is gone afterwards."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | (env or {}),
        preexec_fn=lambda: os.sched_setaffinity(0, [cpu]),
    ) as process:
        try:
            yield ProcessTurns(Path(command[0]).name, process, ops)
        finally:
            process.kill()


@dataclass(frozen=True)
class SysbenchClient:
    """`command`: how sysbench runs `script`; it is given in_turns.lua in its place. `text_transactions`: see there."""

    command: Sequence[str]
    cpu: int
    text_transactions: bool = False

    @contextmanager
    def connected(self, ops: int, turns: int, seed: int) -> Iterator[ProcessTurns]:
        program, script, *options = self.command
        asked = [program, str(IN_TURNS), *options, f"--events={ops * turns}", "--time=0", f"--rand-seed={seed}", "run"]
        env = {"SCRIPT": script, **({"TEXT_TRANSACTIONS": "1"} if self.text_transactions else {})}
        with program_in_turns(asked, self.cpu, ops, env) as found:
            yield found
            output = found.leave()
        if errors := number_after(output, "ignored errors:"):
            say(f"{script}: {errors} errors")
        found.statements = number_after(output, "queries:")


@dataclass(frozen=True)
class PgbenchClient:
    """`script` is run with prepared statements by one client of pgbench, which waits at the end of each turn."""

    program: str
    script: str
    variables: Mapping[str, int]
    address: Json
    cpu: int

    @contextmanager
    def connected(self, ops: int, turns: int, seed: int) -> Iterator[ProcessTurns]:
        with tempfile.NamedTemporaryFile("w", prefix="dbversus-", suffix=".sql") as file:
            file.write(self._in_turns(ops))
            file.flush()
            # the last transaction begins when there are no more turns, so that the last turn can end
            asked = [*self._command(), f"--file={file.name}", f"--transactions={ops * turns + 1}"]
            with program_in_turns([*asked, f"--random-seed={seed}", self.address["database"]], self.cpu, ops) as found:
                found.wait()
                yield found
                output = found.leave()
        if number_after(output, "number of failed transactions:"):
            raise RunError(f"pgbench had failed transactions: {' '.join(output.split())}")

    def _command(self) -> list[str]:
        address = self.address
        return [
            *(self.program, "--no-vacuum", "--protocol=prepared", "--client=1", "--jobs=1"),
            *(f"--define={name}={value}" for name, value in {"op": 0, **self.variables}.items()),
            *(f"--host={address['socket_dir']}", f"--port={address['port']}", f"--username={address['user']}"),
        ]

    def _in_turns(self, ops: int) -> str:
        wait = f"\\if :op % {ops} = 0\n\\shell echo {TURN_DONE.strip()}; read -r line; true\n\\endif\n"
        return f"{wait}\\set op :op + 1\n{self.script}"
