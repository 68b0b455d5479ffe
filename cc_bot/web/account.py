"""A user's account: signing in and out, settings, usage and privacy. Opening a sign-in link does not use
it up, since link previews and mail scanners also open links."""

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import compress
from typing import Final

from aiohttp import web
from markupsafe import Markup

from cc_bot.charts.svg import chart_html
from cc_bot.chat.stores.settings import Keep
from cc_bot.domain.access import MAX_SESSION_LIFETIME
from cc_bot.domain.clock import suggest_zones
from cc_bot.domain.errors import (
    CcBotError,
    InputError,
    LinkExpired,
    NothingHere,
    NotSignedIn,
    TooManyLinks,
    TooManyRequests,
    UnknownTimezone,
)
from cc_bot.domain.message import UserSettings
from cc_bot.domain.text import Locale, remove_leading_emoji
from cc_bot.domain.usage import MICROS, Total, UsageBreakdown, UsageReport
from cc_bot.features.privacy.model import CONFIRM_WITHIN, NOT_ERASED, DataKind, Holdings, StoredAmount
from cc_bot.features.privacy.texts import PrivacyTexts
from cc_bot.features.settings.service import change_settings
from cc_bot.texts import Texts
from cc_bot.texts.replies import UsageTexts, money
from cc_bot.texts.web import WebTexts, WebUsageTexts
from cc_bot.web.form import form_text, get_form, parse_digits
from cc_bot.web.page import (
    BOT,
    THEME_COOKIE,
    THEMES,
    Pages,
    redirect,
    render,
    render_for_anyone,
    see_other,
    send_file,
    texts_and_zone,
)
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import (
    VISITOR,
    RequestLimiter,
    WebVisitor,
    address_of,
    cookie_name,
    drop_cookie,
    set_cookie,
    visitor_of,
)

MAX_INVALID_LINKS: Final = 5  # per address within INVALID_LINKS_S
INVALID_LINKS_S: Final = 60.0
THEME_COOKIE_S: Final = 365 * 86400


class SignInPages(Pages):
    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._invalid_links = RequestLimiter(MAX_INVALID_LINKS, INVALID_LINKS_S)

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/sign-in", self.show),
            web.post("/sign-in", self.sign_in),
            web.get("/signed-out", self.show_signed_out),
            web.get("/avatar", self.send_avatar),
            web.post("/theme", self.set_theme),
        )

    async def show(self, request: web.Request) -> web.Response:
        """Raises LinkExpired or TooManyLinks."""
        code = request.query.get("code", "")
        if not code:
            raise NotSignedIn
        origin = await self._services.stores.web_sessions.find_code(code)
        if origin is None:
            if VISITOR in request:  # this browser is signed in, perhaps by this link
                raise web.HTTPSeeOther("/")
            raise self._count_invalid_link(request)
        name = texts_and_zone(request)[0][WebTexts].terminal_user
        if origin.user_id:
            name = await self._services.discord.user_name(origin.user_id) or str(origin.user_id)
        return render_for_anyone(request, "sign_in.html", code=code, name=name)

    async def sign_in(self, request: web.Request) -> web.StreamResponse:
        """Raises LinkExpired, TooManyLinks, AccessError or StorageError."""
        code = form_text(request, "code")
        store = self._services.stores.web_sessions
        origin = await store.find_code(code)
        if origin is None:
            raise self._count_invalid_link(request)
        await self._services.discord.admit(origin, "command")
        browser = name_browser(request.headers.get("User-Agent", ""))
        secret_and_session = await store.sign_in(code, browser)
        if secret_and_session is None:
            raise self._count_invalid_link(request)
        earlier = request.get(VISITOR)
        if earlier is not None:
            await store.end(earlier.user_id, earlier.session.id)
        response = see_other("/")
        max_age_s = int(MAX_SESSION_LIFETIME.total_seconds())
        set_cookie(request, response, cookie_name(request), secret_and_session[0], max_age_s)
        return response

    async def show_signed_out(self, request: web.Request) -> web.Response:
        return render_for_anyone(request, "landing.html", just_signed_out=True)

    async def send_avatar(self, request: web.Request) -> web.Response:
        """Raises NothingHere."""
        if not request[BOT].avatar:
            raise NothingHere
        return web.Response(body=request[BOT].avatar, content_type="image/png")

    async def set_theme(self, request: web.Request) -> web.Response:
        """Raises InputError."""
        theme, back = form_text(request, "theme"), form_text(request, "back")
        if theme not in THEMES:
            raise InputError
        # Only a path of ours: browsers take "//host" and "/\\host" as another site.
        response = see_other(back if re.fullmatch(r"/(?![/\\])[!-~]*", back) else "/")
        set_cookie(request, response, THEME_COOKIE, theme, THEME_COOKIE_S)
        return response

    def _count_invalid_link(self, request: web.Request) -> CcBotError:
        """Return the error to raise. Valid links always work: codes of 256 bits can't be guessed."""
        try:
            self._invalid_links.count(address_of(request), asyncio.get_running_loop().time())
        except TooManyRequests:
            return TooManyLinks()
        return LinkExpired()


def _named_kinds(
    holdings: Holdings, words: Texts, without: Collection[DataKind] = ()
) -> list[tuple[str, StoredAmount]]:
    kinds = words[PrivacyTexts].kinds.items()
    return [(name, holdings.kinds[kind]) for kind, name in kinds if kind in holdings.kinds.keys() - without]


# The first name found in the header counts: most browsers also claim to be Chrome, Safari or Linux.
_BROWSERS: Final = "Edg OPR SamsungBrowser Firefox FxiOS CriOS Chrome Safari"
_SYSTEMS: Final = "iPhone iPad Android Windows Mac CrOS Linux"
_NAMES: Final = {"Edg": "Edge", "OPR": "Opera", "FxiOS": "Firefox", "CriOS": "Chrome", "CrOS": "ChromeOS"}


def name_browser(user_agent: str) -> str:
    """Return browser and system, such as `Chrome · Android`, or the one that is known."""
    known = (
        next((_NAMES.get(name, name) for name in names.split() if name in user_agent), "")
        for names in (_BROWSERS, _SYSTEMS)
    )
    return " · ".join(filter(None, known))


_LANGUAGES: Final[dict[str, Locale | None]] = {"": None, **{locale: locale for locale in Locale}}
MAX_ZONE_LENGTH: Final = 64


class AccountPages(Pages):
    path = "/settings"
    menu_position = 5

    def title(self, words: Texts) -> str:
        return words[WebTexts].settings

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/settings", self.show_settings),
            web.post("/settings", self.save),
            web.post("/sign-out", self.sign_out),
            web.post("/sessions/end", self.end_session),
            web.get("/privacy", self.show_privacy),
            web.get("/privacy/export", self.export),
            web.get("/privacy/erase", self.confirm_erase),
            web.post("/privacy/erase", self.erase),
        )

    async def show_privacy(self, request: web.Request) -> web.Response:
        visitor, privacy = visitor_of(request), self._services.privacy
        holdings = await privacy.get_overview(visitor.user_id)
        return render(
            request,
            "privacy.html",
            holdings=_named_kinds(holdings, visitor.words),
            retention=visitor.words[PrivacyTexts].retention_lines(privacy.retention, holdings),
        )

    async def export(self, request: web.Request) -> web.StreamResponse:
        visitor, now = visitor_of(request), self._services.clock()
        day = now.astimezone(visitor.timezone).date().isoformat()
        chunks = self._services.privacy.export_whole(visitor.user_id)
        return await send_file(request, chunks, f"cc-bot-{day}.json", "application/json")

    async def confirm_erase(self, request: web.Request) -> web.Response:
        visitor = visitor_of(request)
        holdings = await self._services.privacy.get_overview(visitor.user_id)
        until = self._services.clock() + CONFIRM_WITHIN
        return render(
            request,
            "privacy_erase.html",
            goes=_named_kinds(holdings, visitor.words, without=NOT_ERASED),
            stays=visitor.words[PrivacyTexts].list_remaining(holdings),
            until=until,
            until_s=int(until.timestamp()),
        )

    async def erase(self, request: web.Request) -> web.StreamResponse:
        """Raises ErasureUnfinished or another StorageError."""
        visitor, until = visitor_of(request), form_text(request, "until")
        is_number = until.isascii() and until.isdecimal() and len(until) < 12
        if not is_number or self._services.clock().timestamp() > int(until):
            return redirect(request, "/privacy/erase", "erase_too_late")
        async with self._services.discord.erasing(visitor.user_id):
            holdings = await self._services.privacy.erase(visitor.user_id)
        outcome = remove_leading_emoji(visitor.words[PrivacyTexts].say_erased(holdings))
        page = render_for_anyone(request, "privacy_erased.html", visitor=None, outcome=outcome)
        drop_cookie(request, page)
        return page

    async def show_settings(
        self, request: web.Request, entered: UserSettings | None = None, problem: InputError | None = None
    ) -> web.Response:
        """`entered`: invalid settings to show again, with the `problem`."""
        visitor, services = visitor_of(request), self._services
        sessions = await services.stores.web_sessions.list(visitor.user_id)
        return render(
            request,
            "settings.html",
            problem=problem,
            user_settings=entered or await services.stores.settings.get(visitor.user_id),
            time_now=visitor.format_time(services.clock()),
            zones=suggest_zones(""),
            default_zone=services.settings.timezone.key,
            can_voice_answers=services.settings.can_voice_answers,
            sessions=sorted(sessions, key=lambda each: each.id != visitor.session.id),
        )

    async def save(self, request: web.Request) -> web.StreamResponse:
        """Raises InputError for an unknown language."""
        visitor, services = visitor_of(request), self._services
        if not {"language", "timezone"} <= get_form(request).keys():  # a missing field must not reset it
            raise InputError
        language, typed = form_text(request, "language"), form_text(request, "timezone")
        if language not in _LANGUAGES:
            raise InputError
        locale = _LANGUAGES[language]
        spoken, default_zone = bool(form_text(request, "spoken")), services.settings.timezone.key
        try:
            if len(typed) > MAX_ZONE_LENGTH:
                raise UnknownTimezone
            await change_settings(
                services.stores,
                visitor.user_id,
                locale=locale,
                zone=None if typed.strip() in ("", default_zone) else typed.strip(),
                spoken=spoken if services.settings.can_voice_answers else Keep.AS_IS,
                default_zone=default_zone,
            )
        except UnknownTimezone as error:
            entered = UserSettings(locale=locale, timezone=typed, spoken=spoken)
            return await self.show_settings(request, entered, error)
        return redirect(request, "/settings", "settings_saved")

    async def sign_out(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        await self._services.stores.web_sessions.end(visitor.user_id, visitor.session.id)
        return _show_signed_out(request)

    async def end_session(self, request: web.Request) -> web.StreamResponse:
        """Sign out one browser, or all but this one. Raises NothingHere for an unknown id."""
        visitor, wanted = visitor_of(request), form_text(request, "id")
        store = self._services.stores.web_sessions
        if wanted == "others":
            await store.end_all(visitor.user_id, except_id=visitor.session.id)
            return redirect(request, "/settings", "sessions_ended")
        if not await store.end(visitor.user_id, parse_digits(wanted)):
            raise NothingHere
        if wanted == str(visitor.session.id):
            return _show_signed_out(request)
        return redirect(request, "/settings", "session_ended")


def _show_signed_out(request: web.Request) -> web.Response:
    page = see_other("/signed-out")
    drop_cookie(request, page)
    return page


PERIODS_DAYS: Final = (7, 30, 365)
DEFAULT_DAYS: Final = 30
MAX_GUILDS: Final = 20  # for which a request checks whether the visitor manages them
UsageTable = tuple[str, str, Sequence[tuple[str, Total]]]  # title, heading of the first column, rows
UsageView = tuple[UsageReport, Markup, Sequence[UsageTable]]  # report, chart, tables


class UsagePages(Pages):
    path = "/usage"
    menu_position = 4

    def title(self, words: Texts) -> str:
        return words[WebTexts].usage

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (web.get("/usage", self.show), web.get("/usage/file", self.download))

    async def _report(self, request: web.Request) -> tuple[int, UsageReport]:
        """Return the chosen number of days, and the user's own usage."""
        payer, text = visitor_of(request).payer, request.query.get("days", "")
        days = next((days for days in PERIODS_DAYS if str(days) == text), DEFAULT_DAYS)
        return days, await self._services.spending.report_user(replace(payer, role_ids=()), days)

    async def download(self, request: web.Request) -> web.Response:
        """Send the user's own usage as CSV. The byte order mark tells Excel that the file is UTF-8."""
        words, (_, report) = visitor_of(request).words, await self._report(request)
        usage, (_, column, days) = words[WebUsageTexts], _days_table(report.recent, words)
        rows = [(column, usage.tokens, usage.turns, usage.sound_s, f"{usage.cost} {report.currency}".strip())]
        rows += [
            (name, str(total.tokens), str(total.turns), str(total.seconds), str(total.cost_micros / MICROS))
            for name, total in days
        ]
        text = "\ufeff" + "".join(",".join(row) + "\r\n" for row in rows)
        return web.Response(text=text, content_type="text/csv", charset="utf-8")

    async def show(self, request: web.Request) -> web.Response:
        visitor, (days, report) = visitor_of(request), await self._report(request)
        return render(
            request,
            "usage.html",
            own=_make_view(report, visitor.words),
            guilds=await self._guild_views(visitor, days),
            days=days,
            periods=PERIODS_DAYS,
            money=money,
            in_guild=visitor.session.origin.guild_id is not None,
        )

    async def _guild_views(self, visitor: WebVisitor, days: int) -> list[tuple[str, UsageView]]:
        """Return the name and usage of each server that the visitor manages."""
        discord, spending = self._services.discord, self._services.spending
        known = await spending.list_guilds(visitor.user_id, PERIODS_DAYS[-1])
        guilds = sorted({*known, *filter(None, [visitor.session.origin.guild_id])})[:MAX_GUILDS]
        managed = await asyncio.gather(*(discord.manages(visitor.user_id, guild) for guild in guilds))
        return [
            (
                await discord.guild_name(guild) or str(guild),
                _make_view(await spending.report_guild(guild, days), visitor.words),
            )
            for guild in compress(guilds, managed)
        ]


def _make_view(report: UsageReport, words: Texts) -> UsageView:
    usage, recent = words[WebUsageTexts], report.recent
    models = [(model or words[UsageTexts].offline, total) for model, total in recent.models]
    purposes = [(usage.purposes[purpose], total) for purpose, total in recent.purposes]
    title, column, days = _days_table(recent, words)
    tables = (
        (usage.by_model, usage.model, models),
        (usage.by_purpose, usage.purpose, purposes),
        (title, column, days[::-1]),
    )
    used = [(name, first, [row for row in rows if row[1] != Total()]) for name, first, rows in tables]
    chart = chart_html(recent.chart(title=words[UsageTexts].chart), words.locale)
    return report, Markup(chart), [each for each in used if len(each[2]) > (each[0] == usage.by_purpose)]  # noqa: S704 - our own chart


def _days_table(recent: UsageBreakdown, words: Texts) -> UsageTable:
    usage = words[WebUsageTexts]
    if recent.is_by_month:
        return usage.by_month, usage.month, [(f"{day:%Y-%m}", total) for day, total in recent.days]
    return usage.by_day, usage.day, [(day.isoformat(), total) for day, total in recent.days]
