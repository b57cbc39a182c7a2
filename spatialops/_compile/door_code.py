"""The machine code behind doors: a built-in function that reads its plan, and calls a kernel.

One piece of code serves all doors. What differs stands in the door's plan, an array of words: the
names of the parameters and the classes they must be of, where the kernel's arguments are found in
them, and what kind of array each must be. At the first thing that is otherwise, the careful
function, which is Python, is called with what was given. Nothing is read but what
`layouts.faults` has looked at, and nothing is kept.
"""

from __future__ import annotations

from spatialops._compile import layouts
from spatialops._compile.jit import entry_in_c, inlined
from spatialops._compile.words import call, enter, load, load_int, new_array, room, store

MOST_PARAMETERS = 11
MOST_ARGUMENTS = 11
MOST_DIMENSIONS = 2

# Words of a plan. First what there is once:
ENTRY = 0  # address of the kernel; 0 while it is not compiled
CAREFUL = 1  # the Python function
CALL = 2  # functions of C: PyObject_Vectorcall,
KEEP = 3  # Py_IncRef,
DROP = 4  # Py_DecRef,
NUMBER = 5  # PyLong_FromSsize_t,
NEW = 6  # PyArray_New
NDARRAY = 7  # NumPy's class
FLOATS = 8  # NumPy's number of float64
LIST = 9  # Python's classes
TUPLE = 10
PARAMETERS = 11  # how many there are,
POSITIONAL = 12  # and how many of them can be given without their names
ARGUMENTS = 13  # how many the kernel takes
DIMENSIONS = 14  # of the result; 0 where it is always given
GIVES_STATUS = 15  # whether the kernel's status is returned, not what its last argument is
# then of every parameter
_NAMES = 16
NAME = 0
FIRST_CLASS = 1  # of what is no array; 0 of what is
SECOND_CLASS = 2
READY_IN = 3  # the parameter before it that knows of what sequence it was made ready last,
READY_SLOT = 4  # and where: (the sequence, what it became); 0 where there is no such thing
_A_PARAMETER = 5
# then of every argument of the kernel
_SOURCES = _NAMES + _A_PARAMETER * MOST_PARAMETERS
FROM = 0  # the parameter that it is, or stands in
FIRST_SLOT = 1  # where it stands there; 0 where it is the parameter
SECOND_SLOT = 2
CONSTANT = 3  # it itself, where it is always the same
OF_DTYPE = 4
OF_NDIM = 5
_A_SOURCE = 6
# and of every dimension of the result.
_SHAPE = _SOURCES + _A_SOURCE * MOST_ARGUMENTS
OF_ARGUMENT = 0  # rows of which argument; `FIXED` where it is always the same
TIMES = 1  # and how many for each
FIXED = -1
_A_DIMENSION = 2
WORDS = _SHAPE + _A_DIMENSION * MOST_DIMENSIONS

_FITS, _FAILS = 1, 0
_NO_MEMORY = -1  # no object is there


def name_place(p: int) -> int:
    """Where the row of parameter p begins in a plan."""
    return _NAMES + _A_PARAMETER * p


def source_place(k: int) -> int:
    """Where the row of the kernel's argument k begins."""
    return _SOURCES + _A_SOURCE * k


def shape_place(d: int) -> int:
    """Where the row of dimension d of the result begins."""
    return _SHAPE + _A_DIMENSION * d


@inlined
def _bind(plan: int, args: int, given: int, names: int, found: int) -> int:
    """Find the parameters among what was given; those that were not are 0."""
    count = load(plan, 8 * PARAMETERS)
    if given > load(plan, 8 * POSITIONAL):
        return _FAILS
    for p in range(count):
        store(found, 8 * p, load(args, 8 * p) if p < given else 0)
    if names == 0:
        return _FITS
    for j in range(load(names, layouts.LENGTH)):
        name, p = load(names, layouts.ITEMS + 8 * j), given
        while p < count and load(plan, 8 * (_NAMES + _A_PARAMETER * p)) != name:
            p += 1
        if p == count or load(found, 8 * p) != 0:
            return _FAILS
        store(found, 8 * p, load(args, 8 * (given + j)))
    return _FITS


@inlined
def _made_ready(plan: int, pair: int, item: int) -> int:
    """What a list or tuple of the very items that a pair begins with became.

    The item itself if it is no sequence, 0 if it is another one.
    """
    kind = load(item, layouts.CLASS)
    if kind == load(plan, 8 * LIST):
        items = load(item, layouts.LIST_ITEMS)
    elif kind == load(plan, 8 * TUPLE):
        items = item + layouts.ITEMS
    else:
        return item
    known, count = load(pair, layouts.ITEMS), load(item, layouts.LENGTH)
    if load(known, layouts.LENGTH) != count:
        return 0
    for k in range(count):
        if load(items, 8 * k) != load(known, layouts.ITEMS + 8 * k):
            return 0
    return load(pair, layouts.ITEMS + 8)


@inlined
def _are_of_their_classes(plan: int, found: int) -> int:
    """Whether what is no array is of its class, once sequences are what they were made ready as."""
    for p in range(load(plan, 8 * PARAMETERS)):
        row = plan + 8 * (_NAMES + _A_PARAMETER * p)
        first = load(row, 8 * FIRST_CLASS)
        if first != 0:
            item = load(found, 8 * p)
            slot = load(row, 8 * READY_SLOT)
            if item != 0 and slot != 0:
                pair = load(load(found, 8 * load(row, 8 * READY_IN)), slot)
                item = _made_ready(plan, pair, item)
                store(found, 8 * p, item)
            if item == 0:
                return _FAILS
            own = load(item, layouts.CLASS)
            if own != first and own != load(row, 8 * SECOND_CLASS):
                return _FAILS
    return _FITS


@inlined
def _argument(row: int, found: int) -> int:
    """What stands where a row says; 0 where nothing does."""
    constant = load(row, 8 * CONSTANT)
    if constant != 0:
        return constant
    item = load(found, 8 * load(row, 8 * FROM))
    if item == 0:
        return item
    slot = load(row, 8 * FIRST_SLOT)
    if slot != 0:
        item = load(item, slot)
        slot = load(row, 8 * SECOND_SLOT)
        if slot != 0 and item != 0:
            item = load(item, slot)
    return item


@inlined
def _fits(plan: int, row: int, item: int) -> bool:
    """Whether an object is an array of the kind that a row says."""
    return (
        load(item, layouts.CLASS) == load(plan, 8 * NDARRAY)
        and load(item, layouts.DTYPE) == load(row, 8 * OF_DTYPE)
        and load_int(item, layouts.NDIM) == load(row, 8 * OF_NDIM)
        and load_int(item, layouts.FLAGS) & layouts.CARRAY == layouts.CARRAY
    )


@inlined
def _made(plan: int, items: int) -> int:
    """A new array for the result; 0, and an exception of Python's, where there is no memory."""
    ndim, shape = load(plan, 8 * DIMENSIONS), room(MOST_DIMENSIONS)
    for d in range(ndim):
        row = plan + 8 * (_SHAPE + _A_DIMENSION * d)
        argument, size = load(row, 8 * OF_ARGUMENT), load(row, 8 * TIMES)
        if argument != FIXED:
            size *= load(load(load(items, 8 * argument), layouts.DIMS), 0)
        store(shape, 8 * d, size)
    new, kind = load(plan, 8 * NEW), load(plan, 8 * NDARRAY)
    return new_array(new, kind, ndim, shape, load(plan, 8 * FLOATS))


@inlined
def _gather(plan: int, found: int, items: int) -> int:
    """Find the kernel's arguments, all arrays of their kind; 0 for the last if it is to be made."""
    last = load(plan, 8 * ARGUMENTS) - 1
    for k in range(last + 1):
        row = plan + 8 * (_SOURCES + _A_SOURCE * k)
        item = _argument(row, found)
        store(items, 8 * k, item)
        if item == 0:
            return _FITS if k == last and load(plan, 8 * DIMENSIONS) > 0 else _FAILS
        if not _fits(plan, row, item):
            return _FAILS
    return _FITS


@inlined
def _answered(plan: int, entry: int, items: int) -> int:
    """The result of the kernel, or its status as a number; 0 where the kernel refused."""
    place = 8 * (load(plan, 8 * ARGUMENTS) - 1)
    result = load(items, place)
    fresh = result == 0
    if fresh:
        result = _made(plan, items)
        if result == 0:
            return _NO_MEMORY
        store(items, place, result)
    status = enter(entry, items)
    if load(plan, 8 * GIVES_STATUS) != 0:
        return call(load(plan, 8 * NUMBER), (status,))
    if status != 0:
        if fresh:
            call(load(plan, 8 * DROP), (result,))
        return 0
    if not fresh:
        call(load(plan, 8 * KEEP), (result,))
    return result


@entry_in_c
def enter_by_plan(owner: int, args: int, given: int, names: int) -> int:
    """What a door is in machine code: a `PyCFunctionFastWithKeywords`."""
    plan = load(load(owner, layouts.PLAN), layouts.DATA)
    found, items = room(MOST_PARAMETERS), room(MOST_ARGUMENTS)
    entry, result = load(plan, 8 * ENTRY), 0
    if (
        entry != 0
        and _bind(plan, args, given, names, found) == _FITS
        and _are_of_their_classes(plan, found) == _FITS
        and _gather(plan, found, items) == _FITS
    ):
        result = _answered(plan, entry, items)
    if result == _NO_MEMORY:
        return 0
    if result != 0:
        return result
    return call(load(plan, 8 * CALL), (load(plan, 8 * CAREFUL), args, given, names))
