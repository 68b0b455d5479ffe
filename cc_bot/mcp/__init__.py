"""Servers with tools that the operator names: their file, the client that calls them, supervision.

Nothing of the library is imported before a file names a server: `server` and `schemas` need it, and whoever
needs those imports them then.
"""
