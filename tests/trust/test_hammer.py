"""A simulator that is shared by threads refuses, or answers as if it were alone."""

from __future__ import annotations

import pytest

from tests.trust.hammer import hammer


@pytest.mark.compiled
@pytest.mark.parametrize("n", [4000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_no_state_is_wrong(n: int) -> None:
    found = hammer(n, threads=8)
    assert found.wrong == 0
    assert 0 < found.refused < n
