"""The controls of a live view, and its plots."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops.view.live.course import Course, Frame
from spatialops.view.live.drawing import Drawing

if TYPE_CHECKING:
    from viser import GuiUplotHandle, ViserServer
    from viser.uplot import Series

_SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4")
_KEPT = 300  # frames that plots show
_EVERY = 3  # frames between two drawings of a plot
_COLORS = ("#1f5fa8", "#c96a00", "#00795a", "#d01c6b", "#6d4bb8", "#8a7a00", "#007f9c", "#57646f")
_ASKED = (_PAUSE, _STEP, _RESET) = ("Pause / run", "Step", "Reset")
_NONE = "nothing"
_ENERGY = "energy [J]"
_HELP = "Drag a body to pull it; drag elsewhere to turn the view."


class Panel:
    """Buttons and plots of a view, each tied to a course and a drawing."""

    def __init__(
        self, server: ViserServer, course: Course, drawing: Drawing, *, dark: bool
    ) -> None:
        self.course = course
        self.drawing = drawing
        self._server = server
        gui = server.gui
        self._told = gui.add_markdown("")
        self._time = gui.add_button_group("Time", tuple(_ASKED))
        self._speed = gui.add_dropdown("Speed", _SPEEDS, initial_value="1")
        with gui.add_folder("What is drawn", expand_by_default=False):
            self._forces = gui.add_slider("Force arrows", 0.0, 4.0, 0.1, 1.0)
            self._scale = gui.add_markdown("")
            self._axes = gui.add_checkbox("Frames of the bodies", False)
            layered = any(part.layer == "collision" for part in drawing.parts)
            self._collision = gui.add_checkbox("Collision shapes", False, visible=layered)
            self._dark = gui.add_checkbox("Dark", dark)
        with gui.add_folder("Plot", expand_by_default=False) as self._folder:
            self._columns = _columns(course)
            self._choice = gui.add_dropdown(
                "Over time", (_NONE, _ENERGY, *self._columns), initial_value=_NONE
            )
        self._plot: GuiUplotHandle | None = None
        self._history: deque[tuple[float, Array, Array]] = deque(maxlen=_KEPT)
        self._frames = 0
        self._asked: deque[str] = deque()
        self._bind()

    def asked(self) -> Frame | None:
        """Do what buttons have asked for since the last frame; the frame of a single step."""
        frame = None
        while self._asked:
            wish = self._asked.popleft()
            if wish == _PAUSE:
                self.course.paused = not self.course.paused
            elif wish == _RESET:
                self._history.clear()
                self.course.reset()
            else:
                self.course.paused = True
                frame = self.course.single_step()
        return frame

    def show(self, frame: Frame) -> None:
        """Tell the time, and draw what is plotted."""
        course = self.course
        self._told.content = _told(frame, course)
        stretch = float(self._forces.value)
        self.drawing.place(frame.state.q)
        self.drawing.show_forces(frame.arrows, stretch)
        self.drawing.show_hand(course.grip, frame.state.q)
        if not self._history or frame.state.time != self._history[-1][0]:
            kept = (frame.state.time, course.energies(frame.state), frame.readings)
            self._history.append(kept)
        self._frames += 1
        if self._plot is not None and self._frames % _EVERY == 0:
            self._plot.data = self._data()

    def _bind(self) -> None:
        self._time.on_click(lambda _: self._asked.append(self._time.value))
        self._speed.on_update(lambda _: setattr(self.course, "speed", float(self._speed.value)))
        self._axes.on_update(lambda _: self.drawing.show_axes(self._axes.value))
        self._collision.on_update(lambda _: self.drawing.show_collision(self._collision.value))
        self._dark.on_update(lambda _: look(self._server, dark=self._dark.value))
        self._choice.on_update(lambda _: self._choose())
        self._forces.on_update(lambda _: self._tell_scale())
        self._tell_scale()

    def _tell_scale(self) -> None:
        stretch, cell = float(self._forces.value), self.drawing.cell
        if stretch == 0.0:
            self._scale.content = "No arrows."
            return
        force = self.drawing.force_of(cell, stretch)
        self._scale.content = (
            f"An arrow as long as a cell of the grid ({cell:g} m) is {_rounded(force)} N. "
            "Impacts are means over a frame."
        )

    def _choose(self) -> None:
        """Another plot."""
        if self._plot is not None:
            self._plot.remove()
            self._plot = None
        name = str(self._choice.value)
        if name == _NONE:
            return
        labels = self._columns[name].labels if name != _ENERGY else _ENERGIES
        series: list[Series] = [{"label": "s"}]
        for i, label in enumerate(labels):
            series.append({"label": label, "stroke": _COLORS[i % len(_COLORS)]})
        with self._folder:
            self._plot = self._server.gui.add_uplot(
                self._data(),
                tuple(series),
                title=name,
                scales={"x": {"time": False}},
                height=220,
            )

    def _data(self) -> tuple[Array, ...]:
        """Times and curves of what is plotted."""
        name, kept = str(self._choice.value), list(self._history)
        times = np.array([time for time, _, _ in kept])
        if name == _ENERGY:
            values = np.array([energies for _, energies, _ in kept]).reshape(-1, 3)
        else:
            columns = self._columns[name].places
            values = np.array([readings[columns] for _, _, readings in kept])
            values = values.reshape(len(kept), len(columns))
        return (times, *values.T)


_ENERGIES = ("kinetic", "potential", "total")


class _Columns:
    """Columns of a sensor that share a unit."""

    def __init__(self, labels: list[str], places: list[int]) -> None:
        self.labels = labels
        self.places = places


def _columns(course: Course) -> dict[str, _Columns]:
    """What can be plotted of the sensors, by name and unit."""
    found: dict[str, _Columns] = {}
    first = 0
    for sensor in course.simulator.setup.sensing.to_data().get("sensors", ()):
        for i, (label, unit) in enumerate(zip(sensor["labels"], sensor["units"])):
            own = found.setdefault(f"{sensor['name']} [{unit}]", _Columns([], []))
            own.labels.append(label)
            own.places.append(first + i)
        first += len(sensor["labels"])
    return found


def _told(frame: Frame, course: Course) -> str:
    """The time, and what is the matter."""
    if course.failure:
        return f"**Stopped at {frame.state.time:.3f} s.** {course.failure}"
    pace = "paused" if course.paused else f"{frame.pace:.2f} of real time"
    return f"**{frame.state.time:.2f} s**, {pace}. {_HELP}"


def _rounded(number: float) -> str:
    return f"{number:.2g}" if abs(number) < 100.0 else f"{number:.0f}"


def look(server: ViserServer, *, dark: bool) -> None:
    """Light or dark."""
    server.gui.configure_theme(dark_mode=dark, show_share_button=False, show_logo=False)
