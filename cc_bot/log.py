"""Structured log records on stderr, without message text or secrets.

Libraries' warnings and errors are cut to the first line. Possible tokens are masked, since hikari logs URLs.
Exceptions are logged by type and position.
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

# The shortest part of a token or API key has 27 characters; ids have 20 digits.
_MAYBE_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{27,}")
MAX_WORD_LETTERS: Final = 20


def configure_logging(level: str, format_: str = "auto") -> None:
    """`auto`: readable lines on a terminal, else JSON."""
    is_terminal = sys.stderr.isatty()
    is_readable = is_terminal if format_ == "auto" else format_ == "console"
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _replace_exception,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=is_terminal, exception_formatter=structlog.dev.plain_traceback)
        if is_readable
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    structlog.configure(
        processors=[*processors, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, _shorten_event, *processors],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, getattr(logging, level.upper())))
    logging.getLogger("cc_bot").setLevel(level.upper())


def _shorten_event(_logger: object, _method: str, record: Record) -> Record:
    record["event"] = _MAYBE_TOKEN.sub(_mask_token, str(record["event"]).partition("\n")[0])
    return record


def _mask_token(match: re.Match[str]) -> str:
    """Mask a possible token as "…", but keep names, which consist of short words."""
    words = [word for word in re.split("[_-]", match[0]) if word]
    is_name = all(len(word) <= MAX_WORD_LETTERS and word in (word.lower(), word.upper()) for word in words)
    return match[0] if is_name and not any(map(str.isdigit, match[0])) else "…"


def _replace_exception(_logger: object, _method: str, record: Record) -> Record:
    info = record.pop("exc_info", None)  # an exception, True for the current one, or `sys.exc_info()`
    current = sys.exception() if info is True else info
    error = current[1] if isinstance(current, tuple) else current
    if isinstance(error, BaseException):
        record["error"] = type(error).__name__
        record["at"] = " < ".join(
            f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
            for frame in reversed(traceback.extract_tb(error.__traceback__)[-4:])
        )
    return record


# An id connects the records of a turn, or of a run of background work. asyncio's tasks inherit it.
# A front end calls `bind_turn_id` for a question, and the assistant `claim_turn_id`.
@dataclass(slots=True)
class _TurnId:
    is_claimed: bool = False


_current_turn_id: ContextVar[_TurnId | None] = ContextVar("current_turn_id", default=None)


def bind_turn_id() -> None:
    bind_contextvars(turn=secrets.token_hex(4))
    _current_turn_id.set(_TurnId())


def claim_turn_id() -> str:
    """Return this task's turn id, or a new one if an earlier turn has used it."""
    turn_id = _current_turn_id.get()
    if turn_id is None or turn_id.is_claimed:
        bind_turn_id()
        turn_id = _current_turn_id.get()
    if turn_id is not None:
        turn_id.is_claimed = True
    return str(get_contextvars().get("turn", ""))


@contextmanager
def bind_job_id(name: str, **fields: object) -> Iterator[None]:
    with bound_contextvars(job=f"{name}-{secrets.token_hex(4)}", **fields):
        yield


@contextmanager
def log_errors(name: str, *expected: type[Exception], **fields: object) -> Iterator[None]:
    """Log an error in the block and go on: as `…_failed` if it is expected, else as `…_broke`."""
    log = structlog.get_logger(__name__)
    expected_errors: tuple[type[Exception], ...] = (CcBotError, OSError, *expected)
    with bind_job_id(name, **fields):
        try:
            yield
        except expected_errors as error:
            log.warning(f"{name}_failed", error=type(error).__name__)
        except Exception:
            log.error(f"{name}_broke", exc_info=True)


@contextmanager
def log_failure(
    event: str, *expected: type[Exception], level: str = "warning", **fields: object
) -> Iterator[None]:
    """Log an expected error in the block by its type, and go on."""
    try:
        yield
    except expected as error:
        getattr(structlog.get_logger(__name__), level)(event, error=type(error).__name__, **fields)


LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_SEVERITY: Final[Mapping[str, int]] = {name: logging.getLevelNamesMapping()[name.upper()] for name in LEVELS}
OUR_LOGGER: Final = "cc_bot"
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
        ours = record.name.partition(".")[0] == OUR_LOGGER
        content = record.msg if ours and isinstance(record.msg, dict) else {}
        fields = {
            str(name): _format_value(value) for name, value in content.items() if name not in _STANDARD_FIELDS
        }
        event = _format_value(content.get("event", ""))
        self._records.append(RecentRecord(at, level, _format_value(record.name), event, fields))

    def newest(self, level: str | None = None) -> tuple[RecentRecord, ...]:
        """Return records of this level and above, newest first."""
        minimum = _SEVERITY.get(level or "", 0)
        return tuple(each for each in reversed(self._records) if _SEVERITY.get(each.level, 0) >= minimum)


@contextmanager
def attach_handler(handler: logging.Handler, logger: str | None = None) -> Iterator[None]:
    """Within the block, pass a logger's records to the handler; all records if `logger` is None."""
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
    masked = _MAYBE_TOKEN.sub(_mask_token, text)
    return masked if len(masked) <= MAX_VALUE_CHARACTERS else f"{masked[: MAX_VALUE_CHARACTERS - 1]}…"
