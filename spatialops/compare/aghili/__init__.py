"""Experiments with energy-optimal control under friction cones ([A]): what docs/projection.md reports."""
