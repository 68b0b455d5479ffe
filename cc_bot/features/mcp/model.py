"""MCP servers: their tools, where they are offered, results, and the forms in which they ask users.

Forms never ask for secrets, and entries are not stored.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from cc_bot.domain.errors import (
    FieldEmpty,
    FieldLengthOutOfBounds,
    FieldNotAChoice,
    FieldNotANumber,
    FieldNotAWholeNumber,
    FieldNotYesOrNo,
    FieldOutOfBounds,
    InputError,
)
from cc_bot.domain.forms import Form, FormField
from cc_bot.domain.message import Attachment
from cc_bot.domain.proposal import Approvers
from cc_bot.domain.text import shorten
from cc_bot.domain.tool_calls import SEPARATOR, is_of_server
from cc_bot.llm.model import ToolSchema

MAX_NAME_LENGTH: Final = 64
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")


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
    needs_approval: bool
    approvers: Approvers = "asker"
    most_calls: int = 8
    """Per turn, for all tools of its server."""
    for_roles: bool = False
    """True if it is limited to certain roles, although others may read its results."""

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


ToolStatus = Literal["offered", "new", "changed", "gone", "left_out", "not_allowed"]
"""new, changed, gone: awaits an owner. left_out: unusable for models. not_allowed: by the operator's file."""
AWAITING_OWNER: Final = frozenset[ToolStatus]({"new", "changed", "gone"})


LeftOutReason = Literal["duplicate_name", "long_name", "too_large", "no_schema", "no_object"]


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as its server lists it, with bounded texts."""

    name: str
    description: str
    schema: str
    read_only: bool
    digest: str
    """Hash of all the server's fields except `open_world`."""
    open_world: bool = True
    """False if the server declares that calls reach nothing outside of the server (`openWorldHint`)."""


@dataclass(frozen=True, slots=True)
class ReviewedTool:
    """A tool that its server lists, or that an owner accepted."""

    name: str
    status: ToolStatus
    listed: RemoteTool | None
    accepted: RemoteTool | None
    left_out_reason: LeftOutReason | None = None


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


MAX_FIELDS: Final = 5
MAX_ENTRY_LENGTH: Final = 4000
MAX_CHOICES_LENGTH: Final = 1000
"""In an error."""
OPEN_FOR_S: Final = 300
MAX_NUMBER: Final = 1e15
"""Floats are exact integers up to here."""

FieldValue = str | int | float | bool


_YES: Final = "yes y true on 1 はい うん する します ok オーケー 有効 ○ ◯"
_NO: Final = "no n false off 0 いいえ いや しない しません 無効 × x"
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d{0,20})?")
"""Elsewhere a comma may be a decimal point."""
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})")


def read_form(form: Form, entered: Mapping[str, str]) -> Mapping[str, FieldValue]:
    """Return the values; empty fields have none. Raises an InputError for the first invalid one."""
    found = {field.name: _read(field, entered.get(field.name, "").strip()) for field in form.fields}
    return {name: value for name, value in found.items() if value is not None}


def _read(field: FormField, text: str) -> FieldValue | None:
    if not text:
        if field.required:
            raise FieldEmpty(name=field.title)
        return None
    match field.kind:
        case "choice":
            return _choice(field, text)
        case "yes_or_no":
            if (folded := _fold(text)) not in (*_YES.split(), *_NO.split()):
                raise FieldNotYesOrNo(name=field.title)
            return folded in _YES.split()
        case "number" | "whole":
            return _number(field, text)
        case "text":
            _check_bounds(field, len(text), FieldLengthOutOfBounds)
            return text


def _choice(field: FormField, text: str) -> str:
    """Labels before values, exact before folded."""
    for fold in (str.strip, _fold):
        for shown in (True, False):
            called = [(fold(each.label if shown else each.value), each.value) for each in field.choices]
            if len(found := [value for name, value in called if name == fold(text)]) == 1:
                return found[0]
    known = shorten(" / ".join(choice.label for choice in field.choices), MAX_CHOICES_LENGTH)
    raise FieldNotAChoice(name=field.title, known=known)


def _number(field: FormField, text: str) -> int | float:
    plain = _fold(text).replace("−", "-")
    if _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    wrong = FieldNotAWholeNumber if field.kind == "whole" else FieldNotANumber
    if not _NUMBER.fullmatch(plain) or abs(value := float(plain)) > MAX_NUMBER:
        raise wrong(name=field.title)
    if field.kind == "whole":
        if not value.is_integer():
            raise wrong(name=field.title)
        value = int(value)
    _check_bounds(field, value)
    return value


def _check_bounds(field: FormField, number: float, wrong: type[InputError] = FieldOutOfBounds) -> None:
    least, most = field.least, field.most
    if (least is None or number >= least) and (most is None or number <= most):
        return
    bounds = ("" if bound is None else f"{bound:.15g}" for bound in (least, most))
    raise wrong(name=field.title, expected="–".join(bounds))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()
