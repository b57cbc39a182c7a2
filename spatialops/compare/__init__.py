"""Formulations of the same contact problem side by side: sizes, agreement and timings."""
