"""`/admin model`: which models answer in a channel. An agent that names models of its own keeps those."""

import hikari
import lightbulb

from cc_bot.discord.extensions.admin.group import answer, model, note, owners_only
from cc_bot.discord.extensions.admin.options import MAX_NAME_CHARACTERS, named_in
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages import admin_view
from cc_bot.discord.served_models import ServedModels
from cc_bot.domain.errors import ModelsNotUnderstood
from cc_bot.stores import ChannelModelStore

MAX_MODELS = 5
MAX_MODEL_CHARACTERS = 100


def _channel_option() -> str:
    return lightbulb.string(
        "admin_channel",
        "admin_channel_description",
        localize=True,
        default="",
        max_length=MAX_NAME_CHARACTERS,
    )


@model.register
class Set(
    lightbulb.SlashCommand,
    name="admin_model_set",
    description="admin_model_set_description",
    localize=True,
    hooks=[owners_only],
):
    models = lightbulb.string(
        "admin_models",
        "admin_models_description",
        localize=True,
        max_length=MAX_MODELS * (MAX_MODEL_CHARACTERS + 1),
    )
    channel = _channel_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, store: ChannelModelStore, served: ServedModels, readers: Readers
    ) -> None:
        async def act(reader: Reader) -> str:
            channel_id, chain = _channel(ctx.interaction, self.channel), chain_of(self.models)
            await store.put(channel_id, chain, set_by=reader.user_id)
            note(reader, "models_set", channel=channel_id, models=len(chain))
            told = reader.words.admin
            sentence = told.models_set if len(chain) > 1 else told.model_set
            lines = [sentence.format(channel=f"<#{channel_id}>", models=", ".join(chain))]
            if unknown := await served.missing(chain):
                lines.append(told.models_unknown.format(models=", ".join(unknown)))
            return "\n".join(lines)

        await answer(ctx.interaction, readers, act)


@model.register
class Unset(
    lightbulb.SlashCommand,
    name="admin_model_unset",
    description="admin_model_unset_description",
    localize=True,
    hooks=[owners_only],
):
    channel = _channel_option()

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, store: ChannelModelStore, readers: Readers) -> None:
        async def act(reader: Reader) -> str:
            told, channel_id = reader.words.admin, _channel(ctx.interaction, self.channel)
            if unset := await store.unset(channel_id):
                note(reader, "models_unset", channel=channel_id)
            sentence = told.models_unset if unset else told.models_were_not_set
            return sentence.format(channel=f"<#{channel_id}>")

        await answer(ctx.interaction, readers, act)


@model.register
class List(
    lightbulb.SlashCommand,
    name="admin_model_list",
    description="admin_model_list_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, store: ChannelModelStore, readers: Readers) -> None:
        async def act(reader: Reader) -> str:
            return admin_view.models(await store.chains(), reader.words)

        await answer(ctx.interaction, readers, act)


def chain_of(text: str) -> tuple[str, ...]:
    """The names in a list. What a server calls its models is its own affair, so only their form is looked at.
    Raises ModelsNotUnderstood."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    fit = all(len(name) <= MAX_MODEL_CHARACTERS and name.isprintable() and "`" not in name for name in names)
    if not names or len(names) > MAX_MODELS or not fit:
        raise ModelsNotUnderstood
    return names


def _channel(interaction: hikari.PartialInteraction, text: str) -> int:
    """Raises SubjectNotUnderstood."""
    return named_in(interaction, text, "channel").id if text.strip() else int(interaction.channel.id)
