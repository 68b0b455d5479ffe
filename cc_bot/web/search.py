"""One search over all that the pages list."""

from collections.abc import Sequence

from aiohttp import web

from cc_bot.web.page import MAX_SEARCH_CHARACTERS, PAGES, Pages, render, search_words
from cc_bot.web.visitor import visitor_of


class SearchPages(Pages):
    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (web.get("/search", self.show),)

    async def show(self, request: web.Request) -> web.Response:
        words = search_words(request)
        pages = [(each, await each.search(request, words)) for each in request.app[PAGES] if words]
        groups = [
            (each.title(visitor_of(request).words), found) for each, found in pages if found and found.count
        ]
        return render(request, "search.html", search=words, max_search=MAX_SEARCH_CHARACTERS, groups=groups)
