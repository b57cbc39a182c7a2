"""Scenes whose answer is a formula, each with the errors that are read from it."""
