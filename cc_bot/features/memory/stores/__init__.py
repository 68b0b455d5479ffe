"""Stores of a user's memories: rows, search, changes, erasure and limits."""
