"""The operator's file of servers: read, and read again when it changes.

It is the file that other programs have, so what they write in it is taken; what it means for this one stands
under `cc_bot`. No sentence about it repeats a value: commands, variables and headers hold secrets.
"""

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cc_bot.domain.errors import InvalidToolServers
from cc_bot.domain.locale import Locale
from cc_bot.domain.tool_server import SEPARATOR, Approvers
from cc_bot.operator_file import FileKind, FileRefused, OperatorFile, printable_key
from cc_bot.texts import Texts, texts
from cc_bot.texts.tool_servers import ToolServersFileTexts

# ---- what a server's entry says --------------------------------------------------------------------------

MOST_SERVERS: Final = 50
INHERITED: Final = ("PATH", "HOME", "LANG")
"""What a server's process is told of our surroundings; the rest stands in its entry."""

Approval = Literal["never", "writes", "always"]
"""Which calls wait for a press: none, those that may change something, or all."""


@dataclass(frozen=True, slots=True)
class ServerRules:
    """The part of an entry that is ours: what may be called, where, for whom, and how much comes back."""

    tools: tuple[str, ...] | None = None
    """Names or patterns of those that there are; None: all but `deny`."""
    deny: tuple[str, ...] = ()
    approve: Approval = "writes"
    approvers: Approvers = "asker"
    timeout_s: float = 20.0
    max_result_kb: int = 16
    calls_per_turn: int = 8
    guilds: frozenset[int] = frozenset()
    channels: frozenset[int] = frozenset()
    dms: bool = True
    roles: frozenset[int] = frozenset()
    """Empty: everybody's."""
    local: tuple[str, ...] | None = None
    """Names or patterns of tools whose calls reach nothing beyond the server; None: those that the server
    names, once an owner has accepted them."""


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server as the file has it, with its variables filled in."""

    name: str
    rules: ServerRules
    command: str = field(default="", repr=False)
    """The path of a program; empty for a server that is reached over HTTP."""
    arguments: tuple[str, ...] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    folder: Path | None = field(default=None, repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    digest: str = field(default="", repr=False)
    """Of what makes it another server: its command and address, as they are written."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that stand in no record."""
        return (*self.arguments, *self.environment.values(), *self.headers.values())

    def runs_as(self, other: "ServerEntry") -> bool:
        """Return whether the other is started and reached in the same way."""
        return _way(self) == _way(other)


def _way(entry: ServerEntry) -> tuple[object, ...]:
    return (
        *(entry.command, entry.arguments, dict(entry.environment), entry.folder),
        *(entry.url, dict(entry.headers)),
    )


# ---- tables ----------------------------------------------------------------------------------------------

_AS_WRITTEN = ConfigDict(extra="forbid", strict=True)
"""No text is taken for a number: what looks like a slip is one."""
_DIGITS: Final = re.compile(r"[1-9][0-9]{0,18}")


def _as_id(value: object) -> object:
    """Ids are often written as texts: many programs can't hold them as numbers."""
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value


_Id = Annotated[int, BeforeValidator(_as_id), Field(gt=0, lt=2**63)]
_Pattern = Annotated[str, Field(min_length=1, max_length=128)]


class _RulesTable(BaseModel):
    model_config = _AS_WRITTEN
    enabled: bool = True
    tools: list[_Pattern] | None = None
    deny: list[_Pattern] = []
    approve: Approval = "writes"
    approvers: Approvers = "asker"
    timeout_s: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] = 20.0
    max_result_kb: Annotated[int, Field(ge=1, le=1000)] = 16
    calls_per_turn: Annotated[int, Field(ge=1, le=100)] = 8
    guilds: list[_Id] = []
    channels: list[_Id] = []
    dms: bool | None = None
    roles: list[_Id] = []
    local: list[_Pattern] | None = None


class _ServerTable(BaseModel):
    model_config = _AS_WRITTEN
    command: Annotated[str, Field(min_length=1)] | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: Annotated[str, Field(min_length=1)] | None = None
    type: str | None = None
    url: Annotated[str, Field(min_length=1)] | None = None
    headers: dict[str, str] = {}
    disabled: bool = False
    cc_bot: _RulesTable = _RulesTable()


_OF_OTHERS: Final = frozenset(
    {
        *("autoApprove", "alwaysAllow", "disabledTools", "timeout", "trust"),  # Cline, Roo, Gemini
        *("name", "description", "icon", "gallery", "version", "dev"),  # VS Code
    }
)
"""Keys of a server that other programs have, and that mean nothing here."""
_BESIDE: Final = frozenset({"inputs", "$schema", "globalShortcut", "preferences"})
"""Those beside the servers: of VS Code and Claude Desktop."""
_GROUPS: Final = ("mcpServers", "servers")
_OVER_HTTP: Final = frozenset({"http", "streamablehttp"})

# ---- parsing ---------------------------------------------------------------------------------------------
# Whoever wrote the file is told the first thing that is wrong.

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@/-]{0,39}")
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?+([A-Za-z_][A-Za-z0-9_]{0,99}+)(?::-([^$}]{0,1000}+))?+\}|\$\{")
_INPUT: Final = re.compile(r"\$\{input:[A-Za-z0-9_.-]{1,30}\}")
"""What VS Code asks its user for."""
_SEEN_BY_ALL: Final = ("command", "args")
"""Everybody on the machine can read them in the list of processes."""
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")


def parse_servers(text: str, *, variables: Mapping[str, str], words: Texts) -> Mapping[str, ServerEntry]:
    """Return the servers that are enabled, by name, in the file's order. Raises FileRefused."""
    if not text.strip():
        return {}
    told = words.tool_servers_file
    document = _parse_json(text, words)
    tables = dict[str, Any]()
    for group in _GROUPS:
        found = document.pop(group, {})
        if not isinstance(found, dict):
            raise FileRefused(told.not_an_object.format(name=group))
        if both := tables.keys() & found.keys():
            raise FileRefused(told.twice.format(server=printable_key(sorted(both)[0])))
        tables |= found
    if strange := [key for key in document if key not in _BESIDE]:
        raise FileRefused(told.other_key.format(key=printable_key(strange[0])))
    if len(tables) > MOST_SERVERS:
        raise FileRefused(told.too_many.format(limit=MOST_SERVERS))
    entries = [_Reader(name, variables, told).read(table) for name, table in tables.items()]
    servers = {entry.name: entry for entry in entries if entry is not None}
    by_prefix = dict[str, str]()
    for name in servers:
        other = by_prefix.setdefault(offered_prefix(name), name)
        if other != name:
            raise FileRefused(told.names_alike.format(server=printable_key(name), other=printable_key(other)))
    if servers and find_spec("mcp") is None:
        raise FileRefused(told.not_installed)
    return servers


def offered_prefix(server: str) -> str:
    """Return the name of a server as it stands in those of its tools."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", server)


def _parse_json(text: str, words: Texts) -> dict[str, Any]:
    told = words.tool_servers_file

    try:
        document = json.loads(text, object_pairs_hook=_object)
        twin = next(_twins(document), None)
    except json.JSONDecodeError as error:
        sentence = told.comments if _is_of_jsonc(text, error.pos) else told.not_json
        raise FileRefused(sentence.format(line=error.lineno, column=error.colno)) from None
    except (ValueError, RecursionError):  # numbers with more digits than Python reads, and what is too deep
        raise FileRefused(told.not_json.format(line=1, column=1)) from None
    if not isinstance(document, dict):
        raise FileRefused(told.not_an_object.format(name="{…}"))
    if twin:
        [*path, key] = map(printable_key, twin)
        within = told.twice_within.format(server=path[1], key=key) if len(path) > 1 else ""
        raise FileRefused(within or told.twice.format(server=key))
    return document


class _Twice(dict[str, Any]):
    """An object in which a key stands twice."""

    key = ""


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    names, twice = [name for name, _ in pairs], _Twice(found)
    twice.key = next(name for name, count in Counter(names).items() if count > 1)
    return twice


def _twins(value: object, *path: str) -> Iterator[tuple[str, ...]]:
    """Find the keys that stand twice in their object, each after the keys that lead there."""
    if isinstance(value, _Twice):
        yield (*path, value.key)
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _twins(each, *path, key)


def _is_of_jsonc(text: str, place: int) -> bool:
    """Return whether JSON ends at a comment, or at a comma before a bracket, as other programs take them."""
    if text.startswith(("//", "/*"), place):
        return True
    commas = text[: place + 1].rstrip().removesuffix("}").removesuffix("]").rstrip()
    return commas.endswith(",") and text[place:].lstrip(", \t\r\n")[:1] in ("}", "]", "/")


class _Reader:
    """The reading of one entry."""

    def __init__(self, name: str, variables: Mapping[str, str], words: ToolServersFileTexts) -> None:
        self._name = name
        self._variables = variables
        self._words = words

    def read(self, table: Any) -> ServerEntry | None:
        """Return the server; None where it is not wanted. Raises FileRefused."""
        shown = printable_key(self._name)
        if not self._name:
            raise FileRefused(self._words.no_name)
        if not _NAME.fullmatch(self._name) or SEPARATOR in self._name:
            raise FileRefused(self._words.bad_name.format(server=shown))
        if not isinstance(table, dict):
            raise FileRefused(self._words.not_an_object.format(name=shown))
        if "envFile" in table:
            raise FileRefused(self._words.env_file.format(server=shown))
        given = self._validate({key: value for key, value in table.items() if key not in _OF_OTHERS})
        if given.disabled or not given.cc_bot.enabled:
            return None
        rules = self._rules(given.cc_bot)
        kind = re.sub(r"[^a-z]", "", (given.type or "").lower())
        if kind == "sse":
            raise FileRefused(self._words.sse.format(server=shown))
        if kind not in ("", "stdio", *_OVER_HTTP):
            raise self._wrong("type", self._words.kind)
        over_http = kind in _OVER_HTTP or (not kind and given.command is None and given.url is not None)
        return self._over_http(given, rules) if over_http else self._program(given, rules)

    def _validate(self, table: dict[str, Any]) -> _ServerTable:
        try:
            return _ServerTable.model_validate(table)
        except ValidationError as error:
            [first, *_] = error.errors(include_url=False, include_input=False, include_context=False)
        # Of a key that is no text, it says no more than that there is one; those that are known are ASCII.
        path = [str(part) for part in first["loc"]] or [key for key in table if not key.isascii()]
        ours = path[0] == "cc_bot" and len(path) > 1
        key = path[1] if ours else path[0]
        known = (_RulesTable if ours else _ServerTable).model_fields
        if key not in known:
            keys = ", ".join(known)
            shown = printable_key(f"cc_bot.{key}" if ours else key)
            server = printable_key(self._name)
            raise FileRefused(self._words.unknown_key.format(server=server, key=shown, keys=keys))
        if key in ("env", "headers") and len(path) > 1:
            raise self._wrong(f"{key}.{path[1]}", self._words.text)
        raise self._wrong(f"cc_bot.{key}" if ours else key, self._expected(key))

    def _expected(self, key: str) -> str:
        words = self._words
        ids = dict.fromkeys(("guilds", "channels", "roles"), words.ids)
        switches = dict.fromkeys(("enabled", "dms", "disabled"), words.switch)
        patterns = dict.fromkeys(("tools", "deny", "local"), words.patterns)
        tables = {"env": words.pairs, "headers": words.pairs, "cc_bot": words.table}
        return {
            "command": words.command,
            "args": words.args,
            "cwd": words.folder,
            "url": words.url,
            "type": words.kind,
            "approve": words.approve,
            "approvers": words.approvers,
            "timeout_s": words.timeout,
            "max_result_kb": words.size,
            "calls_per_turn": words.calls,
            **ids,
            **switches,
            **patterns,
            **tables,
        }[key]

    def _rules(self, given: _RulesTable) -> ServerRules:
        everywhere = not given.guilds and not given.channels
        return ServerRules(
            None if given.tools is None else tuple(given.tools),
            tuple(given.deny),
            given.approve,
            given.approvers,
            given.timeout_s,
            given.max_result_kb,
            given.calls_per_turn,
            frozenset(given.guilds),
            frozenset(given.channels),
            everywhere if given.dms is None else given.dms,
            frozenset(given.roles),
            None if given.local is None else tuple(given.local),
        )

    def _program(self, given: _ServerTable, rules: ServerRules) -> ServerEntry:
        if given.command is None or given.url is not None:
            raise self._wrong("command", self._words.command)
        inherited = {name: self._variables[name] for name in INHERITED if name in self._variables}
        environment = inherited | {
            name: self._filled(f"env.{name}", value) for name, value in given.env.items()
        }
        if any("=" in name or not name for name in environment):
            raise self._wrong("env", self._words.pairs)
        folder = None if given.cwd is None else self._folder(self._filled("cwd", given.cwd))
        command = self._found(self._filled("command", given.command), environment, folder)
        arguments = tuple(self._filled("args", each) for each in given.args)
        if any("\0" in text for text in arguments):
            raise self._wrong("args", self._words.args)
        if broken := [name for name, text in environment.items() if "\0" in name + text]:
            raise self._wrong(f"env.{broken[0]}", self._words.no_nul)
        digest = _digest(given.command, *given.args, given.cwd or "")
        return ServerEntry(self._name, rules, command, arguments, environment, folder=folder, digest=digest)

    def _folder(self, path: str) -> Path:
        with suppress(OSError, ValueError, RuntimeError):  # too long, no path at all, a user nobody knows
            folder = Path(path).expanduser()
            if folder.is_dir():
                return folder
        raise self._wrong("cwd", self._words.folder)

    def _found(self, command: str, environment: Mapping[str, str], folder: Path | None) -> str:
        """Return the path of a program. Raises FileRefused."""
        beside = folder is not None and os.sep in command and not Path(command).is_absolute()
        wanted = str(folder / command) if beside and folder else command
        found = None if "\0" in wanted else shutil.which(wanted, path=environment.get("PATH"))
        if found is None:
            there = False
            with suppress(OSError, ValueError):
                there = os.sep in wanted and Path(wanted).exists()
            sentence = self._words.not_runnable if there else self._words.no_command
            raise FileRefused(sentence.format(server=printable_key(self._name)))
        return str(Path(found).absolute())

    def _over_http(self, given: _ServerTable, rules: ServerRules) -> ServerEntry:
        if given.url is None or given.command is not None:
            raise self._wrong("url", self._words.url)
        url = self._filled("url", given.url)
        try:
            parts = urlsplit(url)
            _ = parts.port  # reading it checks it
        except ValueError:
            raise self._wrong("url", self._words.url) from None
        if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable():
            raise self._wrong("url", self._words.url)
        headers = {name: self._filled(f"headers.{name}", value) for name, value in given.headers.items()}
        for name, value in headers.items():
            if not _HEADER.fullmatch(name) or not value.isprintable() or not value.isascii():
                raise self._wrong("headers", self._words.pairs)
        return ServerEntry(self._name, rules, url=url, headers=headers, digest=_digest(given.url))

    def _filled(self, key: str, text: str) -> str:
        """Return a text with its variables filled in. Raises FileRefused."""

        def value(match: re.Match[str]) -> str:
            name, default = match[1], match[2]
            if asked := _INPUT.match(text, match.start()):
                raise FileRefused(
                    self._words.input.format(
                        server=printable_key(self._name),
                        key=printable_key(key),
                        input=printable_key(asked[0]),
                    )
                )
            if name and key in _SEEN_BY_ALL and name not in INHERITED:
                raise FileRefused(
                    self._words.seen_by_all.format(
                        server=printable_key(self._name), key=key, variable=printable_key(name)
                    )
                )
            found = self._variables.get(name, default) if name else None
            if found is None:
                shown = printable_key(name or "${…}")
                raise FileRefused(
                    self._words.not_set.format(
                        server=printable_key(self._name), key=printable_key(key), variable=shown
                    )
                )
            return found

        return _VARIABLE.sub(value, text)

    def _wrong(self, key: str, expected: str) -> FileRefused:
        server = printable_key(self._name)
        return FileRefused(
            self._words.wrong.format(server=server, key=printable_key(key), expected=expected.format())
        )


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


# ---- file ------------------------------------------------------------------------------------------------


def servers_file(
    path: Path, *, variables: Mapping[str, str], locale: Locale, required: bool = False
) -> OperatorFile[Mapping[str, ServerEntry]]:
    """Return the file of servers, which tells in `locale` what is wrong with it. `variables` are those of the
    environment. `required`: the operator named the file, so its absence is a mistake."""
    words = texts(locale)
    parse = partial(parse_servers, variables=variables, words=words)
    kind = FileKind(
        "tool_servers", "CC_BOT_MCP_FILE", parse, InvalidToolServers, words.tool_servers_file.empty.format()
    )
    return OperatorFile(path, kind, words.operator_file, required=required)
