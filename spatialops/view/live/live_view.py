"""A simulation that runs while somebody looks at it, in any browser: by viser."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import whole
from spatialops.errors import ArgumentError, MissingLibraryError
from spatialops.tree.state import State
from spatialops.view.live.course import Course, Driving
from spatialops.view.live.drawing import Drawing
from spatialops.view.live.panel import Panel, look
from spatialops.view.live.pull import grip_at

if TYPE_CHECKING:
    from viser import CameraHandle, ClientHandle, MeshHandle, SceneNodeDragEvent, ViserServer

    from spatialops.simulation.simulator import Simulator

_FRAME = 1.0 / 30.0  # s
_FROM = np.array([-0.55, -1.0, 0.42])  # where the camera stands, seen from the motion
_AWAY = 1.4  # sizes of the motion
_CLOSE = 1e-3  # sizes: the same place
_HEIGHT = 600  # pixels, in a notebook
_NARROWEST = 320  # pixels: viser's panel is cut off below


class LiveView:
    """A view of a running simulation: `Simulator.view` makes it.

    The simulation runs in a thread of its own until `close`; in a notebook the object shows itself.

    Parameters
    ----------
    simulator : Simulator
        What runs.
    state : State, optional
        Where it begins. Default: the scene's.
    driving : Driving
        Controller, controls and wrenches.
    host : str
        Address that browsers reach it at. Default "localhost": this machine alone.
    port : int
        Its port; the next free one where it is taken. Default 8080.
    dark : bool
        Whether it begins dark. Default False.

    Attributes
    ----------
    course : Course
        The simulation.
    """

    def __init__(
        self,
        simulator: Simulator,
        state: State | None,
        driving: Driving,
        *,
        host: str = "localhost",
        port: int = 8080,
        dark: bool = False,
    ) -> None:
        self.course = Course(simulator, state, driving)
        self._server = _server(host, port)
        self._host = host
        look(self._server, dark=dark)
        self._drawing = Drawing(self._server, simulator.scene)
        self._panel = Panel(self._server, self.course, self._drawing, dark=dark)
        self._look_at_it()
        self._drawing.each_body_mesh(self._let_pull)
        self._closed = Event()
        self._thread = Thread(target=self._run, name="spatialops view", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"LiveView of {self.course.scene.size_text()} at {self.url}"

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.url}" width="100%" height="{_HEIGHT}" '
            f'style="border:0;min-width:{_NARROWEST}px" title="Live view"></iframe>'
        )

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"http://{self._host}:{self._server.get_port()}"

    def wait(self) -> None:
        """Keep a script alive until the view is closed, or Ctrl-C."""
        try:
            self._closed.wait()
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End the simulation and the server."""
        self._closed.set()
        self._thread.join()
        self._server.stop()

    def _run(self) -> None:
        """Frame after frame, none sooner than it is due."""
        before = perf_counter() - _FRAME
        while not self._closed.is_set():
            now = perf_counter()
            frame = self._panel.asked() or self.course.frame(min(now - before, 2.0 * _FRAME))
            before = now
            with self._server.atomic():
                self._panel.show(frame)
            self._closed.wait(max(0.0, _FRAME - (perf_counter() - now)))

    def _look_at_it(self) -> None:
        """The camera's first place."""
        back = _FROM / np.linalg.norm(_FROM)
        middle, size = self._drawing.middle, self._drawing.size
        self._server.scene.set_up_direction("+z")
        self._server.initial_camera.look_at = middle
        self._server.initial_camera.position = middle + _AWAY * size * back

        def back_off(camera: CameraHandle) -> None:
            """On a phone, upright, from further away than where the camera begins."""
            place = middle + _AWAY * size * back
            if camera.aspect < 1.0 and np.allclose(camera.position, place, atol=_CLOSE * size):
                camera.position = middle + _AWAY / camera.aspect * size * back
                camera.look_at = middle

        def watch(client: ClientHandle) -> None:  # a slow page may begin after it was told
            client.camera.on_update(back_off)
            back_off(client.camera)

        self._server.on_client_connect(watch)

    def _let_pull(self, body: int, mesh: MeshHandle) -> None:
        """Have a drag of the mouse or a finger pull the body."""

        async def pull(event: SceneNodeDragEvent[MeshHandle]) -> None:  # viser keeps its order
            course = self.course
            hand = np.array(event.end_position)
            if event.phase == "end":
                course.grip = None
            elif event.phase == "start" or course.grip is None:
                place = np.array(event.start_position)
                course.grip = grip_at(course.scene.model, course.now.q, body, place)
            else:
                course.grip = course.grip._replace(hand=hand)

        mesh.on_drag(pull)


def _server(host: str, port: int) -> ViserServer:
    """A server; viser itself tries ports for ever where none of the host can be had."""
    port = whole(port, "port", low=1, high=65535)
    try:
        with socket.create_server((host, 0)):
            pass
    except (OSError, TypeError, UnicodeError) as error:
        raise ArgumentError(f"host: {host!r} is no address of this machine ({error})") from None
    try:
        import viser
    except ImportError as error:
        raise MissingLibraryError(
            "a live view is drawn by viser: pip install 'spatialops[view]'; "
            "`record.replay(path)` needs nothing"
        ) from error
    with _quiet():
        return viser.ViserServer(host=host, port=port, label="spatialops", verbose=False)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the box that viser prints by rich, whatever `verbose` says."""
    import rich

    console = rich.get_console()
    before = console.quiet
    console.quiet = True
    try:
        yield
    finally:
        console.quiet = before
