"""Canvases: what is up under a key, from turn to turn and from session to session, and how it is written."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from freezegun import freeze_time
from hypothesis import given, settings

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement
from cc_bot.domain.message import ToolCall
from cc_bot.domain.session import SessionKey
from cc_bot.features.agents.store import ChoiceStore
from cc_bot.features.canvas.drawing import canvas_from_json, canvas_to_json, make_redraw, remove_element
from cc_bot.features.canvas.model import Canvas, Card, Edit, RemoveElement, SetMode, UpdateCard, apply_edits
from cc_bot.features.canvas.store import CanvasMessageStore
from tests.domain.canvases import DRAWINGS
from tests.stores.backends import KEY, OTHER_KEYS, OTHER_USER, OpenStores, got, turn
from tests.stores.forgetting import remembered, stored

CAT = Edit(Card("cat", "猫", "モチ"), "public")
SECRET = Edit(Card("pay", "給料日", "25日"), "private")
MOCHI = Card("cat", "猫", "モチ")
PAY = Card("pay", "給料日", "25日", visibility="private")


async def draw(stores: Stores, *drawn: Edit, key: SessionKey = KEY) -> None:
    session = await stores.sessions.open(key)
    await stores.sessions.commit_turn(session, turn("描いて"), redraw=make_redraw(drawn))


async def up(stores: Stores, key: SessionKey = KEY) -> Canvas:
    seen = got(await stores.canvases.get(key))
    return canvas_from_json(seen.state)


async def revision(stores: Stores) -> int:
    seen = got(await stores.canvases.get(KEY))
    return seen.revision


class TestDrawing:
    async def test_is_committed_with_its_turn_under_its_key_alone(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            session = await stores.sessions.open(KEY)
            assert canvas_from_json(session.canvas) == Canvas()
            gone = Edit(RemoveElement("nothing"), "public")
            for nothing in ([gone], []):
                assert (
                    await stores.sessions.store_turn(session, turn("a"), redraw=make_redraw(nothing))
                ).canvas is None
            redraw = make_redraw([CAT, SECRET])
            drawn = await stores.sessions.store_turn(session, turn("描いて"), redraw=redraw)
            assert canvas_from_json(drawn.canvas or "") == Canvas((MOCHI, PAY)) == await up(stores)
        async with open_again() as stores:
            assert (await stores.sessions.open(KEY)).canvas == drawn.canvas
            for other in OTHER_KEYS:
                assert await stores.canvases.get(other) is None
                assert canvas_from_json((await stores.sessions.open(other)).canvas) == Canvas()


class TestExpiry:
    async def test_carries_the_canvas_to_the_next_session(self, stores: Stores) -> None:
        with freeze_time("2026-11-22", real_asyncio=True) as clock:
            for number in range(3):
                await draw(
                    stores, Edit(SetMode("clear"), "public"), Edit(Card("", "日", f"{number}"), "public")
                )
                clock.tick(timedelta(days=5))  # which nobody swept
            await stores[CanvasMessageStore].record(KEY, 70, await revision(stores))
            before = (await up(stores), await revision(stores))
            assert await stores.sessions.expire() == 1
            assert await stores[CanvasMessageStore].list_outdated_keys(9) == []
            assert (await up(stores), await revision(stores)) == before
            session = await stores.sessions.open(KEY)
            assert await stores[CanvasMessageStore].list_outdated_keys(9) == []
        assert canvas_from_json(session.canvas) == Canvas((Card("card-1", "日", "2"),))
        assert (await up(stores), await revision(stores)) == before


class TestClear:
    async def test_of_a_session_empties_it_and_tells_whether_anything_was_up(self, stores: Stores) -> None:
        assert not await stores.canvases.clear(KEY)
        await draw(stores, CAT, SECRET)
        await draw(stores, CAT, key=OTHER_USER)
        before = await revision(stores)
        assert canvas_from_json((await stores.sessions.clear(KEY)).canvas) == Canvas() == await up(stores)
        assert await revision(stores) > before
        await draw(stores, SECRET)
        assert await stores.canvases.clear(KEY)
        assert not await stores.canvases.clear(KEY)
        assert await up(stores, OTHER_USER) == Canvas((MOCHI,))


class TestAtOnce:
    async def test_two_turns_lose_nothing_of_each_other_but_what_was_taken_down(self, stores: Stores) -> None:
        one, other = await stores.sessions.open(KEY), await stores.sessions.open(KEY)
        dog = Edit(Card("cat", "犬", "ポチ"), "public")
        renamed = Edit(UpdateCard("cat", title="いぬ"), "public")
        await stores.sessions.commit_turn(one, turn("a"), redraw=make_redraw([CAT]))
        await stores.sessions.commit_turn(other, turn("b"), redraw=make_redraw([dog, renamed]))
        assert await up(stores) == Canvas((MOCHI, Card("cat-2", "いぬ", "ポチ")))
        session = await stores.sessions.open(KEY)
        await stores.canvases.clear(KEY)
        drawn = [Edit(UpdateCard("cat", content="ミケ"), "public"), SECRET]
        await stores.sessions.commit_turn(session, turn("a"), redraw=make_redraw(drawn))
        assert await up(stores) == Canvas((PAY,))


class TestHeartbeat:
    async def test_draws_on_the_open_session_and_nowhere_without_one(self, stores: Stores) -> None:
        assert await stores.canvases.draw(KEY, make_redraw([CAT])) is None
        with freeze_time("2026-11-22", real_asyncio=True) as clock:
            session = await stores.sessions.open(KEY)
            assert await stores.canvases.draw(KEY, make_redraw([CAT])) == canvas_to_json(Canvas((MOCHI,)))
            drawn = await stores.sessions.open(KEY)
            assert (canvas_from_json(drawn.canvas), drawn.last_active) == (
                Canvas((MOCHI,)),
                session.last_active,
            )
            clock.tick(timedelta(days=5))
            assert await stores.canvases.draw(KEY, make_redraw([SECRET])) is None
            await stores.sessions.expire()
            assert await stores.canvases.draw(KEY, make_redraw([SECRET])) is None
            assert canvas_from_json((await stores.sessions.open(KEY)).canvas) == Canvas((MOCHI,))


class TestDamagedState:
    async def test_is_an_empty_canvas_and_can_be_drawn_on(self, stores: Stores, database: Database) -> None:
        for state in ("", "not json", "[]", "{}", '{"elements":{}}', "[" * 100_000, "null"):
            damage = Statement("UPDATE sessions SET canvas_state = $1", (state,))
            await stores.sessions.open(KEY)
            await database.transaction([damage], ())
            assert canvas_from_json((await stores.sessions.open(KEY)).canvas) == Canvas()
            await draw(stores, CAT)
            assert await up(stores) == Canvas((MOCHI,))
            await database.transaction([damage], ())
            assert canvas_from_json((await stores.sessions.clear(KEY)).canvas) == Canvas()


class TestClock:
    async def test_goes_on_whenever_pages_may_have_another_canvas_to_show(self, stores: Stores) -> None:
        memory = await stores.memories.add(KEY.user_id, "給料日は毎月25日ですから、家賃はその翌日")
        session = await stores.sessions.open(KEY)
        other = await stores.sessions.open(OTHER_USER)
        quiet = await stores.canvases.read_clock()
        for change in (stores.canvases.clear(KEY), stores.sessions.commit_turn(session, turn("a"))):
            await change
            assert await stores.canvases.read_clock() == quiet
        text = Edit(Card("payday", "給料日", memory.content), "public")
        arguments = json.dumps({"title": "給料日", "content": memory.content})
        drew = ToolCall("2", "canvas_add_card", arguments, '{"id": "payday"}')
        await stored(stores, "給料日は？", "25日です", remembered(memory), drew)
        quiet = await stores.canvases.read_clock()
        for drawing in (
            lambda: draw(stores, CAT, text),
            lambda: stores.canvases.draw(KEY, make_redraw([SECRET])),
            lambda: remove_element(stores.canvases, KEY, "cat"),
            lambda: stores.memory_removal.erase(KEY.user_id, memory.id, stub="×"),
            lambda: stores.canvases.clear(KEY),
        ):
            before, shown = await stores.canvases.read_clock(), await revision(stores)
            await drawing()
            after = await stores.canvases.read_clock()
            assert (after.changes > before.changes, await revision(stores) > shown) == (True, True)
            assert await stores.canvases.list_changed_keys(before.changes) == [KEY]
            assert await stores.canvases.list_changed_keys(after.changes) == []

        async def prune() -> None:
            await stores.sessions.clear(KEY)
            assert await stores.retention.prune_sessions(datetime.now(UTC))

        moves: tuple[Callable[[], Awaitable[object]], ...] = (
            lambda: stores[ChoiceStore].choose(KEY.user_id, KEY.channel_id, "tutor"),
            lambda: stores[ChoiceStore].choose(KEY.user_id, KEY.channel_id, None),
            lambda: stores[ChoiceStore].set_default(KEY.channel_id, 1, "tutor", 2),
            lambda: stores[ChoiceStore].unset_default(KEY.channel_id),
            lambda: stores.archive.delete_session(KEY.user_id, session.id),
            prune,
            lambda: stores.personal_data.erase(other.key.user_id),
        )
        for move in moves:
            before = await stores.canvases.read_clock()
            await move()
            assert (await stores.canvases.read_clock()).switches > before.switches


class TestMessage:
    async def test_is_known_by_key_and_id_until_it_or_its_user_is_gone(self, stores: Stores) -> None:
        await draw(stores, CAT)
        await draw(stores, CAT, key=OTHER_USER)
        await stores[CanvasMessageStore].record(KEY, 70, 1)
        await stores[CanvasMessageStore].record(OTHER_USER, 71, 1)
        await stores[CanvasMessageStore].record(KEY, 72, 2)
        shown = got(await stores[CanvasMessageStore].get(KEY))
        assert (shown.message_id, shown.shown_revision) == (72, 2)
        assert await stores[CanvasMessageStore].get_key(72) == KEY
        assert await stores[CanvasMessageStore].get_key(70) is None
        await stores[CanvasMessageStore].forget(KEY)
        assert (await stores[CanvasMessageStore].get(KEY), await stores[CanvasMessageStore].get_key(72)) == (
            None,
            None,
        )
        assert await stores[CanvasMessageStore].get_key(71) == OTHER_USER
        assert await stores[CanvasMessageStore].record(KEY, 70, 1)
        await stores.personal_data.erase(KEY.user_id)
        assert not await stores[CanvasMessageStore].record(KEY, 70, 2)
        assert await stores[CanvasMessageStore].get_key(71) == OTHER_USER


class TestColumn:
    @settings(max_examples=60)
    @given(DRAWINGS)
    def test_gives_back_the_canvas_that_was_written(self, drawings: list[Edit]) -> None:
        canvas = apply_edits(Canvas(), drawings)
        assert canvas_from_json(canvas_to_json(canvas)) == canvas
