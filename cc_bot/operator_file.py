"""Files of the operator that may change while the program runs.

A changed file is read when its value is needed. While it is invalid, its last valid value stays in effect.
"""

import asyncio
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, get_origin

import structlog
from pydantic import BaseModel, ValidationError

from cc_bot.db.engines import operator_anchor_path
from cc_bot.domain.errors import StartupError
from cc_bot.files import NotRegularFile, open_regular
from cc_bot.texts.cli import OperatorFileTexts

if TYPE_CHECKING:
    from cc_bot.config import Config

_log = structlog.get_logger(__name__)

MAX_BYTES: Final = 1_000_000
STABLE_AFTER_S: Final = 0.05
"""The pause between checks of a changed file, which is read once it no longer changes."""
MAX_CHECKS: Final = 20

_FileVersion = tuple[int, ...] | None  # None if the file is missing
_UNREACHABLE: Final = (-1,)

T = TypeVar("T")
Table = TypeVar("Table", bound=BaseModel)


class FileRefused(Exception):
    """The message tells the operator why."""


def parse_toml(text: str, words: OperatorFileTexts) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileRefused(words.not_toml.format(problem=error)) from None


def printable_key(key: object) -> str:
    """Return a key in a form that is safe to show to the operator."""
    text = str(key)
    return text[:40] if text.isprintable() else ascii(text)[1:41]


@dataclass(frozen=True, slots=True)
class TableReader:
    words: OperatorFileTexts
    expected: Mapping[str, str]  # what a value must be, by key

    def read(self, model: type[Table], name: str, table: object) -> Table:
        """Raises FileRefused for the first mistake in the table `name`."""
        if not isinstance(table, dict):
            raise FileRefused(self.words.not_a_table.format(name=name))
        try:
            return model.model_validate(table)
        except ValidationError as error:
            mistakes = error.errors(include_url=False, include_input=False, include_context=False)
        # Unknown keys first: a misspelt key also makes the right one missing.
        mistakes.sort(key=lambda each: each["type"] != "extra_forbidden" or len(each["loc"]) > 1)
        raise self._refusal(model, name, tuple(map(str, mistakes[0]["loc"])) or _list_non_ascii_keys(table))

    def _refusal(self, model: type[BaseModel], name: str, path: Sequence[str]) -> FileRefused:
        key, *rest = path
        if key not in model.model_fields:
            keys = ", ".join(model.model_fields)
            return FileRefused(self.words.unknown_key.format(name=name, key=printable_key(key), keys=keys))
        inner = model.model_fields[key].annotation
        if rest and isinstance(inner, type) and issubclass(inner, BaseModel):
            return self._refusal(inner, f"{name}.{key}", rest)
        return self.wrong_value(name, f"{key}.{rest[0]}" if rest and get_origin(inner) is dict else key)

    def wrong_value(self, name: str, key: str) -> FileRefused:
        """Return the error for a value in the table `name`. `key` may name an inner key after a dot."""
        expected = self.expected[key.partition(".")[0]]
        return FileRefused(self.words.wrong.format(name=name, key=printable_key(key), expected=expected))


def _list_non_ascii_keys(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the suspects if pydantic's error names no key: a key with a lone surrogate is not ASCII."""
    return tuple(key for key in table if not key.isascii())


def hash_file(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return blake2b(file.read(MAX_BYTES), digest_size=8).hexdigest()
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class FileKind(Generic[T]):
    name: str  # for the log: `agents` gives `agents_reloaded`
    variable: str  # the environment variable that sets the path
    parse: Callable[[str], T]  # Takes the file's text, "" if there is no file. Raises FileRefused.
    error: type[StartupError]  # raised with `path` and `detail`
    empty_error: str = ""  # why an empty file is refused; without it, an empty file is valid


class OperatorFile(Generic[T]):
    def __init__(self, path: Path, kind: FileKind[T], words: OperatorFileTexts, *, required: bool) -> None:
        self._path = path
        self._kind = kind
        self._words = words
        self._required = required
        self._version: _FileVersion = None
        self._value: T = kind.parse("")
        self._reading = asyncio.Lock()

    async def load(self) -> T:
        """Raises the kind's `error`."""
        version = await asyncio.to_thread(_version_of, self._path)
        self._value = await asyncio.to_thread(self._read, version)
        self._version = version
        return self._value

    async def current(self) -> T:
        async with self._reading:
            version = _version_of(self._path)  # takes microseconds; a thread would take fifty times as long
            if version != self._version:
                await self._reload(version)
            return self._value

    async def _reload(self, version: _FileVersion) -> None:
        """Read the changed file. If it is invalid, log that once and keep the last value."""
        version = await self._wait_until_stable(version)
        try:
            self._value = await asyncio.to_thread(self._read, version)
        except StartupError as error:
            _log.warning(
                f"{self._kind.name}_not_reloaded", path=str(self._path), problem=error.params["detail"]
            )
        else:
            _log.info(f"{self._kind.name}_reloaded")
        self._version = version  # last: if the task is cancelled before, the file is read again

    async def _wait_until_stable(self, version: _FileVersion) -> _FileVersion:
        for _ in range(MAX_CHECKS):
            await asyncio.sleep(STABLE_AFTER_S)
            before, version = version, await asyncio.to_thread(_version_of, self._path)
            if version == before:
                break
        return version

    def _read(self, version: _FileVersion) -> T:
        try:
            return self._kind.parse(self._read_text(version))
        except FileRefused as refused:
            raise self._kind.error(path=str(self._path), detail=str(refused)) from None

    def _read_text(self, version: _FileVersion) -> str:
        if version is None:
            if self._required:
                raise FileRefused(self._words.missing.format(variable=self._kind.variable))
            return ""
        try:
            with open_regular(self._path) as file:
                content = file.read(MAX_BYTES + 1)
        except NotRegularFile:
            raise FileRefused(self._words.not_regular) from None
        except OSError:
            raise FileRefused(self._words.unreadable) from None
        if len(content) > MAX_BYTES:
            raise FileRefused(self._words.too_large.format(limit=MAX_BYTES // 1000))
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FileRefused(self._words.not_utf8) from None
        if self._kind.empty_error and not text.strip():
            raise FileRefused(self._kind.empty_error)
        return text


def _version_of(path: Path) -> _FileVersion:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _UNREACHABLE
    return (status.st_mtime_ns, status.st_size, status.st_ino)


FILES_WITH_PATH_SETTING: Final = ("agents.toml", "policy.toml", "mcp.json")


def operator_path(config: "Config", name: str) -> Path:
    paths = (config.agents_file, config.policy_file, config.mcp_file)
    default = operator_anchor_path(config.database_url, config.data_folder).with_name(name)
    return dict(zip(FILES_WITH_PATH_SETTING, paths, strict=True)).get(name) or default
