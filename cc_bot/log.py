"""Structured log records on stderr, with an id per job, without message text or secrets.

Library records below `warning` are dropped (asyncio quotes exceptions); others keep their first line without
possible tokens (hikari logs routes). Exceptions are logged by type and position.
"""

import logging
import re
import secrets
import sys
import traceback
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from structlog.contextvars import bind_contextvars, bound_contextvars, get_contextvars

from cc_bot.domain.errors import CcBotError

Record = MutableMapping[str, Any]

# The shortest part of a token or API key; ids have 20 digits.
_LONG: Final = re.compile(r"[A-Za-z0-9_-]{27,}")
MAX_WORD_LETTERS: Final = 20


def configure_logging(level: str, format_: str = "auto") -> None:
    """`auto`: readable lines on a terminal, else JSON."""
    terminal = sys.stderr.isatty()
    lines = terminal if format_ == "auto" else format_ == "console"
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _exceptions_without_messages,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=terminal, exception_formatter=structlog.dev.plain_traceback)
        if lines
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, _first_line_without_tokens, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, getattr(logging, level.upper())))
    logging.getLogger("cc_bot").setLevel(level.upper())


def _first_line_without_tokens(_logger: object, _method: str, record: Record) -> Record:
    record["event"] = _LONG.sub(_without_token, str(record["event"]).partition("\n")[0])
    return record


def _without_token(match: re.Match[str]) -> str:
    """Replace what may be a token by "…". Long names are made of short words."""
    words = [word for word in re.split("[_-]", match[0]) if word]
    is_name = all(len(word) <= MAX_WORD_LETTERS and word in (word.lower(), word.upper()) for word in words)
    return match[0] if is_name and not any(map(str.isdigit, match[0])) else "…"


def _exceptions_without_messages(_logger: object, _method: str, record: Record) -> Record:
    info = record.pop("exc_info", None)
    error = sys.exc_info()[1] if info is True else info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        record["error"] = type(error).__name__
        record["at"] = " < ".join(
            f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
            for frame in reversed(traceback.extract_tb(error.__traceback__)[-4:])
        )
    return record


# Job ids connect the records of a turn or a background run. Tasks inherit them.
# A front end calls `begin_turn` for a question, and the assistant `claim_turn_id`.


@dataclass(slots=True)
class _Turn:
    is_claimed: bool = False


_current_turn: ContextVar[_Turn | None] = ContextVar("current_turn", default=None)


def begin_turn() -> None:
    bind_contextvars(turn=secrets.token_hex(4))
    _current_turn.set(_Turn())


def claim_turn_id() -> str:
    """Return this task's turn id, or a new one if an earlier turn has used it."""
    turn = _current_turn.get()
    if turn is None or turn.is_claimed:
        begin_turn()
        turn = _current_turn.get()
    if turn is not None:
        turn.is_claimed = True
    return str(get_contextvars().get("turn", ""))


@contextmanager
def job(name: str, **fields: object) -> Iterator[None]:
    with bound_contextvars(job=f"{name}-{secrets.token_hex(4)}", **fields):
        yield


@contextmanager
def upkeep(name: str, *expected: type[Exception], **fields: object) -> Iterator[None]:
    """Log an error of background work, as `…_failed` if it is expected."""
    log = structlog.get_logger(__name__)
    failures: tuple[type[Exception], ...] = (CcBotError, OSError, *expected)
    with job(name, **fields):
        try:
            yield
        except failures as error:
            log.warning(f"{name}_failed", error=type(error).__name__)
        except Exception:
            log.error(f"{name}_broke", exc_info=True)


LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_SEVERITY: Final[Mapping[str, int]] = {name: logging.getLevelNamesMapping()[name.upper()] for name in LEVELS}
OURS: Final = "cc_bot"
MAX_RECORDS: Final = 500
MAX_VALUE_CHARACTERS: Final = 200
_STANDARD_FIELDS: Final = frozenset({"event", "level", "timestamp", "logger"})


@dataclass(frozen=True, slots=True)
class RecentRecord:
    at: datetime
    level: str
    logger: str
    event: str  # empty for a library's record, whose text may quote users
    fields: Mapping[str, str]


class RecentRecords(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._records = deque[RecentRecord](maxlen=MAX_RECORDS)

    def emit(self, record: logging.LogRecord) -> None:
        at, level = datetime.fromtimestamp(record.created, UTC), record.levelname.lower()
        ours = record.name.partition(".")[0] == OURS
        content = record.msg if ours and isinstance(record.msg, dict) else {}
        fields = {
            str(name): _format_value(value) for name, value in content.items() if name not in _STANDARD_FIELDS
        }
        event = _format_value(content.get("event", ""))
        self._records.append(RecentRecord(at, level, _format_value(record.name), event, fields))

    def newest(self, level: str | None = None) -> tuple[RecentRecord, ...]:
        """Return records of this level and above, newest first."""
        least = _SEVERITY.get(level or "", 0)
        return tuple(each for each in reversed(self._records) if _SEVERITY.get(each.level, 0) >= least)


@contextmanager
def logging_to(handler: logging.Handler, logger: str | None = None) -> Iterator[None]:
    """Pass the records of a logger, or all, to the handler."""
    source = logging.getLogger(logger)
    source.addHandler(handler)
    try:
        yield
    finally:
        source.removeHandler(handler)


def _format_value(value: object) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        text = ", ".join(map(_format_value, value))
    elif value is None or isinstance(value, str | int | float):
        text = str(value)
    else:
        text = type(value).__name__
    cut = _LONG.sub(_without_token, text)
    return cut if len(cut) <= MAX_VALUE_CHARACTERS else f"{cut[: MAX_VALUE_CHARACTERS - 1]}…"
