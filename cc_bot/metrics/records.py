"""The log's warnings and errors, counted by their names: what goes wrong outside of turns is seen as well.

Only the program's own records are: their names are words of its code. Those of libraries may hold anything.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter

OURS: Final = "cc_bot"


class _Counting(logging.Handler):
    def __init__(self, records: Counter) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.msg, dict):  # as structlog hands it on
            event = str(record.msg.get("event", ""))
            self._records.labels(record.levelname.lower(), event).inc()


@contextmanager
def counted(registry: CollectorRegistry) -> Iterator[None]:
    """Count them in a metric of this registry until left."""
    records = Counter(
        "cc_bot_log_records",
        "The program's own log records from warnings on, by their names.",
        ["level", "event"],
        registry=registry,
    )
    handler = _Counting(records)
    logger = logging.getLogger(OURS)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
