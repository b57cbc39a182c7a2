"""Scenes written as robot files."""
