"""Attacks on the whole program, scripted; `make test-faults` runs them."""
