"""The worst that somebody can send, beside somebody else who uses the bot: they are acknowledged in time.

Discord shows 'did not respond' after three seconds. What is measured runs from the interaction to its
callback, at the loopback Discord, over and over for as long as the worst input is at work.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

import pytest
import pytest_asyncio

from tests.attacks.bystander import MAX_WAIT_S, Bystanders
from tests.databases import DatabaseSettings
from tests.end_to_end.memories import form, keep, press, run, submitted
from tests.end_to_end.stage import Stage, ended, running_stage
from tests.loopback.discord import Channel, File, LoopbackDiscord, User
from tests.loopback.model_server import Chunk, End, Fragment, Raw, Reply, Say, Step, says

pytestmark = pytest.mark.asyncio(loop_scope="session")

TRIES: Final = 3

Worst = Callable[[Stage, User, Channel], Awaitable[object]]


async def is_acknowledged_in_time(
    stage: Stage, channel: Channel, do: Callable[[], Awaitable[object]]
) -> bool:
    """Whether others are acknowledged in time while something is done. A busy machine holds everybody up
    now and then; what the program does to others, it does each time."""
    for _ in range(TRIES):
        others = Bystanders(stage, channel)
        await others.ask()
        asking = asyncio.create_task(others.ask_on())
        try:
            await do()
        finally:
            asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
        await others.ask()
        if max(others.waits_s) < MAX_WAIT_S:
            return True
    return False


def asks(question: str) -> Worst:
    async def do(stage: Stage, user: User, channel: Channel) -> None:
        stage.model.script(says("はい。"))
        await ended(await stage.begin(user, channel, question))

    return do


def attaches(name: str, data: bytes, content_type: str) -> Worst:
    async def do(stage: Stage, user: User, channel: Channel) -> None:
        stage.model.script(says("はい。"), says("はい。"))
        await ended(await stage.begin(user, channel, "?", attachment=File(name, data, content_type)))
        await ended(await stage.begin(user, channel, "それで？"))  # with the file in the history

    return do


def attaches_again_and_again(times: int, name: str, data: bytes, content_type: str) -> Worst:
    async def do(stage: Stage, user: User, channel: Channel) -> None:
        for _ in range(times):
            await attaches(name, data, content_type)(stage, user, channel)

    return do


def answers(*steps: Step, question: str = "覚えて") -> Worst:
    async def do(stage: Stage, user: User, channel: Channel) -> None:
        stage.model.script(Reply(*steps), says("はい。"), says("はい。"))
        await ended(await stage.begin(user, channel, question))
        await ended(await stage.begin(user, channel, "それで？"))  # with the answer in the history

    return do


def commands(name: str, **options: str) -> Worst:
    async def do(stage: Stage, user: User, channel: Channel) -> None:
        await keep(stage, user, channel, "猫")
        await (await stage.discord.slash(user, channel, name, **options)).finished()

    return do


def commands_at_once(name: str, **options: str | File) -> Worst:
    """As often as a user can press a key, each of them until its reply is there."""

    async def do(stage: Stage, user: User, channel: Channel) -> None:
        replies = [await stage.discord.slash(user, channel, name, **options) for _ in range(AT_ONCE)]
        await asyncio.gather(*(reply.finished() for reply in replies))

    return do


def having_much(do: Worst) -> Worst:
    """Of somebody of whom there is as much as fills files."""

    async def begin(stage: Stage, user: User, channel: Channel) -> None:
        if not stage.rows("SELECT 1 FROM attachments WHERE user_id = ?", user.id):
            await attaches("a.txt", b"a", "text/plain")(stage, user, channel)
            stage.change(f"UPDATE attachments SET data = zeroblob({4 * 2**20}) WHERE user_id = {user.id}")
            asked = await run(stage, user, channel, "import", file=File("a.txt", NOTES, "text/plain"))
            await press(stage, user, asked, "5000件を取り込む")
        await do(stage, user, channel)

    return begin


def fills_in(**inputs: str) -> Worst:
    async def do(stage: Stage, user: User, channel: Channel) -> None:
        await submitted(
            stage, await form(stage, user, channel, await keep(stage, user, channel, "猫")), **inputs
        )

    return do


def call(name: str, *, times: int = 16, **arguments: object) -> list[Step]:
    """So many calls of a tool, and the end of the answer."""
    written = json.dumps(arguments, ensure_ascii=False)
    return [*(Fragment(written, name, f"id{number}", number) for number in range(times)), End("tool_calls")]


def chunks(*deltas: object) -> Raw:
    """Many small chunks that come at once: made beforehand, so that the test's own loop does not stand."""
    return Raw("".join(f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n" for delta in deltas))


def fragments(*functions: Mapping[str, str], apart: bool = False) -> Raw:
    return chunks(
        *(
            {"tool_calls": [{"index": n if apart else 0, "id": f"id{n if apart else 0}", "function": each}]}
            for n, each in enumerate(functions)
        )
    )


QUESTIONS: dict[str, Worst] = {
    "letters": asks("あ" * 6000),
    "spaces": asks("？" + " " * 5998 + "？"),
    "lines": asks("あ\n" * 3000),
    "letters that unfold": asks("ﷺ" * 6000),
    "marks": asks("か" + "゙" * 5999),
    "joined emojis": asks("👩‍👩‍👧‍👦" * 850),
    "backticks": asks("`" * 6000),
    "brackets": asks("[" * 3000 + "]" * 3000),
    "what looks like a password": asks("パスワードは " * 850),
    "digits": asks("4 " * 3000),
    "a wish": asks("覚えて。" * 1500),
}
FILES: dict[str, Worst] = {
    "text": attaches("a.txt", "あ".encode() * 87_000, "text/plain"),
    "one line of spaces": attaches("a.txt", b"a" + b" " * 262_000 + b"b", "text/plain"),
    "backticks": attaches("a.txt", b"`" * 262_000, "text/plain"),
    "text in an old encoding": attaches("a.txt", "漢字".encode("shift_jis") * 43_000, "text/plain"),
    "text in no encoding": attaches("a.txt", bytes(range(128, 256)) * 2048, "text/plain"),
    "letters that unfold": attaches("a.txt", "ﷺ".encode() * 87_000, "text/plain"),
    "a picture": attaches("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"x" * (8 * 2**20 - 100), "image/png"),
    "pictures": attaches_again_and_again(
        5, "a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"x" * (8 * 2**20 - 100), "image/png"
    ),
    "zeros": attaches("a.bin", b"\0" * (8 * 2**20), "application/octet-stream"),
}
ANSWERS: dict[str, Worst] = {
    "letters at once": answers(Say("あ" * 99_999), End()),
    "letters one by one": answers(chunks(*[{"content": "あ"}] * 20_000), End()),
    "too many letters": answers(chunks(*[{"content": "あ" * 1000}] * 4000), End()),
    "lines": answers(Say("あ\n" * 50_000), End()),
    "spaces": answers(Say("あ" + " " * 99_998 + "い"), End()),
    "thoughts": answers(chunks(*[{"reasoning": "x" * 100}] * 40_000), Say("はい。"), End()),
    "one huge chunk": answers(
        Chunk({"choices": [{"delta": {"reasoning": "x" * 1_000_000}}]}), Say("はい。"), End()
    ),
    "an endless line": answers(Say("はい。"), *[Raw("data: " + "x" * 2**20)] * 20),
    "blank lines": answers(Say("はい。"), *[Raw("\n" * 2**20)] * 40),
    "signs of life": answers(Say("はい。"), *[Raw(": ping\n\n" * 2**17)] * 40),
    "nesting": answers(Say("はい。"), Raw("data: " + "[" * 500_000 + "\n\n"), End()),
}
CALLS: dict[str, Worst] = {
    "9 MB to remember": answers(*call("remember", times=1, content="パスワードは " * 1_300_000)),
    "what just fits": answers(*call("remember", content="あ" * 6000, tags=["x" * 40] * 500)),
    "a long note": answers(*call("remember", content="あ" * 4000)),
    "tags": answers(*call("remember", content="猫", tags=["パスワードは"] * 2500)),
    "a search": answers(*call("recall", query="あ" * 6000), question="猫は？"),
    "letters that unfold": answers(*call("remember", content="ﷺ" * 4000)),
    "letters that unfold as far as may be": answers(*call("remember", content="㍿" * 2000)),
    "a canvas": answers(*call("canvas_add_card", title="あ" * 6000, content="あ" * 6000), question="描いて"),
    "no JSON": answers(Fragment("{" * 30_000, "remember", "a"), End("tool_calls")),
    "twenty thousand fragments": answers(
        fragments({"name": "remember", "arguments": '{"content": "'}, *[{"arguments": "あ"}] * 20_000),
        End("tool_calls"),
    ),
    "a bracket in each fragment": answers(
        fragments(
            *[{"name": "remember", "arguments": '{"a": ['}],
            *[{"name": "remember", "arguments": "[],"}] * 20_000,
        ),
        End("tool_calls"),
    ),
    "twenty thousand calls": answers(
        fragments(*[{"name": "remember", "arguments": '{"content": "猫"}'}] * 20_000, apart=True),
        End("tool_calls"),
    ),
}
COMMANDS: dict[str, Worst] = {
    "a long memory": commands("memory add", content="あ" * 4000, tags="#あ " * 1500),
    "what looks like a password": commands("memory add", content="パスワードは " * 500),
    "letters that unfold": commands("memory add", content="ﷺ" * 4000),
    "a form": fills_in(content="パスワードは " * 500, tags="あ" * 100),
    "a form of letters that unfold": fills_in(content="ﷺ" * 4000),
}


AT_ONCE: Final = 30
NOTES: Final = "\n".join(f"{number} {'あ' * 60}" for number in range(5000)).encode()
"""A megabyte."""
MANY: dict[str, Worst] = {
    "exports of everything": having_much(commands_at_once("privacy export")),
    "exports by DM": having_much(commands_at_once("privacy export", where="dm")),
    "exports of memories": having_much(commands_at_once("memory export")),
    "exports for reading": having_much(commands_at_once("memory export", format="markdown")),
    "imports": commands_at_once("memory import", file=File("a.txt", NOTES, "text/plain")),
}
"""Of one user, all of them at once."""
PATTERNS: dict[str, Worst] = {
    "days without end": commands("remind add", when="1日 " * 32 + "1日x", text="薬"),
    "days without spaces": commands("remind add", when="1日" * 49 + "x", text="薬"),
    "numbers": commands("remind add", when="十" * 100, text="薬"),
    "a cron of spaces": commands("remind add", when="*" + " " * 98 + "x", text="薬"),
    "ten thousand tens": answers(
        *call("schedule", when="2030-01-01T09:00", text="薬を飲む"), question="十" * 6000
    ),
    "wishes and tens": answers(
        *call("schedule", when="2030-01-01T09:00", text="薬を飲む"), question="リマインドして" + "十" * 5990
    ),
    "promises": answers(Say("覚えて" * 33_000), End()),
    "quotation marks": answers(Say("「" * 99_000), End()),
    "fences": answers(Say("```a\n" * 19_000), End()),
    "backticks": answers(Say("`" * 99_000), End()),
    "brackets": answers(Say("[a](" * 24_000), End()),
}
"""Of these each was slow for what it is matched with, and not for its length."""
WORST = {
    f"{kind}: {name}": worst
    for kind, inputs in {
        "a question": QUESTIONS,
        "a file": FILES,
        "an answer": ANSWERS,
        "calls of tools": CALLS,
        "options and forms": COMMANDS,
        "many at once": MANY,
        "what is matched": PATTERNS,
    }.items()
    for name, worst in inputs.items()
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_patient(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    """What is done here may take as long as a busy machine wants; who asks beside it may not."""
    folder, discord = tmp_path_factory.mktemp("worst"), LoopbackDiscord(patience_s=180.0)
    async with running_stage(folder, database_settings(), discord) as stage:
        yield stage


class TestSomebodyElse:
    @pytest.fixture
    def stage(self, shared_patient: Stage) -> Stage:
        shared_patient.forget()
        return shared_patient

    @pytest.mark.parametrize("worst", [*WORST.values()], ids=[*WORST])
    async def test_is_acknowledged_in_time_beside(
        self, stage: Stage, aiko: User, channel: Channel, worst: Worst
    ) -> None:
        assert await is_acknowledged_in_time(stage, channel, lambda: worst(stage, aiko, channel))
