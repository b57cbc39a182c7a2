"""Derivatives of steps from event to event."""
