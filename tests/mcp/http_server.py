"""A server of the library with tools, over HTTP: `python tests/mcp/http_server.py PORT`."""

import sys

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("notes")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Say the text again."""
    return text


@server.tool()
def write(text: str) -> str:
    """Write the text down."""
    return f"{len(text)} characters"


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
