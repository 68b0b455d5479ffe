"""One lightbulb extension per command group, each with a loader of its own.

An extension reads options, calls one method and sends one answer; what it needs arrives as typed parameters.
"""
