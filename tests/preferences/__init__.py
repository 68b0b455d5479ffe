"""Tests of a user's own choices."""
