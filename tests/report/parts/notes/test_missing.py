import dataclasses

from dbversus.report.parts.notes.missing import not_measured
from dbversus.results.stored import Results

from ....journals import records_of
from ...synthetic import LABELS


def test_what_engine_and_servers_remarked_is_told_once(results: Results) -> None:
    remarks = (
        {"type": "remark", "target": None, "words": "no control group"},
        {"type": "remark", "target": "t1", "words": "no sizes of tables"},
        {"type": "remark", "target": None, "words": "no control group"},
    )
    told = not_measured(dataclasses.replace(results, records=(*results.records, *records_of(*remarks))))
    assert told.count("no control group") == 1
    assert f"{LABELS[1]}: no sizes of tables" in told
    assert "drop of page cache: needs root" in told


def test_counters_of_an_older_dbversus_are_said_to_be_too_high(results: Results) -> None:
    def told(**fields: object) -> list[str]:
        record = {"type": "counters", "block": 0, "test": "insert", "delta": {"t0": {"a": 5.0}}, **fields}
        words = not_measured(dataclasses.replace(results, records=(*results.records, *records_of(record))))
        return [text for text in words if "own counters" in text]

    assert not told(spanned_ops={"t0": 5})
    assert len(told(counted_ops={"t0": 4})) == 1
