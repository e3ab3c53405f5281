"""perf as the recorder: whether it can be used here, how it is started and ended, and what it has recorded."""

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from dbversus.errors import RunError, UsageError
from dbversus.host.pmu import instructions_counted
from dbversus.host.processes import end_with_parent
from dbversus.profiling.script import FIELDS, FIELDS_OF_STARTS, Sample, family_of, samples_of
from dbversus.profiling.waits import Wait, waits_of

CPU_CLOCK, ALL_CPUS = "cpu-clock", "--all-cpus"
SAMPLES_PER_S = 997
"""Of CPU time, or of waits of a thread: no multiple of what servers and the kernel do by the clock."""
SWITCHES = "sched:sched_switch"
"""The event of waits: a thread leaves the CPU."""
STACK_BYTES = 16_384
"""Copied with each sample where there are no frame pointers."""
_READY_S, _END_S = 5.0, 60.0
_NAMED = 1000
"""Processes, at most, in a command."""
_OUTSIDE_KERNEL = ":u"
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_OWN_PROCESSES = 2
"""The highest level at which others than root may record at all."""
_WITHOUT = "Settings, plans and counters are known without it: leave --measure out, or leave profiles out with --only."


class Stacks(StrEnum):
    """How callers are found."""

    FRAME_POINTERS = "frame pointers"
    UNWIND_TABLES = "unwind tables"
    NONE = "none"

    @property
    def flags(self) -> list[str]:
        how = {Stacks.FRAME_POINTERS: "fp", Stacks.UNWIND_TABLES: f"dwarf,{STACK_BYTES}"}.get(self)
        return ["--call-graph", how] if how else []


@dataclass(frozen=True)
class Perf:
    """What can be recorded here. `event`: `cycles`, where there is a PMU, or `cpu-clock`, with `:u` without the kernel's part; or
    SWITCHES."""

    program: str
    event: str
    unwinds: bool
    all_cpus: bool = False
    """All CPUs are sampled, and what is not of the processes asked for is left out. `cpu-clock` of single ones is a timer that is
    set at each switch to one of them, which takes some µs on a virtual machine."""

    @property
    def sees_kernel(self) -> bool:
        return not self.event.endswith(_OUTSIDE_KERNEL)

    def stacks_of(self, programs: Sequence[Path | None]) -> Stacks:
        """How callers are found in all of these; None: a library, in a program that is not a server's."""
        if all(program and has_frame_pointers(program) for program in programs):
            return Stacks.FRAME_POINTERS
        return Stacks.UNWIND_TABLES if self.unwinds else Stacks.NONE


def find_perf() -> Perf:
    """Raises UsageError with one sentence that says what to install, or to change, and what is known without it."""
    program = shutil.which("perf")
    if program is None:
        raise UsageError(
            "Profiles need the program perf, which is not installed: package linux-perf on Debian, linux-tools-generic on "
            f"Ubuntu, perf elsewhere. {_WITHOUT}"
        )
    counted = "cycles" if instructions_counted() else CPU_CLOCK
    words = ""
    for event in (counted, CPU_CLOCK, f"{counted}{_OUTSIDE_KERNEL}", f"{CPU_CLOCK}{_OUTSIDE_KERNEL}"):
        words = _trial(program, event, [])
        if not words:
            unwinds = not _trial(program, event, Stacks.UNWIND_TABLES.flags)
            return Perf(program, event, unwinds, event == CPU_CLOCK and not _trial(program, event, [ALL_CPUS]))
    with contextlib.suppress(OSError):
        level = int(_PARANOID.read_text(encoding="ascii"))
        if os.geteuid() and level > _OWN_PROCESSES:
            raise UsageError(
                f"The kernel lets nobody but root record profiles (kernel.perf_event_paranoid is {level}): "
                f"`sysctl kernel.perf_event_paranoid=1` lets everybody. {_WITHOUT}"
            )
    raise UsageError(f"perf cannot record here: {words}. {_WITHOUT}")


def find_switches() -> Perf | None:
    """For waits; None where it cannot be had: the kernel lets root alone record them."""
    program = shutil.which("perf")
    if program is None or _trial(program, SWITCHES, []):
        return None
    return Perf(program, SWITCHES, not _trial(program, SWITCHES, Stacks.UNWIND_TABLES.flags))


def _trial(program: str, event: str, flags: Sequence[str]) -> str:
    """What it says where it cannot record that; else empty."""
    with tempfile.TemporaryDirectory(prefix="dbversus-perf-") as folder:
        command = [*_recording(program, event, Path(folder) / "data"), *flags, "--", "true"]
        try:
            done = subprocess.run(
                command, capture_output=True, encoding="utf-8", errors="replace", timeout=_END_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip(" -")]
        if done.returncode:
            return lines[0].rstrip(".") if lines else f"it left with {done.returncode}"
        return (
            ""
            if event.endswith(_OUTSIDE_KERNEL) or event == SWITCHES
            else _without_kernel(program, Path(folder) / "data")
        )


def _without_kernel(program: str, file: Path) -> str:
    """Says so where perf has left the kernel out by itself, as it does without a word where nobody but root may see it."""
    try:
        command = [program, "evlist", "-v", "--input", str(file)]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=_END_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "the kernel's part was left out" if "exclude_kernel: 1" in done.stdout else ""


def _recording(program: str, event: str, file: Path) -> list[str]:
    return [
        *(program, "record", "--quiet", "--no-buildid", "--no-buildid-cache", "--clockid", "CLOCK_MONOTONIC"),
        *("--event", event, "--freq", str(SAMPLES_PER_S), "--output", str(file)),
        *(["--switch-events"] if event == SWITCHES else []),
    ]


class Recording:
    """A perf that records some processes, and what they start, into `file` until it is ended."""

    def __init__(self, perf: Perf, tasks: Sequence[int], stacks: Stacks, file: Path):
        """Of processes, or threads for SWITCHES. Returns once it records; RunError with perf's words where it does not."""
        self._perf, self._tasks, self._file = perf, tasks, file
        self.unix_minus_clock_ns = time.time_ns() - time.monotonic_ns()
        file.unlink(missing_ok=True)
        whose = ["--tid" if perf.event == SWITCHES else "--pid", ",".join(map(str, tasks))]
        command = [
            *_recording(perf.program, perf.event, file),
            *stacks.flags,
            *([ALL_CPUS] if perf.all_cpus else whose),
        ]
        # its own session: Ctrl-C is ours to handle, in order
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            # with all CPUs it would go on for ever, and fill the disk; a shell may have its jobs ignore SIGINT
            preexec_fn=partial(end_with_parent, signal.SIGTERM, os.getpid()),
        )
        deadline_s = time.monotonic() + _READY_S
        while not (file.exists() and file.stat().st_size) and time.monotonic() < deadline_s:
            if self._process.poll() is not None:
                raise RunError(f"perf does not record: {self._words()}")
            time.sleep(0.01)

    def _words(self) -> str:
        assert self._process.stderr
        lines = [line.strip() for line in self._process.stderr.read().splitlines() if line.strip(" -")]
        return lines[0] if lines else f"it left with status {self._process.returncode}"

    def end(self) -> None:
        """Ends it, however it is; what it has recorded is in the file."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()

    def samples(self) -> Iterator[Sample]:
        """With the time since 1970. Empty where nothing was recorded."""
        family = self._family() if self._perf.all_cpus else set()
        # perf passes over the others far sooner; where every connection is a process, its command would be too long
        whose = ["--pid", ",".join(map(str, sorted(family)))] if 0 < len(family) <= _NAMED else []
        for sample in samples_of(self._script(*whose)):
            if not family or sample.pid in family:
                yield replace(sample, at_ns=sample.at_ns + self.unix_minus_clock_ns)

    def _family(self) -> set[int]:
        return family_of(self._tasks, self._script("--show-task-events", fields=FIELDS_OF_STARTS))

    def waits(self) -> Iterator[Wait]:
        """The same of a recording of SWITCHES."""
        past_ns = self.unix_minus_clock_ns
        for wait in waits_of(self._script("--show-switch-events")):
            yield replace(wait, began_ns=wait.began_ns + past_ns, ended_ns=wait.ended_ns + past_ns)

    def _script(self, *flags: str, fields: str = FIELDS) -> Iterator[str]:
        """Its lines."""
        if not self._file.exists():
            return
        # inlined functions take perf long to find, and differ with every compiler
        command = [self._perf.program, "script", "--input", str(self._file), "--ns", "--no-inline", "--fields", fields]
        with subprocess.Popen(
            [*command, *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace"
        ) as script:
            assert script.stdout
            yield from script.stdout

    def remove(self) -> None:
        self._file.unlink(missing_ok=True)


_PROLOGUE = {62: bytes.fromhex("554889e5"), 183: bytes.fromhex("fd030091")}
"""By ELF machine: how a function begins that keeps a frame pointer (push %rbp, mov %rsp,%rbp; mov x29, sp)."""
_UNWIND_SEGMENT = 0x6474E550
_LEAST_PROLOGUES = 0.25
"""Of functions with an unwind entry: of builds with frame pointers 0.4 to 0.65 begin so, of others none."""


def has_frame_pointers(program: Path) -> bool:
    """Whether most functions of a 64-bit ELF file keep a frame pointer; False where it cannot be told."""
    try:
        content = program.read_bytes()
        if content[:6] != b"\x7fELF\x02\x01":
            return False
        prologue = _PROLOGUE.get(struct.unpack_from("<H", content, 18)[0])
        table, (entry_bytes, count) = struct.unpack_from("<Q", content, 32)[0], struct.unpack_from("<HH", content, 54)
        begins = functions = 0
        for place in range(count):
            kind, flags, offset, _, _, length = struct.unpack_from("<IIQQQQ", content, table + place * entry_bytes)
            if kind == _UNWIND_SEGMENT:  # .eh_frame_hdr: four bytes of formats, a pointer, and the number of functions
                functions = struct.unpack_from("<I", content, offset + 8)[0]
            elif kind == 1 and flags & 1 and prologue:
                begins += content.count(prologue, offset, offset + length)
    except (OSError, struct.error):
        return False
    return functions > 0 and begins >= _LEAST_PROLOGUES * functions
