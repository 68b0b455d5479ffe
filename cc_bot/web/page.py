"""Renders pages from templates, shows notices after a press, and sends files."""

import hashlib
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

import structlog
from aiohttp import web
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from cc_bot import features
from cc_bot.charts.table import format_exactly
from cc_bot.chat.reply import Reply
from cc_bot.domain.access import BotProfile
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import (
    AccessError,
    AttachmentTooLarge,
    CanvasSwitched,
    CcBotError,
    EarlierFilesInProgress,
    InputError,
    LinkExpired,
    NothingHere,
    NotSignedIn,
    OwnersOnly,
    PageOfAnother,
    RequestTooLarge,
    ScheduleNotFound,
    StorageError,
    TooManyCommands,
    TooManyLinks,
    TooManyRequests,
)
from cc_bot.domain.text import Count, hiragana, one_line, remove_leading_emoji, shorten
from cc_bot.features.memory.errors import MemoryHidden, MemoryNotFound, TooManyImports
from cc_bot.texts import Texts, explain, texts
from cc_bot.texts.area import Area
from cc_bot.texts.replies import MomentTexts
from cc_bot.texts.web import WebTexts
from cc_bot.web.form import form_text
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SETTINGS, VISITOR, WebVisitor, locale_of, read_cookie, visitor_of

_log = structlog.get_logger(__name__)

STATIC_FOLDER: Final = Path(__file__).parent / "static"
_CONTENT: Final = b"".join(path.read_bytes() for path in sorted(STATIC_FOLDER.iterdir()))
# The path changes with the content of the files, so browsers may cache them for good.
VERSIONED_STATIC_PATH: Final = f"/static/{hashlib.sha256(_CONTENT).hexdigest()[:12]}"
# An error has the status of the first row that matches.
STATUSES: Final[Mapping[int, tuple[type[CcBotError], ...]]] = {
    401: (NotSignedIn,),
    409: (PageOfAnother, CanvasSwitched),
    410: (LinkExpired,),
    413: (RequestTooLarge, AttachmentTooLarge),
    429: (TooManyLinks, TooManyRequests, TooManyCommands, TooManyImports, EarlierFilesInProgress),
    404: (MemoryHidden, MemoryNotFound, NothingHere, ScheduleNotFound, OwnersOnly),
    403: (AccessError,),
    400: (InputError,),
    503: (StorageError,),
}
THEMES: Final = ("", "light", "dark")  # empty: the system's theme
THEME_COOKIE: Final = "theme"
BOT: Final = web.RequestKey("bot", BotProfile)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ENVIRONMENT: Final = web.AppKey("environment", Environment)
PAGES: "Final[web.AppKey[Sequence[Pages]]]" = web.AppKey("pages", Sequence)
Section = tuple[str, Mapping[str, Any]]  # a template, and its variable `values`
# A form's field with the id of the user who opened the page. Another one may sign in before it is sent.
USER_FIELD: Final = "whose"
_FORM: Final = re.compile(r"<form\b[^<>]*+>")
MAX_NOTICES: Final = 2000
MAX_FOUND: Final = 5
MAX_SEARCH_CHARACTERS: Final = 100
MAX_EXCERPT_CHARACTERS: Final = 120
CHARACTERS_BEFORE_MATCH: Final = 20


@dataclass(frozen=True, slots=True)
class Hit:
    path: str
    text: str
    note: str = ""  # such as the channel
    at: datetime | None = None
    excerpt: str = ""  # another text that has the words


@dataclass(frozen=True, slots=True)
class Found:
    """What a search finds on the pages of one kind."""

    items: Sequence[Hit]  # the first MAX_FOUND
    count: int
    path: str  # of the page that lists all


@dataclass(frozen=True, slots=True)
class PageNotice:
    """Shown once, on the session's next page."""

    name: str = ""  # key of a sentence in WebTexts.done
    text: str = ""  # instead of that sentence
    undo: str = ""  # the path to which the button "Undo" posts


Notices = OrderedDict[int, PageNotice]
NOTICES: Final = web.AppKey("notices", Notices)


def http_status(error: CcBotError) -> int:
    return next((status for status, kinds in STATUSES.items() if isinstance(error, kinds)), 500)


def route_name(request: web.Request) -> str:
    """Return the route's pattern; empty if no route matches."""
    resource = request.match_info.route.resource
    return resource.canonical if resource else ""


def search_words(request: web.Request) -> str:
    return " ".join(request.query.get("q", "").split())[:MAX_SEARCH_CHARACTERS]


def make_environment() -> Environment:
    """Return an environment whose templates escape all values but Markup."""
    environment = Environment(
        loader=FunctionLoader(_load_template),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": Count, "exactly": format_exactly, "mark": mark_words}
    environment.globals["static"] = VERSIONED_STATIC_PATH
    environment.globals["code"] = _mark_code
    environment.globals["query"] = lambda **values: urlencode(
        {name: value for name, value in values.items() if value not in (None, "", ())}, doseq=True
    )
    return environment


def mark_words(text: str, words: str) -> Markup:
    """Return a text, or its part around the first match if it is long, with the words marked."""
    text, limit = one_line(text), MAX_EXCERPT_CHARACTERS
    pattern = "|".join(map(re.escape, sorted(hiragana(words).split(), key=len, reverse=True))) or "(?!)"
    first = re.search(pattern, hiragana(text), re.IGNORECASE)
    start = first.start() - CHARACTERS_BEFORE_MATCH if first and len(text) > limit else 0
    excerpt = shorten(f"…{text[start:]}" if start > 0 else text, limit)
    folded_parts = re.split(f"({pattern})", hiragana(excerpt), flags=re.IGNORECASE)
    letters = iter(excerpt)
    parts = ("".join(islice(letters, len(part))) for part in folded_parts)  # every second one is a match
    return Markup().join(
        Markup("<mark>{}</mark>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def _mark_code(text: str) -> Markup:
    """Return a text whose `words in backticks` are code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def _load_template(name: str) -> str | None:
    """Return a template's text. A feature's template is named `feature/name.html`."""
    feature, _, file = name.rpartition("/")
    folder = files(f"{features.__name__}.{feature}" if feature else "cc_bot.web")
    path = folder / "templates" / file
    return path.read_text(encoding="utf-8") if path.is_file() else None


def redirect(request: web.Request, path: str, name: str, undo: str = "") -> web.Response:
    """Redirect after a press. The next page shows the sentence `name` of `WebTexts.done`. `undo`: the path to
    which the button "Undo" posts."""
    return _redirect_with_notice(request, path, PageNotice(name, undo=undo))


def _redirect_with_notice(request: web.Request, path: str, notice: PageNotice) -> web.Response:
    notices = request.app[NOTICES]
    notices[visitor_of(request).session.id] = notice
    if len(notices) > MAX_NOTICES:
        notices.popitem(last=False)
    return see_other(path)


class Pages:
    """Related pages. A feature lists its subclasses in PAGES of its module `web`."""

    path = ""  # of the link in the navigation; empty: no link
    menu_position = 9  # the first page is the home page
    for_owners = False
    section_path = ""  # of the page that includes `section`, if any

    def __init__(self, services: WebServices) -> None:
        self._services = services

    def title(self, words: Texts) -> str:
        """Return the link's label."""
        raise NotImplementedError

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        raise NotImplementedError

    async def section(self, visitor: WebVisitor) -> Section | None:
        """Return a section for the page at `section_path`."""
        raise NotImplementedError

    async def search(self, _request: web.Request, _words: str, /) -> Found | None:
        """Search what the visitor has on these pages."""
        return None

    def run(self) -> AbstractAsyncContextManager[None]:
        """Return a context that is entered while pages are served."""
        return nullcontext()

    async def _redirect_with_reply(
        self, request: web.Request, path: str, reply: Reply, undo: str = ""
    ) -> web.Response:
        """`undo`: the path to which the button "Undo" posts."""
        if reply.receipts_changed:
            await self._services.discord.receipts_changed(visitor_of(request).user_id)
        text = "\n".join(map(remove_leading_emoji, (*reply.lines, *reply.notes)))
        return _redirect_with_notice(request, path, PageNotice(text=text, undo=undo))


async def sections_on(request: web.Request, path: str) -> Sequence[Section]:
    visitor = visitor_of(request)
    sections = [await each.section(visitor) for each in request.app[PAGES] if each.section_path == path]
    return [each for each in sections if each]


def see_other(path: str) -> web.Response:
    """Redirect so that reloading does not repeat the press."""
    return web.Response(status=303, headers={"Location": path})


def render(
    request: web.Request,
    template: str,
    *,
    status: int = 200,
    problem: InputError | None = None,
    **values: Any,
) -> web.Response:
    """Render a page with the notice of the last press. `problem`: why input was refused."""
    visitor = visitor_of(request)
    notice = request.app[NOTICES].pop(visitor.session.id, PageNotice())
    values["done"] = visitor.words[WebTexts].done[notice.name] if notice.name else notice.text
    values["undo"] = notice.undo
    if problem:
        status = http_status(problem)
    values["problem"] = explain_error(problem, request) if problem else ""
    values["problem_field"] = field_of(problem, request) if problem else ""
    page = render_for_anyone(request, template, status=status, **values)
    page.text = add_user_field(page.text or "", visitor.user_id)
    return page


class TemplateTexts:
    """Texts by the name of their area's class: templates know no classes."""

    def __init__(self, words: Texts) -> None:
        self._words = words
        self.locale = words.locale

    def __getattr__(self, name: str) -> Area:
        for area in Area.__subclasses__():
            if area.__name__ == name:
                return self._words[area]
        raise AttributeError(name)


def render_for_anyone(
    request: web.Request, template: str, *, status: int = 200, **values: Any
) -> web.Response:
    """Render a page; signed-in users get the navigation."""
    visitor, (words, zone) = request.get(VISITOR), texts_and_zone(request)
    address = request.path_qs if request.method == "GET" else request.path
    theme, bot = read_cookie(request, THEME_COOKIE), request.get(BOT, BotProfile())
    owner = bool(visitor and visitor.is_owner)
    linked = (each for each in request.app[PAGES] if each.path and (owner or not each.for_owners))
    links = [(each.path, each.title(words)) for each in linked]
    body = (
        request.app[ENVIRONMENT]
        .get_template(template)
        .render(
            words=TemplateTexts(words),
            web=words[WebTexts],
            day=lambda moment: words[MomentTexts].name_day(moment.astimezone(zone), utc_now()),
            ago=partial(_time_element, words[MomentTexts], zone),
            theme=theme if theme in THEMES else "",
            bot=bot,
            avatar=f"/avatar?v={bot.avatar_hash}" if bot.avatar else f"{VERSIONED_STATIC_PATH}/icon.svg",
            **{
                "visitor": visitor,
                "navigation": links,
                "done": "",
                "undo": "",
                "status": status,
                "path": "/" if status == 404 else address,
                **values,
            },
        )
    )
    return web.Response(text=body, status=status, content_type="text/html", charset="utf-8")


def _time_element(texts: MomentTexts, zone: ZoneInfo, moment: datetime) -> Markup:
    """Return how long ago the moment was, with the exact time as the title."""
    local, now = moment.astimezone(zone), utc_now()
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        local.isoformat(timespec="seconds"), texts.written(local, now), texts.relative(local, now)
    )


def texts_and_zone(request: web.Request) -> tuple[Texts, ZoneInfo]:
    """Without a visitor, return texts in the browser's language and the operator's time zone."""
    visitor, settings = request.get(VISITOR), request.app[SETTINGS]
    if visitor:
        return visitor.words, visitor.timezone
    return texts(locale_of(request, settings.locale)), settings.timezone


def add_user_field(html: str, user_id: int) -> str:
    field = f'\n<input type="hidden" name="{USER_FIELD}" value="{user_id}">'
    return _FORM.sub(lambda form: form[0] + field if ' method="post"' in form[0] else form[0], html)


def explain_error(error: CcBotError, request: web.Request) -> str:
    words, zone = texts_and_zone(request)
    now = utc_now()
    return explain(error, words, lambda moment: words[MomentTexts].relative(moment.astimezone(zone), now))


def field_of(error: CcBotError, request: web.Request) -> str:
    """Return the field to show the error beside: its first filled-in field, else its first, else ""."""
    names = error.fields.split() or [""]
    return next((name for name in names if form_text(request, name)), names[0])


async def send_file(
    request: web.Request, chunks: AsyncIterator[bytes], name: str, content_type: str
) -> web.StreamResponse:
    """Stream a file. An error before the first chunk is raised; a later one cuts the connection."""
    # The name in ASCII, and in any script (RFC 6266).
    ascii_name = "".join(letter if letter.isascii() and letter not in '"\\' else "_" for letter in name)
    disposition = f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"
    response = web.StreamResponse(headers={"Content-Disposition": disposition})
    response.content_type = content_type
    first = await anext(chunks, b"")
    await response.prepare(request)
    try:
        await response.write(first)
        async for chunk in chunks:
            await response.write(chunk)
    except CcBotError as error:
        _log.warning("download_cut_short", error=type(error).__name__)
        if request.transport is not None:
            request.transport.abort()
        return response
    await response.write_eof()
    return response
