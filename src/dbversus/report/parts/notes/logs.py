"""What servers wrote to their logs during a test, in a sentence for each target."""

import numpy as np

from dbversus.results.records import Log
from dbversus.results.stored import Results

EXAMPLES_SHOWN = 2


def log_notes(results: Results, test: str) -> list[str]:
    """`postgres:17 logged 14 lines in 3 of 8 blocks, such as "LOG: checkpoint starting: wal"`"""
    records = [record for record in results.of_type(Log) if record.test == test]
    if not records:
        return []
    blocks = len(np.unique(results.slots["block"][results.slots["test"] == test]))
    return [words for target in results.targets if (words := _note(target.label, target.name, records, blocks))]


def _note(label: str, name: str, records: list[Log], blocks: int) -> str:
    own = [(record.block, record.targets[name]) for record in records if name in record.targets]
    if not own:
        return ""
    lines = sum(logged.lines for _, logged in own)
    examples = list(dict.fromkeys(text for _, logged in own for text in logged.examples))[:EXAMPLES_SHOWN]
    said = " and ".join(f'"{text}"' for text in examples)
    count = f"{lines} line{'s' if lines > 1 else ''}"
    return f"{label} logged {count} in {len({block for block, _ in own})} of {blocks} blocks, such as {said}"
