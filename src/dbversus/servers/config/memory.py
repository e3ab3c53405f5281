"""What servers take of the host's memory for their caches, as their settings say; more than there is, is refused."""

import re
from collections.abc import Mapping, Sequence

from dbversus.dbms.flavour import MYSQL_FAMILY
from dbversus.errors import UsageError
from dbversus.servers.config.names import plain_name
from dbversus.servers.config.sizing import Sizing

_PAGE_BYTES = 4096
_BLOCK_BYTES = 8192
_SUFFIXES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_SIZE = re.compile(r"(-?\d+(?:\.\d+)?)\s*([kmgtpe]?)(b?)", re.IGNORECASE)
_MYSQL = ("innodb_buffer_pool_size", "rocksdb_block_cache_size", "key_buffer_size", "aria_pagecache_buffer_size")
_CACHES = {"postgres": ("shared_buffers",), "sqlite": ("cache_size",), **dict.fromkeys(MYSQL_FAMILY, _MYSQL)}


def size_bytes(text: str, unit_bytes: int = 1) -> float | None:
    """`128M`, `1GB`, `16384` (of `unit_bytes` each); None for anything else."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    letter, byte = match[2].lower(), match[3]
    factor = _SUFFIXES[letter] if letter else 1 if byte else unit_bytes
    return float(match[1]) * factor


def cache_bytes(dbms: str, settings: Mapping[str, str]) -> dict[str, float]:
    """Bytes by the setting that asks for them; those that are not said are left to the server's default and not here."""
    found = {}
    for name, value in settings.items():
        plain = plain_name(dbms, name).removeprefix("loose_")
        if plain in _CACHES.get(dbms, ()):
            count = size_bytes(value, _BLOCK_BYTES if dbms == "postgres" else 1)
            if count is not None and dbms == "sqlite":
                count = count * _PAGE_BYTES if count > 0 else -count * 1024
            if count:
                found[name] = count
    return found


def check_memory(dbms: str, settings: Mapping[str, str], sizing: Sizing, wheres: Mapping[str, str]) -> None:
    """Raises UsageError for a cache, or caches of one server, that this host's memory does not hold. `wheres`: file and line."""
    found = cache_bytes(dbms, settings)
    if sum(found.values()) <= sizing.memory_bytes:
        return
    largest = max(found, key=lambda name: found[name])
    asked = f"{largest} = {settings[largest]}"
    others = (
        f", with {', '.join(name for name in found if name != largest)},"
        if found[largest] <= sizing.memory_bytes
        else ""
    )
    where = f"{wheres[largest]}: " if largest in wheres else ""
    raise UsageError(
        f"{where}{asked}{others} asks for {gib(sum(found.values()))}, more than the {gib(sizing.memory_bytes)} of memory "
        "that this host has; choose less."
    )


def check_together(needs: Sequence[tuple[str, float]], servers_up: int, memory_bytes: int) -> None:
    """Raises UsageError when the servers that are up together ask for more memory than there is.

    `needs`: label and bytes of each target, the base first; with fewer up than there are, the others take turns beside it.
    """
    if servers_up < 2:
        return
    base, *others = needs
    together = [base, *sorted(others, key=lambda need: -need[1])[: servers_up - 1]]
    total = sum(count for _, count in together)
    if total > memory_bytes:
        each = ", ".join(f"{label} {gib(count)}" for label, count in together)
        raise UsageError(
            f"The servers that are up together ask for {gib(total)} ({each}), more than the {gib(memory_bytes)} of memory "
            "that this host has; choose smaller caches, or let fewer be up at once (--at-once)."
        )


def gib(count: float) -> str:
    return f"{count / 2**30:.1f} GiB"
