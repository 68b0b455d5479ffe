"""The films of a conversation (GIF), and pictures of Discord and of the pages, for the README and docs.

What the model says is in `demo-ja.toml` and `demo-en.toml`; what the bot does and shows is its own.
"""

from base64 import b64encode
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Final

from PIL import Image

from bench.programs import roomy
from cc_bot.domain.chart import Chart, Series
from cc_bot.features.canvas.model import Card, SetMode
from scripts.shots.drawing import HEAD, MENTION, ZONE, answer, day_line, reply_line, user_message
from scripts.shots.pages import Past
from scripts.shots.shooting import Shooter, read_data
from tests.browser import new_page
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, ChannelReply, File, Shown, User
from tests.loopback.model_server import Call, End, Say, calls, says
from tests.loopback.model_server import Reply as Answer
from tests.web.browsing import signed_in
from tests.web.pages import CHANNEL, TARO, free_port, open_site
from tests.web.stored import draw, keep

TODAY: Final = datetime.now(ZONE).date()
FRIDAY: Final = TODAY + timedelta(days=11 - TODAY.weekday())  # of next week
DAYS: Final = {"today": TODAY, "tomorrow": TODAY + timedelta(days=1), "friday": FRIDAY}
FILM_SIZES: Final = {"demo": (720, 448), "demo-phone": (380, 476)}
PAGE_SIZE, MESSAGE_SIZE, MESSAGE_SCALE = (390, 352), (488, 440), 1.6  # 780 x 704 pixels both
TOUR_WIDTHS: Final = {"tour": 964, "tour-phone": 358}
TOUR_STYLE: Final = """
body { display: flex; flex-wrap: wrap; gap: 12px; margin: 0; font: 15px/1.5 "Noto Sans CJK JP", sans-serif; }
figure { flex: 1 1 300px; margin: 0; border: 1px solid #d1d9e0; border-radius: 8px; overflow: hidden;
  background: #f6f8fa; color: #1f2328; word-break: auto-phrase; }
img { display: block; width: 100%; background: #fff; object-fit: cover; }
@media (max-width: 400px) {
  img { height: 190px; object-position: 0 81%; }
  figure:first-child img { height: 250px; object-position: top; }
  figure:last-child img { height: 244px; object-position: 0 35%; }
}
figure:not(:last-child) img { mask: linear-gradient(#000 90%, transparent); }
figcaption { border-top: 1px solid #d1d9e0; padding: 6px 12px; } b { display: block; }
"""
CHUNK_S, TYPED_S, SHORTEST_S, PRESSED_S = 0.4, 0.1, 0.2, 0.4
POSTER_S, OPENED_S, POSTED_S, UNDONE_S, LAST_S = 0.9, 0.5, 0.5, 1.6, 2.2  # a film lasts 12 s
PRESSED: Final = "<style>.section:last-child .button { outline: 3px solid #fff; }</style>"
Frame = tuple[str, float]  # HTML, and the seconds for which it is shown
Scene = SimpleNamespace


def read_scene(locale: str) -> Scene:
    style = "{0.month}月{0.day}日" if locale == "ja" else "{0:%B} {0.day}"
    days = {name: style.format(day) for name, day in DAYS.items()}
    return Scene(**read_data(f"demo-{locale}", fri=f"{FRIDAY:%b} {FRIDAY.day}", **days))


async def film(stage: Stage, said: Scene) -> list[Frame]:
    """An answer, and an undo on its receipt; another day, in another channel, an answer that knows. The first
    frame, which is all that a still shows, is the first answer."""
    user, *friends = (stage.discord.user(name, locale=said.locale) for name in said.users)
    await stage.ask_in_words(user, stage.discord.guild_channel(), "🙂")  # a user's first answer has a hint
    keep = Call("remember", {"content": said.memory})
    remind = Call("schedule", {"when": f"{FRIDAY}T08:00", "text": said.reminder})
    known = Call("recall", {"query": said.memory})
    frames: list[Frame] = []
    for number, asked in enumerate((calls(keep, remind), calls(known))):
        channel, time = stage.discord.guild_channel(said.channels[number]), said.times[number]
        window = Window(said, number, day_line(said.days[number]))
        for friend, at, text in said.talk[number]:
            await stage.discord.post(friends[friend], channel, text, mention=False)
            window.above += user_message(friends[friend].name, at, text)
        question = said.questions[number]
        if number:
            step = max(2, len(question) // 7)
            frames.append((window.draw(), OPENED_S))
            frames += [(window.draw(typed=question[:end]), TYPED_S) for end in range(1, len(question), step)]
        stage.model.script(asked, _spoken(said.answers[number]))
        reply = await _answer(stage, user, channel, question)
        window.above += user_message(user.name, time, question, asks=True)
        frames.append((window.draw(), POSTED_S))
        states = reply.history
        ends = [*(shown.at_s for shown in states[1:]), states[-1].at_s + LAST_S]
        messages = dict[int, Shown]()  # a card is the second one
        for shown, end_s in zip(states, ends, strict=True):
            messages[shown.id] = shown
            drawn = answer([*messages.values()], said.locale, time, reply_line(user.name, question))
            frames.append((window.draw(drawn), max(end_s - shown.at_s, SHORTEST_S)))
        if not number:
            alone = Window(said, number, user_message(user.name, time, question, asks=True))
            frames = [(alone.draw(drawn), POSTER_S), *frames, (window.draw(drawn) + PRESSED, PRESSED_S)]
            card = reply.messages[-1]
            await stage.discord.click(user, card, card.buttons[-1].custom_id or "")
            await stage.discord.quiet(0.3)
            frames.append((window.draw(_drawn(reply, said, number, question)), UNDONE_S))
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


async def write_film(shooter: Shooter, frames: list[Frame], name: str, size: tuple[int, int]) -> None:
    pictures = []
    async with new_page(shooter.browser, size=size, device_scale_factor=2) as page:
        for html, _ in frames:
            await page.set_content(HEAD + html)
            pictures.append(Image.open(BytesIO(await page.screenshot())).convert("RGB"))
    width, height = pictures[0].size
    every = Image.new("RGB", (width, height * len(pictures)))
    for number, picture in enumerate(pictures):
        every.paste(picture, (0, height * number))
    palette = every.quantize(104)
    few = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    times = [round(seconds * 100) * 10 for _, seconds in frames]
    path, more = shooter.folder / name, few[1:]
    few[0].save(path, save_all=True, append_images=more, duration=times, loop=0, optimize=True)
    shooter.count += 1


async def shoot_messages(shooter: Shooter, stage: Stage, said: Scene, ending: str) -> bytes:
    """Save a memory with its receipt and its use; return an answer about a file that orders a change."""
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
    shots = []
    for drawn in (kept + day_line(said.later) + used, proposed):
        async with new_page(shooter.browser, size=MESSAGE_SIZE, device_scale_factor=MESSAGE_SCALE) as page:
            await page.set_content(f'{HEAD}<div class="alone">{drawn}</div>')
            shots.append(await page.screenshot())
    _save(shooter, shots[0], f"shot-receipt{ending}")
    return shots[1]


async def shoot_pages(shooter: Shooter, said: Scene, ending: str, folder: Path) -> list[bytes]:
    """Save and return the canvas of a channel, and the memories, of which the last one is pinned."""
    shots, past = [], Past()
    async with open_site(folder, clock=past) as site:
        for days, content, category, tags in said.memories:
            past.ago = timedelta(days=days)
            kept = await keep(site, content, category=category, tags=tags.split())
        past.ago = timedelta()
        await site.core.stores.memories.pin(TARO, kept.id)
        series = tuple(Series(each["name"], tuple(each["values"])) for each in said.chart["series"])
        chart = Chart("chart", said.chart["title"], "bar", tuple(said.chart["labels"]), series)
        first, *others = (Card(f"card{number}", *card) for number, card in enumerate(said.cards))
        await draw(site, first, chart, *others, SetMode("board"))
        options = {"size": PAGE_SIZE, "locale": said.locale, "device_scale_factor": 2}
        async with signed_in(shooter.browser, site, **options) as page:
            for name, path, part in (
                ("canvas", f"/canvas/{CHANNEL}", "#canvas"),
                ("memories", "/memories", ".bar"),
            ):
                await page.goto(site.url + path)
                await page.wait_for_load_state("networkidle")
                await page.locator(part).evaluate("it => scrollTo(0, it.getBoundingClientRect().top - 8)")
                shots.append(await page.screenshot())
                _save(shooter, shots[-1], f"shot-{name}{ending}")
    return shots


async def draw_tour(shooter: Shooter, shots: list[bytes], said: Scene, ending: str) -> None:
    """Pictures with captions: side by side, and below each other for phones."""
    figures = ""
    for shot, (title, text) in zip(shots, said.captions, strict=True):
        image = f'<img src="data:image/png;base64,{b64encode(shot).decode()}">'
        figures += f"<figure>{image}<figcaption><b>{title}</b>{text}</figcaption></figure>"
    for name, width in TOUR_WIDTHS.items():
        async with new_page(shooter.browser, size=(width, 100), device_scale_factor=2) as page:
            await page.set_content(f"<!doctype html><style>{TOUR_STYLE}</style>{figures}")
            _save(shooter, await page.screenshot(full_page=True, omit_background=True), f"{name}{ending}")


def _save(shooter: Shooter, png: bytes, name: str) -> None:
    few = Image.open(BytesIO(png)).convert("RGBA").quantize(dither=Image.Dither.NONE)
    few.save(shooter.folder / f"{name}.png", optimize=True)
    shooter.count += 1


async def shoot(shooter: Shooter, locale: str, folder: Path) -> None:
    said, ending, discord = read_scene(locale), "" if locale == "ja" else ".en", roomy()
    discord.guild.name = said.server
    async with running_stage(folder, {"CC_BOT_WEB_PORT": str(free_port())}, discord) as stage:
        frames = await film(stage, said)
        for name, size in FILM_SIZES.items():
            await write_film(shooter, frames, f"{name}{ending}.gif", size)
        proposed = await shoot_messages(shooter, stage, said, ending)
    shots = [*await shoot_pages(shooter, said, ending, folder), proposed]
    await draw_tour(shooter, shots, said, ending)
