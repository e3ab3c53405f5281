import pytest

from dbversus.cli.verbs.measure.run import _repeat_command


@pytest.mark.parametrize(("sizes", "said"), [([200_000], "200000"), ([1000, 2000], "1000,2000")])
def test_the_command_that_repeats_a_run_has_its_choices(sizes: list[int], said: str) -> None:
    command = _repeat_command("durability", ["mysql:8.0"], ["--scaled"], {"table_size": sizes, "judge_load": True})
    words = f"--builds=mysql:8.0 --scaled --table-size {said} --judge-load"
    assert command == f"dbversus run durability {words}"
