"""People who use the bot in every way at once: in two languages, in servers and DMs, openly and privately."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from tests.end_to_end.kills import CUT_OFF, RETRY
from tests.end_to_end.stage import Stage, again_label
from tests.faults.asked import Asked, Kind, Reminded, promises, seen
from tests.faults.stories import LONG, SHORT, Storyteller, Tale, mark
from tests.loopback.discord import Channel, Guild, Shown
from tests.loopback.discord.interactions import ACKNOWLEDGE_WITHIN_S

BY_COMMAND: tuple[Kind, ...] = ("public", "private", "temporary", "long")
BY_MESSAGE: tuple[Kind, ...] = ("mention", "long mention", "dm")
KINDS = (*BY_COMMAND, *BY_MESSAGE)
_IN_A_MINUTE = {"ja": "1分後", "en-US": "in 1 minute"}
_WORDS = {"ja": "空はどうですか？", "en-US": "How is the sky?"}
_OFTEN = 0.7
_RECENT = 150
"""Questions that people come back to."""
_OWED = """
    SELECT question_id FROM turns WHERE state IN ('accepted', 'answered', 'edited')
"""


@dataclass(slots=True)
class Traffic:
    """Everything that was asked so far.

    Each question comes from a new user in a new channel, except for replies: so what is shown there belongs
    to it. `guilds` are by the language that is spoken there, which is all that the bot knows of who writes
    there.
    """

    stage: Stage
    teller: Storyteller
    rng: Random
    guilds: dict[str, Guild]
    kinds: Sequence[Kind] = KINDS
    asked: list[Asked] = field(default_factory=list)
    reminders: list[Reminded] = field(default_factory=list)

    async def settle_in(self) -> None:
        """A calm day, so that there are answers and channels to come back to."""
        for _ in range(2):
            await self.wave()
            await self.settled()

    async def away(self) -> None:
        pass

    def faults(self) -> list[str]:
        return []

    async def wave(self) -> list[Asked]:
        """One of each kind at the same moment."""
        new = [await self.ask(kind) for kind in self.kinds]
        new += await self.follow()
        await self.press_what_is_offered()
        await self.remind()
        return new

    async def ask(self, kind: Kind) -> Asked:
        """One question of this kind."""
        return await self.say(self._asked(self.meet(kind)))

    def meet(self, kind: Kind) -> Asked:
        # The bot is not told the language of who writes a DM, and speaks its operator's.
        spoken = "ja" if kind == "dm" else self.rng.choice([*self.guilds])
        user = self.stage.discord.user(f"user{len(self.asked)}", locale=spoken)
        quiet = self._quiet_locations(spoken) if "mention" in kind else []
        fresh = self.stage.discord.guild_channel(guild=self.guilds[spoken])
        location = self.stage.discord.dm(user) if kind == "dm" else self.rng.choice(quiet or [fresh])
        shared = "mention" in kind  # a channel to which others come back
        return Asked(len(self.asked) + 1, kind, user, location, fresh_location=not quiet, shared=shared)

    async def say(self, asked: Asked, words: str = "") -> Asked:
        """Have it asked, in these words."""
        user, location, kind = asked.user, asked.channel, asked.kind
        text = f"{mark(asked.number)} {words or _WORDS[user.locale]}"
        if kind in BY_MESSAGE:
            asked.post = await self.stage.discord.post(user, location, text, mention=kind != "dm")
            self._expect_a_language(asked)
        else:
            private = {kind: True} if kind in ("private", "temporary") else {}
            asked.reply = await self.stage.discord.slash(user, location, "ask", question=text, **private)
        return asked

    async def follow(self) -> list[Asked]:
        recent = self.asked[-_RECENT:]
        replied = {each.user.id for each in recent if each.kind == "reply"}
        public = (a for a in recent if a.kind == "public" and a.user.id not in replied)
        done = [asked for asked in public if self.answer_of(asked)]
        if not done:
            return []
        before = self.rng.choice(done)
        number = len(self.asked) + 1
        asked = self._asked(Asked(number, "reply", before.user, before.channel, shared=before.shared))
        text, target = f"{mark(number)} {_WORDS[asked.user.locale]}", self.answer_of(before)
        asked.post = await self.stage.discord.post(before.user, before.channel, text, reply_to=target)
        self._expect_a_language(asked)
        return [asked]

    async def press_what_is_offered(self) -> None:
        """People ask once more what was cut off, and have an answer given again."""
        for asked in self.asked[-_RECENT:]:
            retry = RETRY[asked.user.locale]
            cut_off = (s for s in seen(self.stage.discord, asked) if CUT_OFF[asked.user.locale] in s.text)
            offer = next((s for s in cut_off if retry in s.labels), None)
            if offer is not None and self.rng.random() < _OFTEN:
                asked.presses.append(await self.stage.discord.click(asked.user, offer, retry))
        recent = self.asked[-_RECENT:]
        done = [each for each in recent if each.kind == "private" and self.answer_of(each)]
        if done:
            again = self.rng.choice(done)
            answer, label = self.answer_of(again), again_label(again.user)
            assert answer is not None
            again.presses.append(await self.stage.discord.click(again.user, answer, label))

    async def remind(self) -> None:
        meant = self.meet("public")
        user, location, locale = meant.user, meant.channel, meant.user.locale
        name = f"R{len(self.reminders) + 1:04}Z"
        text = f"お薬{name}" if locale == "ja" else f"pills {name}"
        reply = await self.stage.discord.slash(
            user, location, "remind add", when=_IN_A_MINUTE[locale], text=text
        )
        self.reminders.append(Reminded(name, user, location, reply))

    def missed(self, killed_s: float) -> None:
        """The program died at that time: messages that it had taken no notice of are lost to it, except in
        channels that it reads when it starts."""
        for asked in self.asked:
            if asked.post is None or not asked.fresh_location or asked.post.history[0].at_s > killed_s:
                continue
            location, since = str(asked.channel.id), asked.post.history[0].at_s
            if since > killed_s - ACKNOWLEDGE_WITHIN_S and not seen(self.stage.discord, asked):
                calls = self.stage.discord.transcript
                asked.unheard |= not any(
                    call.params.get("channel") == location and not call.route.startswith("GET")
                    for call in calls
                    if since <= call.at_s <= killed_s
                )

    def _quiet_locations(self, spoken: str) -> list[Channel]:
        waited_for = {asked.channel.id for asked in self.unfinished()}
        answered = [a for a in self.asked if "mention" in a.kind and a.channel.guild is self.guilds[spoken]]
        return [each.channel for each in answered if each.channel.id not in waited_for and not each.unheard]

    def answer_of(self, asked: Asked) -> Shown | None:
        """Its answer, where it can be answered again."""
        label = again_label(asked.user)
        return next((s for s in seen(self.stage.discord, asked) if label in s.labels), None)

    def unfinished(self) -> list[Asked]:
        """Where something is promised still."""
        return [asked for asked in self.asked if promises(self.stage.discord, asked)]

    async def settled(self, *, timeout_s: float = 60.0) -> None:
        """Wait until nothing is promised or owed to anybody; what is then still open, the judge will find."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.unfinished() or self.stage.rows(_OWED):  # noqa: ASYNC110 - a database sends no event
                    await asyncio.sleep(0.2)

    def _asked(self, asked: Asked) -> Asked:
        """Tell the model how this question is to be answered."""
        self.asked.append(asked)
        length = LONG if "long" in asked.kind else SHORT
        self.teller.tales[asked.number] = Tale(asked.user.locale, length, self.rng.uniform(0.02, 0.12))
        return asked

    def _expect_a_language(self, asked: Asked) -> None:
        assert asked.post is not None
        self.stage.discord.answer(asked.post).any_language = asked.user.locale != "ja"
