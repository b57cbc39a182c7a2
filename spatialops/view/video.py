"""A recorded run as a video: pictures of it in a file, without a graphics card."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spatialops._arrays import scalar
from spatialops._files import checked_path
from spatialops.errors import ArgumentError, MissingLibraryError, RecordError
from spatialops.view.figures import require_plots
from spatialops.view.motion import motion
from spatialops.view.parts import Layer
from spatialops.view.pictures.look import DARK, LIGHT
from spatialops.view.pictures.painter import pictures
from spatialops.view.replay import write_whole

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record


def record_video(
    record: Record,
    path: str | os.PathLike[str],
    *,
    rate: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    collision: bool = False,
    beside: Record | None = None,
    dark: bool = False,
    title: str = "",
) -> Path:
    """Write a video of a run, in the time that it took.

    Parameters
    ----------
    record : Record
        What to show.
    path : path-like
        .mp4 (H.264, by PyAV) or .gif.
    rate : float
        Pictures a second. Default 30.
    size : (int, int)
        Width and height, pixels; even for .mp4. Default (1280, 720).
    collision : bool
        Draw the shapes that collide, not those that the robot's file draws. Default False.
    beside : Record, optional
        A second run, shown beside the first by the same clock.
    dark : bool
        Dark paper and floor. Default False.
    title : str
        Said in the upper left corner. Default nothing.

    Returns
    -------
    Path
        Of the video.

    Raises
    ------
    ArgumentError
        If `rate` is not positive, `size` is no size, or `beside` no record.
    MissingLibraryError
        Without the extra `plots`, and for .mp4 without PyAV.
    RecordError
        If the file cannot be written, or does not end as a video does.
    """
    pace = scalar(rate, "rate", low=0.0, strict=True)
    ending = checked_path(path).suffix.lower()
    if ending not in _WRITERS:
        raise RecordError(f"a video ends in {' or '.join(_WRITERS)}, not {ending!r}")
    layers: tuple[Layer, Layer] = ("both", "collision" if collision else "visual")
    pixels = _checked_size(size)
    shown = motion(record, pace, *layers, beside=beside)
    frames = pictures(shown, pace, pixels, look=DARK if dark else LIGHT, title=title)
    return write_whole(path, _WRITERS[ending](frames, pace))


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    whole = np.asarray(size)
    if (
        whole.shape != (2,)
        or whole.dtype.kind not in "iu"
        or (whole < 2).any()
        or (whole % 2).any()
    ):
        raise ArgumentError(f"size: expected an even width and height in pixels, got {size!r}")
    return int(whole[0]), int(whole[1])


def _gif(frames: Iterator[NDArray[np.uint8]], rate: float) -> bytes:
    require_plots()
    from PIL import Image

    images = [Image.fromarray(frame).quantize(128) for frame in frames]
    file = io.BytesIO()
    images[0].save(
        file,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=1000.0 / rate,
        loop=0,
    )
    return file.getvalue()


def _mp4(frames: Iterator[NDArray[np.uint8]], rate: float) -> bytes:
    try:
        import av
    except ImportError:
        raise MissingLibraryError(
            "an .mp4 needs PyAV: pip install 'spatialops[video]'; "
            "for a .gif 'spatialops[plots]' is enough"
        ) from None
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = None
        for frame in frames:
            if stream is None:
                stream = container.add_stream(
                    "libx264", rate=Fraction(rate).limit_denominator(1000)
                )
                stream.height, stream.width = frame.shape[:2]
                stream.pix_fmt = "yuv420p"
            for packet in stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")):
                container.mux(packet)
        if stream is not None:
            container.mux(stream.encode())
    return file.getvalue()


_WRITERS = {".mp4": _mp4, ".gif": _gif}
