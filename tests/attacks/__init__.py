"""Attacks on the whole program, as somebody would try them who wants it to fail."""
