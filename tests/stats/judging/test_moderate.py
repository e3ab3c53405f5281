"""Moderated variances against limma's own, and where there is little to go on."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from dbversus.stats.judging.moderate import LARGEST_PRIOR_DF, LARGEST_PRIOR_PER_OWN_DF, fit_prior, moderate
from dbversus.stats.means import VARIANCE_FLOOR

VARIANCES = np.array([12, 31, 8, 55, 21, 17, 42, 9, 27, 190]) * 1e-5
LIMMA = Path(__file__).parents[2] / "data" / "limma" / "squeeze.csv"


def limma_cases() -> dict[str, dict[str, np.ndarray]]:
    lines: dict[str, list[dict[str, str]]] = defaultdict(list)
    with LIMMA.open() as file:
        for line in csv.DictReader(file):
            lines[line.pop("case")].append(line)
    return {case: {name: np.array([float(each[name]) for each in of]) for name in of[0]} for case, of in lines.items()}


@pytest.mark.parametrize(("name", "case"), limma_cases().items())
def test_the_prior_is_limmas(name: str, case: dict[str, np.ndarray]) -> None:
    prior_variance, prior_df = fit_prior(case["variance"], case["df"])
    assert prior_variance == pytest.approx(case["prior_variance"][0], rel=1e-6)
    assert prior_df == pytest.approx(case["prior_df"][0], rel=1e-6)


@pytest.mark.parametrize(("name", "case"), limma_cases().items())
def test_variances_are_limmas_where_its_prior_is_not_too_strong(name: str, case: dict[str, np.ndarray]) -> None:
    df, result = case["df"], moderate(case["variance"], case["df"])
    most = np.minimum(LARGEST_PRIOR_DF, LARGEST_PRIOR_PER_OWN_DF * df)
    as_limma = case["prior_df"] <= most
    assert result.variance[as_limma] == pytest.approx(case["posterior"][as_limma], rel=1e-6)
    held_back = (most * case["prior_variance"] + df * case["variance"]) / (most + df)
    assert result.variance[~as_limma] == pytest.approx(held_back[~as_limma], rel=1e-6)


def test_limma_was_asked_for_both_kinds_of_prior() -> None:
    strong = {bool(case["prior_df"][0] > LARGEST_PRIOR_DF) for case in limma_cases().values()}
    assert strong == {True, False}


def test_no_more_degrees_of_freedom_than_all_tests_have_together() -> None:
    assert moderate(VARIANCES[:4], np.full(4, 2.0)).df == pytest.approx(np.full(4, 8.0))


def test_other_tests_count_for_three_times_what_a_tests_own_blocks_do_at_most() -> None:
    own = np.append(np.full(9, 7.0), 1.0)
    assert moderate(VARIANCES[::-1], own).df[-1] == pytest.approx(4)


def test_few_tests_keep_their_own_variance() -> None:
    result = moderate(np.array([1e-4, 4e-4]), np.array([3.0, 3.0]))
    assert result.variance == pytest.approx([1e-4, 4e-4])
    assert result.df == pytest.approx([3, 3])


def test_identical_counters_do_not_spoil_the_prior() -> None:
    noisy = moderate(VARIANCES, np.full(10, 7.0))
    mixed = moderate(np.append(VARIANCES, [0.0, 0.0]), np.full(12, 7.0))
    assert mixed.variance[:10] == pytest.approx(noisy.variance)
    assert (mixed.variance[10:] > VARIANCE_FLOOR).all()
    assert moderate(np.zeros(5), np.full(5, 3.0)).variance == pytest.approx(np.full(5, VARIANCE_FLOOR))


def test_unknown_variances_stay_unknown() -> None:
    result = moderate(np.append(VARIANCES, np.nan), np.append(np.full(10, 7.0), 0))
    assert np.isnan(result.variance[-1])
    assert np.isfinite(result.variance[:-1]).all()


class TestRows:
    """Tests whose rows tell that they are noisier than others."""

    rng = np.random.default_rng(3)
    of_rows = np.where(np.arange(40) < 10, 25.0, 1.0) * 1e-4
    variance = of_rows * rng.chisquare(3, 40) / 3
    df = np.full(40, 3.0)

    def test_where_blocks_vary_as_rows_do_each_is_drawn_to_its_own_kind(self) -> None:
        by_rows = np.log(moderate(self.variance, self.df, self.of_rows).variance / self.of_rows)
        alike = np.log(moderate(self.variance, self.df).variance / self.of_rows)
        assert np.mean(by_rows**2) < np.mean(alike**2) / 4

    def test_where_blocks_vary_alike_the_prior_weighs_less(self) -> None:
        variance = 1e-4 * self.rng.chisquare(3, 40) / 3
        assert moderate(variance, self.df, self.of_rows).df[0] < moderate(variance, self.df).df[0]

    @pytest.mark.parametrize("of_rows", [np.full(40, np.nan), np.full(40, 1e-4)])
    def test_rows_that_tell_nothing_change_nothing(self, of_rows: np.ndarray) -> None:
        expected = moderate(self.variance, self.df)
        assert moderate(self.variance, self.df, of_rows).variance == pytest.approx(expected.variance)
