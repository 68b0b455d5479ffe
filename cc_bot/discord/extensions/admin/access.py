"""`/admin access`: who may use the bot, and where. It holds from the next question on."""

import lightbulb

from cc_bot.discord.access.owners import Owners
from cc_bot.discord.extensions.admin.group import access, answer, note, owners_only
from cc_bot.discord.extensions.admin.options import kind_option, named_in, subject_option
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages import admin_view
from cc_bot.domain.access import AccessRules, Ruling, listed
from cc_bot.policy import Policies
from cc_bot.stores import AccessStore


@access.register
class List(
    lightbulb.SlashCommand,
    name="admin_access_list",
    description="admin_access_list_description",
    localize=True,
    hooks=[owners_only],
):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, store: AccessStore, policies: Policies, owners: Owners, readers: Readers
    ) -> None:
        async def act(reader: Reader) -> str:
            rules = (await store.in_force()).rules
            return admin_view.access(await _in_file(policies), rules, await owners.ids(), reader.words)

        await answer(ctx.interaction, readers, act)


@access.register
class Allow(
    lightbulb.SlashCommand,
    name="admin_access_allow",
    description="admin_access_allow_description",
    localize=True,
    hooks=[owners_only],
):
    subject = subject_option()
    kind = kind_option()

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, store: AccessStore, readers: Readers) -> None:
        await _rule(self, ctx, "allow", store, readers)


@access.register
class Deny(
    lightbulb.SlashCommand,
    name="admin_access_deny",
    description="admin_access_deny_description",
    localize=True,
    hooks=[owners_only],
):
    subject = subject_option()
    kind = kind_option()

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, store: AccessStore, readers: Readers) -> None:
        await _rule(self, ctx, "deny", store, readers)


@access.register
class Remove(
    lightbulb.SlashCommand,
    name="admin_access_remove",
    description="admin_access_remove_description",
    localize=True,
    hooks=[owners_only],
):
    subject = subject_option()
    kind = kind_option()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, store: AccessStore, policies: Policies, readers: Readers
    ) -> None:
        async def act(reader: Reader) -> str:
            found = named_in(ctx.interaction, self.subject, self.kind)
            if removed := await store.remove(found.subject, found.id):
                note(reader, "access_removed", subject=found.subject, subject_id=found.id)
            told = reader.words.admin
            sentence = told.access_removed if removed else told.access_had_no_rule
            lines = [sentence.format(subject=found.spoken_of(reader.words))]
            in_file = await _in_file(policies)
            if found.id in listed(in_file.allow, found.subject) | listed(in_file.deny, found.subject):
                lines.append(told.access_also_in_file)
            return "\n".join(lines)

        await answer(ctx.interaction, readers, act)


async def _rule(
    command: "Allow | Deny", ctx: lightbulb.Context, ruling: Ruling, store: AccessStore, readers: Readers
) -> None:
    async def act(reader: Reader) -> str:
        found = named_in(ctx.interaction, command.subject, command.kind)
        await store.set(found.subject, found.id, ruling, set_by=reader.user_id)
        note(reader, "access_set", rule=ruling, subject=found.subject, subject_id=found.id)
        told = reader.words.admin
        sentences = told.access_allowed if ruling == "allow" else told.access_denied
        sentence = sentences[found.subject].format(subject=found.spoken_of(reader.words))
        return f"{sentence}\n{told.owners_stay}"

    await answer(ctx.interaction, readers, act)


async def _in_file(policies: Policies) -> AccessRules:
    lists = (await policies.now()).access
    return AccessRules(lists.allow, lists.deny)
