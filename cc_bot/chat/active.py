"""The turns of this process that wait or run.

A user's turns run one at a time, in order. The total is limited, which bounds cost. A user's turns in
channels have a queue of their own, and an approved call does not queue.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final, Literal, TypeVar

import structlog

from cc_bot.concurrency import cancel_tasks
from cc_bot.domain import errors
from cc_bot.domain.measures import NULL_METER, Meter, Phase
from cc_bot.domain.turn import Done, Notice

MAX_WAITING: Final = 5  # turns with the same queue key
MAX_WAITING_PER_SLOT: Final = 25  # a longer queue would mostly time out
MAX_WAIT_S: Final = 180.0  # with a turn's time limit, below the 900 s of an interaction token
NOTICE_EVERY_S: Final = 5.0  # each queue notice is a message edit


@dataclass(frozen=True, slots=True)
class Load:
    running: int
    waiting: int


Result = TypeVar("Result")


class Stop:
    """A request to end one turn. The text so far is stored, unless discarded."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.task: asyncio.Task[Any] | None = None
        self.status: Literal["stopped", "cut"] = "stopped"
        self.discarded = False

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def request(self, status: Literal["stopped", "cut"] = "stopped") -> None:
        if not self.requested:
            self.status = status
            self._event.set()
            if self.task is not None:
                self.task.cancel()

    def discard(self) -> None:
        self.discarded = True
        self.request()

    async def wait(self) -> None:
        await self._event.wait()


async def until_stopped(work: Coroutine[Any, Any, Result], stop: Stop) -> Result | None:
    """Run the work and return its result; None if a stop request cancelled it."""
    stop.task = task = asyncio.create_task(work)
    if stop.requested:
        task.cancel()
    try:
        await asyncio.wait((task,))
    finally:
        stop.task = None
        await cancel_tasks(task)
    return None if task.cancelled() else task.result()


_log = structlog.get_logger(__name__)

_LOG_FIELDS: Final[dict[Phase, str]] = {
    "queue": "queue_s",
    "hearing": "hearing_s",
    "store": "store_s",
    "model_first_token": "first_token_s",
    "model": "model_s",
    "tools": "tools_s",
}
_REFUSALS: Final = (
    errors.AgentGone,
    errors.Busy,
    errors.InputError,
    errors.LimitReached,
    errors.NotNewest,
    errors.ShuttingDown,
)


@dataclass(eq=False, slots=True)
class ActiveTurn:
    user_id: int = 0
    stop: Stop = field(default_factory=Stop)
    queue_key: Hashable = None  # turns with the same key run one at a time; None for an approved call
    id: str = ""
    meter: Meter = NULL_METER
    admitted: asyncio.Event = field(default_factory=asyncio.Event)  # set once the turn has a slot
    is_running: bool = False
    last_notice: Notice | None = None
    phase: Phase = "queue"
    _started_s: float = field(default_factory=time.monotonic)
    _model_started_s: float | None = None
    _phase_times_s: dict[Phase, float] = field(default_factory=dict)

    @property
    def age_s(self) -> float:
        return round(time.monotonic() - self._started_s, 3)

    @contextmanager
    def measure(self, phase: Phase) -> Iterator[None]:
        started_s, self.phase = time.monotonic(), phase
        if phase == "model" and self._model_started_s is None:
            self._model_started_s = started_s
        try:
            yield
        finally:
            self._phase_times_s[phase] = self._phase_times_s.get(phase, 0.0) + time.monotonic() - started_s

    def record_first_token(self) -> None:
        if self._model_started_s is not None:
            self._phase_times_s.setdefault("model_first_token", time.monotonic() - self._model_started_s)

    def record_answer(self, done: Done) -> None:
        seconds, status, usage = self.age_s, done.answer.status, done.usage
        _log.info(
            "turn_done",
            status=status,
            tools=len(done.answer.tool_calls),
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=usage.cached_tokens,
            completion_tokens=usage.completion_tokens,
            seconds=seconds,
            **self._phases_to_log(),
        )
        self.meter.record_turn("complete" if status == "replaced" else status, seconds, self._phase_times_s)

    def record_failure(self, error: Exception) -> None:
        seconds, kind = self.age_s, type(error).__name__
        if isinstance(error, errors.CcBotError):  # others are logged where they are caught
            limit = {"limit": error.params["what"]} if isinstance(error, errors.LimitReached) else {}
            _log.warning("turn_failed", error=kind, seconds=seconds, **limit, **self._phases_to_log())
        self.meter.record_failure(kind)
        refused = isinstance(error, _REFUSALS)
        self.meter.record_turn("refused" if refused else "failed", seconds, self._phase_times_s)

    def _phases_to_log(self) -> dict[str, float]:
        return {
            name: round(self._phase_times_s[phase], 3)
            for phase, name in _LOG_FIELDS.items()
            if phase in self._phase_times_s
        }


class ActiveTurns:
    def __init__(
        self, max_turns: int, *, notice_every_s: float = NOTICE_EVERY_S, max_wait_s: float = MAX_WAIT_S
    ) -> None:
        self._max_turns = max_turns
        self._notice_every_s = notice_every_s
        self._max_wait_s = max_wait_s
        self._turns: dict[ActiveTurn, None] = {}
        self._erasures = Counter[int]()  # while above 0, the user's new turns are rejected
        self._closed = asyncio.Event()
        self._turn_ended = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._turns)

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    @property
    def queued_turns(self) -> tuple[ActiveTurn, ...]:
        """All turns but approved calls, oldest first."""
        return tuple(turn for turn in self._turns if turn.queue_key is not None)

    @property
    def load(self) -> Load:
        admitted = [turn.admitted.is_set() for turn in self.queued_turns]
        return Load(sum(admitted), admitted.count(False))

    @contextmanager
    def join(self, turn: ActiveTurn) -> Iterator[None]:
        """Keep the turn queued or running in the block. Raises BeingErased, Busy if too many turns with the
        same key wait, Crowded if too many turns wait in all, and ShuttingDown once closed."""
        if self._erasures[turn.user_id]:
            raise errors.BeingErased
        if self.is_closed:
            raise errors.ShuttingDown
        if turn.queue_key is None:
            turn.is_running = True
        elif sum(other.queue_key == turn.queue_key for other in self._turns) > MAX_WAITING:
            raise errors.Busy
        elif self.load.waiting >= self._max_turns * MAX_WAITING_PER_SLOT:
            raise errors.Crowded
        self._turns[turn] = None
        self._admit()
        try:
            yield
        finally:
            del self._turns[turn]
            self._turn_ended.set()
            self._admit()

    def announce(self, turn: ActiveTurn, emit: Callable[[Notice], None]) -> None:
        """Emit how many turns are ahead, if that changed; None while an earlier turn has the same key."""
        earlier = list(takewhile(lambda other: other is not turn, self.queued_turns))
        is_blocked = any(other.queue_key == turn.queue_key for other in earlier)
        ahead = None if is_blocked else sum(not other.admitted.is_set() for other in earlier)
        notice = Notice("queued", ahead=ahead)
        if notice != turn.last_notice:
            turn.last_notice = notice
            emit(notice)

    async def wait_for_slot(self, turn: ActiveTurn, emit: Callable[[Notice], None]) -> None:
        """Wait for a slot or a stop. Raises Crowded after MAX_WAIT_S, and ShuttingDown once closed."""
        if not turn.admitted.is_set() and not self.is_closed:
            await self._wait_until_admitted(turn, emit)
        if self.is_closed:
            raise errors.ShuttingDown
        turn.is_running = True
        if turn.last_notice is not None:
            emit(Notice("started"))

    def discard(self, user_ids: Collection[int]) -> None:
        for turn in self._turns:
            if turn.user_id in user_ids:
                turn.stop.discard()

    @asynccontextmanager
    async def block_user(self, user_id: int) -> AsyncIterator[None]:
        """Discard the user's turns, and reject new ones in the block, so that an erasure misses none."""
        self._erasures[user_id] += 1
        try:
            while any(turn.user_id == user_id for turn in self._turns):
                self.discard([user_id])
                await self._until_turn_ended()
            yield
        finally:
            self._erasures[user_id] -= 1

    async def drain(self, grace_s: float) -> None:
        """Reject new and waiting turns. Running ones get `grace_s` seconds, then are cut."""
        self._closed.set()
        try:
            async with asyncio.timeout(grace_s):
                await self._until_none_runs()
        except TimeoutError:
            self.cut_running()
            await self._until_none_runs()

    def cut_running(self) -> None:
        for turn in self._turns:
            if turn.is_running:
                turn.stop.request("cut")

    async def _until_none_runs(self) -> None:
        while any(turn.is_running for turn in self._turns):
            await self._until_turn_ended()

    async def _until_turn_ended(self) -> None:
        self._turn_ended.clear()
        await self._turn_ended.wait()

    async def _wait_until_admitted(self, turn: ActiveTurn, emit: Callable[[Notice], None]) -> None:
        deadline_s = asyncio.get_running_loop().time() + self._max_wait_s
        waiters = [asyncio.create_task(event.wait()) for event in (turn.admitted, turn.stop, self._closed)]
        try:
            while not (turn.admitted.is_set() or turn.stop.requested or self.is_closed):
                self.announce(turn, emit)
                left_s = deadline_s - asyncio.get_running_loop().time()
                if left_s <= 0:
                    raise errors.Crowded
                wait_s = min(self._notice_every_s, left_s)
                await asyncio.wait(waiters, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel_tasks(*waiters)

    def _admit(self) -> None:
        free_slots, seen_keys = self._max_turns - self.load.running, set[Hashable]()
        for turn in self.queued_turns:
            if free_slots and turn.queue_key not in seen_keys and not turn.admitted.is_set():
                turn.admitted.set()
                free_slots -= 1
            seen_keys.add(turn.queue_key)
