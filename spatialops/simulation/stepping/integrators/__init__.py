"""The smooth part of a step: from (q, v) over a time s, and to any fraction x of it.

`flow` is what the loop calls. `midpoint` is the default, with `past` (what it begins from),
`lone_bodies` and `floating_trees`; `runge_kutta` the classical rule; `accelerations` what all of
them evaluate, under the `joint_forces`.
"""
