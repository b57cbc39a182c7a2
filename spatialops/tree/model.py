"""The frozen mechanism: tables for the kernels, names for people."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, instance
from spatialops._compile.fast_call import LONG
from spatialops._html import html_of_text
from spatialops.algebra.simd import aligned
from spatialops.errors import ArgumentError
from spatialops.tree.branches import Branches, branches_of
from spatialops.tree.joint import KINDS
from spatialops.tree.node import FewNodes, Frame, Node, NodeLike, Nodes
from spatialops.tree.stored_model import checked_model

_TABLES = ("tree", "links", "body_links", "turns")
_REMEMBERED = 64  # sequences of nodes that a model has looked up


@dataclass(
    frozen=True, eq=False, slots=True
)  # slots: 20 ns less for every look at a field, three a call
class Model:
    """A tree of bodies, made by `TreeBuilder.build`; never modified.

    What is for people comes first, in the order of the bodies. `tree`, `links` and `turns` are the
    kernels' tables, one row per degree of freedom. Limits, dry friction and springs have one entry
    per velocity.

    Parameters
    ----------
    body_names : tuple of str
        Moving bodies, a parent before its children.
    joint_names : tuple of str
        The joint that carries each.
    joint_kinds : tuple of str
        Its kind.
    body_parents : (n_bodies,) int array
        The body that each hangs on, -1 for the world.
    body_links : (n_bodies,) int array
        The link that each body is, a row of `tree`.
    frames : mapping of str to Frame
        All names that a `Node` can have: bodies, merged bodies and "world".
    tree : (nv, 8) int array
        Structure; columns in `spatialops._layout`.
    links : (nv, 28) array
        Constants of the links, likewise.
    turns : (nv, 3, 3) array
        Rotations that take components in a link's frame to those in its body's.
    lower : (nv,) array
        Lower limits of joints, rad or m.
    upper : (nv,) array
        Upper limits.
    velocity_limit : (nv,) array
        rad/s or m/s.
    effort_limit : (nv,) array
        N m or N.
    dry_friction : (nv,) array
        N m or N.
    stiffness : (nv,) array
        Of the joints' springs, N m/rad or N/m.
    reference : (nv,) array
        Coordinates at which they are at rest, rad or m.
    compensation : (n_bodies, 4) array
        Mass of every body whose weight is borne, kg, and its centre in the axes of the body's link,
        m.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(3).model
    >>> model.nq, model.nv, model.joint_names
    (3, 3, ('pin1', 'pin2', 'pin3'))
    """

    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    joint_kinds: tuple[str, ...]
    body_parents: IntArray
    body_links: IntArray
    frames: Mapping[str, Frame]
    tree: IntArray
    links: Array
    turns: Array
    lower: Array
    upper: Array
    velocity_limit: Array
    effort_limit: Array
    dry_friction: Array
    stiffness: Array
    reference: Array
    compensation: Array
    nv: int = field(init=False)
    """Number of velocities (degrees of freedom)."""
    nq: int = field(init=False)
    """Number of coordinates."""
    n_bodies: int = field(init=False)
    """Number of moving bodies."""
    quaternions: tuple[int, ...] = field(init=False, repr=False)
    """Indices in q at which quaternions begin."""
    own_coordinates: IntArray = field(init=False, repr=False)
    """Index in q that belongs to each velocity (nv,); -1 where a joint has more coordinates."""
    sprung: tuple[int, ...] = field(init=False, repr=False)
    """Links whose joints have springs."""
    borne: tuple[int, ...] = field(init=False, repr=False)
    """Bodies whose weight is borne."""
    warnings: tuple[str, ...] = field(init=False, repr=False, default=())
    """What was repaired in the file that it was read from, or could not be taken over."""
    spare: list[Array] = field(init=False, repr=False, default_factory=list)
    """Workspaces (nv, 64) that no call uses just now; see `workspace`."""
    stacks: list[Array] = field(init=False, repr=False, default_factory=list)
    """Stacks of workspaces that no call uses just now; see `stack`."""
    scraps: list[Array] = field(init=False, repr=False, default_factory=list)
    """Vectors that no call uses just now, where lengths depend on more than the model."""
    held: Array | None = field(init=False, repr=False)
    """Workspace (nv, 64) of calls so short that they keep the GIL; none where they are longer."""
    held_unsprung: Array | None = field(init=False, repr=False)
    """The same; none where joints have springs."""
    branches: Branches = field(init=False, repr=False)
    """The kernels' tables once more, for work on eight links at a time."""
    ready: tuple[tuple[NodeLike, ...], Nodes] = field(init=False, repr=False)
    """The last nodes that were looked up by names, and what they are: doors read it."""
    _slices: dict[str, tuple[slice, slice]] = field(init=False, repr=False)
    _kinds: dict[str, str] = field(init=False, repr=False)
    _resolved: dict[tuple[NodeLike, ...], Nodes] = field(
        init=False, repr=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        for item in _given(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value = np.array(value, order="C")
                # Numba takes 0.3 us longer for every read-only argument: the kernels' tables stay
                # writeable.
                value.flags.writeable = item.name in _TABLES
                object.__setattr__(self, item.name, value)
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))
        object.__setattr__(self, "nv", self.tree.shape[0])
        object.__setattr__(self, "nq", sum(KINDS[kind][0] for kind in self.joint_kinds))
        object.__setattr__(self, "n_bodies", len(self.body_names))
        object.__setattr__(self, "quaternions", _quaternions(self.tree))
        object.__setattr__(self, "sprung", tuple(np.flatnonzero(self.stiffness).tolist()))
        borne = tuple(np.flatnonzero(self.compensation[:, 0]).tolist())
        object.__setattr__(self, "borne", borne)
        object.__setattr__(self, "branches", branches_of(self.tree, self.links))
        object.__setattr__(self, "_slices", self._joint_slices())
        kinds = dict(zip(self.joint_names, self.joint_kinds, strict=True))
        object.__setattr__(self, "_kinds", kinds)
        object.__setattr__(self, "own_coordinates", _own_coordinates(self._slices, self.nv))
        room = np.empty((self.nv, layout.WORK_COLUMNS)) if self.nv < LONG else None
        object.__setattr__(self, "held", room)
        object.__setattr__(self, "held_unsprung", None if self.sprung else room)
        object.__setattr__(self, "ready", ((), self._looked_up(())))

    def __repr__(self) -> str:
        """What it is, in five lines."""
        gravity = ", ".join(f"{g:g}" for g in self.gravity)
        return "\n".join(
            (
                f"Model of {self.n_bodies} bodies",
                f"  bodies: {_some(self.body_names)}",
                f"  joints: {_joints(self.joint_kinds)}; nq = {self.nq}, nv = {self.nv}",
                f"  mass: {self.mass:.6g} kg",
                f"  gravity: ({gravity}) m/s^2",
            )
        )

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_text(repr(self))

    def __reduce__(self) -> tuple[Callable[..., Model], tuple[object, ...]]:
        """Copied, and sent to other processes, as its arrays."""
        return _remade, (self.to_arrays(), self.warnings)

    def workspace(self) -> Array:
        """Memory for a kernel to work in, to be handed back by `spare.append`.

        It costs 0.2 us less than a new one. `pop` and `append` are atomic: no two threads get the
        same.

        Returns
        -------
        (nv, 64) array
            Holds anything.
        """
        try:
            return self.spare.pop()
        except IndexError:
            return aligned(self.nv, layout.WORK_COLUMNS)

    def stack(self) -> Array:
        """Memory for derivatives to work in, to be handed back by `stacks.append`.

        Returns
        -------
        (5 nv + 1, 64) array
            Holds anything.
        """
        try:
            return self.stacks.pop()
        except IndexError:
            return aligned(5 * self.nv + 1, layout.WORK_COLUMNS)

    @property
    def mass(self) -> float:
        """Total mass of the moving bodies, kg."""
        return float(self.links[:, layout.MASS].sum())

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity, (3,), m/s^2."""
        return self.links[0, layout.GRAVITY : layout.GRAVITY + 3].copy()

    @property
    def damping(self) -> Array:
        """Viscous damping per velocity, (nv,), N m s or N s/m."""
        return self.links[:, layout.DAMPING].copy()

    def _joint_slices(self) -> dict[str, tuple[slice, slice]]:
        result = {}
        i = 0
        j = 0
        for name, kind in zip(self.joint_names, self.joint_kinds, strict=True):
            nq, nv = KINDS[kind]
            result[name] = slice(i, i + nq), slice(j, j + nv)
            i, j = i + nq, j + nv
        return result

    def q_slice(self, joint: str) -> slice:
        """Where the coordinates of a joint lie in q.

        Parameters
        ----------
        joint : str
            Its name.

        Returns
        -------
        slice
            Of its kind's number of coordinates.

        Raises
        ------
        ArgumentError
            For an unknown name.

        Examples
        --------
        >>> import spatialops as so
        >>> model = so.models.quadruped().model
        >>> state = so.State(model.neutral(), [0.0] * model.nv)
        >>> state.q[model.q_slice(model.joint_names[1])] = 0.3
        >>> model.joint_kinds[:2], model.q_slice(model.joint_names[1])
        (('free', 'revolute'), slice(7, 8, None))
        """
        return self._joint(joint)[0]

    def v_slice(self, joint: str) -> slice:
        """Where the velocities of a joint lie in v.

        Parameters
        ----------
        joint : str
            Its name.

        Returns
        -------
        slice
            Of its kind's number of velocities.

        Raises
        ------
        ArgumentError
            For an unknown name.

        Examples
        --------
        >>> import spatialops as so
        >>> so.models.pendulum(3).model.v_slice("pin2")
        slice(1, 2, None)
        """
        return self._joint(joint)[1]

    def joint_kind(self, joint: str) -> str:
        """Kind of a joint.

        Parameters
        ----------
        joint : str
            Its name.

        Returns
        -------
        str
            As `Joint` has it.

        Raises
        ------
        ArgumentError
            For an unknown name.

        Examples
        --------
        >>> import spatialops as so
        >>> so.models.pendulum(3).model.joint_kind("pin2")
        'revolute'
        """
        self._joint(joint)  # refuses others
        return self._kinds[joint]

    def _joint(self, joint: str) -> tuple[slice, slice]:
        try:
            return self._slices[joint]
        except (KeyError, TypeError):
            raise ArgumentError(
                f"joint: there is no joint {joint!r}; there are {_some(self.joint_names)}"
            ) from None

    def joint_of_link(self, link: int) -> str:
        """Name of the joint that a velocity belongs to.

        Parameters
        ----------
        link : int
            Index of the velocity, from 0 to nv - 1.

        Returns
        -------
        str
            The joint's name.
        """
        return next(name for name, (_, v) in self._slices.items() if v.start <= link < v.stop)

    def body_index(self, body: str | int) -> int:
        """Index of a moving body.

        Parameters
        ----------
        body : str or int
            Its name, or an index, which is checked.

        Returns
        -------
        int
            From 0 to n_bodies - 1.

        Raises
        ------
        ArgumentError
            For an unknown name, a body that is merged into another, or an index out of range.
        """
        if isinstance(body, str):
            frame = self.frame(body)
            if body not in self.body_names:
                raise ArgumentError(
                    f"body: {body!r} does not move on its own (it is part of body {frame.body})"
                )
            return frame.body
        try:
            index = operator.index(body)
        except TypeError:
            raise ArgumentError(f"body: expected a name or an index, got {body!r}") from None
        if not 0 <= index < self.n_bodies:
            raise ArgumentError(
                f"body: index {body} is out of range; there are {self.n_bodies} bodies"
            )
        return index

    def frame(self, name: str) -> Frame:
        """The named frame of a body, of a merged body or of the world.

        Parameters
        ----------
        name : str
            A key of `frames`.

        Returns
        -------
        Frame
            The moving body that it sits on (-1: the world), and its pose in that body.

        Raises
        ------
        ArgumentError
            For an unknown name.
        """
        try:
            return self.frames[name]
        except (KeyError, TypeError):
            raise ArgumentError(
                f"body: there is no body {name!r}; there are {_some(tuple(self.frames))}"
            ) from None

    def resolve(self, nodes: Sequence[NodeLike]) -> Nodes:
        """Look up the bodies of nodes, so that loops need not.

        Parameters
        ----------
        nodes : sequence of Node
            Or of (body, position), or of bodies whose origins are meant.

        Returns
        -------
        Nodes
            What `compliance` takes in place of the sequence: links (m,), -1 for the world, and
            offsets (m, 3) in link axes, m.

        Raises
        ------
        ArgumentError
            For an unknown body, or a position that is not three finite numbers.
        """
        if isinstance(nodes, (str, Node)):
            raise ArgumentError(
                "nodes: expected a sequence of nodes, got a single one; put it in a list"
            )
        try:
            nodes = tuple(nodes)
        except TypeError:
            raise ArgumentError(f"nodes: expected a sequence of nodes, got {nodes!r}") from None
        try:
            found = self._resolved[nodes]
        except (KeyError, TypeError):
            return self._remember(nodes, self._looked_up(nodes))
        object.__setattr__(self, "ready", (nodes, found))
        return found

    def _remember(self, nodes: tuple[NodeLike, ...], found: Nodes) -> Nodes:
        """Keep what was looked up under its names: 5 us a node, where numbers are cheap."""
        first = (node[0] if isinstance(node, tuple) else node for node in nodes)
        if len(self._resolved) < _REMEMBERED and all(isinstance(body, str) for body in first):
            with contextlib.suppress(TypeError):  # positions that are arrays or lists
                self._resolved[nodes] = found
        return found

    def _looked_up(self, nodes: tuple[NodeLike, ...]) -> Nodes:
        links, offsets = np.empty(len(nodes), dtype=np.int64), np.empty((len(nodes), 3))
        for i, node in enumerate(nodes):
            try:
                body, position = node if not isinstance(node, (str, int)) else Node(node)
                point = np.array(position, dtype=np.float64)
            except (TypeError, ValueError):
                raise ArgumentError(
                    f"nodes[{i}]: expected Node(body, position), got {node!r}"
                ) from None
            if point.shape != (3,) or not np.isfinite(point).all():
                raise ArgumentError(
                    f"nodes[{i}]: position: expected 3 finite numbers, got {position!r}"
                )
            index = (
                self.frame(body)
                if isinstance(body, str)
                else Frame(self.body_index(body), np.zeros(3), np.eye(3))
            )
            point = index.position + index.rotation @ point
            links[i] = -1 if index.body < 0 else self.body_links[index.body]
            offsets[i] = point if index.body < 0 else self.turns[links[i]].T @ point
        kind = FewNodes if len(nodes) <= self.branches.few else Nodes
        return kind(links, offsets)

    def neutral(self) -> Array:
        """Coordinates with all joints at zero.

        Returns
        -------
        (nq,) array
            Unit quaternions (0, 0, 0, 1) where there are any.

        Examples
        --------
        >>> import spatialops as so
        >>> ball = so.Inertia.sphere(0.1, mass=1.0)
        >>> so.TreeBuilder().add_body("ball", joint="free", inertia=ball).build().neutral()
        array([0., 0., 0., 0., 0., 0., 1.])
        """
        q = np.zeros(self.nq)
        for i in self.quaternions:
            q[i + 3] = 1.0
        return q

    def random(self, rng: np.random.Generator) -> Array:
        """Random coordinates.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where the numbers come from.

        Returns
        -------
        (nq,) array
            Within limits where they are finite; else angles in [-pi, pi], lengths in [-1, 1] m.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> model = so.models.pendulum(3).model
        >>> q = model.random(np.random.default_rng(1))
        >>> q.shape, bool((abs(q) <= np.pi).all())
        ((3,), True)
        """
        instance(rng, np.random.Generator, "rng")
        q = self.neutral()
        for name, kind in zip(self.joint_names, self.joint_kinds, strict=True):
            at, at_v = self._slices[name]
            if kind in ("ball", "free"):
                if kind == "free":
                    q[at][:3] = rng.uniform(-1.0, 1.0, 3)
                quaternion = rng.normal(size=4)
                q[at][-4:] = quaternion / np.linalg.norm(quaternion)
                continue
            # Where one limit is missing or far away, a range of at most 2 pi next to the other one.
            lower = np.clip(self.lower[at_v], np.minimum(-np.pi, self.upper[at_v] - np.pi), np.inf)
            upper = np.clip(self.upper[at_v], -np.inf, np.maximum(np.pi, self.lower[at_v] + np.pi))
            q[at] = rng.uniform(lower, upper)
        return q

    def to_arrays(self) -> dict[str, Any]:
        """Everything that `from_arrays` needs to make the same model.

        Returns
        -------
        dict of str to array or sequence of str
            By names of fields.
        """
        names = sorted(self.frames)
        data: dict[str, Any] = {
            item.name: getattr(self, item.name) for item in _given(self) if item.name != "frames"
        }
        data["frame_names"] = names
        data["frame_bodies"] = np.array([self.frames[name].body for name in names])
        data["frame_positions"] = np.array([self.frames[name].position for name in names])
        data["frame_rotations"] = np.array([self.frames[name].rotation for name in names])
        return data

    @classmethod
    def from_arrays(cls, data: dict[str, Any]) -> Model:
        """Inverse of `to_arrays`.

        Parameters
        ----------
        data : mapping of str to array or sequence of str
            What `to_arrays` returned, also by way of a file.

        Returns
        -------
        Model
            The same model.

        Raises
        ------
        ModelError
            If something is missing, or no builder makes such a model.
        """
        return cls(**checked_model(data))


def _own_coordinates(slices: Mapping[str, tuple[slice, slice]], nv: int) -> IntArray:
    found = np.full(nv, -1, dtype=np.int64)
    for q, v in slices.values():
        if q.stop - q.start == v.stop - v.start:
            found[v] = np.arange(q.start, q.stop)
    return found


def _quaternions(tree: IntArray) -> tuple[int, ...]:
    """Where in q those of ball and free joints begin."""
    first = {layout.ATTITUDE: 0, layout.POSE: 3}
    rows = tree[:, [layout.FRAME, layout.FIRST_Q]].tolist()
    return tuple(i + first[frame] for frame, i in rows if frame in first)


def not_a_model(value: object) -> ArgumentError:
    """The error for something else in the place of a model, as where arguments are swapped."""
    return ArgumentError(
        f"model: expected a Model, got {type(value).__name__}; the model is the first argument"
    )


def _remade(data: dict[str, Any], warnings: tuple[str, ...]) -> Model:
    model = Model.from_arrays(data)
    object.__setattr__(model, "warnings", warnings)
    return model


def _given(model: Model | type[Model]) -> list[Field[Any]]:
    """The fields that a model is made of."""
    return [item for item in fields(model) if item.init]


def _joints(kinds: tuple[str, ...]) -> str:
    """How many joints there are of each kind."""
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
