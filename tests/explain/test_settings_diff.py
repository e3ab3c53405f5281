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
    assert found == [SettingDifference("mode", (None, "wal", "delete"))]


def test_a_target_that_never_started_is_left_out() -> None:
    assert differing_settings([{"jit": "on"}, {}], ["postgres", "postgres"]) == []


def test_mysqls_relatives_share_its_noise() -> None:
    assert differing_settings([{"datadir": "/a"}, {"datadir": "/b"}], ["mariadb", "mariadb"]) == []
