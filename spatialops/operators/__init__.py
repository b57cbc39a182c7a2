"""Spatial operators as objects: what the appendix of [J] writes, as lines of code."""

from spatialops.algebra.linear import dense
from spatialops.operators.sensitivities import Sensitivities
from spatialops.operators.spatial_operator import SpatialOperator, identity
from spatialops.operators.spatial_operators import SpatialOperators

__all__ = ["Sensitivities", "SpatialOperator", "SpatialOperators", "dense", "identity"]
