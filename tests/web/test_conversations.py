import re
from typing import Final
from urllib.parse import quote
from uuid import uuid4

from cc_bot.domain.clock import UNDO_TIME, utc_now
from cc_bot.domain.errors import ConversationNotFound
from cc_bot.domain.message import Attachment
from cc_bot.domain.session import EMPTY_CANVAS, SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.model import Card
from cc_bot.features.privacy.service import purge_due
from cc_bot.texts import explain, texts
from cc_bot.texts.web import WebTexts
from tests.stores.backends import got
from tests.web.pages import CHANNEL, HANA, Site, Visit
from tests.web.stored import DM, KEY, draw, talk

FILE: Final = Attachment("旅程 <1>.txt", "text/plain", "京都".encode())


class TestList:
    async def test_names_each_by_its_first_question_and_its_location(self, site: Site, taro: Visit) -> None:
        assert "会話はまだありません" in await taro.open("/conversations")
        here = await talk(site, ("旅行の<計画>", "京都です"))
        await talk(site, ("DMの話", "はい"), key=DM)
        page = await taro.open("/conversations")
        assert f'href="/conversations/{here}">旅行の&lt;計画&gt;</a>' in page
        for words in ("#雑談 (日本語サーバー)", "ボットとのDM"):
            assert words in page
        assert page.index("DMの話") < page.index("旅行の")
        backlog = await site.core.stores.summaries.get_backlog(KEY)
        assert backlog is not None
        await site.core.stores.summaries.put(backlog, {"public": "京都へ行く"})
        one = await taro.open(f"/conversations?place={CHANNEL}/default")
        assert ("京都へ行く" in one, "旅行の" in one, "DMの話" in one) == (True, True, False)
        await taro.open("/conversations?place=7/default", status=404)
        for number in range(23):
            await talk(site, (f"質問{number}番", "はい"))
            await site.core.stores.sessions.clear(KEY)
        first, second = await taro.open("/conversations"), await taro.open("/conversations?page=2")
        assert ("質問22番" in first, "旅行の" in first) == (True, False)
        assert ("質問22番" in second, "旅行の" in second) == (False, True)
        for wrong in ("3", "x", "-1", "9" * 30):
            await taro.open(f"/conversations?page={wrong}", status=404)

    async def test_finds_the_words_that_were_said(self, site: Site, taro: Visit) -> None:
        id_ = await talk(site, ("旅行の計画", "Kyoto です"), ("<宿>は?", "八条口"))
        await talk(site, ("DMの話", "京都"), key=DM)
        await talk(site, ("八条口の秘密", "はい"), key=SessionKey(HANA, CHANNEL))
        for words in ("八条口", "kyoto 宿", "計画　八条口"):
            page = await taro.open(f"/conversations?q={quote(words)}")
            assert "<mark>" in page
            assert (f"/conversations/{id_}" in page, "DMの話" in page) == (True, False), words
            assert "秘密" not in page
        assert "DMの話" not in await taro.open(f"/conversations?place={CHANNEL}/default&q=%20")
        page = await taro.open("/conversations?q=%3Cb%3E%25_")
        assert ("「&lt;b&gt;%_」をふくむ会話: 0件" in page, id_ in page) == (True, False)
        assert 'href="/search?q=%3Cb%3E%25_"' in page


class TestReading:
    async def test_shows_what_was_said_with_markdown_files_and_marks(self, site: Site, taro: Visit) -> None:
        said = ("見て\n二行目", "**大切** <script>alert(1)</script>")
        id_ = await talk(site, said, visibility="private", attachments=(FILE,))
        page = await taro.open(f"/conversations/{id_}")
        for html in ("<strong>大切</strong> &lt;script&gt;", "見て<br", "添付: 旅程 &lt;1&gt;.txt"):
            assert html in page
        assert page.count("自分だけ") == 2
        await talk(site, *((f"質問{number}番", f"答え{number}番") for number in range(25)))
        pages = [await taro.open(f"/conversations/{id_}{query}") for query in ("", "?page=2")]
        assert [("質問0番" in each, "答え24番" in each) for each in pages] == [(True, False), (False, True)]

    async def test_is_exported_whole_as_markdown(self, site: Site, taro: Visit) -> None:
        id_ = await talk(site, *((f"質問{number}番", f"**答え**{number}番") for number in range(25)))
        await talk(site, ("花の秘密", "はい"), key=SessionKey(HANA, CHANNEL))
        async with taro.client.get(f"/conversations/{id_}/export") as answer:
            text, disposition = await answer.text(), answer.headers["Content-Disposition"]
        assert re.search(r"filename\*=UTF-8''[^;]+\.md$", disposition)
        assert text.startswith("# 質問0番\n\n## あなた (")
        assert (text.count("\n## "), "**答え**24番\n" in text, "花の秘密" in text) == (50, True, False)

    async def test_of_somebody_elses_is_as_of_none(self, site: Site, taro: Visit) -> None:
        theirs = await talk(site, ("花の秘密", "はい"), key=SessionKey(HANA, CHANNEL))
        assert "花の秘密" not in await taro.open("/conversations")
        nothing = await taro.open(f"/conversations/{uuid4()}", status=404)
        assert await taro.open(f"/conversations/{theirs}", status=404) == nothing
        for id_ in (theirs, "x", "1"):
            await taro.open(f"/conversations/{id_}", status=404)
            await taro.open(f"/conversations/{id_}/export", status=404)
            assert (await taro.press(f"/conversations/{id_}/delete")).status == 404
        async with site.visit(HANA) as hana:
            assert "花の秘密" in await hana.open(f"/conversations/{theirs}")


async def test_a_deleted_conversation_can_be_had_back_for_a_while_and_is_then_gone(
    site: Site, taro: Visit
) -> None:
    kept, gone = await talk(site, ("DMの話", "はい"), key=DM), await talk(site, ("旅行の計画", "はい"))
    await draw(site, Card("", "旅程", "京都"))
    words, path, stores = texts(Locale.JA), f"/conversations/{gone}", site.core.stores
    page = await taro.follow(await taro.press(f"{path}/delete"))
    assert words[WebTexts].done["conversation_deleted"] in page
    assert (f'href="/conversations/{kept}"' in page, f'href="{path}"' in page) == (True, False)
    assert site.town.changed == [KEY]
    seen = await stores.canvases.get(KEY)
    assert seen is None or seen.state == EMPTY_CANVAS
    session = await stores.sessions.open(KEY)
    assert (session.id != gone, session.history) == (True, ())
    assert explain(ConversationNotFound(), words) in await taro.open(path, status=404)
    assert f"{path}/restore" in page
    async with site.visit(HANA) as hana:
        await hana.press(f"{path}/restore")
        assert "旅行の計画" not in await hana.open("/conversations")
    assert f"{path}/restore" in await taro.open("/conversations")  # without the toast, too
    assert f'href="{path}">旅行の計画' in await taro.follow(await taro.press(f"{path}/restore"))
    assert "京都" in got(await stores.canvases.get(KEY)).state
    await taro.press(f"{path}/delete")
    assert await purge_due(stores, lambda: utc_now() + UNDO_TIME)
    assert stores.erasures.path.stat().st_size
    late = await taro.follow(await taro.press(f"{path}/restore"))
    assert words[WebTexts].done["undo_too_late"] in late
    assert (await taro.press(f"{path}/delete")).status == 404
