"""The films of a conversation (GIF) and four pictures, two of Discord and two of the pages."""

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from PIL import Image
from playwright.async_api import Browser, expect

from bench.programs import roomy
from scripts.demo.drawing import HEAD, MENTION, answer, day_line, reply_line, user_message
from scripts.demo.scene import FRIDAY, Scene, read_scene
from tests.browser import new_page, running_browser
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, ChannelReply, File, Shown, User
from tests.loopback.model_server import Call, End, Say, calls, says
from tests.loopback.model_server import Reply as Answer
from tests.web.pages import free_port

FOLDER: Final = Path(sys.argv[1])
FILM_SIZE: Final = (800, 480)
SHOT_SIZE: Final = (640, 560)
MESSAGE_SIZE: Final = (528, 462)
PAGE_SIZE: Final = (820, 718)
CHUNK_S, TYPED_S, SHORTEST_S, RECEIPT_S, INVITED_S, POSTED_S, LAST_S = 0.42, 0.1, 0.2, 4.0, 1.2, 0.5, 3.0
Frame = tuple[str, float]
"""HTML, and the seconds for which it is shown."""


async def film(stage: Stage, said: Scene) -> list[Frame]:
    """An answer with its receipt; another day, in another channel, an answer that knows."""
    user, friend = (stage.discord.user(name, locale=said.locale) for name in (said.user, said.friend))
    first, second, _ = (stage.discord.guild_channel(name) for name in said.channels)
    await stage.ask_in_words(user, stage.discord.guild_channel(), "🙂")  # a user's first answer has a hint
    keep = Call("remember", {"content": said.memory})
    remind = Call("schedule", {"when": f"{FRIDAY}T08:00", "text": said.reminder})
    stage.model.script(calls(keep, remind), says(said.answer))
    kept = await _answer(stage, user, first, said.question)
    opening = Window(
        said, 0, day_line(said.days[0]) + user_message(said.user, said.times[0], said.question, asks=True)
    )
    frames = [(opening.draw(_drawn(kept, said, 0, said.question)), RECEIPT_S)]

    await stage.discord.post(friend, second, said.invitation, mention=False)
    stage.model.script(calls(Call("recall", {"query": said.memory})), _spoken(said.next_answer))
    above = day_line(said.days[1]) + user_message(said.friend, said.times[1], said.invitation)
    window, question = Window(said, 1, above), said.next_question
    frames.append((window.draw(), INVITED_S))
    step = max(2, len(question) // 9)
    frames += [(window.draw(typed=question[:end]), TYPED_S) for end in range(1, len(question), step)]
    reply = await _answer(stage, user, second, question)
    window.above += user_message(said.user, said.times[1], question, asks=True)
    frames.append((window.draw(), POSTED_S))
    states = reply.history
    ends = [*(shown.at_s for shown in states[1:]), states[-1].at_s + LAST_S]
    messages = dict[int, Shown]()  # a card is the second one
    for shown, end_s in zip(states, ends, strict=True):
        messages[shown.id] = shown
        drawn = answer([*messages.values()], said.locale, said.times[1], reply_line(said.user, question))
        frames.append((window.draw(drawn), max(end_s - shown.at_s, SHORTEST_S)))
    return frames


def _spoken(parts: list[str]) -> Answer:
    return Answer(*(Say(part, CHUNK_S) for part in parts), End())


async def _answer(
    stage: Stage, user: User, channel: Channel, question: str, files: tuple[File, ...] = ()
) -> ChannelReply:
    """The finished answer to a mention, with its card."""
    reply = stage.discord.answer(await stage.write(user, channel, question, attachments=files))
    await reply.finished()
    await stage.discord.quiet(0.3)
    return reply


def _drawn(reply: ChannelReply, said: Scene, time: int, question: str, file: str = "") -> str:
    above = reply_line(reply.post.author.name, question, file)
    return answer(reply.messages, said.locale, said.times[time], above)


class Window:
    """Discord's window with one of the channels open."""

    def __init__(self, said: Scene, number: int, above: str) -> None:
        self.said, self.number, self.above = said, number, above

    def draw(self, messages: str = "", *, typed: str = "") -> str:
        said, name = self.said, self.said.channels[self.number]
        empty = said.empty_input.format(channel=name)
        written = f"<b>{MENTION} {typed}</b>"
        names = (f'<p class="hash{" open" * (each == name)}">{each}</p>' for each in said.channels)
        return (
            f'<div class="window"><div class="channels"><h1>{said.server}</h1>{"".join(names)}</div>'
            f'<div class="channel"><header class="hash">{name}</header>'
            f'<div class="messages">{self.above}{messages}</div>'
            f'<div class="input">{written if typed else empty}</div></div></div>'
        )


async def write_film(browser: Browser, frames: list[Frame], name: str) -> None:
    pictures = []
    async with new_page(browser, size=FILM_SIZE) as page:
        for html, _ in frames:
            await page.set_content(HEAD + html)
            pictures.append(Image.open(BytesIO(await page.screenshot())).convert("RGB"))
    width, height = FILM_SIZE
    every = Image.new("RGB", (width, height * len(pictures)))
    for number, picture in enumerate(pictures):
        every.paste(picture, (0, height * number))
    palette = every.quantize()
    few = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    times = [round(seconds * 100) * 10 for _, seconds in frames]
    few[0].save(FOLDER / name, save_all=True, append_images=few[1:], duration=times, loop=0, optimize=True)
    _tell(name, f"{sum(times) / 1000:.1f} s")


async def shoot_messages(stage: Stage, browser: Browser, said: Scene, ending: str) -> None:
    """A memory with its receipt and its use, and an answer about a file that gives the bot an order."""
    user = stage.discord.user(said.reader, locale=said.locale)
    await stage.ask_in_words(user, stage.discord.guild_channel(), "🙂")

    async def ask(words: tuple[str, str], wanted: Call, *files: File) -> str:
        stage.model.script(calls(wanted), says(words[1]))
        reply = await _answer(stage, user, stage.discord.guild_channel(), words[0], files)
        return _drawn(reply, said, 1, words[0], "".join(file.name for file in files))

    kept = await ask(said.fact_told, Call("remember", {"content": said.fact}))
    used = await ask(said.fact_used, Call("recall", {"query": said.fact}))
    letter = File(said.letter_name, said.letter.encode(), "text/plain")
    proposed = await ask(said.summarised, Call("remember", {"content": said.order}), letter)
    scale = SHOT_SIZE[0] / MESSAGE_SIZE[0]
    for name, drawn in (("receipt", kept + day_line(said.later) + used), ("proposal", proposed)):
        async with new_page(browser, size=MESSAGE_SIZE, device_scale_factor=scale) as page:
            await page.set_content(f'{HEAD}<div class="alone">{drawn}</div>')
            _save(await page.screenshot(), f"shot-{name}{ending}.png")


async def shoot_pages(stage: Stage, browser: Browser, said: Scene, ending: str) -> None:
    """The canvas of a channel, and the memories, of which the last one is pinned."""
    user = stage.discord.user(said.reader, locale=said.locale)
    channel = stage.discord.guild_channel(said.drawn_in)
    for days, content, category, tags in said.memories:
        given = {"content": content, "category": category} | ({"tags": tags} if tags else {})
        await stage.told(user, channel, "memory add", **given)
        moment = f"{datetime.now(UTC) - timedelta(days=days):%Y-%m-%dT%H:%M:%S.%f+00:00}"
        change = "UPDATE memories SET created_at = ?, updated_at = ? WHERE user_id = ? AND content = ?"
        stage.change(change, moment, moment, user.id, content)
    stage.change("UPDATE memories SET pinned = 1 WHERE user_id = ? AND content = ?", user.id, content)
    cards = [Call("canvas_add_card", {"title": title, "content": text}) for title, text in said.cards]
    cards.insert(1, Call("canvas_add_chart", said.chart))
    stage.model.script(calls(*cards, Call("canvas_set_mode", {"mode": "board"})), says(said.drawn[1]))
    await stage.ask(user, channel, said.drawn[0])
    reply = await (await stage.discord.slash(user, channel, "web")).finished()
    [link] = [each.url for each in reply.message.buttons if each.url]
    site = link.partition("/sign-in")[0]
    async with new_page(browser, size=PAGE_SIZE, locale=said.locale, color_scheme="dark") as page:
        await page.goto(link)
        await page.locator("button.main").click()
        await expect(page.locator("nav").first).to_be_visible()
        for name, path in (("canvas", f"/canvas/{channel.id}"), ("memories", "/memories")):
            await page.goto(site + path)
            await page.wait_for_load_state("networkidle")
            _save(await page.screenshot(), f"shot-{name}{ending}.png")


def _save(png: bytes, name: str) -> None:
    picture = Image.open(BytesIO(png)).convert("RGB")
    few = picture.resize(SHOT_SIZE, Image.Resampling.LANCZOS).quantize(dither=Image.Dither.NONE)
    few.save(FOLDER / name, optimize=True)
    _tell(name)


def _tell(name: str, more: str = "") -> None:
    sys.stdout.write(f"{name}: {(FOLDER / name).stat().st_size / 1000:.0f} kB {more}\n")


async def main() -> None:
    async with running_browser() as browser:
        for language, ending in (("ja", ""), ("en", ".en")):
            said, discord, settings = read_scene(language), roomy(), {"CC_BOT_WEB_PORT": str(free_port())}
            discord.guild.name = said.server
            with TemporaryDirectory() as data:
                async with running_stage(Path(data), settings, discord) as stage:
                    await write_film(browser, await film(stage, said), f"demo{ending}.gif")
                    await shoot_messages(stage, browser, said, ending)
                    await shoot_pages(stage, browser, said, ending)


if __name__ == "__main__":
    asyncio.run(main())
