"""A server of the library, in the newest protocol over stdio, that sends a form before it answers."""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("asking")


class Guest(BaseModel):
    name: str = Field(title="お名前")
    guests: int = Field(title="人数", ge=1, le=9)


def ask() -> Elicit[Guest]:
    return Elicit("どなたですか", Guest)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def book(day: str, guest: Annotated[Guest, Resolve(ask)]) -> str:
    """Book a table."""
    return f"{day}: {guest.name}, {guest.guests}"


if __name__ == "__main__":
    server.run("stdio")
