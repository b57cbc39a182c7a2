"""Compiled code: its decorators, the way into it, and stages that are compiled apart."""
