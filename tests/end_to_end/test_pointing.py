import pytest

from tests.end_to_end.stage import Stage, answered
from tests.loopback.discord import Channel, File, Message, Permission, User
from tests.loopback.model_server import CutConnection, Hang, Reply, Say, says

STAGE = "reading_stage"
MISSING_ACCESS, UNKNOWN_MEMBER, UNKNOWN_MESSAGE = 50001, 10007, 10008
NOT_SHOWN = "[In reply to a message that is not shown to you.]"
NO_LINK = "[The link leads to a message that is not shown to you.]"
ROWS_WITH = "SELECT count(*) FROM messages WHERE content LIKE ?"


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


async def test_a_reply_brings_three_messages(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
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
    await stage.said(ben, channel, "when?", "At ten.")
    assert "部長: > Aiko: 一\n  二" in stage.shown()


async def test_what_was_deleted_is_not_brought(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
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


async def test_a_link_brings_its_message(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
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


@pytest.mark.slow
async def test_a_link_is_read_as_its_asker_may(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
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


async def test_a_wrong_link_leads_nowhere(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.excused.add(UNKNOWN_MESSAGE)
    dm = await stage.discord.post(aiko, stage.discord.dm(aiko), "これは秘密")
    await stage.says(dm, "承知しました")
    here = await stage.discord.post(ben, channel, "here")
    guild, location, other = stage.discord.guild.id, channel.id, stage.discord.guild_channel()
    wrong = [
        link(dm),
        f"https://discord.com/channels/{guild}/{dm.channel.id}/{dm.id}",
        f"https://discord.com/channels/{guild + 1}/{location}/{here.id}",
        f"https://discord.com/channels/{guild}/{location}/{here.id // 2}",
        f"https://discord.com/channels/{guild}/{other.id}/{here.id}",
    ]
    for each in wrong:
        await stage.said(aiko, channel, f"{each} 何？", "さあ。")
        assert stage.shown()[-1].startswith(f"{NO_LINK}\n\nAiko: ")
    assert stage.rows("SELECT content FROM messages WHERE discord_id = ?", here.id) == [("here",)]


async def test_a_forward_waits_for_its_question(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    dm = stage.discord.dm(aiko)
    files = (File("悪い.exe", b"MZ\0\1\2"), File("表.csv", "品,円\nりんご,120".encode(), "text/csv"))
    source = await stage.discord.post(ben, channel, "見積もり\nです", attachments=files)
    forward = await stage.discord.forward(aiko, dm, source)
    await stage.discord.quiet()
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


async def test_what_is_private_stays_private(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
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


class TestWithoutTheIntent:
    @pytest.fixture
    def one_of_the_stages(self, shared_stage: Stage) -> Stage:
        return shared_stage

    async def test_it_tells_once_how_to_ask_about_what_is_not_shown(
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
        asked = await stage.said(ben, channel, "which bird?", "A bluebird.")  # which the bot may read
        await replied(stage, aiko, asked, "同じことを聞きたい")
        assert stage.shown()[-1].startswith("[In reply to a message of Ben:]\n> which bird?\n\n")
