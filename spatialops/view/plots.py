"""Overview figures of a motion, drawn without a display."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spatialops.errors import RecordError
from spatialops.view.figures import COLORS, STYLES, dressed, new_figure, save_figure
from spatialops.view.replay_shapes import finite_array, half_space

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Planes = list[tuple[NDArray[np.float64], NDArray[np.float64]]]
# Of the window, as parts of what moves in it: how far surfaces are shown, and what is left around.
_REACH = 0.3
_PAD = 0.04
_LEVEL = 0.999  # cosine: a surface so nearly upright or level bounds the window
_FLAT = 1e-9  # sine between a surface and the paper below which it has no line in it
_SOFT = "#5b6b7d"
_SURFACE = "#e3e8ee"
_BODY = "#56b4e9"


class Robot(NamedTuple):
    """What `frames` draws of a robot.

    Points (k, 3) of each of G shapes [m] about its centre, whose hull is the shape; rotations
    (F, G, 3, 3); and L links (F, L, 2, 3) from the joint of a parent to that of its child [m].
    """

    points: Sequence[NDArray[np.float64]]
    rotations: NDArray[np.float64]
    links: NDArray[np.float64]


def height_and_velocity(
    path: str | os.PathLike[str],
    *,
    times: ArrayLike,
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    impacts: ArrayLike = (),
) -> Path:
    """Draw height and vertical velocity of points over time, one pair of curves per label.

    Parameters
    ----------
    path : path-like
        The figure, png, svg or pdf by its suffix.
    times : (F,) array
        Times [s].
    curves : mapping
        Label to the heights (F,) [m] and velocities (F,) [m/s].
    impacts : (K,) array
        Times of impacts [s], marked by light ticks.
    """
    clock = _clock(times)
    marks = finite_array(impacts, (None,), "impacts")
    if not curves:
        raise RecordError("curves must hold at least one labelled pair")
    figure, (upper, lower) = _axes(2)
    for i, (label, (heights, velocities)) in enumerate(curves.items()):
        color, style = COLORS[i % len(COLORS)], STYLES[i % len(STYLES)]
        high = finite_array(heights, clock.shape, f"heights of {label!r}")
        speed = finite_array(velocities, clock.shape, f"velocities of {label!r}")
        upper.plot(clock, high, label=label, color=color, linestyle=style)
        lower.plot(clock, speed, color=color, linestyle=style)
    for axes in (upper, lower):
        _mark(axes, marks)
    lower.axhline(0.0, color=_SOFT, linewidth=0.7, zorder=1)
    upper.set_ylabel("height [m]")
    lower.set_ylabel("vertical velocity [m/s]")
    _legend(upper)
    return save_figure(figure, path)


def frames(
    path: str | os.PathLike[str],
    *,
    times: ArrayLike,
    positions: ArrayLike,
    radii: ArrayLike,
    robot: Robot | None = None,
    fixtures: Sequence[Mapping[str, object]] = (),
    columns: int = 4,
    count: int = 12,
) -> Path:
    """Draw a series of side views, x to the right and z up, of a robot or a chain of spheres.

    Parameters
    ----------
    path : path-like
        The figure, png, svg or pdf by its suffix.
    times : (F,) array
        Times [s].
    positions : (F, G, 3) array
        Centres of the spheres in the world [m].
    radii : float or (G,) array
        Their radii [m]; of other shapes how far they reach.
    robot : Robot, optional
        Shapes and links to draw in place of a chain of spheres.
    fixtures : sequence of mappings
        Half-spaces (``kind``, ``point`` [m], ``normal``) to draw as surfaces; other kinds are left
        out.
    columns, count : int
        Panels per row, and in all at most; evenly spaced in time.
    """
    clock = _clock(times)
    centres = finite_array(positions, (clock.size, None, 3), "positions")
    bodies = centres.shape[1]
    sizes = finite_array(
        np.broadcast_to(radii, bodies) if np.ndim(radii) == 0 else radii, (bodies,), "radii"
    )
    if bodies == 0 or columns < 1 or count < 1:
        raise RecordError("frames needs at least one body, one column and one panel")
    planes = [
        half_space(f, f"fixtures[{i}]")
        for i, f in enumerate(fixtures)
        if f.get("kind") == "half_space"
    ]
    wanted = np.linspace(clock[0], clock[-1], min(count, clock.size))
    chosen = np.unique(np.abs(clock[:, None] - wanted[None, :]).argmin(axis=0))
    low, high = _window(centres[:, :, [0, 2]], sizes, planes)
    figure, grid = _panels(len(chosen), min(columns, len(chosen)), high - low)
    for axes, frame in zip(grid, chosen, strict=True):
        _draw_planes(axes, planes, low, high)
        if robot is None:
            _draw_chain(axes, centres[frame][:, [0, 2]], sizes)
        else:
            _draw_robot(axes, robot, centres[frame], int(frame))
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        axes.set_title(f"t = {clock[frame]:.3f} s", fontsize=9)
    return save_figure(figure, path)


def energies(
    path: str | os.PathLike[str], *, times: ArrayLike, kinetic: ArrayLike, potential: ArrayLike
) -> Path:
    """Draw kinetic, potential and total energy (F,) [J] over the times (F,) [s]."""
    clock = _clock(times)
    moving = finite_array(kinetic, clock.shape, "kinetic")
    resting = finite_array(potential, clock.shape, "potential")
    figure, (axes,) = _axes(1)
    curves = {
        "kinetic": (moving, "--"),
        "potential": (resting, "-."),
        "total": (moving + resting, "-"),
    }
    for color, (label, (values, style)) in zip(
        COLORS[1:3] + COLORS[:1], curves.items(), strict=True
    ):
        axes.plot(clock, values, color=color, linestyle=style, label=label)
    axes.set_ylabel("energy [J]")
    _legend(axes)
    return save_figure(figure, path)


def contacts(
    path: str | os.PathLike[str],
    *,
    times: ArrayLike,
    count: ArrayLike,
    penetration: ArrayLike,
    residual: ArrayLike,
) -> Path:
    """Draw how many contacts there are, how deep they go and how well they are solved.

    Parameters
    ----------
    path : path-like
        The figure, png, svg or pdf by its suffix.
    times : (F,) array
        Times [s].
    count : (F,) array
        Numbers of contacts.
    penetration : (F,) array
        Largest penetrations [m].
    residual : (F,) array
        Largest residuals of the contact problem.
    """
    clock = _clock(times)
    figure, (upper, middle, lower) = _axes(3)
    from matplotlib.ticker import MaxNLocator

    upper.step(clock, finite_array(count, clock.shape, "count"), where="post", color=COLORS[0])
    upper.set_ylim(bottom=0)
    upper.yaxis.set_major_locator(MaxNLocator(integer=True))
    upper.set_ylabel("contacts")
    _plot_log(middle, clock, finite_array(penetration, clock.shape, "penetration"), COLORS[1])
    middle.set_ylabel("penetration [m]")
    _plot_log(lower, clock, finite_array(residual, clock.shape, "residual"), COLORS[2])
    lower.set_ylabel("residual [\N{EN DASH}]")
    return save_figure(figure, path)


def _clock(times: ArrayLike) -> NDArray[np.float64]:
    clock = finite_array(times, (None,), "times")
    if clock.size == 0:
        raise RecordError("a figure needs at least one time")
    return clock


def _axes(rows: int) -> tuple[Figure, list[Axes]]:
    figure = new_figure(7.2, 1.4 + 1.9 * rows)
    grid = list(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])
    for axes in grid:
        dressed(axes)
    grid[-1].set_xlabel("time [s]")
    figure.align_ylabels(grid)
    return figure, grid


def _panels(count: int, columns: int, extent: NDArray[np.float64]) -> tuple[Figure, list[Axes]]:
    rows = -(-count // columns)
    # A panel is as tall as its window asks for, within reason, so that no row wastes space.
    width, ratio = 8.4 / columns, float(np.clip(extent[1] / extent[0], 0.3, 2.5))
    figure = new_figure(9.0, rows * (width * ratio + 0.3) + 0.6)
    grid = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes in grid[count:]:
        axes.remove()
    for i, axes in enumerate(grid[:count]):
        axes.tick_params(labelsize=8, color=_SOFT, labelbottom=i + columns >= count)
        for spine in axes.spines.values():
            spine.set_color("#b4c0cd")
    figure.supxlabel("x [m]", fontsize=9)
    figure.supylabel("z [m]", fontsize=9)
    return figure, grid[:count]


def _window(
    centres: NDArray[np.float64], radii: NDArray[np.float64], planes: _Planes
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Corners (x, z) [m] of the view: the whole motion, and the surfaces it comes near."""
    low = (centres - radii[:, None]).min(axis=(0, 1))
    high = (centres + radii[:, None]).max(axis=(0, 1))
    reach = _REACH * (high - low).max()
    for point, normal in planes:
        for side, axis in ((0, 0), (1, 2)):
            if abs(normal[axis]) > _LEVEL and low[side] - reach < point[axis] < high[side] + reach:
                low[side], high[side] = min(low[side], point[axis]), max(high[side], point[axis])
    pad = _PAD * (high - low).max()
    return low - pad, high + pad


def _draw_planes(
    axes: Axes, planes: _Planes, low: NDArray[np.float64], high: NDArray[np.float64]
) -> None:
    from matplotlib.patches import Polygon

    size = 2 * float(np.linalg.norm(high - low))
    middle = (low + high) / 2
    for point, normal in planes:
        flat = normal[[0, 2]]
        steep = float(np.linalg.norm(flat))
        if steep < _FLAT:
            continue
        # The surface cuts the plane of the motion, y = 0, where normal . (x - point) = 0.
        flat, offset = flat / steep, float(normal @ point) / steep
        foot = middle + (offset - float(flat @ middle)) * flat
        along = np.array([-flat[1], flat[0]]) * size
        corners = [
            foot - along,
            foot + along,
            foot + along - size * flat,
            foot - along - size * flat,
        ]
        axes.add_patch(Polygon(corners, facecolor=_SURFACE, edgecolor="none", zorder=1))
        axes.plot(
            *zip(foot - along, foot + along, strict=True), color=_SOFT, linewidth=1.2, zorder=2
        )


def _draw_chain(axes: Axes, centres: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
    from matplotlib.patches import Circle

    axes.plot(centres[:, 0], centres[:, 1], color=_SOFT, linewidth=0.8, zorder=3)
    for i, (centre, radius) in enumerate(zip(centres, radii, strict=True)):
        face = "#e69f00" if i == len(radii) - 1 else _BODY
        axes.add_patch(
            Circle(
                tuple(centre), radius, facecolor=face, edgecolor="#17212e", linewidth=0.6, zorder=4
            )
        )


def _draw_robot(axes: Axes, robot: Robot, centres: NDArray[np.float64], frame: int) -> None:
    """Outlines of the shapes, the far ones first, and the lines of the links over them."""
    from matplotlib.patches import Polygon
    from scipy.spatial import ConvexHull

    for g in np.argsort(-centres[:, 1], kind="stable"):
        points = centres[g] + robot.points[g] @ robot.rotations[frame, g].T
        flat = points[:, [0, 2]]
        corners = flat[ConvexHull(flat, qhull_options="QJ").vertices]
        axes.add_patch(
            Polygon(
                corners, facecolor=_BODY, edgecolor="#17212e", linewidth=0.5, alpha=0.55, zorder=3
            )
        )
    for a, b in robot.links[frame]:
        axes.plot([a[0], b[0]], [a[2], b[2]], color=_SOFT, linewidth=1.4, zorder=4)
    joints = robot.links[frame].reshape(-1, 3)
    axes.plot(joints[:, 0], joints[:, 2], ".", color="#17212e", markersize=2.5, zorder=5)


def _plot_log(
    axes: Axes, clock: NDArray[np.float64], values: NDArray[np.float64], color: str
) -> None:
    """Plot sizes on a logarithmic scale of whole decades; zeros have no place there: gaps."""
    from matplotlib.ticker import NullFormatter

    sizes = np.abs(values)
    if not sizes.any():
        axes.plot(clock, sizes, color=color)
        axes.set_yticks([0.0])
        axes.text(0.5, 0.6, "zero throughout", transform=axes.transAxes, ha="center", color=_SOFT)
        return
    axes.semilogy(
        clock,
        np.where(sizes > 0, sizes, np.nan),
        color=color,
        marker=".",
        markersize=4,
        linewidth=1.0,
    )
    decades = np.log10(sizes[sizes > 0])
    lowest = np.floor(decades.min())
    axes.set_ylim(10.0**lowest, 10.0 ** max(np.ceil(decades.max()), lowest + 1))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _mark(axes: Axes, times: NDArray[np.float64]) -> None:
    for i, time in enumerate(times):
        axes.axvline(
            time,
            color="#cc79a7",
            alpha=0.6,
            linewidth=0.8,
            zorder=0,
            label="impact" if i == 0 else None,
        )


def _legend(axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=4,
            frameon=False,
            borderaxespad=0.2,
        )
