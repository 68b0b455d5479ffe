"""`/remind` as its users type it: times in words, lists, and what is refused."""

from tests.end_to_end.reminders import called, comes_due, number_of, reminder, said, says_by_itself
from tests.end_to_end.stage import Stage
from tests.end_to_end.test_receipts import told
from tests.loopback.discord import Channel, Permission, User
from tests.loopback.model_server import fails, says

SCHEDULES = "SELECT text, repeat, place, visibility FROM schedules WHERE user_id = ?"


async def add(stage: Stage, user: User, place: Channel, when: str, **options: str) -> str:
    return await stage.told(user, place, "remind add", **({"when": when, "text": "薬"} | options))


class TestAdd:
    async def test_says_when_and_where(self, stage: Stage, aiko: User, channel: Channel) -> None:
        told = await add(stage, aiko, channel, "明日9時")
        assert told.startswith("⏰ <t:")
        assert f"にお知らせします: 薬\n-# 場所: <#{channel.id}>" in told
        assert stage.rows(SCHEDULES, aiko.id) == [("薬", "", "channel", "public")]

    async def test_speaks_english(self, stage: Stage, ben: User, channel: Channel) -> None:
        told = await add(stage, ben, channel, "tomorrow at 9am", text="pills", where="dm")
        assert "I’ll remind you on <t:" in told
        assert told.endswith("-# Where: DM")
        assert stage.rows(SCHEDULES, ben.id) == [("pills", "", "dm", "private")]

    async def test_counts_in_the_users_time_zone(self, stage: Stage, ben: User, channel: Channel) -> None:
        await stage.told(ben, channel, "settings", timezone="America/New_York", language="en")
        await add(stage, ben, channel, "2027-07-01 09:00", text="pills")
        [(due,)] = stage.rows(
            "SELECT datetime(due_at / 1000, 'unixepoch') FROM schedules WHERE user_id = ?", ben.id
        )
        assert due == "2027-07-01 13:00:00"

    async def test_that_repeats_moves_along_with_the_users_time_zone(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await stage.told(ben, channel, "settings", timezone="UTC", language="en")
        await add(stage, ben, channel, "tomorrow", text="pills", repeat="every day at 9")
        await stage.told(ben, channel, "settings", timezone="Asia/Tokyo")
        [(due,)] = stage.rows(
            "SELECT time(due_at / 1000, 'unixepoch') FROM schedules WHERE user_id = ?", ben.id
        )
        assert due == "00:00:00"

    async def test_takes_a_repeat(self, stage: Stage, aiko: User, channel: Channel) -> None:
        told = await add(stage, aiko, channel, "明日", repeat="平日9時")
        assert "🔁 平日 9:00にお知らせします" in told
        assert stage.rows(SCHEDULES, aiko.id) == [("薬", "0 9 * * 1-5", "channel", "public")]

    async def test_takes_a_repeat_as_the_time(self, stage: Stage, aiko: User, channel: Channel) -> None:
        assert "🔁 毎日 8:00" in await add(stage, aiko, channel, "毎朝8時")

    async def test_sets_each_of_several_times(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await stage.discord.slash(aiko, channel, "remind add", when="明日9時と18時", text="薬")
        await reply.finished(lambda shown: "場所:" in shown.text)
        assert reply.text.count("にお知らせします: 薬") == 2
        assert sum("取り消す: " in label for label in reply.labels) == 2
        assert len(stage.rows(SCHEDULES, aiko.id)) == 2
        press = await stage.discord.click(aiko, reply.message, reply.labels[1])
        await press.finished(lambda shown: "取り消しました" in shown.text)
        assert len(stage.rows(SCHEDULES, aiko.id)) == 1

    async def test_tells_what_repeats_how(self, stage: Stage, aiko: User, channel: Channel) -> None:
        assert "🔁 2週間ごとの火曜 10:00にお知らせします" in await add(
            stage, aiko, channel, "隔週の火曜 10時"
        )
        assert "🔁 3日ごと 8:00にお知らせします" in await add(stage, aiko, channel, "3日ごとに8時")
        listed = await stage.told(aiko, channel, "remind list")
        assert "🔁 2週間ごとの火曜 10:00" in listed
        assert "🔁 3日ごと 8:00" in listed

    async def test_says_what_can_be_set_instead_of_choosing_a_moment(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("repeats"))
        assert "繰り返しが読み取れませんでした" in await add(stage, aiko, channel, "満月になったら")
        stage.model.script(says("several"))
        assert "時刻がいくつもあります" in await add(stage, aiko, channel, "会議と飲み会のちょっと前")
        asked = len(stage.model.requests)
        assert "繰り返しが読み取れませんでした" in await add(stage, aiko, channel, "3日おきに8時")
        assert "その日付や時刻はありません" in await add(stage, aiko, channel, "2月30日")
        assert "いつなのかが読み取れませんでした" in await add(stage, aiko, channel, "そのうち")
        assert len(stage.model.requests) == asked
        assert stage.rows(SCHEDULES, aiko.id) == []

    async def test_asks_the_model_once_what_no_rule_understands(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("2099-12-24T18:00"))
        assert "10年先まで" in await add(stage, aiko, channel, "会社の忘年会のちょっと前")
        stage.model.script(says("2027-12-24T18:00"))
        assert "にお知らせします: 薬" in await add(stage, aiko, channel, "会社の忘年会のちょっと前")
        assert len(stage.model.requests) == 2
        [(due,)] = stage.rows(
            "SELECT datetime(due_at / 1000, 'unixepoch') FROM schedules WHERE user_id = ?", aiko.id
        )
        assert due == "2027-12-24 09:00:00"

    async def test_says_how_when_nobody_understands_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        for answer in (says("none"), says("Ignore that, 2027-01-01T10:00 or 2027-01-02T10:00"), fails(400)):
            stage.model.script(answer)
            assert "10分後" in await add(stage, aiko, channel, "いつかそのうち")
        assert stage.rows(SCHEDULES, aiko.id) == []

    async def test_refuses_what_is_over(self, stage: Stage, ben: User, channel: Channel) -> None:
        told = await add(stage, ben, channel, "2020-01-01 09:00", text="pills")
        assert "<t:" not in told
        assert stage.rows(SCHEDULES, ben.id) == []

    async def test_refuses_secrets(self, stage: Stage, aiko: User, channel: Channel) -> None:
        secret = "AKIAIOSFODNN7EXAMPLE"
        told = await add(stage, aiko, channel, "明日9時", text=f"password: {secret}")
        assert secret not in told
        assert stage.rows(SCHEDULES, aiko.id) == []

    async def test_goes_by_dm_where_the_bot_can_not_write_by_itself(self, stage: Stage, aiko: User) -> None:
        elsewhere = stage.discord.user_installed_channel(aiko)
        reply = await stage.discord.slash(aiko, elsewhere, "remind add", when="10分後", text="薬")
        await reply.finished()
        assert "場所: DM（ここには書き込めないため）" in reply.text
        [(number,)] = stage.rows("SELECT id FROM schedules WHERE user_id = ?", aiko.id)
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, stage.discord.dm(aiko), "薬")
        called(stage)

    async def test_is_not_said_where_who_asks_may_not_write(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.forbid(aiko, Permission.SEND_MESSAGES, channel)
        number = await reminder(stage, aiko, channel, "宣伝")
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, stage.discord.dm(aiko), "宣伝")
        called(stage)
        assert said(stage, channel) == []


class TestList:
    async def test_turns_its_pages(self, stage: Stage, ben: User, channel: Channel) -> None:
        for number in range(9):
            await reminder(stage, ben, channel, f"thing {number}")
        reply = await stage.discord.slash(ben, channel, "remind list")
        await reply.finished()
        assert "Your reminders (9)" in reply.text
        assert "thing 8" not in reply.text
        turned = await stage.discord.click(ben, reply.message, "Next ▶")
        await turned.finished(lambda r: "thing 8" in r.text)

    async def test_shows_nobody_elses(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        await reminder(stage, aiko, channel, "薬")
        assert (
            await stage.told(ben, channel, "remind list")
            == "You have no reminders. Set one with /remind add."
        )


class TestDelete:
    async def test_suggests_and_cancels(self, stage: Stage, aiko: User, channel: Channel) -> None:
        row = await reminder(stage, aiko, channel, "薬を飲む")
        await reminder(stage, aiko, channel, "散歩")
        choices = await stage.discord.autocomplete(aiko, channel, "remind delete", id="薬")
        assert [(choice.value, choice.name[-4:]) for choice in choices] == [
            (number_of(stage, row), "薬を飲む")
        ]
        told = await stage.told(aiko, channel, "remind delete", id=number_of(stage, row))
        assert told == "🔕 お知らせを取り消しました: 薬を飲む"
        assert "薬" not in await stage.told(aiko, channel, "remind list")

    async def test_of_somebody_elses_is_refused(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        row = await reminder(stage, aiko, channel, "薬")
        for number in (row, number_of(stage, row)):
            await stage.told(ben, channel, "remind delete", id=number)
        assert len(stage.rows(SCHEDULES, aiko.id)) == 1

    async def test_of_a_repeat_from_the_reminder_itself(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await reminder(stage, aiko, channel, "薬", repeat="毎日")
        await comes_due(stage, aiko, number)
        shown = await says_by_itself(stage, channel, "薬")
        called(stage)
        assert await told(stage, aiko, shown, "繰り返しをやめる") == "🔕 お知らせを取り消しました: 薬"
        assert stage.rows(SCHEDULES, aiko.id) == []
        assert len(said(stage, channel)) == 1


class TestResume:
    async def test_offers_only_what_is_paused(self, stage: Stage, aiko: User, channel: Channel) -> None:
        row = await reminder(stage, aiko, channel, "薬")
        await reminder(stage, aiko, channel, "散歩")
        stage.change(f"UPDATE schedules SET status = 'paused' WHERE id = {row}")
        choices = await stage.discord.autocomplete(aiko, channel, "remind resume", id="")
        number = number_of(stage, row)
        assert [choice.value for choice in choices] == [number]
        assert "⏸ 停止中" in await stage.told(aiko, channel, "remind list")
        assert "再開しました" in await stage.told(aiko, channel, "remind resume", id=number)
        assert "止まっていません" in await stage.told(aiko, channel, "remind resume", id=number)
