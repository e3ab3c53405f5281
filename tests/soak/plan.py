"""What is done to which experiment, and when: drawn from a seed, so that a soak can be repeated."""

import itertools
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

ROWS = 10
TESTS = (
    "point-query,update-index,read-write-10",
    "read-only-10,update-nonindex,point-query",
    "range-covered-si,insert,update-index",
)


class Kind(StrEnum):
    """What can go wrong. The values are for people."""

    KILL_ENGINE = "engine killed"
    KILL_SERVER = "server killed"
    KILL_BACKEND = "backend killed"
    KILL_CONTROLLER = "controller killed"
    INTERRUPT = "Ctrl-C"
    TERMINATE = "SIGTERM"
    STOP_CONTROLLER = "controller stopped"
    FULL_RESULTS = "results disk full"
    FULL_HOME = "home disk full"
    CLOCK_JUMP = "clock jump"


SERVER_KINDS = frozenset({Kind.KILL_SERVER, Kind.KILL_BACKEND})
DISK_KINDS = frozenset({Kind.FULL_RESULTS, Kind.FULL_HOME})
# these change what the whole experiment stands on, or what its times mean
ALONE = frozenset({Kind.FULL_HOME, Kind.CLOCK_JUMP})


@dataclass(frozen=True)
class Fault:
    """`kind` happens `delay_s` after `after_rows` more rows were journaled, and lasts for `hold_s` where it can last."""

    kind: Kind
    after_rows: int
    delay_s: float
    hold_s: float


@dataclass(frozen=True)
class Trial:
    """One experiment of a target against itself, with what happens to it. `deep`: paths too long for a socket's name."""

    number: int
    dbms: str
    tests: str
    blocks: int
    faults: tuple[Fault, ...]
    seed: int
    deep: bool = False

    @property
    def title(self) -> str:
        kinds = ", then ".join(fault.kind for fault in self.faults)
        return f"{self.number}: {self.dbms}, {self.blocks} blocks{', long paths' if self.deep else ''}: {kinds}"


def kinds_for(dbms: str, possible: Collection[Kind]) -> list[Kind]:
    """The faults that make sense for a DBMS, of those that are possible on this host."""
    senseless: dict[str, frozenset[Kind]] = {
        "sqlite": SERVER_KINDS,
        # its redo logs alone would take gigabytes of memory on a disk that is in memory
        "mariadb": frozenset({Kind.KILL_BACKEND, Kind.FULL_HOME}),
    }
    return [kind for kind in Kind if kind in possible and kind not in senseless.get(dbms, ())]


def fault(kind: Kind, chance: random.Random, blocks: int, earlier: bool = False) -> Fault:
    """One fault at a random moment, early enough for the experiment to go on for a while after it.

    `earlier`: another one came before it in the same experiment.
    """
    all_rows = ROWS * blocks * 3
    after_rows = chance.randint(2, all_rows // 6 if earlier else all_rows // 2)
    return Fault(kind, after_rows, chance.uniform(0, 0.4), chance.uniform(2, 5))


def trials(seed: int, dbmss: Collection[str], possible: Collection[Kind]) -> Iterator[Trial]:
    """Endless. DBMSs take turns; each goes through all of its kinds of faults, in random order, before one comes again."""
    chance = random.Random(seed)
    decks: Mapping[str, list[Kind]] = {dbms: [] for dbms in dbmss}
    for number, dbms in enumerate(itertools.cycle(dbmss), 1):
        blocks = chance.choice((2, 2, 4))
        kinds = _draw(decks[dbms], kinds_for(dbms, possible), chance, chance.choice((1, 2)))
        faults = tuple(fault(kind, chance, blocks, earlier=place > 0) for place, kind in enumerate(kinds))
        tests, deep = chance.choice(TESTS), chance.random() < 0.25
        yield Trial(number, dbms, tests, blocks, faults, chance.getrandbits(32), deep and Kind.FULL_HOME not in kinds)


def _draw(deck: list[Kind], kinds: list[Kind], chance: random.Random, count: int) -> list[Kind]:
    """Takes `count` cards, fewer when one of them has to be alone; a deck that is used up is shuffled anew."""
    drawn: list[Kind] = []
    while len(drawn) < count:
        if not deck:
            deck += chance.sample(kinds, len(kinds))
        if drawn and (deck[-1] in ALONE or drawn[0] in ALONE):
            break
        drawn.append(deck.pop())
    return drawn
