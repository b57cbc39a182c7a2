"""Faults of mutation that no test can notice, as nothing that is promised changes: the reasons.

By file: the line as the fault makes it, and the reason.
"""

from __future__ import annotations

_EQUAL = "two floats that are equal here by no more than chance, and both sides are right then"
_CHOICE = "which of two ways is taken; both end alike, one of them later"
_BETWEEN = (
    "a limit between rounding and what counts, and nothing lies there or another method takes it"
)
_ATTEMPT = (
    "Newton's second attempt: of random bodies that the first leaves it solves as many, or one "
    "more, with a term 1000 times larger or smaller"
)
_LENGTH = "a vector is longer or shorter, which is made a unit one later; nothing was lost by then"
_ROUND = "one more round, which changes nothing"

HARMLESS: dict[str, list[tuple[str, str]]] = {
    "contact/cone/fast_path.py": [("used = rank if 2 / rank <= n else -1", _CHOICE)],
    "contact/cone/scaled_problem.py": [
        ("elif not is_sparse(W) and not filled and b.size >= _DENSE_ROWS:", _CHOICE),
    ],
    "contact/friction.py": [
        ("elif abs(normal[2]) <= _LEVEL:", _EQUAL),
        ("if length >= _SLIP:", _EQUAL),
        ("_ROUNDING = (1e3 * 1e-15)", _BETWEEN),
        ("table[np.abs(table) <= _ROUNDING] = 0.0", _EQUAL),
        ("first = scaled(1.0 * length, slip)", _LENGTH),
        ("first = scaled(-1.0 * math.sqrt(dot(first, first)), first)", _LENGTH),
        *[
            (line, _LENGTH)
            for one in ("(1e3 * 1.0)", "(1.0 / 1e3)")
            for line in (
                f"first = scaled({one} / length, slip)",
                f"first = cross((0.0, 0.0, {one}), normal)",
                f"first = cross(normal, (0.0, {one}, 0.0))",
                f"first = scaled(-{one} / math.sqrt(dot(first, first)), first)",
            )
        ],
    ],
    "contact/laws/cone.py": [("if start is not None and least >= POLISHED:", _EQUAL)],
    "contact/lcp/ladder.py": [("or _balance(problem, solution) >= _BALANCED", _EQUAL)],
    "contact/lcp/revised.py": [
        (
            "_PIVOT = (1e3 * 1e-11)",
            _BETWEEN,
        ),
    ],
    "contact/newton/central.py": [
        ("_TERMS = np.array([1e-5, (1e3 * 1e-3), 3e-2, 0.3, 1e-3])", _ATTEMPT),
        ("_TERMS = np.array([1e-5, (1e-3 / 1e3), 3e-2, 0.3, 1e-3])", _ATTEMPT),
    ],
    "spatialops/simulation/event_driven/event_functions.py": [
        ("value = gap if gap > 0.0 or speed <= -still(v) else abs(gap) + _OPEN", _EQUAL),
    ],
    "spatialops/simulation/separation.py": [("if not _lowest_gap(t) <= -allowed:", _EQUAL)],
    "spatialops/simulation/stepping/continuous_collision.py": [
        ("if gap <= max(touch, _NEAR * width_of(t, p)):", _EQUAL),
        ("ways[i, UNTIL] = x + way / travel if travel >= 0.0 else INFINITE", _EQUAL),
    ],
    "spatialops/simulation/stepping/integrators/lone_bodies.py": [
        (
            "if dot(step, step) <= _ROUNDING * _ROUNDING * (speed * speed - dot(change, change)):",
            _ROUND,
        ),
    ],
}
