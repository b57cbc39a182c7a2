"""A file cut short, made longer, or with one bit flipped: what a disk may do to it."""

from collections.abc import Iterator

import numpy as np

_TIMES = 200


def corruptions(whole: bytes) -> Iterator[bytes]:
    """What a file may have become; never as it was."""
    rng = np.random.default_rng(21)
    for case in range(_TIMES):
        broken = bytearray(whole)
        if case % 4 == 0:
            del broken[rng.integers(len(broken)) :]
        elif case % 4 == 1:
            broken += rng.bytes(rng.integers(1, 9))
        else:
            broken[rng.integers(len(broken))] ^= 1 << int(rng.integers(8))
        yield bytes(broken)
