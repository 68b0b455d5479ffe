import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/prompt_cache.py`


from cc_bot import Message, SessionKey, Stores, open_stores
from cc_bot.chat.context.channel_prompt import ShownHistory, build_channel_prompt
from cc_bot.chat.context.prompt import PromptSettings
from cc_bot.chat.context.tokens import part_tokens
from cc_bot.chat.conversations import ChannelTurn, Conversations, SessionTurn
from cc_bot.chat.stores.blocks import read_context_page
from cc_bot.chat.tools import discover_tools
from cc_bot.chat.turn import Calibration, TurnOptions
from cc_bot.db import open_database
from cc_bot.domain.message import ChannelKey, ContextMessage, Reference
from cc_bot.domain.text import Locale
from cc_bot.llm.model import ChatRequest, PromptPart
from cc_bot.llm.openai.quirks import Quirks
from cc_bot.llm.openai.wires import fold_system_parts

GOAL = 0.9
GOAL_WITH_REPLIES = 0.88
REPLY_EVERY = 3
BLOCKS_THAT_LEAVE = 8
TURNS = 200
RESTART_EVERY = 50
BUDGET = 40_000
NOTES = 10

Kind = Literal["blocks", "window"]

TOOLS = discover_tools().schemas()
BLOCKS_LEFT = """
    SELECT count(*) FROM block_boundaries AS b
    JOIN channel_windows AS w ON w.channel_id = b.channel_id AND w.thread_id = b.thread_id
    WHERE b.last_message_id < w.first_message_id
"""

CHANNEL = ChannelKey(987654321098765432)
KEY = SessionKey(123456789012345678, 987654321098765432)
TOKYO = ZoneInfo("Asia/Tokyo")
START = datetime(2026, 11, 22, 0, 0, tzinfo=UTC)
PEOPLE = ("花子", "太郎", "みどり", "Ken")
TOPICS = (
    "夏祭りの屋台",
    "週末の山登り",
    "新しい駅前の図書館",
    "秋の読書会",
    "引っ越しの荷造り",
    "来月の発表",
)
SENTENCES = (
    "{topic}のことで、もう一度みんなの予定を確かめておきたいです。",
    "先週の話し合いでは、費用をどう分けるかがはっきり決まっていませんでした。",
    "雨が降ったときにどうするかも、早めに考えておいたほうがよいと思います。",
    "私は土曜日の午後なら参加できますが、日曜日は家族と出かける約束があります。",
    "前に調べたところでは、三つの候補のうち二つ目がいちばん評判がよかったです。",
    "持ち物の一覧は共有のノートに書いておいたので、足りないものがあれば書き足してください。",
    "去年は人数が思ったより多くて、席が足りなくなりそうでした。",
    "それで、第{number}回の準備はだれが何を担当するのがよいでしょうか。",
)


def said(number: int, voice: int) -> str:
    """About 300 tokens of Japanese, different every time."""
    topic = TOPICS[(number + voice) % len(TOPICS)]
    turned = (SENTENCES[(number * 3 + voice + at) % len(SENTENCES)] for at in range(12))
    return "".join(turned).format(topic=topic, number=number)


@dataclass
class Tally:
    total: int = 0
    saved: int = 0
    saved_by_marks: int = 0
    known: set[int] = field(default_factory=set)
    """Hashes of the prefixes that a request began with."""
    marked: set[int] = field(default_factory=set)
    """Hashes of those that ended in a mark."""

    def count(self, built: ChatRequest) -> None:
        prefix, spent, saved, by_marks = 0, 0, 0, 0
        parts, moved = fold_system_parts(built.prompt, Quirks())
        stable = {moved[each] for each in built.stable}
        for index, part in enumerate(parts):
            prefix = hash((prefix, part))
            spent += tokens_of(part)
            if prefix in self.known:
                saved = spent
            self.known.add(prefix)
            if index in stable:
                if prefix in self.marked:
                    by_marks = spent
                self.marked.add(prefix)
        self.total += spent
        self.saved += saved
        self.saved_by_marks += by_marks


@lru_cache(maxsize=10_000)
def tokens_of(part: PromptPart) -> int:
    return part_tokens(part)


@dataclass
class Conversation:
    url: str
    kind: Kind
    style: PromptSettings
    replies: bool = False
    tally: Tally = field(default_factory=Tally)
    last_id: int = 1_400_000_000_000_000_000
    answers: list[int] = field(default_factory=list)

    async def play(self, turns: int = TURNS) -> Tally:
        for first in range(0, turns, RESTART_EVERY):
            async with open_stores(self.url) as stores:
                for number in range(first, min(first + RESTART_EVERY, turns)):
                    await self._turn(stores, number)
        return self.tally

    async def blocks_left(self) -> int:
        async with open_database(self.url) as database:
            [(number,)] = await database.query(BLOCKS_LEFT)
        return int(number)

    async def _turn(self, stores: Stores, number: int) -> None:
        name = PEOPLE[number % len(PEOPLE)]
        question = Message(
            "user", said(number, 0), author_id=number % 4 + 1, author_name=name, discord_id=self._id()
        )
        if self.replies:
            question = replying(question, number, self.answers)
        await stores.channels.add(CHANNEL, question, is_question=True)
        answer_id = self._id()
        self.answers.append(answer_id)
        options = TurnOptions(Locale.JA, TOKYO, bot_id=9, answer_discord_id=answer_id)
        now = START + timedelta(minutes=3 * number)
        self.tally.count(await self._prompt(stores, question, options, now))
        answer = Message("assistant", said(number, 5), author_id=9, discord_id=answer_id)
        await stores.channels.archive_answer(CHANNEL, answer, [question])

    async def _prompt(
        self, stores: Stores, question: Message, options: TurnOptions, now: datetime
    ) -> ChatRequest:
        if self.kind == "blocks":
            calibration = Calibration(stores.token_factors, "model")
            turns = Conversations(stores, calibration, self.style, lambda: now)
            prompt = await ChannelTurn(turns, CHANNEL, (question,), options).prompt(TOOLS)
            return prompt.request(TOOLS, answer_begun=False, model="")
        bounds = {"first_id": 0, "end_id": question.discord_id or 0, "newest_question_id": 2**62}
        page = partial(read_context_page, CHANNEL, limit=1000, **bounds)
        rows = await stores.blocks.run_read(page)
        shown = ShownHistory(tuple[ContextMessage, ...](reversed(rows))).keep_newest(self.style.budget_tokens)
        return build_channel_prompt(
            shown, (question,), tools=TOOLS, locale=Locale.JA, now=now, timezone=TOKYO
        )

    def _id(self) -> int:
        self.last_id += 1 << 22
        return self.last_id


@dataclass
class Session:
    """The same script in one user's session."""

    url: str
    history_limit: int
    notes: int = 0
    replies: bool = False
    tally: Tally = field(default_factory=Tally)

    async def play(self) -> Tally:
        for first in range(0, TURNS, RESTART_EVERY):
            async with open_stores(
                self.url, history_limit=self.history_limit, max_prompt_memories=self.notes
            ) as stores:
                for number in range(first, first + max(1, self.notes - first)):
                    await stores.memories.add(KEY.user_id, said(number, 3)[:200])
                for number in range(first, first + RESTART_EVERY):
                    await self._turn(stores, number)
        return self.tally

    async def _turn(self, stores: Stores, number: int) -> None:
        now = START + timedelta(minutes=3 * number)
        style = PromptSettings(budget_tokens=BUDGET)
        calibration = Calibration(stores.token_factors, "model")
        turns = Conversations(stores, calibration, style, lambda: now)
        question, options = Message("user", said(number, 0)), TurnOptions(Locale.JA, TOKYO)
        if self.replies:
            question = replying(question, number, range(1, number + 1))
        session = await stores.sessions.open(KEY)
        turn = SessionTurn(turns, options, session, question, history=session.history, visibility="public")
        request = (await turn.prompt(TOOLS)).request(TOOLS, answer_begun=False, model="")
        self.tally.count(request)
        answer = Message("assistant", said(number, 5), discord_id=number + 1)
        await stores.sessions.commit_turn(session, (question, answer))


def replying(question: Message, number: int, answers: Sequence[int]) -> Message:
    """The question, and every third time with an answer of three turns before."""
    if number % REPLY_EVERY or not number:
        return question
    reference = Reference("reply", said(number - REPLY_EVERY, 5), tainted=False)
    return replace(question, reply_to=answers[-REPLY_EVERY], references=(reference,))


async def measure_session(history_limit: int, notes: int = 0, *, replies: bool = False) -> float:
    """The share of prompt tokens that a cache saves in a session."""
    with TemporaryDirectory() as folder:
        tally = await Session(f"sqlite:///{folder}/sessions.db", history_limit, notes, replies).play()
        return tally.saved / tally.total


async def measure(
    kind: Kind, style: PromptSettings, turns: int = TURNS, *, replies: bool = False
) -> tuple[float, float, int]:
    """The shares of prompt tokens that a cache saves, by itself and by marks, and how many blocks left."""
    with TemporaryDirectory() as folder:
        conversation = Conversation(f"sqlite:///{folder}/sessions.db", kind, style, replies)
        tally = await conversation.play(turns)
        left = await conversation.blocks_left()
        return tally.saved / tally.total, tally.saved_by_marks / tally.total, left


def main(arguments: Sequence[str]) -> int:
    """Print the shares; the exit code tells whether the goal is met, with the default or the first size."""
    sizes = [int(argument) for argument in arguments] or [PromptSettings().block_tokens]
    window, _, _ = asyncio.run(measure("window", PromptSettings(budget_tokens=BUDGET)))
    results = []
    for size in sizes:
        share, marked, left = asyncio.run(
            measure("blocks", PromptSettings(budget_tokens=BUDGET, block_tokens=size))
        )
        results.append(share >= GOAL and left >= BLOCKS_THAT_LEAVE)
        print(
            f"blocks of {size}: {share:.1%} saved ({marked:.1%} by marks), {left} blocks left;"
            f" plain window: {window:.1%}"
        )
    unlimited, limited = (asyncio.run(measure_session(limit)) for limit in (0, 20))
    noted = asyncio.run(measure_session(0, NOTES))
    results.append(min(unlimited, noted) >= GOAL)
    print(f"session: {unlimited:.1%} saved; of 20 messages: {limited:.1%}; with {NOTES} notes: {noted:.1%}")
    style = PromptSettings(budget_tokens=BUDGET)
    channel, _, _ = asyncio.run(measure("blocks", style, replies=True))
    session = asyncio.run(measure_session(0, replies=True))
    results.append(min(channel, session) >= GOAL_WITH_REPLIES)
    print(f"with replies: {channel:.1%} saved in the channel, {session:.1%} in the session")
    goals = f"at least {GOAL:.0%}, {GOAL_WITH_REPLIES:.0%} with replies"
    print(f"goal: {goals}, and {BLOCKS_THAT_LEAVE} blocks that leave")
    return 0 if results[0] and all(results[-2:]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
