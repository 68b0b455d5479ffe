"""The operator's file of MCP servers, in the format of Claude Desktop and VS Code, with our settings under
`cc_bot`. Errors don't quote the file's values, which may be secret."""

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cc_bot.domain.proposal import Approvers
from cc_bot.domain.tool_calls import SEPARATOR
from cc_bot.features.mcp.errors import InvalidToolServers
from cc_bot.features.mcp.model import full_name
from cc_bot.features.mcp.texts import ToolServersFileTexts
from cc_bot.operator_file import (
    FileKind,
    FileRefused,
    OperatorFile,
    TableReader,
    operator_path,
    printable_key,
)
from cc_bot.texts import Texts, texts
from cc_bot.texts.cli import OperatorFileTexts

if TYPE_CHECKING:
    from cc_bot.config import Config

INHERITED_VARIABLES: Final = (
    "PATH",
    "HOME",
    "LANG",
)  # servers get no other variable of the bot's environment

Approval = Literal["never", "writes", "always"]
"""Which calls need approval. `writes`: those that may change something."""

_ID: Final = re.compile(r"[1-9][0-9]{0,18}")


def _parse_id(value: object) -> object:
    return int(value) if isinstance(value, str) and _ID.fullmatch(value) else value


_Ids = Annotated[
    frozenset[Annotated[int, BeforeValidator(_parse_id), Field(strict=True, gt=0, lt=2**63)]],
    Field(strict=False),
]
_Patterns = Annotated[
    tuple[Annotated[str, Field(strict=True, min_length=1, max_length=128)], ...], Field(strict=False)
]


class ServerRules(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True, frozen=True)

    enabled: bool = True
    tools: _Patterns | None = None  # names or patterns to offer; None for all
    deny: _Patterns = ()
    approve: Approval = "writes"
    approvers: Approvers = "asker"
    timeout_s: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] = 20.0
    max_result_kb: Annotated[int, Field(ge=1, le=1000)] = 16
    calls_per_turn: Annotated[int, Field(ge=1, le=100)] = 8
    guilds: _Ids = frozenset()
    channels: _Ids = frozenset()
    dms: bool | None = None
    roles: _Ids = frozenset()
    local: _Patterns | None = None
    """Names or patterns of tools that reach nothing beyond the server. None: as the server declares."""


@dataclass(frozen=True, slots=True)
class ServerEntry:
    name: str
    rules: ServerRules
    command: str = field(default="", repr=False)
    arguments: tuple[str, ...] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    folder: Path | None = field(default=None, repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    def has_same_target(self, other: "ServerEntry") -> bool:
        """Return whether only the rules differ, so that a connection can stay open."""
        return replace(self, rules=other.rules) == other


class _ServerTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)
    command: Annotated[str, Field(min_length=1)] | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: Annotated[str, Field(min_length=1)] | None = None
    type: str = ""
    url: Annotated[str, Field(min_length=1)] | None = None
    headers: dict[str, str] = {}
    disabled: bool = False
    cc_bot: ServerRules = ServerRules()


_IGNORED_SERVER_KEYS: Final = frozenset(
    {
        *("autoApprove", "alwaysAllow", "disabledTools", "timeout", "trust"),  # Cline, Roo, Gemini
        *("name", "description", "icon", "gallery", "version", "dev"),  # VS Code
    }
)
_IGNORED_TOP_LEVEL_KEYS: Final = frozenset({"inputs", "$schema", "globalShortcut", "preferences"})
_SERVER_GROUPS: Final = ("mcpServers", "servers")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@/-]{0,39}")
_VARIABLE: Final = re.compile(
    r"\$\{(?:(?:env:)?+([A-Za-z_][A-Za-z0-9_]{0,99}+)(?::-([^$}]{0,1000}+))?+\}|[^}]{0,30}+\}?+)"
)
_PUBLIC_KEYS: Final = ("command", "args")
"""Every user of the machine can read these values in its process list."""
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")


def parse_servers(text: str, *, variables: Mapping[str, str], words: Texts) -> Mapping[str, ServerEntry]:
    """Return the enabled servers in the file's order. Raises FileRefused."""
    if not text.strip():
        return {}
    texts = words[ToolServersFileTexts]
    document, tables = _parse_json(text, texts), dict[str, Any]()
    for key in _SERVER_GROUPS:
        group = document.pop(key, {})
        if not isinstance(group, dict):
            raise FileRefused(texts.value_not_an_object.format(name=key))
        if duplicates := tables.keys() & group.keys():
            raise FileRefused(texts.duplicate_key.format(key=printable_key(sorted(duplicates)[0])))
        tables |= group
    if unknown := [key for key in document if key not in _IGNORED_TOP_LEVEL_KEYS]:
        raise FileRefused(texts.unknown_key.format(key=printable_key(unknown[0])))
    entries = [_EntryReader(name, variables, words).read(table) for name, table in tables.items()]
    servers = {entry.name: entry for entry in entries if entry is not None}
    names_by_prefix = dict[str, str]()
    for name in servers:
        other = names_by_prefix.setdefault(full_name(name, ""), name)
        if other != name:
            names = {"server": printable_key(name), "other": printable_key(other)}
            raise FileRefused(texts.names_collide.format(**names))
    if servers and find_spec("mcp") is None:
        raise FileRefused(texts.not_installed)
    return servers


def _parse_json(text: str, texts: ToolServersFileTexts) -> dict[str, Any]:
    def as_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        values = dict[str, Any]()
        for key, value in pairs:
            if key in values:
                raise FileRefused(texts.duplicate_key.format(key=printable_key(key)))
            values[key] = value
        return values

    try:
        document = json.loads(text, object_pairs_hook=as_object)
    except json.JSONDecodeError as error:
        raise FileRefused(texts.not_json.format(line=error.lineno, column=error.colno)) from None
    except (ValueError, RecursionError):  # a number of too many digits, or too deep nesting
        raise FileRefused(texts.not_json.format(line=1, column=1)) from None
    if not isinstance(document, dict):
        raise FileRefused(texts.file_not_an_object.format())
    return document


class _EntryReader:
    def __init__(self, name: str, variables: Mapping[str, str], words: Texts) -> None:
        self._name = name
        self._printable_name = printable_key(name)
        self._variables = variables
        self._texts = words[ToolServersFileTexts]
        expected = {key: each.format() for key, each in words[ToolServersFileTexts].expected.items()}
        self._tables = TableReader(words[OperatorFileTexts], expected)

    def read(self, table: Any) -> ServerEntry | None:
        """Return None for a disabled server. Raises FileRefused."""
        if not _NAME.fullmatch(self._name) or SEPARATOR in self._name:
            raise FileRefused(self._texts.bad_name.format(server=self._printable_name))
        if not isinstance(table, dict):
            raise FileRefused(self._texts.value_not_an_object.format(name=self._printable_name))
        ours = {key: value for key, value in table.items() if key not in _IGNORED_SERVER_KEYS}
        parsed = self._tables.read(_ServerTable, f"mcpServers.{self._printable_name}", ours)
        if parsed.disabled or not parsed.cc_bot.enabled:
            return None
        transport = re.sub(r"[^a-z]", "", parsed.type.lower())
        if transport not in ("", "stdio", "http", "streamablehttp"):
            raise self._wrong("type")
        is_http = "http" in transport or (not transport and parsed.command is None and parsed.url is not None)
        return self._read_http_entry(parsed) if is_http else self._read_program_entry(parsed)

    def _read_program_entry(self, parsed: _ServerTable) -> ServerEntry:
        if parsed.command is None or parsed.url is not None:
            raise self._wrong("command")
        inherited = {name: self._variables[name] for name in INHERITED_VARIABLES if name in self._variables}
        environment = inherited | self._substitute_all("env", parsed.env)
        folder = None if parsed.cwd is None else self._find_folder(self._substitute("cwd", parsed.cwd))
        command = self._find_command(self._substitute("command", parsed.command), environment, folder)
        arguments = tuple(self._substitute("args", each) for each in parsed.args)
        return ServerEntry(self._name, parsed.cc_bot, command, arguments, environment, folder)

    def _find_folder(self, path: str) -> Path:
        with suppress(OSError, ValueError, RuntimeError):  # too long, invalid, or of an unknown user
            folder = Path(path).expanduser()
            if folder.is_dir():
                return folder
        raise self._wrong("cwd")

    def _find_command(self, command: str, environment: Mapping[str, str], folder: Path | None) -> str:
        name = str((folder or Path()) / command) if os.sep in command else command
        path = None if "\0" in name else shutil.which(name, path=environment.get("PATH"))
        if path is None:
            raise FileRefused(self._texts.command_not_found.format(server=self._printable_name))
        return str(Path(path).absolute())

    def _read_http_entry(self, parsed: _ServerTable) -> ServerEntry:
        if parsed.url is None or parsed.command is not None:
            raise self._wrong("url")
        url = self._substitute("url", parsed.url)
        try:
            parts = urlsplit(url)
            _ = parts.port  # raises ValueError if it is invalid
        except ValueError:
            raise self._wrong("url") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable():
            raise self._wrong("url")
        headers = self._substitute_all("headers", parsed.headers)
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or not value.isprintable() or not value.isascii():
                raise self._wrong("headers")
        return ServerEntry(self._name, parsed.cc_bot, url=url, headers=headers)

    def _substitute_all(self, key: str, pairs: Mapping[str, str]) -> dict[str, str]:
        return {name: self._substitute(f"{key}.{name}", value) for name, value in pairs.items()}

    def _substitute(self, key: str, text: str) -> str:
        def find_value(match: re.Match[str]) -> str:
            name, default = match[1], match[2]
            value = self._variables.get(name, default) if name else None
            is_public = name and key in _PUBLIC_KEYS and name not in INHERITED_VARIABLES
            if value is None or is_public:
                sentence = self._texts.variable_public if is_public else self._texts.variable_not_set
                names = {"key": printable_key(key), "variable": printable_key(name or match[0])}
                raise FileRefused(sentence.format(server=self._printable_name, **names))
            return value

        return _VARIABLE.sub(find_value, text)

    def _wrong(self, key: str) -> FileRefused:
        return self._tables.wrong_value(f"mcpServers.{self._printable_name}", key)


def servers_file(config: "Config") -> OperatorFile[Mapping[str, ServerEntry]]:
    """Return the file, which must exist if a setting names it."""
    words = texts(config.operator_locale)
    empty = words[ToolServersFileTexts].file_not_an_object.format()
    parse = partial(parse_servers, variables=config.variables, words=words)
    kind = FileKind("tool_servers", "CC_BOT_MCP_FILE", parse, InvalidToolServers, empty)
    path, required = operator_path(config, "mcp.json"), config.mcp_file is not None
    return OperatorFile(path, kind, words[OperatorFileTexts], required=required)
