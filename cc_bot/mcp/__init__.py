"""Servers with tools that the operator names: their file, the client that calls them, supervision.

The library is not imported before a file names a server: only `server` and the modules below it need it.
"""
