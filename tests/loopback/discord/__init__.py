"""A Discord on 127.0.0.1: REST v10 and gateway v10 over real sockets, strict where Discord is strict.

The whole program is pointed at it (DISCORD_API_URL = `discord.api_url`, DISCORD_TOKEN = `discord.token`)
and driven from the users' side. Nothing of hikari is used: the double speaks the protocol, not the
library.

    async with LoopbackDiscord() as discord:        # patience_s=10: how long any wait lasts before it fails
        … start the program …
        await discord.ready()                       # connected, commands synced, quiet
        asker = discord.user("Aiko", locale="ja")   # "ja", "en-US", …; accepts_dms=False closes the DM
        channel = discord.guild_channel()
        reply = await discord.slash(asker, channel, "ask", question="…", private=True)
        reply = await discord.slash(asker, channel, "memory add", content="…")
        await reply.acknowledged()                  # within 3 s, or it fails
        await reply.finished(lambda r: "続ける" in r.labels)    # nothing 'thinking', and the predicate true
        await reply.until(lambda r: len(r.messages) > 1, "a second message")

Places: `guild_channel()` (`bot_present=False`: the bot may not see it), `thread(channel)`, `dm(asker)`,
`group_dm(asker, other)`, `user_installed_channel(asker)` (a server without the bot: no channel routes, at
most five follow-ups), `add_guild(name, locale="en-US")` before the start; `install(asker)` for a user's
own install.

A Reply knows `.message` (the first `Shown`), `.messages` (what is visible now), `.text`, `.labels`
(buttons that can be pressed), `.ephemeral`, `.loading` ('thinking…'), `.history` (every state; `.at_s` is
the loop's time in seconds), `.is_acknowledged`, `.acknowledged_after_s`, `.modal`, `.interaction`,
`.age(seconds)` (3: too late to acknowledge; 900: the token is dead), `.any_language = True` (leave it out
of the language check), `.describe()`.

A Shown has `.content`, `.embeds`, `.components`, `.buttons`, `.labels`, `.attachments` (`.file.name`,
`.file.data`, `.url`), `.ephemeral`, `.loading`, `.edited`, `.deleted`, `.text` and `.written` (text,
labels and hints).

More that users do; each is a new Reply where it reaches the bot:

    reply = await discord.click(asker, reply.message, "次へ")              # by label or custom id
    reply = await discord.select(asker, reply.message, "placeholder", "option label")
    file = File("a.txt", b"…", "text/plain")
    reply = await discord.slash(asker, channel, "ask", question="…", attachment=file)
    choices = await discord.autocomplete(asker, channel, "memory delete", id="3月")
                                                    # [Choice(name, value)]; the last option is being typed
    message = await discord.post(asker, channel, "text", attachments=(File(…),), reply_to=reply.message)
    reply = await discord.message_command(asker, channel, "Remember this", message)
    reply = await discord.submit_modal(reply, field_custom_id="text")
    discord.messages(channel)                       # [Shown], with what the bot sent by itself (DMs too)

A client does not let users do what was not offered (unknown options, wrong types, other contexts,
disabled buttons, someone else's ephemeral message): that is the test's mistake, and an AssertionError at
once.

What tests assert:

    discord.commands          # [Command]: .name .names (by locale) .description .descriptions .options .raw
    discord.command_writes    # how often the bot overwrote them
    discord.violations        # every refusal: where, status, code, message, details; a good run has none
    discord.transcript        # every REST call: route, params, status, at_s, took_s, body, files
    discord.calls("POST /webhooks/{application}/{token}", status=200)
    discord.pings             # messages of the bot that would have notified someone, edits too
    discord.wrong_language    # (locale, text): kana under English, none under Japanese, over all replies
    discord.replies, discord.connected, discord.application_id

Trouble on order (ordered failures are no violations):

    edit = "PATCH /webhooks/{application}/{token}/messages/@original"
    discord.fail_next(edit, 503, times=2, take_effect=True)
    discord.fail_next(edit, 429, retry_after_s=0.3)
    discord.fail_next(edit, None)                   # the connection is cut instead of an answer
    discord.fail_next(edit, 200, delay_s=1.0)       # only late
    await discord.drop_gateway()                    # or code=4000; resumable=False: no RESUME, IDENTIFY
    await discord.resumed()
    await discord.ask_to_reconnect()                # opcode 7
    discord.faults.outstanding                      # how many ordered failures nothing has met yet
    discord.expire_attachments()                    # the URLs answer 404 from now on

A second start after a kill: `await discord.gone()`, start the program, `await discord.ready()`.
`discord.other_token` is a well-formed token that is refused (401). Settings: LoopbackDiscord(token=…,
message_content=True (the intent is granted), privileged=Intent…, webhook_rate=Allowance(5, 2.0) per route
and interaction token, channel_rate=Allowance(5, 5.0), global_rate=Allowance(50, 1.0)).
"""

from tests.loopback.discord.actions import Choice
from tests.loopback.discord.channels import Channel, ChannelKind, Context
from tests.loopback.discord.commands import Command
from tests.loopback.discord.driver import LoopbackDiscord
from tests.loopback.discord.gateway import Intent
from tests.loopback.discord.messages import Attachment, Button, File, Message, Shown
from tests.loopback.discord.rate import Allowance
from tests.loopback.discord.reply import Reply
from tests.loopback.discord.transcript import Entry, Violation
from tests.loopback.discord.users import Guild, User
from tests.loopback.discord.world import Ping

__all__ = [
    "Allowance",
    "Attachment",
    "Button",
    "Channel",
    "ChannelKind",
    "Choice",
    "Command",
    "Context",
    "Entry",
    "File",
    "Guild",
    "Intent",
    "LoopbackDiscord",
    "Message",
    "Ping",
    "Reply",
    "Shown",
    "User",
    "Violation",
]
