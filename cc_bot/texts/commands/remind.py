"""Names and descriptions of `/remind`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RemindCommandTexts:
    remind: str
    remind_description: str
    remind_add: str
    remind_add_description: str
    remind_when: str
    remind_when_description: str
    remind_text: str
    remind_text_description: str
    remind_repeat: str
    remind_repeat_description: str
    remind_where: str
    remind_where_description: str
    remind_here_choice: str
    remind_dm_choice: str
    remind_list: str
    remind_list_description: str
    remind_delete: str
    remind_delete_description: str
    remind_resume: str
    remind_resume_description: str
    remind_id: str
    remind_id_description: str


JA = RemindCommandTexts(
    remind="リマインド",
    remind_description="決めた時刻にお知らせします",
    remind_add="追加",
    remind_add_description="お知らせを予約します",
    remind_when="いつ",
    remind_when_description="例: 10分後、明日9時と18時、来週の金曜の夕方、元日、月水金の7時、隔週の火曜 10時、12月3日の正午、2026-12-03 09:00",
    remind_text="内容",
    remind_text_description="お知らせする内容（1000文字まで）",
    remind_repeat="繰り返し",
    remind_repeat_description="例: 毎朝8時、平日9時、隔週、3日ごと、毎月第2水曜、毎月末、毎年、なし、0 9 * * 1-5",
    remind_where="場所",
    remind_where_description="お知らせする場所（省略するとこのチャンネル）",
    remind_here_choice="このチャンネル",
    remind_dm_choice="DM（自分だけに見えます）",
    remind_list="一覧",
    remind_list_description="予約したお知らせを一覧で表示します",
    remind_delete="削除",
    remind_delete_description="お知らせを取り消します",
    remind_resume="再開",
    remind_resume_description="止まっているお知らせを再開します",
    remind_id="番号",
    remind_id_description="お知らせの番号（内容を入力すると候補が出ます）",
)

EN = RemindCommandTexts(
    remind="remind",
    remind_description="Be told at the time you choose",
    remind_add="add",
    remind_add_description="Set a reminder",
    remind_when="when",
    remind_when_description="Such as: in 10 minutes, tomorrow at 9 and 18, dec 3 noon, mon/wed/fri 7:00, 2026-12-03 09:00",
    remind_text="text",
    remind_text_description="What to remind you of (up to 1000 characters)",
    remind_repeat="repeat",
    remind_repeat_description="Such as: every weekday at 9, every other week, every 3 days, monthly, none, 0 9 * * 1-5",
    remind_where="where",
    remind_where_description="Where to remind you (this channel unless you choose)",
    remind_here_choice="This channel",
    remind_dm_choice="DM (only you see it)",
    remind_list="list",
    remind_list_description="Show your reminders",
    remind_delete="delete",
    remind_delete_description="Cancel a reminder",
    remind_resume="resume",
    remind_resume_description="Have a paused reminder go on",
    remind_id="id",
    remind_id_description="The reminder's number (type its text for suggestions)",
)
