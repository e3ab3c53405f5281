"""Many p-values at one look."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from dbversus.stats.judging.looks import adjusted_p


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_p_values_are_adjusted_as_scipy_does(p: list[float]) -> None:
    np.testing.assert_allclose(adjusted_p(np.array(p)), false_discovery_control(p))
