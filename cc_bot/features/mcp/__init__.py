"""Tools of MCP servers. Only `server` and the modules that it needs import the MCP library, and only if the
operator's file names a server."""
