"""Tools of MCP servers. Only `server` and the modules below it import the library, and only if the operator's
file names a server."""
