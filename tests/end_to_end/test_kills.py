"""`kill -9` at each step of a turn: the next start finishes the job, and nothing is shown twice.

A start takes a second, so turns at different steps share one kill.
"""

import asyncio

import pytest

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import UnfinishedTexts
from tests.end_to_end.kills import (
    CUT_OFF,
    EDIT,
    FOLLOW_UP,
    HISTORY,
    ON_THEIR_WAY,
    POST_MESSAGE,
    RETRY,
    is_settled,
    offers_to_ask_again,
    pull_the_plug,
    start_late,
)
from tests.end_to_end.stage import AGAIN, CONTINUE, Stage, answered, streaming
from tests.loopback.discord import Channel, Permission, Shown, User
from tests.loopback.discord import Reply as Interaction
from tests.loopback.model_server import CutConnection, Hang, Reply, Say, Wait, says

STAGE = "own_stage"
pytestmark = pytest.mark.slow
CANNOT_SEND_TO_USER, MISSING_ACCESS, INVALID_WEBHOOK_TOKEN = 50007, 50001, 50027
LONG = "長い話です。" * 500
STORED = "SELECT count(*) FROM messages WHERE user_id = ?"
IN_CHANNEL = "SELECT DISTINCT in_channel FROM messages WHERE channel_id = ?"


async def stored_and_not_shown(stage: Stage, replies: list[Interaction], go_on: asyncio.Event) -> None:
    """Let the model answer when Discord takes no edits any more, and pull the plug."""
    stage.discord.fail_next(EDIT, 503, times=1000)
    go_on.set()
    for reply in replies:
        await stage.eventually(STORED, reply.interaction.user.id, gives=[(2,)])
    await pull_the_plug(stage)


async def test_an_ask_killed_at_any_step_is_finished_by_the_next_start(stage: Stage) -> None:
    discord, model, go_on = stage.discord, stage.model, asyncio.Event()
    people = [discord.user(name, locale="ja") for name in "ABCDEG"]
    stored, streamed, temporary, private, done, halved = people
    english = discord.user("F", locale="en-US")
    locations = {user.id: discord.guild_channel() for user in (*people, english)}
    shown = await stage.ask_in_words(done, locations[done.id], "済みました。")
    model.script(Reply(Say(LONG), Hang()))
    long = await stage.begin(streamed, locations[streamed.id], "長い話をして")
    await long.until(lambda reply: len(reply.messages) == 2, "a second message")
    model.script(Reply(Say("内緒の"), Hang()))
    secret = await stage.begin(private, locations[private.id], "内緒の質問", private=True)
    await streaming(secret, "内緒の")
    model.script(Reply(Say("残らない"), Hang()))
    fleeting = await stage.begin(temporary, locations[temporary.id], "残さない質問", temporary=True)
    await streaming(fleeting, "残らない")
    model.script(Reply(Hang()))
    mute = await stage.begin(english, locations[english.id], "Still thinking?")
    await streaming(mute, "Thinking…")
    discord.fail_next(FOLLOW_UP, 503, times=1000)
    model.script(Reply(Say(LONG), Hang()))
    half = await stage.begin(halved, locations[halved.id], "長い話をして")
    await half.until(lambda reply: "長い話" in reply.text and not reply.labels, "a full page, and no other")
    model.script(Reply(Wait(go_on), *says("できあがり。").steps))
    ready = await stage.begin(stored, locations[stored.id], "できた質問")
    await streaming(ready, "考えています…")
    await stored_and_not_shown(stage, [ready], go_on)
    assert stage.rows("SELECT question FROM turns WHERE temporary = 1") == [(None,)]
    await stage.start()

    await answered(ready)
    assert (ready.text, len(ready.messages)) == ("できあがり。", 1)
    await is_settled(stage, ready)
    for reply in (long, secret, mute, half):
        await offers_to_ask_again(stage, reply)
    await fleeting.until(lambda reply: reply.text.startswith(CUT_OFF["ja"]), "that it was cut off")
    assert fleeting.labels == []
    await is_settled(stage, fleeting)
    assert shown.labels == [AGAIN["ja"]]

    asked = len(model.requests)
    await stage.restart()  # which has nothing to finish
    await discord.quiet()
    assert len(model.requests) == asked
    model.script(says("今度は最後まで。"))
    press = await discord.click(private, secret.message, RETRY["ja"])
    await press.finished(lambda reply: "今度は最後まで。" in reply.text and AGAIN["ja"] in reply.labels)
    assert press.text.startswith("今度は最後まで。")
    assert press.ephemeral
    assert stage.shown() == ["内緒の質問"]
    assert [role for role, _, _ in stage.stored(locations[private.id])] == ["user", "assistant"]
    await is_settled(stage, press)


async def test_each_of_two_messages_is_shown_once(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(says(LONG, delay_s=0.2))
    reply = await stage.begin(aiko, channel, "長い話をして")
    stage.discord.fail_next(FOLLOW_UP, None, take_effect=True)  # posted, and its id never told
    stage.discord.fail_next(HISTORY, 503, delay_s=60)
    await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
    await stage.eventually(STORED, aiko.id, gives=[(2,)])
    assert stage.rows("SELECT pages FROM turns WHERE user_id = ?", aiko.id) == [("[]",)]
    await pull_the_plug(stage)
    await stage.start()
    await reply.finished(lambda shown: AGAIN["ja"] in shown.labels)
    assert len(reply.messages) == 2
    assert "".join(message.content for message in reply.messages).startswith(LONG)
    await is_settled(stage, reply)


async def test_other_turns_that_were_killed_are_finished_by_the_next_start(stage: Stage) -> None:
    discord, model = stage.discord, stage.model
    kept, replaced, going_on, writing = (discord.user(name, locale="ja") for name in "ABCD")
    locations = {user.id: discord.guild_channel() for user in (kept, replaced, going_on)}
    old = await stage.ask_in_words(kept, locations[kept.id], "前の答え。")
    model.script(Reply(Say("新しい答えの途中"), Hang()))
    anew = await discord.click(kept, old.message, AGAIN["ja"])
    await streaming(anew, "新しい答えの途中")
    model.script(Reply(Say("むかしむかし、"), CutConnection()))
    tale = await stage.ask(going_on, locations[going_on.id], "昔話をして")
    model.script(Reply(Say("おじいさんが"), Hang()))
    more = await discord.click(going_on, tale.message, CONTINUE["ja"])
    await more.until(lambda reply: "おじいさんが" in reply.text, "the rest of it")
    dm = discord.dm(writing)
    discord.fail_next(POST_MESSAGE, None, take_effect=True)  # posted, and its id never told
    discord.fail_next(POST_MESSAGE, 503, delay_s=60)
    message = await stage.write(writing, dm, "元気？", mention=False)
    await stage.eventually(ON_THEIR_WAY, writing.id, gives=[("accepted", 1)])
    letter = discord.answer(message)
    await letter.until(lambda reply: reply.messages, "a message")
    before = await stage.ask_in_words(replaced, locations[replaced.id], "一つ目。")
    go_on = asyncio.Event()
    model.script(Reply(Wait(go_on), *says("二つ目。").steps))
    other = await discord.click(replaced, before.message, AGAIN["ja"])
    await streaming(other, "考えています…")
    discord.fail_next(EDIT, 503, times=1000)
    go_on.set()
    await stage.eventually(STORED, replaced.id, gives=[(3,)])
    await pull_the_plug(stage)
    await stage.start()

    await anew.until(lambda reply: reply.labels == [AGAIN["ja"]], "the old answer with its button")
    assert anew.text == "前の答え。\n-# ✂️ 途中で動かなくなったため、前の回答に戻しました。"
    await is_settled(stage, anew)
    await other.until(lambda reply: reply.text == "二つ目。" and AGAIN["ja"] in reply.labels, "the new one")
    assert len(discord.messages(locations[replaced.id])) == 1
    await is_settled(stage, other)
    await more.until(lambda reply: RETRY["ja"] in reply.labels, "the button to ask again")
    first, second = discord.messages(locations[going_on.id])
    assert (first.labels, second.labels) == ([], [RETRY["ja"]])
    await letter.until(lambda reply: reply.labels == [RETRY["ja"]], "the button to ask again")
    assert len(discord.messages(dm)) == 2

    model.script(says("おばあさんもいました。"), says("はい、元気です。"))
    press = await discord.click(going_on, second, RETRY["ja"])
    await press.finished(lambda reply: "おばあさんも" in reply.text and AGAIN["ja"] in reply.labels)
    assert stage.shown()[-1] == "続けてください。"
    press = await discord.click(writing, discord.messages(dm)[-1], RETRY["ja"])
    await press.finished(lambda reply: "はい、元気です。" in reply.text and AGAIN["ja"] in reply.labels)
    assert stage.shown() == ["元気？"]
    await is_settled(stage, press)
    await stage.eventually("SELECT count(*) FROM turns WHERE token IS NOT NULL", gives=[(0,)])


async def test_past_the_token_the_bot_writes_by_itself_where_it_can(stage: Stage) -> None:
    discord, model, go_on = stage.discord, stage.model, asyncio.Event()
    # The last one where the program's clock is ahead already, by which the tokens live.
    stage.excused.update({CANNOT_SEND_TO_USER, MISSING_ACCESS, INVALID_WEBHOOK_TOKEN})
    public, private, mid, hidden = (discord.user(name, locale="ja") for name in "ABCF")
    closed = discord.user("D", locale="en-US", accepts_dms=False)
    unseen = discord.user("E", locale="en-US")
    locations = {user.id: discord.guild_channel() for user in (public, private, mid, hidden, closed, unseen)}
    for user in (hidden, unseen):
        discord.forbid(discord.bot, Permission.VIEW_CHANNEL, locations[user.id])

    async def begun(user: User, *, ephemeral: bool = False) -> Interaction:
        answer = "できあがり。" if user.locale == "ja" else "Done."
        model.script(Reply(Wait(go_on), *says(answer).steps))
        reply = await stage.begin(user, locations[user.id], "?", private=ephemeral)
        await reply.until(lambda shown: not shown.loading, "the first edit")
        return reply

    def one_message(channel: Channel) -> Shown:
        [message] = discord.messages(channel)
        return message

    cut = []
    for user in (mid, hidden):
        model.script(Reply(Say("書きかけ"), Hang()))
        cut.append(await streaming(await stage.begin(user, locations[user.id], "途中の質問"), "書きかけ"))
    secrets = [await begun(user, ephemeral=True) for user in (private, closed)]
    replies = [*secrets, await begun(public), await begun(unseen)]
    await stored_and_not_shown(stage, replies, go_on)
    await start_late(stage, *cut, *replies)

    for reply in replies:
        await is_settled(stage, reply)
    for user in (mid, hidden):
        await stage.eventually(ON_THEIR_WAY, user.id, gives=[("interrupted", 1)])
    assert one_message(locations[public.id]).text == "できあがり。"
    late = one_message(discord.dm(private))
    assert late.text.startswith("できあがり。\n-# 📨 先ほどの質問へのお返事です。")
    assert late.labels == []
    late = one_message(discord.dm(unseen))
    note, _, _ = texts(Locale.EN)[UnfinishedTexts].linked_delivered_elsewhere.partition("{link}")
    assert late.text.startswith(f"Done.\n-# {note}https://discord.com/channels/")
    assert stage.program.output.count("turn_not_told") == 1  # whose DMs are closed
    for user, location in ((mid, locations[mid.id]), (hidden, discord.dm(hidden))):
        cut_off = one_message(location)
        assert cut_off.text.startswith(CUT_OFF["ja"])
        model.script(says("今度は最後まで。"))
        press = await discord.click(user, cut_off, RETRY["ja"])
        await press.finished(lambda shown: "今度は最後まで。" in shown.text and AGAIN["ja"] in shown.labels)
        one_message(location)
    known = {user.id: stage.rows(IN_CHANNEL, locations[user.id].id) for user in (public, mid, hidden, unseen)}
    assert known == {public.id: [(1,)], mid.id: [(1,)], hidden.id: [(0,)], unseen.id: [(0,)]}
    await is_settled(stage, press)
