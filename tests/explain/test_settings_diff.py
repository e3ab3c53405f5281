import pytest

from dbversus.explain.settings_diff import SettingDifference, differing_settings


def test_only_what_differs_and_is_no_noise() -> None:
    one = {"jit": "on", "port": "1", "data_directory": "/a", "work_mem": "4MB"}
    two = {"jit": "off", "port": "2", "data_directory": "/b", "work_mem": "4MB"}
    assert differing_settings([one, two], ["postgres", "postgres"]) == [SettingDifference("jit", ("on", "off"))]


def test_settings_that_one_version_lacks_come_last() -> None:
    found = differing_settings([{"a": "1", "z": "1"}, {"z": "2", "new": "x"}], ["postgres", "postgres"])
    assert [item.name for item in found] == ["z", "a", "new"]
    assert found[2].values == (None, "x")


def test_other_dbms_are_not_compared() -> None:
    assert differing_settings([{"jit": "on"}, {"journal_mode": "wal"}], ["postgres", "sqlite"]) == []
    found = differing_settings([{"jit": "on"}, {"mode": "wal"}, {"mode": "delete"}], ["postgres", "sqlite", "sqlite"])
    assert found == [SettingDifference("mode", (None, "wal", "delete"), others=(0,))]
    assert found[0].known_to_all


def test_settings_of_the_same_name_belong_to_their_own_dbms() -> None:
    settings = [{"max_connections": "1"}, {"max_connections": "2"}, {"max_connections": "2"}, {"max_connections": "2"}]
    found = differing_settings(settings, ["mysql", "postgres", "mysql", "postgres"])
    assert found == [SettingDifference("max_connections", ("1", None, "2", None), others=(1, 3))]


def test_noise_of_one_dbms_may_matter_in_another() -> None:
    settings = [{"datadir": "/a"}, {"datadir": "/b"}, {"datadir": "/c"}]
    found = differing_settings(settings, ["postgres", "postgres", "mysql"])
    assert found == [SettingDifference("datadir", ("/a", "/b", None), others=(2,))]


def test_a_target_that_never_started_is_left_out() -> None:
    assert differing_settings([{"jit": "on"}, {}], ["postgres", "postgres"]) == []


def test_mysqls_relatives_share_its_noise() -> None:
    assert differing_settings([{"datadir": "/a"}, {"datadir": "/b"}], ["mariadb", "mariadb"]) == []


def test_lists_are_compared_item_by_item() -> None:
    one = {"optimizer_switch": "mrr=on,hash_join=off", "sql_mode": "ANSI,STRICT"}
    two = {"optimizer_switch": "mrr=on,hash_join=on,new=on", "sql_mode": ""}
    found = {item.name: item.values for item in differing_settings([one, two], ["mysql", "mysql"])}
    assert found == {
        "optimizer_switch.hash_join": ("off", "on"),
        "optimizer_switch.new": (None, "on"),
        "sql_mode.ANSI": ("on", "off"),
        "sql_mode.STRICT": ("on", "off"),
    }


def test_a_setting_that_was_renamed_is_one() -> None:
    assert differing_settings([{"tx_isolation": "RR"}, {"transaction_isolation": "RR"}], ["mysql", "mysql"]) == []
    [found] = differing_settings([{"tx_isolation": "RR"}, {"transaction_isolation": "RC"}], ["mysql", "mysql"])
    assert found == SettingDifference("transaction_isolation", ("RR", "RC"))


@pytest.mark.parametrize(
    ("values", "nearly"),
    [
        (("8638840kB", "8638848kB"), True),
        (("128MB", "256MB"), False),
        (("1000", "1000kB"), False),
        (("on", "off"), False),
    ],
)
def test_sizes_that_a_server_has_rounded_are_nearly_equal(values: tuple[str, str], nearly: bool) -> None:
    assert SettingDifference("x", values).is_nearly_equal is nearly


def test_a_whole_number_is_the_same_with_decimals() -> None:
    settings = [{"pct": "90", "cost": "4.5"}, {"pct": "90.000000", "cost": "4.0"}]
    assert [one.name for one in differing_settings(settings, ["mysql", "mysql"])] == ["cost"]
