import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import pytest

from cc_bot.features.memory.files import MAX_IMPORT_BYTES
from tests.attacks.bystander import holds_up_nobody
from tests.end_to_end.memories import form, keep, press, run, submitted
from tests.end_to_end.stage import Stage, ended
from tests.loopback.discord import Channel, File, User
from tests.loopback.model_server import Chunk, End, Fragment, Raw, Reply, Say, Step, says

pytestmark = pytest.mark.asyncio(loop_scope="session")

AT_ONCE: Final = 30
NOTES: Final = "\n".join(f"{number} {'あ' * 60}" for number in range(5000)).encode()
"""A megabyte."""
PNG: Final = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"x" * (8 * 2**20 - 100)

Worst = Callable[[Stage, User, Channel], Awaitable[object]]


def asks(question: str) -> Worst:
    async def do(stage: Stage, user: User, channel: Channel) -> None:
        stage.model.script(says("はい。"))
        await ended(await stage.begin(user, channel, question))

    return do


def attaches(name: str, data: bytes, content_type: str = "text/plain", times: int = 1) -> Worst:
    async def do(stage: Stage, user: User, channel: Channel) -> None:
        for _ in range(times):
            stage.model.script(says("はい。"), says("はい。"))
            await ended(await stage.begin(user, channel, "?", attachment=File(name, data, content_type)))
            await ended(await stage.begin(user, channel, "それで？"))  # with the file in the history

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

    async def begin(stage: Stage, user: User, channel: Channel) -> None:
        if not stage.rows("SELECT 1 FROM attachments WHERE user_id = ?", user.id):
            await attaches("a.txt", b"a")(stage, user, channel)
            stage.change(f"UPDATE attachments SET data = zeroblob({4 * 2**20}) WHERE user_id = {user.id}")
            asked = await run(stage, user, channel, "import", file=File("a.txt", NOTES, "text/plain"))
            await press(stage, user, asked, "5000件を取り込む")
        await do(stage, user, channel)

    return begin


def imports(*lines: str) -> Worst:
    """A file of a megabyte at most, and the button below what is found in it."""
    data = "\n".join(lines).encode()[:MAX_IMPORT_BYTES]

    async def do(stage: Stage, user: User, channel: Channel) -> None:
        asked = await run(stage, user, channel, "import", file=File("a.txt", data, "text/plain"))
        for label in [each for each in asked.labels if "取り込む" in each][:1]:
            await press(stage, user, asked, label)

    return do


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
    return Raw("".join(f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n" for delta in deltas))


def fragments(*functions: Mapping[str, str], apart: bool = False) -> Raw:
    return chunks(
        *(
            {"tool_calls": [{"index": n if apart else 0, "id": f"id{n if apart else 0}", "function": each}]}
            for n, each in enumerate(functions)
        )
    )


def kanji(number: int) -> str:
    return "".join(chr(0x4E00 + (number * 131 + location * 17) % 20_000) for location in range(160))


WHEN: Final = call("schedule", when="2030-01-01T09:00", text="薬を飲む")
REMEMBER: Final = {"name": "remember", "arguments": '{"content": "猫"}'}
WORST: Final[dict[str, Worst]] = {
    "question: letters that unfold": asks("ﷺ" * 6000),
    "question: spaces": asks("？" + " " * 5998 + "？"),
    "question: marks": asks("か" + "゙" * 5999),
    "question: joined emojis": asks("👩‍👩‍👧‍👦" * 850),
    "question: backticks": asks("`" * 6000),
    "question: brackets": asks("[" * 3000 + "]" * 3000),
    "question: what looks like a password": asks("パスワードは " * 850),
    "question: digits": asks("4 " * 3000),
    "question: a wish": asks("覚えて。" * 1500),
    "file: one line of spaces": attaches("a.txt", b"a" + b" " * 262_000 + b"b"),
    "file: backticks": attaches("a.txt", b"`" * 262_000),
    "file: text in an old encoding": attaches("a.txt", "漢字".encode("shift_jis") * 43_000),
    "file: text in no encoding": attaches("a.txt", bytes(range(128, 256)) * 2048),
    "file: letters that unfold": attaches("a.txt", "ﷺ".encode() * 87_000),
    "file: pictures": attaches("a.png", PNG, "image/png", times=5),
    "file: zeros": attaches("a.bin", b"\0" * (8 * 2**20), "application/octet-stream"),
    "answer: letters one by one": answers(chunks(*[{"content": "あ"}] * 20_000), End()),
    "answer: too many letters": answers(chunks(*[{"content": "あ" * 1000}] * 4000), End()),
    "answer: lines": answers(Say("あ\n" * 50_000), End()),
    "answer: spaces": answers(Say("あ" + " " * 99_998 + "い"), End()),
    "answer: thoughts": answers(chunks(*[{"reasoning": "x" * 100}] * 40_000), Say("はい。"), End()),
    "answer: one huge chunk": answers(
        Chunk({"choices": [{"delta": {"reasoning": "x" * 1_000_000}}]}), Say("はい。"), End()
    ),
    "answer: an endless line": answers(Say("はい。"), *[Raw("data: " + "x" * 2**20)] * 20),
    "answer: signs of life": answers(Say("はい。"), *[Raw(": ping\n\n" * 2**17)] * 40),
    "answer: nesting": answers(Say("はい。"), Raw("data: " + "[" * 500_000 + "\n\n"), End()),
    "calls: 9 MB to remember": answers(*call("remember", times=1, content="パスワードは " * 1_300_000)),
    "calls: what just fits": answers(*call("remember", content="あ" * 6000, tags=["x" * 40] * 500)),
    "calls: tags": answers(*call("remember", content="猫", tags=["パスワードは"] * 2500)),
    "calls: a search": answers(*call("recall", query="あ" * 6000), question="猫は？"),
    "calls: letters that unfold": answers(*call("remember", content="㍿" * 2000)),
    "calls: a canvas": answers(
        *call("canvas_add_card", title="あ" * 6000, content="あ" * 6000), question="描いて"
    ),
    "calls: no JSON": answers(Fragment("{" * 30_000, "remember", "a"), End("tool_calls")),
    "calls: a bracket in each fragment": answers(
        fragments({**REMEMBER, "arguments": '{"a": ['}, *[{**REMEMBER, "arguments": "[],"}] * 20_000),
        End("tool_calls"),
    ),
    "calls: twenty thousand": answers(fragments(*[REMEMBER] * 20_000, apart=True), End("tool_calls")),
    "options: a long memory": commands("memory add", content="あ" * 4000, tags="#あ " * 1500),
    "options: what looks like a password": commands("memory add", content="パスワードは " * 500),
    "options: a form": fills_in(content="ﷺ" * 4000, tags="あ" * 100),
    # Of one user, all of them at once.
    "many: exports of everything": having_much(commands_at_once("privacy export")),
    "many: exports for reading": having_much(commands_at_once("memory export", format="markdown")),
    "many: imports": commands_at_once("memory import", file=File("a.txt", NOTES, "text/plain")),
    "import: most memories": imports(*(f"{n:05d}番の猫の名前はタマ{n}" for n in range(5000))),
    "import: kanji that nobody uses": imports(*map(kanji, range(2100))),
    "import: words that are not alike": imports(
        *(" ".join(f"w{n * 40 + m:x}" for m in range(30)) for n in range(4900))
    ),
    "import: runs without a space": imports(*(f"{n}" + "ヘルシンキ" * 260 + f"{n}" for n in range(260))),
    "import: what looks like secrets": imports(
        *(f"password: Tr0ub4dor{n}&3 sk-{n:040d}" for n in range(5000))
    ),
    "import: marks of lists": imports(*("- " * 100 + f"{n}" for n in range(5000))),
    "import: one line": imports("x " * (MAX_IMPORT_BYTES // 2)),
    "import: lists in lists": imports("[" * MAX_IMPORT_BYTES),
    # Of these each was slow for what it is matched with, and not for its length.
    "matched: days without end": commands("remind add", when="1日 " * 32 + "1日x", text="薬"),
    "matched: numbers": commands("remind add", when="十" * 100, text="薬"),
    "matched: a cron of spaces": commands("remind add", when="*" + " " * 98 + "x", text="薬"),
    "matched: wishes and tens": answers(*WHEN, question="リマインドして" + "十" * 5990),
    "matched: quotation marks": answers(Say("「" * 99_000), End()),
    "matched: fences": answers(Say("```a\n" * 19_000), End()),
    "matched: brackets": answers(Say("[a](" * 24_000), End()),
}


class TestSomebodyElse:
    @pytest.mark.parametrize("worst", [*WORST.values()], ids=[*WORST])
    async def test_is_acknowledged_in_time_beside(
        self, stage: Stage, aiko: User, channel: Channel, worst: Worst
    ) -> None:
        await holds_up_nobody(stage, lambda: worst(stage, aiko, channel))
