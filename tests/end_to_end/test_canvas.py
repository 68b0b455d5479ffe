"""The canvas on Discord: one message, which shows what is up."""

from tests.end_to_end.canvases import (
    CLEAR,
    PLAN,
    SALES,
    SHOPPING,
    board,
    boards,
    draw,
    fields_of,
    no_board,
    remove,
    texts_of,
    titles,
    update,
)
from tests.end_to_end.stage import Stage, again_label, ended
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, calls, says

EDIT = "PATCH /channels/{channel}/messages/{message}"
POST = "POST /channels/{channel}/messages"


class TestCanvas:
    async def test_appears_under_the_answer(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await draw(stage, aiko, channel, SHOPPING)
        shown = await board(stage, channel)
        assert shown.id > reply.message.id
        assert "-# 🖼️ キャンバスを更新しました。" in reply.text
        assert shown.content == f"-# 🖼️ <@{aiko.id}> さんのキャンバス"
        assert (titles(shown), texts_of(shown)) == (["買い物"], ["- 牛乳"])

    async def test_is_edited_in_place_by_the_next_turn(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await draw(stage, ben, channel, SHOPPING)
        first = await board(stage, channel)
        assert first.content == f"-# 🖼️ <@{ben.id}>'s canvas"
        await draw(stage, ben, channel, update("shopping", "- milk"), PLAN)
        shown = await board(stage, channel, lambda shown: shown.edited)
        assert shown.id == first.id
        assert texts_of(shown) == ["- milk", "朝は散歩、昼は図書館。"]

    async def test_is_left_alone_by_a_turn_that_does_not_touch_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        await stage.ask_in_words(aiko, channel, "はい。")
        await stage.discord.quiet(0.2)
        assert not (await board(stage, channel)).edited

    async def test_is_taken_down_when_it_is_cleared(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        cleared = await draw(stage, aiko, channel, CLEAR)
        await no_board(stage, channel)
        assert "-# 🖼️ キャンバスは空になりました。" in cleared.text

    async def test_is_taken_down_with_its_last_element(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        await draw(stage, aiko, channel, remove("shopping"))
        await no_board(stage, channel)
        await draw(stage, aiko, channel, PLAN)
        assert texts_of(await board(stage, channel)) == ["朝は散歩、昼は図書館。"]

    async def test_of_each_user_has_a_message_of_its_own(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        await draw(stage, ben, channel, PLAN)
        await stage.discord.wait(lambda: len(boards(stage, channel)) == 2, "two canvases")
        assert [titles(shown) for shown in boards(stage, channel)] == [["買い物"], [""]]

    async def test_changes_with_an_answer_that_is_given_anew(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await stage.ask_in_words(aiko, channel, "はい。")
        stage.model.script(calls(SHOPPING), says("出しました。"))
        press = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await press.finished(lambda shown: "出しました。" in shown.text)
        assert titles(await board(stage, channel)) == ["買い物"]

    async def test_has_a_row_of_cards_on_a_board(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SHOPPING, PLAN, Call("canvas_set_mode", {"mode": "board"}))
        shown = await board(stage, channel)
        assert [(part["name"], part["inline"]) for part in fields_of(shown)] == [
            ("買い物", True),
            ("\u200b", True),
        ]

    async def test_shows_one_element_in_focus_and_names_the_others(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        focus = Call("canvas_set_mode", {"mode": "focus", "focus": "plan"})
        await draw(stage, aiko, channel, SHOPPING, PLAN, focus)
        [embed] = (await board(stage, channel)).embeds
        assert embed["description"] == "朝は散歩、昼は図書館。"
        assert embed["footer"]["text"] == "ほかに: 買い物"

    async def test_of_ten_long_texts_fits_in_its_message(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        long = [Call("canvas_add_card", {"title": f"{n}番", "content": "長い話。" * 250}) for n in range(10)]
        await draw(stage, aiko, channel, *long)
        shown = await board(stage, channel)
        assert len(shown.embeds) == 10
        [file] = shown.attachments
        assert file.file.data.decode().count("長い話。") == 2500

    async def test_of_a_temporary_question_is_not_touched(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        stage.model.script(calls(PLAN), says("はい。"))
        reply = await stage.begin(aiko, channel, "キャンバスに出して", temporary=True)
        await ended(reply)
        assert len(reply.messages) == 1
        assert len((await board(stage, channel)).embeds) == 1

    async def test_pings_nobody_whom_the_model_names(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        named = Call("canvas_add_card", {"title": "@everyone", "content": f"{ben.mention} @here"})
        await draw(stage, aiko, channel, named)
        await board(stage, channel)
        assert stage.discord.pings == []

    async def test_in_a_thread_is_the_threads(self, stage: Stage, aiko: User, channel: Channel) -> None:
        thread = stage.discord.thread(channel)
        await draw(stage, aiko, thread, SHOPPING)
        await board(stage, thread)
        assert boards(stage, channel) == []


class TestChart:
    async def test_is_a_picture_in_its_embed(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SALES)
        shown = await board(stage, channel)
        [embed], [picture] = shown.embeds, shown.attachments
        assert embed["title"] == "売上"
        assert embed["image"]["url"] == picture.url
        assert picture.file.data.startswith(b"\x89PNG")

    async def test_is_not_uploaded_again_when_something_else_changes(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SALES)
        before = await board(stage, channel)
        await draw(stage, aiko, channel, SHOPPING)
        shown = await board(stage, channel, lambda shown: len(shown.embeds) == 2)
        assert [edit.files for edit in stage.discord.calls(EDIT)] == [()]
        assert shown.embeds[0]["image"]["url"] == before.attachments[0].url

    async def test_that_goes_takes_its_picture_along(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SALES, SHOPPING)
        await board(stage, channel)
        await draw(stage, aiko, channel, remove("sales"))
        shown = await board(stage, channel, lambda shown: len(shown.embeds) == 1)
        assert shown.attachments == ()

    async def test_that_is_another_one_now_is_shown_as_that(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SALES)
        before = await board(stage, channel)
        more = Call(SALES.name, {**SALES.arguments, "id": "costs", "kind": "line", "title": "費用"})
        await draw(stage, aiko, channel, remove("sales"), more)
        shown = await board(stage, channel, lambda shown: titles(shown) == ["費用"])
        [picture] = shown.attachments
        assert picture.url != before.attachments[0].url
        assert shown.embeds[0]["image"]["url"] == picture.url


class TestDm:
    async def test_has_the_canvas_too(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        stage.model.script(calls(SHOPPING), says("はい。"))
        await stage.says(await stage.write(aiko, dm, "キャンバスに出して", mention=False), "はい。")
        shown = await board(stage, dm)
        assert shown.content == "-# 🖼️ あなたのキャンバス"
        assert titles(shown) == ["買い物"]
        await draw(stage, aiko, dm, PLAN)
        assert (await board(stage, dm, lambda shown: shown.edited)).id == shown.id


class TestReplyToTheCanvas:
    async def test_by_its_user_goes_on_with_the_session(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        shown = await board(stage, channel)
        stage.model.script(says("牛乳です。"))
        question = await stage.write(aiko, channel, "何を買うんだっけ", mention=False, reply_to=shown)
        await stage.says(question, "牛乳です。")
        assert "キャンバスに出して" in stage.shown()
        assert "買い物" in str(stage.model.requests[-1].body)

    async def test_by_somebody_else_does_not(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        shown = await board(stage, channel)
        stage.model.script(says("さあ。"))
        question = await stage.write(ben, channel, "これは何ですか", mention=False, reply_to=shown)
        await stage.says(question, "さあ。")
        assert "牛乳" not in str(stage.model.requests[-1].body)


class TestDeletedMessage:
    async def test_comes_back_with_the_next_change(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        first = await board(stage, channel)
        await stage.discord.delete(stage.discord.owner, first)
        await stage.eventually(
            "SELECT message_id FROM canvas_messages WHERE channel_id = ?", channel.id, gives=[(0,)]
        )
        await draw(stage, aiko, channel, PLAN)
        shown = await board(stage, channel)
        assert shown.id != first.id
        assert len(shown.embeds) == 2


class TestTrouble:
    async def test_on_discords_side_posts_the_canvas_once(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.fail_next(POST, 503, take_effect=True)
        await draw(stage, aiko, channel, SHOPPING)
        await stage.discord.wait(lambda: stage.discord.calls(POST, status=200), "the second try")
        await stage.discord.quiet(0.3)
        assert len(boards(stage, channel)) == 1

    async def test_that_passes_does_not_keep_an_edit_away(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        stage.discord.fail_next(EDIT, 429, retry_after_s=0.2)
        stage.discord.fail_next(EDIT, 502)
        await draw(stage, aiko, channel, PLAN)
        await board(stage, channel, lambda shown: len(shown.embeds) == 2)


class TestAnswerThatIsCut:
    async def test_keeps_what_was_drawn(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(calls(SHOPPING, text="まず出します。"), says(""))
        reply = await stage.begin(aiko, channel, "キャンバスに出して")
        await ended(reply)
        assert titles(await board(stage, channel)) == ["買い物"]
