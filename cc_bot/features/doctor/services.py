"""Tries Discord, the models and the optional features with real requests."""

import asyncio
import re
import ssl
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import aiohttp

from cc_bot import __version__
from cc_bot.charts.png import draw_png
from cc_bot.chat.checks import Finding, failed, off, ok, warning
from cc_bot.config import Config, local_address
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
    ToolResultPart,
    ToolSchema,
    UserPart,
)
from cc_bot.llm.providers import open_models
from cc_bot.proxy import proxy_for
from cc_bot.texts import Texts, explain
from cc_bot.texts.cli import CliTexts

if TYPE_CHECKING:
    from cc_bot.llm.openai import OpenAIChatModel

TIMEOUT_S: Final = 8.0

API_URL: Final = "https://discord.com/api/v10"
MESSAGE_CONTENT_FLAGS: Final = 1 << 18 | 1 << 19  # granted, or allowed because the bot is in few servers
CLOCK_WARNING_DIFFERENCE: Final = timedelta(seconds=5)  # Discord sends whole seconds, and answers take time
CLOCK_FAILURE_DIFFERENCE: Final = timedelta(minutes=1)
_TOKEN: Final = re.compile(r"\A[\w-]+(\.[\w-]+){2}\Z", re.ASCII)


async def check_discord(
    config: Config, words: Texts, list_commands: Callable[[], Awaitable[Collection[str]]], clock: Clock
) -> Sequence[Finding]:
    """Check token, intents, commands and clock: https://discord.com/developers/docs/resources/application."""
    texts, api, token = words[DoctorTexts], config.discord_api_url or API_URL, config.discord_token
    if not token:
        return [warning("token", texts.token_missing)]
    if not _TOKEN.match(token):
        return [failed("token", texts.token_malformed)]
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
        unreachable = texts.discord_unreachable.format(problem=f"HTTP {error.status}")
        return [
            failed("token", explain(errors.RefusedToken(), words) if error.status == 401 else unreachable)
        ]
    except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError, AttributeError) as error:
        is_connected = not isinstance(error, (aiohttp.ClientConnectionError, TimeoutError))
        problem = texts.answer_unreadable if is_connected else texts.not_connected
        return [failed("token", texts.discord_unreachable.format(problem=problem))]
    findings = [ok("token", texts.token_ok.format(name=name))]
    if config.channels == "all" and not flags & MESSAGE_CONTENT_FLAGS:
        findings.append(warning("intents", texts.intents_missing))
    else:
        findings.append(ok("intents", texts.intents_ok.format(reading=config.channels)))
    commands = set(await list_commands())
    if missing := commands - registered:
        findings.append(warning("commands", texts.commands_missing.format(names=", ".join(sorted(missing)))))
    else:
        findings.append(ok("commands", texts.commands_ok.format(count=len(registered))))
    return [*findings, _check_clock(date, clock(), words)]


def _check_clock(date: str, now: datetime, words: Texts) -> Finding:
    texts = words[DoctorTexts]
    try:
        discord_time = parsedate_to_datetime(date)
    except ValueError:
        return ok("clock", texts.clock_unknown)
    difference = abs(now - discord_time.replace(tzinfo=discord_time.tzinfo or UTC))
    seconds = round(difference.total_seconds())
    if difference <= CLOCK_WARNING_DIFFERENCE:
        return ok("clock", texts.clock_ok.format(seconds=seconds))
    make_finding = failed if difference > CLOCK_FAILURE_DIFFERENCE else warning
    return make_finding("clock", texts.clock_off.format(seconds=seconds))


MAX_REQUESTS: Final = 4
_RED_SQUARE: Final = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mN4oKBAU8QwasGoBaMWjFowasGoBaMWjFowasGo"
    "BaMWDBULAKWUgD269a5MAAAAAElFTkSuQmCC"
)
"""A PNG of 32 pixels; servers refuse smaller ones."""


async def check_models(
    config: Config, words: Texts, agent_models: Sequence[str], tools: Sequence[ToolSchema], *, offline: bool
) -> Sequence[Finding]:
    async with open_models(config) as models:
        if models.is_offline:
            if not (model_name := models.ignored_model_name):
                return [ok("model", words[DoctorTexts].model_offline)]
            sentence = words[CliTexts].model_without_server.format(model=model_name)
            return [warning("model", sentence, words[CliTexts].model_without_server_fix)]
        names = [] if offline else [*dict.fromkeys((*config.models, *config.summary_models, *agent_models))]
        return await asyncio.gather(*(check_model(name, models.get(name), tools, words) for name in names))


@dataclass(slots=True)
class _Probe:
    called_tool: bool = False
    took_picture: bool = False
    answer: str = ""  # of the last request


async def check_model(
    name: str, model: "OpenAIChatModel", tools: Sequence[ToolSchema], words: Texts
) -> Finding:
    texts, began_s = words[DoctorTexts], time.monotonic()
    try:
        probe = await _converse(model, tools)
    except errors.CcBotError as error:
        advice: dict[type[errors.CcBotError], tuple[str, str]] = {
            errors.ModelRefusedKey: (texts.model_refused_key, "OPENAI_API_KEY"),
            errors.ModelNotFound: (texts.model_refused_request, "CC_BOT_MODEL"),
            errors.ModelRefusedRequest: (texts.model_refused_request, "CC_BOT_MODEL"),
            errors.ModelUnreachable: (texts.model_unreachable, "OPENAI_BASE_URL"),
        }
        sentence, setting = advice.get(type(error), (texts.model_unavailable, ""))
        if isinstance(error, errors.ModelNotFound) and not model.has_path:
            sentence, setting = texts.model_no_path, "OPENAI_BASE_URL"
        return replace(failed("model", sentence.format(**{**error.params, "model": name})), setting=setting)
    yes_or_no = {True: texts.model_yes, False: texts.model_no}
    takes_tools = "no tools" not in model.changes
    uncalled = texts.model_not_called if takes_tools else texts.model_no
    sentence = texts.model_ok.format(
        model=name,
        seconds=f"{time.monotonic() - began_s:.1f}",
        tools=texts.model_yes if probe.called_tool else uncalled,
        pictures=yes_or_no[probe.took_picture],
        changes=texts.model_changed.format(changes=", ".join(model.changes)) if model.changes else "",
    )
    return ok("model", sentence) if takes_tools else warning("model", sentence, texts.model_no_tools_fix)


async def _converse(model: "OpenAIChatModel", tools: Sequence[ToolSchema]) -> _Probe:
    """Try a tool, a second question and a picture. Raises ModelError, but not for a refused picture."""
    probe = _Probe()
    stable = SystemPart("You are a helpful assistant. Answer in one short sentence.")
    now = SystemPart("It is noon.")
    question = UserPart("Call the tool `recall` with the query “doctor” now. Then say what it found.")
    prompt: list[PromptPart] = [stable, now, question]
    finish = await _ask(model, prompt, tools, probe)
    if finish.tool_requests:
        probe.called_tool = True
        prompt.append(AssistantPart(probe.answer, finish.tool_requests, native=finish.native))
        prompt += [ToolResultPart(each.id, each.name, '{"memories": []}') for each in finish.tool_requests]
        await _ask(model, prompt, tools, probe)
    prompt.remove(now)
    prompt += [AssistantPart(probe.answer or "…"), now, UserPart("Thank you. Is that all?")]
    await _ask(model, prompt, tools, probe)
    picture = UserPart("Which colour is this?", (Attachment("red.png", "image/png", _RED_SQUARE),))
    try:
        await _ask(model, [stable, now, picture], (), probe)
    except errors.ModelError:
        return probe
    probe.took_picture = not model.leaves_out_images
    return probe


async def _ask(
    model: "OpenAIChatModel", prompt: Sequence[PromptPart], tools: Sequence[ToolSchema], probe: _Probe
) -> Finish:
    probe.answer, finish = "", Finish("cut")
    async with aclosing(model.stream(ChatRequest(tuple(prompt), tuple(tools)))) as events:
        async for event in events:
            match event:
                case Delta(text):
                    probe.answer += text
                case Finish():
                    finish = event
                case _:
                    pass
    return finish


async def check_charts(locale: Locale, words: Texts) -> Finding:
    texts = words[DoctorTexts]
    if not find_spec("resvg_py"):
        return off("font", texts.font_none)
    chart = Chart("font", "", "bar", ("晴れ", "雨"), (Series("", (2.0, 1.0)),))
    try:
        png = await asyncio.to_thread(draw_png, chart, locale)
    except (ImportError, OSError, RuntimeError):
        png = None
    return ok("font", texts.font_ok) if png else failed("font", texts.font_failed)


PUBLIC_FILE: Final = "live.js"  # served without signing in


async def check_pages(config: Config, words: Texts, *, offline: bool) -> Sequence[Finding]:
    if config.web_port is None:
        return [off("pages", words[DoctorTexts].pages_off)]
    findings = [await _check_port(local_address(config.web_host), config.web_port, words)]
    if not offline and urlsplit(config.web_url).scheme == "https":
        findings.append(await _check_url(config.web_url, words))
    return findings


async def _check_port(host: str, port: int, words: Texts) -> Finding:
    texts, address = words[DoctorTexts], f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        if await _serves_pages(f"http://{address}"):
            return ok("pages", texts.pages_served.format(where=address))
    except aiohttp.ClientConnectorError:
        return ok("pages", texts.pages_free.format(where=address))
    except (aiohttp.ClientError, TimeoutError):
        pass
    return failed("pages", texts.pages_taken.format(where=address))


async def _check_url(url: str, words: Texts) -> Finding:
    texts = words[DoctorTexts]
    try:
        if await _serves_pages(url):
            return ok("pages", texts.pages_reached.format(url=url))
    except aiohttp.ClientConnectorCertificateError:
        return failed("pages", texts.pages_uncertified.format(url=url))
    except (aiohttp.ClientError, OSError, TimeoutError):
        pass
    return warning("pages", texts.pages_unreached.format(url=url))


async def _serves_pages(url: str) -> bool:
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(TIMEOUT_S)) as client,
        client.get(f"{url}/static/{PUBLIC_FILE}", ssl=ssl.create_default_context()) as response,
    ):
        return await response.read() == (files("cc_bot.web") / "static" / PUBLIC_FILE).read_bytes()
