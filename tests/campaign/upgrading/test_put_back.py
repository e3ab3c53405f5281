import pytest

from dbversus.campaign.upgrading.put_back import older_texts

COMMON = {"port": "3306", "version": "5.7.22"}


@pytest.mark.parametrize(
    ("older", "newer", "texts"),
    [
        (
            {"innodb_flush_neighbors": "1"},
            {"innodb_flush_neighbors": "0"},
            {"innodb_flush_neighbors": "innodb_flush_neighbors=1"},
        ),
        ({"innodb_flush_neighbors": "1"}, {}, {}),  # the newer one does not have it
        ({"log_bin": "OFF"}, {"log_bin": "ON"}, {"log_bin": "skip_log_bin=ON"}),
        ({"some_new_thing": "1"}, {"some_new_thing": "2"}, {}),  # nothing is known of it
        (
            {"optimizer_switch": "mrr=on,mrr_cost_based=on,firstmatch=on"},
            {"optimizer_switch": "mrr=off,mrr_cost_based=off,firstmatch=on,hash_join=on"},
            {"optimizer_switch": "optimizer_switch=mrr=on,mrr_cost_based=on"},
        ),
    ],
)
def test_settings_that_are_known_to_matter_get_their_older_value(
    older: dict[str, str], newer: dict[str, str], texts: dict[str, str]
) -> None:
    assert older_texts("mysql", [COMMON | older, {**COMMON, "version": "8.0.33"} | newer]) == texts


def test_what_only_the_newer_version_has_is_switched_off_where_that_is_known() -> None:
    newer = {"enable_memoize": "on", "work_mem": "4MB", "jit": "on"}
    assert older_texts("postgres", [{"work_mem": "4MB", "jit": "on"}, newer]) == {
        "enable_memoize": "enable_memoize=off"
    }
