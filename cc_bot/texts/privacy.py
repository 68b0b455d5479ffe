"""What is stored about a user, how long, and what erasing it covers: said to that user."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from cc_bot.domain.memory import Erased
from cc_bot.domain.privacy import LEFT_BY_ERASING, DataKind, Held, Holdings, Retention


@dataclass(frozen=True, slots=True)
class PrivacyTexts:
    title: str
    nothing: str
    kinds: Mapping[DataKind, str]
    """What each is called."""
    line: str
    """Parameters: kind, count, span."""
    span: str
    """Parameters: first, last (days)."""
    one_day: str
    """Parameter: first."""
    kept_for: str
    """The heading of how long."""
    archive_days: str
    session_days: str
    usage_days: str
    copy_days: str
    """Each with a parameter: days."""
    kept_until_erased: str
    files: str
    backups: str
    how_on: str
    """What can be done about it."""
    exported: str
    exported_parts: str
    """Parameter: parts."""
    exported_by_dm: str
    dm_closed: str
    cut_short: str
    """Parameter: sent (files)."""
    question: str
    """Parameter: list."""
    stays: str
    """What erasing does not reach."""
    confirm_within: str
    """Parameter: until, as a moment of Discord."""
    erase: str
    keep: str
    kept: str
    too_late: str
    not_yours: str
    erased: str
    """Parameter: list."""
    nothing_erased: str
    comma: str
    part: str
    """Of a list. Parameters: kind, count."""
    erase_now: str
    """Parameter: command."""
    written: str
    """Parameter: path."""

    def overview(self, held: Holdings, retention: Retention, zone: ZoneInfo) -> str:
        """All kinds with their number and days, and how long they are kept."""
        if held.empty:
            return self.nothing
        lines = [self._line(kind, held.kinds[kind], zone) for kind in self.kinds if kind in held.kinds]
        return "\n".join((self.title, *lines, "", *self._kept(retention), "", self.how_on))

    def asked(self, held: Holdings) -> str:
        """Whether to erase all of that, and what stays."""
        return f"{self.question.format(list=self._list(held))}\n{self.stays}"

    def told(self, held: Holdings) -> str:
        """What was erased. What stays was said by the question."""
        if held.nothing_to_erase:
            return self.nothing_erased
        return self.erased.format(list=self._list(held))

    def nothing_to_erase(self, held: Holdings) -> str:
        """To who asks for it. There may be rules all the same, which stay."""
        return self.nothing if held.empty else f"{self.nothing_erased}\n{self.stays}"

    def _line(self, kind: DataKind, held: Held, zone: ZoneInfo) -> str:
        first, last = _day(held.first, zone), _day(held.last, zone)
        span = ""
        if first and last:
            span = (self.one_day if first == last else self.span).format(first=first, last=last)
        return self.line.format(kind=self.kinds[kind], count=held.count, span=span)

    def _kept(self, retention: Retention) -> list[str]:
        limits = (
            (self.archive_days, retention.archive_days),
            (self.session_days, retention.session_days),
            (self.usage_days, retention.usage_days),
        )
        lines = [template.format(days=days) for template, days in limits if days]
        copies = [self.copy_days.format(days=retention.copy_days)] if retention.copy_days else []
        return [self.kept_for, *lines, self.kept_until_erased, self.files, *copies, self.backups]

    def _list(self, held: Holdings) -> str:
        return self.comma.join(
            self.part.format(kind=name, count=held.count(kind))
            for kind, name in self.kinds.items()
            if kind not in LEFT_BY_ERASING and held.count(kind)
        )


def _day(moment: datetime | None, zone: ZoneInfo) -> str:
    return moment.astimezone(zone).date().isoformat() if moment else ""


PRIVACY_JA = PrivacyTexts(
    title="🔒 あなたについて保存しているもの",
    nothing="あなたについて保存しているものは、何もありません。",
    kinds={
        "conversations": "会話",
        "messages": "会話の中の質問と回答",
        "channel_messages": "チャンネルでの発言",
        "channel_answers": "その発言への回答",
        "files": "添付ファイル",
        "summaries": "会話の要約",
        "memories": "メモリ（以前の内容をふくむ）",
        "schedules": "お知らせの予定",
        "deliveries": "お知らせを送った記録",
        "proposals": "確認待ちの提案",
        "receipts": "回答の下の「取り消す」の場所",
        "turns": "回答の途中の質問",
        "usage": "使った量の記録",
        "counts": "消す前に使ったトークンの数（今月の上限のため）",
        "settings": "設定",
        "choices": "選んだエージェントとキャンバスの場所",
        "decisions": "サーバーの設定を決めた人としての記録",
        "rules": "管理者が決めた、あなたの利用の決まり",
    },
    line="・{kind}: {count}件{span}",
    span="（{first} 〜 {last}）",
    one_day="（{first}）",
    kept_for="保存する期間",
    archive_days="・発言と回答は {days}日で消えます（続いている会話に見えているものは残ります）。",
    session_days="・終わった会話は {days}日で消えます。",
    usage_days="・使った量の記録は {days}日で消えます。",
    copy_days="・更新や復元の前に取った控えは {days}日で消えます。",
    kept_until_erased="・そのほかは、あなたが消すまで残ります。",
    files="・添付ファイルは、会話の履歴から外れると消えます。",
    backups="・バックアップには、管理者が捨てるまで残ります。",
    how_on="-# </privacy export> でファイルとして受け取れます。すべて消すには </privacy erase> をお使いください。",
    exported="📦 あなたについて保存しているもののすべてです（JSON）。人に見せないようにしてください。",
    exported_parts="{parts}個のファイルに分かれています。",
    exported_by_dm="📬 DM にお送りしました。",
    dm_closed="DM を送れませんでした。DM を受け取る設定にするか、場所を選ばずにもう一度お試しください。",
    cut_short="{sent}個までしか送れませんでした。サーバーの中でもう一度お試しになるか、ボットの管理者にお知らせください。",
    question=(
        "⚠️ **あなたのデータをすべて消しますか？**\n"
        "消えるもの: {list}\n"
        "チャンネルでの発言とそれへの回答も、ボットの記録から消えます。元には戻せません。"
    ),
    stays=(
        "-# 残るもの: Discord に表示されているメッセージ、ほかの人の発言や会話・要約・メモリの中であなたにふれた部分、"
        "サーバー全体の使った量の合計、上限があれば今月使ったトークンの数（月末まで）、管理者が決めた利用の決まり、"
        "バックアップと控え"
        "（管理者が捨てるまで残り、復元するときには、もう一度消します）。"
    ),
    confirm_within="-# このボタンは {until} まで使えます。",
    erase="すべて消す",
    keep="やめる",
    kept="何も消していません。",
    too_late="時間がたったので、もう一度 </privacy erase> からやり直してください。",
    not_yours="このボタンは、</privacy erase> を使った人だけが使えます。",
    erased="🗑️ すべて消しました。消したもの: {list}",
    nothing_erased="消すものはありませんでした。",
    comma="、",
    part="{kind} {count}件",
    erase_now="消すときは {command} と入力してください。",
    written="あなたについて保存しているもののすべてを {path} に書き出しました。",
)

PRIVACY_EN = PrivacyTexts(
    title="🔒 What is stored about you",
    nothing="Nothing is stored about you.",
    kinds={
        "conversations": "conversations",
        "messages": "questions and answers in them",
        "channel_messages": "what you said in channels",
        "channel_answers": "answers to that",
        "files": "attachments",
        "summaries": "summaries of conversations",
        "memories": "memories, former versions included",
        "schedules": "reminders and heartbeats",
        "deliveries": "records of what was sent when",
        "proposals": "proposals to decide on",
        "receipts": "where answers offer to take something back",
        "turns": "questions being answered",
        "usage": "records of usage",
        "counts": "tokens you used before erasing (for this month's limit)",
        "settings": "settings",
        "choices": "agents you chose, and where canvases are",
        "decisions": "records that you set something for a server",
        "rules": "what the operator decided about your use",
    },
    line="- {kind}: {count}{span}",
    span=" ({first} to {last})",
    one_day=" ({first})",
    kept_for="How long",
    archive_days=(
        "- Messages are deleted after {days} days, unless a conversation that goes on still shows them."
    ),
    session_days="- Conversations that are over are deleted after {days} days.",
    usage_days="- Records of usage are deleted after {days} days.",
    copy_days="- Copies made before an upgrade or a restore are deleted after {days} days.",
    kept_until_erased="- Everything else stays until you delete it.",
    files="- Attachments are deleted when they leave the history of their conversation.",
    backups="- Backups keep a copy until the operator deletes them.",
    how_on="-# </privacy export> hands all of it to you as a file, and </privacy erase> erases all of it.",
    exported="📦 Everything that is stored about you (JSON). Best kept to yourself.",
    exported_parts="It comes in {parts} files.",
    exported_by_dm="📬 Sent to you by DM.",
    dm_closed="I couldn't send you a DM. Please allow DMs, or try again without choosing where.",
    cut_short="Only {sent} files could be sent. Please try again in a server, or tell the bot's operator.",
    question=(
        "⚠️ **Erase everything that is stored about you?**\n"
        "What goes: {list}\n"
        "What you said in channels goes from my records as well, with the answers to it. "
        "This can't be undone."
    ),
    stays=(
        "-# What stays: messages on Discord itself; what others said, and their conversations, summaries and "
        "memories, where they speak of you; the sum of what each server used; where tokens are limited, how many you used this "
        "month (until it ends); what the operator decided about your use; backups and copies (until the operator deletes them; restoring one erases you again)."
    ),
    confirm_within="-# The button works until {until}.",
    erase="Erase everything",
    keep="Cancel",
    kept="Nothing was erased.",
    too_late="That was too long ago. Please start again with </privacy erase>.",
    not_yours="Only the person who used </privacy erase> can use this button.",
    erased="🗑️ Everything is erased. That was: {list}",
    nothing_erased="There was nothing to erase.",
    comma="; ",
    part="{kind}: {count}",
    erase_now="To erase it, type {command}.",
    written="Everything that is stored about you is in {path} now.",
)

# ---- erasure ---------------------------------------------------------------------------------------------
# What was erased for good, and what remains: said to the user whose it was.


@dataclass(frozen=True, slots=True)
class ErasureTexts:
    question: str
    """Before an erasure, where more than the memory tells of it. Parameter: count."""
    memory_only: str
    conversations_too: str
    mark: str
    """Takes the place of a message in the record of a conversation."""
    done: str
    nothing: str
    removed: str
    """Parameter: list."""
    memories: str
    versions: str
    tool_calls: str
    summaries: str
    messages: str
    """Each of the list's; parameter: count."""
    comma: str
    still_told: str
    """Parameter: count."""
    remains: str
    not_told: str
    out_of_reach: str
    """Of a memory that is back, or gone for good already."""

    def choices(self) -> tuple[str, str]:
        """How far an erasure goes, as two buttons have it: without and with the record of conversations."""
        return self.memory_only, self.conversations_too

    def told(self, erased: Erased) -> str:
        """What was removed, what still tells of it, and what is out of reach: a line each."""
        counts = (
            (self.memories, erased.memories),
            (self.versions, erased.versions),
            (self.tool_calls, erased.tool_calls),
            (self.summaries, erased.summaries),
            (self.messages, erased.messages),
        )
        parts = [template.format(count=count) for template, count in counts if count]
        if not parts:
            return self.nothing
        still = [self.still_told.format(count=erased.told_in)] if erased.told_in else []
        return "\n".join((self.done, self.removed.format(list=self.comma.join(parts)), *still, self.remains))


ERASURE_JA = ErasureTexts(
    question=(
        "このメモリの内容にふれた発言や回答が、会話の記録に {count}件あります。そちらも空にしますか？\n"
        "-# 空にした会話のことは、もう思い出せません。"
    ),
    memory_only="メモリだけ完全に消す",
    conversations_too="会話の記録からも消す",
    mark="（消去しました）",
    done="🗑️ 完全に消しました。もう元には戻せません。",
    nothing="消すものはありませんでした。",
    removed="消したもの: {list}",
    memories="メモリ {count}件",
    versions="以前の内容 {count}件",
    tool_calls="回答の中でメモリを使った記録 {count}件",
    summaries="会話の要約 {count}件",
    messages="会話の記録の発言 {count}件",
    comma="、",
    still_told="会話の記録には、その内容にふれた発言や回答がまだ {count}件あります。",
    remains="-# バックアップや更新前の控え、すでに表示されたメッセージはそのまま残ります。",
    not_told="この内容にふれた発言や回答は、会話の記録にありません。",
    out_of_reach="このメモリは、元に戻したか、完全に消したあとです。会話をまっさらにするには </clear> をお使いください。",
)

ERASURE_EN = ErasureTexts(
    question=(
        "Conversation records touch on this memory in {count} messages. Empty those as well?\n"
        "-# Then I no longer know what was said there."
    ),
    memory_only="Erase the memory only",
    conversations_too="Erase it from conversations too",
    mark="(erased)",
    done="🗑️ Erased for good. This can't be undone.",
    nothing="There was nothing to erase.",
    removed="Removed: {list}",
    memories="memories: {count}",
    versions="former versions: {count}",
    tool_calls="records of their use in answers: {count}",
    summaries="conversation summaries: {count}",
    messages="messages in conversation records: {count}",
    comma=", ",
    still_told="Messages in conversation records that still touch on it: {count}.",
    remains="-# Backups, copies made before upgrades, and messages already on screen stay as they are.",
    not_told="No message in conversation records touches on it.",
    out_of_reach="This memory is back, or it was erased for good already. </clear> starts your conversation afresh.",
)
