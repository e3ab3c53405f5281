"""What servers take of the host's memory for their caches, as their settings say; more than there is, is refused."""

from collections.abc import Mapping, Sequence

from dbversus.dbms.settings import cache_bytes
from dbversus.errors import UsageError
from dbversus.servers.config.sizing import Sizing


def check_memory(dbms: str, settings: Mapping[str, str], sizing: Sizing, wheres: Mapping[str, str]) -> None:
    """Raises UsageError for a cache, or caches of one server, larger than the memory that it may have. `wheres`: places."""
    found = cache_bytes(dbms, settings)
    if sum(found.values()) <= sizing.most_bytes:
        return
    largest = max(found, key=lambda name: found[name])
    asked = f"{largest} = {settings[largest]}"
    others = (
        f", with {', '.join(name for name in found if name != largest)}," if found[largest] <= sizing.most_bytes else ""
    )
    where = f"{wheres[largest]}: " if largest in wheres else ""
    has = f"{gib(sizing.memory_bytes)} of memory that this host has; choose less"
    if sizing.limit_bytes is not None:
        has = f"{gib(sizing.limit_bytes)} of memory that each server may have; choose less, or more --memory"
    raise UsageError(f"{where}{asked}{others} asks for {gib(sum(found.values()))}, more than the {has}.")


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
    """`1.5 GiB`; less than a tenth of one in MiB."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 / 10 else f"{count / 2**20:.0f} MiB"
