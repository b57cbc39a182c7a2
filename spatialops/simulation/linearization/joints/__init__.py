"""Stops and dry friction of joints that act."""
