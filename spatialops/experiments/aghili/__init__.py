"""Experiments with energy-optimal control under friction cones ([A]): docs/projection.md."""
