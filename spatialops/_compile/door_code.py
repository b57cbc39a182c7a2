"""The machine code behind doors: a built-in function that reads its plan, and calls a kernel.

One piece of code serves all doors. What differs stands in the door's plan, an array of words: the
names of the parameters and the classes they must be of, where the kernel's arguments are found in
them, and what kind of array each must be. At the first thing that is otherwise, the careful
function, which is Python, is called with what was given. Nothing is read but what
`layouts.faults` has looked at, and nothing is kept.
"""

from __future__ import annotations

from spatialops._compile import door_plan as at
from spatialops._compile import layouts
from spatialops._compile.door_plan import MOST_ARGUMENTS, MOST_DIMENSIONS, MOST_PARAMETERS
from spatialops._compile.jit import entry_in_c, inlined
from spatialops._compile.words import (
    call,
    enter,
    load,
    load_int,
    new_array,
    new_float,
    room,
    store,
)

_FITS, _FAILS = 1, 0
_NO_MEMORY = -1  # no object is there; an exception of Python's is set


@inlined
def _bind(plan: int, args: int, given: int, names: int, found: int) -> int:
    """Find the parameters among what was given; those that were not are 0."""
    count = load(plan, 8 * at.PARAMETERS)
    if given > load(plan, 8 * at.POSITIONAL):
        return _FAILS
    for p in range(count):
        store(found, 8 * p, load(args, 8 * p) if p < given else 0)
    if names == 0:
        return _FITS
    for j in range(load(names, layouts.LENGTH)):
        name, p = load(names, layouts.ITEMS + 8 * j), given
        while p < count and load(plan, 8 * (at.NAMES + at.A_PARAMETER * p)) != name:
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
    if kind == load(plan, 8 * at.LIST):
        items = load(item, layouts.LIST_ITEMS)
    elif kind == load(plan, 8 * at.TUPLE):
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
    for p in range(load(plan, 8 * at.PARAMETERS)):
        row = plan + 8 * (at.NAMES + at.A_PARAMETER * p)
        first = load(row, 8 * at.FIRST_CLASS)
        if first != 0:
            item = load(found, 8 * p)
            slot = load(row, 8 * at.READY_SLOT)
            if item != 0 and slot != 0:
                pair = load(load(found, 8 * load(row, 8 * at.READY_IN)), slot)
                item = _made_ready(plan, pair, item)
                store(found, 8 * p, item)
            if item == 0:
                return _FAILS
            own = load(item, layouts.CLASS)
            if own != first and own != load(row, 8 * at.SECOND_CLASS):
                return _FAILS
    return _FITS


@inlined
def _argument(row: int, found: int) -> int:
    """What stands where a row says; 0 where nothing does."""
    constant = load(row, 8 * at.CONSTANT)
    if constant != 0:
        return constant
    place = load(row, 8 * at.FROM)
    if place == at.NOWHERE:
        return 0
    item = load(found, 8 * place)
    if item == 0:
        return item
    slot = load(row, 8 * at.FIRST_SLOT)
    if slot != 0:
        item = load(item, slot)
        slot = load(row, 8 * at.SECOND_SLOT)
        if slot != 0 and item != 0:
            item = load(item, slot)
    return item


@inlined
def _fits(plan: int, row: int, item: int) -> bool:
    """Whether an object is an array of the kind that a row says."""
    return (
        load(item, layouts.CLASS) == load(plan, 8 * at.NDARRAY)
        and load(item, layouts.DTYPE) == load(row, 8 * at.OF_DTYPE)
        and load_int(item, layouts.NDIM) == load(row, 8 * at.OF_NDIM)
        and load_int(item, layouts.FLAGS) & layouts.CARRAY == layouts.CARRAY
    )


@inlined
def _made(plan: int, items: int, r: int) -> int:
    """A new array for result r; 0, and an exception of Python's, where there is no memory."""
    own = plan + 8 * (at.SHAPES + at.A_SHAPE * r)
    ndim, shape = load(own, 0), room(MOST_DIMENSIONS)
    for d in range(ndim):
        row = own + 8 * (1 + at.A_DIMENSION * d)
        argument, size = load(row, 8 * at.OF_ARGUMENT), load(row, 8 * at.TIMES)
        if argument != at.FIXED:
            size *= load(load(load(items, 8 * argument), layouts.DIMS), 0)
        store(shape, 8 * d, size)
    new, kind = load(plan, 8 * at.NEW), load(plan, 8 * at.NDARRAY)
    return new_array(new, kind, ndim, shape, load(plan, 8 * at.FLOATS))


@inlined
def _gather(plan: int, found: int, items: int) -> int:
    """Find the kernel's arguments, all arrays of their kind; 0 for results that are to be made."""
    count = load(plan, 8 * at.ARGUMENTS)
    first = count - load(plan, 8 * at.RESULTS)
    for k in range(count):
        row = plan + 8 * (at.SOURCES + at.A_SOURCE * k)
        item = _argument(row, found)
        store(items, 8 * k, item)
        if item == 0:
            if k < first:
                return _FAILS
        elif not _fits(plan, row, item):
            return _FAILS
    return _FITS


@inlined
def _drop(plan: int, results: int, count: int) -> None:
    """Let go of the first results."""
    for r in range(count):
        call(load(plan, 8 * at.DROP), (load(results, 8 * r),))


@inlined
def _make(plan: int, items: int, results: int) -> int:
    """Make the results that were not given, which all are or none is; how many."""
    made = 0
    for r in range(load(plan, 8 * at.RESULTS)):
        if load(results, 8 * r) == 0:
            new = _made(plan, items, r)
            if new == 0:
                _drop(plan, results, made)
                return _NO_MEMORY
            store(results, 8 * r, new)
            made += 1
    return made


@inlined
def _put_numbers(plan: int, pair: int, array: int) -> int:
    """The numbers of an array into a tuple, as floats."""
    numbers, count = load(array, layouts.DATA), load(load(array, layouts.DIMS), 0)
    for j in range(count):
        number = new_float(load(plan, 8 * at.FLOAT), load(numbers, 8 * j))
        if number == 0:
            return _FAILS
        call(load(plan, 8 * at.PUT), (pair, j, number))
    return _FITS


@inlined
def _tuple_of(plan: int, results: int) -> int:
    """A tuple of its class: of arrays that were made, or of the numbers of the only one.

    The arrays are its own from then on, or gone. It is made as `tuple.__new__` makes one, which
    would want another tuple, and take 50 ns more.
    """
    count = load(plan, 8 * at.RESULTS)
    only = load(results, 0)
    size = load(load(only, layouts.DIMS), 0) if count == 1 else count
    made = call(load(plan, 8 * at.TAKE), (load(plan, 8 * at.GIVES), size))
    if made == 0:
        _drop(plan, results, count)
        return _NO_MEMORY
    if layouts.HASH != 0:
        store(made, layouts.HASH, -1)
    if count > 1:
        for r in range(count):
            call(load(plan, 8 * at.PUT), (made, r, load(results, 8 * r)))
        return made
    fits = _put_numbers(plan, made, only)
    _drop(plan, results, 1)
    if fits == _FITS:
        return made
    call(load(plan, 8 * at.DROP), (made,))
    return _NO_MEMORY


@inlined
def _answered(plan: int, entry: int, items: int) -> int:
    """The result of the kernel, or its status as a number; 0 where the kernel refused."""
    count = load(plan, 8 * at.RESULTS)
    results = items + 8 * (load(plan, 8 * at.ARGUMENTS) - count)
    made = _make(plan, items, results)
    if made < 0:
        return made
    status = enter(entry, items)
    if load(plan, 8 * at.GIVES_STATUS) != 0:
        return call(load(plan, 8 * at.NUMBER), (status,))
    if status != 0:
        _drop(plan, results, made)
        return 0
    if load(plan, 8 * at.GIVES) != 0:
        return _tuple_of(plan, results)
    result = load(results, 8 * (count - 1))
    if made == 0:
        call(load(plan, 8 * at.KEEP), (result,))
    return result


@entry_in_c
def enter_by_plan(owner: int, args: int, given: int, names: int) -> int:
    """What a door is in machine code: a `PyCFunctionFastWithKeywords`."""
    plan = load(load(owner, layouts.PLAN), layouts.DATA)
    found, items = room(MOST_PARAMETERS), room(MOST_ARGUMENTS)
    entry, result = load(plan, 8 * at.ENTRY), 0
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
    return call(load(plan, 8 * at.CALL), (load(plan, 8 * at.CAREFUL), args, given, names))
