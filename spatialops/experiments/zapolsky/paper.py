"""Figures printed in [Z], tables 3 to 5, and the controllers that they belong to."""

from __future__ import annotations

CONTROLLERS = ("qp", "qp-no-slip", "lcp", "lcp-no-slip", "pid", "sensed-1", "sensed-2")
TITLES = {
    "qp": "ID(t_i) QP, mu",
    "qp-no-slip": "ID(t_i) QP, no slip",
    "lcp": "ID(t_i) LCP, mu",
    "lcp-no-slip": "ID(t_i) LCP, no slip",
    "cone": "ID(t_i) cone (ours)",
    "lcp-nearest": "ID(t_i) LCP, mu, nearest (ours)",
    "qp-first": "ID(t_i) QP, mu, stage I alone",
    "pid": "PIDController",
    "sensed-1": "ID(t_i-1)",
    "sensed-2": "ID(t_i-2)",
}
TERRAINS = ("rigid-low", "rigid-high", "compliant-low", "compliant-high")
# Mean errors of joint positions (rad) and velocities (rad/s); None: it fell.
TRACKING: dict[str, dict[str, tuple[float, float] | None]] = {
    "rigid-low": {
        "qp": (0.0310, 1.9425),
        "qp-no-slip": (0.0483, 2.6295),
        "lcp": (0.0239, 1.8386),
        "lcp-no-slip": None,
        "pid": (0.0895, 1.5569),
        "sensed-1": (0.0325, 1.7952),
        "sensed-2": (0.0328, 1.7830),
    },
    "rigid-high": {
        "qp": (0.0486, 2.2596),
        "qp-no-slip": (0.0654, 2.5737),
        "lcp": (0.0259, 1.8784),
        "lcp-no-slip": (0.0260, 1.8950),
        "pid": (0.0916, 1.4653),
        "sensed-1": (0.1317, 2.5585),
        "sensed-2": (0.1316, 2.5608),
    },
    "compliant-low": {
        "qp": (0.0217, 2.0365),
        "qp-no-slip": None,
        "lcp": (0.0219, 2.0786),
        "lcp-no-slip": None,
        "pid": (0.0850, 1.5845),
        "sensed-1": (0.0265, 1.8858),
        "sensed-2": (0.0267, 1.8742),
    },
    "compliant-high": {
        "qp": (0.0342, 2.9360),
        "qp-no-slip": (0.0446, 3.9779),
        "lcp": (0.0226, 2.1243),
        "lcp-no-slip": None,
        "pid": (0.0850, 1.5845),
        "sensed-1": (0.1270, 4.4377),
        "sensed-2": (0.1270, 4.2061),
    },
}
# Mean of |d tau / dt| (N m/s) and of |tau| (N m).
TORQUES = {
    "qp": (52.5718, 0.2016),
    "qp-no-slip": (245.5117, 0.4239),
    "lcp": (677.9693, 0.8351),
    "lcp-no-slip": (351.1803, 0.4055),
    "sensed-1": (974.3312, 0.9918),
    "sensed-2": (17528.0, 2.7416),
    "pid": (100.1571, 0.3413),
}
# Mean error of the summed normal force: N, and relative; None: it fell.
FORCES: dict[str, dict[str, tuple[float, float] | None]] = {
    "rigid-low": {
        "qp": (3.8009, 0.1253),
        "qp-no-slip": (8.4567, 0.2226),
        "lcp": (0.9371, 0.0194),
        "lcp-no-slip": None,
    },
    "rigid-high": {
        "qp": (13.8457, 0.2748),
        "qp-no-slip": (12.4153, 0.2526),
        "lcp": (1.2768, 0.0155),
        "lcp-no-slip": (0.3572, 0.0116),
    },
    "compliant-low": {
        "qp": (7.8260, 0.1712),
        "qp-no-slip": None,
        "lcp": (4.6385, 0.0637),
        "lcp-no-slip": None,
    },
    "compliant-high": {
        "qp": (14.9225, 0.3086),
        "qp-no-slip": (15.1897, 0.3066),
        "lcp": (12.4896, 0.24),
        "lcp-no-slip": None,
    },
}
