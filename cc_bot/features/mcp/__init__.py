"""MCP servers that the operator configures. Only `server` and the modules below it import the library, and
only if a server is configured."""
