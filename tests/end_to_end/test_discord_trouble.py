"""When Discord has a bad moment: nothing is lost, nothing is said twice."""

import pytest

from cc_bot.domain.errors import CcBotError
from cc_bot.domain.text import Locale
from cc_bot.texts import explain, texts
from tests.end_to_end.stage import Stage, again_label, answered, streaming
from tests.end_to_end.test_ask import long_text, own_words
from tests.loopback.discord import Channel, Permission, User, refusals
from tests.loopback.model_server import End, Pause, Reply, Say, says

pytestmark = pytest.mark.slow

ACKNOWLEDGE = "POST /interactions/{interaction}/{token}/callback"
EDIT = "PATCH /webhooks/{application}/{token}/messages/@original"
FOLLOW_UP = "POST /webhooks/{application}/{token}"

ALREADY_ACKNOWLEDGED = 40060
UNKNOWN_INTERACTION = 10062
UNKNOWN_WEBHOOK = 10015

SOMETHING_WENT_WRONG = explain(CcBotError(), texts(Locale.EN))


async def test_an_acknowledgement_is_tried_again(stage: Stage, ben: User, channel: Channel) -> None:
    stage.excused.add(ALREADY_ACKNOWLEDGED)
    for status, take_effect in ((503, False), (None, False), (503, True)):
        stage.discord.fail_next(ACKNOWLEDGE, status, take_effect=take_effect)
        reply = await stage.ask_in_words(ben, channel, "Here I am.")
        assert reply.text.startswith("Here I am.")


async def test_a_late_acknowledgement_costs_nothing(stage: Stage, ben: User, channel: Channel) -> None:
    stage.excused.update({UNKNOWN_INTERACTION, UNKNOWN_WEBHOOK})
    stage.discord.fail_next(ACKNOWLEDGE, 200, delay_s=3.1)
    reply = await stage.discord.slash(ben, channel, "ask", question="Anybody there?")
    await stage.discord.wait(
        lambda: stage.discord.calls(ACKNOWLEDGE, status=404), "a refused acknowledgement"
    )
    assert not reply.is_acknowledged
    stage.discord.fail_next(ACKNOWLEDGE, 503, times=3)
    reply = await stage.discord.slash(ben, channel, "ask", question="Anybody there?")
    await reply.finished(lambda shown: SOMETHING_WENT_WRONG in shown.text)
    await stage.ask_in_words(ben, channel, "Here I am.")
    assert len(stage.model.requests) == 1


async def test_a_slow_edit_is_not_the_last(stage: Stage, ben: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("The beginning"), Pause(1.5), *says(" and the end.").steps))
    stage.discord.fail_next(EDIT, 200, delay_s=0.6)
    reply = await stage.begin(ben, channel)
    await answered(reply)
    await late(stage, EDIT)
    assert reply.text.startswith("The beginning and the end.")


async def late(stage: Stage, route: str) -> None:
    """Wait until the request that was held up has taken effect."""
    await stage.discord.wait(
        lambda: any(call.took_s > 0.5 for call in stage.discord.calls(route)), "the late request"
    )


async def test_a_follow_up_is_there_once(stage: Stage) -> None:
    for number, (status, take_effect) in enumerate(((200, True), (503, True), (None, True), (503, False))):
        user, location = stage.discord.user(f"User{number}", locale="ja"), stage.discord.guild_channel()
        stage.discord.fail_next(
            FOLLOW_UP, status, take_effect=take_effect, delay_s=0.6 if status == 200 else 0.0
        )
        stage.model.script(Reply(Say(long_text(3000)), Pause(1.0), End()))
        reply = await stage.ask(user, location)
        if status == 200:
            await late(stage, FOLLOW_UP)
        shown = stage.discord.messages(location)
        assert "".join(own_words(message) for message in shown) == long_text(3000)
        assert reply.messages[-1].labels == [again_label(user)]


async def test_what_discord_refuses_of_an_answer_is_shown_in_another_way(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    discord, dm = stage.discord, stage.discord.dm(aiko)
    stage.excused.add(50013)
    text = long_text(9000)

    def shown(location: Channel) -> str:
        own = [each for each in discord.messages(location) if each.author.is_bot and not each.loading]
        return "".join(each.content for each in own)

    for route in (EDIT, FOLLOW_UP):
        discord.refuse(route, refusals.missing_permissions(), holding="files")
    await stage.ask_in_words(aiko, channel, text)
    assert shown(channel) == text
    discord.refuse(EDIT, refusals.blocked_words())
    stage.model.script(says("別の道で。"), says("DM で。"), says("返事も DM で。"))
    await stage.begin(aiko, channel, "質問")
    await discord.wait(lambda: shown(channel).endswith("別の道で。"), "the answer as the bot itself")
    await discord.wait(lambda: not any(each.loading for each in discord.messages(channel)), "nothing waits")
    discord.faults.forget()
    answered_by_ask = next(each for each in discord.messages(channel) if each.author.is_bot)
    discord.forbid(discord.bot, Permission.SEND_MESSAGES, channel)
    await stage.write(aiko, channel, "書けない場所での質問")
    await discord.wait(lambda: shown(dm) == "DM で。", "the answer to the mention")
    await discord.post(aiko, channel, "続きは？", reply_to=answered_by_ask)
    await discord.wait(lambda: shown(dm) == "DM で。返事も DM で。", "the answer in its author's session")
    await stage.eventually(
        "SELECT count(*) FROM turns WHERE user_id = ? AND state <> 'shown'", aiko.id, gives=[(0,)]
    )


async def test_a_drop_does_not_cut_an_answer(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("途中で"), Pause(1.5), *says("切れません。").steps))
    reply = await stage.begin(aiko, channel)
    await streaming(reply, "途中で")
    before = stage.discord.world.gateway.resumes
    await stage.discord.drop_gateway()
    await answered(reply)
    assert reply.text.startswith("途中で切れません。")
    await stage.discord.resumed(before + 1)
    await stage.ask_in_words(aiko, channel, "まだいます。")
