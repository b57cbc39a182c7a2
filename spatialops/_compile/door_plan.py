"""What the words of a door's plan say: an array that one piece of machine code goes by."""

from __future__ import annotations

MOST_PARAMETERS = 11
MOST_ARGUMENTS = 11
MOST_RESULTS = 2
MOST_DIMENSIONS = 3

# Words of a plan. First what there is once:
ENTRY = 0  # address of the kernel; 0 while it is not compiled
CAREFUL = 1  # the Python function
CALL = 2  # functions of C: PyObject_Vectorcall,
KEEP = 3  # Py_IncRef,
DROP = 4  # Py_DecRef,
NUMBER = 5  # PyLong_FromSsize_t,
NEW = 6  # PyArray_New,
TAKE = 7  # PyType_GenericAlloc,
PUT = 8  # PyTuple_SetItem,
FLOAT = 9  # PyFloat_FromDouble
NDARRAY = 10  # NumPy's class
FLOATS = 11  # NumPy's number of float64
LIST = 12  # Python's classes
TUPLE = 13
PARAMETERS = 14  # how many there are,
POSITIONAL = 15  # and how many of them can be given without their names
ARGUMENTS = 16  # how many the kernel takes,
RESULTS = 17  # and how many of them, the last, are made where they are not given
GIVES = 18  # class of a tuple of these, or of the numbers in the only one; 0: the last is returned
GIVES_STATUS = 19  # whether the kernel's status is returned, and none of them
# then of every parameter
NAMES = 20
NAME = 0
FIRST_CLASS = 1  # of what is no array; 0 of what is
SECOND_CLASS = 2
READY_IN = 3  # the parameter before it that knows of what sequence it was made ready last,
READY_SLOT = 4  # and where: (the sequence, what it became); 0 where there is no such thing
A_PARAMETER = 5
# then of every argument of the kernel
SOURCES = NAMES + A_PARAMETER * MOST_PARAMETERS
FROM = 0  # the parameter that it is, or stands in; `NOWHERE` where it is always made
NOWHERE = -1
FIRST_SLOT = 1  # where it stands there; 0 where it is the parameter
SECOND_SLOT = 2
CONSTANT = 3  # it itself, where it is always the same
OF_DTYPE = 4
OF_NDIM = 5
A_SOURCE = 6
# and of every result the number of its dimensions, and of each of them
SHAPES = SOURCES + A_SOURCE * MOST_ARGUMENTS
OF_ARGUMENT = 0  # rows of which argument; `FIXED` where it is always the same
TIMES = 1  # and how many for each
FIXED = -1
A_DIMENSION = 2
A_SHAPE = 1 + A_DIMENSION * MOST_DIMENSIONS
WORDS = SHAPES + A_SHAPE * MOST_RESULTS


def name_place(p: int) -> int:
    """Where the row of parameter p begins in a plan."""
    return NAMES + A_PARAMETER * p


def source_place(k: int) -> int:
    """Where the row of the kernel's argument k begins."""
    return SOURCES + A_SOURCE * k


def shape_place(r: int) -> int:
    """Where the number of dimensions of result r is."""
    return SHAPES + A_SHAPE * r


def dimension_place(r: int, d: int) -> int:
    """Where the row of its dimension d begins."""
    return shape_place(r) + 1 + A_DIMENSION * d
