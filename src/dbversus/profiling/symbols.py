"""Names of functions that can be compared between two builds, and kernel time by system call.

With cpu-clock, a sample waits until interrupts are enabled again, so that kernel time piles up in a few symbols; which
system call it belongs to is right all the same.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

KERNEL = "[kernel]"
UNKNOWN = "[unknown]"
LONG_NAME = 60

_CLONE = re.compile(r"(?:\.(?:constprop|isra|part|cold|lto_priv|llvm|localalias)(?:\.\d+)*)+$|\s*\[clone [^]]*\]")
_VERSION = re.compile(r"@+[A-Z]\w*[._\w]*$")
_ARGUMENTS = re.compile(r"<[^<>]*>")
_LIBRARY = re.compile(r"^(.+?)(?:-\d[\d.]*)?\.so(?:\.[\d.]+)?$")
_SYSTEM_CALL = re.compile(r"^__(?:x64|arm64|ia32|s390x|riscv)_(?:compat_)?sys_(\w+)$")
_SAME_CALLS = {
    "ppoll": "poll",
    "pselect6": "select",
    "epoll_pwait": "epoll_wait",
    "epoll_pwait2": "epoll_wait",
    "newfstat": "fstat",
    "openat": "open",
    "recv": "recvfrom",
    "send": "sendto",
}
"""System calls that do the same as another; which of them is used is a matter of the C library, or of a build's age."""
_SERVERS = ("libsqlite3",)
"""Libraries that are the server: in other builds the same functions are linked into the program."""
_FAULT = re.compile(r"^(?:asm_)?exc_page_fault$|^do_(?:user_addr_fault|page_fault|mem_abort)$")
_INTERRUPT = re.compile(
    r"^(?:asm_)?(?:sysvec_|common_interrupt)|^el0_\w*irq|^(?:irq_exit|handle_softirqs|__do_softirq)"
)


@dataclass(frozen=True)
class Frame:
    """As perf tells it. `binary`: path of what it lies in, or `[kernel.kallsyms]`, a kernel module, `[vdso]`."""

    address: int
    symbol: str
    binary: str

    @property
    def is_kernel(self) -> bool:
        """The kernel itself, or a module of it, which lies at such an address too."""
        return self.binary.startswith(("[kernel", "[guest.kernel")) or (self.address >> 63 == 1 and not self.is_nothing)

    @property
    def is_nothing(self) -> bool:
        """What perf ends a stack with that it could not follow to the end: neither a name nor a binary."""
        return self.symbol == UNKNOWN and self.binary == UNKNOWN


def named(frames: Sequence[Frame]) -> tuple[str, ...]:
    """`frames`: innermost first, as perf has them. The outermost first; all of the kernel's are one: `[kernel] read`."""
    own = [_name(frame) for frame in frames if not frame.is_kernel and not frame.is_nothing]
    kernel = [frame.symbol for frame in frames if frame.is_kernel]
    return (*reversed(own), *([_in_kernel(kernel)] if kernel else []))


def _in_kernel(symbols: Sequence[str]) -> str:
    """By what the kernel was entered for: the outermost symbol that tells."""
    for symbol in reversed(symbols):
        if found := _SYSTEM_CALL.match(symbol):
            return f"{KERNEL} {system_call(found[1])}"
        if _FAULT.match(symbol):
            return f"{KERNEL} page fault"
        if _INTERRUPT.match(symbol):
            return f"{KERNEL} interrupts"
    return KERNEL


def system_call(name: str) -> str:
    """As another is called that does the same."""
    return _SAME_CALLS.get(name, name)


def is_unnamed(function: str) -> bool:
    """Whether it is a binary, in place of its functions."""
    return function.startswith("[") and not function.startswith(KERNEL)


def _name(frame: Frame) -> str:
    """`pg_mblen`, `malloc [libjemalloc]`, and `[libfoo]` where the binary tells no name for the place."""
    file = PurePath(frame.binary.removesuffix(" (deleted)")).name
    library = _LIBRARY.match(file)
    where = library_name(file)
    if frame.symbol in (UNKNOWN, ""):
        return f"[{where or 'unknown'}]"
    name = plain(frame.symbol)
    return f"{name} [{library[1]}]" if library and library[1] not in _SERVERS else name


def library_name(file: str) -> str:
    """`libjemalloc` of `libjemalloc.so.2`."""
    library = _LIBRARY.match(file)
    return library[1] if library else file.strip("[]")


def is_of_library(function: str) -> bool:
    """Whether it lies in a library that is not the server: `malloc [libjemalloc]`, `[libc]`."""
    return function.endswith("]") and not function.startswith(KERNEL)


def in_server(stack: Sequence[str], library: str) -> tuple[str, ...]:
    """The stack where this library is the server, whatever its file is called: builds of it have the same functions."""
    unnamed, mark = f"[{library}]", f" [{library}]"
    return tuple(f"[{_SERVERS[0]}]" if one == unnamed else one.removesuffix(mark) for one in stack)


def plain(symbol: str) -> str:
    """Without what compilers add for copies, versions of symbols, and parameters of C++."""
    symbol = _VERSION.sub("", _CLONE.sub("", symbol)).replace(";", ":")
    return _without_parameters(symbol)


def _without_parameters(symbol: str) -> str:
    depth = 0
    for place, letter in enumerate(symbol):
        if letter == "(" and depth == 0:
            before = symbol[:place]
            if before and not before.endswith(("operator", "::", " ")):
                return before
        depth += (letter in "<(") - (letter in ">)") if "operator" not in symbol else 0
    return symbol


def parts_of(function: str) -> tuple[str, str]:
    """The class or namespace, and the name itself: `DsMrr_impl` and `dsmrr_close`. Its library is left out."""
    bare = function if function.startswith("[") else function.split(" [")[0]
    while (shorter := _ARGUMENTS.sub("", bare)) != bare:
        bare = shorter
    scope, _, name = bare.rpartition("::")
    return scope, name


def shortened(function: str) -> str:
    """A long name without the arguments of its templates: `std::_Hashtable<…>::find`."""
    if len(function) <= LONG_NAME:
        return function
    while (shorter := _ARGUMENTS.sub("‹…›", function)) != function:
        function = shorter
    return function.replace("‹", "<").replace("›", ">")
