"""Tries Discord, the models and the optional features with real requests."""

import asyncio
import ssl
import string
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import aiohttp

from cc_bot import __version__
from cc_bot.charts.svg import draw_png
from cc_bot.chat.checks import Finding, failed, ok, warning
from cc_bot.config import Config
from cc_bot.domain import errors
from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.clock import Clock
from cc_bot.domain.message import Attachment
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    Delta,
    Finish,
    PromptPart,
    SystemPart,
    Thinking,
    ToolResultPart,
    ToolSchema,
    UserPart,
)
from cc_bot.llm.providers import open_models
from cc_bot.proxy import proxy_for
from cc_bot.texts import Texts
from cc_bot.texts.cli import CliTexts

if TYPE_CHECKING:
    from cc_bot.llm.openai import OpenAIChatModel

TIMEOUT_S: Final = 8.0
MAX_NAMES: Final = 10

API_URL: Final = "https://discord.com/api/v10"
MESSAGE_CONTENT: Final = 1 << 18 | 1 << 19  # its flags: granted, or allowed as the bot is in few servers
MAX_CLOCK_DIFFERENCE: Final = timedelta(seconds=5)  # Discord sends whole seconds, and answers take time
FAILING_CLOCK_DIFFERENCE: Final = timedelta(minutes=1)
_TOKEN_PARTS: Final = 3
_TOKEN_LETTERS: Final = frozenset(f"{string.ascii_letters}{string.digits}_-")


async def check_discord(
    config: Config, texts: Texts, list_commands: Callable[[], Awaitable[Collection[str]]], clock: Clock
) -> Sequence[Finding]:
    """Check token, intents, commands and clock: https://discord.com/developers/docs/resources/application."""
    text, api, token = texts[DoctorTexts], config.discord_api_url or API_URL, config.discord_token
    if not token:
        return [warning("token", text.token_missing)]
    parts = token.split(".")
    if len(parts) != _TOKEN_PARTS or not all(part and _TOKEN_LETTERS.issuperset(part) for part in parts):
        return [failed("token", text.token_malformed)]
    headers = {"Authorization": f"Bot {token}", "User-Agent": f"DiscordBot (cc-bot, {__version__})"}
    try:
        async with aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(TIMEOUT_S),
            proxy=proxy_for(api),
            raise_for_status=True,
        ) as session:
            async with session.get(f"{api}/users/@me") as response:
                name, date = (await response.json())["username"], response.headers.get("Date", "")
            async with session.get(f"{api}/applications/@me") as response:
                application = await response.json()
                flags = int(application.get("flags") or 0)
            async with session.get(f"{api}/applications/{application['id']}/commands") as response:
                registered = {command["name"] for command in await response.json()}
    except aiohttp.ClientResponseError as error:  # without quoting the response
        unreachable = text.discord_unreachable.format(problem=f"HTTP {error.status}")
        return [failed("token", text.token_refused if error.status == 401 else unreachable)]
    except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError, AttributeError) as error:
        return [failed("token", text.discord_unreachable.format(problem=type(error).__name__))]
    found = [ok("token", text.token_ok.format(name=name))]
    if config.channels == "all" and not flags & MESSAGE_CONTENT:
        found.append(warning("intents", text.intents_missing))
    else:
        found.append(ok("intents", text.intents_ok.format(reading=config.channels)))
    own = set(await list_commands())
    for names, sentence in (
        (own - registered, text.commands_missing),
        (registered - own, text.commands_strange),
    ):
        if names:
            more = f" … (+{len(names) - MAX_NAMES})" if len(names) > MAX_NAMES else ""
            listed = ", ".join(sorted(names)[:MAX_NAMES]) + more
            found.append(warning("commands", sentence.format(names=listed)))
    if registered == own:
        found.append(ok("commands", text.commands_ok.format(count=len(registered))))
    return [*found, _check_clock(date, clock(), texts)]


def _check_clock(date: str, now: datetime, texts: Texts) -> Finding:
    text = texts[DoctorTexts]
    try:
        theirs = parsedate_to_datetime(date)
    except ValueError:
        return ok("clock", text.clock_unknown)
    difference = abs(now - theirs.replace(tzinfo=theirs.tzinfo or UTC))
    seconds = round(difference.total_seconds())
    if difference <= MAX_CLOCK_DIFFERENCE:
        return ok("clock", text.clock_ok.format(seconds=seconds))
    judge = failed if difference > FAILING_CLOCK_DIFFERENCE else warning
    return judge("clock", text.clock_off.format(seconds=seconds))


MAX_REQUESTS: Final = 4
_RED_SQUARE: Final = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mN4oKBAU8QwasGoBaMWjFowasGoBaMWjFowasGo"
    "BaMWDBULAKWUgD269a5MAAAAAElFTkSuQmCC"
)
"""A PNG of 32 pixels; servers refuse smaller ones."""


async def check_models(
    config: Config, texts: Texts, of_agents: Sequence[str], tools: Sequence[ToolSchema], *, offline: bool
) -> Sequence[Finding]:
    async with open_models(config) as models:
        if models.offline:
            if not (model_name := models.ignored_model_name):
                return [ok("model", texts[DoctorTexts].model_offline)]
            sentence = texts[CliTexts].model_without_server.format(model=model_name)
            return [warning("model", sentence, texts[CliTexts].model_without_server_fix)]
        names = dict.fromkeys((*config.models, *config.summary_models, *of_agents))
        asked = (check_model(name, models.get(name), tools, texts) for name in names if not offline)
        return await asyncio.gather(*asked)


@dataclass(slots=True)
class _Observed:
    called: bool = False
    pictures: bool = False
    thought: bool = False
    text: str = ""


async def check_model(
    name: str, model: "OpenAIChatModel", tools: Sequence[ToolSchema], texts: Texts
) -> Finding:
    text, began_s = texts[DoctorTexts], time.monotonic()
    try:
        observed = await _converse(model, tools)
    except errors.ModelRefusedKey:
        return failed("model", text.model_refused_key.format(model=name))
    except errors.ModelRefusedRequest as error:
        no_path = isinstance(error, errors.ModelNotFound) and not model.has_path
        return failed(
            "model", (text.model_no_path if no_path else text.model_refused_request).format(model=name)
        )
    except errors.ModelUnreachable as error:
        return failed("model", text.model_unreachable.format(model=name, **error.params))
    except errors.CcBotError:
        return failed("model", text.model_unavailable.format(model=name))
    marks = {True: text.model_yes, False: text.model_no}
    takes_tools = "no tools" not in model.changes
    sentence = text.model_ok.format(
        model=name,
        seconds=f"{time.monotonic() - began_s:.1f}",
        tools=text.model_not_called if takes_tools and not observed.called else marks[observed.called],
        pictures=marks[observed.pictures],
        reasoning=marks[observed.thought],
        changes=text.model_changed.format(changes=", ".join(model.changes)) if model.changes else "",
    )
    return ok("model", sentence) if takes_tools else warning("model", sentence, text.model_no_tools_fix)


async def _converse(model: "OpenAIChatModel", tools: Sequence[ToolSchema]) -> _Observed:
    """Try tools, a second question and a picture. Raises ModelError, but not for a refused picture."""
    observed = _Observed()
    stable = SystemPart("You are a helpful assistant. Answer in one short sentence.")
    now = SystemPart("It is noon.")
    wish = UserPart("Call the tool `recall` with the query “doctor” now. Then say what it found.")
    prompt: list[PromptPart] = [stable, now, wish]
    finish = await _ask(model, prompt, tools, observed)
    if finish.tool_requests:
        observed.called = True
        prompt.append(AssistantPart(observed.text, finish.tool_requests, native=finish.native))
        prompt += [ToolResultPart(each.id, each.name, '{"memories": []}') for each in finish.tool_requests]
        await _ask(model, prompt, tools, observed)
    del prompt[1]
    prompt += [AssistantPart(observed.text or "…"), now, UserPart("Thank you. Is that all?")]
    await _ask(model, prompt, tools, observed)
    picture = UserPart("Which colour is this?", (Attachment("red.png", "image/png", _RED_SQUARE),))
    try:
        await _ask(model, [stable, now, picture], (), observed)
    except errors.ModelError:
        return observed
    observed.pictures = not model.leaves_out_images
    return observed


async def _ask(
    model: "OpenAIChatModel", prompt: Sequence[PromptPart], tools: Sequence[ToolSchema], observed: _Observed
) -> Finish:
    observed.text, finish = "", Finish("cut")
    async with aclosing(model.stream(ChatRequest(tuple(prompt), tuple(tools)))) as events:
        async for event in events:
            match event:
                case Delta(text):
                    observed.text += text
                case Thinking():
                    observed.thought = True
                case Finish():
                    finish = event
                case _:
                    pass
    return finish


async def check_charts(locale: Locale, texts: Texts) -> Finding:
    text = texts[DoctorTexts]
    if not find_spec("resvg_py"):
        return ok("font", text.font_none)
    chart = Chart("font", "", "bar", ("晴れ", "雨"), (Series("", (2.0, 1.0)),))
    try:
        drawn = await asyncio.to_thread(draw_png, chart, locale)
    except (ImportError, OSError, RuntimeError):
        drawn = None
    return ok("font", text.font_ok) if drawn else failed("font", text.font_failed)


MIN_CERTIFICATE_TIME: Final = timedelta(days=14)  # certificates are usually renewed with a month left
ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound here
FILE: Final = "live.js"  # served without signing in


async def check_pages(config: Config, texts: Texts, clock: Clock, *, offline: bool) -> Sequence[Finding]:
    if config.web_port is None:
        return [ok("pages", texts[DoctorTexts].pages_off)]
    found = [await _check_port(ANY_ADDRESS.get(config.web_host, config.web_host), config.web_port, texts)]
    if not offline and urlsplit(config.web_url).scheme == "https":
        found.append(await _check_address(config.web_url, texts, clock))
    return found


async def _check_port(host: str, port: int, texts: Texts) -> Finding:
    text, where = texts[DoctorTexts], f"{f'[{host}]' if ':' in host else host}:{port}"
    try:
        if await _serves_pages(f"http://{where}"):
            return ok("pages", text.pages_served.format(where=where))
    except aiohttp.ClientConnectorError:
        return ok("pages", text.pages_free.format(where=where))
    except (aiohttp.ClientError, TimeoutError):
        pass
    return failed("pages", text.pages_taken.format(where=where))


async def _check_address(url: str, texts: Texts, clock: Clock) -> Finding:
    text, address = texts[DoctorTexts], urlsplit(url)
    try:
        is_ours = await _serves_pages(url)
        left = await _expiry(address.hostname or "", address.port or 443) - clock()
    except (aiohttp.ClientConnectorCertificateError, ssl.SSLError):
        return failed("pages", text.pages_uncertified.format(url=url))
    except (aiohttp.ClientError, OSError, TimeoutError):
        return warning("pages", text.pages_unreached.format(url=url))
    if not is_ours:
        return warning("pages", text.pages_unreached.format(url=url))
    if left < MIN_CERTIFICATE_TIME:
        return warning("pages", text.pages_ending.format(days=left.days))
    return ok("pages", text.pages_reached.format(url=url, days=left.days))


async def _serves_pages(url: str) -> bool:
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(TIMEOUT_S)) as client,
        client.get(f"{url}/static/{FILE}", ssl=ssl.create_default_context()) as answer,
    ):
        return await answer.read() == (files("cc_bot.web") / "static" / FILE).read_bytes()


async def _expiry(host: str, port: int) -> datetime:
    async with asyncio.timeout(TIMEOUT_S):
        _, writer = await asyncio.open_connection(host, port, ssl=ssl.create_default_context())
        try:
            certificate: dict[str, Any] = writer.get_extra_info("peercert")
        finally:
            writer.close()
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
