"""The experiments of Zapolsky and Drumwright: a trotting quadruped, a gripping arm, and what it costs."""
