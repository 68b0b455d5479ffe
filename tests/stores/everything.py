"""Everything that the stores can do, done once for one user: what is recorded of it is looked at by tests."""

import json
from collections.abc import Collection, Sequence
from dataclasses import MISSING, fields, replace
from datetime import UTC, date, datetime, timedelta
from inspect import getmembers, iscoroutinefunction, signature
from typing import Any, Final, TypeVar, cast

from cc_bot.domain import Attachment, Block, ChannelKey, Locale, Message, SessionKey, ToolCall
from cc_bot.domain.canvas import AddCard, Drawn
from cc_bot.domain.claimed_call import ClaimedCall
from cc_bot.domain.member import DEFAULT_RULES, LimitKey, ModelUsage, Rules, UsageSubject
from cc_bot.domain.memory import Audience, MemoryFilter, Named, ReceiptLine, ReceiptMessage
from cc_bot.domain.memory_transfer import PortableMemory
from cc_bot.domain.message import FileQuota, KnownPlace
from cc_bot.domain.process import Process
from cc_bot.domain.proposal import AddReminder, CallTool, KeepMemory, Proposal, ProposedChange
from cc_bot.domain.schedule import Firing, Mark, Place, Quiet
from cc_bot.domain.tool_server import StoredToolList
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.domain.web import WebPlace
from cc_bot.storage import Database, Statement, user
from cc_bot.stores import (
    ProcessStore,
    ReservationRequest,
    ScheduleStore,
    SessionStore,
    Settlement,
    Stores,
    UsageStore,
    WebSessionStore,
)
from cc_bot.stores.memory.meaning import Meaning, make_sketches
from cc_bot.stores.memory.upkeep import MemoryUpkeep
from tests.stores.backends import KEY, stores_over, turn
from tests.stores.encoders import TopicEncoder
from tests.stores.forgetting import summarized
from tests.stores.places import answer, said

USER: Final = KEY.user_id
PROPOSED: Final = KeepMemory("猫は三毛", "general", (), "anywhere")
FILE: Final = Attachment("a.txt", "text/plain", b"a")
TURN: Final = PendingTurn("t", KEY, "message", "private", datetime.now(UTC), question_id=40)
AnyStore = TypeVar("AnyStore")


class _Noting:
    """A store of which it is noted which methods are called."""

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
"""What the names of methods begin with that change nothing."""
NUMBERS: Final = {
    "user_id": USER,
    "channel_id": KEY.channel_id,
    "place_id": 3,
    "guild_id": 5,
    "discord_id": 10,
}
"""What is given for a parameter of that name; 20 for any other that is a number."""
NOW: Final = datetime.now(UTC)
VALUES: Final[dict[object, object]] = (
    {SessionKey: KEY, ChannelKey: ChannelKey(3), PendingTurn: TURN, UsageSubject: UsageSubject(USER, 5, (7,))}
    | {str: "t", Audience: "private", datetime: NOW, date: NOW.date(), Collection[Place]: ["dm"]}
    | {Collection[int]: [1, 11], Sequence[int]: [1, 11], Rules: {LimitKey("guild", 5, "concurrent"): 1}}
)
"""What is given for a parameter of that type."""
STORES: Final = [each for each in fields(Stores) if each.default is MISSING and each.name != "erasures"]


async def read_everything(stores: Stores) -> None:
    """Call every method that only reads, with something for each parameter that it needs."""
    for store in STORES:
        for name, function in getmembers(store.type, iscoroutinefunction):
            if name.split("_")[0] in READERS:
                _, *parameters = signature(function).parameters.values()
                given = {
                    each.name: VALUES.get(each.annotation, NUMBERS.get(each.name, 20))
                    for each in parameters
                    if each.default is each.empty and each.kind != each.VAR_POSITIONAL
                }
                await getattr(getattr(stores, store.name), name)(**given)


async def do_everything(database: Database) -> set[str]:
    """Call every public method of every store, in each of its ways. Returns them as Store.method."""
    called = set[str]()
    stores = stores_over(database)
    names = [each.name for each in STORES]
    stores = replace(stores, **{name: noting(getattr(stores, name), called) for name in names})
    await stores.sessions.open(KEY, lasting=False)
    session = await stores.sessions.open(KEY)
    session = await stores.sessions.commit_turn(session, turn("やあ", attachments=(FILE,)))
    session = await stores.sessions.open(KEY, visibility="private")
    again = [Message("assistant", "また")]
    await stores.sessions.commit_turn(session, again, replaces=session.history[-1].id)
    await summarized(stores)
    await stores.summaries.delete(KEY)
    drawn = [Drawn(AddCard("買い物", "牛乳"), "public")]
    stored = await stores.sessions.archive_turn(session, turn("またね"), drawn=drawn, proposals=[PROPOSED])
    await decide(stores, stored.proposals[0])
    calls = [CallTool("notes", "write", "{}"), CallTool("notes", "erase", "{}")]
    stored = await stores.sessions.archive_turn(session, turn("書いて"), proposals=calls)
    await agree_to_calls(stores, *stored.proposals)
    crowded = SessionStore(database, file_quota=FileQuota(user_bytes=100, total_bytes=1))
    for _ in range(2):
        await crowded.archive_turn(await crowded.open(KEY), turn("猫", attachments=(FILE,)))
    by_the_message = noting(SessionStore(database, history_limit=0, page_size=1), called)
    await by_the_message.load_earlier(await by_the_message.open(KEY))
    await stores.sessions.clear(KEY)
    assert await noting(SessionStore(database, session_ttl=timedelta()), called).expire() == 1
    await stores.summaries.settle(datetime.now(UTC))
    memory = await stores.memories.add(USER, "猫が好き", tags=("猫",))
    newer = await stores.memories.remember(USER, "猫が大好き", supersedes=memory.id)
    await stores.memories.remember(USER, "猫が、大好き")
    other = await stores.memories.add(USER, "犬も好き")
    await stores.memories.supersede(USER, newer.memory.id, other.id)
    memory = newer.memory
    await stores.memories.refuses("猫")
    await stores.memories.search(USER, "猫 犬", category="general", tags=("猫",), audience="anywhere")
    await stores.memories.search(USER, "")
    await stores.memories.suggest(USER, f"#{memory.id}")
    await keep_an_index(stores, database)
    await stores.memories.update(USER, memory.id, content="犬が好き")
    await stores.memory_pins.pin(USER, memory.id)
    await stores.memory_pins.unpin(USER, memory.id)
    line = ReceiptLine(0, Named("memory", memory.id), "undo-added:1:1:0")
    await stores.receipts.note(ReceiptMessage(USER, 2, 80, "public", (line,)))
    await stores.receipts.settle(ReceiptMessage(USER, 2, 80, "public", (line,)))
    await stores.memories.catch_up()
    await Meaning(database, TopicEncoder()).get_nearness(USER, "犬")
    await database.write(lambda: make_sketches(USER, "topics"), [user(USER)])
    await stores.memories.list(USER, order="updated")
    await stores.memories.list(USER, after_id=0)
    await stores.memories.find(USER, "猫", only=MemoryFilter(tags=("猫",), origin="", audience="anywhere"))
    await read_everything(stores)
    await stores.memories.delete(USER, memory.id)
    await forget_everything(stores, database)
    await stores.settings.set(USER, locale=Locale.JA)
    await stores.settings.claim_welcome(USER)
    await stores.settings.claim_word_on_menu(USER)
    await stores.settings.pause_memory(USER, True)
    await stores.settings.speak(USER, True)
    await stores.token_factors.learn("model", estimated=100, counted=110)
    await stores.tool_lists.put("time", StoredToolList("digest", "[]", "[]"))
    await take_part(stores.processes)
    await stores.erasure_lines.add("aa", ['{"kind": "user", "id": "b", "at": "2026-11-27T00:00:00+00:00"}'])
    await stores.erasure_lines.thin(datetime.now(UTC))
    await choose_agents(stores)
    await decide_as_an_owner(stores)
    await do_everything_with_schedules(stores.schedules)
    await use_tokens(stores, database, called)
    await stores.heartbeats.set_marks(USER, [Mark("named 1 20261125", datetime.now(UTC))])
    await stores.heartbeats.forget(USER)
    thread = ChannelKey(5, 7)
    await stores.blocks.freeze(
        [Block(thread, 8, 9, 100)], windows={thread: 8}, thawed=[Block(thread, 8, 10, 120)]
    )
    vitals = stores.vitals
    for look in (vitals.open_sessions, vitals.size_bytes, vitals.schema_version, vitals.check_writable):
        await look()
    await do_everything_in_channels(stores)
    await do_everything_with_turns(stores)
    await grow_old_and_leave(stores)
    await do_everything_with_canvases(stores)
    await do_everything_with_browsers(stores, database)
    await read_and_delete_a_conversation(stores)
    await read_everything(stores)
    return called


async def do_everything_with_turns(stores: Stores) -> None:
    ledger, session = stores.ledger, await stores.sessions.open(KEY)
    await ledger.accept(TURN)
    await ledger.note_message("t", USER, 41)
    await ledger.add_page("t", USER, 42)
    await ledger.move(replace(TURN, answer_id=1), 5, (42,))
    await ledger.mark_interrupted("t", USER)
    await ledger.note_calls("t", USER, [ToolCall("c", "schedule", "{}", "{}")])
    await ledger.note_heard("t", USER, "明日の予定は？")
    assert await ledger.take("t", USER, lambda turn: replace(turn, id="u", state="accepted", former="t"))
    await ledger.untake("u", USER)
    assert await ledger.take("t", USER, lambda turn: replace(turn, id="u", state="accepted"))
    await stores.sessions.archive_turn(session, turn("もう一度"), entry="u")
    await read_everything(stores)
    await ledger.forget_interrupted(datetime.now(UTC))
    await ledger.mark_settled("u", USER)


async def do_everything_with_browsers(stores: Stores, database: Database) -> None:
    browsers, place = stores.web_sessions, WebPlace(USER, 2, 3)
    code = await browsers.make_code(place)
    signed_in = await browsers.sign_in(code)
    assert signed_in is not None
    secret, session = signed_in
    later = WebSessionStore(database, clock=lambda: datetime.now(UTC) + timedelta(hours=1))
    assert await later.get(secret) == session
    await browsers.end(USER, session.id)
    await browsers.make_code(place)
    await browsers.sign_in(await browsers.make_code(place))
    await browsers.prune()
    await browsers.end_all(USER)


async def do_everything_with_canvases(stores: Stores) -> None:
    await stores.sessions.open(KEY)
    assert await stores.canvases.draw(KEY, [Drawn(AddCard("猫", "モチ"), "public")])
    seen = await stores.canvases.get(KEY)
    assert seen is not None
    await stores.canvases.wait_for_change(0)
    assert await stores.canvases.remove(KEY, seen.canvas.elements[0].id)
    await stores.canvases.note_message(KEY, 60, seen.revision)
    await stores.canvases.clear(KEY)
    await stores.canvases.forget_message(KEY)


async def read_and_delete_a_conversation(stores: Stores) -> None:
    archive, session = stores.archive, await stores.sessions.open(KEY)
    await stores.sessions.commit_turn(
        session, turn("もう一つ", attachments=(FILE,)), drawn=[Drawn(AddCard("犬", "ポチ"), "public")]
    )
    await summarized(stores)
    assert await archive.list_messages(USER, session.id)
    assert await archive.delete_session(USER, session.id) == KEY


async def grow_old_and_leave(stores: Stores) -> None:
    """See what is stored, have old things deleted, and be forgotten."""
    await stores.channels.add(ChannelKey(9), said(70, author_id=USER), waiting=True)
    session = await stores.sessions.open(KEY)
    await stores.sessions.commit_turn(session, turn("最後に", attachments=(FILE,)))
    await stores.memories.add(USER, "最後のメモ")
    assert [name async for name, _ in stores.personal_data.read_records(USER)]
    await stores.retention.prune_messages(datetime.now(UTC) - timedelta(days=1))
    await stores.sessions.clear(KEY)
    await stores.retention.prune_sessions(datetime.now(UTC))
    await stores.retention.prune_usage(datetime.now(UTC).date())
    await stores.personal_erasure.begin(USER)
    await stores.personal_erasure.erase(USER)


async def use_tokens(stores: Stores, database: Database, called: set[str]) -> None:
    """With limits on tokens for the user and for the guild, so that all is looked up."""
    await stores.limits.set("user", USER, "tokens_per_day", 1000, set_by=1)
    await stores.limits.set("guild", 5, "tokens_per_month", 10_000, set_by=1)
    await stores.memory_transfer.admit(USER)
    payer, spent = UsageSubject(USER, 5, (7,)), ((ModelUsage("model", Usage(100, 10)), 5),)
    wish = ReservationRequest(payer, "turn", "model", 50, "session")
    for each in (wish, replace(wish, purpose="summary")):
        reservation = await stores.usage.reserve(each, DEFAULT_RULES)
        assert await stores.usage.settle(Settlement(reservation, spent))
    await stores.usage.reserve(wish, DEFAULT_RULES)
    await stores.usage.release(await stores.usage.reserve(wish, DEFAULT_RULES))
    assert await stores.usage.enter(await stores.usage.reserve(wish, DEFAULT_RULES, held=True))
    assert await noting(UsageStore(database, process="other"), called).take_over(lambda *_: 0) == 2
    await stores.usage.forget_settled()
    assert await stores.limits.unset("user", USER, "tokens_per_day")


async def take_part(processes: ProcessStore) -> None:
    process = Process("p1", "host", "1.0", (0, 1), 4)
    assert not await processes.join(process)
    assert await processes.renew(process)
    term = await processes.take("sweep", process.name)
    assert term == 1
    await processes.give_back("sweep", process.name, term)
    await processes.remove([process.name])


async def choose_agents(stores: Stores) -> None:
    await stores.agents.choose(USER, KEY.channel_id, "tutor")
    await stores.agents.choose(USER, KEY.channel_id, None)
    await stores.agents.set_default(KEY.channel_id, 1, "tutor", USER)
    await stores.agents.unset_default(KEY.channel_id)


async def decide_as_an_owner(stores: Stores) -> None:
    await stores.access.set("user", USER, "deny", set_by=1)
    await stores.access.begin_maintenance("すぐ戻ります", set_by=1)
    assert await stores.access.unset("user", USER)
    assert await stores.access.end_maintenance()
    await stores.channel_models.set(KEY.channel_id, ("small",), set_by=1)
    assert await stores.channel_models.unset(KEY.channel_id)


async def do_everything_with_schedules(schedules: ScheduleStore) -> None:
    """Make some of every kind, have them claimed, and settle that in every way."""
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    await schedules.add(KEY, "", now, kind="heartbeat", repeat="every 6h", quiet=Quiet(1320, 420))
    beat = await schedules.add(KEY, "", now, kind="heartbeat", repeat="every 6h", place="dm")
    daily = await schedules.add(KEY, "薬", now - hour * 30, repeat="0 9 * * *")
    once = [await schedules.add(KEY, f"{number}回だけ", now - hour / 2) for number in range(3)]
    assert await schedules.pause(USER, daily.id)
    assert await schedules.resume(USER, daily.id)
    assert await schedules.change(USER, daily.id, text="薬を飲む")
    assert await schedules.change(
        USER, daily.id, text="薬", time=(now - hour * 30, "0 9 * * *"), timezone="Asia/Tokyo"
    )
    await schedules.rezone(USER, "Europe/Berlin")
    claimed = await schedules.claim_due(now + hour * 24, ("channel", "dm"), user_id=USER, limit=9)
    claimed = [*claimed, *(Firing(each, each.due_at) for each in (beat, *once))]
    await schedules.mark_sent(claimed[0], Message("assistant", "薬", discord_id=77))
    await schedules.mark_skipped(claimed[1])
    await schedules.mark_failed(claimed[2], "dms_closed")
    await schedules.claim_due(now - hour * 48, ("channel", "dm"))
    await schedules.mark_lost(now + hour)
    untold = await schedules.take_unreported(("channel", "dm"), user_id=USER)
    assert untold
    await schedules.mark_told(untold)
    assert await schedules.cancel(USER, daily.id)
    await schedules.prune()


async def keep_an_index(stores: Stores, database: Database) -> None:
    """Make the user's memories anew, fold them into the index and find them there."""
    sql = "UPDATE memories SET terms_version = 0 WHERE user_id = $1"
    await database.transaction([Statement(sql, (USER,))], ())
    for segments in (1, 0):
        await MemoryUpkeep(database, waiting=1, segments=segments).catch_up(USER)
        assert await stores.memories.search(USER, "犬 好き")


async def forget_everything(stores: Stores, database: Database) -> None:
    """Go back in the history of a memory, and erase it where everything that can hold one does."""
    memory = await stores.memories.add(USER, "猫の名前はタマ")
    for content in ("猫の名前はモチ", "猫の名前はミケ"):
        await stores.memories.update(USER, memory.id, content=content)
    newest, oldest = await stores.memory_history.list_versions(USER, memory.id)
    assert await stores.memory_history.undo_update(USER, memory.id, newest.id)
    assert await stores.memory_history.restore(USER, oldest.id)
    assert await stores.memory_history.undo_add(USER, memory.id)
    imported = [PortableMemory("取り込んだもの")]
    assert len((await stores.memory_transfer.plan(USER, imported)).new) == 1
    assert await stores.memory_transfer.take(USER, imported) == 1
    assert await stores.memory_removal.undelete(USER, memory.id)
    call = ToolCall("1", "remember", "{}", json.dumps({"remembered": {"id": memory.id}}))
    session = await stores.sessions.open(KEY)
    for _ in range(2):
        exchange = [Message("user", "猫の名前はタマ"), Message("assistant", "はい", tool_calls=(call,))]
        session = await stores.sessions.commit_turn(session, exchange)
        await summarized(stores, "猫の名前はタマ")
    told, answered = said(50, author_id=USER), answer(51, tool_calls=(call,))
    await stores.channels.add(ChannelKey(8), told, waiting=True)
    await stores.channels.commit_answer(ChannelKey(8), answered, [told])
    canvas = json.dumps({"elements": [{"text": "猫の名前はタマ"}]})
    await database.transaction(
        [Statement("UPDATE sessions SET canvas_state = $2 WHERE user_id = $1", (USER, canvas))], ()
    )
    erased = await stores.memory_removal.erase(USER, memory.id, mark="（消去しました）")
    assert erased is not None
    assert 0 not in (erased.versions, erased.tool_calls, erased.summaries, erased.messages)
    await stores.memories.delete(USER, (await stores.memories.add(USER, "犬が好き")).id)
    assert await stores.memory_removal.purge(datetime.now(UTC)) > 0
    await stores.memory_removal.erase_all(USER)
    await stores.memory_removal.write_back()
    assert await stores.memory_removal.rewrite() == "done"


async def do_everything_in_channels(stores: Stores) -> None:
    key = ChannelKey(3)
    await stores.channels.add(key, said(10), waiting=True)
    await stores.channels.add_all(key, [said(11), said(12)])
    questions = await stores.mentions.list_waiting(key)
    await stores.mentions.begin(key, questions, 10)
    await stores.mentions.note_answer(key, questions, 20)
    await stores.channels.commit_answer(key, answer(20), questions)
    await stores.mentions.mark_read(key, said(10))
    await stores.mentions.mark_shown(key, 20)
    await stores.mentions.mark_unshown(key, 20)
    await stores.mentions.give_up(key, questions)
    await stores.channels.add_pages(key.place_id, 20, [21])
    await stores.channels.drop_pages(key.place_id, [21])
    await stores.channels.note_place(KnownPlace(key, 5))
    await stores.channels.set_reading("all", 30)
    await stores.channels.reset(key, bot_id=0, discord_id=15)
    await stores.channels.pass_over(key, 16)
    await stores.channels.note_heard(key, said(10), "明日の予定は？")
    await stores.channels.edit(10, "直した")
    await stores.channels.delete([11])
    await stores.channels.forget_place(key)
    await stores.channels.forget_place(key.parent if key.thread_id else ChannelKey(key.channel_id, 99))


async def agree_to_calls(stores: Stores, made: Proposal, left: Proposal) -> None:
    """Claim a call, note what it came to, and drop another one."""
    assert isinstance(made.change, CallTool)
    now = datetime.now(UTC)
    call = ClaimedCall(
        made.id, made.key, made.answer_id, "public", made.change, claimed_at=now, claimed_by="a1"
    )
    assert await stores.claimed_calls.claim(made, call)
    assert await stores.claimed_calls.give_back(made, call)
    assert await stores.claimed_calls.claim(made, call)
    assert await stores.claimed_calls.finish(call, "done", lambda told: told)
    await stores.claimed_calls.settle(call)
    assert await stores.claimed_calls.leave(left, lambda told: told)


async def decide(stores: Stores, proposal: Proposal) -> None:
    """Look a proposal up in each way, carry it out and drop it."""
    assert isinstance(proposal.change, KeepMemory)
    await stores.memories.add(USER, proposal.change.content, proposal=proposal)
    assert not await stores.proposals.drop(USER, proposal.id)
    await stores.proposals.prune()
    question = said(30, "リマインドして", author_id=USER)
    channel = ChannelKey(5)
    await stores.channels.add(channel, question, waiting=True)
    change = AddReminder("薬", datetime.now(UTC), "", "Asia/Tokyo", "channel")
    wanted: list[ProposedChange] = [change, CallTool("notes", "write", "{}")]
    stored = await stores.channels.archive_answer(channel, answer(31, "はい"), [question], wanted)
    assert await stores.claimed_calls.leave(stored.proposals[-1], lambda told: told)
