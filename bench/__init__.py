"""Measurements, each a script of its own: what is fast enough stands in them as a goal."""
