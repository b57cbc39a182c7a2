"""What controllers share: an explanation of the last command, and none before the first."""

import numpy as np
import pytest

from spatialops.control.controller import ExplainedController, Explanation
from spatialops.errors import ArgumentError


def test_an_explanation_needs_only_command_demand_and_prediction():
    told = Explanation(np.ones(2), np.zeros(2), np.zeros(2))
    assert told.status == "solved"
    assert told.forces.shape == (0, 3)
    assert told.notes == ()
    with pytest.raises(AttributeError):
        told.status = "held"


def test_there_is_no_explanation_before_the_first_command():
    controller = ExplainedController()
    with pytest.raises(ArgumentError, match="there has been no command yet"):
        controller.explain()
    controller._explanation = told = Explanation(np.ones(2), np.zeros(2), np.zeros(2))
    assert controller.explain() is told
    with pytest.raises(ArgumentError, match="no command"):
        ExplainedController().explain()  # each has its own
