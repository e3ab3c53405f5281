"""Libraries of one source whose functions lie elsewhere, and how much figures of theirs differ."""

import ctypes
import importlib
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbversus.errors import UsageError

layout: Any = importlib.import_module("layout")

FUNCTIONS = [f"f{number}" for number in range(40)]
SOURCE = "".join(f"int {name}(int x) {{ return x * {place + 2}; }}\n" for place, name in enumerate(FUNCTIONS))


def functions_of(library: Path) -> dict[str, int]:
    """Name → address."""
    lines = subprocess.run(["nm", str(library)], capture_output=True, text=True, check=True).stdout.splitlines()
    return {fields[2]: int(fields[0], 16) for line in lines if (fields := line.split())[-1] in FUNCTIONS}


def test_functions_lie_elsewhere_in_each_library_but_copies_and_do_the_same(tmp_path: Path) -> None:
    source = tmp_path / "source.c"
    source.write_text(SOURCE)
    libraries = layout.build_all(source, tmp_path / "libraries", {"copy": 1, "moved": 2, "order": 2})
    assert [library.stem for library in libraries] == ["base", "copy-0", "moved-0", "moved-1", "order-0", "order-1"]
    base, copy, *others = libraries
    assert copy.read_bytes() == base.read_bytes()
    assert len({tuple(functions_of(library).items()) for library in [base, *others]}) == 5
    in_order = [sorted(FUNCTIONS, key=functions_of(library).__getitem__) for library in libraries]
    assert in_order[:4] == [FUNCTIONS] * 4, "moved apart, in the order of the source"
    assert in_order[4] != in_order[5] and FUNCTIONS not in in_order[4:]
    for library in libraries:
        loaded = ctypes.CDLL(str(library))
        assert [loaded[name](3) for name in FUNCTIONS] == [3 * (place + 2) for place in range(len(FUNCTIONS))]


def test_gaps_are_those_of_their_seed() -> None:
    one, again, other = (layout.gap_code(1000, random.Random(seed)) for seed in (1, 1, 2))
    assert one == again != other
    assert 20 < one.count(".skip") < 90


def test_sections_that_the_linker_puts_elsewhere_are_left_where_they_are() -> None:
    line = "  5 {}   00000010  0000000000000000  0000000000000000  00000040  2**4"
    names = [".text", ".text.f", ".data.f", ".text.unlikely.f", ".text.g"]
    headers = "\n".join(["Sections:", *(line.format(name) for name in names), "     CONTENTS, ALLOC"])
    assert list(layout.function_sections(headers)) == [".text.f", ".text.g"]


def simulated(sd: float, seed: int = 1, libraries: int = 8, blocks: int = 6) -> Any:
    """Libraries that differ by `sd`, and by 1 % of noise in each block, and what all of a block have in common."""
    rng = np.random.default_rng(seed)
    own, common = rng.normal(0, sd, (libraries, 1)), rng.normal(0, 0.05, blocks)
    return own + common + rng.normal(0, 0.01, (libraries, blocks)), float(own.std(ddof=1))


def test_what_libraries_of_a_kind_differ_by_is_found_under_what_all_have_in_common() -> None:
    logs, true_sd = simulated(0.02)
    found = layout.spread(logs)
    assert found.sd == pytest.approx(true_sd, abs=0.005) and found.p_value < 0.001
    of_equal = [layout.spread(simulated(0.0, seed)[0]).p_value for seed in range(200)]
    assert 0.01 < np.mean(np.array(of_equal) < 0.05) < 0.1


def test_the_base_is_one_of_the_copies() -> None:
    assert layout.as_matrix("copy", [[0.1, 0.2]]).tolist() == [[0.0, 0.0], [0.1, 0.2]]
    assert layout.as_matrix("order", [[0.1, 0.2]]).tolist() == [[0.1, 0.2]]


def test_the_tables_have_a_line_for_each_test_and_for_each_kind_that_was_measured() -> None:
    logs = np.log([[1.0, 1.0], [1.015, 1.015], [1.04, 1.04]])
    noise = np.array([[0.0, 1e-4], [1e-4, 0.0], [0.0, 0.0]])
    by_test, pairs = layout.tables({"scan": {"copy": noise, "order": logs + noise}}).split("\n\n")
    assert by_test.splitlines()[0] == "| test | sd, copy (3) | p | sd, order (3) | p |"
    assert by_test.splitlines()[2].startswith("| scan | 0.00 % |")
    copies, orders = pairs.splitlines()[2:]
    assert copies == "| copy (3) | 0.0 % | 0 % | 0 % | 0 % | 0.0 % |"
    assert orders == "| order (3) | 2.5 % | 100 % | 67 % | 33 % | 4.0 % |"


def test_too_few_libraries_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.argv", ["layout.py", str(tmp_path), "--orders", "1"])
    with pytest.raises(UsageError, match="A spread takes two libraries"):
        layout.parse_arguments()


def test_a_source_that_is_not_there_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"name a sqlite3\.c with --source"):
        layout.find_source()
