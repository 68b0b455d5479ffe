from cc_bot.discord.pages.custom_ids import ShowButton
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User


async def all_commands(stage: Stage, user: User, channel: Channel) -> str:
    """What `/help` shows after a press of the button for all commands."""
    shown = await (await stage.discord.slash(user, channel, "help")).finished()
    press = await stage.discord.click(user, shown.message, ShowButton(user.id, "help").custom_id())
    return (await press.finished()).text
