"""Compiled code: its decorators, the way into it, and what is compiled apart."""
