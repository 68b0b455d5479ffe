import asyncio
import base64
import sys
from pathlib import Path

import pytest

from tests import documents
from tests.end_to_end.stage import STOP, Stage, again_label, answered, continue_label
from tests.loopback.discord import Channel, File, User
from tests.loopback.model_server import Call, CutConnection, Json, Reply, Say, calls, says
from tests.reading.test_hostile import objects

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
BOOK = documents.pdf(
    [
        f"第{n}章。ここには手順と注意だけが書いてあります。\n" * 30
        + (f"秘密の番号は{n}七三です。" if n == 31 else "")
        for n in range(1, 61)
    ]
)


def images(body: Json) -> list[str]:
    """The image parts of a request, each as the data URL that it is."""
    parts = [m["content"] for m in body["messages"] if isinstance(m["content"], list)]
    return [part["image_url"]["url"] for some in parts for part in some if part["type"] == "image_url"]


def file(name: str, data: bytes) -> File:
    return File(name, data, "application/octet-stream")


def last_request(stage: Stage) -> str:
    return stage.model.requests[-1].last_user_text


async def test_an_image_is_seen_after_its_link_expired(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(
        Reply(Say("小さな絵"), CutConnection()), says("です。"), says("青い絵です。"), says("青です。")
    )
    reply = await stage.ask(aiko, channel, "これは何？", attachment=File("絵.txt", PNG, "text/plain"))
    assert images(stage.model.requests[0].body) == [f"data:image/png;base64,{base64.b64encode(PNG).decode()}"]
    assert last_request(stage) == "これは何？"
    stage.discord.expire_attachments()
    more = await stage.discord.click(aiko, reply.message, continue_label(aiko))
    await more.finished(
        lambda shown: len(shown.messages) == 2 and shown.messages[1].labels == [again_label(aiko)]
    )
    await answered(await stage.discord.click(aiko, more.messages[-1], again_label(aiko)))
    await stage.ask(aiko, channel, "何色だった？")
    assert [len(images(request.body)) for request in stage.model.requests] == [1, 1, 1, 1]


@pytest.mark.restarts
async def test_a_document_is_its_users_alone(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(says("長い本ですね。"))
    await stage.ask(aiko, channel, "これは何？", attachment=file("本.pdf", BOOK))
    first = last_request(stage)
    assert first.startswith('これは何？\n\nThe user attached the document "本.pdf"')
    assert "[page 60]" in first
    assert "秘密の番号" not in first
    stage.discord.expire_attachments()
    await stage.restart()
    look = Call("read_file", {"file": "本.pdf", "query": "秘密の番号は？"})
    stage.model.script(calls(look), says("31七三です（31ページ）。"))
    await stage.ask(aiko, channel, "秘密の番号は？")
    told = [m["content"] for m in stage.model.requests[-1].body["messages"] if m["role"] == "tool"][-1]
    assert "[page 31]" in told
    assert "秘密の番号は31七三です。" in told
    await stage.ask_in_words(ben, channel, "No.")
    request = stage.model.requests[-1].body
    assert "read_file" not in str(request.get("tools"))
    assert "第1章" not in str(request["messages"])
    kept = "SELECT length(data), document LIKE '%秘密の番号%' FROM attachments WHERE user_id = ?"
    assert stage.rows(kept, aiko.id) == [(0, 1)]
    await stage.told(aiko, channel, "clear")
    await stage.eventually(kept, aiko.id, gives=[])


async def test_a_scan_is_shown_as_pictures(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(says("Blank paper."), says("白い紙です。"))
    reply = await stage.ask(ben, channel, "Read", attachment=file("paper.pdf", documents.scanned_pdf(7)))
    assert len(images(stage.model.requests[-1].body)) == 5
    assert "paper.pdf: a scan without text, so I looked at pictures" in reply.text
    scan = file("紙.pdf", documents.scanned_pdf(2))
    message = await stage.write(aiko, channel, "これは何？", attachments=(scan,))
    await stage.says(message, "紙.pdf は文字のないスキャンなので")


SLOW = file("迷路.pdf", objects(200_000, pages=5))


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the processes")
@pytest.mark.restarts
@pytest.mark.slow
async def test_reading_ends_when_the_question_is_stopped(stage: Stage, aiko: User, channel: Channel) -> None:
    begun = await stage.begin(aiko, channel, "これは？", attachment=SLOW)
    await reading_process(stage)
    await begun.until(lambda shown: STOP["ja"] in shown.labels, "the button")
    await stage.discord.click(aiko, begun.message, STOP["ja"])
    await begun.until(lambda shown: STOP["ja"] not in shown.labels, "the end of the answer")
    await ended(stage)
    assert "止めました" in begun.text
    question = await stage.write(aiko, channel, "これは？", attachments=(SLOW,))
    await reading_process(stage)
    reply = stage.discord.answer(question)
    await reply.until(lambda shown: STOP["ja"] in shown.labels, "the button")
    await stage.discord.click(aiko, reply.messages[-1], STOP["ja"])
    await stage.says(question, "止めました")
    await ended(stage)
    assert stage.model.requests == []


async def ended(stage: Stage) -> None:
    async with asyncio.timeout(5):  # by itself it would go on for longer
        while readers(stage.program.process_id):  # noqa: ASYNC110 - another process ends it
            await asyncio.sleep(0.02)


async def reading_process(stage: Stage) -> int:
    """The id of the process that reads for the program, as soon as there is one."""
    async with stage.patience():
        while not (found := readers(stage.program.process_id)):  # noqa: ASYNC110 - another process starts it
            await asyncio.sleep(0.01)
    return found[0]


def readers(process_id: int) -> list[int]:
    lists = Path(f"/proc/{process_id}/task").glob("*/children")
    children = [child for listed in lists for child in listed.read_text().split()]
    return [int(child) for child in children if b"cc_bot.features.documents" in command_of(child)]


def command_of(child: str) -> bytes:
    return Path(f"/proc/{child}/cmdline").read_bytes()
