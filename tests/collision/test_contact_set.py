"""Contacts out of the kernels' tables: a copy, whose columns are made when they are asked for."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from spatialops.collision import ContactSet
from spatialops.collision import _layout as col


@pytest.fixture
def tables():
    rng = np.random.default_rng(1)
    ints = rng.integers(0, 9, (3, col.CONTACT_INTS))
    return ints, rng.normal(size=(3, col.CONTACT_COLUMNS))


def test_columns_stay_what_they_were(tables):
    ints, floats = tables
    early, late = (ContactSet.from_tables(ints, floats) for _ in range(2))
    expected = [np.array(getattr(early, item.name)) for item in fields(ContactSet)]
    ints[:] = 0
    floats[:] = 0.0
    for item, values in zip(fields(ContactSet), expected):
        np.testing.assert_array_equal(getattr(late, item.name), values)
    assert len(late) == 3
    assert late.frames.shape == (3, 3, 3)
    np.testing.assert_array_equal(
        late.world_impulses, np.einsum("mi,mij->mj", late.impulses, late.frames)
    )


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_it_is_copied_and_sent(tables, copied):
    contacts = ContactSet.from_tables(*tables)
    other = copied(contacts)
    np.testing.assert_array_equal(other.gaps, contacts.gaps)
    wider = replace(other, gaps=other.gaps + 1.0)
    np.testing.assert_array_equal(wider.gaps, contacts.gaps + 1.0)
    np.testing.assert_array_equal(wider.positions, contacts.positions)


def test_what_it_has_not_is_refused(tables):
    contacts = ContactSet.from_tables(*tables)
    with pytest.raises(AttributeError, match="'depths'"):
        contacts.depths
    assert not hasattr(contacts, "_tables_of")


def test_tables_of_contacts_that_were_made_by_hand_say_the_same(tables):
    contacts = ContactSet.from_tables(*tables)
    given = {field.name: getattr(contacts, field.name) for field in fields(contacts)}
    by_hand = ContactSet(**given)
    again = ContactSet.from_tables(*by_hand.tables())
    for name, values in given.items():
        assert np.array_equal(getattr(again, name), values), name
    own = contacts.tables()
    assert np.array_equal(own.floats, tables[1])
    assert np.array_equal(by_hand.tables().floats[:, : col.DRIFT], own.floats[:, : col.DRIFT])
