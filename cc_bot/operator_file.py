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

from cc_bot.db.engines import config_path
from cc_bot.domain.errors import StartupError
from cc_bot.files import NotRegular, open_regular
from cc_bot.texts.cli import OperatorFileTexts

if TYPE_CHECKING:
    from cc_bot.config import Config

_log = structlog.get_logger(__name__)

MAX_BYTES: Final = 1_000_000
STABLE_AFTER_S: Final = 0.05
"""Between two checks of a changed file. If they differ, it is still being written."""
MAX_CHECKS: Final = 20

_FileState = tuple[int, ...] | None  # a version of the file; None if missing
_UNREACHABLE: Final = (-1,)

T = TypeVar("T")
Table = TypeVar("Table", bound=BaseModel)


class FileRefused(Exception):
    pass


def parse_toml(text: str, words: OperatorFileTexts) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for too many digits
        raise FileRefused(words.not_toml.format(problem=error)) from None


def printable_key(key: object) -> str:
    """Return a key that is safe to repeat."""
    text = str(key)
    return text[:40] if text.isprintable() else ascii(text)[1:41]


@dataclass(frozen=True, slots=True)
class TableReader:
    words: OperatorFileTexts
    expected: Mapping[str, str]  # by key

    def read(self, kind: type[Table], name: str, table: object) -> Table:
        """Raises FileRefused for the first mistake in the table `name`."""
        if not isinstance(table, dict):
            raise FileRefused(self.words.not_a_table.format(name=name))
        try:
            return kind.model_validate(table)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
        found.sort(key=lambda each: each["type"] != "extra_forbidden" or len(each["loc"]) > 1)
        raise self._refusal(kind, name, tuple(map(str, found[0]["loc"])) or _find_unprintable_key(table))

    def _refusal(self, kind: type[BaseModel], name: str, path: Sequence[str]) -> FileRefused:
        key, *rest = path
        if key not in kind.model_fields:
            keys = ", ".join(kind.model_fields)
            return FileRefused(self.words.unknown_key.format(name=name, key=printable_key(key), keys=keys))
        inner = kind.model_fields[key].annotation
        if rest and isinstance(inner, type) and issubclass(inner, BaseModel):
            return self._refusal(inner, f"{name}.{key}", rest)
        return self.wrong(name, f"{key}.{rest[0]}" if rest and get_origin(inner) is dict else key)

    def wrong(self, name: str, key: str) -> FileRefused:
        """Return the error for a value. `key` may name an inner key after a dot."""
        expected = self.expected[key.partition(".")[0]]
        return FileRefused(self.words.wrong.format(name=name, key=printable_key(key), expected=expected))


def _find_unprintable_key(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a key with half a surrogate pair, which pydantic can't repeat."""
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
    variable: str  # the setting for another path
    parse: Callable[[str], T]  # Takes the text, empty without a file. Raises FileRefused.
    error: type[StartupError]  # raised with `path` and `detail`
    empty: str = ""  # the error for an empty file, which is valid without one


class OperatorFile(Generic[T]):
    def __init__(self, path: Path, kind: FileKind[T], words: OperatorFileTexts, *, required: bool) -> None:
        self._path = path
        self._kind = kind
        self._words = words
        self._required = required
        self._state: _FileState = None
        self._value: T = kind.parse("")
        self._reading = asyncio.Lock()

    async def load(self) -> T:
        """Raises `error`."""
        state = await asyncio.to_thread(_state_of, self._path)
        self._value = await asyncio.to_thread(self._read, state)
        self._state = state
        return self._value

    async def current(self) -> T:
        async with self._reading:
            state = _state_of(self._path)  # microseconds; a thread would cost fifty times that
            if state != self._state:
                await self._reload(state)
            return self._value

    async def _reload(self, state: _FileState) -> None:
        """If the changed file is invalid, log that once and use the last value."""
        state = await self._wait_until_stable(state)
        try:
            self._value = await asyncio.to_thread(self._read, state)
        except StartupError as error:
            _log.warning(
                f"{self._kind.name}_not_reloaded", path=str(self._path), problem=error.params["detail"]
            )
        else:
            _log.info(f"{self._kind.name}_reloaded")
        self._state = state  # last, so that the file is read again after a cancellation

    async def _wait_until_stable(self, state: _FileState) -> _FileState:
        for _ in range(MAX_CHECKS):
            await asyncio.sleep(STABLE_AFTER_S)
            before, state = state, await asyncio.to_thread(_state_of, self._path)
            if state == before:
                break
        return state

    def _read(self, state: _FileState) -> T:
        try:
            return self._kind.parse(self._text(state))
        except FileRefused as refused:
            raise self._kind.error(path=str(self._path), detail=str(refused)) from None

    def _text(self, state: _FileState) -> str:
        if state is None:
            if self._required:
                raise FileRefused(self._words.missing.format(variable=self._kind.variable))
            return ""
        try:
            with open_regular(self._path) as file:
                content = file.read(MAX_BYTES + 1)
        except NotRegular:
            raise FileRefused(self._words.no_file) from None
        except OSError:
            raise FileRefused(self._words.unreadable) from None
        if len(content) > MAX_BYTES:
            raise FileRefused(self._words.too_large.format(limit=MAX_BYTES // 1000))
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FileRefused(self._words.not_utf8) from None
        if self._kind.empty and not text.strip():
            raise FileRefused(self._kind.empty)
        return text


def _state_of(path: Path) -> _FileState:
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _UNREACHABLE
    return (state.st_mtime_ns, state.st_size, state.st_ino)


OPERATOR_FILES = ("agents.toml", "policy.toml", "mcp.json")


def operator_path(config: "Config", name: str) -> Path:
    named = (config.agents_file, config.policy_file, config.mcp_file)
    default = config_path(config.database_url, config.data_folder).with_name(name)
    return dict(zip(OPERATOR_FILES, named, strict=True)).get(name) or default
