"""What questions point at: replies, links to messages, forwards, the picture just above."""

import base64
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.documents import word
from tests.end_to_end.stage import Stage, answered, running_stage
from tests.end_to_end.test_attachments import PNG, images
from tests.loopback.discord import Channel, File, LoopbackDiscord, Message, Permission, User
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, CutConnection, Hang, Reply, Say, calls, fails, says

MISSING_ACCESS, UNKNOWN_MEMBER, UNKNOWN_MESSAGE = 50001, 10007, 10008
NOT_SHOWN = "[In reply to a message that is not shown to you.]"
NO_LINK = "[The link leads to a message that is not shown to you.]"
ROWS_WITH = "SELECT count(*) FROM messages WHERE content LIKE ?"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A program that reads all messages."""
    discord = LoopbackDiscord(message_content=True)
    settings = {"CC_BOT_CHANNELS": "all"}
    async with running_stage(tmp_path_factory.mktemp("all"), settings, discord) as stage:
        yield stage


@pytest.fixture
def one_of_the_stages(reader: Stage) -> Stage:
    return reader


async def replied(
    stage: Stage, user: User, target: Message, text: str, answer: str = "なるほど。"
) -> Message:
    """A reply to a message that mentions the bot, and its answer."""
    stage.model.script(says(answer))
    message = await stage.write(user, target.channel, text, reply_to=target)
    await stage.says(message, answer)
    return message


async def asked_in_dm(
    stage: Stage, user: User, text: str, *, reply_to: Message | None = None, answer: str = "承知しました"
) -> str:
    """A question in a DM, answered; what the model was shown last."""
    message = await stage.write(user, stage.discord.dm(user), text, mention=False, reply_to=reply_to)
    await stage.says(message, answer)
    return stage.shown()[-1]


def link(message: Message) -> str:
    guild = message.channel.guild
    return f"https://discord.com/channels/{guild.id if guild else '@me'}/{message.channel.id}/{message.id}"


class TestAReply:
    async def test_brings_what_it_replies_to_and_two_messages_above_that(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.discord.nickname(ben, "部長")
        target = await stage.discord.post(aiko, channel, "一")
        for text in ("二", "三", "合言葉は\nヒバリ"):
            target = await stage.discord.post(ben, channel, text, reply_to=target)
        question = await replied(stage, aiko, target, "つまり？")
        assert stage.shown()[-1] == "\n\n".join(
            (
                "[In reply to a message of 部長:]\n> 合言葉は\n> ヒバリ",
                "[Which replies to a message of 部長:]\n> 三",
                "[Which replies to a message of 部長:]\n> 二",
                "Aiko: つまり？",
            )
        )
        assert stage.rows(ROWS_WITH, "%ヒバリ%") == [(1,)]  # no second copy
        stored = stage.rows("SELECT reply_to, tainted FROM messages WHERE discord_id = ?", question.id)
        assert stored == [(target.id, 1)]
        await stage.said(ben, channel, "when?", "十時です。")
        assert "部長: > Aiko: 一\n  二" in stage.shown()

    async def test_brings_pictures_embeds_and_documents_and_names_what_could_not_be_read(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        picture = File("a.png", PNG, "image/png")
        target = await stage.discord.post(ben, channel, "look", attachments=(picture,))
        await stage.discord.unfurl(target, {"title": "Zoo"})
        await replied(stage, aiko, target, "これは何の写真？")
        encoded = base64.b64encode(PNG).decode()
        assert images(stage.model.requests[-1].body) == [f"data:image/png;base64,{encoded}"]
        assert "> look\n> [embed]\n> > Zoo\n> [file: a.png]" in stage.shown()[-1]
        await stage.said(aiko, channel, "ほかには？", "いいえ。")
        assert images(stage.model.requests[-1].body) == []

        rule = "第七条 忘れ物は三十日のあいだ守衛室で預かります。"
        files = (File("規則.docx", word(["規則", rule])), File("bad.pdf", b"%PDF-1.7 x"))
        target = await stage.discord.post(ben, channel, "新しい規則です", attachments=files)
        query = {"file": "規則.docx", "query": "忘れ物はどこ？"}
        stage.model.script(calls(Call("read_file", query)), says("守衛室です。"))
        question = await stage.write(aiko, channel, "忘れ物は？", reply_to=target)
        reply = await stage.says(question, "守衛室です。")
        assert "bad.pdf は読めませんでした" in reply.text
        assert rule in stage.shown(-2)[-1]
        assert "[not shown, it could not be read: bad.pdf]" in stage.shown(-2)[-1]
        assert "守衛室" in new_tool_results(stage.model.requests[-1].body)[0]
        kept = stage.rows("SELECT tool_calls FROM messages WHERE content = '守衛室です。'")
        assert [("not kept" in calls, "三十日" in calls) for (calls,) in kept] == [(True, False)]

    async def test_to_an_old_answer_of_ones_own_session_says_which(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        plan = "1. 海に行く\n2. 山に行く"
        old = await stage.ask_in_words(aiko, dm, plan)
        for number in range(12):
            await stage.ask_in_words(aiko, dm, f"答え{number}")
        stage.model.script(says("山ですね。"))
        message = await stage.write(aiko, dm, "2番にする", mention=False, reply_to=old.message)
        await stage.says(message, "山ですね。")
        shown = "[In reply to your own answer:]\n> 1. 海に行く\n> 2. 山に行く\n\n2番にする"
        assert stage.shown()[-1] == shown
        assert plan not in "\n".join(stage.shown()[:-1])
        stage.model.script(says("山にしましょう。"))
        [answer] = stage.discord.answer(message).messages
        await answered(await stage.discord.click(aiko, answer, "もう一度答える"))
        assert stage.shown()[-1] == shown
        await stage.ask(aiko, dm, "持ち物は？")
        assert stage.shown()[-3] == shown

    async def test_to_what_was_deleted_or_stood_before_a_reset_does_not_bring_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        target, other = [await stage.discord.post(ben, channel, text) for text in ("ツグミ", "コゲラ")]
        stage.model.script(Reply(Hang()))
        first = await stage.write(aiko, channel, "待って")
        await stage.model.arrived(1)
        second = await stage.write(aiko, channel, "これは？", reply_to=target)
        await stage.discord.delete(ben, target)
        await stage.discord.delete(aiko, first)
        await stage.says(second, "承知しました")
        assert stage.shown()[-1] == f"{NOT_SHOWN}\n\nAiko: これは？"
        stage.discord.permit(aiko, Permission.MANAGE_MESSAGES, channel)
        await (await stage.discord.slash(aiko, channel, "reset")).finished()
        await replied(stage, aiko, other, "こっちは？")
        assert stage.shown() == [f"{NOT_SHOWN}\n\nAiko: こっちは？"]

    async def test_outlives_a_kill_unless_its_target_was_deleted_meanwhile(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        other = stage.discord.guild_channel("other")
        kept, deleted = [
            await stage.discord.post(ben, place, f"合言葉はジョウビタキ{place.name}")
            for place in (channel, other)
        ]
        stage.model.script(Reply(Hang()), Reply(Hang()))
        questions = [
            await stage.write(user, target.channel, "これは？", reply_to=target)
            for user, target in ((aiko, kept), (ben, deleted))
        ]
        await stage.model.arrived(2)
        await stage.program.kill()
        await stage.discord.gone()
        await stage.discord.delete(ben, deleted)
        stage.model.requests.clear()
        await stage.start()
        for question in questions:
            await stage.says(question, "承知しました")
        shown = {stage.shown(number)[-1] for number in (0, 1)}
        assert f"{NOT_SHOWN}\n\nBen: これは？" in shown
        assert f"[In reply to a message of Ben:]\n> {kept.content}\n\nAiko: これは？" in shown
        assert stage.rows(ROWS_WITH, f"%{deleted.content}%") == [(0,)]


class TestALink:
    async def test_brings_the_message_that_it_leads_to_for_this_answer(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, stage.discord.guild_channel("other"), "shrike at ten")
        quoted = "[The link leads to a message of Ben:]\n> shrike at ten\n\n"
        await stage.said(aiko, channel, f"{link(target)} 何時？", "十時です。")
        assert stage.shown()[-1].startswith(f"{quoted}Aiko: ")
        stage.discord.fail_next("GET /channels/{channel}/messages/{message}", 503)
        cut = Reply(Say("モズ"), CutConnection())
        stage.model.script(cut, cut, says("は十時です。"))
        reply = await stage.ask(aiko, channel, f"{link(target)} を訳して")
        for _ in range(2):  # read again whenever the answer goes on
            assert stage.shown()[-1].startswith(quoted)
            reply = await answered(await stage.discord.click(aiko, reply.messages[-1], "続ける"))
        assert stage.shown()[-1].startswith(quoted)
        assert stage.rows(ROWS_WITH, "%shrike at ten%") == [(1,)]

    async def test_among_many_is_followed_or_said_not_to_be_and_only_where_the_asker_typed_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        other = stage.discord.guild_channel("other")
        targets = [await stage.discord.post(ben, other, f"number {n}") for n in range(8)]
        await stage.ask(aiko, channel, " ".join(map(link, targets)))
        assert [f"> number {n}" in stage.shown()[-1] for n in range(8)] == [True] * 5 + [False] * 3
        assert stage.shown()[-1].count(NO_LINK) == 3
        for written in ("> {}\nどう思う？", "[embed]\n> Zoo {}\nどう思う？"):
            await stage.ask(aiko, channel, written.format(link(targets[0])))
            assert "> number 0" not in stage.shown()[-1]

    async def test_is_one_of_the_asker_as_much_as_of_the_bot(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused |= {MISSING_ACCESS, UNKNOWN_MEMBER}
        discord, secret = stage.discord, stage.discord.guild_channel("secret")
        target = await discord.post(ben, secret, "meet at ten")

        async def leads_nowhere(message: Message) -> None:
            await stage.said(aiko, channel, f"{link(message)} 何？", "さあ。")
            assert stage.shown()[-1].startswith(f"{NO_LINK}\n\nAiko: ")

        for missing in (Permission.VIEW_CHANNEL, Permission.READ_MESSAGE_HISTORY):
            discord.forbid(aiko, missing, secret)
            await leads_nowhere(target)
            discord.permit(aiko, missing, secret)
        discord.forbid(discord.bot, Permission.VIEW_CHANNEL, secret)
        await leads_nowhere(target)
        discord.permit(discord.bot, Permission.VIEW_CHANNEL, secret)
        await stage.told(discord.owner, channel, "admin access deny", subject=f"<#{secret.id}>")
        await leads_nowhere(target)
        await stage.told(discord.owner, channel, "admin access remove", subject=f"<#{secret.id}>")
        discord.pings.clear()

        thread = await discord.start_thread(ben, channel, private=True)
        inside = await discord.post(ben, thread, "meet at noon")
        await leads_nowhere(inside)
        discord.add_to_thread(aiko, thread)
        await stage.said(aiko, channel, f"{link(inside)} 何？", "正午です。")
        assert "> meet at noon" in stage.shown()[-1]

        assert "> meet at ten" in await asked_in_dm(stage, aiko, f"{link(target)} 何時？")
        discord.leave(aiko)
        assert (await asked_in_dm(stage, aiko, f"{link(target)} 何時？")).startswith(NO_LINK)

    async def test_to_elsewhere_leads_nowhere_and_takes_nothing_away(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        dm = await stage.discord.post(aiko, stage.discord.dm(aiko), "これは秘密")
        await stage.says(dm, "承知しました")
        here = await stage.discord.post(ben, channel, "here")
        guild, place, other = stage.discord.guild.id, channel.id, stage.discord.guild_channel()
        wrong = [
            link(dm),
            f"https://discord.com/channels/{guild}/{dm.channel.id}/{dm.id}",
            f"https://discord.com/channels/{guild + 1}/{place}/{here.id}",
            f"https://discord.com/channels/{guild}/{place}/{here.id // 2}",
            f"https://discord.com/channels/{guild}/{other.id}/{here.id}",
        ]
        for each in wrong:
            await stage.said(aiko, channel, f"{each} 何？", "さあ。")
            assert stage.shown()[-1].startswith(f"{NO_LINK}\n\nAiko: ")
        assert stage.rows("SELECT content FROM messages WHERE discord_id = ?", here.id) == [("here",)]


class TestAForwardInADm:
    async def forwarded(self, stage: Stage, user: User, source: Message) -> Message:
        forward = await stage.discord.forward(user, stage.discord.dm(user), source)
        await stage.discord.quiet()
        return forward

    async def test_waits_for_its_question_stays_with_it_and_goes_when_it_is_deleted(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        files = (File("悪い.exe", b"MZ\0\1\2"), File("表.csv", "品,円\nりんご,120".encode(), "text/csv"))
        source = await stage.discord.post(ben, channel, "見積もり\nです", attachments=files)
        forward = await self.forwarded(stage, aiko, source)
        assert stage.model.requests == []
        question = await stage.write(aiko, dm, "いくら？", mention=False)
        reply = await stage.says(question, "承知しました")
        assert "悪い.exe は読めませんでした" in reply.text
        [shown] = stage.shown()
        assert shown.startswith("いくら？\n\n")
        for part in ("> 見積もり\n> です", "りんご,120", "[not shown, it could not be read: 悪い.exe]"):
            assert part in shown
        await stage.discord.delete(ben, source)
        await stage.ask(aiko, dm, "税込みでは？")
        assert "> 見積もり\n> です" in stage.shown()[0]
        await stage.discord.delete(aiko, forward)
        rows = "SELECT count(*) FROM attachments WHERE source_id = ?"
        await stage.eventually(rows, forward.id, gives=[(0,)])
        await stage.ask(aiko, dm, "もう一度")
        assert stage.shown()[0] == "いくら？"

    async def test_goes_with_one_question_that_is_answered_and_no_other(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        ten, cake = [await stage.discord.post(ben, channel, text) for text in ("at ten", "bring cake")]
        for source in (ten, cake):
            forward = await self.forwarded(stage, aiko, source)
        stage.model.responder = lambda _: fails(400)
        await asked_in_dm(stage, aiko, "どう？", answer="受け付けませんでした")
        stage.model.reset()
        questions = [await stage.write(aiko, dm, text, mention=False) for text in ("まとめて", "別の話")]
        for question in questions:
            await stage.says(question, "承知しました")
        assert stage.shown(0)[-1].index("> at ten") < stage.shown(0)[-1].index("> bring cake")
        assert "cake" not in stage.shown(1)[-1]
        shown = await asked_in_dm(stage, aiko, "これは？", reply_to=forward)
        assert shown.startswith("これは？\n\n")
        assert "> bring cake" in shown
        await stage.discord.delete(aiko, await stage.discord.forward(aiko, dm, ten))
        assert await asked_in_dm(stage, aiko, "こんにちは") == "こんにちは"

    async def test_outlives_kills_and_is_asked_about_once(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        await stage.ask(aiko, dm, "こんにちは")
        await self.forwarded(stage, aiko, await stage.discord.post(ben, channel, "at ten"))
        await stage.restart()
        stage.model.script(Reply(Hang()))
        question = await stage.write(aiko, dm, "どう？", mention=False)
        await stage.model.arrived(2)
        await stage.restart()
        reply = stage.discord.answer(question)
        await reply.until(lambda shown: "もう一度きく" in shown.labels, "the button")
        await answered(await stage.discord.click(aiko, reply.messages[-1], "もう一度きく"))
        assert "> at ten" in stage.shown()[-1]
        await stage.restart()
        assert "at ten" not in await asked_in_dm(stage, aiko, "ありがとう")


class TestWhatIsPrivate:
    async def test_is_read_by_nobody_else_whatever_it_was_asked_by(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        closed, dm = stage.discord.guild_channel("closed"), stage.discord.dm(aiko)
        stage.discord.forbid(ben, Permission.VIEW_CHANNEL, closed)
        hidden = await stage.discord.post(aiko, closed, "暗号はキビタキ")
        question = f"{link(hidden)} は？"
        for option in ("private", "temporary"):
            reply = await stage.begin(aiko, channel, question, **{option: True})
            await reply.finished(lambda shown: "承知しました" in shown.text)
            assert "> 暗号はキビタキ" in stage.shown()[-1]
        assert "> 暗号はキビタキ" in await asked_in_dm(stage, aiko, question)
        forward = await stage.discord.forward(aiko, dm, hidden)
        assert "> 暗号はキビタキ" in await asked_in_dm(stage, aiko, "これは？")
        assert "> 暗号はキビタキ" in await asked_in_dm(stage, aiko, "これは？", reply_to=forward)
        await stage.ask(aiko, channel, question)
        assert "> 暗号はキビタキ" in stage.shown()[-1]
        stage.model.reset()
        await stage.ask(aiko, channel, "続き")
        await stage.said(ben, channel, "what now?", "はい。")
        await stage.said(aiko, channel, "次は？", "はい。")
        assert len(stage.model.requests) == 3
        assert "キビタキ" not in str([request.body for request in stage.model.requests])
        assert [row for row in stage.stored(channel) if "キビタキ" in row[1]] == []


async def test_a_picture_above_goes_with_its_authors_question_about_it(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    await stage.discord.post(aiko, channel, "", attachments=(File("猫.png", PNG, "image/png"),))
    await stage.discord.post(ben, channel, "nice")
    await stage.said(ben, channel, "what is in this photo?", "どれですか？")
    assert images(stage.model.requests[-1].body) == []
    await stage.said(aiko, channel, "この写真は何？", "猫です。")
    assert len(images(stage.model.requests[-1].body)) == 1
    await stage.ask(aiko, channel, "画像の色は？")
    assert len(images(stage.model.requests[-1].body)) == 1
    await stage.said(aiko, channel, "今日は何曜日？", "月曜です。")
    assert images(stage.model.requests[-1].body) == []


class TestWithoutTheIntent:
    @pytest.fixture
    def one_of_the_stages(self, shared_stage: Stage) -> Stage:
        """What reads nothing but what is to it."""
        return shared_stage

    async def test_a_reply_or_link_says_that_there_is_a_message_and_once_how_to_ask_about_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, channel, "合言葉はカケス")
        first = await replied(stage, aiko, target, "どういう意味？", "見えません。")
        assert stage.shown()[-1] == f"{NOT_SHOWN}\n\nAiko: どういう意味？"
        assert "「これについて聞く」" in stage.discord.answer(first).text
        second = await replied(stage, aiko, target, "だめ？", "だめです。")
        assert "「これについて聞く」" not in stage.discord.answer(second).text
        await stage.said(aiko, channel, f"{link(target)} 何？", "さあ。")
        assert stage.shown()[-1].startswith(NO_LINK)
        assert stage.rows(ROWS_WITH, "%カケス%") == [(0,)]
        asked = await stage.said(ben, channel, "which bird?", "オオルリです。")  # which the bot may read
        await replied(stage, aiko, asked, "同じことを聞きたい")
        assert stage.shown()[-1].startswith("[In reply to a message of Ben:]\n> which bird?\n\n")
