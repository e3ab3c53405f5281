"""The few facts of an ELF file that decide whether it can run here: its machine and its loader."""

import platform
import struct
from dataclasses import dataclass
from pathlib import Path

_MACHINES = {
    3: "i686",
    20: "ppc",
    21: "ppc64",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}
_PT_INTERP = 3
_PATH_BYTES_MAX = 4096


@dataclass(frozen=True)
class _Shape:
    """Where the 32-bit and the 64-bit format keep the same things: in the file's header, then in a program header."""

    word: str
    table_at: int
    count_at: int
    header_bytes: int
    offset_at: int
    length_at: int


_SHAPES = {False: _Shape("I", 28, 44, 32, 4, 16), True: _Shape("Q", 32, 56, 56, 8, 32)}


@dataclass(frozen=True)
class Elf:
    """`machine` as `uname -m` words it; `interpreter`: its loader, None for libraries and static programs."""

    machine: str
    interpreter: str | None


def host_machine() -> str:
    """This host's architecture, e.g. `x86_64`."""
    machine = platform.machine()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine.lower(), machine)


def read_elf(path: Path) -> Elf | None:
    """Header facts of the file, None when it is no (complete) ELF file. Layout: System V ABI, "Object Files"."""
    with path.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:4] != b"\x7fELF":
            return None
        order = "<" if head[5] == 1 else ">"
        shape = _SHAPES[head[4] == 2]
        machine = struct.unpack_from(f"{order}H", head, 18)[0]
        name = _MACHINES.get(machine, f"ELF machine {machine}")
        file.seek(struct.unpack_from(f"{order}{shape.word}", head, shape.table_at)[0])
        count = struct.unpack_from(f"{order}H", head, shape.count_at)[0]
        for _ in range(count):
            header = file.read(shape.header_bytes)
            if len(header) < shape.header_bytes:
                break
            if struct.unpack_from(f"{order}I", header)[0] == _PT_INTERP:
                offset = struct.unpack_from(f"{order}{shape.word}", header, shape.offset_at)[0]
                length = struct.unpack_from(f"{order}{shape.word}", header, shape.length_at)[0]
                file.seek(offset)
                return Elf(name, file.read(min(length, _PATH_BYTES_MAX)).rstrip(b"\0").decode(errors="replace"))
    return Elf(name, None)
