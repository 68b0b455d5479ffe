"""A Discord on 127.0.0.1: REST v10 and gateway v10 over real sockets, strict where Discord is strict.

The whole program is pointed at it (DISCORD_API_URL = `discord.api_url`, DISCORD_TOKEN = `discord.token`)
and driven from the users' side. Nothing of hikari is used: the double speaks the protocol, not the
library.

    async with LoopbackDiscord() as discord:        # patience_s=60: how long any wait lasts before it fails
        … start the program …
        await discord.ready()                       # connected, commands synced, quiet
        asker = discord.user("Aiko", locale="ja")   # "ja", "en-US", …; accepts_dms=False closes the DM
        channel = discord.guild_channel()
        reply = await discord.slash(asker, channel, "ask", question="…", private=True)
        reply = await discord.slash(asker, channel, "memory add", content="…")
        await reply.acknowledged()                  # within 3 s, or it fails
        await reply.finished(lambda r: "続ける" in r.labels)    # nothing 'thinking', and the predicate true
        await reply.until(lambda r: len(r.messages) > 1, "a second message")
        message = await discord.post(asker, channel, "…", mention=True)
        reply = await discord.reply_to(message)     # waits until the bot has begun to answer that message

Places: `guild_channel()` (`bot_present=False`: the bot may not see it; `kind=ChannelKind.…`) and
`thread(channel)` (`owner=`, `private=True`), both without an event, as if they had always been there;
`dm(asker)`, `group_dm(asker, other)`, `user_installed_channel(asker)` (a server without the bot: no channel
routes there, at most five follow-ups), `add_guild(name, locale="en-US")` before the start; `install(asker)`
for a user's own install.

People: `user(…)`, `other_bot(name)`, `webhook(name)`, `discord.bot` (the bot as an author, `.mention`),
`discord.owner` (of every guild), `nickname(asker, "nick")` (in the first guild, or `guild=`),
`leave(asker)` and `join(asker)` (the first guild, or `, guild)`: who left is 10007 as a member there),
`give_role(asker, 77)` (ids alone; in the first guild, or `, guild)`),
`permit(asker, Permission.MANAGE_MESSAGES)` (in the first guild, or `, guild)`, or `, channel)` and its
threads), `forbid(asker, Permission…, channel)`. The bot may do everything but is no administrator:
`forbid(discord.bot, Permission.SEND_MESSAGES, channel)` gives 50013 there (threads have
SEND_MESSAGES_IN_THREADS), without VIEW_CHANNEL it gets 50001 and no events, without READ_MESSAGE_HISTORY an
empty list.

A Reply knows `.message` (the first `Shown`), `.messages` (what is visible now), `.text`, `.labels`
(buttons that can be pressed), `.ephemeral`, `.loading` ('thinking…'), `.history` (every state; `.at_s` is
the loop's time in seconds), `.is_acknowledged`, `.acknowledged_after_s`, `.modal`, `.interaction`,
`.age(seconds)` (3: too late to acknowledge; 900: the token is dead), `.any_language = True` (leave it out
of the language check), `.locale` (the language that is expected), `.describe()`.

A ChannelReply, the answer to a post, has `.post` and of these `.message`, `.messages`, `.text`, `.labels`,
`.history`, `.any_language`, `.locale`, `.finished(…)`, `.until(…)`, `.describe()`. What belongs to it is
found by what the bot's messages refer to (see channel_reply.py). It is `.is_finished` when the buttons of
its very first state are gone, or at once if that had none: better give `finished` a predicate. An answer to
several posts belongs to the one that it refers to. A bot is not told its user's language by a message, so a
test may have to set `.locale` or `.any_language`.

A Shown has `.content`, `.embeds`, `.components`, `.buttons`, `.labels`, `.attachments` (`.file.name`,
`.file.data`, `.url`; also those that embeds show, which the API does not list), `.ephemeral`, `.loading`,
`.edited`, `.deleted`, `.text` and `.written` (text, labels and hints). Of a Reply, a ChannelReply and a DM it
has commands under the names that they have in its reader's language, as clients show mentions of them;
`discord.transcript` has what was sent.

What people write. Events go to those whose intents ask for them; while the program is down there are none,
and it finds the outcome over REST:

    message = await discord.post(asker, channel, "text", mention=True)      # "<@bot> text"; or mention=user
    message = await discord.post(asker, channel, "", attachments=(File("a.txt", b"…", "text/plain"),))
    message = await discord.post(asker, channel, "text", reply_to=reply.message, ping=False)   # else it pings
    await discord.edit(asker, message, "new text")
    await discord.delete(asker, message)            # one's own; with MANAGE_MESSAGES anybody's, the bot's too
    await discord.delete_in_bulk(moderator, first, second)
    await discord.unfurl(message, {"title": "…"})   # a link's preview: an update that is no edit
    await discord.redeliver(message)                # its MESSAGE_CREATE once more, as it was
    thread = await discord.start_thread(asker, channel, "name", from_message=message)   # or private=True
    await discord.delete_channel(thread)            # or a channel: its threads vanish without events
    discord.answer(message)                         # its ChannelReply at once; `.messages` may be empty
    await discord.quiet(0.2)                        # no REST call for so long: for what is not to be answered
    discord.messages(channel)                       # [Shown], with what the bot sent by itself (DMs too)

More that users do; each is a new Reply where it reaches the bot:

    reply = await discord.click(asker, reply.message, "次へ")              # by label or custom id
    reply = await discord.select(asker, reply.message, "placeholder", "option label")
    file = File("a.txt", b"…", "text/plain")
    reply = await discord.slash(asker, channel, "ask", question="…", attachment=file)
    choices = await discord.autocomplete(asker, channel, "memory delete", id="3月")
                                                    # [Choice(name, value)]; the last option is being typed
    reply = await discord.message_command(asker, channel, "Remember this", message)
    reply = await discord.submit_modal(reply, field_custom_id="text")

A client does not let users do what was not offered (unknown options, wrong types, other contexts,
disabled buttons, someone else's ephemeral message, others' messages without the permission): that is the
test's mistake, and an AssertionError at once.

What tests assert:

    discord.commands          # [Command]: .name .names (by locale) .description .descriptions .options .raw
    discord.command_writes    # how often the bot overwrote them
    discord.violations        # every refusal: where, status, code, message, details; a good run has none
    discord.transcript        # every REST call: route, params, status, at_s, took_s, body, files
    discord.calls("POST /webhooks/{application}/{token}", status=200)
    discord.pings             # messages of the bot that would have notified someone: mentions, replies, edits
    discord.wrong_language    # (locale, text): kana under English, none under Japanese, over all replies
    discord.misnamed_commands # marks of commands without an id or with a wrong one, or where none is shown
    discord.replies, discord.channel_replies, discord.connected, discord.application_id

Trouble on order (ordered failures are no violations):

    edit = "PATCH /webhooks/{application}/{token}/messages/@original"
    discord.fail_next(edit, 503, times=2, take_effect=True)
    discord.fail_next(edit, 429, retry_after_s=0.3)
    discord.fail_next(edit, None)                   # the connection is cut instead of an answer
    discord.fail_next(edit, 200, delay_s=1.0)       # only late
    discord.fail_next("GET /channels/{channel}", 503, channel=channel)   # and no other test's channel
    await discord.drop_gateway()                    # or code=4000; resumable=False: no RESUME, IDENTIFY;
                                                    # shard=1: that of this shard alone
    await discord.resumed()
    await discord.ask_to_reconnect()                # opcode 7
    discord.faults.outstanding                      # how many ordered failures nothing has met yet
    discord.expire_attachments()                    # the URLs answer 404 from now on
    discord.forget_nonces()                         # the minutes pass in which a nonce is remembered

A second start after a kill: `await discord.gone()`, start the program, `await discord.ready()`.
`discord.other_token` is a well-formed token that is refused (401). Settings: LoopbackDiscord(token=…,
message_content=True (the intent is granted), verified=True (by Discord: the application's other flag),
privileged=Intent…, shards=1 (how many connections the bot is told to open; its guilds' events are divided
between them), webhook_rate=Allowance(5, 2.0) per route and interaction token,
channel_rate=Allowance(5, 5.0), global_rate=Allowance(50, 1.0)).

What the message-content intent guards (content, embeds, components, attachments) is blank in events of a
session that did not ask for the intent and over REST of an application that was not granted it, message by
message, those inside a reply too; never blank are the bot's own messages, DMs, and what mentions the bot.

Not modelled: roles beyond the ids that members have, their mentions, categories, forums, voice, archived
and locked threads, thread members, reactions, pins, polls, stickers, forwarded messages, slow mode, other
system messages, CHANNEL_CREATE and the like for places that a test adds while the bot is connected, mentions
inside code blocks, and the limit on reading messages (GET has the global one only).
"""

from tests.loopback.discord.actions import Choice
from tests.loopback.discord.channel_reply import ChannelReply
from tests.loopback.discord.channels import Channel, ChannelKind, Context
from tests.loopback.discord.commands import Command
from tests.loopback.discord.driver import LoopbackDiscord
from tests.loopback.discord.gateway import Intent
from tests.loopback.discord.messages import Attachment, Button, File, Message, Poll, Shown
from tests.loopback.discord.permissions import Permission
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
    "ChannelReply",
    "Choice",
    "Command",
    "Context",
    "Entry",
    "File",
    "Guild",
    "Intent",
    "LoopbackDiscord",
    "Message",
    "Permission",
    "Ping",
    "Poll",
    "Reply",
    "Shown",
    "User",
    "Violation",
]
