"""Which CPUs servers, clients and the controller get. Placement is part of the measurement (docs/host.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.errors import UsageError
from dbversus.host.cpus import Core, allowed_cores

MODES = ("auto", "split", "together", "apart", "none")
# clients get one core in so many when they run apart: a client of the engine needs less than its server
_CLIENT_SHARE = 4


@dataclass(frozen=True)
class PlacementPlan:
    """`mode` as carried out. Empty tuples: not pinned. `note` says why it differs from what was asked, if it does.

    `serving_cpus`: for those processes or threads of a server that serve our clients, where they are not to run with the rest
    of it on `server_cpus`.
    """

    mode: str
    server_cpus: tuple[int, ...] = ()
    client_cpus: tuple[int, ...] = ()
    serving_cpus: tuple[int, ...] = ()
    controller_cpus: tuple[int, ...] = ()
    note: str = ""

    @property
    def foreground_cpus(self) -> tuple[int, ...]:
        """Where clients and what serves them run; empty: anywhere."""
        return tuple(sorted({*self.client_cpus, *(self.serving_cpus or self.server_cpus)}))


def place(clients: int, mode: str = "auto", cores: Sequence[Core] | None = None) -> PlacementPlan:
    """Chooses CPUs for `clients` clients among those that we may use. Raises UsageError for an unknown mode.

    `auto`: `split` for one client, `apart` for more. `split`: a client shares a core with the threads that serve it (a
    wake-up on another core costs more than the query); all other threads of the server have the other cores. `together`: all
    share one core. `apart`: clients and servers on disjoint cores. `none`: nothing is pinned.
    """
    if mode not in MODES:
        raise UsageError(f"placement '{mode}' is unknown; accepted: {', '.join(MODES)}.")
    cores = cores if cores is not None else allowed_cores()
    if mode == "auto":
        mode = "split" if clients == 1 else "apart"
    if mode == "none":
        return PlacementPlan("none")
    if len(cores) == 1:
        only = _first_threads(cores)
        note = "" if mode == "together" else "there is one core only: servers and clients share it"
        return PlacementPlan("together", only, only, controller_cpus=cores[0].cpus, note=note)
    if mode == "apart":
        return _apart(cores, clients)
    return _together(cores) if mode == "together" else _split(cores)


def _together(cores: Sequence[Core]) -> PlacementPlan:
    measured = _quietest(cores)
    return PlacementPlan("together", measured.cpus[:1], measured.cpus[:1], controller_cpus=_beside(cores, measured))


def _split(cores: Sequence[Core]) -> PlacementPlan:
    measured = _quietest(cores)
    ours = measured.cpus[:1]
    background = _first_threads([core for core in cores if core is not measured])
    return PlacementPlan("split", background, ours, ours, _beside(cores, measured))


def _beside(cores: Sequence[Core], measured: Core) -> tuple[int, ...]:
    return tuple(cpu for core in cores if core is not measured for cpu in core.cpus)


def _apart(cores: Sequence[Core], clients: int) -> PlacementPlan:
    """Clients take the first cores, which also serve most interrupts and the controller; servers take the rest."""
    count = max(1, min(clients, len(cores) // _CLIENT_SHARE))
    client_cpus = _first_threads(cores[:count])
    return PlacementPlan("apart", _first_threads(cores[count:]), client_cpus, controller_cpus=client_cpus)


def _quietest(cores: Sequence[Core]) -> Core:
    """The core with the fewest device interrupts; the one of CPU 0, where the kernel does its chores, only of two."""
    candidates = [core for core in cores if 0 not in core.cpus] if len(cores) > 2 else list(cores)
    return min(candidates, key=lambda core: (core.interrupts, -core.cpus[0]))


def _first_threads(cores: Sequence[Core]) -> tuple[int, ...]:
    """One hardware thread per core: its sibling would compete for the same execution units."""
    return tuple(core.cpus[0] for core in cores)
