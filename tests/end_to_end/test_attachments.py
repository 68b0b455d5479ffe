"""Files that come with a question: what the model is shown of them, and what who asked is told."""

import asyncio
import base64
import sys
from pathlib import Path

import pytest

from cc_bot.domain import Locale
from cc_bot.texts import texts
from tests import documents
from tests.end_to_end.stage import STOP, Stage, again_label, answered, continue_label
from tests.loopback.discord import Channel, File, User
from tests.loopback.model_server import Call, CutConnection, Json, Reply, Say, calls, says
from tests.reading.test_hostile import objects

JA = texts(Locale.JA)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
TEXT = "請求書の合計は三万二千円です。\n支払い期限は月末です。\n"
REPORT = documents.pdf(
    ["第一四半期の売上は千二百万円でした。", "保証期間は二年間です。"], outline=[("保証", 2)]
)
BOOK = documents.pdf(
    [
        f"第{n}章。ここには手順と注意だけが書いてあります。\n" * 30
        + (f"秘密の番号は{n}七三です。" if n == 31 else "")
        for n in range(1, 61)
    ]
)
KINDS = {
    "報告.txt": (REPORT, "[page 2]\n保証期間は二年間です。"),  # it is what its bytes are
    "議事録.docx": (documents.word(["# 決定", "予算は承認されました。"]), "## 決定\n予算は承認されました。"),
    "売上.xlsx": (documents.excel({"四月": [["品目", "金額"], ["りんご", 120]]}), "[part 1: 四月, rows 1–2]"),
    "発表.pptx": (documents.powerpoint([("新製品", "発売は秋です")]), "[slide 1]\n## 新製品\n発売は秋です"),
    "手紙.odt": (documents.opendocument("<text:p>拝啓</text:p>"), "拝啓"),
    "本.epub": (documents.epub([("第一章", "<p>吾輩は猫である。</p>")]), "## 第一章\n吾輩は猫である。"),
    "覚書.rtf": (documents.rtf("覚え書きです。"), "覚え書きです。"),
    "請求書.csv": (TEXT.encode("shift_jis"), TEXT),
}
REFUSED = (
    ("大.png", PNG + b"\0" * (8 << 20), "大きすぎます。8 MB"),
    ("大.txt", b"a" * (257 << 10), "大きすぎます。256 KB"),
    ("偽.pdf", b"\x7fELF" + b"\0\1\2" * 99, "このファイルは読めません"),
    ("空.txt", b"", "このファイルは読めません"),
    ("鍵.pdf", documents.pdf(["秘密"], password="x"), "パスワードがかかっています"),
    ("壊れ.pdf", REPORT[:700], "壊れているか、複雑すぎる"),
    ("長い.pdf", documents.pdf([""] * 1001), "この文書は長すぎます"),
    ("詰め.zip", documents.zipped({"a.txt": "x"}), "このファイルは読めません"),
)


def images(body: Json) -> list[str]:
    """The image parts of a request, each as the data URL that it is."""
    parts = [m["content"] for m in body["messages"] if isinstance(m["content"], list)]
    return [part["image_url"]["url"] for some in parts for part in some if part["type"] == "image_url"]


def file(name: str, data: bytes) -> File:
    return File(name, data, "application/octet-stream")


def last_request(stage: Stage) -> str:
    return stage.model.requests[-1].last_user_text


class TestImage:
    async def test_is_still_seen_after_discords_link_expired(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(
            Reply(Say("小さな絵"), CutConnection()), says("です。"), says("青い絵です。"), says("青です。")
        )
        reply = await stage.ask(aiko, channel, "これは何？", attachment=File("絵.txt", PNG, "text/plain"))
        assert images(stage.model.requests[0].body) == [
            f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
        ]
        assert last_request(stage) == "これは何？"
        stage.discord.expire_attachments()
        more = await stage.discord.click(aiko, reply.message, continue_label(aiko))
        await more.finished(
            lambda shown: len(shown.messages) == 2 and shown.messages[1].labels == [again_label(aiko)]
        )
        await answered(await stage.discord.click(aiko, more.messages[-1], again_label(aiko)))
        await stage.ask(aiko, channel, "何色だった？")
        assert [len(images(request.body)) for request in stage.model.requests] == [1, 1, 1, 1]

    async def test_that_had_to_go_is_told_of_once_and_shown_to_the_model_no_more(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, channel, "これは何？", attachment=File("絵.png", PNG, "image/png"))
        stage.change(f"UPDATE attachments SET data = x'', bytes = NULL WHERE user_id = {aiko.id}")
        sentence = JA.answer.files_deleted.format(count=1)
        told = await stage.ask(aiko, channel, "何色だった？")
        assert sentence in str(told.history[-1].embeds)
        assert sentence not in str((await stage.ask(aiko, channel, "本当に？")).history[-1].embeds)
        assert [len(images(request.body)) for request in stage.model.requests] == [1, 0, 0]


class TestFiles:
    async def test_of_all_kinds_are_read_but_for_a_damaged_one(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        files = [file(name, data) for name, (data, _) in KINDS.items()]
        stage.model.script(says("八つです。"))
        damaged = file("壊れた.pdf", REPORT[:500])
        message = await stage.write(aiko, channel, "いくつ？", attachments=(*files, damaged))
        reply = await stage.says(message, "壊れた.pdf は読めませんでした。")
        assert "八つです。" in reply.text
        seen = stage.shown()[-1]
        assert [name for name, (_, text) in KINDS.items() if text not in seen] == []
        assert "[not shown, it could not be read: 壊れた.pdf]" in seen

    async def test_that_can_not_be_read_are_refused_with_what_to_do(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        wrong = []
        for name, data, told in REFUSED:
            reply = await stage.begin(aiko, channel, attachment=file(name, data))
            await reply.finished(lambda shown: STOP["ja"] not in shown.labels)
            if told not in reply.text:
                wrong.append((name, reply.text))
        assert wrong == []
        assert stage.model.requests == []
        assert stage.stored(channel) == []


class TestDocument:
    @pytest.mark.restarts
    async def test_that_is_long_is_looked_into_later_by_its_user_alone_until_it_is_cleared(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
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
        assert stage.rows(kept, aiko.id) == [(len(BOOK), 1)]
        await stage.told(aiko, channel, "clear")
        await stage.eventually(kept, aiko.id, gives=[])

    async def test_without_text_is_shown_as_pictures_and_that_is_told(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says("Blank paper."), says("白い紙です。"))
        reply = await stage.ask(ben, channel, "Read", attachment=file("paper.pdf", documents.scanned_pdf(7)))
        assert len(images(stage.model.requests[-1].body)) == 5
        assert "paper.pdf: a scan without text, so I looked at pictures" in reply.text
        scan = file("紙.pdf", documents.scanned_pdf(2))
        message = await stage.write(aiko, channel, "これは何？", attachments=(scan,))
        await stage.says(message, "紙.pdf は文字のないスキャンなので")


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the processes")
class TestReadingProcess:
    SLOW = file("迷路.pdf", objects(400_000))

    @pytest.mark.restarts
    async def test_is_ended_when_the_question_is_stopped(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        begun = await stage.begin(aiko, channel, "これは？", attachment=self.SLOW)
        await reading_process(stage)
        await stage.discord.click(aiko, begun.message, STOP["ja"])
        await begun.until(lambda shown: STOP["ja"] not in shown.labels, "the end of the answer")
        await self._ended(stage)
        assert "止めました" in begun.text
        question = await stage.write(aiko, channel, "これは？", attachments=(self.SLOW,))
        await reading_process(stage)
        reply = stage.discord.answer(question)
        await reply.until(lambda shown: STOP["ja"] in shown.labels, "the button")
        await stage.discord.click(aiko, reply.messages[-1], STOP["ja"])
        await stage.says(question, "止めました")
        await self._ended(stage)
        assert stage.model.requests == []

    async def _ended(self, stage: Stage) -> None:
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
    return [int(child) for child in children if b"cc_bot.reading" in command_of(child)]


def command_of(child: str) -> bytes:
    return Path(f"/proc/{child}/cmdline").read_bytes()
