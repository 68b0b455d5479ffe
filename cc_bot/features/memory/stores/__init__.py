"""The memories of a user: rows, search, changes, erasure, limits and files."""
