"""Profiles as perf draws them, and results folders that hold some."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dbversus.profiling.figures import BlockProfile
from dbversus.profiling.folded import Folded, folded_text
from dbversus.results.schema import MEASURED

from ..journals import DictJournal

WEIGHT = 1_003_009
BLOCKS = 6
Cost = Mapping[str, float]
"""Stack → microseconds per operation."""
MOVED_FROM: Cost = {
    "main;scan;count;mblen": 74,
    "main;scan;count;utf_mblen": 6,
    "main;scan;count": 24,
    "main;scan": 80,
    "main;read": 46,
}
MOVED_TO: Cost = {
    "main;scan;count;mblen_with_len": 80,
    "main;scan;count;mblen_with_len;utf_private": 54,
    "main;scan;count": 21,
    "main;scan": 80,
    "main;read": 46,
}


def drawn(cost_us: Cost, seed: int, samples: int = 4000, blocks: int = BLOCKS) -> dict[int, BlockProfile]:
    """With a spread between blocks of 2 %."""
    chance = np.random.default_rng(seed)
    whole = sum(cost_us.values())
    found = {}
    for block in range(blocks):
        counts = chance.multinomial(samples, [cost / whole for cost in cost_us.values()])
        stacks = zip(cost_us, counts, strict=True)
        folded: Folded = Counter({tuple(text.split(";")): int(count) * WEIGHT for text, count in stacks if count})
        found[block] = BlockProfile(folded, samples, whole * chance.normal(1, 0.02))
    return found


def write_profiles(
    results: Path,
    labels: Sequence[str],
    test: str,
    costs: tuple[Cost, Cost] = (MOVED_FROM, MOVED_TO),
    number: int = 1,
    event: str = "cpu-clock",
) -> Path:
    """What `explain --measure` leaves beside the `results` of two targets."""
    folder = results / MEASURED / str(number) / "profile"
    (folder / "profiles").mkdir(parents=True)
    targets = [{"name": f"t{place}", "label": label, "dbms": "postgres"} for place, label in enumerate(labels)]
    sides = {f"t{place}": drawn(cost, 7 * number + 100 * place) for place, cost in enumerate(costs)}
    with DictJournal(folder) as journal:
        journal.append({"type": "experiment", "schema": 2, "targets": targets, "tests": [test]})
        for block in range(BLOCKS):
            of_block = {name: _written(folder, f"{test}@{name}.{block}", side[block]) for name, side in sides.items()}
            head = {"type": "profile", "block": block, "test": test, "event": event, "stacks": "unwind tables"}
            journal.append({**head, "targets": of_block})
            journal.append({"type": "block", "block": block, "event": "finished"})
    return folder


def _written(folder: Path, name: str, profile: BlockProfile) -> dict[str, object]:
    content = folded_text(profile.stacks).encode()
    (folder / f"profiles/{name}.folded").write_bytes(content)
    return {
        "file": f"profiles/{name}.folded",
        "sha256": hashlib.sha256(content).hexdigest(),
        "samples": profile.samples,
        "ops": 1000,
        "cpu_ns": round(profile.cpu_us * 1_000_000),
    }
