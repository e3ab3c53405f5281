from dbversus.results.records import Detected
from dbversus.stats.metrics import THROUGHPUT

from .samples import HERE, calibration, figures


def test_a_host_is_its_machine_its_kernel_and_its_cpu() -> None:
    assert HERE.key == HERE.model_copy().key
    for field in ("machine_id", "kernel", "cpu"):
        assert HERE.model_copy(update={field: "other"}).key != HERE.key
        assert HERE.model_copy(update={field: "other"}).is_same_machine(HERE) == (field == "kernel")


def test_the_brief_has_what_reports_cite() -> None:
    brief = calibration().brief()
    assert (brief.dbms_title, brief.version, brief.blocks) == ("PostgreSQL", "17.11", 16)
    assert Detected(0.05, 0.97) in brief.detection
    assert brief.bursts == Detected(0.098, 0.93)
    assert (brief.changed_as_measured, brief.wider_margins) == ([], {"update-index": {THROUGHPUT: 0.08}})


def test_only_margins_above_the_default_are_told() -> None:
    assert figures().margins_above_default() == {"update-index": {THROUGHPUT: 0.08}}
