"""Stores of memories: rows, search, removal and limits."""
