"""The trouble that the pages on memories tell of: in sentences that name the buttons of the page itself, and
with the way back to the memories."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import wraps

import structlog
from aiohttp import web

from cc_bot.domain.errors import (
    CcBotError,
    InputError,
    NothingHere,
)
from cc_bot.web.form import id_in
from cc_bot.web.page import render, sentence_on
from cc_bot.web.server import name_of_page, status_of
from cc_bot.web.visitor import SignedIn, visitor_of

_log = structlog.get_logger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def told(error: CcBotError, visitor: SignedIn) -> str:
    """Return the sentence on an error, as it is told where the buttons stand on the page itself."""
    words = visitor.words
    sentences: Mapping[type[CcBotError], str] = {**words.errors.of, **words.web_memory.errors}
    return sentence_on(error, replace(words, errors=words.errors.reword(of=sentences)), visitor.timezone)


def leading_back(handle: Handler) -> Handler:
    """Have what can't be done be told on a page that leads back to the memories."""

    @wraps(handle)
    async def handle_and_tell(request: web.Request) -> web.StreamResponse:
        try:
            return await handle(request)
        except (InputError, NothingHere) as error:
            return await _trouble_page(request, error)

    return handle_and_tell


async def _trouble_page(request: web.Request, error: CcBotError) -> web.Response:
    visitor, status = visitor_of(request), status_of(error)
    _log.info("page_refused", page=name_of_page(request), error=type(error).__name__, status=status)
    number, is_gone = request.match_info.get("number"), isinstance(error, NothingHere)
    texts = visitor.words.web_memory
    links = [("/memories", texts.to_list)]
    if number is not None and not is_gone:
        links.insert(0, (f"/memories/{id_in(request, 'number')}", texts.to_memory))
    sentence = texts.not_there if is_gone and number is not None else told(error, visitor)
    return render(
        request, "trouble.html", visitor, status=status, here="/memories", sentence=sentence, links=links
    )
