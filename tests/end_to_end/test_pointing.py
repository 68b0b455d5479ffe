"""What questions point at: replies, links to messages, the picture just above."""

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


READS_ALL = {"CC_BOT_CHANNELS": "all"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A program that reads all messages."""
    discord = LoopbackDiscord(message_content=True)
    async with running_stage(tmp_path_factory.mktemp("all"), READS_ALL, discord) as stage:
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def restarted_reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Another one, for tests that start it anew."""
    discord = LoopbackDiscord(message_content=True)
    async with running_stage(tmp_path_factory.mktemp("all"), READS_ALL, discord) as stage:
        yield stage


@pytest.fixture
def one_of_the_stages(request: pytest.FixtureRequest) -> Stage:
    restarts = request.node.get_closest_marker("restarts")
    chosen: Stage = request.getfixturevalue("restarted_reader" if restarts else "reader")
    return chosen


async def replied(
    stage: Stage, user: User, target: Message, text: str, answer: str = "なるほど。"
) -> Message:
    """A reply to a message that mentions the bot, and its answer."""
    stage.model.script(says(answer))
    message = await stage.write(user, target.channel, text, reply_to=target)
    await stage.says(message, answer)
    return message


def link(message: Message) -> str:
    guild = message.channel.guild
    return f"https://discord.com/channels/{guild.id if guild else '@me'}/{message.channel.id}/{message.id}"


class TestWhatPeopleSay:
    """The two that were asked in vain before, in both languages."""

    @pytest.mark.parametrize(
        ("locale", "question", "answer"),
        [("ja", "これは何の写真？", "猫の写真です。"), ("en-US", "What is this a photo of?", "It's a cat.")],
    )
    async def test_in_reply_to_somebodys_picture(
        self, stage: Stage, ben: User, channel: Channel, locale: str, question: str, answer: str
    ) -> None:
        asker = stage.discord.user("Asker", locale=locale)
        target = await stage.discord.post(ben, channel, "", attachments=(File("a.png", PNG, "image/png"),))
        asked = await replied(stage, asker, target, question, answer)
        stage.discord.answer(asked).any_language = True  # a channel is spoken to in its own
        assert len(images(stage.model.requests[-1].body)) == 1
        assert stage.shown()[-1].endswith(f"\n\nAsker: {question}")

    @pytest.mark.parametrize(
        ("locale", "said", "question", "answer"),
        [
            ("ja", "懇親会は六時です。", "何時から？", "六時からです。"),
            ("en-US", "The party starts at six.", "When does it start?", "At six."),
        ],
    )
    async def test_of_a_forward(
        self, stage: Stage, ben: User, channel: Channel, locale: str, said: str, question: str, answer: str
    ) -> None:
        asker = stage.discord.user("Asker", locale=locale)
        dm, source = stage.discord.dm(asker), await stage.discord.post(ben, channel, said)
        await stage.discord.forward(asker, dm, source)
        stage.model.script(says(answer))
        message = await stage.write(asker, dm, question, mention=False)
        await stage.says(message, answer)
        stage.discord.answer(message).any_language = True  # the line about help is in the operator's
        assert stage.shown()[-1].startswith(f"{question}\n\n")
        assert f"> {said}" in stage.shown()[-1]


class TestAReply:
    async def test_brings_what_it_replies_to(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, channel, "The party\nstarts at ten.")
        await replied(stage, aiko, target, "日本語で言うと？")
        shown = "[In reply to a message of Ben:]\n> The party\n> starts at ten.\n\nAiko: 日本語で言うと？"
        assert stage.shown()[-1] == shown

    async def test_keeps_no_second_copy_of_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, channel, "合言葉はヒバリ")
        question = await replied(stage, aiko, target, "どういう意味？")
        assert stage.rows(ROWS_WITH, "%ヒバリ%") == [(1,)]
        stored = stage.rows("SELECT reply_to, tainted FROM messages WHERE discord_id = ?", question.id)
        assert stored == [(target.id, 1)]

    async def test_is_told_as_one_later_on_by_the_beginning_of_what_it_answers(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, channel, "shall we\nmeet at ten?")
        await stage.discord.post(aiko, channel, "いいよ", reply_to=target)
        await stage.said(ben, channel, "when?", "十時です。")
        assert stage.shown()[1] == "Aiko: > Ben: shall we meet at ten?\n  いいよ"
        await stage.discord.delete(ben, target)
        await stage.said(ben, channel, "and now?", "さあ。")
        assert stage.shown()[0] == "Aiko: > (a message that is not shown)\n  いいよ"

    async def test_brings_two_more_that_stand_above_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(aiko, channel, "一")
        for text in ("二", "三", "四"):
            target = await stage.discord.post(ben, channel, text, reply_to=target)
        await replied(stage, aiko, target, "つまり？")
        assert stage.shown()[-1] == "\n\n".join(
            (
                "[In reply to a message of Ben:]\n> 四",
                "[Which replies to a message of Ben:]\n> 三",
                "[Which replies to a message of Ben:]\n> 二",
                "Aiko: つまり？",
            )
        )

    async def test_brings_the_picture_and_the_embeds_of_what_it_replies_to(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(
            ben, channel, "look", attachments=(File("a.png", PNG, "image/png"),)
        )
        await stage.discord.unfurl(target, {"title": "Zoo"})
        await replied(stage, aiko, target, "これは何の写真？")
        assert images(stage.model.requests[-1].body) == [
            f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
        ]
        assert "> look\n> [embed]\n> > Zoo\n> [file: a.png]" in stage.shown()[-1]
        await stage.said(aiko, channel, "ほかには？", "いいえ。")
        assert images(stage.model.requests[-1].body) == []

    async def test_brings_the_document_of_what_it_replies_to_which_can_be_looked_into(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        rule = "第七条 忘れ物は三十日のあいだ守衛室で預かります。"
        file = File("規則.docx", word(["規則", rule]))
        target = await stage.discord.post(ben, channel, "新しい規則です", attachments=(file,))
        query = {"file": "規則.docx", "query": "忘れ物はどこ？"}
        stage.model.script(calls(Call("read_file", query)), says("守衛室です。"))
        question = await stage.write(aiko, channel, "忘れ物は？", reply_to=target)
        await stage.says(question, "守衛室です。")
        assert rule in stage.shown(-2)[-1]
        assert "守衛室" in new_tool_results(stage.model.requests[-1].body)[0]
        kept = stage.rows("SELECT tool_calls FROM messages WHERE content = '守衛室です。'")
        assert [("not kept" in calls, "三十日" in calls) for (calls,) in kept] == [(True, False)]

    async def test_to_what_was_deleted_is_answered_without_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        target = await stage.discord.post(ben, channel, "合言葉はツグミ")
        stage.model.script(Reply(Hang()))
        first = await stage.write(aiko, channel, "待って")
        await stage.discord.wait(lambda: len(stage.model.requests) == 1, "the first question being asked")
        second = await stage.write(aiko, channel, "これは？", reply_to=target)
        await stage.discord.delete(ben, target)
        await stage.discord.delete(aiko, first)
        await stage.says(second, "承知しました")
        assert stage.shown()[-1] == f"{NOT_SHOWN}\n\nAiko: これは？"

    @pytest.mark.parametrize("private", [True, False])
    async def test_to_an_old_answer_of_ones_own_session_says_which(
        self, stage: Stage, aiko: User, private: bool, channel: Channel
    ) -> None:
        place = stage.discord.dm(aiko) if private else channel
        plan = "1. 海に行く\n2. 山に行く\n3. 家で寝る"
        old = await stage.ask_in_words(aiko, place, plan)
        for number in range(12):
            await stage.ask_in_words(aiko, place, f"答え{number}")
        stage.model.script(says("山ですね。"))
        message = await stage.write(aiko, place, "2番にする", mention=False, reply_to=old.message)
        await stage.says(message, "山ですね。")
        quoted = "[In reply to your own answer:]\n> 1. 海に行く\n> 2. 山に行く\n> 3. 家で寝る"
        assert stage.shown()[-1] == f"{quoted}\n\n2番にする"
        assert plan not in "\n".join(stage.shown()[:-1])
        await stage.ask(aiko, place, "持ち物は？")
        earlier = "[In reply to your own answer:]\n> 1. 海に行く\n> 2. 山に行く\n> 3. 家で寝る\n\n2番にする"
        assert stage.shown()[-3] == earlier

    async def test_to_an_answer_in_the_channel_says_which(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        asked = await stage.said(ben, channel, "which bird?", "オオルリです。")
        [old] = stage.discord.answer(asked).messages
        await stage.said(aiko, channel, "色は？", "青です。")
        stage.model.script(says("はい。"))
        message = await stage.write(aiko, channel, "こっちの鳴き声は？", mention=False, reply_to=old)
        await stage.says(message, "はい。")
        expected = "[In reply to your own answer:]\n> オオルリです。\n\n"
        above = "[Which replies to a message of Ben:]\n> which bird?\n\n"
        assert stage.shown()[-1] == f"{expected}{above}Aiko: こっちの鳴き声は？"

    async def test_is_asked_again_with_what_it_replies_to(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        own = await stage.said(aiko, dm, "最初の話", "はい。")
        question = await replied(stage, aiko, own, "これの続きは？", "こうです。")
        stage.model.script(says("いや、こうです。"))
        [answer] = stage.discord.answer(question).messages
        await answered(await stage.discord.click(aiko, answer, "もう一度答える"))
        assert stage.shown()[-1].startswith("[In reply to a message of Aiko:]\n> 最初の話\n\n")
        assert stage.shown()[-1] == stage.shown(-2)[-1]

    @pytest.mark.restarts
    async def test_outlives_a_kill(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        target = await stage.discord.post(ben, channel, "at ten")
        stage.model.script(Reply(Hang()))
        message = await stage.write(aiko, channel, "何時？", reply_to=target)
        await stage.discord.wait(lambda: len(stage.model.requests) == 1, "the question being asked")
        before = stage.shown()
        await stage.restart()
        await stage.says(message, "承知しました")
        assert stage.shown() == before
        assert "> at ten" in before[-1]

    async def test_names_the_files_that_could_not_be_read_beside_those_that_could(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        files = (*(File(f"{n}.txt", f"text {n}".encode()) for n in range(9)), File("bad.pdf", b"%PDF-1.7 x"))
        target = await stage.discord.post(ben, channel, "look", attachments=files)
        question = await replied(stage, aiko, target, "まとめて")
        assert "bad.pdf は読めませんでした" in stage.discord.answer(question).text
        assert "[not shown, it could not be read: bad.pdf]" in stage.shown()[-1]
        assert "text 8" in stage.shown()[-1]

    @pytest.mark.restarts
    async def test_to_what_was_deleted_meanwhile_says_so_and_takes_it_out_of_the_archive(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        target = await stage.discord.post(ben, channel, "合言葉はジョウビタキ")
        stage.model.script(Reply(Hang()))
        question = await stage.write(aiko, channel, "これは？", reply_to=target)
        await stage.discord.wait(lambda: len(stage.model.requests) == 1, "the question being asked")
        await stage.program.kill()
        await stage.discord.gone()
        await stage.discord.delete(ben, target)
        await stage.start()
        await stage.says(question, "承知しました")
        assert stage.shown() == [f"{NOT_SHOWN}\n\nAiko: これは？"]
        assert stage.rows(ROWS_WITH, "%ジョウビタキ%") == [(0,)]

    async def test_to_what_stood_there_before_a_reset_does_not_bring_it_back(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, channel, "合言葉はコゲラ")
        await stage.said(aiko, channel, "やあ", "はい。")
        stage.discord.permit(aiko, Permission.MANAGE_MESSAGES, channel)
        await (await stage.discord.slash(aiko, channel, "reset")).finished()
        await replied(stage, aiko, target, "これは？")
        assert stage.shown() == [f"{NOT_SHOWN}\n\nAiko: これは？"]

    async def test_to_somebody_with_a_nickname_names_them_as_the_channel_does(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.discord.nickname(ben, "部長")
        target = await stage.discord.post(ben, channel, "会議は十時")
        await replied(stage, aiko, target, "いつ？")
        assert stage.shown()[-1].startswith("[In reply to a message of 部長:]")


class TestALink:
    async def test_is_read_again_when_the_answer_goes_on(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, stage.discord.guild_channel("other"), "wagtail at ten")
        cut = Reply(Say("セキレイ"), CutConnection())
        stage.model.script(cut, cut, says("は十時です。"))
        reply = await stage.ask(aiko, channel, f"{link(target)} を訳して")
        for number in (1, 2):
            more = await stage.discord.click(aiko, reply.messages[-1], "続ける")
            reply = await answered(more)
            assert "> wagtail at ten" in stage.shown(number)[-1]

    async def test_among_many_is_followed_or_said_not_to_be(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        other = stage.discord.guild_channel("other")
        targets = [await stage.discord.post(ben, other, f"number {n}") for n in range(8)]
        await stage.ask(aiko, channel, " ".join(map(link, targets)))
        assert [f"> number {n}" in stage.shown()[-1] for n in range(8)] == [True] * 5 + [False] * 3
        assert stage.shown()[-1].count(NO_LINK) == 3

    @pytest.mark.parametrize("shown", ["> {}\nどう思う？", "[embed]\n> Zoo {}\nどう思う？"])
    async def test_is_followed_only_where_the_asker_typed_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, shown: str
    ) -> None:
        target = await stage.discord.post(ben, stage.discord.guild_channel("other"), "at ten")
        await stage.ask(aiko, channel, shown.format(link(target)))
        assert "at ten" not in str(stage.shown())

    async def test_is_asked_for_again_where_discord_is_out_of_order_for_a_moment(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, stage.discord.guild_channel("other"), "at ten")
        stage.discord.fail_next("GET /channels/{channel}/messages/{message}", 503)
        await stage.ask(aiko, channel, f"{link(target)} いつ？")
        assert "> at ten" in stage.shown()[-1]

    async def test_brings_the_message_that_it_leads_to(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, stage.discord.guild_channel("other"), "shrike at ten")
        await stage.said(aiko, channel, f"{link(target)} 何時？", "十時です。")
        assert stage.shown()[-1].startswith(
            "[The link leads to a message of Ben:]\n> shrike at ten\n\nAiko: "
        )
        await stage.ask(aiko, channel, f"{link(target)} を訳して")
        assert stage.shown()[-1].startswith("[The link leads to a message of Ben:]\n> shrike at ten\n\n")
        assert stage.rows(ROWS_WITH, "%shrike at ten%") == [(1,)]

    async def test_taints_what_is_changed_in_its_turn(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, stage.discord.guild_channel("other"), "my cat is Tama")
        stage.model.script(calls(Call("remember", {"content": "Benの猫はTama"})), says("どうぞ。"))
        reply = await stage.ask(aiko, channel, f"{link(target)} を覚えて")
        assert stage.rows("SELECT content FROM memories WHERE user_id = ?", aiko.id) == []
        assert "Benの猫はTama" in reply.text

    async def test_is_one_of_the_asker_as_much_as_of_the_bot(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(MISSING_ACCESS)
        secret = stage.discord.guild_channel("secret")
        target = await stage.discord.post(ben, secret, "meet at ten")
        for missing in (Permission.VIEW_CHANNEL, Permission.READ_MESSAGE_HISTORY):
            stage.discord.forbid(aiko, missing, secret)
            await stage.said(aiko, channel, f"{link(target)} 何？", "さあ。")
            assert stage.shown()[-1].startswith(f"{NO_LINK}\n\nAiko: ")
            stage.discord.permit(aiko, missing, secret)
        stage.discord.forbid(stage.discord.bot, Permission.VIEW_CHANNEL, secret)
        await stage.said(aiko, channel, f"{link(target)} 何？", "さあ。")
        assert stage.shown()[-1].startswith(f"{NO_LINK}\n\nAiko: ")
        stage.discord.permit(stage.discord.bot, Permission.VIEW_CHANNEL, secret)  # a start looks there again

    async def test_into_a_private_thread_is_for_its_members(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MEMBER)
        thread = await stage.discord.start_thread(ben, channel, private=True)
        target = await stage.discord.post(ben, thread, "meet at ten")
        await stage.said(aiko, channel, f"{link(target)} 何？", "さあ。")
        assert stage.shown()[-1].startswith(f"{NO_LINK}\n\n")
        stage.discord.add_to_thread(aiko, thread)
        await stage.said(aiko, channel, f"{link(target)} 何？", "十時です。")
        assert "> meet at ten" in stage.shown()[-1]

    async def test_to_elsewhere_leads_nowhere(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        dm = await stage.discord.post(aiko, stage.discord.dm(aiko), "これは秘密")
        await stage.says(dm, "承知しました")
        here = await stage.discord.post(ben, channel, "here")
        guild, place = stage.discord.guild.id, channel.id
        wrong = [
            link(dm),
            f"https://discord.com/channels/{guild}/{dm.channel.id}/{dm.id}",
            f"https://discord.com/channels/{guild + 1}/{place}/{here.id}",
            f"https://discord.com/channels/{guild}/{place}/{here.id // 2}",
        ]
        for each in wrong:
            await stage.said(aiko, channel, f"{each} 何？", "さあ。")
            assert stage.shown()[-1].startswith(f"{NO_LINK}\n\nAiko: ")

    async def test_that_names_a_wrong_place_takes_nothing_away(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        target, other = (
            await stage.discord.post(ben, channel, "合言葉はヤマガラ"),
            stage.discord.guild_channel(),
        )
        wrong = f"https://discord.com/channels/{stage.discord.guild.id}/{other.id}/{target.id}"
        await stage.ask(aiko, channel, f"{wrong} 何？")
        assert stage.shown()[-1].startswith(NO_LINK)
        assert stage.rows("SELECT content FROM messages WHERE discord_id = ?", target.id) == [
            ("合言葉はヤマガラ",)
        ]

    async def test_in_a_dm_leads_to_a_server_of_the_askers_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MEMBER)
        target = await stage.discord.post(ben, channel, "meet at ten")
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, f"{link(target)} 何時？", mention=False)
        await stage.says(message, "承知しました")
        assert "> meet at ten" in stage.shown()[-1]
        stage.discord.leave(aiko)
        message = await stage.write(aiko, dm, f"{link(target)} 何時？", mention=False)
        await stage.says(message, "承知しました")
        assert stage.shown()[-1].startswith(NO_LINK)

    async def test_into_a_place_that_is_denied_to_the_bot_leads_nowhere(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        other = stage.discord.guild_channel("other")
        target = await stage.discord.post(ben, other, "between us")
        owner = stage.discord.owner
        await stage.told(owner, channel, "admin access deny", subject=f"<#{other.id}>")
        await stage.said(aiko, channel, f"{link(target)} 何？", "さあ。")
        await stage.told(owner, channel, "admin access remove", subject=f"<#{other.id}>")
        assert stage.shown()[-1].startswith(NO_LINK)
        stage.discord.pings.clear()


class TestAForwardInADm:
    async def test_waits_for_the_question_and_stays_with_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        table = File("表.csv", "品,円\nりんご,120".encode(), "text/csv")
        source = await stage.discord.post(ben, channel, "見積もり\nです", attachments=(table,))
        dm = stage.discord.dm(aiko)
        forward = await stage.discord.forward(aiko, dm, source)
        await stage.discord.quiet()
        assert stage.model.requests == []
        question = await stage.write(aiko, dm, "いくら？", mention=False)
        await stage.says(question, "承知しました")
        [shown] = stage.shown()
        assert shown.startswith("いくら？\n\n")
        assert "> 見積もり\n> です" in shown
        assert "りんご,120" in shown
        await stage.discord.delete(ben, source)
        await stage.ask(aiko, dm, "税込みでは？")
        assert "> 見積もり\n> です" in stage.shown()[0]
        await stage.discord.delete(aiko, forward)
        await stage.eventually(
            "SELECT count(*) FROM attachments WHERE source_id = ?", forward.id, gives=[(0,)]
        )
        await stage.ask(aiko, dm, "もう一度")
        assert stage.shown()[0] == "いくら？"

    async def test_is_asked_about_with_a_command_and_among_several(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        for text in ("at ten", "bring cake"):
            await stage.discord.forward(aiko, dm, await stage.discord.post(ben, channel, text))
        await stage.discord.quiet()
        await stage.ask(aiko, dm, "まとめて")
        [shown] = stage.shown()
        assert shown.index("> at ten") < shown.index("> bring cake")
        await stage.ask(aiko, dm, "次の話")
        assert "cake" not in stage.shown()[-1]

    async def test_waits_on_while_its_question_gets_no_answer(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        await stage.discord.forward(aiko, dm, await stage.discord.post(ben, channel, "at ten"))
        await stage.discord.quiet()
        stage.model.responder = lambda _: fails(400)
        failed = await stage.write(aiko, dm, "どう？", mention=False)
        await stage.says(failed, "受け付けませんでした")
        stage.model.reset()
        again = await stage.write(aiko, dm, "もう一度：どう？", mention=False)
        await stage.says(again, "承知しました")
        assert "> at ten" in stage.shown()[-1]
        third = await stage.write(aiko, dm, "ありがとう", mention=False)
        await stage.says(third, "承知しました")
        assert "at ten" not in stage.shown()[-1]

    async def test_goes_with_one_question_of_several_at_once(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        await stage.discord.forward(aiko, dm, await stage.discord.post(ben, channel, "at ten"))
        first = await stage.write(aiko, dm, "どう？", mention=False)
        second = await stage.write(aiko, dm, "別の話", mention=False)
        await stage.says(first, "承知しました")
        await stage.says(second, "承知しました")
        assert ["at ten" in stage.shown(number)[-1] for number in (0, 1)] == [True, False]

    @pytest.mark.restarts
    async def test_is_asked_about_once_after_a_kill_during_the_answer(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        await stage.ask(aiko, dm, "こんにちは")
        await stage.discord.forward(aiko, dm, await stage.discord.post(ben, channel, "at ten"))
        stage.model.script(Reply(Hang()))
        question = await stage.write(aiko, dm, "どう？", mention=False)
        await stage.discord.wait(lambda: len(stage.model.requests) == 2, "the question being asked")
        await stage.restart()
        reply = stage.discord.answer(question)
        await reply.until(lambda shown: "もう一度きく" in shown.labels, "the button")
        await answered(await stage.discord.click(aiko, reply.messages[-1], "もう一度きく"))
        assert "> at ten" in stage.shown()[-1]
        after = await stage.write(aiko, dm, "ありがとう", mention=False)
        await stage.says(after, "承知しました")
        assert "at ten" not in stage.shown()[-1]

    async def test_names_what_could_not_be_read_of_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        files = (File("悪い.exe", b"MZ\0\1\2"), File("表.csv", b"a,b"))
        dm, source = stage.discord.dm(aiko), await stage.discord.post(ben, channel, "見て", attachments=files)
        await stage.discord.forward(aiko, dm, source)
        question = await stage.write(aiko, dm, "どう？", mention=False)
        reply = await stage.says(question, "承知しました")
        assert "悪い.exe は読めませんでした" in reply.text
        assert "[not shown, it could not be read: 悪い.exe]" in stage.shown()[-1]

    async def test_of_which_everything_is_deleted_waits_no_more(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        forward = await stage.discord.forward(aiko, dm, await stage.discord.post(ben, channel, "at ten"))
        await stage.discord.delete(aiko, forward)
        question = await stage.write(aiko, dm, "こんにちは", mention=False)
        await stage.says(question, "承知しました")
        assert stage.shown() == ["こんにちは"]

    @pytest.mark.restarts
    async def test_outlives_a_kill_and_is_asked_about_once(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        await stage.discord.forward(aiko, dm, await stage.discord.post(ben, channel, "at ten"))
        await stage.discord.quiet()
        await stage.restart()
        question = await stage.write(aiko, dm, "何時？", mention=False)
        await stage.says(question, "承知しました")
        assert "> at ten" in stage.shown()[0]
        await stage.restart()
        question = await stage.write(aiko, dm, "ありがとう", mention=False)
        await stage.says(question, "承知しました")
        assert "at ten" not in stage.shown()[-1]

    async def test_that_is_replied_to_is_what_the_question_is_about(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        forward = await stage.discord.forward(aiko, dm, await stage.discord.post(ben, channel, "at ten"))
        await stage.ask(aiko, dm, "別の話")
        question = await stage.write(aiko, dm, "何時？", mention=False, reply_to=forward)
        await stage.says(question, "承知しました")
        assert stage.shown()[-1].startswith("何時？\n\n")
        assert "> at ten" in stage.shown()[-1]


class TestWhatIsPrivate:
    """Nothing of what a private question points at is read by others, whatever it was asked by."""

    @pytest_asyncio.fixture(loop_scope="session")
    async def hidden(self, stage: Stage, aiko: User, ben: User) -> Message:
        """What Aiko may read, and others may not."""
        closed = stage.discord.guild_channel("closed")
        stage.discord.forbid(ben, Permission.VIEW_CHANNEL, closed)
        return await stage.discord.post(aiko, closed, "暗号はキビタキ")

    async def read_by_all(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> str:
        """What the requests of public questions show, of the asker and of somebody else."""
        stage.model.reset()
        await stage.ask(aiko, channel, "続き")
        await stage.said(ben, channel, "what now?", "はい。")
        await stage.said(aiko, channel, "次は？", "はい。")
        return "\n".join(text for number in range(3) for text in stage.shown(number))

    @pytest.mark.parametrize("option", ["private", "temporary"])
    async def test_in_an_ephemeral_question_stays_there(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, hidden: Message, option: str
    ) -> None:
        reply = await stage.begin(aiko, channel, f"{link(hidden)} は？", **{option: True})
        await reply.finished(lambda shown: "承知しました" in shown.text)
        assert "> 暗号はキビタキ" in stage.shown()[-1]
        assert "キビタキ" not in await self.read_by_all(stage, aiko, ben, channel)
        assert [row for row in stage.stored(channel) if "キビタキ" in row[1]] == []

    @pytest.mark.parametrize("way", ["link", "forward", "reply"])
    async def test_in_a_dm_stays_there(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, hidden: Message, way: str
    ) -> None:
        dm = stage.discord.dm(aiko)
        target = await stage.discord.forward(aiko, dm, hidden) if way != "link" else None
        text = f"{link(hidden)} は？" if way == "link" else "これは？"
        message = await stage.write(
            aiko, dm, text, mention=False, reply_to=target if way == "reply" else None
        )
        await stage.says(message, "承知しました")
        assert "> 暗号はキビタキ" in stage.shown()[-1]
        assert "キビタキ" not in await self.read_by_all(stage, aiko, ben, channel)

    async def test_in_a_public_question_is_in_no_later_one(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, hidden: Message
    ) -> None:
        await stage.ask(aiko, channel, f"{link(hidden)} は？")
        assert "> 暗号はキビタキ" in stage.shown()[-1]
        assert "キビタキ" not in await self.read_by_all(stage, aiko, ben, channel)


class TestThePictureAbove:
    async def test_goes_with_a_question_about_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await stage.discord.post(aiko, channel, "", attachments=(File("猫.png", PNG, "image/png"),))
        await stage.discord.post(ben, channel, "nice")
        await stage.said(aiko, channel, "この写真は何？", "猫です。")
        assert len(images(stage.model.requests[-1].body)) == 1
        await stage.ask(aiko, channel, "画像の色は？")
        assert len(images(stage.model.requests[-1].body)) == 1
        await stage.said(aiko, channel, "今日は何曜日？", "月曜です。")
        assert images(stage.model.requests[-1].body) == []

    async def test_of_somebody_else_does_not(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await stage.discord.post(ben, channel, "", attachments=(File("cat.png", PNG, "image/png"),))
        await stage.said(aiko, channel, "この写真は何？", "どれですか？")
        assert images(stage.model.requests[-1].body) == []


class TestWithoutTheIntent:
    @pytest_asyncio.fixture(loop_scope="session")
    async def stage(self, shared_stage: Stage) -> AsyncIterator[Stage]:
        """What reads nothing but what is to it."""
        shared_stage.forget()
        yield shared_stage
        shared_stage.check()

    async def test_a_reply_says_that_there_is_a_message_and_once_how_it_can_be_asked_about(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, channel, "合言葉はカケス")
        first = await replied(stage, aiko, target, "どういう意味？", "見えません。")
        assert stage.shown()[-1] == f"{NOT_SHOWN}\n\nAiko: どういう意味？"
        assert "「これについて聞く」" in stage.discord.answer(first).text
        second = await replied(stage, aiko, target, "だめ？", "だめです。")
        assert "「これについて聞く」" not in stage.discord.answer(second).text
        assert stage.rows(ROWS_WITH, "%カケス%") == [(0,)]

    async def test_a_reply_says_it_in_its_authors_language(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await stage.told(ben, channel, "settings", language="en")
        target = await stage.discord.post(aiko, channel, "合言葉はカケス")
        first = await replied(stage, ben, target, "What does it mean?", "I can't see it.")
        stage.discord.answer(first).locale = "en-US"
        assert "choose Apps → Ask about this" in stage.discord.answer(first).text

    async def test_a_reply_to_what_was_to_the_bot_brings_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        asked = await stage.said(ben, channel, "which bird?", "オオルリです。")
        await replied(stage, aiko, asked, "同じことを聞きたい")
        assert stage.shown()[-1].startswith("[In reply to a message of Ben:]\n> which bird?\n\n")

    async def test_a_link_is_shown_where_discord_shows_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.post(ben, channel, "合言葉はカケス")
        await stage.said(aiko, channel, f"{link(target)} 何？", "さあ。")
        assert stage.shown()[-1].startswith(NO_LINK)
