"""MCP tools: their descriptions, where they are offered, and results."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from cc_bot.domain.message import Attachment

SEPARATOR: Final = "__"
"""Between the server's and the tool's name in the model's name for a tool."""

MAX_NAME_LENGTH: Final = 64
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")

Approvers = Literal["asker", "owners"]
"""Who approves a pending call."""


def is_of_server(name: str) -> bool:
    return SEPARATOR in name


def full_name(server: str, name: str) -> str:
    """Return the model's name for a tool, of allowed characters only. A name without any (such as a Japanese
    one) becomes a digest."""
    own = _NO_NAME.sub("_", name)
    if name and not own.strip("_-"):
        own = f"t_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return f"{_NO_NAME.sub('_', server)}{SEPARATOR}{own}"


def find_missing(named: Iterable[str], known: Mapping[str, Sequence[str] | None]) -> tuple[str, ...]:
    """Return the names and patterns that match no tool. `known`: the tools by server; None: unknown."""
    there = [full_name(server, name) for server, names in known.items() for name in names or ()]
    untold = [full_name(server, "") for server, names in known.items() if names is None]
    return tuple(
        each
        for each in sorted(named)
        if is_of_server(each)
        and not any(fnmatchcase(name, each) for name in there)
        and not any(each.startswith(prefix) for prefix in untold)
    )


@dataclass(frozen=True, slots=True)
class ToolPlace:
    """The user and channel of a turn."""

    user_id: int
    channel_ids: tuple[int, ...] = ()
    """The channel, and a thread's parent."""
    guild_id: int | None = None
    role_ids: tuple[int, ...] | None = ()


@dataclass(frozen=True, slots=True)
class OfferedTool:
    server: str
    name: str
    description: str
    parameters: Mapping[str, Any] = field(hash=False)
    read_only: bool
    open_world: bool
    """True if a call may reach beyond its server. False only if the operator says so, or the server does and
    an owner accepted that.
    """
    waits: bool
    approvers: Approvers = "asker"
    most_calls: int = 8
    """Per turn, for all tools of its server."""
    for_roles: bool = False
    """True if it is limited to certain roles, although others may read its results."""

    @property
    def full_name(self) -> str:
        return full_name(self.server, self.name)

    def missing(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the missing required arguments. The server validates all else."""
        return tuple(name for name in self.parameters.get("required", ()) if name not in arguments)


@dataclass(frozen=True, slots=True)
class ServerResult:
    text: str
    ok: bool = True
    images: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredToolList:
    seen: str
    accepted: str = ""
    """The list accepted by an owner; empty before that."""

    @property
    def waits(self) -> bool:
        return (self.accepted or "[]") != self.seen

    @property
    def code(self) -> str:
        """Return a digest of exactly this list: short enough to copy, long enough not to collide."""
        return hashlib.sha256(self.seen.encode("utf-8", "surrogatepass")).hexdigest()[:16]


ToolStatus = Literal["offered", "new", "changed", "gone", "left_out", "unnamed"]
"""New, changed and gone tools await an owner; a left-out tool is unusable for models, an unnamed one not
allowed by the operator's file."""
HELD_BACK: Final = frozenset[ToolStatus]({"new", "changed", "gone"})


@dataclass(frozen=True, slots=True)
class ToolWording:
    description: str
    schema: str
    read_only: bool
    waits: bool
    open_world: bool = True


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """A tool as an owner reviews it."""

    full_name: str
    status: ToolStatus
    now: ToolWording | None
    """None if its server no longer has it."""
    agreed: ToolWording | None


LeftOutReason = Literal["alike", "long_name", "too_large", "no_schema", "no_object"]


@dataclass(frozen=True, slots=True)
class LeftOutTool:
    """A tool that no model can use."""

    name: str
    reason: LeftOutReason


ToolServerState = Literal["starting", "ready", "away", "over_budget"]


ToolServerProblemKind = Literal["ended", "refused", "late", "closed", "error"]


@dataclass(frozen=True, slots=True)
class ToolServerProblem:
    """Why a server is unavailable."""

    kind: ToolServerProblemKind
    detail: str = ""
    """Exit code or type of an error."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.detail)))


@dataclass(frozen=True, slots=True)
class ToolServerReport:
    server: str
    state: ToolServerState
    tools: int
    tokens: int
    calls: int = 0
    failures: int = 0
    withheld: tuple[str, ...] = ()
    """New, changed or gone, and not accepted by an owner."""
    left_out: tuple[LeftOutTool, ...] = ()
    problem: ToolServerProblem | None = None
    code: str = ""
    """Accepts the current tools; empty if nothing awaits acceptance."""
