"""The derivative of one step: the smooth part in closed form, contacts at their statuses."""
