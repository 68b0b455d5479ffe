"""Tools of MCP servers, and their results."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from cc_bot.domain.message import Attachment
from cc_bot.domain.proposal import Approvers
from cc_bot.domain.tool_calls import SEPARATOR, is_server_tool
from cc_bot.llm.model import ToolSchema

MAX_NAME_LENGTH: Final = 64
_REFUSED_CHARACTER: Final = re.compile(r"[^A-Za-z0-9_-]")


def full_name(server: str, name: str) -> str:
    """Return a tool's name for models, with `_` for refused characters, or a digest if all are refused."""
    ascii_name = _REFUSED_CHARACTER.sub("_", name)
    if name and not ascii_name.strip("_-"):
        ascii_name = f"t_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return f"{_REFUSED_CHARACTER.sub('_', server)}{SEPARATOR}{ascii_name}"


def find_unknown_tools(patterns: Iterable[str], tools: Mapping[str, Sequence[str] | None]) -> Sequence[str]:
    """Return the patterns that match no tool. `tools`: names by server; None if they are unknown."""
    full_names = [full_name(server, name) for server, names in tools.items() for name in names or ()]
    unlisted = tuple(full_name(server, "") for server, names in tools.items() if names is None)
    return [
        pattern
        for pattern in sorted(filter(is_server_tool, patterns))
        if not any(fnmatchcase(name, pattern) for name in full_names) and not pattern.startswith(unlisted)
    ]


@dataclass(frozen=True, slots=True)
class OfferedTool:
    server: str
    name: str
    description: str
    parameters: Mapping[str, Any] = field(hash=False)
    read_only: bool
    open_world: bool
    """False if the server or the operator's file says that calls stay inside the server."""
    needs_approval: bool
    approvers: Approvers = "asker"
    max_calls: int = 8  # of all tools of the server in one turn
    is_role_restricted: bool = False

    @property
    def full_name(self) -> str:
        return full_name(self.server, self.name)

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema(self.full_name, self.description, self.parameters)


@dataclass(frozen=True, slots=True)
class ServerResult:
    text: str
    ok: bool = True
    images: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredToolList:
    """The last list of a server's tools, and the last that an owner accepted (empty: none)."""

    listed_json: str
    accepted_json: str = ""

    @property
    def awaits_owner(self) -> bool:
        return (self.accepted_json or "[]") != self.listed_json

    @property
    def code(self) -> str:
        """A digest of the list, which an owner enters to accept it."""
        return hashlib.sha256(self.listed_json.encode("utf-8", "surrogatepass")).hexdigest()[:16]


ToolStatus = Literal["offered", "new", "changed", "gone", "left_out", "not_allowed"]
"""`left_out`: no model can use it. `not_allowed`: excluded by the operator's file."""
AWAITING_OWNER: Final = frozenset[ToolStatus]({"new", "changed", "gone"})
LeftOutReason = Literal["duplicate_name", "long_name", "too_large", "no_schema", "no_object"]


@dataclass(frozen=True, slots=True)
class RemoteTool:
    name: str
    description: str
    schema: str  # JSON; empty if too long
    read_only: bool
    digest: str  # a hash of the fields above, before they are cut
    open_world: bool = True
    """False if the server declares that calls stay inside it (`openWorldHint`)."""


@dataclass(frozen=True, slots=True)
class ReviewedTool:
    name: str
    status: ToolStatus
    listed_version: RemoteTool | None  # None if the server no longer has it
    accepted_version: RemoteTool | None  # None if it is new
    left_out_reason: LeftOutReason | None = None


ToolServerState = Literal["starting", "ready", "away", "over_budget"]
ToolServerProblemKind = Literal["ended", "refused", "late", "closed", "error"]
"""`ended`: the program ended. `refused`, `closed`: the connection was. `late`: no answer came in time."""


@dataclass(frozen=True, slots=True)
class ToolServerProblem:
    kind: ToolServerProblemKind
    detail: str = ""  # an exit code, or an error's type

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.detail)))
