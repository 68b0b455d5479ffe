"""The ledger of turns: what is owed to whom, whenever the program ends."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from cc_bot.chat.stores.ledger import channel_turn_id
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.usage import ReservationRequest, Settlement
from cc_bot.domain.errors import StorageError, TooManyAtOnce, TurnLost
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.session import Session
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import INTERRUPTED_LIFETIME, AskedFile, AskedQuestion, PendingTurn, Usage
from cc_bot.domain.usage import LimitKey, LimitRules, ModelUsage, Payer
from tests.stores.backends import KEY, OTHER_USER, OpenStores, got, turn
from tests.stores.locations import answer, said

ME, STRANGER = KEY.user_id, OTHER_USER.user_id
NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
QUESTION = AskedQuestion(
    "猫の名前は？",
    "あいこ",
    (AskedFile("写真.png", "https://cdn.example/a.png?ex=1", 12, "image/png"),),
    reply_to=11,
    forwards=(12, 13),
    pointing="menu",
)
ASKED = PendingTurn(
    "e1",
    KEY,
    "ask",
    "public",
    NOW,
    guild_id=5,
    locale=Locale.JA,
    question=QUESTION,
    interaction_id=38,
    token="an interaction's",
    token_until=NOW + timedelta(minutes=14),
)
AGAIN = PendingTurn(
    *("e2", OTHER_USER, "again", "private", NOW + timedelta(seconds=1)),
    replaces=7,
    token="another's",
    token_until=NOW,
    ephemeral=True,
    below=True,
    shown_in=70,
    earlier=(68, 69),
)


async def interrupted(stores: Stores) -> PendingTurn:
    await stores.ledger.accept(ASKED)
    await stores.ledger.mark_interrupted("e1", ME)
    [entry] = await stores.ledger.adopt_unfinished()
    return entry


class TestEntry:
    async def test_comes_with_what_is_reserved_for_it_or_not_at_all(self, stores: Stores) -> None:
        request = ReservationRequest(Payer(ME), "turn", "small", 100)
        rules: LimitRules = {LimitKey("everyone", 0, "concurrent"): 1}
        reservation = await stores.usage.reserve(request, rules, ASKED)
        with pytest.raises(TooManyAtOnce):
            await stores.usage.reserve(request, rules, replace(ASKED, id="e3"))
        assert [entry.id for entry in await stores.ledger.adopt_unfinished()] == ["e1"]
        await stores.usage.release(reservation)
        await stores.usage.reserve(request, rules)
        assert await stores.usage.list_for_user(ME, date(2000, 1, 1)) == ()

    async def test_is_read_as_it_was_written_until_it_is_settled(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.ledger.accept(AGAIN)
            await stores.ledger.accept(ASKED)
        async with open_again() as stores:
            assert await stores.ledger.adopt_unfinished() == (ASKED, AGAIN)
            await stores.ledger.set_answer_message_id("e1", ME, 40)
            for message_id in (41, 42):
                await stores.ledger.add_page("e1", ME, message_id)
            shown = replace(ASKED, shown_in=40, pages=(41, 42))
            assert await stores.ledger.adopt_unfinished() == (shown, AGAIN)
            await stores.ledger.delete("e2", STRANGER)
            await stores.ledger.move(ASKED, 99, (43,))  # the bot writes by itself from now on
            [moved] = await stores.ledger.adopt_unfinished()
            assert (moved.location_id, moved.pages, moved.token, moved.token_until) == (99, (43,), None, None)
            for _ in range(2):
                await stores.ledger.delete("e1", ME)
                await stores.ledger.mark_interrupted("e1", ME)
                assert await stores.ledger.adopt_unfinished() == ()

    async def test_is_its_users_alone(self, stores: Stores) -> None:
        await stores.ledger.accept(ASKED)
        await stores.ledger.set_answer_message_id("e1", STRANGER, 40)
        await stores.ledger.add_page("e1", STRANGER, 41)
        await stores.ledger.move(replace(ASKED, key=OTHER_USER), 99, ())
        await stores.ledger.mark_interrupted("e1", STRANGER)
        await stores.ledger.delete("e1", STRANGER)
        assert await stores.ledger.adopt_unfinished() == (ASKED,)
        await stores.ledger.mark_interrupted("e1", ME)
        assert await stores.ledger.claim("e1", STRANGER, lambda found: found) is None

    async def test_of_a_temporary_turn_holds_no_question(self, stores: Stores) -> None:
        await stores.ledger.accept(replace(ASKED, temporary=True))
        await stores.ledger.store_transcript("e1", ME, "十時です")
        [entry] = await stores.ledger.adopt_unfinished()
        assert entry.question is None

    async def test_of_a_message_asks_what_that_is_edited_to(self, stores: Stores) -> None:
        await stores.ledger.record_retryable_failure(replace(ASKED, kind="message", question_id=39))
        await stores.channels.edit(39, "犬の名前は？")
        entry = await stores.ledger.claim("e1", ME, lambda found: found)
        assert entry is not None
        assert entry.question == replace(QUESTION, text="犬の名前は？")
        await stores.channels.edit(39, "@ケン の名前は？", tainted=True)
        [entry] = await stores.ledger.adopt_unfinished()
        assert entry.question == replace(QUESTION, text="@ケン の名前は？", tainted=True)

    async def test_of_a_message_that_got_no_answer_goes_with_it(self, stores: Stores) -> None:
        await stores.ledger.record_retryable_failure(replace(ASKED, kind="message", question_id=39))
        await stores.ledger.accept(replace(AGAIN, kind="message", question_id=40))
        assert await stores.channels.delete((39, 40)) == 1
        assert [entry.question_id for entry in await stores.ledger.adopt_unfinished()] == [40]

    async def test_of_a_message_that_comes_twice_is_one(self, stores: Stores) -> None:
        message = replace(ASKED, kind="message", question_id=39)
        await stores.ledger.accept(message)
        await stores.ledger.accept(replace(message, id="e3"))
        assert [entry.id for entry in await stores.ledger.adopt_unfinished()] == ["e3"]


REMINDER = ToolCall("c1", "schedule", "{}", '{"scheduled": {"id": 1, "text": "薬", "ref": 1}}')
BEGUN = ToolCall("c2", "remember", "{}", "", ok=False)


async def calls_of(stores: Stores, turn: str, user_id: int) -> tuple[ToolCall, ...]:
    of_sessions = [each for each in await stores.ledger.adopt_unfinished() if each.key.user_id == user_id]
    due = await stores.ledger.list_due(ChannelKey(5))
    found = {channel_turn_id(got(each.question.discord_id)): each.calls for each in due}
    return {**found, **{each.id: each.calls for each in of_sessions}}.get(turn, ())


class TestCalls:
    async def test_stand_with_their_turn_until_it_is_answered(self, stores: Stores) -> None:
        session = await stores.sessions.open(KEY)
        await stores.ledger.accept(ASKED)
        await stores.ledger.note_calls("e1", ME, [BEGUN])
        await stores.ledger.note_calls("e1", ME, [])  # nothing came of it
        assert await calls_of(stores, "e1", ME) == ()
        await stores.ledger.note_calls("e1", ME, [REMINDER, BEGUN])
        [entry] = await stores.ledger.adopt_unfinished()
        assert entry.calls == (REMINDER, BEGUN)
        await stores.sessions.store_turn(session, turn("薬"), turn_id="e1")
        assert await calls_of(stores, "e1", ME) == ()

    async def test_go_with_whoever_asks_again_and_back_until_nobody_does(self, stores: Stores) -> None:
        await stores.ledger.accept(ASKED)
        await stores.ledger.note_calls("e1", ME, [REMINDER])
        await stores.ledger.mark_interrupted("e1", ME)
        taken = got(
            await stores.ledger.claim(
                "e1", ME, lambda former: replace(former, id="e9", state="accepted", former="e1")
            )
        )
        assert taken.calls == await calls_of(stores, "e9", ME) == (REMINDER,)
        await stores.ledger.release_claim("e9", ME)
        [entry] = await stores.ledger.adopt_unfinished()
        assert (entry.id, entry.calls) == ("e1", (REMINDER,))
        await stores.ledger.forget_interrupted(NOW + timedelta(days=8))
        assert await calls_of(stores, "e1", ME) == ()

    async def test_go_with_their_entry(self, stores: Stores) -> None:
        asked = replace(ASKED, kind="message", question_id=80)
        for gone in (
            lambda: stores.ledger.delete("e1", ME),
            lambda: stores.ledger.accept(replace(asked, id="e2")),  # delivered once more
            lambda: stores.channels.delete([80]),
        ):
            await stores.ledger.delete("e2", ME)
            await stores.ledger.accept(asked)
            await stores.ledger.note_calls("e1", ME, [REMINDER])
            await stores.ledger.mark_interrupted("e1", ME)
            assert await calls_of(stores, "e1", ME) == (REMINDER,)
            await gone()
            assert await calls_of(stores, "e1", ME) == ()

    async def test_are_their_users_alone(self, stores: Stores) -> None:
        await stores.ledger.accept(ASKED)
        await stores.ledger.note_calls("e1", ME, [REMINDER])
        await stores.ledger.note_calls("e1", STRANGER, [BEGUN])
        await stores.ledger.note_calls("e1", STRANGER, [])
        assert await calls_of(stores, "e1", STRANGER) == ()
        assert await calls_of(stores, "e1", ME) == (REMINDER,)

    async def test_on_a_memory_that_is_erased_meanwhile_are_told_without_it(self, stores: Stores) -> None:
        await stores.ledger.accept(ASKED)
        told = '{"remembered": {"id": 1, "content": "猫", "ref": 4711}}'
        await stores.ledger.note_calls("e1", ME, [ToolCall("c3", "remember", "{}", told)])
        [call] = await calls_of(stores, "e1", ME)
        assert "猫" not in call.result

    async def test_of_a_channels_question_go_with_its_answer_or_when_it_waits_no_more(
        self, stores: Stores
    ) -> None:
        channel = ChannelKey(5)
        ways: tuple[Callable[[Message], Awaitable[object]], ...] = (
            lambda asked: stores.channels.archive_answer(channel, answer(81), [asked]),
            lambda asked: stores.ledger.mark_failed(channel, [asked]),
            lambda asked: stores.channels.delete([got(asked.discord_id)]),
            lambda _: stores.channels.forget_channel(channel),
        )
        for number, over in enumerate(ways):
            question, other = said(70 + number, author_id=ME), said(90, author_id=ME)
            names = [channel_turn_id(got(each.discord_id)) for each in (question, other)]
            for asked, name in zip((question, other), names, strict=True):
                await stores.channels.add(channel, asked, is_question=True)
                await stores.ledger.note_calls(name, ME, [REMINDER])
            await over(question)
            left = [await calls_of(stores, name, ME) for name in names]
            assert left == [(), () if number == 3 else (REMINDER,)]


class TestAnswer:
    async def test_its_entry_and_what_it_has_used_are_written_together_and_once(self, stores: Stores) -> None:
        request = ReservationRequest(Payer(ME), "turn", "small", 100)
        reservation = await stores.usage.reserve(request, {}, ASKED)
        settlement = Settlement(reservation, ((ModelUsage("small", Usage(10, 5)), 3),))
        session = await stores.sessions.open(KEY)
        exchange = turn("猫の名前は？", answer="タマです。")
        stored = await stores.sessions.store_turn(session, exchange, turn_id="e1", settlement=settlement)
        [entry] = await stores.ledger.adopt_unfinished()
        assert (entry.state, entry.question, entry.answer_id) == ("answered", None, stored.messages[-1].id)
        found = got(await stores.ledger.get_answer(entry.key.user_id, entry.answer_id))
        assert found.content == "タマです。"
        assert await stores.ledger.get_answer(OTHER_USER.user_id, entry.answer_id) is None
        with pytest.raises(TurnLost):
            await stores.sessions.store_turn(session, exchange, turn_id="e1", settlement=settlement)
        assert len((await stores.sessions.open(KEY)).history) == 2
        [used] = await stores.usage.list_for_user(ME, date(2000, 1, 1))
        assert (used.turns, used.usage, used.cost_micros) == (1, Usage(10, 5), 3)

    async def test_that_is_refused_or_of_another_turn_leaves_the_question(self, stores: Stores) -> None:
        theirs = await stores.sessions.open(OTHER_USER)
        await stores.ledger.accept(ASKED)
        not_mine = Session(theirs.id, KEY, (), theirs.created_at, theirs.last_active)
        with pytest.raises(StorageError):
            await stores.sessions.store_turn(not_mine, turn("?"), turn_id="e1")
        await stores.sessions.store_turn(await stores.sessions.open(KEY), turn("?"))
        assert await stores.ledger.adopt_unfinished() == (ASKED,)


class TestInterrupted:
    async def test_waits_with_its_question_and_without_a_token(self, stores: Stores) -> None:
        entry = await interrupted(stores)
        assert (entry.state, entry.question, entry.token) == ("interrupted", QUESTION, None)

    async def test_is_taken_once_and_given_back_where_nobody_heard_of_it(self, stores: Stores) -> None:
        await stores.ledger.accept(ASKED)
        assert await stores.ledger.claim("e1", ME, lambda found: found) is None, "it is not interrupted yet"
        await stores.ledger.mark_interrupted("e1", ME)
        [before] = await stores.ledger.adopt_unfinished()

        def renewed(found: PendingTurn) -> PendingTurn:
            return replace(found, id="e9", state="accepted", token="new", token_until=NOW, former="e1")

        taken = await stores.ledger.claim("e1", ME, renewed)
        assert taken == renewed(before)
        assert await stores.ledger.claim("e1", ME, renewed) is None
        await stores.ledger.release_claim("e9", STRANGER)
        assert await stores.ledger.adopt_unfinished() == (taken,)
        await stores.ledger.release_claim("e9", ME)
        assert await stores.ledger.adopt_unfinished() == (before,)

    async def test_is_forgotten_after_a_week(self, stores: Stores) -> None:
        await stores.ledger.accept(AGAIN)
        await stores.ledger.accept(ASKED)
        await stores.ledger.mark_interrupted("e1", ME)
        await stores.ledger.forget_interrupted(NOW)
        assert len(await stores.ledger.adopt_unfinished()) == 2
        await stores.ledger.forget_interrupted(NOW + INTERRUPTED_LIFETIME)
        assert await stores.ledger.adopt_unfinished() == (AGAIN,)


class TestHeard:
    async def test_is_there_when_the_question_is_asked_again(self, stores: Stores) -> None:
        await stores.ledger.accept(ASKED)
        await stores.ledger.store_transcript("e1", STRANGER, "他人の言葉")
        await stores.ledger.store_transcript("e1", ME, "十時です")
        await stores.ledger.mark_interrupted("e1", ME)
        taken = got(await stores.ledger.claim("e1", ME, lambda turn: replace(turn, id="e2")))
        assert taken.question == replace(QUESTION, heard="十時です")
