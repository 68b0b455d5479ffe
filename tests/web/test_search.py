"""The search over all that a user has."""

import re

from cc_bot.domain.text import Locale
from cc_bot.features.canvas.model import Card
from cc_bot.features.canvas.texts import CanvasPageTexts
from cc_bot.texts import texts
from cc_bot.texts.web import WebTexts
from tests.web.pages import CHANNEL, HANA, Site, Visit
from tests.web.stored import draw, keep, talk

WORDS = texts(Locale.JA)
PAGE = WORDS[WebTexts]


async def test_finds_all_that_one_has_by_page(site: Site, taro: Visit) -> None:
    for number in range(7):
        await keep(site, f"京都の宿 {number}")
    await keep(site, "花の京都", HANA)
    id_ = await talk(site, ("旅行は?", f"{'長い' * 99}京都 へ"), ("いつ?", "来週"))
    await draw(site, Card("", "京都の旅程", "清水寺"), Card("", "買い物", "- [ ] 京都の菓子"))
    await draw(site, Card("", "秘密の京都", "x"), visibility="private")
    await taro.press("/reminders", text="<京都>の切符を買う", when="明日9時", repeat="", key="1")
    page = await taro.open("/search?q=京都")
    groups = re.findall(r"<h2[^>]*>(\S+) <small>(\d+)</small>", page)
    assert groups == [
        (WORDS[CanvasPageTexts].canvas, "1"),
        *((PAGE.memories, "7"), (PAGE.conversations, "1"), (PAGE.reminders, "1")),
    ]
    for shown in (
        f"/conversations/{id_}#:~:text=",
        "<mark>京都</mark>の旅程 · <mark>京都</mark>の菓子",
        f'"/canvas/{CHANNEL}">',
        "&lt;<mark>京都</mark>&gt;の切符",
        "い<mark>京都</mark> へ<",
    ):
        assert shown in page
    assert page.count('href="/memories/') == 5
    assert 'href="/memories?q=' in page
    assert ("花の" in page, "買い物" in page) == (False, False)
    hidden = await taro.open("/search?q=京都", Cookie="hide-private=yes")
    assert ("秘密の" in page, "秘密の" in hidden) == (True, False)
    await keep(site, "ネコの名前はモチ")
    assert "<mark>ネコ</mark>の名前" in await taro.open("/search?q=ねこ")
    page = await taro.open("/search?q=%3Cb%3E大阪")
    assert PAGE.search_none.format(words="&lt;b&gt;大阪") in page
    assert "<h2" not in await taro.open("/search?q=%20")
