"""Thirty people who live with the bot in eight channels, and by DM: all of them at once, in every way.

The wishes by mention are natural ones (`tests/attacks/wishes.jsonl`), each with the call that a competent
model makes for it.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from tests.attacks.wishes import wishes
from tests.faults.asked import Asked, Kind, Reminded, own_messages, promises, seen, written_out
from tests.faults.stories import SECRET, sentences
from tests.faults.traffic import KINDS, Traffic
from tests.loopback.discord import Channel, Message, Reply, User
from tests.loopback.model_server import Call

Way = Callable[[], Awaitable[object]]
PEOPLE, CHANNELS = 15, 4
MOST_WAITING = 40
_DEAF_S = 6.0
_TOKYO = ZoneInfo("Asia/Tokyo")
_CHATTER = {
    "ja": ("昨日の映画みた？", "> 会議は金曜\nだってさ", "猫の名前はタマにしようかな", "お昼なに食べる？"),
    "en-US": ("Seen that film?", "> meeting is on Friday\nthey say", "My cat is called Tama", "Lunch?"),
}
_KNOWN = {"ja": "わたしのこと、何を覚えてる？", "en-US": "What do you know about me?"}
_SECRET = {"ja": "合鍵の隠し場所は{}、覚えておいて", "en-US": "remember that the spare key is under {}"}
_THINGS = {
    "ja": ("薬", "ゴミ出し", "洗濯物", "電話", "水やり", "歯医者", "散歩", "日報"),
    "en-US": ("the meds", "the bins", "laundry", "the call", "the plants", "the dentist", "a walk", "rent"),
}


def _in_minutes(minutes: int) -> datetime:
    return datetime.now(_TOKYO) + timedelta(minutes=minutes)


def _on(days: int, hour: int) -> datetime:
    return (datetime.now(_TOKYO) + timedelta(days=days)).replace(hour=hour, minute=0)


_TIMES: dict[str, tuple[tuple[str, Callable[[], datetime], str], ...]] = {
    "ja": (
        ("明日9時に{}って言ってくれる？", lambda: _on(1, 9), ""),
        ("20分後に{}って知らせて", lambda: _in_minutes(20), ""),
        ("あさっての朝8時、{}忘れそうだから教えて", lambda: _on(2, 8), ""),
        ("1時間たったら{}", lambda: _in_minutes(60), ""),
        ("毎朝7時に{}って言って", lambda: _on(1, 7), "0 7 * * *"),
        ("りまいんどして！明日の15時、{}", lambda: _on(1, 15), ""),
    ),
    "en-US": (
        ("can you ping me tomorrow at 9 about {}", lambda: _on(1, 9), ""),
        ("remind me in 20 minutes: {}", lambda: _in_minutes(20), ""),
        ("remnd me 2moro 3pm {}", lambda: _on(1, 15), ""),
        ("{} in an hour", lambda: _in_minutes(60), ""),
        ("every morning at 7, {}", lambda: _on(1, 7), "0 7 * * *"),
        ("poke me about {} tomorrow at 18:00", lambda: _on(1, 18), ""),
    ),
}
_SOON = {"ja": "1分後に{}って知らせて", "en-US": "remind me in 1 minute: {}"}


@dataclass(eq=False, slots=True)
class Kept:
    user: User
    content: str
    reply: Reply
    deletion: Reply | None = None


@dataclass(slots=True)
class Life(Traffic):
    """See the module's docstring. `asked` has the questions to the bot alone, `chatter` the rest."""

    people: dict[str, list[User]] = field(default_factory=dict)
    channels: dict[str, list[Channel]] = field(default_factory=dict)
    chatter: list[Message] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    wished: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By question: the tool, and the text that is to be stored."""
    deaf_s: list[float] = field(default_factory=list)
    """When the program began to go away, was killed, or lost its connection."""
    owners: dict[str, User] = field(default_factory=dict)

    async def settle_in(self) -> None:
        """Everybody asks once by DM, and keeps a secret there; in each channel something is asked."""
        discord = self.stage.discord
        for locale, guild in self.guilds.items():
            self.people[locale] = [discord.user(f"{locale}{n}", locale=locale) for n in range(PEOPLE)]
            self.channels[locale] = [discord.guild_channel(f"c{n}", guild=guild) for n in range(CHANNELS)]
        for locale, people in self.people.items():
            for channel in self.channels[locale]:
                await self.say(self._asked(self._of(people[0], "mention", channel)))
            for user in people:
                secret = f"P{len(self.owners) + 1:04}Z"
                self.owners[secret] = user
                await self.wish(
                    self._of(user, "dm"), _SECRET[locale].format(secret), "remember", content=secret
                )
                await self.breathe(20)
        await self.settled()

    async def wave(self) -> list[Asked]:
        """Much of it at the same moment, also in one channel."""
        begun = len(self.asked)
        channel = self.rng.choice(self.channels[self.rng.choice([*self.guilds])])
        for user in self.rng.sample(self.people[channel.guild.locale if channel.guild else "ja"], 3):
            await self.say(self._asked(self._of(user, "mention", channel)))
        for kind in KINDS:
            await self.ask(kind)
        await self.remember()
        await self.remind()
        return self.asked[begun:]

    async def live(self, seconds: float, pace_s: float) -> None:
        """Everyday life for so long."""
        ways: dict[Way, int] = {
            **dict.fromkeys((self.remember, self.remind_by_mention), 5),
            **{partial(self.ask, kind): 2 for kind in KINDS},
            self.chat: 8,
            **dict.fromkeys((self.know, self.ask_twice, self.edit, self.delete, self.keep), 2),
            **dict.fromkeys((self.drop, self.follow, self.remind, self.press_what_is_offered), 1),
        }
        ends = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < ends:
            await self.rng.choices([*ways], [*ways.values()])[0]()
            await asyncio.sleep(self.rng.expovariate(1 / pace_s))
            await self.breathe(MOST_WAITING)

    async def away(self) -> None:
        self.note_deaf()
        for _ in range(self.rng.randrange(4)):
            ways: list[Way] = [partial(self.ask, "mention"), partial(self.ask, "dm"), self.chat]
            await self.rng.choice(ways)()
            await asyncio.sleep(0.1)

    def note_deaf(self) -> None:
        """Note that what happens about now the program may not hear of."""
        self.deaf_s.append(asyncio.get_running_loop().time())

    async def breathe(self, most: int) -> None:
        """Wait as long as more than so many wait for answers."""
        while sum(promises(self.stage.discord, each) for each in self.asked[-3 * most :]) > most:  # noqa: ASYNC110
            await asyncio.sleep(0.5)

    def meet(self, kind: Kind) -> Asked:
        locale = self.rng.choice([*self.guilds])
        return self._of(self.rng.choice(self.people[locale]), kind)

    def _of(self, user: User, kind: Kind, channel: Channel | None = None) -> Asked:
        location = self.stage.discord.dm(user) if kind == "dm" else channel
        location = location or self.rng.choice(self.channels[user.locale])
        return Asked(len(self.asked) + 1, kind, user, location, fresh_location=False, shared=True)

    async def say(self, asked: Asked, words: str = "") -> Asked:
        before = [a for a in self.asked[-MOST_WAITING:] if (a.user, a.channel) == (asked.user, asked.channel)]
        waiting = [a for a in before if a.post and a is not asked and promises(self.stage.discord, a)]
        await Traffic.say(self, asked, words)
        for earlier in waiting:
            earlier.after += [asked.post] if asked.post else []
        return asked

    async def wish(self, asked: Asked, words: str, tool: str, **arguments: str | Callable[[], str]) -> None:
        """Have it wished for, and the model know what to call."""

        def call() -> Call:
            return Call(tool, {name: v if isinstance(v, str) else v() for name, v in arguments.items()})

        self.teller.wishes[asked.number] = call
        self.wished[asked.number] = (tool, str(arguments.get("content") or arguments["text"]))
        await self.say(self._asked(asked), f"\n{words}")  # no mark stands in the sentence of a wish

    async def remember(self) -> None:
        asked = self.meet("mention")
        known = [w for w in wishes() if w.kind == "remember" and asked.user.locale.startswith(w.locale)]
        wish = self.rng.choice([w for w in known if "2026" not in w.arguments["content"]])
        await self.wish(asked, wish.text, "remember", content=wish.arguments["content"])

    async def remind_by_mention(self) -> None:
        """For a time far off, or for one that comes while the program runs."""
        asked = self.meet("mention")
        words, when, repeat = self.rng.choice(_TIMES[asked.user.locale])
        text = self.rng.choice(_THINGS[asked.user.locale])
        if self.rng.random() < 0.3:
            words, when, repeat = _SOON[asked.user.locale], partial(_in_minutes, 1), ""
            text = f"{text} R{len(self.reminders) + 1:04}Z"
            self.reminders.append(Reminded(text[-6:], asked.user, asked.channel, None, asked))
        repeats = {"repeat": repeat} if repeat else {}
        written = lambda: when().isoformat(timespec="minutes")[:16]  # noqa: E731
        await self.wish(asked, words.format(text), "schedule", text=text, when=written, **repeats)

    async def chat(self) -> None:
        locale = self.rng.choice([*self.guilds])
        user, channel = self.rng.choice(self.people[locale]), self.rng.choice(self.channels[locale])
        text = self.rng.choice(_CHATTER[locale])
        self.chatter.append(await self.stage.discord.post(user, channel, text))

    async def know(self) -> None:
        asked = self.meet(self.rng.choice(("mention", "public", "private", "dm")))
        self.teller.wishes[asked.number] = lambda: Call("list_memories", {"limit": 20})
        await self.say(self._asked(asked), _KNOWN[asked.user.locale])

    async def ask_twice(self) -> None:
        """Two messages in a row, which one answer may answer, or two."""
        first = await self.ask("mention")
        await self.say(self._asked(self._of(first.user, "mention", first.channel)))

    async def edit(self) -> None:
        posts = [
            each
            for each in self.asked[-20:]
            if each.post and each.kind != "dm" and each.number not in self.wished
        ]
        if posts:
            asked = self.rng.choice(posts)
            if asked.post and not asked.post.deleted:
                asked.edits += 1
                await self.stage.discord.edit(asked.user, asked.post, f"{asked.post.content} ？")

    async def delete(self) -> None:
        posts = [each for each in self.asked[-20:] if each.post and each.number not in self.wished]
        if posts:
            asked = self.rng.choice(posts)
            if asked.post and not asked.post.deleted:
                asked.deleted_s = asyncio.get_running_loop().time()
                await self.stage.discord.delete(asked.user, asked.post)

    async def keep(self) -> None:
        asked = self.meet("public")
        content = f"M{len(self.kept) + 1:04}Z: {self.rng.choice(_THINGS[asked.user.locale])}"
        slash = self.stage.discord.slash
        reply = await slash(asked.user, asked.channel, "memory add", content=content)
        self.kept.append(Kept(asked.user, content, reply))

    async def drop(self) -> None:
        """Delete a memory by its command."""
        for each in self.kept:
            sql = "SELECT number FROM memories WHERE user_id = ? AND content = ? AND status = 'active'"
            if each.deletion is None and (rows := self.stage.rows(sql, each.user.id, each.content)):
                location = self.rng.choice(self.channels[each.user.locale])
                slash = self.stage.discord.slash
                each.deletion = await slash(each.user, location, "memory delete", id=rows[0][0])
                return

    def faults(self) -> list[str]:
        return [
            *self._leaks(),
            *self._meddling(),
            *self._strays(),
            *self._remains(),
            *self._memories(),
            *self._schedules(),
        ]

    def _leaks(self) -> Iterator[str]:
        for number, secrets in self.teller.secrets.items():
            asked = self.asked[number - 1]
            private = asked.kind in ("dm", "private", "temporary")
            if any(self.owners[each] is not asked.user or not private for each in secrets):
                yield f"{asked}: its request held {secrets}"
        for message in self.stage.discord.world.messages.values():
            if message.author is self.stage.discord.bot and not message.ephemeral:
                secrets = {each for shown in message.history for each in SECRET.findall(shown.text)}
                dms = {self.stage.discord.dm(self.owners[each]) for each in secrets}
                if dms - {message.channel}:
                    yield f"{secrets} stood in {message.channel.kind.name}"

    def _meddling(self) -> Iterator[str]:
        chatter = {each.id for each in self.chatter}
        for message in self.stage.discord.world.messages.values():
            answers = message.author is self.stage.discord.bot and message.reply_to
            if answers and answers.id in chatter:
                yield f"chatter was answered: {message.content[:80]!r}"

    def _strays(self) -> Iterator[str]:
        """Answers that reply to another question than their own."""
        for asked in self.asked:
            if asked.post is None or asked.kind == "dm":
                continue
            own = own_messages(self.stage.discord, asked)
            permitted = {asked.post.id, *(post.id for post in asked.after), *(each.id for each in own)}
            for each in own:
                if each.reply_to is not None and each.reply_to.id not in permitted:
                    yield f"{asked}: is answered in reply to {each.reply_to.content[:40]!r}"

    def _remains(self) -> Iterator[str]:
        for asked in self.asked:
            deaf = any(abs(at - (asked.deleted_s or 0.0)) < _DEAF_S for at in self.deaf_s)
            said = sentences(written_out(seen(self.stage.discord, asked)))
            if asked.deleted_s is not None and not deaf and {s.question for s in said} == {asked.number}:
                yield f"{asked}: is answered although it was deleted"

    def _stored(self, sql: str) -> Counter[tuple[int, str]]:
        return Counter((int(user), str(text)) for user, text in self.stage.rows(sql))

    def _memories(self) -> Iterator[str]:
        of_each = "SELECT DISTINCT user_id, content FROM memories WHERE status = 'active'"
        stored = self._stored(of_each)  # one that is private may be public as well
        twice = f"{of_each.replace('DISTINCT ', '')} GROUP BY user_id, content, audience HAVING count(*) > 1"
        yield from (f"memory {each} is there more than once" for each in self._stored(twice))
        for number, (tool, content) in self.wished.items():
            if tool == "remember" and self.teller.ends.get(number) == "done":
                asked = self.asked[number - 1]
                if not stored[asked.user.id, content]:
                    yield f"{asked}: was remembered, and is not there: {content}"
        for kept in self.kept:
            there = stored[kept.user.id, kept.content]
            deleted = kept.deletion is not None and kept.content in kept.deletion.text
            if kept.content in kept.reply.text and kept.deletion is None and not there:
                yield f"memory {kept.content} is lost"
            if deleted and there:
                yield f"memory {kept.content} was deleted, and is there"

    def _schedules(self) -> Iterator[str]:
        stored = self._stored("SELECT user_id, text FROM schedules")
        wanted = Counter[tuple[int, str]]()
        done = defaultdict[tuple[int, str], set[tuple[Channel, str]]](set)
        for number, (tool, text) in self.wished.items():
            if tool == "schedule":
                asked = self.asked[number - 1]
                key = (asked.user.id, text)
                wanted[key] += 1
                if asked.post and self.teller.ends.get(number) == "done":
                    words = asked.post.content.partition("\n")[2]
                    done[key].add((asked.channel, words))  # the same wished for again is one reminder
        for key, times in wanted.items():
            if not len(done[key]) <= stored[key] <= times:
                yield f"reminder {key}: wished {times} times, done {len(done[key])}, there {stored[key]}"

    def figures(self) -> dict[str, dict[str, int]]:
        found: dict[str, Counter[str]] = {"remember": Counter(), "schedule": Counter()}
        for number, (tool, _) in self.wished.items():
            if self.asked[number - 1].kind == "mention":
                found[tool][self.teller.ends.get(number, "not asked")] += 1
        return {tool: dict(count) for tool, count in found.items()}

    def left(self) -> list[str]:
        """The wishes by mention that were not done at once."""
        ends = {n: end for n, end in self.teller.ends.items() if n in self.wished and end != "done"}
        asked = [self.asked[number - 1] for number in ends]
        return [f"{ends[a.number]}: {a.post.content!r}" for a in asked if a.post and a.kind == "mention"]
