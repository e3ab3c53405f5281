from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.cli.verbs.measure.run import _repeat_command
from dbversus.experiment.asked.bundled import find_experiment


@pytest.mark.parametrize(("sizes", "said"), [([200_000], "200000"), ([1000, 2000], "1000,2000")])
def test_the_command_that_repeats_a_run_has_its_choices(sizes: list[int], said: str) -> None:
    command = _repeat_command("durability", ["mysql:8.0"], ["--scaled"], {"table_size": sizes, "judge_load": True})
    words = f"--builds=mysql:8.0 --scaled --table-size {said} --judge-load"
    assert command == f"dbversus run durability {words}"


def test_a_build_of_a_post_that_cannot_be_had_is_told_with_its_claims(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(find_experiment("posts/2024-09-24-durability").read_text().replace("8.0.33", "8.0.99"))
    done = CliRunner().invoke(app, ["run", str(path), "--scaled", "--dry-run"])
    said = " ".join(done.output.split())
    assert done.exit_code == 2 and said.endswith(
        "--exclude mysql:8.0.99 measures the rest, without claims 1, 2, 3, 4, 8, 9, 10 and 13 of 2024-09-24-durability"
    )
