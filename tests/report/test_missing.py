import dataclasses

from dbversus.report.missing import not_measured
from dbversus.results.read import Results

from .synthetic import LABELS


def test_what_engine_and_servers_remarked_is_told_once(results: Results) -> None:
    remarks = (
        {"type": "remark", "target": None, "words": "no control group"},
        {"type": "remark", "target": "t1", "words": "no sizes of tables"},
        {"type": "remark", "target": None, "words": "no control group"},
    )
    told = not_measured(dataclasses.replace(results, records=(*results.records, *remarks)))
    assert told.count("no control group") == 1
    assert f"{LABELS[1]}: no sizes of tables" in told
    assert "drop of page cache: needs root" in told
