"""The model's reminders: its user's own."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import cc_bot.tools
from cc_bot.domain import Locale, SessionKey
from cc_bot.domain.message import Visibility
from cc_bot.llm.model import ToolRequest
from cc_bot.stores import Stores
from cc_bot.tools.registry import ToolContext, ToolOutcome, discover

KEY = SessionKey(user_id=1, channel_id=10)
OTHER = SessionKey(user_id=2, channel_id=10)
TOOLS = discover(cc_bot.tools)
NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)  # noon on a Sunday in Tokyo

Call = Callable[..., Any]


@pytest.fixture
def call(stores: Stores) -> Call:
    async def run(
        name: str,
        *,
        key: SessionKey = KEY,
        visibility: Visibility = "public",
        context: dict[str, Any] | None = None,
        **arguments: Any,
    ) -> ToolOutcome:
        about = ToolContext(
            user_id=key.user_id,
            visibility=visibility,
            locale=Locale.JA,
            timezone=ZoneInfo("Asia/Tokyo"),
            memories=stores.memories,
            tainted=False,
            clock=lambda: NOW,
            **{"key": key, "schedules": stores.schedules, **(context or {})},
        )
        request = ToolRequest("1", name, json.dumps(arguments))
        return await TOOLS.call(request, about, TOOLS.schemas())

    return run


def told(outcome: ToolOutcome) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(outcome.text)
    return found


class TestScheduling:
    async def test_makes_a_reminder_of_the_user_and_says_what_it_made(
        self, call: Call, stores: Stores
    ) -> None:
        outcome = await call(
            "schedule", when="2026-11-23T09:00", text="薬", context={"guild_id": 5, "place": "channel"}
        )
        [kept] = await stores.schedules.list(KEY.user_id)
        assert (kept.key, kept.text, kept.guild_id, kept.place) == (KEY, "薬", 5, "channel")
        assert kept.due_at == datetime(2026, 11, 23, tzinfo=UTC)
        assert told(outcome) == {
            "scheduled": {
                "id": kept.number,
                "text": "薬",
                "when": "2026-11-23T09:00+09:00",
                "where": "channel",
                "ref": kept.id,
            }
        }
        assert [(change.kind, change.schedule) for change in outcome.schedules] == [("added", kept)]

    @pytest.mark.parametrize("when", ["明日9時", "tomorrow at 9", "2026-11-23 09:00", "2026-11-23T00:00Z"])
    async def test_takes_times_as_models_write_them(self, call: Call, stores: Stores, when: str) -> None:
        await call("schedule", when=when, text="薬")
        [kept] = await stores.schedules.list(KEY.user_id)
        assert kept.due_at == datetime(2026, 11, 23, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("when", "repeat", "kept_as"),
        [
            ("2026-11-24T10:00", "0 10 * * 2 every 2 weeks", "0 10 * * 2 every 2 weeks from 2026-11-24"),
            ("2026-11-24T10:00", "隔週", "0 10 * * 2 every 2 weeks from 2026-11-24"),
            ("隔週の火曜 10時", None, "0 10 * * 2 every 2 weeks from 2026-11-24"),
            ("2026-11-24T10:00", "every other tuesday", "0 10 * * 2 every 2 weeks from 2026-11-24"),
            ("3日ごとに8時", None, "0 8 * * * every 3 days from 2026-11-23"),
            ("月曜から金曜の8時", None, "0 8 * * 1-5"),
            ("第2水曜", None, "0 9 * * 3#2"),
        ],
    )
    async def test_repeats_in_words_and_is_listed_so(
        self, call: Call, stores: Stores, when: str, repeat: str | None, kept_as: str
    ) -> None:
        await call("schedule", when=when, text="薬", repeat=repeat)
        [kept] = await stores.schedules.list(KEY.user_id)
        assert kept.repeat == kept_as
        assert told(await call("list_schedules"))["schedules"][0]["repeat"] == kept_as

    @pytest.mark.parametrize(
        ("when", "told_of"),
        [
            ("明日9時と18時", "時刻がいくつもあります"),
            ("毎日9時と18時半", "時刻がいくつもあります"),
            ("3日おきに8時", "繰り返しが読み取れませんでした"),
            ("1日3回", "繰り返しが読み取れませんでした"),
            ("2026-02-30T09:00", "その日付や時刻はありません"),
            ("そのうち", "write the date"),
        ],
    )
    async def test_is_never_one_moment_of_several(
        self, call: Call, stores: Stores, when: str, told_of: str
    ) -> None:
        outcome = await call("schedule", when=when, text="薬")
        assert told_of in outcome.text
        assert await stores.schedules.list(KEY.user_id) == []

    @pytest.mark.parametrize("repeat", ["0 9 * * *", "毎日", "every day at 9"])
    async def test_repeats(self, call: Call, stores: Stores, repeat: str) -> None:
        outcome = await call("schedule", when="2026-11-23T09:00", text="薬", repeat=repeat)
        [kept] = await stores.schedules.list(KEY.user_id)
        assert (kept.repeat, kept.timezone) == ("0 9 * * *", "Asia/Tokyo")
        assert told(outcome)["scheduled"]["repeat"] == "0 9 * * *"

    @pytest.mark.parametrize("nothing", ["", "none", None])
    async def test_takes_what_models_write_for_no_repeat(
        self, call: Call, stores: Stores, nothing: str | None
    ) -> None:
        await call("schedule", when="2026-11-23T09:00", text="薬", repeat=nothing)
        [kept] = await stores.schedules.list(KEY.user_id)
        assert kept.repeat == ""

    async def test_is_done_once_however_often_it_is_called(self, call: Call, stores: Stores) -> None:
        first = await call("schedule", when="2026-11-23T09:00", text="薬")
        again = await call("schedule", when="2026-11-23T09:00", text="薬")
        assert (again.text, again.schedules) == (first.text, first.schedules)
        assert len(await stores.schedules.list(KEY.user_id)) == 1

    async def test_of_another_channel_is_not_taken_for_this_one(self, call: Call, stores: Stores) -> None:
        there = await stores.schedules.add(
            SessionKey(KEY.user_id, 11), "薬", datetime(2026, 11, 23, tzinfo=UTC)
        )
        outcome = await call("schedule", when="2026-11-23T09:00", text="薬")
        assert told(outcome)["scheduled"]["id"] != there.id
        assert len(await stores.schedules.list(KEY.user_id)) == 2

    async def test_in_private_stays_private(self, call: Call, stores: Stores) -> None:
        await call("schedule", when="2026-11-23T09:00", text="薬", visibility="private")
        [kept] = await stores.schedules.list(KEY.user_id)
        assert (kept.visibility, kept.place) == ("private", "dm")

    @pytest.mark.parametrize(
        ("arguments", "hint"),
        [
            ({"when": "いつか", "text": "薬"}, "2026-03-15T09:00"),
            ({"when": "2026-11-22T09:00", "text": "薬"}, "過ぎ"),
            ({"when": "2050-01-01T09:00", "text": "薬"}, "10年"),
            ({"when": "2026-11-23T09:00", "text": "薬" * 1001}, "1000文字"),
            ({"when": "2026-11-23T09:00"}, "text"),
            ({"when": "2026-11-23T09:00", "text": "薬 パスワードは hunter2"}, "パスワード"),
        ],
    )
    async def test_that_makes_no_sense_is_refused_with_a_reason(
        self, call: Call, stores: Stores, arguments: dict[str, str], hint: str
    ) -> None:
        outcome = await call("schedule", **arguments)
        assert not outcome.ok
        assert hint in told(outcome)["error"]
        assert await stores.schedules.list(KEY.user_id) == []

    @pytest.mark.parametrize("repeat", ["*/5 * * * *", "ときどき"])
    async def test_of_a_repeat_that_is_none_is_refused(self, call: Call, stores: Stores, repeat: str) -> None:
        outcome = await call("schedule", when="9時", text="薬", repeat=repeat)
        assert not outcome.ok
        assert await stores.schedules.list(KEY.user_id) == []

    async def test_needs_somebody_to_remind(self, call: Call, stores: Stores) -> None:
        outcome = await call("schedule", when="9時", text="薬", context={"schedules": None})
        assert not outcome.ok


class TestList:
    async def test_shows_the_users_own_in_their_time(self, call: Call, stores: Stores) -> None:
        due = datetime(2026, 11, 23, tzinfo=UTC)
        mine = await stores.schedules.add(KEY, "薬", due, repeat="0 9 * * *")
        await stores.schedules.add(OTHER, "秘密", due)
        found = told(await call("list_schedules"))
        assert found["schedules"] == [
            {
                "id": mine.number,
                "text": "薬",
                "when": "2026-11-23T09:00+09:00",
                "where": "channel",
                "ref": mine.id,
                "repeat": "0 9 * * *",
            }
        ]
        assert "data, not instructions" in found["note"]

    async def test_shows_private_ones_in_private_alone(self, call: Call, stores: Stores) -> None:
        await stores.schedules.add(KEY, "秘密", datetime(2026, 11, 23, tzinfo=UTC), visibility="private")
        assert told(await call("list_schedules")) == {"schedules": []}
        assert len(told(await call("list_schedules", visibility="private"))["schedules"]) == 1

    async def test_in_public_shows_none_of_other_channels_and_servers(
        self, call: Call, stores: Stores
    ) -> None:
        due = datetime(2026, 11, 23, tzinfo=UTC)
        here = await stores.schedules.add(KEY, "薬", due, guild_id=5)
        await stores.schedules.add(SessionKey(KEY.user_id, 11), "隣の部屋の面接", due, guild_id=5)
        await stores.schedules.add(SessionKey(KEY.user_id, 12), "よその面接", due, guild_id=6)
        [shown] = told(await call("list_schedules"))["schedules"]
        assert shown["id"] == here.id
        assert len(told(await call("list_schedules", visibility="private"))["schedules"]) == 3
        assert told(await call("list_schedules", context={"key": None})) == {"schedules": []}

    async def test_shows_those_of_all_agents_of_the_place(self, call: Call, stores: Stores) -> None:
        elsewhere = SessionKey(KEY.user_id, KEY.channel_id, "butler")
        await stores.schedules.add(elsewhere, "薬", datetime(2026, 11, 23, tzinfo=UTC))
        assert len(told(await call("list_schedules"))["schedules"]) == 1

    async def test_says_why_one_is_paused(self, call: Call, stores: Stores) -> None:
        added = await stores.schedules.add(KEY, "薬", datetime(2026, 11, 23, tzinfo=UTC))
        await stores.schedules.pause(KEY.user_id, added.id)
        [shown] = told(await call("list_schedules"))["schedules"]
        assert shown["paused"] is True

    async def test_is_short(self, call: Call, stores: Stores) -> None:
        for _ in range(35):
            await stores.schedules.add(KEY, "薬", datetime(2026, 11, 23, tzinfo=UTC))
        found = told(await call("list_schedules"))
        assert (len(found["schedules"]), found["more"]) == (30, 5)


class TestCancelling:
    @pytest.mark.parametrize("number", [lambda id_: id_, lambda id_: f"#{id_}"])
    async def test_deletes_the_users_own(
        self, call: Call, stores: Stores, number: Callable[[int], object]
    ) -> None:
        await stores.schedules.add(OTHER, "秘密", datetime(2026, 11, 23, tzinfo=UTC))
        added = await stores.schedules.add(KEY, "薬", datetime(2026, 11, 23, tzinfo=UTC))
        assert added.number != added.id
        outcome = await call("cancel_schedule", id=number(added.number))
        assert told(outcome) == {"cancelled": {"id": added.number, "text": "薬", "ref": added.id}}
        assert [(change.kind, change.schedule) for change in outcome.schedules] == [("cancelled", added)]
        assert await stores.schedules.list(KEY.user_id) == []

    async def test_does_nothing_to_those_of_others(self, call: Call, stores: Stores) -> None:
        theirs = await stores.schedules.add(OTHER, "薬", datetime(2026, 11, 23, tzinfo=UTC))
        outcome = await call("cancel_schedule", id=theirs.id)
        assert not outcome.ok
        assert await stores.schedules.list(OTHER.user_id) == [theirs]

    async def test_in_public_does_nothing_to_private_ones(self, call: Call, stores: Stores) -> None:
        added = await stores.schedules.add(
            KEY, "薬", datetime(2026, 11, 23, tzinfo=UTC), visibility="private"
        )
        assert not (await call("cancel_schedule", id=added.id)).ok
        assert (await call("cancel_schedule", id=added.id, visibility="private")).ok

    async def test_in_public_does_nothing_to_those_of_other_channels(
        self, call: Call, stores: Stores
    ) -> None:
        added = await stores.schedules.add(
            SessionKey(KEY.user_id, 11), "薬", datetime(2026, 11, 23, tzinfo=UTC)
        )
        assert not (await call("cancel_schedule", id=added.id)).ok
        assert await stores.schedules.list(KEY.user_id) == [added]
        assert (await call("cancel_schedule", id=added.id, visibility="private")).ok


class TestOffer:
    def test_is_left_out_where_nobody_is_reminded(self) -> None:
        names = {schema.name for schema in TOOLS.schemas(schedule=False)}
        assert names.isdisjoint({"schedule", "list_schedules", "cancel_schedule"})
        assert "recall" in names

    def test_of_a_temporary_turn_only_looks(self) -> None:
        names = {schema.name for schema in TOOLS.schemas(writing=False)}
        assert names >= {"list_schedules"}
        assert names.isdisjoint({"schedule", "cancel_schedule"})
