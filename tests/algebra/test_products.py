"""Products within kernels, beside NumPy's."""

import numpy as np

from spatialops._compile.jit import kernel
from spatialops.algebra.products import put_product


@kernel
def product(A, B, columns, result):
    put_product(A, B, columns, result)
    return columns


def test_of_so_many_columns_and_no_more(rng):
    A, B = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
    A[1, 2] = 0.0
    result = np.full((3, 5), 7.0)
    product(A, B, 3, result)
    assert np.allclose(result[:, :3], (A @ B)[:, :3], rtol=0.0, atol=1e-15)
    assert (result[:, 3:] == 7.0).all()
