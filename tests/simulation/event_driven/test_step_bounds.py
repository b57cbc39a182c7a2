"""Where a step may have passed a contact."""

import numpy as np
import pytest

from spatialops.simulation.event_driven.step_bounds import dip


def ends_of(gap, h):
    """Gaps and rates at both ends of a step of h, of a polynomial in the share of the step."""
    rate = gap.deriv()
    return (gap(0.0), rate(0.0) / h), (gap(1.0), rate(1.0) / h)


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("cubic", [0.0, 0.7, -0.3])
def test_a_dip_is_where_the_cubic_is_lowest(cubic, place):
    # The rate is (x - place) (1 + cubic (x + place)), whose second factor is positive.
    slope = np.polynomial.Polynomial([-place, 1.0]) * np.polynomial.Polynomial(
        [1.0 + cubic * place, cubic]
    )
    gap = slope.integ()
    gap -= gap(place) - 1e-5
    for h in (0.01, 2.0):
        assert dip(ends_of(gap, h), h) == pytest.approx(place - 1e-3, abs=1e-12)


def test_what_keeps_a_tenth_of_its_gap_does_not_dip():
    gap = np.polynomial.Polynomial([1.0, -1.0, 1.0])
    assert gap(0.5) == 0.75
    assert dip(ends_of(gap, 0.1), 0.1) is None
    assert dip(ends_of(gap - 0.74, 0.1), 0.1) is not None


@pytest.mark.parametrize("line", [(1.0, -0.5), (0.5, 0.5)])
def test_what_goes_one_way_does_not_dip(line):
    assert dip(ends_of(np.polynomial.Polynomial(line), 0.1), 0.1) is None
