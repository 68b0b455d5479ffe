"""Everything that the stores can do, done once for one user: what is recorded of it is looked at by tests."""

import json
from collections.abc import Awaitable, Collection, Sequence
from dataclasses import MISSING, fields, replace
from datetime import UTC, date, datetime, timedelta
from inspect import getmembers, iscoroutinefunction, signature
from typing import Any, Final, TypeVar, cast

from cc_bot.chat.stores.blocks import read_context_state
from cc_bot.chat.stores.channels import read_memory_calls
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.receipts import ReceiptMessage
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.chat.stores.settings import WebSessionStore
from cc_bot.chat.stores.usage import ReservationRequest, Settlement, UsageStore
from cc_bot.db import Database, Statement
from cc_bot.db.process import Process, ProcessStore
from cc_bot.domain.access import SignInOrigin
from cc_bot.domain.change import Change
from cc_bot.domain.message import (
    Attachment,
    Block,
    ChannelKey,
    FileQuota,
    Location,
    Message,
    Target,
    ToolCall,
    Visibility,
)
from cc_bot.domain.proposal import CallMessage, Proposal
from cc_bot.domain.session import EMPTY_CANVAS, SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.domain.usage import DEFAULT_RULES, LimitKey, LimitRules, ModelUsage, Payer
from cc_bot.domain.when.repeats import QuietHours
from cc_bot.features.agents.store import ChoiceStore
from cc_bot.features.canvas.drawing import make_redraw
from cc_bot.features.canvas.model import Card, Edit
from cc_bot.features.canvas.store import CanvasMessageStore
from cc_bot.features.heartbeat.store import HeartbeatStore
from cc_bot.features.mcp.model import StoredToolList
from cc_bot.features.mcp.store import ToolListStore
from cc_bot.features.memory.files import PortableMemory
from cc_bot.features.memory.model import Audience, MemoryFilter
from cc_bot.features.memory.stores.rows import recompute_outdated
from cc_bot.features.memory.stores.search import EmbeddingJob, VectorSearch
from cc_bot.features.reminders.model import Firing
from cc_bot.features.reminders.store import ScheduleStore
from tests.proposals import WRITING, remembering
from tests.stores.backends import KEY, got, stores_over, turn
from tests.stores.encoders import TopicEncoder
from tests.stores.forgetting import summarized
from tests.stores.locations import answer, read_page, said

USER: Final = KEY.user_id
NOW: Final = datetime.now(UTC)
FILE: Final = Attachment("a.txt", "text/plain", b"a")
TURN: Final = PendingTurn("t", KEY, "message", "private", datetime.now(UTC), question_id=40)
AnyStore = TypeVar("AnyStore")


class _Noting:
    def __init__(self, store: object, called: set[str]) -> None:
        self._store = store
        self._called = called

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if iscoroutinefunction(found):
            self._called.add(f"{type(self._store).__name__}.{name}")
        return found


def noting(store: AnyStore, called: set[str]) -> AnyStore:
    return cast("AnyStore", _Noting(store, called))


READERS: Final = frozenset({"get", "list", "count", "find", "is", "has", "read", "runs", "may"})
NUMBERS: Final = {
    "user_id": USER,
    "channel_id": KEY.channel_id,
    "place_id": 3,
    "guild_id": 5,
    "discord_id": 10,
}
VALUES: Final[dict[object, object]] = (
    {SessionKey: KEY, ChannelKey: ChannelKey(3), PendingTurn: TURN, Payer: Payer(USER, 5, (7,))}
    | {
        str: "t",
        Audience: "private",
        Visibility: "private",
        datetime: NOW,
        date: NOW.date(),
        Collection[Target]: ["dm"],
    }
    | {Collection[int]: [1, 11], Sequence[int]: [1, 11], LimitRules: {LimitKey("guild", 5, "concurrent"): 1}}
    | {Sequence[Message]: [], Sequence[str]: ["s", "t"]}
)
STORES: Final = [
    each for each in fields(Stores) if each.default is MISSING and each.name not in ("erasures", "features")
]


async def read_everything(stores: Stores) -> None:
    """Call every method that only reads, with something for each parameter that it needs."""
    core: dict[Any, Any] = {each.type: getattr(stores, each.name) for each in STORES}
    for kind, store in {**core, **stores.features}.items():
        for name, function in getmembers(kind, iscoroutinefunction):
            if name.split("_")[0] in READERS:
                _, *parameters = signature(function).parameters.values()
                given = {
                    each.name: VALUES.get(each.annotation, NUMBERS.get(each.name, 20))
                    for each in parameters
                    if each.default is each.empty and each.kind != each.VAR_POSITIONAL
                }
                await getattr(store, name)(**given)


async def do(*steps: Awaitable[object]) -> None:
    """One after the other."""
    for step in steps:
        await step


async def do_everything(database: Database) -> set[str]:
    """Call every public method of every store, in each of its ways. Returns them as Store.method."""
    called = set[str]()
    stores = stores_over(database)
    names = [each.name for each in STORES]
    noted = {name: noting(getattr(stores, name), called) for name in names}
    features = {kind: noting(each, called) for kind, each in stores.features.items()}
    stores = replace(stores, **noted, features=features)
    await talk_in_sessions(stores, database, called)
    await remember(stores, database)
    await read_everything(stores)
    await forget_everything(stores, database)
    settings, heartbeats = stores.settings, stores[HeartbeatStore]
    await do(settings.set(USER, locale=Locale.JA, spoken=True), settings.claim_welcome(USER))
    await do(settings.claim_daily_menu_hint(USER), settings.set(USER, memory_paused=True))
    await stores.token_factors.learn("model", estimated=100, counted=110)
    await stores[ToolListStore].put("time", StoredToolList("[]", "[]"))
    await take_part(stores.processes)
    await decide_as_an_owner(stores)
    await do_everything_with_schedules(stores[ScheduleStore])
    await use_tokens(stores, database, called)
    await heartbeats.add_marks(USER, {"named 1 20261125": NOW})
    await heartbeats.delete_marks(USER)
    thread, vitals = ChannelKey(5, 7), stores.vitals
    replaced = [Block(thread, 8, 10, 120)]
    await stores.blocks.freeze([Block(thread, 8, 9, 100)], window_starts={thread: 8}, replaced=replaced)
    await do(
        vitals.count_open_sessions(),
        vitals.get_size_bytes(),
        vitals.get_schema_version(),
        vitals.check_writable(),
    )
    await do_everything_in_channels(stores)
    await do_everything_with_turns(stores)
    await grow_old_and_leave(stores)
    await do_everything_with_canvases(stores)
    await do_everything_with_browsers(stores, database)
    await read_and_delete_a_conversation(stores)
    await read_everything(stores)
    return called


async def talk_in_sessions(stores: Stores, database: Database, called: set[str]) -> None:
    sessions = stores.sessions
    await sessions.open(KEY, store=False)
    session = await sessions.commit_turn(await sessions.open(KEY), turn("やあ", attachments=(FILE,)))
    session = await sessions.open(KEY, visibility="private")
    await sessions.commit_turn(session, [Message("assistant", "また")], replaces=session.history[-1].id)
    await summarized(stores)
    await stores.summaries.delete(KEY)
    drawn = make_redraw([Edit(Card("", "買い物", "牛乳"), "public")])
    stored = await sessions.store_turn(
        session, turn("またね"), redraw=drawn, proposals=[remembering("猫は三毛"), WRITING]
    )
    await decide(stores, *stored.proposals)
    crowded = SessionStore(database, file_quota=FileQuota(user_bytes=100, total_bytes=1))
    for _ in range(2):
        await crowded.store_turn(await crowded.open(KEY), turn("猫", attachments=(FILE,)))
    by_the_message = noting(SessionStore(database, history_limit=0, page_size=1), called)
    await by_the_message.load_earlier(await by_the_message.open(KEY))
    await sessions.clear(KEY)
    assert await noting(SessionStore(database, session_ttl=timedelta()), called).expire() == 1
    await stores.summaries.stop_summarizing(datetime.now(UTC))


async def remember(stores: Stores, database: Database) -> None:
    memories, receipts = stores.memories, stores.receipts
    first = await memories.add(USER, "猫が好き", tags=("猫",))
    memory = (await memories.remember(USER, "猫が大好き")).memory
    await memories.remember(USER, "猫が、大好き")
    await memories.delete(USER, first.id)
    await memories.contains_secret("猫")
    await memories.search(USER, "猫 犬", category="general", tags=("猫",))
    await do(memories.find(USER, ""), memories.suggest(USER, f"#{memory.id}"))
    await recompute_terms(stores, database)
    await memories.update(USER, memory.id, content="犬が好き")
    await do(memories.pin(USER, memory.id), memories.unpin(USER, memory.id))
    message = ReceiptMessage(USER, 2, 80, "public", (Change("memory", "added", memory.id),))
    await do(
        receipts.put(message),
        receipts.mark_current(message),
        EmbeddingJob(database, TopicEncoder()).catch_up(),
    )
    await VectorSearch(database, TopicEncoder()).get_nearness(USER, "犬")
    await do(memories.list(USER, order="updated"), memories.list(USER, after_id=0))
    await memories.find(USER, "猫", filters=MemoryFilter(tags=("猫",), source_kind="", audience="anywhere"))
    await read_everything(stores)
    await memories.delete(USER, memory.id)


async def do_everything_with_turns(stores: Stores) -> None:
    ledger, session = stores.ledger, await stores.sessions.open(KEY)
    await do(ledger.accept(TURN), ledger.set_answer_message_id("t", USER, 41), ledger.add_page("t", USER, 42))
    await do(ledger.move(replace(TURN, answer_id=1), 5, (42,)), ledger.mark_interrupted("t", USER))
    await ledger.record_retryable_failure(TURN, (41, 42))
    await ledger.note_calls("t", USER, [ToolCall("c", "schedule", "{}", "{}")])
    await ledger.store_transcript("t", USER, "明日の予定は？")
    assert await ledger.claim("t", USER, lambda turn: replace(turn, id="u", state="accepted", former="t"))
    await ledger.release_claim("u", USER)
    assert await ledger.claim("t", USER, lambda turn: replace(turn, id="u", state="accepted"))
    await stores.sessions.store_turn(session, turn("もう一度"), turn_id="u")
    await read_everything(stores)
    await do(
        ledger.adopt_unfinished(), ledger.forget_interrupted(datetime.now(UTC)), ledger.delete("u", USER)
    )


async def do_everything_with_browsers(stores: Stores, database: Database) -> None:
    browsers, location = stores.web_sessions, SignInOrigin(USER, 2, 3)
    secret, session = got(await browsers.sign_in(await browsers.make_code(location)))
    later = WebSessionStore(database, clock=lambda: datetime.now(UTC) + timedelta(hours=1))
    assert await later.get(secret) == session
    await do(browsers.end(USER, session.id), browsers.make_code(location))
    await browsers.sign_in(await browsers.make_code(location))
    await do(browsers.prune(), browsers.end_all(USER))


async def do_everything_with_canvases(stores: Stores) -> None:
    await stores.sessions.open(KEY)
    assert await stores.canvases.draw(KEY, make_redraw([Edit(Card("", "猫", "モチ"), "public")]))
    seen = got(await stores.canvases.get(KEY))
    await stores.canvases.wait_for_change(0)
    assert await stores.canvases.change(KEY, lambda _: EMPTY_CANVAS)
    await stores[CanvasMessageStore].record(KEY, 60, seen.revision)
    await do(stores.canvases.clear(KEY), stores[CanvasMessageStore].forget(KEY))


async def read_and_delete_a_conversation(stores: Stores) -> None:
    archive, session = stores.archive, await stores.sessions.open(KEY)
    drawn = make_redraw([Edit(Card("", "犬", "ポチ"), "public")])
    await stores.sessions.commit_turn(session, turn("もう一つ", attachments=(FILE,)), redraw=drawn)
    await summarized(stores)
    assert await archive.list_messages(USER, session.id)
    assert await archive.hide_session(USER, session.id) == KEY
    assert await archive.restore_session(USER, session.id) == KEY
    assert await archive.list_due(datetime.now(UTC)) == []
    assert await archive.list_hidden(USER) == []
    assert await archive.delete_session(USER, session.id) == KEY


async def grow_old_and_leave(stores: Stores) -> None:
    """See what is stored, have old things deleted, and be forgotten."""
    await stores.channels.add(ChannelKey(9), said(70, author_id=USER), is_question=True)
    session = await stores.sessions.open(KEY)
    await stores.sessions.commit_turn(session, turn("最後に", attachments=(FILE,)))
    await stores.memories.add(USER, "最後のメモ")
    assert [name async for name, _ in stores.personal_data.read_records(USER)]
    now = datetime.now(UTC)
    await do(stores.retention.prune_messages(now - timedelta(days=1)), stores.sessions.clear(KEY))
    await do(stores.retention.prune_sessions(datetime.now(UTC)), stores.retention.prune_usage(now.date()))
    await do(stores.personal_data.begin_erasure(USER), stores.personal_data.erase(USER))


async def use_tokens(stores: Stores, database: Database, called: set[str]) -> None:
    """With limits on tokens for the user and for the guild, so that all is looked up."""
    usage = stores.usage
    await stores.limits.set(LimitKey("user", USER, "tokens_per_day"), 1000, set_by=1)
    await stores.limits.set(LimitKey("guild", 5, "tokens_per_month"), 10_000, set_by=1)
    await stores.memories.admit_import(USER)
    payer, spent = Payer(USER, 5, (7,)), ((ModelUsage("model", Usage(100, 10)), 5),)
    request = ReservationRequest(payer, "turn", "model", 50)
    for asked in (request, replace(request, purpose="summary")):
        assert await usage.settle(Settlement(await usage.reserve(asked, DEFAULT_RULES), spent))
    await usage.reserve(request, DEFAULT_RULES)
    await usage.release(await usage.reserve(request, DEFAULT_RULES))
    assert await noting(UsageStore(database, process="other"), called).settle_abandoned(lambda *_: 0) == 1
    await usage.forget_settled()
    assert await stores.limits.unset(LimitKey("user", USER, "tokens_per_day"))


async def take_part(processes: ProcessStore) -> None:
    process = Process("p1", "host", "1.0", (0, 1), 4)
    await do(processes.join(process), processes.renew(process))
    assert await processes.take("sweep", process.name)
    await do(processes.give_back("sweep", process.name), processes.remove([process.name]))


async def decide_as_an_owner(stores: Stores) -> None:
    agents, access, models = stores[ChoiceStore], stores.access, stores.channel_models
    location = KEY.channel_id
    await do(agents.choose(USER, location, "tutor"), agents.choose(USER, location, None))
    await do(agents.set_default(location, 1, "tutor", USER), agents.unset_default(location))
    await do(access.set("user", USER, "deny", set_by=1), access.unset("user", USER))
    await do(access.begin_maintenance("すぐ戻ります", set_by=1), access.end_maintenance())
    await do(models.set(location, ("small",), set_by=1), models.unset(location))


async def do_everything_with_schedules(schedules: ScheduleStore) -> None:
    """Make some of every kind, have them claimed, and settle that in every way."""
    now, hour = datetime.now(UTC), timedelta(hours=1)
    await schedules.add(KEY, "", now, kind="heartbeat", repeat="every 6h", quiet=QuietHours(1320, 420))
    beat = await schedules.add(KEY, "", now, kind="heartbeat", repeat="every 6h", target="dm")
    daily = await schedules.add(KEY, "薬", now - hour * 30, repeat="0 9 * * *")
    once = [await schedules.add(KEY, f"{number}回だけ", now - hour / 2) for number in range(3)]
    assert (await schedules.add_copy(once[0])).id != once[0].id
    await schedules.mark_failed(Firing(daily, daily.due_at), "dms_closed")
    assert await schedules.resume(USER, daily.id)
    assert await schedules.change(USER, daily.id, text="薬を飲む")
    time = (now - hour * 30, "0 9 * * *")
    assert await schedules.change(USER, daily.id, text="薬", planned=time, timezone="Asia/Tokyo")
    await schedules.rezone(USER, "Europe/Berlin")
    claimed = await schedules.claim_due(now + hour * 24, ("channel", "dm"), user_id=USER, limit=9)
    claimed = [*claimed, *(Firing(each, each.due_at) for each in (beat, *once))]
    await schedules.mark_sent(claimed[0], Message("assistant", "薬", discord_id=77))
    await do(schedules.mark_skipped(claimed[1]), schedules.mark_failed(claimed[2], "dms_closed"))
    await do(schedules.claim_due(now - hour * 48, ("channel", "dm")), schedules.mark_uncertain(now + hour))
    await schedules.mark_reported(await schedules.take_unreported(("channel", "dm"), user_id=USER))
    assert await schedules.cancel(USER, daily.id)
    await schedules.prune()


async def recompute_terms(stores: Stores, database: Database) -> None:
    outdated = Statement("UPDATE memories SET terms_version = 0 WHERE user_id = $1", (USER,))
    await database.transaction([outdated], ())
    await recompute_outdated(database)
    assert await stores.memories.find(USER, "犬 好き")


async def forget_everything(stores: Stores, database: Database) -> None:
    """Go back in the history of a memory, and erase it where everything that can hold one does."""
    memories, removal = stores.memories, stores.memory_removal
    memory = await memories.add(USER, "猫の名前はタマ")
    for content in ("猫の名前はモチ", "猫の名前はミケ"):
        await memories.update(USER, memory.id, content=content)
    newest, oldest = await memories.list_versions(USER, memory.id)
    await removal.preview(USER, memory.id)
    assert await memories.undo_update(USER, memory.id, newest.id)
    assert await memories.restore(USER, memory.id, oldest.id)
    assert await memories.delete(USER, memory.id)
    imported = [PortableMemory("取り込んだもの")]
    assert len((await stores.memories.plan_import(USER, imported)).memories) == 1
    assert len(await stores.memories.import_all(USER, imported)) == 1
    assert imported[0].content in [each.content for each in await stores.memories.export_all(USER)]
    assert await removal.undelete(USER, memory.id)
    call = ToolCall("1", "remember", "{}", json.dumps({"remembered": {"ref": memory.id}}))
    drew = ToolCall("2", "canvas_show_text", '{"content": "猫の名前はタマ"}', '{"id": "text-1"}')
    session = await stores.sessions.open(KEY)
    for _ in range(2):
        exchange = [Message("user", "猫の名前はタマ"), Message("assistant", "はい", tool_calls=(call, drew))]
        session = await stores.sessions.commit_turn(session, exchange)
        await summarized(stores, "猫の名前はタマ")
    told, answered = said(50, author_id=USER), answer(51, tool_calls=(call,))
    await stores.channels.add(ChannelKey(8), told, is_question=True)
    await stores.channels.archive_answer(ChannelKey(8), answered, [told])
    canvas = json.dumps({"elements": [{"id": "text-1", "content": "猫の名前はタマ"}]})
    sql = "UPDATE sessions SET canvas_state = $2, canvas_revision = 1 WHERE user_id = $1"
    await database.transaction([Statement(sql, (USER, canvas))], ())
    erased = got(await removal.erase(USER, memory.id, stub="（消去しました）"))
    assert 0 not in (erased.versions, erased.summaries, erased.messages)
    await memories.delete(USER, (await memories.add(USER, "犬が好き")).id)
    assert await removal.hide(USER, (await memories.add(USER, "鳥が好き")).id)
    assert await removal.purge(datetime.now(UTC)) > 0
    await do(removal.erase_all(USER), removal.scrub())


async def do_everything_in_channels(stores: Stores) -> None:
    key, channels, mentions = ChannelKey(3), stores.channels, stores.ledger
    await channels.add(key, said(10), is_question=True)
    await channels.add_all(key, [said(11), said(12)])
    questions = [each.question for each in await mentions.list_due(key)]
    await do(mentions.begin_answer(key, questions, 10), mentions.set_mention_answer(key, questions, 20))
    await channels.archive_answer(key, answer(20), questions)
    await do(mentions.mark_edit_processed(key, said(10)), mentions.mark_shown(key, 20))
    await mentions.mark_failed(key, questions)
    await mentions.reopen(key, USER, 41)
    await mentions.mark_failed(key, questions)
    await do(channels.add_pages(key.location_id, 20, [21]), channels.drop_pages(key.location_id, [21]))
    await do(channels.record_channel(Location(key, 5)), channels.set_reading("all", 30))
    await do(channels.reset(key, bot_id=0, discord_id=15), channels.mark_read_to(key, 16))
    await channels.store_transcript(key, said(10), "明日の予定は？")
    await do(
        stores.blocks.run_read(lambda: read_memory_calls(key, USER, 10)),
        stores.blocks.run_read(lambda: read_context_state(key, bot_id=0, max_blocks=5)),
        read_page(stores, key, first=0, before=20, limit=5),
        channels.edit(10, "直した"),
        channels.delete([11]),
    )
    await do(channels.forget_channel(key), channels.forget_channel(ChannelKey(key.channel_id, 99)))


async def decide(stores: Stores, approved: Proposal, declined: Proposal) -> None:
    """Approve a proposal, store its outcome, and decline another one."""
    proposals, message = stores.proposals, CallMessage()
    assert await proposals.get(USER, approved.id)
    assert await proposals.list_for_answer(USER, approved.answer_id)
    assert await proposals.claim(approved, "a1", message)
    assert await proposals.reopen(approved)
    assert await proposals.claim(approved, "a1", message)
    assert await proposals.adopt_approved() == await proposals.list_approved(USER)
    assert await proposals.finish(approved, "done", lambda told: told)
    await proposals.delete(approved)
    assert await proposals.decline(declined, lambda told: told)
    await proposals.prune()
    question, channel = said(30, "リマインドして", author_id=USER), ChannelKey(5)
    await stores.channels.add(channel, question, is_question=True)
    wanted = [remembering("薬"), WRITING]
    stored = await stores.channels.archive_answer(channel, answer(31, "はい"), [question], wanted)
    assert await proposals.decline(stored.proposals[-1], lambda told: told)
