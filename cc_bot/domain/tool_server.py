"""Tools of servers that the operator names: what they are, where they are used, and what comes of a call."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from cc_bot.domain.message import Attachment

SEPARATOR: Final = "__"
"""Between the name of a server and that of its tool, in the name that the model calls it by."""

MAX_NAME_LENGTH: Final = 64
"""Characters of that name."""
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")

Approvers = Literal["asker", "owners"]
"""Who decides on a call that waits."""


def is_of_server(name: str) -> bool:
    """Return whether the model calls a tool of a server by this name."""
    return SEPARATOR in name


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of a server, as a model is offered it."""

    server: str
    name: str
    """As its server calls it."""
    description: str
    parameters: Mapping[str, Any] = field(hash=False)
    """Of its arguments, a JSON schema that models take."""
    read_only: bool = False
    """Whether its server says that it changes nothing."""
    open_world: bool = True
    """Whether a call may reach anything beyond its server. False only where the operator says so, or the
    server does and an owner has accepted that."""

    called: str = ""
    """The name that the model calls a tool of our own by."""

    @property
    def full_name(self) -> str:
        """The name that the model calls it by: models take no other signs in one. Of a name in which no sign
        is left, as of a Japanese one, a digest stands there: it tells two of them apart."""
        if self.called:
            return self.called
        server, own = _NO_NAME.sub("_", self.server), _NO_NAME.sub("_", self.name)
        if self.name and not own.strip("_-"):
            own = f"t_{hashlib.sha256(self.name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        return f"{server}{SEPARATOR}{own}"

    def missing(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of required arguments that are not there. Servers check all else themselves."""
        return tuple(name for name in self.parameters.get("required", ()) if name not in arguments)


def find_missing(named: Iterable[str], known: Mapping[str, Sequence[str] | None]) -> tuple[str, ...]:
    """Return those names, or patterns of names, that no tool of a server has. `known` are the tools by
    server; None: nobody can tell."""
    there = [
        ServerTool(server, name, "", {}).full_name for server, names in known.items() for name in names or ()
    ]
    untold = [ServerTool(server, "", "", {}).full_name for server, names in known.items() if names is None]
    return tuple(
        each
        for each in sorted(named)
        if is_of_server(each)
        and not any(fnmatchcase(name, each) for name in there)
        and not any(each.startswith(prefix) for prefix in untold)
    )


@dataclass(frozen=True, slots=True)
class ToolPlace:
    """The user and the place of a turn: what decides which tools of servers a turn has."""

    user_id: int
    channel_ids: tuple[int, ...] = ()
    """The channel, and the one that a thread of it belongs to."""
    guild_id: int | None = None
    """None in a DM, and outside of Discord."""
    role_ids: tuple[int, ...] | None = ()
    """None where nobody tells."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of a server in one place."""

    tool: ServerTool
    waits: bool
    """Whether its call is made only when somebody presses."""
    approvers: Approvers = "asker"
    most_calls: int = 8
    """Of all tools of its server in one turn."""
    for_roles: bool = False
    """Whether it is for those with certain roles alone: others may read what comes of it."""


@dataclass(frozen=True, slots=True)
class ServerResult:
    """The outcome of a call, as its server gave it, cut to what may be told."""

    text: str
    ok: bool = True
    images: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredToolList:
    """The tools of a server as JSON."""

    seen: str
    """Those that it listed last."""
    accepted: str = ""
    """Those that an owner has accepted; empty before that."""

    @property
    def waits(self) -> bool:
        """Return whether there is anything that no owner has accepted."""
        return (self.accepted or "[]") != self.seen

    @property
    def code(self) -> str:
        """What an owner who has read the list names it by: short enough to copy, too long to collide."""
        return hashlib.sha256(self.seen.encode("utf-8", "surrogatepass")).hexdigest()[:16]


ToolStatus = Literal["offered", "new", "changed", "gone", "left_out", "unnamed"]
"""Whether models are offered a tool. New, changed and gone ones wait for an owner; models can't use one that
is left out, and the operator's file does not allow unnamed ones."""
HELD_BACK: Final = frozenset[ToolStatus]({"new", "changed", "gone"})


@dataclass(frozen=True, slots=True)
class ToolWording:
    """What a server says about one of its tools."""

    description: str
    schema: str
    """Of its arguments, as JSON; empty if it is too large."""
    read_only: bool
    waits: bool
    """Whether a call needs approval."""
    open_world: bool = True
    """Whether a call may reach anything beyond its server."""


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """A tool of a server as an owner reads it: as it is now, and as it was accepted."""

    full_name: str
    status: ToolStatus
    now: ToolWording | None
    """None if its server no longer has it."""
    agreed: ToolWording | None
    """None if it was never accepted."""


LeftOutReason = Literal["alike", "long_name", "too_large", "no_schema", "no_object"]


@dataclass(frozen=True, slots=True)
class LeftOutTool:
    """A tool that no model can be offered."""

    name: str
    reason: LeftOutReason


ToolServerState = Literal["starting", "ready", "away", "over_budget"]


ToolServerProblemKind = Literal["ended", "refused", "late", "closed", "error"]


@dataclass(frozen=True, slots=True)
class ToolServerProblem:
    """The reason why a server is away."""

    kind: ToolServerProblemKind
    detail: str = ""
    """The exit code of a program, or the type of an error."""

    def __str__(self) -> str:
        """Write it for the log."""
        return " ".join(filter(None, (self.kind, self.detail)))


@dataclass(frozen=True, slots=True)
class ToolServerReport:
    """A server as its operator sees it."""

    server: str
    state: ToolServerState
    tools: int
    """Those that are offered."""
    tokens: int
    """What these take in a request."""
    calls: int = 0
    failures: int = 0
    withheld: tuple[str, ...] = ()
    """Tools that are new, changed or gone, and that no owner has accepted so."""
    left_out: tuple[LeftOutTool, ...] = ()
    problem: ToolServerProblem | None = None
    """Why it is away."""
    code: str = ""
    """The code that accepts its tools as they are now; empty if there is nothing to accept."""
