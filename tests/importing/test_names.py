"""What names of the reference method's builds say of them."""

import pytest

from dbversus.importing.names import dbms_of, version_of


@pytest.mark.parametrize(
    ("label", "dbms", "version"),
    [
        ("x.my5649.x6d.pk1", "mysql", "5.6.49"),
        ("my8022.cx6d", "mysql", "8.0.22"),
        ("x.my8407_rel_o2nofp.z12a.pk1", "mysql", "8.4.7"),
        ("x.my9500_rel.z12a.pk1", "mysql", "9.5.0"),
        ("x.pg131.x5.pk1", "postgres", "13.1"),
        ("pg1110.cx5", "postgres", "11.10"),
        ("x.ma110806_rel.z12b.pk1", "mariadb", "11.8.6"),
        ("pg17rc1@sync0_comp0_fpi0", "postgres", ""),
        ("my80221.x", "mysql", ""),
        ("fbmy5635.x", "myrocks", ""),
        ("postgres:13.1", "", ""),
        ("mysql8022", "", ""),
    ],
)
def test_a_version_is_told_only_by_names_that_tell_it(label: str, dbms: str, version: str) -> None:
    assert (dbms_of(label), version_of(label)) == (dbms, version)
