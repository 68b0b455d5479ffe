"""Draws messages of the loopback Discord as HTML that looks like Discord's dark theme."""

import re
from collections.abc import Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from hikari import ComponentType

from cc_bot import web
from tests.loopback.discord import Shown

ZONE: Final = ZoneInfo("Asia/Tokyo")
_CSS = Path(__file__).with_name("discord.css").read_text("utf-8")
ICON: Final = (Path(web.__file__).parent / "static" / "icon.svg").read_text("utf-8")
HEAD: Final = f'<!doctype html><html lang="ja"><meta charset="utf-8"><style>{_CSS}</style>'
MENTION: Final = '<span class="mention">@cc-bot</span>'
WEEKDAYS: Final = "月火水木金土日"
APP: Final = {"ja": "アプリ", "en-US": "APP"}
ONLY_YOU: Final = {"ja": "👁 これらはあなただけに表示されています", "en-US": "👁 Only you can see this"}
THINKING: Final = {"ja": "cc-bot が考え中…", "en-US": "cc-bot is thinking…"}


def answer(messages: Sequence[Shown], locale: str, time: str, used: str = "") -> str:
    """An answer with its card. `used`: the line above, about the message that it answers."""
    picture, name = f'<div class="face bot">{ICON}</div>', f'cc-bot<span class="app">{APP[locale]}</span>'
    first, *others = (_inner(each, locale) for each in messages)
    return _said(picture, name, time, first, used) + "".join(_said("", "", "", each) for each in others)


def _inner(shown: Shown, locale: str) -> str:
    inner = f'<div class="text">{markdown(shown.content, locale)}</div>' if shown.content else ""
    if shown.loading:
        dots = '<span class="dots"><i></i><i></i><i></i></span>'
        inner = f'<div class="thinking">{dots}{THINKING[locale]}</div>'
    inner += "".join(_embed(each, locale) for each in shown.embeds) + components(shown.components, locale)
    return inner + (f"<small>{ONLY_YOU[locale]}</small>" if shown.ephemeral else "")


def user_message(name: str, time: str, text: str, *, asks: bool = False) -> str:
    """A person's message; one that `asks` mentions the bot."""
    return _said(f"<div>{_face(name)}</div>", name, time, f"{MENTION} " * asks + escape(text))


def reply_line(user: str, text: str, file: str = "") -> str:
    """The line above an answer: the message that it replies to."""
    attached = f" 📎 {file}" if file else ""
    return f'<div class="used">{_named(user)}<span>{MENTION} {escape(text)}{attached}</span></div>'


def command_line(user: str, command: str) -> str:
    """The line above a command's reply."""
    return f'<div class="used">{_named(user)}<span class="mention">{escape(command)}</span></div>'


def _face(user: str) -> str:
    return f'<span class="face" style="background: hsl({ord(user[0]) * 67 % 360} 38% 52%)">{user[0]}</span>'


def _named(user: str) -> str:
    return f'{_face(user)}<span class="name">{user}</span>'


def day_line(name: str) -> str:
    return f'<div class="day">{name}</div>'


def markdown(text: str, locale: str) -> str:
    """Discord's Markdown, as far as the bot's own messages use it."""
    lines = []
    for number, block in enumerate(re.split(r"```(?:[a-z]*\n)?(.*?)```\n?", text, flags=re.DOTALL)):
        if number % 2:
            lines.append(f"<pre>{escape(block.strip())}</pre>")
        elif block.strip():
            lines.append(_lines(block.removesuffix("\n"), locale))
    return "".join(lines)


def _lines(text: str, locale: str) -> str:
    lines = []
    for line in text.split("\n"):
        quoted, small, heading = line.startswith("> "), line.startswith("-# "), re.match(r"(#{1,3}) ", line)
        rest = line[heading.end() :] if heading else line.removeprefix("> ").removeprefix("-# ")
        item = re.match(r"( *)[-*] ", rest)
        inner = _inline(f"{item[1]}• {rest[item.end() :]}" if item else rest, locale)
        tag = "blockquote" if quoted else f"h{len(heading[1])}" if heading else "li" if item else "div"
        lines.append(f"<{tag}>{f'<small>{inner}</small>' if small else inner or '&nbsp;'}</{tag}>")
    return "".join(lines)


def components(given: Sequence[dict[str, Any]], locale: str) -> str:
    return "".join(_component(each, locale) for each in given)


def _inline(text: str, locale: str) -> str:
    text = re.sub(r"<t:(\d+)(?::(\w))?>", lambda found: _stamp(int(found[1]), found[2] or "f", locale), text)
    text = re.sub(r"<(/[^:>]+):\d+>", "\x04\\1\x05", text)
    text = re.sub(r"\\([^\w\s]|_)", lambda found: f"&#{ord(found[1])};", escape(text, quote=False))
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"~~(.+?)~~", r"<s>\1</s>", text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\x04(.*?)\x05", r'<span class="mention">\1</span>', text)
    text = re.sub(r"\[([^]]+)\]\((?:&lt;)?[^)]+\)", r"<a>\1</a>", text)
    return re.sub(r"\x02(.*?)\x03", r'<span class="stamp">\1</span>', text)


def _stamp(seconds: int, style: str, locale: str) -> str:
    when = datetime.fromtimestamp(seconds, ZONE)
    if style == "R":
        now = datetime.now(ZONE)
        hours = round((when - now).total_seconds() / 3600)
        count, unit = ((when.date() - now.date()).days, "日") if hours >= 24 else (hours, "時間")
        named = {"日": "days", "時間": "hours"}[unit]
        shown = f"{count} {unit}後" if locale == "ja" else f"in {count} {named}"
        return f"\x02{shown}\x03"
    if locale == "ja":
        time, weekday = f"{when:%H:%M}", f" {WEEKDAYS[when.weekday()]}曜日" if style == "F" else ""
        day = f"{when.year}年{when.month}月{when.day}日"
        long_day = f"{day}{weekday} "
    else:
        time, weekday = f"{when.hour % 12 or 12}:{when:%M %p}", f"{when:%A}, " if style == "F" else ""
        day = f"{when:%B} {when.day}, {when.year}"
        long_day = f"{weekday}{day} at "
    shown = {"D": day, "t": time}.get(style, long_day + time)
    return f"\x02{shown}\x03"


def _said(picture: str, name: str, time: str, inner: str, used: str = "") -> str:
    head = f'<div><span class="name">{name}</span><span class="time">{time}</span></div>' if name else ""
    return f'<div class="message">{used}{picture or "<div></div>"}<div>{head}{inner}</div></div>'


def _embed(embed: dict[str, Any], locale: str) -> str:
    title = f"<h2>{_inline(embed['title'], locale)}</h2>" if embed.get("title") else ""
    inner = title + markdown(embed.get("description") or "", locale)
    for entry in embed.get("fields") or []:
        inner += f"<b>{_inline(entry['name'], locale)}</b>{markdown(entry['value'], locale)}"
    if footer := (embed.get("footer") or {}).get("text"):
        inner += f"<small>{escape(footer)}</small>"
    return f'<div class="embed" style="border-color: #{embed.get("color") or 0x1E1F22:06x}">{inner}</div>'


def _component(given: dict[str, Any], locale: str) -> str:
    inner = components(given.get("components") or (), locale)
    match given["type"]:
        case ComponentType.ACTION_ROW:
            inner = f'<div class="row">{inner}</div>'
        case ComponentType.BUTTON:
            label = f"{(given.get('emoji') or {}).get('name') or ''} {given.get('label') or ''}".strip()
            off = " off" if given.get("disabled") else ""
            inner = f'<span class="button s{given.get("style", 2)}{off}">{escape(label)}</span>'
        case ComponentType.TEXT_SELECT_MENU:
            chosen = [each["label"] for each in given["options"] if each.get("default")]
            shown = escape(", ".join(chosen) or given.get("placeholder") or "")
            inner = f'<span class="select">{shown}<span>⌄</span></span>'
        case ComponentType.SECTION:
            inner = f'<div class="section"><div>{inner}</div>{_component(given["accessory"], locale)}</div>'
        case ComponentType.TEXT_DISPLAY:
            inner = f"<div>{markdown(given['content'], locale)}</div>"
        case ComponentType.MEDIA_GALLERY:
            inner = "".join(f'<img src="{item["media"]["url"]}">' for item in given["items"])
        case ComponentType.SEPARATOR:
            inner = "<hr>"
        case ComponentType.CONTAINER:
            colour = given.get("accent_color") or 0x3F4147
            inner = f'<div class="container" style="border-left-color: #{colour:06x}">{inner}</div>'
        case _:
            pass
    return inner
