"""Tools of MCP servers, their results, and the entries of their forms."""

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from cc_bot.domain.errors import InputError
from cc_bot.domain.forms import Form, FormField
from cc_bot.domain.message import Attachment
from cc_bot.domain.proposal import Approvers
from cc_bot.domain.text import shorten
from cc_bot.domain.tool_calls import SEPARATOR, is_server_tool
from cc_bot.features.mcp.errors import (
    FieldEmpty,
    FieldLengthOutOfBounds,
    FieldNotAChoice,
    FieldNotANumber,
    FieldNotAWholeNumber,
    FieldNotYesOrNo,
    FieldOutOfBounds,
)
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


MAX_FIELDS: Final = 5
MAX_ENTRY_LENGTH: Final = 4000
MAX_CHOICES_LENGTH: Final = 1000
FORM_TIMEOUT_S: Final = 300
MAX_NUMBER: Final = 1e15  # floats represent all smaller integers

FieldValue = str | int | float | bool

_YES: Final = "yes y true on 1 はい うん する します ok オーケー 有効 ○ ◯"
_NO: Final = "no n false off 0 いいえ いや しない しません 無効 × x"
# Any other comma may be a decimal point.
_GROUPED_NUMBER: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d{0,20})?")
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})")


def read_form(form: Form, entries: Mapping[str, str]) -> Mapping[str, FieldValue]:
    """Return the values of the non-empty fields. Raises InputError."""
    values = {field.name: _read_field(field, entries.get(field.name, "").strip()) for field in form.fields}
    return {name: value for name, value in values.items() if value is not None}


def _read_field(field: FormField, text: str) -> FieldValue | None:
    if not text:
        if field.required:
            raise FieldEmpty(name=field.title)
        return None
    match field.kind:
        case "choice":
            return _find_choice(field, text)
        case "yes_or_no":
            answer = _fold(text)
            if answer not in (*_YES.split(), *_NO.split()):
                raise FieldNotYesOrNo(name=field.title)
            return answer in _YES.split()
        case "number" | "whole":
            return _parse_number(field, text)
        case "text":
            _check_bounds(field, len(text), FieldLengthOutOfBounds)
            return text


def _find_choice(field: FormField, text: str) -> str:
    """Prefer exact matches to others, then labels to values."""
    by_label = [(choice.label, choice.value) for choice in field.choices]
    by_value = [(choice.value, choice.value) for choice in field.choices]
    for normalize in (str.strip, _fold):
        for names_and_values in (by_label, by_value):
            matches = [value for name, value in names_and_values if normalize(name) == normalize(text)]
            if len(matches) == 1:
                return matches[0]
    labels = shorten(" / ".join(choice.label for choice in field.choices), MAX_CHOICES_LENGTH)
    raise FieldNotAChoice(name=field.title, known=labels)


def _parse_number(field: FormField, text: str) -> int | float:
    plain = _fold(text).replace("−", "-")
    if _GROUPED_NUMBER.fullmatch(plain):
        plain = plain.replace(",", "")
    is_whole = field.kind == "whole"
    value = float(plain) if _NUMBER.fullmatch(plain) else math.inf
    if abs(value) > MAX_NUMBER or (is_whole and not value.is_integer()):
        raise (FieldNotAWholeNumber if is_whole else FieldNotANumber)(name=field.title)
    _check_bounds(field, value)
    return int(value) if is_whole else value


def _check_bounds(field: FormField, number: float, error_type: type[InputError] = FieldOutOfBounds) -> None:
    minimum, maximum = field.minimum, field.maximum
    if (minimum is None or number >= minimum) and (maximum is None or number <= maximum):
        return
    bounds = ("" if bound is None else f"{bound:.15g}" for bound in (minimum, maximum))
    raise error_type(name=field.title, expected="–".join(bounds))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()
