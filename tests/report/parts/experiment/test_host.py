"""The host as a page tells it: in words, and without what tells it from all others."""

import json
from pathlib import Path

from dbversus.host.facts import host_facts
from dbversus.report.parts.experiment.host import host_words


def test_facts_of_this_host_can_be_read_and_name_no_machine(tmp_path: Path) -> None:
    facts = json.loads(json.dumps(host_facts(tmp_path)))
    told = dict(host_words(facts))
    assert {"CPU", "memory", "system", "files", "accounting"} <= set(told)
    assert not facts["machine_id"] or not any(facts["machine_id"] in text for text in told.values())
    assert "may be used" in told["CPU"] and "available" in told["memory"]


def test_what_is_not_known_is_left_out() -> None:
    assert host_words({}) == []
    assert dict(host_words({"cpu": {"model": "Xeon", "allowed": [0, 1], "logical": 4}}))["CPU"] == (
        "Xeon, 2 of 4 logical CPUs may be used"
    )
    told = dict(host_words({"load_average": [5.4, 1, 0], "busy_cpus": 1.98, "notes": ["no cgroups"]}))
    assert told["load when it began"] == "5.40, 1.00, 0.00; other work kept 2.0 CPUs busy"
    assert told["notes"] == "no cgroups"
