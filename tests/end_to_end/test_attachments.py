"""Files that come with a question."""

import base64

import pytest

from cc_bot.domain import Locale
from cc_bot.texts import texts
from tests.end_to_end.stage import Stage, answered
from tests.loopback.discord import Channel, File, User
from tests.loopback.model_server import CutConnection, Json, Reply, Say, says

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
TEXT = "請求書の合計は三万二千円です。\n支払い期限は月末です。\n"


def images(body: Json) -> list[str]:
    """The image parts of a request, each as the data URL that it is."""
    parts = [m["content"] for m in body["messages"] if isinstance(m["content"], list)]
    return [part["image_url"]["url"] for some in parts for part in some if part["type"] == "image_url"]


class TestImage:
    async def test_goes_to_the_model(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("小さな絵です。"))
        await stage.ask(aiko, channel, "これは何？", attachment=File("絵.png", PNG, "image/png"))
        assert images(stage.model.requests[0].body) == [
            f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
        ]
        assert stage.model.requests[0].last_user_text == "これは何？"

    async def test_is_still_seen_after_discords_link_expired(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(
            Reply(Say("小さな絵"), CutConnection()), says("です。"), says("青い絵です。"), says("青です。")
        )
        reply = await stage.ask(aiko, channel, "これは何？", attachment=File("絵.png", PNG, "image/png"))
        stage.discord.expire_attachments()
        more = await stage.discord.click(aiko, reply.message, "続ける")
        await more.finished(
            lambda shown: len(shown.messages) == 2 and shown.messages[1].labels == ["もう一度答える"]
        )
        again = await stage.discord.click(aiko, more.messages[-1], "もう一度答える")
        await answered(again)
        await stage.ask(aiko, channel, "何色だった？")
        assert [len(images(request.body)) for request in stage.model.requests] == [1, 1, 1, 1]

    async def test_that_had_to_go_is_told_of_and_shown_to_the_model_no_more(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("小さな絵です。"), says("さあ。"), says("さあ。"))
        await stage.ask(aiko, channel, "これは何？", attachment=File("絵.png", PNG, "image/png"))
        stage.change(f"UPDATE attachments SET data = x'', bytes = NULL WHERE user_id = {aiko.id}")
        sentence = texts(Locale.JA).answer.files_deleted.format(count=1)
        told = await stage.ask(aiko, channel, "何色だった？")
        assert sentence in str(told.history[-1].embeds)
        assert sentence not in str((await stage.ask(aiko, channel, "本当に？")).history[-1].embeds)
        assert [len(images(request.body)) for request in stage.model.requests] == [1, 0, 0]

    async def test_is_known_by_its_bytes(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(says("A picture."))
        await stage.ask(ben, channel, attachment=File("photo.txt", PNG, "text/plain"))
        assert len(images(stage.model.requests[0].body)) == 1


class TestTextFile:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "shift_jis", "euc_jp"])
    async def test_is_read_in_its_encoding(
        self, stage: Stage, aiko: User, channel: Channel, encoding: str
    ) -> None:
        file = File("請求書.txt", TEXT.encode(encoding), "text/plain")
        stage.model.script(says("三万二千円です。"))
        await stage.ask(aiko, channel, "合計は？", attachment=file)
        seen = stage.model.requests[0].last_user_text
        assert seen.startswith("合計は？")
        assert TEXT in seen
        assert "請求書.txt" in seen

    @pytest.mark.restarts
    async def test_is_still_seen_by_the_next_question(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("三万二千円です。"), says("月末です。"))
        await stage.ask(aiko, channel, "合計は？", attachment=File("a.txt", TEXT.encode(), "text/plain"))
        stage.discord.expire_attachments()
        await stage.restart()
        await stage.ask(aiko, channel, "期限は？")
        asked = [
            str(request.messages) for request in stage.model.requests
        ]  # some may be of what waited before
        assert any("期限は？" in each and TEXT in each.replace("\\n", "\n") for each in asked)


class TestSeveral:
    async def test_come_with_one_question(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("五つです。"))
        names = ("attachment", "attachment2", "attachment3", "attachment4", "attachment5")
        files = {name: File(f"{name}.txt", f"中身は {name}。".encode(), "text/plain") for name in names}
        await stage.ask(aiko, channel, "いくつ？", **files)
        seen = stage.model.requests[0].last_user_text
        at = [seen.index(f"中身は {name}。") for name in names]
        assert at == sorted(at)


class TestRefusal:
    @pytest.mark.parametrize(
        ("file", "told"),
        [
            (File("大.png", PNG + b"\0" * (8 << 20), "image/png"), "大きすぎます。8 MB"),
            (File("大.txt", b"a" * (257 << 10), "text/plain"), "大きすぎます。256 KB"),
            (File("表.pdf", b"%PDF-1.7 " + b"\0\1\2" * 99, "application/pdf"), "壊れているか、複雑すぎる"),
            (File("表.pdf", b"\x7fELF" + b"\0\1\2" * 99, "application/pdf"), "このファイルは読めません"),
            (File("空.txt", b"", "text/plain"), "このファイルは読めません"),
        ],
    )
    async def test_says_what_to_do(
        self, stage: Stage, aiko: User, channel: Channel, file: File, told: str
    ) -> None:
        reply = await stage.begin(aiko, channel, attachment=file)
        await reply.finished(lambda shown: told in shown.text)
        assert stage.model.requests == []
        assert stage.stored(channel) == []
