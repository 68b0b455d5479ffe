"""The lightbulb extensions, one with its own loader per command group.

An extension reads options, calls one method and sends one reply; dependencies are injected as typed
parameters.
"""
