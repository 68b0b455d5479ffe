"""`/remind add`: something to be told, at a time in the user's own words."""

import lightbulb

from cc_bot.assistant import Moments
from cc_bot.discord.agents import Chooser
from cc_bot.discord.extensions.remind.group import remind
from cc_bot.discord.extensions.remind.listing import show
from cc_bot.discord.interactions import Answerable, can_write, defer, own_space, payer_of
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.reminder_view import added_view, paused_among
from cc_bot.domain.errors import TooManySchedules
from cc_bot.domain.schedule import MAX_SCHEDULES, MAX_TEXT_CHARACTERS, Place
from cc_bot.stores import ScheduleStore

MAX_WHEN_CHARACTERS = 100


@remind.register
class Add(lightbulb.SlashCommand, name="remind_add", description="remind_add_description", localize=True):
    when = lightbulb.string(
        "remind_when", "remind_when_description", localize=True, max_length=MAX_WHEN_CHARACTERS
    )
    text = lightbulb.string(
        "remind_text", "remind_text_description", localize=True, max_length=MAX_TEXT_CHARACTERS
    )
    repeat = lightbulb.string(
        "remind_repeat",
        "remind_repeat_description",
        localize=True,
        default=None,
        max_length=MAX_WHEN_CHARACTERS,
    )
    where = lightbulb.string(
        "remind_where",
        "remind_where_description",
        localize=True,
        default=None,
        choices=[
            lightbulb.Choice("remind_here_choice", "here", localize=True),
            lightbulb.Choice("remind_dm_choice", "dm", localize=True),
        ],
    )

    @lightbulb.invoke
    async def invoke(
        self,
        ctx: lightbulb.Context,
        schedules: ScheduleStore,
        chooser: Chooser,
        readers: Readers,
        moments: Moments,
    ) -> None:
        interaction = ctx.interaction
        await defer(interaction, ephemeral=True)
        reader = await readers.of(interaction)
        planned = await moments.of(
            self.when, self.repeat or "", reader.timezone, reader.locale, payer=payer_of(interaction)
        )
        if len(planned) > MAX_SCHEDULES - len(await schedules.list(reader.user_id)):
            raise TooManySchedules(limit=MAX_SCHEDULES)  # all of them, or none
        place, key = place_of(self.where, interaction), (await chooser.of(interaction)).key
        added = [
            await schedules.add(
                key,
                self.text,
                due_at,
                place=place,
                guild_id=None if interaction.guild_id is None else int(interaction.guild_id),
                visibility="private" if place == "dm" else "public",
                repeat=repeat,
                timezone=reader.timezone.key,
                locale=reader.locale,
            )
            for due_at, repeat in planned
        ]
        known = await schedules.list(reader.user_id)
        where = _where(place, self.where, interaction, reader)
        await show(interaction, added_view(added, where, paused_among(known), reader))


def place_of(chosen: str | None, interaction: Answerable) -> Place:
    """Where it is said: here, unless its user wants a DM, or the bot can't write here by itself."""
    if chosen == "dm" or own_space(interaction) or not can_write(interaction):
        return "dm"
    return "channel"


def _where(place: Place, chosen: str | None, interaction: Answerable, reader: Reader) -> str:
    words = reader.words.reminder
    if place == "channel":
        return words.in_channel.format(channel=f"<#{int(interaction.channel_id)}>")
    brought = not own_space(interaction) and not can_write(interaction)
    return words.by_dm_instead if brought and chosen != "dm" else words.by_dm
