"""The lightbulb extensions, one for each command group and with a loader of its own.

An extension reads options, calls one method and sends one answer; what it needs arrives as typed parameters.
"""
