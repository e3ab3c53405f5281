"""Whether the CPU's performance counters can be used here."""

import ctypes
import os
import platform
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_SYSCALLS = {"x86_64": 298, "aarch64": 241}
_ATTRIBUTE_BYTES = 112
_INSTRUCTIONS = 1
_EXCLUDE_KERNEL_AND_HYPERVISOR = 0b1100000  # bits 5 and 6 of the flags


def instructions_counted() -> bool | None:
    """True when a counter of instructions of this process can be opened; None when this cannot be told."""
    number = _SYSCALLS.get(platform.machine())
    if number is None:
        return None
    # struct perf_event_attr: type (0: hardware), size, config, sample_period, sample_type, read_format, flags
    head = struct.pack("=IIQQQQQ", 0, _ATTRIBUTE_BYTES, _INSTRUCTIONS, 0, 0, 0, _EXCLUDE_KERNEL_AND_HYPERVISOR)
    attribute = ctypes.create_string_buffer(head.ljust(_ATTRIBUTE_BYTES, b"\0"), _ATTRIBUTE_BYTES)
    fd = _LIBC.syscall(number, attribute, 0, -1, -1, 0)
    if fd < 0:
        return False
    os.close(fd)
    return True
