"""Smooth motion from event to event: what happens is met at its time."""
