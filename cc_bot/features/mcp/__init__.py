"""MCP servers that the operator configures. The library is imported only if one is configured: only `server`
and the modules below it need it."""
