import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from freezegun import freeze_time

from cc_bot.chat.spending import Spending
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Attachment, Document, DocumentPart, Message, Reference
from cc_bot.domain.turn import TurnEvent
from cc_bot.features.heartbeat.runner import Heartbeats
from cc_bot.features.memory.files import PortableMemory
from cc_bot.features.memory.model import Source
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.model import ToolRequest
from tests.assistant.conftest import KEY, OPTIONS
from tests.attacks.scene import BYSTANDER, DUE, PLACE, THREAD, Scene, done_of
from tests.scripted_model import only
from tests.stores.locations import list_waiting

Turn = Callable[[], Awaitable[Sequence[TurnEvent]]]


@dataclass(frozen=True)
class Ready:
    """The last turn, and what its model looks up before it can read the order."""

    turn: Turn
    looks: tuple[ToolRequest, ...] = ()
    later: timedelta = timedelta()
    """It is asked so much later."""

    def at_its_time(self) -> AbstractContextManager[object]:
        return freeze_time(utc_now() + self.later, real_asyncio=True) if self.later else nullcontext()


Carrier = Callable[[Scene, str], Awaitable[Ready]]

LATER: Final = timedelta(days=2)
RECALLS: Final = (ToolRequest("look", "recall", '{"query": "合鍵"}'),)
NOTE: Final = "合鍵は机。"


def file(text: str, name: str = "メモ.txt") -> Attachment:
    return Attachment(name, "text/plain", text.encode())


def told(text: str) -> Message:
    return Message("user", "要約して", attachments=(file(text),))


def said(discord_id: int, text: str, author_id: int = KEY.user_id, name: str = "花子") -> Message:
    return Message("user", text, discord_id=discord_id, author_id=author_id, author_name=name)


async def text_file(scene: Scene, order: str) -> Ready:
    return Ready(lambda: scene.ask(told(order)))


async def file_name(scene: Scene, order: str) -> Ready:
    named = Message("user", "これは？", attachments=(file("天気は晴れ", f"{order}.txt"),))
    return Ready(lambda: scene.ask(named))


async def picture(scene: Scene, order: str) -> Ready:
    shown = Attachment(f"{order}.png", "image/png", b"\x89PNG")
    return Ready(lambda: scene.ask(Message("user", "何が写っている？", attachments=(shown,))))


async def document_that_is_looked_into(scene: Scene, order: str) -> Ready:
    parts = ("はじめに。\n" * 4000, f"合鍵について。{order}", "おわりに。")
    document = Document("pdf", "page", tuple(DocumentPart("", each) for each in parts))
    shown = Attachment("報告.pdf", "application/pdf", b"", document)
    await scene.ask(Message("user", "これは？", attachments=(shown,)))
    look = ToolRequest("look", "read_file", '{"file": "報告.pdf", "pages": "2"}')
    return Ready(lambda: scene.ask("2ページを読んで"), looks=(look,))


async def typed_quotation(scene: Scene, order: str) -> Ready:
    return Ready(lambda: scene.ask(f"> {order}\nどういう意味？"))


async def quotation_of_the_front_end(scene: Scene, order: str) -> Ready:
    return Ready(lambda: scene.ask(Message("user", f"{order}\nどういう意味？", tainted=True)))


async def message_asked_about(scene: Scene, order: str) -> Ready:
    """In the menu of a message, which goes along with the question."""
    shown = Reference("menu", order, "太郎", BYSTANDER.user_id)
    return Ready(lambda: scene.ask(Message("user", "どういう意味？", reply_to=9, references=(shown,))))


async def message_in_the_channel(scene: Scene, order: str) -> Ready:
    await scene.stores.channels.add(PLACE, said(1, order, BYSTANDER.user_id, "太郎"))
    return await _asked_in_the_channel(scene)


async def name_of_another(scene: Scene, order: str) -> Ready:
    await scene.stores.channels.add(PLACE, said(1, "やあ", BYSTANDER.user_id, order))
    return await _asked_in_the_channel(scene)


async def name_in_a_mention(scene: Scene, order: str) -> Ready:
    question = replace(said(10, f"@{order} どう思う？"), tainted=True)
    await scene.stores.channels.add(PLACE, question, is_question=True)
    [waiting] = await list_waiting(scene.stores, PLACE)
    return Ready(lambda: scene.ask(waiting, key=PLACE))


async def channel_of_a_thread(scene: Scene, order: str) -> Ready:
    await scene.stores.channels.add(PLACE, said(1, order, BYSTANDER.user_id, "太郎"))
    question = said(60, "どう思う？")
    await scene.stores.channels.add(THREAD, question, is_question=True)
    return Ready(lambda: scene.ask(question, key=THREAD))


async def chain_of_replies(scene: Scene, order: str) -> Ready:
    question = said(10, f"> {order}\nどう思う？")
    await scene.stores.channels.add(PLACE, question, is_question=True)
    return Ready(lambda: scene.ask(question, key=PLACE))


async def summary(scene: Scene, order: str) -> Ready:
    scene.play(["はい。"])
    await scene.ask(told(order))
    backlog = await scene.stores.summaries.get_backlog(KEY)
    assert backlog is not None
    assert await scene.stores.summaries.put(backlog, {"public": order})
    return Ready(lambda: scene.ask("続きは？", recapping=True), later=LATER)


async def rest_of_an_expired_session(scene: Scene, order: str) -> Ready:
    scene.play(["はい。"])
    await scene.ask(f"> {order}\nどういう意味？")
    return Ready(lambda: scene.ask("続きは？", recapping=True), later=LATER)


async def imported_memory(scene: Scene, order: str) -> Ready:
    await scene.stores.memories.import_all(KEY.user_id, [PortableMemory(f"{NOTE}{order}")])
    return Ready(lambda: scene.ask("合鍵は？", visibility="private"), RECALLS)


async def memory_of_anothers_message(scene: Scene, order: str) -> Ready:
    source = Source("message", link="https://discord.com/channels/1/2/3", author="太郎")
    await scene.stores.memories.add(KEY.user_id, f"{NOTE}{order}", source=source)
    return Ready(lambda: scene.ask("合鍵は？"), RECALLS)


async def memory_of_a_confirmed_proposal(scene: Scene, order: str) -> Ready:
    keeps = json.dumps({"content": f"{NOTE}{order}"}, ensure_ascii=False)
    await scene.confirmed(ToolRequest("1", "remember", keeps), told(order))
    await scene.stores.sessions.clear(KEY)
    return Ready(lambda: scene.ask("合鍵は？"), RECALLS)


async def reminder_of_a_confirmed_proposal(scene: Scene, order: str) -> Ready:
    when = f"{utc_now() + timedelta(days=60):%Y-%m-%d}T09:00"
    arguments = json.dumps({"when": when, "text": order}, ensure_ascii=False)
    await scene.confirmed(ToolRequest("1", "schedule", arguments), told(order))
    await scene.stores.sessions.clear(KEY)
    return Ready(lambda: scene.ask("予定は？"), (ToolRequest("look", "list_schedules", "{}"),))


async def call_of_an_earlier_turn(scene: Scene, order: str) -> Ready:
    await scene.stores.memories.import_all(KEY.user_id, [PortableMemory(f"{NOTE}{order}")])
    scene.play(list(RECALLS), ["机です。"])
    await scene.ask("合鍵は？", visibility="private")
    return Ready(lambda: scene.ask("ふうん", visibility="private"))


async def answer_when_the_file_is_gone(scene: Scene, order: str) -> Ready:
    scene.play(["要約です。"])
    await scene.ask(told(order))
    for number in range(10):  # twenty messages are shown
        scene.play([f"{number}: {order}"])
        await scene.ask(f"質問{number}")
    shown = (await scene.stores.sessions.open(KEY)).history
    assert not any(message.attachments for message in shown)
    return Ready(lambda: scene.ask("ふうん"))


async def answer_that_is_made_anew(scene: Scene, order: str) -> Ready:
    scene.play(["要約です。"])
    answer_id = done_of(await scene.ask(told(order))).answer.id
    assert answer_id is not None

    async def again() -> Sequence[TurnEvent]:
        return [event async for event in scene.assistant.ask(KEY, (), OPTIONS, replaces=answer_id)]

    return Ready(again)


async def heartbeat(scene: Scene, order: str) -> Ready:
    ends = utc_now() + timedelta(days=3)
    noted = PortableMemory(f"{NOTE}{order}", audience="anywhere", expires_at=ends)
    await scene.stores.memories.import_all(KEY.user_id, [noted])
    schedule = await scene.stores[ScheduleStore].add(KEY, "", DUE, kind="heartbeat", repeat="every 6h")

    async def beat() -> Sequence[TurnEvent]:
        beats = Heartbeats(scene.stores, only(scene.switch), discover_tools(), Spending(scene.stores.usage))
        await beats.compose(schedule, OPTIONS)
        return []

    return Ready(beat)


CARRIERS: Final[tuple[Carrier, ...]] = (
    *(text_file, file_name, picture, document_that_is_looked_into, typed_quotation),
    *(quotation_of_the_front_end, message_asked_about, message_in_the_channel, name_of_another),
    *(name_in_a_mention, channel_of_a_thread, chain_of_replies),
    *(summary, rest_of_an_expired_session, imported_memory, memory_of_anothers_message),
    *(memory_of_a_confirmed_proposal, reminder_of_a_confirmed_proposal, call_of_an_earlier_turn),
    *(answer_when_the_file_is_gone, answer_that_is_made_anew, heartbeat),
)


async def _asked_in_the_channel(scene: Scene) -> Ready:
    question = said(10, "どう思う？")
    await scene.stores.channels.add(PLACE, question, is_question=True)
    return Ready(lambda: scene.ask(question, key=PLACE))
