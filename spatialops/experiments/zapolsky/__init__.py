"""The experiments of Zapolsky and Drumwright: a trotting quadruped, a gripping arm, costs."""
