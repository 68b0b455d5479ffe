"""What holds for a canvas after any sequence of turns, heartbeats, expiries and clearings."""

from datetime import timedelta
from typing import Literal
from uuid import uuid4

import pytest
from freezegun import freeze_time
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain.canvas import Canvas, Drawn, reduce_all
from cc_bot.domain.session import SessionKey
from cc_bot.stores import Stores
from tests.domain.canvases import DRAWINGS
from tests.stores.backends import OpenStores, turn

pytestmark = pytest.mark.slow

Kind = Literal["turn", "late turn", "heartbeat", "expiry", "clear session", "clear canvas"]
KINDS: tuple[Kind, ...] = ("turn", "late turn", "heartbeat", "expiry", "clear session", "clear canvas")
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), DRAWINGS), max_size=8)


class Following:
    """A store's canvas, and what it has to be, told in the plainest way."""

    def __init__(self, stores: Stores, key: SessionKey) -> None:
        self._stores = stores
        self._key = key
        self._open = False
        self.expected = Canvas()

    async def does(self, kind: Kind, drawn: list[Drawn]) -> bool:
        """Whether time has to pass for it."""
        stores, key = self._stores, self._key
        match kind:
            case "turn" | "late turn":
                session = await stores.sessions.open(key)
                self._open = True
                if kind == "late turn":
                    await stores.sessions.clear(key)
                    self.expected = Canvas()
                else:
                    self.expected = reduce_all(self.expected, drawn)
                await stores.sessions.commit_turn(session, turn("a"), drawn=drawn)
            case "heartbeat":
                if await stores.canvases.draw(key, drawn) is not None:
                    self.expected = reduce_all(self.expected, drawn)
                    assert self._open
                else:
                    assert not self._open
            case "expiry":
                self._open = False
                return True
            case "clear session":
                await stores.sessions.clear(key)
                self.expected, self._open = Canvas(), True
            case "clear canvas":
                assert await stores.canvases.clear(key) == (not self.expected.empty)
                self.expected = Canvas()
        return False


class TestCanvas:
    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(steps=STEPS, swept=st.booleans())
    async def test_is_what_was_drawn_and_its_revision_never_repeats(
        self, open_again: OpenStores, steps: list[tuple[Kind, list[Drawn]]], swept: bool
    ) -> None:
        key = SessionKey(uuid4().int % 2**60, 1)  # the database is that of all examples
        known: dict[int, Canvas] = {}
        async with open_again() as stores:
            with freeze_time("2026-11-22", real_asyncio=True) as clock:
                following, last = Following(stores, key), 0
                for kind, drawn in steps:
                    clock.tick(timedelta(minutes=1))
                    if await following.does(kind, drawn):
                        clock.tick(timedelta(days=2))
                        if swept:
                            await stores.sessions.expire()
                    seen = await stores.canvases.get(key)
                    canvas, revision = (seen.canvas, seen.revision) if seen else (Canvas(), 0)
                    assert canvas == following.expected
                    assert revision >= last
                    assert known.setdefault(revision, canvas) == canvas
                    last = revision
                assert (await stores.sessions.open(key)).canvas == following.expected
